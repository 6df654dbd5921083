//===- ShardingPropagation.cpp - Completes a sharding plan ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Analysis/ShardingPropagation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace stg;

/// True if the op computes a factor over the axis that is none of these, or may
/// compute none.
static bool computesOther(const PlannedOp &op, unsigned axis,
                          llvm::ArrayRef<unsigned> factors) {
  if (llvm::is_contained(op.blocked, axis))
    return true;
  for (auto [factor, axes] : llvm::enumerate(op.factorAxes))
    if (llvm::is_contained(axes, axis) && !llvm::is_contained(factors, factor))
      return true;
  return false;
}

/// True if the op needs these factors whole on each device.
static bool needsWhole(const PlannedOp &op, llvm::ArrayRef<unsigned> factors) {
  return llvm::any_of(factors, [&](unsigned factor) {
    return op.rule.factors[factor].kind == FactorKind::Whole;
  });
}

/// By tensor, the numbers of the ops that read it, but for updates.
ShardingPlan::Readers ShardingPlan::collectReaders() const {
  Readers readers(tensors.size());
  for (auto [number, op] : llvm::enumerate(ops))
    if (!op.isUpdate)
      for (unsigned tensor : op.operands)
        if (readers[tensor].empty() || readers[tensor].back() != number)
          readers[tensor].push_back(number);
  return readers;
}

/// What reads nothing else, as a conversion, is no use by itself: its own
/// readers are.
ShardingPlan::Uses ShardingPlan::getUses(const ShardingClaim &claim,
                                         const Readers &readers) const {
  Uses uses;
  llvm::SmallVector<std::pair<unsigned, unsigned>> worklist = {
      {claim.tensor, claim.dim}};
  llvm::DenseSet<std::pair<unsigned, unsigned>> seen(worklist.begin(),
                                                     worklist.end());
  while (!worklist.empty()) {
    auto [read, dim] = worklist.pop_back_val();
    for (unsigned number : readers[read]) {
      const PlannedOp &op = ops[number];
      for (auto [tensor, factors] :
           llvm::zip_equal(op.operands, op.rule.operands)) {
        if (tensor != read)
          continue;
        if (computesOther(op, claim.axis, factors[dim])) {
          uses.computesOther = true;
          continue;
        }
        if (needsWhole(op, factors[dim])) {
          uses.needsWhole = true;
          continue;
        }
        bool isConversion = op.operands.size() == 1 && op.results.size() == 1;
        const TensorFactors made =
            isConversion ? op.rule.results.front() : TensorFactors();
        const auto *same = llvm::find(made, factors[dim]);
        if (same == made.end()) {
          uses.isComputable = true;
          continue;
        }
        std::pair<unsigned, unsigned> next(op.results.front(),
                                           same - made.begin());
        if (seen.insert(next).second)
          worklist.push_back(next);
      }
    }
    if (readers[read].empty())
      uses.isComputable = true;
  }
  return uses;
}

void ShardingPlan::enterClaims(unsigned priority) {
  const bool mayYield = llvm::any_of(claims, [&](const ShardingClaim &claim) {
    return claim.priority == priority && claim.yields;
  });
  const Readers readers = mayYield ? collectReaders() : Readers();
  // What is computable depends on ops only, which do not change here.
  bool isUsed = llvm::any_of(claims, [&](const ShardingClaim &claim) {
    return claim.priority == priority && claim.yields &&
           getUses(claim, readers).isComputable;
  });
  auto yields = [&](const ShardingClaim &claim) {
    if (!claim.yields)
      return false;
    Uses uses = getUses(claim, readers);
    return !uses.isComputable &&
           (isUsed || (uses.needsWhole && !uses.computesOther));
  };
  for (const ShardingClaim &claim : claims) {
    PlannedTensor &tensor = tensors[claim.tensor];
    if (claim.priority != priority || tensor.uses(claim.axis) || yields(claim))
      continue;
    tensor.dims[claim.dim].push_back(claim.axis);
    tensor.changed = ++clock;
  }
}

/// Calls `visit(planned tensor, its factors)` for operands and results.
template <typename Fn>
static void forEachTensor(ShardingPlan &plan, PlannedOp &op, Fn visit) {
  for (auto [tensor, factors] : llvm::zip_equal(op.operands, op.rule.operands))
    visit(plan.tensors[tensor], factors);
  for (auto [tensor, factors] : llvm::zip_equal(op.results, op.rule.results))
    visit(plan.tensors[tensor], factors);
}

/// Adds the axes that the tensor does not use to one of its dimensions.
bool ShardingPlan::addAxes(PlannedTensor &tensor, AxisList &dim,
                           const AxisList &axes) {
  bool changed = false;
  for (unsigned axis : axes)
    if (!tensor.uses(axis)) {
      dim.push_back(axis);
      tensor.changed = ++clock;
      changed = true;
    }
  return changed;
}

/// True if axes may flow through the op that did not when it was visited. What
/// it gave its tensors itself is nothing new to it: it uses those axes.
bool ShardingPlan::hasChanged(const PlannedOp &op) const {
  auto isNew = [&](unsigned tensor) {
    return tensors[tensor].changed >= op.visited;
  };
  return llvm::any_of(op.operands, isNew) || llvm::any_of(op.results, isNew);
}

/// From dimensions to factors, then back, where a dimension is one factor, or
/// begins with the one that leads.
bool ShardingPlan::propagateThrough(PlannedOp &op) {
  if (!hasChanged(op))
    return false;
  bool changed = false;
  forEachTensor(
      *this, op, [&](PlannedTensor &tensor, const TensorFactors &factors) {
        for (auto [axes, dimFactors] : llvm::zip_equal(tensor.dims, factors)) {
          std::optional<unsigned> owner = op.getOwner(dimFactors);
          if (!owner || op.rule.factors[*owner].kind == FactorKind::Whole)
            continue;
          for (unsigned axis : axes)
            if (!op.uses(axis) && op.allows(*owner, axis)) {
              op.factorAxes[*owner].push_back(axis);
              changed = true;
            }
        }
      });
  forEachTensor(
      *this, op, [&](PlannedTensor &tensor, const TensorFactors &factors) {
        for (auto [axes, dimFactors] : llvm::zip_equal(tensor.dims, factors))
          if (std::optional<unsigned> owner = op.getOwner(dimFactors))
            changed |= addAxes(tensor, axes, op.factorAxes[*owner]);
      });
  op.visited = ++clock;
  return changed;
}

void ShardingPlan::propagateToFixpoint() {
  for (bool changed = true; changed;) {
    changed = false;
    for (PlannedOp &op : ops)
      changed |= propagateThrough(op);
    for (PlannedOp &op : llvm::reverse(ops))
      changed |= propagateThrough(op);
  }
}

/// From factors to the compound dimensions that run over them.
bool ShardingPlan::enterCompoundDims() {
  bool changed = false;
  for (PlannedOp &op : ops)
    forEachTensor(
        *this, op, [&](PlannedTensor &tensor, const TensorFactors &factors) {
          for (auto [axes, dimFactors] : llvm::zip_equal(tensor.dims, factors))
            if (dimFactors.size() > 1)
              for (unsigned factor : dimFactors)
                changed |= addAxes(tensor, axes, op.factorAxes[factor]);
        });
  return changed;
}

void ShardingPlan::propagate() {
  for (PlannedOp &op : ops)
    op.factorAxes.resize(op.rule.factors.size());
  for (const FactorClaim &claim : factorClaims)
    ops[claim.op].claimed.push_back({claim.factor, claim.axis});
  std::set<unsigned> priorities;
  for (const ShardingClaim &claim : claims)
    priorities.insert(claim.priority);
  for (unsigned priority : priorities) {
    enterClaims(priority);
    propagateToFixpoint();
  }
  for (const FactorClaim &claim : factorClaims)
    if (PlannedOp &op = ops[claim.op]; !op.uses(claim.axis)) {
      op.factorAxes[claim.factor].push_back(claim.axis);
      op.visited = 0;
    }
  propagateToFixpoint();
  // What compound dimensions get now is of any of their factors.
  for (PlannedOp &op : ops)
    op.leading = std::nullopt;
  while (enterCompoundDims())
    propagateToFixpoint();
}
