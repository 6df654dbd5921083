//===- stg-lsp-server.cpp - Language server for editors -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Dialect.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "stg/InitAll.h"
#include "stg/Support/Messages.h"

int main(int argc, char **argv) {
  stg::guardStandardStreams("stg-lsp-server");
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
