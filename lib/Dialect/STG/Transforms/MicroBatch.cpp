//===- MicroBatch.cpp - Cuts the batch into micro-batches -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  LogicalResult replace(func::FuncOp function, const SymBinding &binding);
};
} // namespace

FailureOr<SymExpr> MicroBatch::parseCount() {
  std::string error;
  FailureOr<SymExpr> parsed = SymExpr::parse(&getContext(), count, error);
  bool isNumber = succeeded(parsed) && parsed->isConstant();
  if (failed(parsed) ||
      (isNumber ? parsed->getInt64().value_or(0) < 1 : !parsed->getAsSymbol()))
    return getOperation().emitError("count is '")
           << count << "', expected an integer of at least 1 or a symbol";
  return parsed;
}

/// Replaces the batch in everything but constants: the gradient of the loss
/// starts from the mean over the whole batch.
LogicalResult MicroBatch::replace(func::FuncOp function,
                                  const SymBinding &binding) {
  LogicalResult result = success();
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymExpr expr) -> std::optional<std::pair<Attribute, WalkResult>> {
        SymExpr replaced = expr.substitute(binding);
        if (!replaced)
          result = function.emitError("has the expression ")
                   << expr << ", which has no value for a micro-batch";
        return {{replaced ? replaced : expr, WalkResult::skip()}};
      });
  function->walk([&](Operation *op) {
    bool isConstant = isa<SplatOp>(op);
    replacer.replaceElementsIn(op, /*replaceAttrs=*/!isConstant,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
  return result;
}

void MicroBatch::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<SymExpr> number = parseCount();
  if (failed(number))
    return signalPassFailure();
  if (number->isOne())
    return;
  auto symbol = module.lookupSymbol<SymbolOp>(batch);
  if (!symbol || (symbol.getValue() && symbol.getValue()->isConstant())) {
    module.emitError("the batch '")
        << batch << "' is not a symbol of the model that is still unbound; "
        << "cut it before --stg-bind, or name the symbol with batch=SYMBOL";
    return signalPassFailure();
  }
  SymExpr whole = SymExpr::getSymbol(symbol.getSymNameAttr());
  SymBinding binding;
  binding[symbol.getSymNameAttr()] = whole.exactDiv(*number);
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(replace(function, binding)))
      return signalPassFailure();
}
