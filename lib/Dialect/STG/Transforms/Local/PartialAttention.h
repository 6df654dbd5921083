//===- PartialAttention.h - Attention made in parts -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outputs and sums of exponentials that devices have computed with their own
// keys go to the devices that merge them.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_LOCAL_PARTIALATTENTION_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_LOCAL_PARTIALATTENTION_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

struct ExchangedParts {
  PackPartialOp pack; ///< Reads what this device has made for all.
  mlir::Value merged; ///< This device's part of attention.
};

/// Each device of the `devices` along `axes` gets, of the others' `outputs` and
/// `lses`, those of its own part along dimension `dim`, and merges them to
/// attention of type `own`. `finish` is called with each op that is made and
/// the suffix of its name.
ExchangedParts exchangeParts(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value outputs,
    mlir::Value lses, SymTensorType own, int64_t dim, SymExpr devices,
    mlir::ArrayAttr axes,
    llvm::function_ref<void(mlir::Operation *, llvm::StringRef suffix)> finish);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_LOCAL_PARTIALATTENTION_H
