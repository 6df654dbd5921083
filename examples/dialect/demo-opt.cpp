//===- demo-opt.cpp - stg-opt with an op and a pass more ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Demo.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "stg/InitAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  stg::registerAllPasses();
  registry.insert<demo::DemoDialect>();
  demo::registerDemoPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "stg-opt and a demo\n", registry));
}
