//===- Passes.h - Passes over the chakra dialect ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_TRANSFORMS_PASSES_H
#define STG_DIALECT_CHAKRA_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"

namespace stg::chakra {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Dialect/Chakra/Transforms/Passes.h.inc"

} // namespace stg::chakra

#endif // STG_DIALECT_CHAKRA_TRANSFORMS_PASSES_H
