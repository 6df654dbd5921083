//===- Steps.h - Several steps of inference in one program ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy may ask for steps that are not alike. Each loop of them is a
// strategy by itself, which is compiled as any other; then graphs become one.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_STEPS_H
#define STG_LIB_DRIVER_STEPS_H

#include "mlir/IR/BuiltinOps.h"
#include "stg/Strategy/StepPlan.h"
#include "stg/Strategy/StrategyInput.h"

namespace stg {

/// True if the strategy is of inference, and may have more than one step.
bool hasSeveralSteps(const StrategyInput &input);

/// The loops that the strategy asks for, of which there may be one; none for
/// one step. In a pipeline steps that give requests different numbers of tokens
/// are apart.
llvm::Expected<std::vector<StepLoop>> planSteps(const StrategyInput &input,
                                                bool hasStages);

/// True if the strategy itself says all loops: there is one of them, from its
/// requests on.
bool isOneLoop(const StrategyInput &input);

/// True if one of several steps has requests without cached tokens.
bool hasBeginning(llvm::ArrayRef<StepLoop> loops);
/// True if a loop has the step with which a request begins, and steps behind
/// it.
bool beginAndGoOn(llvm::ArrayRef<StepLoop> loops);
/// Makes loops of their own of steps with which requests begin.
void beginApart(std::vector<StepLoop> &loops);

/// The requests, and what makes steps of them, as they were given: `--seq 64
/// with --chunk 32 and --steps 3`.
std::string spellSteps(const StrategyInput &input);

/// The strategies of the loops, one for each. Caches have room for all of them.
std::vector<StrategyInput> splitSteps(const StrategyInput &input,
                                      llvm::ArrayRef<StepLoop> loops);

/// Puts what the graphs of `more` execute behind what those of `first` do, on
/// the same states. Reports what does not go together.
mlir::LogicalResult appendSteps(mlir::ModuleOp first, mlir::ModuleOp more);

/// The strategies of the steps of a round of speculative decoding.
struct RoundParts {
  StrategyInput verification;
  std::vector<StrategyInput> drafts; ///< In order.
};

/// The loop of rounds that the strategy asks for, with what is verified in
/// each.
llvm::Expected<StepLoop> planRounds(const StrategyInput &input);
/// Of each loop of rounds; `handsOn`: stages send the tokens of each step to
/// the next one.
std::vector<RoundParts> splitRounds(const StrategyInput &input,
                                    llvm::ArrayRef<StepLoop> loops,
                                    bool handsOn);

/// Puts what the steps of `drafts` execute before what those of `rounds` do,
/// as `draft.0`, `draft.1`. States of the draft model are `draft.NAME`, but for
/// parameters that it shares with the model. Reports what does not go together.
mlir::LogicalResult joinRounds(mlir::ModuleOp rounds,
                               llvm::MutableArrayRef<mlir::ModuleOp> drafts,
                               bool sharesParameters);

} // namespace stg

#endif // STG_LIB_DRIVER_STEPS_H
