//===- LayerRanges.h - Which layers repeats have ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of a model are the innermost iterations of its repeats, in the
// order of the program.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_LAYERRANGES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_LAYERRANGES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// A repeat at the top of a program, and the layers that it has.
struct LayerRange {
  RepeatOp repeat;
  int64_t begin; ///< Layers before it.
  int64_t end;   ///< Layers before what comes behind it.
};

struct LayerRanges {
  llvm::SmallVector<LayerRange> ranges; ///< In the order of the program.
  RepeatOp unknown; ///< One whose layers have no number, at which ranges end.

  int64_t getNumLayers() const {
    return ranges.empty() ? 0 : ranges.back().end;
  }
};

/// The layers of a function, without those of repeats that go backward.
LayerRanges collectLayers(mlir::func::FuncOp function,
                          const SymBinding &binding);

/// Says what is wrong if the function does not have so many layers at its start
/// and at its end.
mlir::LogicalResult checkEndLayers(mlir::func::FuncOp function,
                                   const LayerRanges &layers, int64_t atStart,
                                   int64_t atEnd);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_LAYERRANGES_H
