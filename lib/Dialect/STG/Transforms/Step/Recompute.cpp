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

#include "LayerModules.h"
#include "ParameterPatterns.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

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
  void replayModules(ArrayRef<LayerModule> modules);
  void replayBut(const DenseSet<Operation *> &kept);

  /// The value of the forward body of which `slice` is what the backward body
  /// sees, or null.
  Value getForwardValue(Value slice);

private:
  struct Replay;
  /// Finds where in backward what of a module is replayed.
  void place(Replay &replay);
  void addDiscarded(MutableArrayRef<Replay> replays);
  void writeReplay(const Replay &replay, IRMapping &replayed);
  void keepOutputs(const LayerModule &module, ArrayRef<Operation *> again,
                   const IRMapping &mapping);

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
  /// What policy=alternate, or policy=needed, saves of the body of a layer.
  DenseSet<Operation *> getAlternate(Block &body) const;
  DenseSet<Operation *> getSaved(Block &body);
  /// What is replayed of a layer that is not replayed as a whole: parts that
  /// are named, and what kernels of convolutions do not save.
  SmallVector<LayerModule> getModules(ScanOpInterface forward,
                                      RecomputeChoice choice);
  LogicalResult checkModules();

  /// Of the ops that are saved by policy=alternate.
  SmallVector<std::string> names;
  NamePatterns patternsOfSaved;
  RecomputeModules kinds;
  bool replays; ///< Whether any repeat has another policy than `none`.
  RecomputeModules present; ///< Of any kind, in layers of which parts are.
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
    KeepOp::create(rewriter, backward.getLoc(), mapping.lookupOrDefault(value),
                   /*like=*/Value());
  for (BlockArgument slice : backward.getSliceArgs()) {
    Value value = getForwardValue(slice);
    if (value && !isa<BlockArgument>(value))
      rewriter.replaceAllUsesWith(slice, mapping.lookupOrDefault(value));
  }
}

/// What of a module is replayed, and where.
struct ScanPair::Replay {
  const LayerModule *module = nullptr;
  DenseSet<Operation *> needed;
  Operation *before = nullptr; ///< An op of the backward body.
  /// What reads the replay instead of a slice, and the value that it reads.
  SmallVector<std::pair<OpOperand *, Value>> readers;

  void addReader(Operation *reader) {
    if (!before || reader->isBeforeInBlock(before))
      before = reader;
  }
};

void ScanPair::place(Replay &replay) {
  Block &body = backward.getLoopBlock();
  DenseSet<Operation *> ops(llvm::from_range, replay.module->ops);
  DenseSet<StringAttr> names;
  if (!replay.module->discardsOutput) {
    for (Operation *op : ops)
      if (StringAttr name = getOrigin(op).name)
        names.insert(name);
    for (Operation &op : body)
      if (names.contains(getOrigin(&op).name))
        replay.addReader(&op);
    if (replay.before)
      replay.needed = ops;
  }
  for (BlockArgument slice : backward.getSliceArgs()) {
    Value value = getForwardValue(slice);
    Operation *maker = value ? value.getDefiningOp() : nullptr;
    if (!ops.contains(maker))
      continue;
    for (OpOperand &use : slice.getUses()) {
      Operation *reader = body.findAncestorOpInBlock(*use.getOwner());
      if (replay.module->discardsOutput) {
        replay.addReader(reader);
        replay.needed.insert(maker);
      } else if (!names.contains(getOrigin(reader).name)) {
        continue;
      }
      replay.readers.emplace_back(&use, value);
    }
  }
}

/// Replays read replays of what others discard.
void ScanPair::addDiscarded(MutableArrayRef<Replay> replays) {
  DenseMap<Operation *, unsigned> discarded;
  for (auto [number, replay] : llvm::enumerate(replays))
    if (replay.module->discardsOutput)
      for (Operation *op : replay.module->ops)
        discarded[op] = number;
  for (auto [number, replay] : llvm::reverse(llvm::enumerate(replays)))
    for (Operation *op : llvm::reverse(replay.module->ops)) {
      if (!replay.needed.contains(op))
        continue;
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        auto found = discarded.find(maker);
        if (found == discarded.end() || found->second > number)
          continue;
        replays[found->second].needed.insert(maker);
        replays[found->second].addReader(replay.before);
      }
    }
}

/// Writes what is needed of a module. `replayed`: what has been made again of
/// modules whose output is discarded.
void ScanPair::writeReplay(const Replay &replay, IRMapping &replayed) {
  rewriter.setInsertionPoint(replay.before);
  IRMapping mapping = replayed;
  SmallVector<Operation *> again;
  for (Operation *op : replay.module->ops) {
    if (!replay.needed.contains(op))
      continue;
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, readOrSave(operand));
    again.push_back(rewriter.clone(*op, mapping));
    markReplayed(again.back());
  }
  for (auto [use, value] : replay.readers)
    use->set(mapping.lookup(value));
  if (!replay.module->discardsOutput)
    return keepOutputs(*replay.module, again, mapping);
  for (Operation *op : replay.needed)
    for (Value result : op->getResults())
      replayed.map(result, mapping.lookup(result));
}

/// Keeps what nobody reads of a replay, as long as the module's input is there:
/// a rank has of the output what it has of the input of the same type.
void ScanPair::keepOutputs(const LayerModule &module,
                           ArrayRef<Operation *> again,
                           const IRMapping &mapping) {
  SmallVector<Value> inputs;
  for (Operation *op : module.ops)
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(module.ops, operand.getDefiningOp()))
        inputs.push_back(mapping.lookup(operand));
  for (Operation *op : again) {
    if (!op->use_empty())
      continue;
    Value output = op->getResult(0);
    const auto *like = llvm::find_if(inputs, [&](Value input) {
      return input.getType() == output.getType();
    });
    KeepOp::create(rewriter, backward.getLoc(), output,
                   like == inputs.end() ? Value() : *like);
  }
}

/// Replays modules, each before the first op that reads what it makes, or that
/// is of its own backward pass.
void ScanPair::replayModules(ArrayRef<LayerModule> modules) {
  SmallVector<Replay> replays;
  for (const LayerModule &module : modules) {
    Replay &replay = replays.emplace_back();
    replay.module = &module;
    place(replay);
  }
  addDiscarded(replays);
  IRMapping replayed;
  for (const Replay &replay : replays)
    if (!replay.needed.empty())
      writeReplay(replay, replayed);
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
DenseSet<Operation *> Recompute::getAlternate(Block &body) const {
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

/// Of the body of a layer what is named, and scans, which keep for themselves.
DenseSet<Operation *> Recompute::getSaved(Block &body) {
  DenseSet<Operation *> kept;
  for (Operation &op : body) {
    StringAttr name = getOrigin(&op).name;
    bool isScan = isa<ScanOpInterface>(op);
    if (isScan || (name && patternsOfSaved.match(name)))
      kept.insert(&op);
  }
  return kept;
}

/// True for iterations of several layers: nothing but scans.
static bool isOfLayers(ScanOpInterface scan) {
  auto body = scan.getLoopBlock().without_terminator();
  return !body.empty() && llvm::all_of(body, llvm::IsaPred<ScanOpInterface>);
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
    // Layers are replayed one by one, but those of a group.
    bool isWhole = forward.getRecompute() || !isOfLayers(forward);
    if (own == RecomputeChoice::Full && isWhole) {
      pair.replayAll();
      continue;
    }
    if (SmallVector<LayerModule> modules = getModules(forward, own);
        !modules.empty()) {
      replays = true;
      pair.replayModules(modules);
    }
    if (own == RecomputeChoice::Alternate)
      pair.replayBut(getAlternate(forward.getLoopBlock()));
    if (own == RecomputeChoice::Needed)
      pair.replayBut(getSaved(forward.getLoopBlock()));
    recomputeIn(backward->getRegion(0), &pair, own, rewriter);
  }
}

SmallVector<LayerModule> Recompute::getModules(ScanOpInterface forward,
                                               RecomputeChoice choice) {
  SmallVector<LayerModule> found;
  DenseSet<Operation *> taken;
  auto add = [&](LayerModule module) {
    if (taken.contains(module.ops.front()))
      return;
    taken.insert_range(module.ops);
    found.push_back(std::move(module));
  };
  const bool ofParts = choice == RecomputeChoice::Selective;
  if (ofParts) {
    for (const NamedValue &value : getNamedValues<RecomputeModule>()) {
      RecomputeModules kind = *parseRecomputeModules(StringRef(value.name));
      if (!findModules(forward, kind).empty())
        present.merge(kind);
    }
    llvm::for_each(findModules(forward, kinds), add);
    for (Operation &op : forward.getLoopBlock())
      if (llvm::is_contained(ops, op.getName().getStringRef()))
        add({{&op}});
  }
  if (convolutions && (ofParts || choice == RecomputeChoice::None))
    llvm::for_each(findConvolutions(forward), add);
  llvm::sort(found, [](const LayerModule &a, const LayerModule &b) {
    return a.ops.front()->isBeforeInBlock(b.ops.front());
  });
  return found;
}

/// A module that is named and that no layer has is an error; `all` are those
/// that there are. Core attention is what is replayed of any model if nothing
/// is named.
LogicalResult Recompute::checkModules() {
  if (kinds == parseRecomputeModules(StringRef("all"))) {
    if (!present.empty())
      return success();
    return getOperation().emitError(
        "no layer has a part that is to be replayed");
  }
  for (RecomputeModule kind : kinds) {
    if (kind == RecomputeModule::CoreAttn || present.count(kind))
      continue;
    SmallVector<StringRef> known(llvm::map_range(
        present, [](RecomputeModule other) { return stringify(other); }));
    return getOperation().emitError("no layer has '")
           << stringify(kind) << "', which is to be replayed; there "
           << (known.empty() ? "is nothing to replay"
                             : "are " + llvm::join(known, ", "));
  }
  return success();
}

void Recompute::runOnOperation() {
  replays = false;
  present.clear();
  names.assign(ops.begin(), ops.end());
  SmallVector<StringRef> words(modules.begin(), modules.end());
  std::optional<RecomputeModules> parsed = parseRecomputeModules(words);
  if (!parsed) {
    getOperation().emitError("modules are '")
        << llvm::join(words, ",") << "', expected all, none, or any of "
        << listNames(getNamedValues<RecomputeModule>());
    return signalPassFailure();
  }
  kinds = std::move(*parsed);
  if (failed(emitIfFailed(getOperation(), patternsOfSaved.read(saved))))
    return signalPassFailure();
  if (names.empty() && words.empty())
    kinds.insert(RecomputeModule::CoreAttn);
  if (names.empty())
    names.push_back("stg.attention");
  IRRewriter rewriter(&getContext());
  recomputeIn(getOperation().getBody(), /*outer=*/nullptr, policy, rewriter);
  if (!replays)
    return markAllAnalysesPreserved();
  if (failed(checkModules()) ||
      failed(emitIfFailed(getOperation(),
                          patternsOfSaved.checkUsed("layers' ops"))))
    return signalPassFailure();
  RewritePatternSet patterns(&getContext());
  populateDropUnusedStacksPatterns(patterns);
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
