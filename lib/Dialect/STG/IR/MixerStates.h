//===- MixerStates.h - What ops over tokens keep of a sequence --*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What types, costs and sharding rules of these ops have in common.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_IR_MIXERSTATES_H
#define STG_LIB_DIALECT_STG_IR_MIXERSTATES_H

#include "STGVerification.h"

namespace stg::detail {

inline mlir::Type f32(mlir::MLIRContext *context) {
  return mlir::Float32Type::get(context);
}

/// The state of each sequence, in fp32.
inline SymTensorType getStateType(DimAttr batch, llvm::ArrayRef<DimAttr> dims) {
  llvm::SmallVector<DimAttr> all{batch};
  llvm::append_range(all, dims);
  mlir::MLIRContext *context = batch.getContext();
  return SymTensorType::get(context, all, f32(context));
}

/// Of Mamba each channel has one, of Mamba-2 and the delta rule each head.
inline SymTensorType getScanState(mlir::Value x, mlir::Value a) {
  return getStateType(tensorOf(x).getDim(0), tensorOf(a).getDims());
}

inline SymTensorType getLinearState(mlir::Value x) {
  llvm::ArrayRef<DimAttr> dims = tensorOf(x).getDims();
  return getStateType(dims[0], dims.drop_front(2));
}

/// A numerator, a denominator and the largest exponent.
inline DimAttr getMeanParts(mlir::Value k) {
  return DimAttr::get(SymExpr::get(k.getContext(), 3));
}

inline SymTensorType getMeanState(mlir::Value k) {
  llvm::ArrayRef<DimAttr> dims = tensorOf(k).getDims();
  return getStateType(dims[0], {dims[2], getMeanParts(k)});
}

inline SymTensorType getSsdState(mlir::Value x, mlir::Value b) {
  llvm::ArrayRef<DimAttr> dims = tensorOf(x).getDims();
  return getStateType(dims[0],
                      {dims[2], dims[3], tensorOf(b).getDims().back()});
}

inline SymTensorType getDeltaState(mlir::Value q, mlir::Value v) {
  llvm::ArrayRef<DimAttr> dims = tensorOf(v).getDims();
  return getStateType(dims[0], {dims[2], tensorOf(q).getDim(3), dims[3]});
}

/// Of each key a value and a number that it is divided by, and of a head the
/// largest exponent.
inline DimAttr getMemorySize(mlir::Value q, mlir::Value v) {
  DimAttr key = tensorOf(q).getDim(3);
  SymExpr value = tensorOf(v).getShape()[3];
  return key.withExtent(key.getExtent() * (value + 1) + 1);
}

inline SymTensorType getMemoryState(mlir::Value q, mlir::Value v) {
  llvm::ArrayRef<DimAttr> dims = tensorOf(v).getDims();
  return getStateType(dims[0], {dims[2], getMemorySize(q, v)});
}

/// True if the roots are those of groups, not of all heads.
inline bool hasGroups(mlir::Value roots) {
  return tensorOf(roots).getRank() == 3;
}

} // namespace stg::detail

#endif // STG_LIB_DIALECT_STG_IR_MIXERSTATES_H
