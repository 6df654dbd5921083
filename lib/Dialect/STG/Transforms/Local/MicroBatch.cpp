//===- MicroBatch.cpp - Cuts the batch into micro-batches -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_MICROBATCH
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct MicroBatch : stg::impl::MicroBatchBase<MicroBatch> {
  using MicroBatchBase::MicroBatchBase;
  void runOnOperation() override;

private:
  FailureOr<SymExpr> parseCount();
  DimAttr cut(DimAttr dim, SymExpr number);
  LogicalResult replace(func::FuncOp function, SymExpr turns);
  LogicalResult checkLoads(func::FuncOp function);
  LogicalResult checkLoops(func::FuncOp function);

  bool isFound = false; ///< A dimension of the batch.
};
} // namespace

FailureOr<SymExpr> MicroBatch::parseCount() {
  std::optional<SymExpr> parsed =
      llvm::expectedToOptional(SymExpr::parse(&getContext(), count));
  bool isNumber = parsed && parsed->isConstant();
  if (!parsed ||
      (isNumber ? parsed->getInt64().value_or(0) < 1 : !parsed->getAsSymbol()))
    return getOperation().emitError("count is '")
           << count << "', expected an integer of at least 1 or a symbol";
  return *parsed;
}

/// The dimension as a micro-batch has it; null if that is no extent.
DimAttr MicroBatch::cut(DimAttr dim, SymExpr number) {
  SymExpr extent = dim.getExtent().exactDiv(number);
  std::optional<Rational> constant =
      extent ? extent.getConstant() : std::nullopt;
  bool isExtent = extent && (!constant || constant->isInteger());
  return isExtent ? dim.withExtent(extent) : DimAttr();
}

/// Divides the dimensions in all types. Constants stay: the gradient of the
/// loss starts from the mean over the whole batch. Ops are executed so many
/// times.
LogicalResult MicroBatch::replace(func::FuncOp function, SymExpr turns) {
  LogicalResult result = success();
  SymExpr number = turns * static_cast<int64_t>(parts);
  auto name = StringAttr::get(&getContext(), batch);
  Operation *current = function;
  AttrTypeReplacer replacer;
  using Replacement = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([&](DimAttr dim) -> Replacement {
    if (!dim.hasName(name))
      return {{dim, WalkResult::skip()}};
    isFound = true;
    DimAttr replaced = cut(dim, number);
    if (!replaced && succeeded(result))
      result = current->emitOpError("has a dimension '")
               << batch << "' of extent " << dim.getExtent() << ", which "
               << number
               << (parts == 1 ? " micro-batches" : " parts of micro-batches")
               << " do not divide";
    return {{replaced ? replaced : dim, WalkResult::skip()}};
  });
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    current = op;
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
    if (auto cost = dyn_cast<CostOpInterface>(op); cost && !turns.isOne())
      cost.splitStates(turns);
  });
  return result;
}

/// Loads of experts are rounded, so they are those of one micro-batch.
LogicalResult MicroBatch::checkLoads(func::FuncOp function) {
  WalkResult walked = function.walk([](AllToAllOp op) {
    if (!op.getPayloadAttr())
      return WalkResult::advance();
    op.emitOpError("exchanges the loads of experts in the whole batch; cut the "
                   "batch before --stg-load-experts");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// A stack has a dimension that is named after its loop, which is not cut.
LogicalResult MicroBatch::checkLoops(func::FuncOp function) {
  WalkResult walked = function.walk([&](ScanOpInterface scan) {
    if (scan.getScopeName() != batch)
      return WalkResult::advance();
    scan->emitOpError("is named '")
        << batch << "', as the batch is, which would cut what the loop stacks; "
        << "give the loop another name";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

void MicroBatch::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<SymExpr> number = parseCount();
  if (failed(number))
    return signalPassFailure();
  if (number->isOne() && parts == 1)
    return;
  isFound = false;
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkLoads(function)) || failed(checkLoops(function)) ||
        failed(replace(function, *number)))
      return signalPassFailure();
  if (isFound)
    return;
  InFlightDiagnostic diag = module.emitError("no dimension is named '")
                            << batch << "', the batch; name it with batch=NAME";
  StringRef separator = ": dimensions are named ";
  for (StringAttr name : collectDimensionNames(module)) {
    diag << separator << name.getValue();
    separator = ", ";
  }
  signalPassFailure();
}
