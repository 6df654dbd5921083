//===- BucketGradients.cpp - Coalesces collectives of gradients -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace stg {
#define GEN_PASS_DEF_BUCKETGRADIENTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct BucketGradients : stg::impl::BucketGradientsBase<BucketGradients> {
  using BucketGradientsBase::BucketGradientsBase;
  void runOnOperation() override;

private:
  bool runOnBlock(Block &block);
  void coalesce(ArrayRef<CollectiveOpInterface> collectives);
  void coalesceBuckets(ArrayRef<CollectiveOpInterface> collectives);
};
} // namespace

/// Reductions by how many others stand between them and the optimizer, as where
/// a gradient is reduced over tp and then over dp, those that the others wait
/// for first. None waits for another one with the same number.
using ReductionsByFollowers =
    std::map<unsigned, SmallVector<Operation *>, std::greater<>>;

/// The reductions of gradients that may wait until the optimizer starts: what
/// they make is read by the optimizer, by the end of the block or by another of
/// them.
static ReductionsByFollowers collectReductions(Block &block) {
  ReductionsByFollowers reductions;
  DenseMap<Operation *, unsigned> followersOf;
  for (Operation &op : llvm::reverse(block)) {
    if (!isStepReduction(&op) ||
        !llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user->getBlock() == &block &&
                 (followersOf.contains(user) ||
                  getPhase(user) == Phase::Optimizer ||
                  user->hasTrait<OpTrait::IsTerminator>());
        }))
      continue;
    unsigned followers = 0;
    for (Operation *user : op.getUsers())
      if (auto it = followersOf.find(user); it != followersOf.end())
        followers = std::max(followers, it->second + 1);
    followersOf[&op] = followers;
    reductions[followers].push_back(&op);
  }
  for (auto &entry : reductions)
    std::reverse(entry.second.begin(), entry.second.end());
  return reductions;
}

namespace {
/// A reduction that waits.
struct SunkReduction {
  CollectiveOpInterface op;
  unsigned followers;
  Operation *place; ///< Before which all stand that wait there.
};
} // namespace

/// The first of the optimizer's ops `steps` before which `reduction` can stand:
/// behind what it reduces, or with the reduction that it waits for. Null if
/// there is none.
static Operation *findPlace(Operation *reduction, ArrayRef<Operation *> steps,
                            const DenseMap<Operation *, Operation *> &places) {
  ArrayRef<Operation *>::iterator place = steps.begin();
  for (Value operand : reduction->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != reduction->getBlock())
      continue;
    auto waiting = places.find(source);
    if (waiting != places.end() && !waiting->second)
      return nullptr;
    auto isTooEarly = [&](Operation *step) {
      return waiting == places.end() ? !source->isBeforeInBlock(step)
                                     : step->isBeforeInBlock(waiting->second);
    };
    place = std::max(place, llvm::partition_point(steps, isTooEarly));
  }
  return place == steps.end() ? nullptr : *place;
}

/// Moves the reductions of gradients, in their order, to the first op of the
/// optimizer that they can stand before, or behind the last of them if there is
/// none in this block.
static SmallVector<SunkReduction> sinkReductions(Block &block) {
  ReductionsByFollowers reductions = collectReductions(block);
  SmallVector<Operation *> steps;
  for (Operation &op : block)
    if (isa<CostOpInterface, LoopLikeOpInterface>(op) &&
        getPhase(&op) == Phase::Optimizer)
      steps.push_back(&op);
  DenseMap<Operation *, Operation *> places;
  for (auto &[followers, ops] : reductions)
    for (Operation *reduction : ops)
      places[reduction] = nullptr;
  Operation *end = nullptr;
  for (Operation &op : block)
    if (auto it = places.find(&op); it != places.end()) {
      it->second = findPlace(&op, steps, places);
      if (!it->second)
        end = op.getNextNode();
    }
  SmallVector<SunkReduction> sunk;
  for (auto &[followers, ops] : reductions)
    for (Operation *reduction : ops) {
      Operation *place = places[reduction];
      reduction->moveBefore(place ? place : end);
      sunk.push_back(
          {cast<CollectiveOpInterface>(reduction), followers, place});
    }
  return sunk;
}

/// What a collective of gradients or of what they update is called.
static StringAttr getBucketName(CollectiveOpInterface op) {
  return StringAttr::get(op->getContext(),
                         op.getReduction() ? "gradients" : "parameters");
}

/// One collective for all operands, at the place of the last.
void BucketGradients::coalesce(ArrayRef<CollectiveOpInterface> collectives) {
  // Of a stack on its own, which no op has named.
  for (CollectiveOpInterface op : collectives)
    if (!getOrigin(op).name)
      setName(op, getBucketName(op));
  if (collectives.size() < 2)
    return;
  Operation *all = stg::coalesce(collectives, collectives.back());
  setName(all, getBucketName(collectives.back()));
  unsigned next = 0;
  for (CollectiveOpInterface op : collectives) {
    for (Value result : op->getResults())
      result.replaceAllUsesWith(all->getResult(next++));
    op->erase();
  }
}

/// Closes a bucket when it has reached the size.
void BucketGradients::coalesceBuckets(
    ArrayRef<CollectiveOpInterface> collectives) {
  if (bucketBytes == 0)
    return coalesce(collectives);
  SmallVector<CollectiveOpInterface> bucket;
  int64_t bytes = 0;
  for (CollectiveOpInterface op : collectives) {
    bucket.push_back(op);
    for (Value operand : op->getOperands()) {
      SymExpr size = cast<SymTensorType>(operand.getType()).getNumBytes();
      std::optional<int64_t> number = size.getInt64();
      if (!number) {
        op->emitOpError("has an operand of ")
            << size.str()
            << " bytes; buckets of a limited size need numbers, bind the "
               "symbols first";
        return signalPassFailure();
      }
      bytes += *number;
    }
    if (bytes >= static_cast<int64_t>(bucketBytes)) {
      coalesce(bucket);
      bucket.clear();
      bytes = 0;
    }
  }
  coalesce(bucket);
}

/// Collectives of gradients over one group become one, at the place of the last
/// of them. False if there are none.
bool BucketGradients::runOnBlock(Block &block) {
  using Key = std::tuple<Attribute, Type, unsigned, Operation *>;
  llvm::MapVector<Key, SmallVector<CollectiveOpInterface>> buckets;
  auto add = [&](SunkReduction added) {
    auto type = cast<SymTensorType>(added.op->getOperand(0).getType());
    buckets[{added.op.getIdentity(), type.getElementType(), added.followers,
             added.place}]
        .push_back(added.op);
  };
  for (SunkReduction sunk : sinkReductions(block))
    add(sunk);
  for (auto collective : block.getOps<CollectiveOpInterface>())
    if (collective->getNumResults() == 0)
      add({collective, /*followers=*/0, /*place=*/nullptr});
  for (auto &[key, collectives] : buckets)
    coalesceBuckets(collectives);
  return !buckets.empty();
}

void BucketGradients::runOnOperation() {
  bool changed = false;
  getOperation().walk([&](Block *block) { changed |= runOnBlock(*block); });
  if (!changed)
    markAllAnalysesPreserved();
}
