//===- EncodeExperts.cpp - Rows of experts as they are sent ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries that exchange the rows of experts send them with scales and
// headers. How many bytes that are is an expression, which a preset or a user
// has. Where they send a token once to several ranks, a row has a part of them.
//
//===----------------------------------------------------------------------===//

#include "ExpertExchanges.h"
#include "SymbolValues.h"
#include "stg/Analysis/ExpertChoice.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <map>

namespace stg {
#define GEN_PASS_DEF_ENCODEEXPERTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct EncodeExperts : stg::impl::EncodeExpertsBase<EncodeExperts> {
  using EncodeExpertsBase::EncodeExpertsBase;
  void runOnOperation() override;

private:
  FailureOr<SymExpr> parse(StringRef option, StringRef text);
  FailureOr<double> countCopies(const ExpertExchange &exchange,
                                const SymBinding &known);
  /// How experts are chosen, by how many there are and a token has: gradients
  /// go where the forward pass has found.
  std::map<std::pair<int64_t, int64_t>, ExpertChoice> choices;
};
} // namespace

/// Null if nothing is given.
FailureOr<SymExpr> EncodeExperts::parse(StringRef option, StringRef text) {
  if (text.empty())
    return SymExpr();
  ModuleOp module = getOperation();
  llvm::Expected<SymExpr> bytes = SymExpr::parse(&getContext(), text);
  if (!bytes)
    return module.emitError(option)
           << " is '" << text << "': " << llvm::toString(bytes.takeError());
  StringAttr unknown;
  bytes->walkSymbols([&](StringAttr name) {
    if (!module.lookupSymbol<SymbolOp>(name))
      unknown = name;
  });
  if (unknown)
    return module.emitError(option)
           << " is '" << text << "': the model has no symbol '"
           << unknown.getValue() << "'";
  std::optional<Rational> number = bytes->getConstant();
  if (number && (!number->isInteger() || *number < 1))
    return module.emitError(option)
           << " is '" << text << "', expected an integer of at least 1";
  return *bytes;
}

/// What is before the exchange in its block.
template <typename OpTy> static OpTy findBefore(Operation *op) {
  while (op && !isa<OpTy>(op))
    op = op->getPrevNode();
  return cast_or_null<OpTy>(op);
}

/// Of the rows of a token the part that is sent, where neighbouring ranks get
/// one together.
FailureOr<double> EncodeExperts::countCopies(const ExpertExchange &of,
                                             const SymBinding &known) {
  AllToAllOp exchange = of.op;
  MeshOp mesh = MeshOp::lookup(exchange->getParentOfType<func::FuncOp>());
  using Routed = std::pair<Value, Value>; // Rows, and the experts of tokens.
  const Routed routed = llvm::TypeSwitch<Operation *, Routed>(of.routing)
                            .Case([](DispatchOp op) {
                              return Routed(op.getResult(), op.getIndices());
                            })
                            .Case([](CombineGradOp op) {
                              return Routed(op.getDoutputs(), op.getIndices());
                            })
                            .Case([](CombineOp op) {
                              return Routed(op.getOutputs(), op.getIndices());
                            })
                            .Case([](DispatchGradOp op) {
                              return Routed(op.getDresult(), op.getIndices());
                            });
  auto getShape = [](Value value) {
    return cast<SymTensorType>(value.getType()).getShape();
  };
  auto get = [&](SymExpr expr) { return evaluate(expr, known); };
  std::optional<int64_t> ranks, experts, chosen;
  if (mesh)
    ranks = get(mesh.getMesh().getGroupSize(exchange.getAxes()));
  experts = get(getShape(routed.first)[0]);
  chosen = get(getShape(routed.second).back());
  if (!ranks || !experts || !chosen)
    return exchange.emitOpError("has sizes that are no numbers, so that it is "
                                "not known to how many ranks a token is sent");
  if (*ranks % once)
    return exchange.emitOpError("has ")
           << *ranks << " ranks, which cannot get a token once for each "
           << once.getValue() << "; expected a divisor";
  auto [it, isNew] = choices.try_emplace(
      {*experts, *chosen}, ExpertChoice{double(*chosen), double(*experts)});
  ExpertChoice &choice = it->second;
  auto router = findBefore<TopKOp>(of.routing);
  if (isNew && router && router.getGroupsAttr()) {
    std::optional<int64_t> groups = get(router.getGroupsAttr()),
                           limit = get(router.getLimitAttr());
    if (groups && limit) {
      choice.groups = double(*groups);
      choice.limit = double(*limit);
    }
  }
  return choice.getDistinct(double(*ranks / once));
}

/// The nearest integer; fractions of a millionth are lost.
static SymExpr scaleBytes(SymExpr bytes, double part) {
  constexpr int64_t whole = 1 << 20;
  MLIRContext *context = bytes.getContext();
  return SymExpr::getFunction(SymFunc::CeilDiv,
                              {bytes * (2 * std::llround(part * whole)) - whole,
                               SymExpr::get(context, 2 * whole)});
}

/// Rows of so many bytes before the exchange, and the same rows behind it.
static void encode(AllToAllOp exchange, SymExpr bytes) {
  OpBuilder builder(exchange);
  auto getEncoded = [&](SymTensorType type) {
    SmallVector<DimAttr> dims(type.getDims());
    dims.back() = dims.back().withExtent(bytes);
    return type.withDims(dims).withElementType(builder.getIntegerType(8));
  };
  auto name = [&](Operation *op, Value of, StringRef suffix) {
    Operation *maker = of.getDefiningOp();
    StringAttr own = maker ? getOrigin(maker).name : StringAttr();
    copyOrigin(exchange, op);
    setName(op, builder.getStringAttr(
                    (own ? own.getValue() : StringRef("rows")) + suffix));
  };
  Value rows = exchange.getInput();
  SymTensorType result = exchange.getType();
  auto sent =
      EncodeRowsOp::create(builder, exchange.getLoc(),
                           getEncoded(exchange.getInput().getType()), rows);
  name(sent, rows, ".encode");
  exchange.getInputMutable().assign(sent);
  exchange.getResult().setType(getEncoded(result));
  builder.setInsertionPointAfter(exchange);
  auto got = EncodeRowsOp::create(builder, exchange.getLoc(), result,
                                  exchange.getResult());
  name(got, rows, ".decode");
  exchange.getResult().replaceAllUsesExcept(got, got);
}

void EncodeExperts::runOnOperation() {
  FailureOr<SymExpr> dispatch = parse("dispatch-bytes", dispatchBytes);
  FailureOr<SymExpr> combine = parse("combine-bytes", combineBytes);
  if (failed(dispatch) || failed(combine))
    return signalPassFailure();
  FailureOr<SymBinding> known =
      collectSymbolValues(getOperation(), config, *values);
  if (failed(known))
    return signalPassFailure();
  choices.clear();
  SmallVector<ExpertExchange> exchanges;
  getOperation().walk([&](AllToAllOp op) {
    std::optional<ExpertExchange> exchange = findExpertExchange(op);
    if (exchange && (once || (exchange->isDispatch ? *dispatch : *combine)))
      exchanges.push_back(*exchange);
  });
  for (const ExpertExchange &exchange : exchanges) {
    SymExpr bytes = exchange.isDispatch ? *dispatch : *combine;
    AllToAllOp op = exchange.op;
    SymTensorType type = op.getType();
    if (!bytes)
      bytes = type.getShape().back() * type.getElementBytes();
    if (once) {
      FailureOr<double> part = countCopies(exchange, *known);
      if (failed(part))
        return signalPassFailure();
      bytes = scaleBytes(bytes, *part);
    }
    encode(op, bytes);
  }
}
