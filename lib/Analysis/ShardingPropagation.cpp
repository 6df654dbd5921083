//===- ShardingPropagation.cpp - Completes a sharding plan ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Analysis/ShardingPropagation.h"
#include <set>

using namespace stg;

void ShardingPlan::enterClaims(unsigned priority) {
  for (const ShardingClaim &claim : claims) {
    PlannedTensor &tensor = tensors[claim.tensor];
    if (claim.priority == priority && !tensor.uses(claim.axis))
      tensor.dims[claim.dim].push_back(claim.axis);
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

/// From dimensions to factors, then back. Only the major factor of a dimension
/// can be sharded: the shards of a minor one are not contiguous.
bool ShardingPlan::propagateThrough(PlannedOp &op) {
  bool changed = false;
  op.factorAxes.resize(op.rule.factors.size());
  forEachTensor(
      *this, op, [&](PlannedTensor &tensor, const TensorFactors &factors) {
        for (auto [axes, dimFactors] : llvm::zip_equal(tensor.dims, factors)) {
          if (dimFactors.empty() ||
              op.rule.factors[dimFactors.front()].kind == FactorKind::Whole)
            continue;
          for (unsigned axis : axes)
            if (!op.uses(axis)) {
              op.factorAxes[dimFactors.front()].push_back(axis);
              changed = true;
            }
        }
      });
  forEachTensor(
      *this, op, [&](PlannedTensor &tensor, const TensorFactors &factors) {
        for (auto [axes, dimFactors] : llvm::zip_equal(tensor.dims, factors)) {
          if (dimFactors.empty())
            continue;
          for (unsigned axis : op.factorAxes[dimFactors.front()])
            if (!tensor.uses(axis)) {
              axes.push_back(axis);
              changed = true;
            }
        }
      });
  return changed;
}

void ShardingPlan::propagate() {
  std::set<unsigned> priorities;
  for (const ShardingClaim &claim : claims)
    priorities.insert(claim.priority);
  for (unsigned priority : priorities) {
    enterClaims(priority);
    for (bool changed = true; changed;) {
      changed = false;
      for (PlannedOp &op : ops)
        changed |= propagateThrough(op);
      for (PlannedOp &op : llvm::reverse(ops))
        changed |= propagateThrough(op);
    }
  }
  for (PlannedOp &op : ops)
    op.factorAxes.resize(op.rule.factors.size());
}
