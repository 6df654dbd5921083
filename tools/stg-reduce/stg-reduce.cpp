//===- stg-reduce.cpp - Makes a failing program smaller -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "stg/InitAll.h"
#include "stg/Support/Messages.h"

int main(int argc, char **argv) {
  stg::guardStandardStreams("stg-reduce");
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  stg::registerAllPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
