//===- ContextParallel.cpp - How attention sees the tokens of others ------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "stg/Dialect/STG/Analysis/ParameterValues.h"
#include "stg/Dialect/STG/IR/AttentionPlaces.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_CONTEXTPARALLEL
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ContextParallel : stg::impl::ContextParallelBase<ContextParallel> {
  using ContextParallelBase::ContextParallelBase;
  void runOnOperation() override;

private:
  KeyExchange getExchange() {
    return *symbolizeKeyExchange(stringify(type.getValue()));
  }
  LogicalResult checkRing(MeshOp mesh, ArrayRef<StringAttr> axes);
  LogicalResult checkStates(RecurrentOpInterface op, func::FuncOp function,
                            ArrayRef<StringAttr> axes);
  void mark(AttentionOpInterface op);
  void divide(ContextOpInterface op, ArrayRef<StringAttr> axes);
  bool dependsOnPlace(func::FuncOp function);
};
} // namespace

/// Messages go along one axis.
LogicalResult ContextParallel::checkRing(MeshOp mesh,
                                         ArrayRef<StringAttr> axes) {
  if (!goesRound(getExchange()) || axes.size() == 1)
    return success();
  return mesh.emitOpError("has the context axes '")
         << axes[0].getValue() << "' and '" << axes[1].getValue()
         << "'; a ring (type=" << stringify(type.getValue())
         << ") goes along one axis, use all_gather or a2a";
}

/// States go from range to range, along one axis.
LogicalResult ContextParallel::checkStates(RecurrentOpInterface op,
                                           func::FuncOp function,
                                           ArrayRef<StringAttr> axes) {
  if (axes.size() > 1)
    return op->emitOpError("hands on states along one axis, but there are the "
                           "context axes '")
           << axes[0].getValue() << "' and '" << axes[1].getValue()
           << "'; exchange tokens for heads (--cp-scan-type a2a)";
  if (type == ContextExchange::AllToAll || balance == ContextBalance::None)
    return success();
  WalkResult walked = function.walk([&](AttentionOpInterface attention) {
    InFlightDiagnostic diag =
        op->emitOpError("hands on the state behind one range of tokens, but "
                        "devices have two chunks of them, which balance "
                        "attention; use ranges (--cp-balance none), or "
                        "exchange tokens of attention (--cp-comm-type a2a) or "
                        "of scans (--cp-scan-type a2a)");
    diag.attachNote(attention.getLoc()) << "the attention is here";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// A ring divides queries and keys alike. Each device has all of learned
/// queries, which see all keys.
void ContextParallel::mark(AttentionOpInterface op) {
  KeyExchange exchange = getExchange();
  if (goesRound(exchange) && isMadeOfParameters(op->getOperand(0)))
    exchange = KeyExchange::AllGather;
  op.setContextAttr(ContextAttr::get(
      &getContext(), exchange,
      balance == ContextBalance::None ? TokenShare::Range : TokenShare::ZigZag,
      /*axes=*/ArrayAttr()));
}

/// What takes the place of tokens is divided over the axes, and all tokens are
/// on each device.
void ContextParallel::divide(ContextOpInterface op, ArrayRef<StringAttr> axes) {
  Builder builder(&getContext());
  SmallVector<Attribute> slowestFirst(llvm::reverse(axes));
  cast<ShardableOpInterface>(*op).setFactorsAttr(FactorsAttr::get(
      &getContext(), {{builder.getStringAttr(op.getContextFactor()),
                       builder.getArrayAttr(slowestFirst)}}));
}

/// True if devices may see different numbers of keys, however tokens are dealt
/// out: of documents, and of windows.
bool ContextParallel::dependsOnPlace(func::FuncOp function) {
  if (type == ContextExchange::AllToAll)
    return false;
  WalkResult walked = function.walk([](AttentionOpInterface op) {
    return stg::dependsOnPlace(op) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

void ContextParallel::runOnOperation() {
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    SmallVector<StringAttr> axes = mesh.getMesh().getAxes(AxisRole::Context);
    if (axes.empty())
      return success();
    if (failed(checkRing(mesh, axes)))
      return failure();
    if (balance == ContextBalance::None || dependsOnPlace(function))
      for (StringAttr axis : axes)
        SymbolOp::declareCoordinate(getOperation(), axis);
    WalkResult walked = function.walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOpInterface>(op))
        mark(attention);
      auto recurrent = dyn_cast<RecurrentOpInterface>(op);
      if (!recurrent || !recurrent.getAlongAttr()) {
        // Whatever attention does: what has a state goes over all tokens.
        auto exchanged = dyn_cast<ContextOpInterface>(op);
        if (exchanged && (recurrent || type == ContextExchange::AllToAll))
          divide(exchanged, axes);
        return WalkResult::advance();
      }
      // Which neighbours a device has depends on its place.
      if (failed(checkStates(recurrent, function, axes)))
        return WalkResult::interrupt();
      SymbolOp::declareCoordinate(getOperation(), axes.front());
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
