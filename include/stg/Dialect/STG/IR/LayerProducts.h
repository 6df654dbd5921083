//===- LayerProducts.h - Products of layers outside of loops ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers are what loops repeat, and what is copied from them: a module that
// predicts further tokens has a layer, too, and executes it once.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_LAYERPRODUCTS_H
#define STG_DIALECT_STG_IR_LAYERPRODUCTS_H

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// An attribute of a product outside of loops: `{stg.in_layer}`.
constexpr llvm::StringLiteral kInLayerAttr = "stg.in_layer";

inline bool isInLayer(EinsumOp product) {
  return product->hasAttr(kInLayerAttr) ||
         product->getParentOfType<mlir::LoopLikeOpInterface>();
}
inline void setInLayer(EinsumOp product) {
  product->setAttr(kInLayerAttr, mlir::UnitAttr::get(product.getContext()));
}

} // namespace stg

#endif // STG_DIALECT_STG_IR_LAYERPRODUCTS_H
