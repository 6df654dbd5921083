//===- ProductSplitter.h - Products with parts of a parameter ---*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter that holds several things becomes one parameter for each.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_PRODUCTSPLITTER_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_PRODUCTSPLITTER_H

#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/SetVector.h"

namespace stg {

/// Makes the parts of a product with a parameter, each a product with a
/// parameter of its own.
class ProductSplitter {
public:
  /// Dimension `dim` of the product is to consist of these; the parts are named
  /// after them.
  ProductSplitter(llvm::ArrayRef<DimAttr> dims) : dims(dims) {
    for (DimAttr dim : dims) {
      std::string &suffix = names.emplace_back();
      for (mlir::StringAttr name : dim.getNames())
        suffix += "_" + name.str();
    }
  }

  /// Nothing if this is no product with a parameter.
  llvm::SmallVector<mlir::Value> split(mlir::Value value, unsigned dim);
  /// Erases what has been split and is not read any more.
  void eraseUnread() {
    for (mlir::Operation *op : llvm::reverse(replaced))
      if (op->use_empty())
        op->erase();
  }

private:
  llvm::SmallVector<mlir::Value> splitProduct(EinsumOp op, unsigned dim);
  llvm::SmallVector<mlir::Value> splitBiased(BiasAddOp op, unsigned dim);
  llvm::SmallVector<mlir::Value> splitCast(CastOp op, unsigned dim);
  llvm::SmallVector<mlir::Value> splitParam(ParamOp param, unsigned dim);
  void finish(mlir::Operation *op, llvm::ArrayRef<mlir::Value> parts);

  llvm::SetVector<mlir::Operation *> replaced; ///< Producers first.
  llvm::SmallVector<DimAttr> dims;
  llvm::SmallVector<std::string> names;
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_PRODUCTSPLITTER_H
