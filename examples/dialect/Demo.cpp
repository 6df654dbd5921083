//===- Demo.cpp - An op and a pass of another project ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Demo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"

#define GET_OP_CLASSES
#include "DemoOps.h.inc"

#include "DemoDialect.cpp.inc"
#define GET_OP_CLASSES
#include "DemoOps.cpp.inc"

namespace demo {
#define GEN_PASS_DEF_USEHARDSWISH
#include "DemoPasses.h.inc"
} // namespace demo

using namespace mlir;
using namespace demo;

void DemoDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "DemoOps.cpp.inc"
      >();
}

namespace {
struct UseHardSwish : demo::impl::UseHardSwishBase<UseHardSwish> {
  void runOnOperation() override {
    getOperation().walk([](stg::ActivationOp op) {
      OpBuilder builder(op);
      auto swish = HardSwishOp::create(builder, op.getLoc(), op.getInput());
      // The name of its node in traces.
      stg::copyOrigin(op, swish);
      op.replaceAllUsesWith(swish.getResult());
      op.erase();
    });
  }
};
} // namespace

// What stg-opt and mlir-opt ask for in a plugin.
extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Demo", "1.0",
          [](mlir::DialectRegistry *registry) {
            registry->insert<demo::DemoDialect>();
          }};
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Demo", "1.0",
          [] { demo::registerDemoPasses(); }};
}
