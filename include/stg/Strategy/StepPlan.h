//===- StepPlan.h - The steps that requests are executed in -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of inference is a list of steps, each of them a list of requests. It is
// made from what requests need and when they come, as an engine's scheduler
// does: each step takes as many tokens of each request as there are, and as its
// limits allow. Steps in a row that differ in their contexts only are one loop.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_STEPPLAN_H
#define STG_STRATEGY_STEPPLAN_H

#include "stg/Strategy/Requests.h"
#include "stg/Strategy/Speculation.h"

namespace stg {

/// Consecutive steps of requests that are alike: before each of them contexts
/// are longer by the new tokens of the one before, or by what is expected.
struct StepLoop {
  Requests requests; ///< Of the first one.
  int64_t count = 1;
  std::optional<TokenRate> advance;
  /// What its requests have got at the end of a step: a token of each that
  /// generates, or whose prompt is complete.
  int64_t tokens = 0;
  /// Of a pipeline, tokens of the step before that the first stage receives,
  /// and tokens that the last one sends it for the next step.
  int64_t received = 0, sent = 0;

  /// The requests of the last step.
  Requests getLast() const;
};

/// What a scheduler may do in a step; 0: there is no limit.
struct StepLimits {
  int64_t tokens = 0; ///< Of all requests.
  int64_t chunk = 0;  ///< Of one request.
  /// Steps are not in one loop that give requests different numbers of tokens.
  bool tellTokens = false;
};

/// Steps until all that requests need has been computed, or `steps`.
///
/// A request comes with its step, after those before it in the list. First it
/// needs its new tokens, then one token a step, until it has `generate` tokens,
/// or for good. The first token that it generates is that of the step which
/// computes the last of its new ones. In a step, requests that have been in one
/// come first, those that generate and those that are not complete in the order
/// in which they came; then the others. Each gets what it needs, at most
/// `chunk`, and of the budget what is left. A step without any request has no
/// tokens and is left out.
llvm::Expected<std::vector<StepLoop>>
scheduleSteps(const Requests &requests, StepLimits limits,
              std::optional<int64_t> steps);

/// Steps in which each request has its new tokens again, from the step with
/// which it comes, in as many steps as it generates tokens, or in all.
llvm::Expected<std::vector<StepLoop>> repeatSteps(const Requests &requests,
                                                  int64_t steps);

/// Says which tokens stages hand on: those that requests have got in a step,
/// but for the last one, are received in the next one. Makes loops of their own
/// of steps that differ in it.
void handOnTokens(std::vector<StepLoop> &loops);

} // namespace stg

#endif // STG_STRATEGY_STEPPLAN_H
