//===- stg-test-opt.cpp - stg-opt with the test dialect -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "stg/InitAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  test::registerTestDialect(registry);
  stg::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "stg-opt with ops that no pass knows\n", registry));
}
