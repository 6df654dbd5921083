//===- ExpertChoice.h - Where the experts of a token are -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_ANALYSIS_EXPERTCHOICE_H
#define STG_ANALYSIS_EXPERTCHOICE_H

namespace stg {

/// Experts of a token that a router chooses, all being equally likely: so many
/// of all experts, which lie in groups one behind the other, and only of
/// `limit` groups, which are equally likely, too.
struct ExpertChoice {
  double chosen = 1;
  double experts = 0; ///< 0: so many that each is chosen by itself.
  double groups = 1, limit = 1;

  /// How many of so many places, which have equally many experts each, one
  /// behind the other, are expected to have one that is chosen.
  double countPlaces(double places) const;
  /// Of the copies of a token, one for each of its experts, the part that is
  /// left if each place gets one at most.
  double getDistinct(double places) const;
};

} // namespace stg

#endif // STG_ANALYSIS_EXPERTCHOICE_H
