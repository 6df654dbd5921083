//===- Recompute.cpp - Replays instead of saving --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A saved value is a slice that the backward body reads of a stack that the
// forward repeat makes. Recomputation puts the ops that make the value into the
// backward body and makes its readers read the replay; slices without readers
// disappear.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"

namespace stg {
#define GEN_PASS_DEF_RECOMPUTE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// A backward scan and the forward scan whose values it reads.
class ScanPair {
public:
  /// `outer` is the pair around this one, or null.
  ScanPair(ScanOpInterface forward, ScanOpInterface backward, ScanPair *outer,
           IRRewriter &rewriter)
      : forward(forward), backward(backward), outer(outer), rewriter(rewriter) {
  }

  void replayAll();
  void replaySelected(function_ref<bool(Operation *)> isSelected);
  void replayBut(const DenseSet<Operation *> &kept);

  /// The value of the forward body of which `slice` is what the backward body
  /// sees, or null.
  Value getForwardValue(Value slice);

private:
  /// The value of the forward body as the backward body sees it: its slice,
  /// which is added if there is none.
  Value getSaved(Value value);
  bool isInForward(Value value) const {
    return forward->getRegion(0).isAncestor(value.getParentRegion());
  }
  /// True for a parameter, or a constant, that the forward body reads itself:
  /// a path is that of the loops around, so what a layer shares with others is
  /// none.
  bool isRead(Value value) const {
    return isInForward(value) &&
           (getReadParameter(value) || value.getDefiningOp<SplatOp>());
  }
  Value readOrSave(Value value) {
    return isRead(value) ? readAgain(rewriter, value, Phase::Recompute)
                         : getSaved(value);
  }
  /// What the forward body, inside of another, reads of that.
  void mapCaptured(IRMapping &mapping);
  /// The slice of the backward body that reads what `stack`, which the forward
  /// repeat makes or reads, holds; it is added if there is none.
  Value getSlice(Value stack);

  ScanOpInterface forward, backward;
  ScanPair *outer;
  IRRewriter &rewriter;
};

struct Recompute : stg::impl::RecomputeBase<Recompute> {
  using RecomputeBase::RecomputeBase;
  void runOnOperation() override;

private:
  void recomputeIn(Region &region, ScanPair *outer, RecomputeChoice choice,
                   IRRewriter &rewriter);
  bool isNamed(Operation *op) const {
    return llvm::is_contained(names, op->getName().getStringRef());
  }
  DenseSet<Operation *> getKept(Block &body) const;

  /// Of the ops that are replayed singly, or that nothing replays.
  SmallVector<std::string> names;
  bool replays; ///< Whether any repeat has another policy than `none`.
};
} // namespace

Value ScanPair::getForwardValue(Value slice) {
  for (auto [arg, operand] :
       llvm::zip_equal(backward.getSliceArgs(), backward.getStacks())) {
    Value stack = operand;
    if (arg != slice)
      continue;
    if (outer && isa<BlockArgument>(stack))
      stack = outer->getForwardValue(stack);
    auto result = dyn_cast_or_null<OpResult>(stack);
    if (result && result.getOwner() == forward)
      return forward.getYielded()[result.getResultNumber()];
  }
  return {};
}

Value ScanPair::getSlice(Value stack) {
  // Inside of another repeat the stack is itself saved, slice by slice.
  if (outer)
    stack = outer->getSaved(stack);
  for (auto [slice, known] :
       llvm::zip_equal(backward.getSliceArgs(), backward.getStacks()))
    if (known == stack)
      return slice;
  return backward.addSlice(stack);
}

Value ScanPair::getSaved(Value value) {
  if (!isInForward(value))
    return outer ? outer->getSaved(value) : value;
  // What the forward repeat reads slices of, the backward one can read too.
  for (auto [slice, stack] :
       llvm::zip_equal(forward.getSliceArgs(), forward.getStacks()))
    if (slice == value)
      return getSlice(stack);
  unsigned carried = forward.getNumCarried();
  OperandRange yielded = forward.getYielded();
  for (auto [number, saved] : llvm::enumerate(yielded.drop_front(carried)))
    if (saved == value)
      return getSlice(forward->getResult(carried + number));
  forward = forward.withStacked(rewriter, value);
  return getSlice(forward->getResults().back());
}

/// Makes what has a phase a part of the replay.
static void markReplayed(Operation *op) {
  op->walk([&](Operation *inner) {
    if (getOrigin(inner).phase)
      setPhase(inner, Phase::Recompute);
  });
}

void ScanPair::mapCaptured(IRMapping &mapping) {
  if (!outer)
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(forward->getRegions(), captured);
  for (Value value : captured)
    mapping.map(value, outer->getSaved(value));
}

/// Replays the whole forward body at the start of the backward body.
void ScanPair::replayAll() {
  IRMapping mapping;
  for (BlockArgument arg : forward.getLoopBlock().getArguments())
    mapping.map(arg, getSaved(arg));
  mapCaptured(mapping);
  rewriter.setInsertionPointToStart(&backward.getLoopBlock());
  for (Operation &op : forward.getLoopBlock().without_terminator())
    markReplayed(rewriter.clone(op, mapping));
  OperandRange yielded = forward.getYielded();
  for (Value value : yielded.take_front(forward.getNumCarried()))
    KeepOp::create(rewriter, backward.getLoc(), mapping.lookupOrDefault(value));
  for (BlockArgument slice : backward.getSliceArgs()) {
    Value value = getForwardValue(slice);
    if (value && !isa<BlockArgument>(value))
      rewriter.replaceAllUsesWith(slice, mapping.lookupOrDefault(value));
  }
}

/// Replays single ops where their own backward op reads their results.
void ScanPair::replaySelected(function_ref<bool(Operation *)> isSelected) {
  SmallVector<Operation *> selected;
  for (Operation &op : forward.getLoopBlock())
    if (isSelected(&op))
      selected.push_back(&op);
  for (Operation *op : selected) {
    StringAttr name = getOrigin(op).name;
    SmallVector<Operation *> readers;
    for (Operation &reader : backward.getLoopBlock())
      if (getOrigin(&reader).name == name)
        readers.push_back(&reader);
    if (!name || readers.empty())
      continue;
    IRMapping mapping;
    rewriter.setInsertionPoint(readers.front());
    for (Value operand : op->getOperands())
      mapping.map(operand, readOrSave(operand));
    Operation *replayed = rewriter.clone(*op, mapping);
    markReplayed(replayed);
    for (auto [result, again] :
         llvm::zip_equal(op->getResults(), replayed->getResults())) {
      Value saved = getSaved(result);
      for (Operation *reader : readers)
        reader->replaceUsesOfWith(saved, again);
    }
  }
}

/// Replays at the start of the backward body what that reads, down to results
/// of `kept` ops and what the forward body is given.
void ScanPair::replayBut(const DenseSet<Operation *> &kept) {
  Block *body = &forward.getLoopBlock();
  DenseSet<Operation *> needed;
  SmallVector<Value> worklist;
  auto isReplayed = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == body && !kept.contains(op);
  };
  SmallVector<std::pair<BlockArgument, Value>> slices;
  for (BlockArgument slice : backward.getSliceArgs())
    if (Value value = getForwardValue(slice); value && isReplayed(value)) {
      slices.emplace_back(slice, value);
      worklist.push_back(value);
    }
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!needed.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (isReplayed(operand) && !isRead(operand))
        worklist.push_back(operand);
  }
  SmallVector<Operation *> ordered;
  for (Operation &op : *body)
    if (needed.contains(&op))
      ordered.push_back(&op);
  IRMapping mapping;
  rewriter.setInsertionPointToStart(&backward.getLoopBlock());
  for (Operation *op : ordered) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, readOrSave(operand));
    markReplayed(rewriter.clone(*op, mapping));
  }
  for (auto [slice, value] : slices)
    rewriter.replaceAllUsesWith(slice, mapping.lookup(value));
}

/// The forward scan that made the stacks that `backward` reads, or null.
/// `outer` is the pair around it, or null.
static ScanOpInterface getForward(ScanOpInterface backward, ScanPair *outer) {
  for (Value stack : backward.getStacks()) {
    if (outer && isa<BlockArgument>(stack))
      stack = outer->getForwardValue(stack);
    if (!stack)
      continue;
    if (auto scan = stack.getDefiningOp<ScanOpInterface>())
      if (getPhase(scan) == Phase::Forward &&
          scan.getScopeName() == backward.getScopeName())
        return scan;
  }
  return {};
}

static RecomputeChoice getChoice(RecomputePolicy policy) {
  switch (policy) {
  case RecomputePolicy::None:
    return RecomputeChoice::None;
  case RecomputePolicy::Selective:
    return RecomputeChoice::Selective;
  case RecomputePolicy::Full:
    return RecomputeChoice::Full;
  }
  llvm_unreachable("unknown policy");
}

/// Of the body of a layer: the first of each two products, what is named, and
/// scans, which keep for themselves.
DenseSet<Operation *> Recompute::getKept(Block &body) const {
  DenseSet<Operation *> kept;
  unsigned products = 0;
  for (Operation &op : body) {
    auto product = dyn_cast<EinsumOp>(op);
    bool isProduct = product && product.getInputs().size() == 2 &&
                     product.getCost().isMatrix;
    if (isProduct ? products++ % 2 == 0
                  : isNamed(&op) || isa<ScanOpInterface>(op))
      kept.insert(&op);
  }
  return kept;
}

/// Works on the backward scans of `region`, each before those inside of it:
/// what a whole body replays contains the inner forward scans. `choice` is that
/// of a scan that has none of its own.
void Recompute::recomputeIn(Region &region, ScanPair *outer,
                            RecomputeChoice choice, IRRewriter &rewriter) {
  auto found = region.getOps<ScanOpInterface>();
  SmallVector<ScanOpInterface> scans(found.begin(), found.end());
  for (ScanOpInterface backward : scans) {
    if (getPhase(backward) != Phase::Backward)
      continue;
    ScanOpInterface forward = getForward(backward, outer);
    if (!forward)
      continue;
    RecomputeChoice own = choice;
    if (std::optional<RecomputePolicy> policy = forward.getRecompute())
      own = getChoice(*policy);
    replays |= own != RecomputeChoice::None;
    ScanPair pair(forward, backward, outer, rewriter);
    if (own == RecomputeChoice::Full) {
      pair.replayAll();
      continue;
    }
    if (own == RecomputeChoice::Selective)
      pair.replaySelected([&](Operation *op) { return isNamed(op); });
    if (own == RecomputeChoice::Alternate)
      pair.replayBut(getKept(forward.getLoopBlock()));
    recomputeIn(backward->getRegion(0), &pair, own, rewriter);
  }
}

void Recompute::runOnOperation() {
  replays = false;
  names.assign(ops.begin(), ops.end());
  if (names.empty())
    names.push_back("stg.attention");
  IRRewriter rewriter(&getContext());
  recomputeIn(getOperation().getBody(), /*outer=*/nullptr, policy, rewriter);
  if (!replays)
    return markAllAnalysesPreserved();
  RewritePatternSet patterns(&getContext());
  populateDropUnusedStacksPatterns(patterns);
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
