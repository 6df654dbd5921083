//===- Coordinates.h - Numbers that depend on a device's place --*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one program for all devices. What differs between them is an
// expression in their coordinates, which a table is looked up by.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_COORDINATES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_COORDINATES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// An axis whose size is a number.
struct SizedAxis {
  mlir::StringAttr name;
  int64_t size;
};

/// A number of each device along some axes, of which the first is the fastest.
struct DeviceNumbers {
  llvm::SmallVector<SizedAxis> axes;
  llvm::SmallVector<int64_t> numbers;

  /// What devices that differ along axes with these names only have together,
  /// as `combine` says: numbers along the other axes.
  DeviceNumbers
  join(llvm::function_ref<bool(mlir::StringAttr)> isJoined,
       llvm::function_ref<int64_t(int64_t, int64_t)> combine) const;
};

/// The element of a table that has the number of this device in the group over
/// `axes`, of which the first is the fastest. Declares symbols for the
/// coordinates unless all elements are equal.
SymExpr lookUpByCoordinates(mlir::ModuleOp module,
                            llvm::ArrayRef<SizedAxis> axes,
                            llvm::ArrayRef<SymExpr> table);
SymExpr lookUpByCoordinates(mlir::ModuleOp module, const DeviceNumbers &table);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_COORDINATES_H
