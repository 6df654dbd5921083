//===- PositionValues.h - What depends on positions alone -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs compute masks and angles of constants and of indices. Their elements
// can be known here: they are evaluated, one by one, to see which keys a mask
// hides.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CONVERSION_LINALGTOSTG_POSITIONVALUES_H
#define STG_LIB_CONVERSION_LINALGTOSTG_POSITIONVALUES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace stg {

class PositionValues {
public:
  /// True for a tensor or a scalar that no parameter is in, and no argument but
  /// masks.
  bool isPosition(mlir::Value value);
  /// What an argument hides, if it says that it is a mask (`stg.mask`): as a
  /// float it is added to scores, else it is true where a key is seen.
  static mlir::StringAttr getMask(mlir::Value value);
  /// True for a constant whose elements differ: a parameter.
  static bool isParameter(mlir::Operation *op);
  /// The one value that all elements have, if it is a constant.
  std::optional<double> getSplat(mlir::Value tensor);
  /// True for what has no elements yet.
  static bool isUndefined(mlir::Value tensor);

  /// An element of such a tensor; none if it cannot be told. Booleans are 0 and
  /// 1.
  std::optional<double> getElement(mlir::Value tensor,
                                   llvm::ArrayRef<int64_t> coordinates);
  /// A scalar in the body of an op, in that iteration.
  std::optional<double> getScalar(mlir::Value scalar, mlir::linalg::LinalgOp op,
                                  llvm::ArrayRef<int64_t> iteration);

  /// A dimension that is not known is taken to have so many places: more than
  /// twice each integer that has been noted.
  int64_t getSampleExtent() const { return sampleExtent; }
  int64_t getSampleExtent(int64_t extent) const;
  /// Notes the integers that a scalar is made of.
  void noteConstants(mlir::Value scalar, mlir::linalg::LinalgOp op);

private:
  int64_t sampleExtent = 16;
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace stg

#endif // STG_LIB_CONVERSION_LINALGTOSTG_POSITIONVALUES_H
