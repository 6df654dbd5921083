//===- Dialects.cpp - Dialects and passes for MLIR's C interface ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/Dialects.h"
#include "mlir/CAPI/Registration.h"
#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/InitAll.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Sym, sym, stg::SymDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(STG, stg, stg::STGDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Chakra, chakra,
                                      stg::chakra::ChakraDialect)

void stgRegisterAllDialects(MlirDialectRegistry registry) {
  stg::registerAllDialects(*unwrap(registry));
  stg::registerLinalgDialects(*unwrap(registry));
}

void stgRegisterAllPasses() {
  stg::registerAllPasses();
  stg::registerLinalgPasses();
}
