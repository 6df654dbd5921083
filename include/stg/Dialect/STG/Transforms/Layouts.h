//===- Layouts.h - What devices have of values ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_TRANSFORMS_LAYOUTS_H
#define STG_DIALECT_STG_TRANSFORMS_LAYOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// What devices have of these values of a local program; null where that is not
/// known.
llvm::SmallVector<LayoutAttr> getLayouts(mlir::func::FuncOp function,
                                         llvm::ArrayRef<mlir::Value> values);

} // namespace stg

#endif // STG_DIALECT_STG_TRANSFORMS_LAYOUTS_H
