//===- Delayed.h - Ops that are executed beside an exchange -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task that gives way to another one behind an exchange does so when the
// delayed ops behind that are executed.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_DELAYED_H
#define STG_DIALECT_STG_IR_DELAYED_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// An attribute of an op that computes: `{stg.delayed}`.
constexpr llvm::StringLiteral kDelayedAttr = "stg.delayed";

inline bool isDelayed(mlir::Operation *op) { return op->hasAttr(kDelayedAttr); }
inline void setDelayed(mlir::Operation *op) {
  op->setAttr(kDelayedAttr, mlir::UnitAttr::get(op->getContext()));
}

} // namespace stg

#endif // STG_DIALECT_STG_IR_DELAYED_H
