//===- ShardingRule.h - Factors of an op's dimensions -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sharding rule names the factors of an op's iteration space and says which
// factors each dimension of each operand and result runs over. It is plain
// data: sharding propagation and collective insertion work on it and never ask
// what the op is. The idea is that of Shardy's sharding rules.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ANALYSIS_SHARDINGRULE_H
#define STG_ANALYSIS_SHARDINGRULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace stg {

enum class FactorKind {
  /// May be sharded. A result that does not run over the factor is then a
  /// partial sum over its axes.
  Shardable,
  /// Must be whole on every device (a normalized dimension, say).
  Whole,
  /// May be sharded, but the op must first be decomposed into ops that say how
  /// (`ShardableOpInterface::decompose`), because combining the shards is more
  /// than a sum.
  Decomposed,
  /// May be sharded. A result that does not run over the factor is then each
  /// device's own, and nothing combines them: statistics of the samples that it
  /// has. What follows takes it for a value that is the same everywhere.
  Separate,
};

/// How the shards of a result combine along a sharded factor that the result
/// does not run over.
enum class ReduceKind : uint32_t;

struct ShardingFactor {
  std::string name; ///< Unique in the rule.
  FactorKind kind = FactorKind::Shardable;
};

/// The factors that each dimension of one tensor runs over. Most dimensions run
/// over one factor. A compound dimension runs over several, in no order: it is
/// over the axes of all of them, as the rows of an expert's buffer are over the
/// axes of batch and tokens. As a tie it is weak: see
/// `ShardingPlan::propagate`.
using TensorFactors = llvm::SmallVector<llvm::SmallVector<unsigned, 1>, 4>;

/// For `bsd,dhe->bshe`: factors b, s, d, h, e; operands [[b,s,d],[d,h,e]];
/// results [[b,s,h,e]]. Sharding d makes the result a partial sum; the rule
/// does not need to say so, because the result does not run over d.
///
/// A factor may tie dimensions of different sizes (H query heads and K key
/// heads that are split together): an axis divides each of them.
struct ShardingRule {
  llvm::SmallVector<ShardingFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Per result; empty means that all are sums.
  llvm::SmallVector<ReduceKind, 2> reduceKinds;

  unsigned addFactor(std::string name,
                     FactorKind kind = FactorKind::Shardable) {
    factors.push_back({std::move(name), kind});
    return factors.size() - 1;
  }
  /// Adds `rank` factors named prefix0, prefix1, ... and returns the tensor
  /// that runs over them in order.
  TensorFactors addFactors(llvm::StringRef prefix, unsigned rank,
                           FactorKind kind = FactorKind::Shardable) {
    TensorFactors tensor;
    for (unsigned i = 0; i < rank; ++i)
      tensor.push_back({addFactor(prefix.str() + std::to_string(i), kind)});
    return tensor;
  }
  std::optional<unsigned> getFactor(llvm::StringRef name) const {
    for (auto [index, factor] : llvm::enumerate(factors))
      if (factor.name == name)
        return index;
    return std::nullopt;
  }
};

/// True if a dimension of the tensor runs over the factor.
inline bool runsOver(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(
      tensor, [&](const auto &dim) { return llvm::is_contained(dim, factor); });
}

} // namespace stg

#endif // STG_ANALYSIS_SHARDINGRULE_H
