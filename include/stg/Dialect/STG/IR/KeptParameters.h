//===- KeptParameters.h - What an earlier step has written ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys and values of an encoder's tokens are there, and nothing of a later step
// changes them. To everything that divides and places values they are like a
// parameter; what differs is the kind of buffer.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_KEPTPARAMETERS_H
#define STG_DIALECT_STG_IR_KEPTPARAMETERS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// An attribute of a parameter that is part of a cache: `{stg.kept}`.
constexpr llvm::StringLiteral kKeptAttr = "stg.kept";

inline bool isKept(ParamOp param) { return param->hasAttr(kKeptAttr); }
inline void setKept(ParamOp param) {
  param->setAttr(kKeptAttr, mlir::UnitAttr::get(param.getContext()));
}

} // namespace stg

#endif // STG_DIALECT_STG_IR_KEPTPARAMETERS_H
