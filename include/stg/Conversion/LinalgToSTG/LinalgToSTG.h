//===- LinalgToSTG.h - Models that come as linalg on tensors ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_CONVERSION_LINALGTOSTG_LINALGTOSTG_H
#define STG_CONVERSION_LINALGTOSTG_LINALGTOSTG_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Conversion/LinalgToSTG/Passes.h.inc"

/// Those that a program in linalg has ops of.
void registerLinalgDialects(mlir::DialectRegistry &registry);

} // namespace stg

#endif // STG_CONVERSION_LINALGTOSTG_LINALGTOSTG_H
