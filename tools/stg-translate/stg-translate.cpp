//===- stg-translate.cpp - Files from IR and IR from files ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "stg/Target/ChakraTrace/Translation.h"

int main(int argc, char **argv) {
  stg::chakra::registerChakraTraceTranslations();
  return failed(mlir::mlirTranslateMain(
      argc, argv, "STG: writes and reads Chakra execution traces"));
}
