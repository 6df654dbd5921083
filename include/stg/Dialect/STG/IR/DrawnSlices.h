//===- DrawnSlices.h - Slices that a random choice reads --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_DRAWNSLICES_H
#define STG_DIALECT_STG_IR_DRAWNSLICES_H

#include "stg/Dialect/STG/IR/STG.h"
#include <optional>

namespace stg {

/// Slices of an operand, such as the experts of a layer that a device has, and
/// how many of them are expected to be read, to the nearest integer.
struct DrawnSlices {
  SymExpr held, read;
};

/// Those of a product that has `draws`; see `stg.einsum`.
std::optional<DrawnSlices> getDrawnSlices(EinsumOp op);

} // namespace stg

#endif // STG_DIALECT_STG_IR_DRAWNSLICES_H
