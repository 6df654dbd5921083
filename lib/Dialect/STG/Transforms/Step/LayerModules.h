//===- LayerModules.h - Modules of a layer ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_STEP_LAYERMODULES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_STEP_LAYERMODULES_H

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Strategy/Strategy.h"

namespace stg {

/// A part of a layer that is replayed as one.
struct LayerModule {
  /// What it executes, in order; not what reads its parameters.
  llvm::SmallVector<mlir::Operation *> ops;
  /// As Megatron-Core's CheckpointWithoutOutput: whatever reads the output
  /// reads the replay. Of others, as of torch.utils.checkpoint, only the own
  /// backward pass does, which begins with all of the module, its last product
  /// included.
  bool discardsOutput = false;
};

/// The modules of these kinds in what `scan` iterates, in order. They are told
/// by what the layers compute, not by names: a residual stream is what a layer
/// hands to the next one, and what is added to it is attention, experts, or a
/// feed-forward network. No op is in two modules: the largest ones have theirs
/// first.
llvm::SmallVector<LayerModule> findModules(ScanOpInterface scan,
                                           const RecomputeModules &kinds);

/// Likewise what kernels of its causal convolutions do not save.
llvm::SmallVector<LayerModule> findConvolutions(ScanOpInterface scan);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_STEP_LAYERMODULES_H
