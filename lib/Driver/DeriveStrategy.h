//===- DeriveStrategy.h - What follows from a model -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_DERIVESTRATEGY_H
#define STG_LIB_DRIVER_DERIVESTRATEGY_H

#include "SymbolValues.h"
#include "stg/Presets/Preset.h"

namespace stg {

/// Puts what follows from the model into the strategy: replicas of key/value
/// heads and groups, whether there are experts.
void deriveFromModel(StrategyInput &strategy, mlir::ModuleOp module,
                     const Preset &preset, const SymbolValues &values);
/// Adds rows to the vocabulary, as the strategy says, for the ranks that the
/// rules of the plan divide it over. The error says that there is none.
llvm::Error padVocabulary(const StrategyInput &strategy, const PresetPlan &plan,
                          SymbolValues &values);
/// In a step of inference a row of several requests is filled up with tokens of
/// none, as far as it takes to divide the stream. True if there are more then.
bool padTokens(const StrategyInput &strategy, const PresetPlan &plan,
               SymbolValues &values);
/// What follows from the mesh, too: micro-batches, and replicas of what is
/// exchanged for tokens. Checks loads of experts.
llvm::Error deriveFromMesh(StrategyInput &strategy, const Preset &preset,
                           const SymbolValues &values);

} // namespace stg

#endif // STG_LIB_DRIVER_DERIVESTRATEGY_H
