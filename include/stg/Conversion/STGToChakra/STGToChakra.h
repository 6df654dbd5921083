//===- STGToChakra.h - From local programs to graphs ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_CONVERSION_STGTOCHAKRA_STGTOCHAKRA_H
#define STG_CONVERSION_STGTOCHAKRA_STGTOCHAKRA_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"

namespace stg {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Conversion/STGToChakra/Passes.h.inc"

} // namespace stg

#endif // STG_CONVERSION_STGTOCHAKRA_STGTOCHAKRA_H
