//===- Phases.h - The parts of a step, by name ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes of traces have the phase that the op had which they come from
// (docs/Conventions.md). The dialect has an enumeration of those that passes
// know; what reads traces knows their names.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_PHASES_H
#define STG_SUPPORT_PHASES_H

#include "llvm/ADT/StringRef.h"

namespace stg {

constexpr llvm::StringLiteral kForwardPhase = "fwd", kBackwardPhase = "bwd",
                              kRecomputePhase = "recompute",
                              kGradSyncPhase = "grad_sync",
                              kOptimizerPhase = "opt",
                              kTransferPhase = "transfer";

/// The half of a backward pass that makes gradients of parameters, as schedules
/// that tell it apart call it.
constexpr llvm::StringLiteral kWeightGradPhase = "wgrad";

/// True for what each micro-batch executes, not once for a step.
inline bool isOfMicroBatch(llvm::StringRef phase) {
  return phase == kForwardPhase || phase == kBackwardPhase ||
         phase == kRecomputePhase || phase == kWeightGradPhase;
}

} // namespace stg

#endif // STG_SUPPORT_PHASES_H
