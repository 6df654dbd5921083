//===- ShardingPropagation.h - Completes a sharding plan --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharding propagation on plain data: tensors, ops with factors, and claims of
// mesh axes on tensor dimensions in order of importance. No op of any dialect
// in sight.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ANALYSIS_SHARDINGPROPAGATION_H
#define STG_ANALYSIS_SHARDINGPROPAGATION_H

#include "stg/Analysis/ShardingRule.h"
#include <deque>
#include <vector>

namespace stg {

/// Mesh axes by number, major to minor.
using AxisList = llvm::SmallVector<unsigned, 2>;

/// A tensor (or several that must be sharded alike, such as all reads of one
/// parameter) and the axes of each of its dimensions.
struct PlannedTensor {
  llvm::SmallVector<AxisList, 4> dims;

  /// When an axis was added last.
  unsigned changed = 0;

  bool uses(unsigned axis) const {
    return llvm::any_of(dims, [&](const AxisList &axes) {
      return llvm::is_contained(axes, axis);
    });
  }
};

/// An op, or an edge along which sharding flows (into and out of a repeat): its
/// tensors by number, parallel to the rule, and the axes of each factor.
struct PlannedOp {
  ShardingRule rule;
  llvm::SmallVector<unsigned, 4> operands;
  llvm::SmallVector<unsigned, 2> results;
  llvm::SmallVector<AxisList, 8> factorAxes = {};
  /// Changes an operand in place and computes nothing that others read: what it
  /// can compute with says nothing about how the operand is to be sharded.
  bool isUpdate = false;
  /// Axes that do not flow along the edge or through the op: its tensors are
  /// planned as if the others did not exist, and it computes nothing in shares
  /// over them.
  AxisList blocked = {};
  /// The only axes that the factor of the first element may be divided over.
  std::optional<std::pair<unsigned, AxisList>> only = std::nullopt;
  /// Factors and the axes that are claimed for them: these flow into no other
  /// factor of the op.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> claimed = {};
  /// The factor that varies slowest in the compound dimensions which begin with
  /// it: each shard of these has some of its elements, with all of the others.
  std::optional<unsigned> leading = std::nullopt;
  /// When axes flowed through it last: nothing flows again before one of its
  /// tensors changes, or its factors do from outside.
  unsigned visited = 0;

  /// True if what is known of the op says nothing against it.
  bool allows(unsigned factor, unsigned axis) const {
    return !llvm::is_contained(blocked, axis) &&
           (!only || only->first != factor ||
            llvm::is_contained(only->second, axis)) &&
           llvm::none_of(claimed, [&](const auto &claim) {
             return claim.second == axis && claim.first != factor;
           });
  }

  /// The factor that has the axes of a dimension over `factors`; none if no one
  /// of them is more its own than the others.
  std::optional<unsigned> getOwner(llvm::ArrayRef<unsigned> factors) const {
    if (factors.size() == 1 ||
        (leading && !factors.empty() && factors.front() == *leading))
      return factors.front();
    return std::nullopt;
  }

  bool uses(unsigned axis) const {
    return llvm::any_of(factorAxes, [&](const AxisList &axes) {
      return llvm::is_contained(axes, axis);
    });
  }
};

/// Dimension `dim` of tensor `tensor` is to be sharded over `axis`. Claims with
/// a lower priority number are propagated to a fixpoint before any with a
/// higher one.
struct ShardingClaim {
  unsigned tensor, dim, axis, priority;
  /// Made by a rule for all parameters: where no reader can compute with it but
  /// readers of others can, it is dropped.
  bool yields = false;
};

/// Op `op` computes factor `factor` over `axis`, whatever its tensors say. Its
/// tensors are sharded so where nothing else is said about them: the claim is
/// entered after all others.
struct FactorClaim {
  unsigned op, factor, axis;
};

struct ShardingPlan {
  std::vector<PlannedTensor> tensors;
  std::deque<PlannedOp> ops; ///< Large, so that they stay where they are.
  std::vector<ShardingClaim> claims;
  std::vector<FactorClaim> factorClaims;

  unsigned addTensor(unsigned rank) {
    tensors.push_back({});
    tensors.back().dims.resize(rank);
    return tensors.size() - 1;
  }

  /// Completes the plan. For each priority the claims enter, unless their
  /// tensor already uses the axis; then axes flow from dimensions to factors
  /// and from factors to dimensions, forward and backward through the ops in
  /// their order, until nothing changes. A tensor and an op take an axis at
  /// most once, and whoever has it keeps it. The result depends only on the
  /// order of ops and claims.
  ///
  /// Compound dimensions take part when all claims are propagated: those axes
  /// of their factors flow into them that the tensor does not use yet, and from
  /// there on as above. Out of them nothing flows, as no factor is more theirs
  /// than another, unless they begin with the leading factor of an op: what
  /// claims say of them is said of it, like of a dimension of its own.
  ///
  /// With x[b,d], w[d,f] in `bd,df->bf` and the claim "f of w over tp": factor
  /// f of the op and dimension f of its result get tp; a later claim "b of x
  /// over tp" shards x alone, because the op computes f over tp already.
  ///
  /// A claim that yields is dropped if all ops that read its tensor compute
  /// another factor over the axis already, unless that is so for all yielding
  /// claims of the priority. So "experts over ep" does not shard the router,
  /// which computes the batch over ep, while "hidden size over dp" shards all
  /// parameters, to be gathered by each reader. It is also dropped if all of
  /// them need the dimension whole, as a norm over all heads does.
  void propagate();

private:
  /// What those that read a claimed tensor do with the dimension.
  struct Uses {
    bool isComputable = false;  ///< Or nobody reads it.
    bool computesOther = false; ///< Over the axis, or computes nothing over it.
    bool needsWhole = false;
  };
  using Readers = std::vector<llvm::SmallVector<unsigned, 2>>;
  Readers collectReaders() const;
  Uses getUses(const ShardingClaim &claim, const Readers &readers) const;
  bool addAxes(PlannedTensor &tensor, AxisList &dim, const AxisList &axes);
  bool hasChanged(const PlannedOp &op) const;
  void enterClaims(unsigned priority);
  bool propagateThrough(PlannedOp &op);
  void propagateToFixpoint();
  bool enterCompoundDims();

  unsigned clock = 0; ///< Counts changes.
};

} // namespace stg

#endif // STG_ANALYSIS_SHARDINGPROPAGATION_H
