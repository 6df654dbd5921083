//===- DimensionFactors.h - What dimensions are products of -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension of a tensor is a list of factors, the slowest first: one for
// most, several where dimensions are collapsed into one or a dimension is
// expanded, none for an extent of 1. Ops say which lists are the same. Where
// one list has a factor that the other has in parts, the factor is cut into
// these wherever it occurs, so that in the end every reshape is a list that is
// written otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CONVERSION_LINALGTOSTG_DIMENSIONFACTORS_H
#define STG_LIB_CONVERSION_LINALGTOSTG_DIMENSIONFACTORS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace stg {

class DimensionFactors {
public:
  using Factor = unsigned;
  using List = llvm::SmallVector<Factor, 2>;

  /// A new factor of that extent, `ShapedType::kDynamic` if it is not known. It
  /// keeps its name until it is cut.
  Factor add(int64_t extent, mlir::StringAttr name = {});

  /// The factors of the list as they are now.
  List resolve(llvm::ArrayRef<Factor> list) const;

  /// Makes the lists one. Fails, and says why, where their extents do not go
  /// together or a factor would have two names.
  llvm::LogicalResult unify(llvm::ArrayRef<Factor> lhs,
                            llvm::ArrayRef<Factor> rhs, std::string &why);

  /// Of a factor that `resolve` has given.
  int64_t getExtent(Factor factor) const { return nodes[factor].extent; }
  mlir::StringAttr getName(Factor factor) const { return nodes[factor].name; }
  /// The product, or kDynamic.
  int64_t getExtent(llvm::ArrayRef<Factor> list) const;
  /// `[B = 4, 128]`, for messages.
  std::string str(llvm::ArrayRef<Factor> list) const;

private:
  struct Node {
    int64_t extent;
    mlir::StringAttr name;
    /// What it has become: another factor, or parts; empty: it is one.
    List becomes;
  };

  /// `from` becomes `to`.
  llvm::LogicalResult merge(Factor from, Factor to, std::string &why);
  llvm::LogicalResult cut(Factor factor, llvm::ArrayRef<Factor> parts,
                          std::string &why);
  void resolve(Factor factor, List &list) const;

  std::vector<Node> nodes;
};

} // namespace stg

#endif // STG_LIB_CONVERSION_LINALGTOSTG_DIMENSIONFACTORS_H
