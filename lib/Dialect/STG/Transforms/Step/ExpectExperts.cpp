//===- ExpectExperts.cpp - Experts that a random choice hits --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a dispatch on, up to where rows are combined, what reads slices of
// experts says that tokens draw them.
//
//===----------------------------------------------------------------------===//

#include "SymbolValues.h"
#include "stg/Dialect/STG/IR/Experts.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_EXPECTEXPERTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ExpectExperts : stg::impl::ExpectExpertsBase<ExpectExperts> {
  using ExpectExpertsBase::ExpectExpertsBase;
  void runOnOperation() override;
};
} // namespace

/// How tokens draw the experts whose buffers `op` fills. Null if the rows are
/// not those that all tokens choose.
static DrawsAttr getDraws(DispatchOp op, const SymBinding &values) {
  SymTensorType buffers = op.getResult().getType(),
                indices = cast<SymTensorType>(getChoices(op).getType());
  SymExpr experts = buffers.getShape()[0];
  SymExpr rows = experts * buffers.getShape()[1];
  if (rows.substitute(values) != indices.getNumElements().substitute(values))
    return {};
  return DrawsAttr::get(op.getContext(), indices.getShape().back(), experts);
}

/// Values with a buffer for each of these experts.
static bool isOfExperts(Value value, DimAttr experts) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  return type && llvm::is_contained(type.getDims(), experts);
}

static void setDraws(DispatchOp dispatch, DrawsAttr draws) {
  DimAttr experts = dispatch.getResult().getType().getDim(0);
  llvm::SetVector<Value> rows;
  rows.insert(dispatch.getResult());
  for (size_t i = 0; i != rows.size(); ++i)
    for (Operation *user : rows[i].getUsers()) {
      if (isa<CombineOp>(user))
        continue;
      if (auto product = dyn_cast<EinsumOp>(user))
        product.setDrawsAttr(draws);
      else if (auto bias = dyn_cast<BiasAddOp>(user))
        bias.setDrawsAttr(draws);
      for (Value result : user->getResults())
        if (isOfExperts(result, experts))
          rows.insert(result);
    }
}

void ExpectExperts::runOnOperation() {
  FailureOr<SymBinding> symbols =
      collectSymbolValues(getOperation(), config, *values);
  if (failed(symbols))
    return signalPassFailure();
  getOperation().walk([&](DispatchOp op) {
    if (DrawsAttr draws = getDraws(op, *symbols))
      setDraws(op, draws);
  });
}
