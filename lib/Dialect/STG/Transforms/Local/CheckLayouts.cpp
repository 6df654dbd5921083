//===- CheckLayouts.cpp - Refuses collectives that cannot be right --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalLayouts.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_CHECKLAYOUTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct CheckLayouts : stg::impl::CheckLayoutsBase<CheckLayouts> {
  using CheckLayoutsBase::CheckLayoutsBase;
  void runOnOperation() override;
};
} // namespace

static void showLayouts(func::FuncOp function, const LocalLayouts &layouts) {
  function.walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (LayoutAttr layout = layouts.getAttr(result))
        op->emitRemark("result #")
            << result.getResultNumber() << " is " << layout;
  });
}

void CheckLayouts::runOnOperation() {
  markAllAnalysesPreserved();
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    MeshOp mesh = MeshOp::lookup(function);
    if (!mesh || function.isExternal())
      continue;
    LocalLayouts layouts(function, mesh.getMesh());
    if (show)
      showLayouts(function, layouts);
    if (failed(checkLayouts(function, layouts)))
      return signalPassFailure();
  }
}
