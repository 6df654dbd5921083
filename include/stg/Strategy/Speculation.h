//===- Speculation.h - Rounds of drafts and verification --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a round of speculative decoding a draft model proposes tokens, one step
// for each, and one step of the model verifies all of them. How many tokens a
// round adds is not known before it is executed; what is expected of it is.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_SPECULATION_H
#define STG_STRATEGY_SPECULATION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace stg {

/// How many tokens a step adds to each context, in lowest terms. All steps
/// before step i have added `getTotal(i)`: what has not become a whole token is
/// not lost.
struct TokenRate {
  int64_t numerator = 1, denominator = 1;
  /// What the first step begins with of a token, as a numerator.
  int64_t begun = 0;

  /// Rounded down. Steps are at most `kMostSteps`.
  int64_t getTotal(int64_t steps) const {
    return (steps * numerator + begun) / denominator;
  }
  /// The same of a loop that begins after so many steps.
  TokenRate getAfter(int64_t steps) const {
    return {numerator, denominator, (steps * numerator + begun) % denominator};
  }
  double getValue() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
  /// `2101/625`, or `5`; `2101/625+476` of a loop that goes on with 476/625.
  std::string str() const;
};

/// The tokens that are expected of a round whose drafts are each accepted with
/// this probability, given those before it: (1 - a^(n+1)) / (1 - a), exact. The
/// probability is a decimal number from 0 to 1.
llvm::Expected<TokenRate> getExpectedTokens(llvm::StringRef acceptance,
                                            int64_t drafts);

/// Reads what `TokenRate::str` writes.
llvm::Expected<TokenRate> readTokenRate(llvm::StringRef text);

} // namespace stg

#endif // STG_STRATEGY_SPECULATION_H
