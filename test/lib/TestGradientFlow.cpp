//===- TestGradientFlow.cpp - Prints the gradients of a function ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDialect.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"

using namespace mlir;
using namespace stg;

namespace {
/// A remark at each value that reaches nothing but the optimizer.
struct TestGradientFlow
    : PassWrapper<TestGradientFlow, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestGradientFlow)

  StringRef getArgument() const final { return "test-gradient-flow"; }
  StringRef getDescription() const final {
    return "print the gradients of a function";
  }

  void runOnOperation() override {
    const auto &gradients = getAnalysis<GradientFlow>();
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        print(result, gradients);
      for (Region &region : op->getRegions())
        for (BlockArgument arg : region.getArguments())
          print(arg, gradients);
    });
    markAllAnalysesPreserved();
  }

  void print(Value value, const GradientFlow &gradients) {
    const GradientFlow::Flow *flow = gradients.lookup(value);
    if (!flow)
      return;
    InFlightDiagnostic diag = emitRemark(value.getLoc());
    diag << (flow->isTerm ? "a term of" : "the gradient of");
    for (Operation *step : flow->steps)
      diag << " '" << getUpdatedParameter(step) << "'";
    if (flow->isReturned)
      diag << " what is returned";
    if (flow->stacks)
      diag << ", stacks: " << *flow->stacks;
  }
};
} // namespace

void test::registerTestGradientFlow() { PassRegistration<TestGradientFlow>(); }
