//===- AttentionPairs.h - Pairs that attention works on ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many pairs of a query and a key a mask leaves, of some queries and some
// keys of a row of tokens. What a device has of a row that is divided are such
// ranges. On plain numbers: each count is a closed form in a document, or in a
// chunk of one.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ANALYSIS_ATTENTIONPAIRS_H
#define STG_ANALYSIS_ATTENTIONPAIRS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace stg {

/// Tokens of a row, without the one at `end`.
struct TokenRange {
  int64_t begin = 0, end = 0;
};

/// Which keys a query of a row sees. Of a document that is [0, n):
///
///   causal            those up to its own
///   window            with causal so many at most, else half of them on each
///                     side
///   chunk             those of its chunk of so many tokens
///   prefix            under a causal mask the first so many see each other
struct AttentionPattern {
  bool isCausal = true;
  std::optional<int64_t> window, chunk;
  int64_t prefix = 0;
  std::vector<int64_t> documents; ///< Their tokens, one behind the other.

  int64_t countTokens() const;
  /// The pairs of these queries and these keys.
  int64_t countPairs(llvm::ArrayRef<TokenRange> queries,
                     llvm::ArrayRef<TokenRange> keys) const;
};

/// The tokens of one of several devices that divide a row evenly: a range, or
/// `zigzag` the range from the front and the one from the back that has its
/// number, each half as long.
std::vector<TokenRange> getTokensOf(int64_t device, int64_t devices,
                                    int64_t tokens, bool zigzag);

} // namespace stg

#endif // STG_ANALYSIS_ATTENTIONPAIRS_H
