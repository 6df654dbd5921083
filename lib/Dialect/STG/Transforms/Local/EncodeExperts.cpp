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
// has.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

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
  SmallVector<std::pair<AllToAllOp, SymExpr>> exchanges;
  getOperation().walk([&](AllToAllOp op) {
    if (getPhase(op) != Phase::Forward)
      return;
    bool isRead = llvm::any_of(op->getUses(), [](OpOperand &use) {
      return isa<CombineOp>(use.getOwner()) && use.getOperandNumber() == 0;
    });
    if (*dispatch && op.getInput().getDefiningOp<DispatchOp>())
      exchanges.emplace_back(op, *dispatch);
    else if (*combine && isRead)
      exchanges.emplace_back(op, *combine);
  });
  for (auto [exchange, bytes] : exchanges)
    encode(exchange, bytes);
}
