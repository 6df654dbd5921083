//===- Passes.h - Passes over the stg dialect -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_TRANSFORMS_PASSES_H
#define STG_DIALECT_STG_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Strategy/PassOption.h"

namespace stg {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Dialect/STG/Transforms/Passes.h.inc"

/// The names of all dimensions of values, sorted.
llvm::SmallVector<mlir::StringAttr>
collectDimensionNames(mlir::ModuleOp module);

} // namespace stg

#endif // STG_DIALECT_STG_TRANSFORMS_PASSES_H
