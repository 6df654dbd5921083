//===- Divisors.h - What divides a number -----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_DIVISORS_H
#define STG_SUPPORT_DIVISORS_H

#include "llvm/ADT/SmallVector.h"
#include <algorithm>

namespace stg {

/// The divisors of a positive number up to `most`, in order, in at most `most`
/// and at most about the square root of `number` trials.
inline llvm::SmallVector<int64_t> collectDivisors(int64_t number,
                                                  int64_t most = INT64_MAX) {
  llvm::SmallVector<int64_t> divisors, larger;
  for (int64_t i = 1; i <= std::min(most, number / i); ++i) {
    if (number % i != 0)
      continue;
    divisors.push_back(i);
    if (int64_t other = number / i; other != i && other <= most)
      larger.push_back(other);
  }
  divisors.append(larger.rbegin(), larger.rend());
  return divisors;
}

} // namespace stg

#endif // STG_SUPPORT_DIVISORS_H
