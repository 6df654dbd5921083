//===- stg-opt.cpp - The optimizer driver ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "stg/InitAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  stg::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "STG: symbolic tensor graphs to execution traces\n",
      registry));
}
