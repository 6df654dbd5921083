//===- ShardStates.cpp - ZeRO: shards states, gradients, parameters -------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works at the local level, where the group over which the gradient of a
// parameter is all-reduced says which devices hold the same parameter. An
// optimizer step works on each element by itself, so each of these devices may
// step a shard: the all-reduce becomes a reduce-scatter.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace stg {
#define GEN_PASS_DEF_SHARDSTATES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// A forward scan and the backward scan that reads what it saves.
struct ScanPair {
  ScanOpInterface forward, backward;
  ScanPair *outer; ///< Whose bodies have them; null at the top.
};

struct ShardStates : stg::impl::ShardStatesBase<ShardStates> {
  using ShardStatesBase::ShardStatesBase;
  void runOnOperation() override;

private:
  ArrayAttr getAxes();
  void run(func::FuncOp function);
  void scatter(AllReduceOp reduce, const GradientFlow &gradients);
  void retype(Value value, SymTensorType type);
  void gatherMoment(MomentOp moment, OrthogonalizeOp direction, ArrayAttr axes);
  void recordShard(OptimizerOpInterface step, ArrayAttr axes);
  void gatherUpdated(func::FuncOp function);
  ArrayAttr getAxesOfConstant(ParamOp param);
  void shardParameters(func::FuncOp function);
  /// By whether they are gathered again in backward, and in which type.
  using ReadsByGather =
      llvm::MapVector<std::pair<unsigned, Type>, SmallVector<OpOperand *>>;
  void collectReads(Value value, bool isKept, ReadsByGather &reads);
  void gather(ParamOp param, ArrayAttr axes);
  void gatherFor(ParamOp param, SymTensorType whole, ArrayAttr axes,
                 ArrayRef<OpOperand *> uses);
  FlatAllGatherOp makeGather(OpBuilder &builder, ParamOp param,
                             SymTensorType whole, ArrayAttr axes, Phase phase);
  void completeUnits(Block &forward, Block &backward);
  bool isCut(Block &block);
  void gatherMissing(FlatAllGatherOp first, Block &backward,
                     Operation *segment);
  void keepForBackward(Block &forward, Block &backward, ScanPair *outer);
  void makeUnits(Block &block);
  void coalesce(ArrayRef<CollectiveOpInterface> ops, bool atFirst);

  ArrayAttr over;
  MeshAttr mesh;
  /// The axes that a parameter is sharded over, by its path.
  llvm::StringMap<ArrayAttr> shardedOver;
};
} // namespace

namespace {
/// How a gradient is stepped along: as it is, or along its moment, which is
/// made orthogonal.
struct GradientStep {
  OptimizerOpInterface step;
  MomentOp moment;           ///< Null if there is none.
  OrthogonalizeOp direction; ///< Of the moment.
};
} // namespace

static std::optional<GradientStep> getStep(Operation *reader) {
  if (auto step = dyn_cast<OptimizerOpInterface>(reader))
    return GradientStep{step, {}, {}};
  auto moment = dyn_cast<MomentOp>(reader);
  if (!moment || !moment->hasOneUse())
    return std::nullopt;
  auto direction = dyn_cast<OrthogonalizeOp>(*moment->user_begin());
  if (!direction || !direction->hasOneUse())
    return std::nullopt;
  auto step = dyn_cast<OptimizerOpInterface>(*direction->user_begin());
  if (!step || step.getGradient() != direction.getResult())
    return std::nullopt;
  return GradientStep{step, moment, direction};
}

/// The steps that read a gradient as it is; none if anything else reads it.
static SmallVector<GradientStep> getSteps(const GradientFlow::Flow *flow) {
  SmallVector<GradientStep> steps;
  if (!flow || !flow->isStepped() || flow->isTerm || !flow->stacks)
    return {};
  for (Operation *reader : flow->steps) {
    std::optional<GradientStep> step = getStep(reader);
    if (!step)
      return {};
    steps.push_back(*step);
  }
  return steps;
}

/// Gives a gradient the type of a shard, and what is made of it.
void ShardStates::retype(Value value, SymTensorType type) {
  value.setType(type);
  for (OpOperand &use : value.getUses()) {
    for (const PassedValue &passed : getPassedValues(use)) {
      if (passed.as == PassedAs::Stack) {
        auto stack = cast<SymTensorType>(passed.value.getType());
        retype(passed.value, type.getStacked(stack.getDim(0)));
      } else {
        retype(passed.value, type.getSlice());
      }
    }
    if (isReduction(use.getOwner()))
      retype(use.getOwner()->getResult(use.getOperandNumber()), type);
  }
}

void ShardStates::recordShard(OptimizerOpInterface step, ArrayAttr axes) {
  if (auto param = step.getParam().getDefiningOp<ParamOp>())
    shardedOver[getParameterPath(param)] = axes;
}

/// The moment is one of a shard, and its matrix is gathered, in 16 bits, as
/// products read it: each device makes it orthogonal, and keeps its shard of
/// that.
void ShardStates::gatherMoment(MomentOp moment, OrthogonalizeOp direction,
                               ArrayAttr axes) {
  auto whole = cast<SymTensorType>(moment.getResult().getType());
  Type shard = moment.getGradient().getType();
  moment.getResult().setType(cast<SymTensorType>(shard));
  OpBuilder builder(direction);
  Type narrow = BFloat16Type::get(&getContext());
  if (whole.getElementBytes() > 2)
    whole = whole.withElementType(narrow);
  auto gathered =
      FlatAllGatherOp::create(builder, moment.getLoc(), TypeRange(whole),
                              ValueRange(moment.getResult()), axes);
  copyOrigin(moment, gathered);
  direction.getInputMutable().set(gathered.getResult(0));
  direction.getResult().setType(cast<SymTensorType>(shard));
}

/// all_reduce over replicas and shards becomes reduce_scatter over the shards
/// and all_reduce of what is left over the replicas.
void ShardStates::scatter(AllReduceOp reduce, const GradientFlow &gradients) {
  SmallVector<Attribute> shards, rest;
  for (Attribute axis : reduce.getAxes())
    (llvm::is_contained(over, axis) ? shards : rest).push_back(axis);
  if (shards.empty() || reduce.getInputs().size() != 1 || !isReduction(reduce))
    return;
  const GradientFlow::Flow *flow = gradients.lookup(reduce.getResult(0));
  SmallVector<GradientStep> steps = getSteps(flow);
  if (steps.empty())
    return;
  OpBuilder builder(reduce);
  ArrayAttr axes = builder.getArrayAttr(shards);
  auto type = getFlatShard(cast<SymTensorType>(reduce.getResult(0).getType()),
                           *flow->stacks, mesh.getGroupSize(axes));
  auto scatter = FlatReduceScatterOp::create(
      builder, reduce.getLoc(), TypeRange(type), reduce.getInputs(), axes);
  copyOrigin(reduce, scatter);
  // From level 2 on nothing else of a gradient is kept, so it is reduced by
  // backward, for each micro-batch.
  if (level >= ZeroLevel::Gradients) {
    Operation *source = scatter;
    for (; source; source = source->getOperand(0).getDefiningOp()) {
      auto reduction = dyn_cast<CollectiveOpInterface>(source);
      if (!reduction || !reduction.isCoalescableReduction())
        break;
      setPhase(source, Phase::Backward);
    }
  }
  Value result = scatter.getResult(0);
  if (!rest.empty()) {
    auto replicas = AllReduceOp::create(
        builder, reduce.getLoc(), TypeRange(type), ValueRange(result),
        ReduceKind::Sum, builder.getArrayAttr(rest));
    copyOrigin(reduce, replicas);
    result = replicas.getResult(0);
  }
  reduce.getResult(0).replaceAllUsesWith(result);
  reduce.erase();
  retype(result, type);
  for (const GradientStep &step : steps) {
    if (step.moment)
      gatherMoment(step.moment, step.direction, axes);
    recordShard(step.step, axes);
  }
}

/// Levels 1 and 2: each device has stepped its shard of a parameter, whose
/// other elements it needs.
void ShardStates::gatherUpdated(func::FuncOp function) {
  SmallVector<OptimizerOpInterface> steps;
  function.walk([&](OptimizerOpInterface step) { steps.push_back(step); });
  IRRewriter rewriter(&getContext());
  for (OptimizerOpInterface step : steps) {
    auto param = step.getParam().getDefiningOp<ParamOp>();
    ArrayAttr axes =
        param ? shardedOver.lookup(getParameterPath(param)) : ArrayAttr();
    if (!axes)
      continue;
    // Stacked by the scans around, so that one collective can serve all.
    Value updated = step.getUpdated();
    int64_t leading = 0;
    for (auto scan = step->getParentOfType<ScanOpInterface>(); scan;
         ++leading) {
      scan = scan.withStacked(rewriter, updated);
      updated = scan->getResults().back();
      scan = scan->getParentOfType<ScanOpInterface>();
    }
    OpBuilder builder(&getContext());
    builder.setInsertionPoint(function.getBody().front().getTerminator());
    auto gather =
        GatherUpdatedOp::create(builder, step.getLoc(), ValueRange(updated),
                                axes, builder.getDenseI64ArrayAttr({leading}));
    setPhase(gather, Phase::Optimizer);
    if (StringAttr name = getOrigin(step).name)
      setName(gather, name);
  }
}

//===----------------------------------------------------------------------===//
// Level 3
//===----------------------------------------------------------------------===//

/// The part of the step that an op belongs to: what is gathered in one is not
/// there in the other any more.
static bool isBackward(Operation *op) {
  Phase phase = getPhase(op);
  return phase == Phase::Backward || phase == Phase::Recompute;
}

/// Adds the uses of a parameter, or of what it is cast to, that one gather each
/// serves: those of forward and of backward apart if it is gathered again.
void ShardStates::collectReads(Value value, bool isKept, ReadsByGather &reads) {
  auto type = cast<SymTensorType>(value.getType());
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<OptimizerOpInterface>(user))
      continue;
    auto cast = dyn_cast<CastOp>(user);
    int64_t bytes = cast ? cast.getType().getElementBytes() : 0;
    // A cast that leaves less to gather is part of the gather.
    if (bytes && bytes < type.getElementBytes() && 8 * bytes >= narrowest) {
      collectReads(cast, isKept, reads);
      continue;
    }
    bool isAgain = !isKept && isBackward(user);
    reads[{isAgain, type.getElementType()}].push_back(&use);
  }
}

/// Erases casts of `value` that nothing reads any more.
static void eraseUnreadCasts(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    auto cast = dyn_cast<CastOp>(user);
    if (!cast)
      continue;
    eraseUnreadCasts(cast);
    if (cast->use_empty())
      cast->erase();
  }
}

FlatAllGatherOp ShardStates::makeGather(OpBuilder &builder, ParamOp param,
                                        SymTensorType whole, ArrayAttr axes,
                                        Phase phase) {
  auto gathered =
      FlatAllGatherOp::create(builder, param.getLoc(), TypeRange(whole),
                              ValueRange(param.getResult()), axes);
  setName(gathered, param.getParamNameAttr());
  setPhase(gathered, phase);
  if (!isa<func::FuncOp>(gathered->getParentOp()) && prefetch > 0)
    gathered.setAhead(prefetch);
  return gathered;
}

/// Gathers the parameter as `whole` before the first of `uses`.
void ShardStates::gatherFor(ParamOp param, SymTensorType whole, ArrayAttr axes,
                            ArrayRef<OpOperand *> uses) {
  Block *block = param->getBlock();
  Operation *first = nullptr;
  for (OpOperand *use : uses) {
    Operation *user = block->findAncestorOpInBlock(*use->getOwner());
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  OpBuilder builder(first);
  auto gathered =
      makeGather(builder, param, whole, axes,
                 isBackward(first) ? Phase::Backward : Phase::Forward);
  for (OpOperand *use : uses)
    use->set(gathered.getResult(0));
}

/// The layout of a parameter of which each device has a flat shard.
static void divideFlat(ParamOp param, ArrayAttr over) {
  LayoutAttr layout = param.getLayout();
  if (!layout)
    return;
  SmallVector<StringAttr> axes(layout.getAxes());
  SmallVector<AxisState> states(layout.getStates());
  for (auto axis : over.getAsRange<StringAttr>()) {
    auto it = llvm::find(axes, axis);
    if (it == axes.end()) {
      axes.push_back(axis);
      states.push_back({AxisState::Flat});
    } else {
      states[it - axes.begin()] = {AxisState::Flat};
    }
  }
  param.setLayoutAttr(LayoutAttr::get(param.getContext(), axes, states));
}

/// Reads a shard of the parameter, and gathers it where it is used: in forward,
/// and again in backward.
void ShardStates::gather(ParamOp param, ArrayAttr axes) {
  SymTensorType whole = param.getType();
  bool isRoot = isa<func::FuncOp>(param->getParentOp());
  ReadsByGather reads;
  collectReads(param, isRoot && root == RootUnits::Kept, reads);
  param.getResult().setType(getFlatShard(whole, 0, mesh.getGroupSize(axes)));
  divideFlat(param, axes);
  for (auto &[key, uses] : reads)
    gatherFor(param, whole.withElementType(key.second), axes, uses);
  eraseUnreadCasts(param); // Their gather casts.
}

//===----------------------------------------------------------------------===//
// Whole units
//===----------------------------------------------------------------------===//

/// The parameter that a gather reads; before gathers are coalesced, each reads
/// one.
static ParamOp getGathered(FlatAllGatherOp gather) {
  return gather.getInputs().front().getDefiningOp<ParamOp>();
}

/// The op of `block` before which backward begins to undo what forward does up
/// to `next`, a scan, or at the end: the place behind the backward of `next`,
/// or the first backward op. Null if there is none.
static Operation *getMirrored(ScanOpInterface next, Block &block) {
  Operation *first = nullptr;
  for (Operation &op : block) {
    if (!isBackward(&op))
      continue;
    if (!next)
      return &op;
    auto scan = dyn_cast<ScanOpInterface>(op);
    if (scan && scan.getReverse() && scan.getScopeName() == next.getScopeName())
      first = scan->getNextNode();
  }
  return first;
}

/// True if backward does anything in the part of its block that begins at
/// `segment` and ends at the next loop: not where nothing in it is trained.
static bool hasBackward(Operation *segment) {
  for (Operation *op = segment; op && !isa<LoopLikeOpInterface>(op);
       op = op->getNextNode())
    if (isBackward(op) && !isa<FlatAllGatherOp, KeepOp>(op))
      return true;
  return false;
}

/// True if `op` is in the part of its block that begins at `segment` and ends
/// at the next loop: what stands behind that is of another unit.
static bool isInSegment(Operation *op, Operation *segment) {
  if (op->isBeforeInBlock(segment))
    return false;
  for (Operation *at = segment; at != op; at = at->getNextNode())
    if (isa<LoopLikeOpInterface>(at))
      return false;
  return true;
}

/// True if parts of the block that loops divide are in different stages.
bool ShardStates::isCut(Block &block) {
  StringAttr axis = mesh.getPipelineAxis();
  return axis && !mesh.getAxisSize(axis).isOne() &&
         isa<func::FuncOp>(block.getParentOp());
}

/// Gathers a parameter of a unit, which `first` gathers in forward, with the
/// others of the unit in backward, if no backward op of the stage has asked for
/// it. The part of `backward` that undoes the unit begins at `segment`.
void ShardStates::gatherMissing(FlatAllGatherOp first, Block &backward,
                                Operation *segment) {
  ParamOp param = getGathered(first);
  auto whole = cast<SymTensorType>(first.getResult(0).getType());
  FlatAllGatherOp beside;
  for (auto gather : backward.getOps<FlatAllGatherOp>()) {
    if (!isBackward(gather))
      continue;
    bool isHere = isInSegment(gather, segment);
    if (getGathered(gather).getParamName() == param.getParamName() &&
        (isHere || !isCut(backward)))
      return;
    auto type = cast<SymTensorType>(gather.getResult(0).getType());
    if (!beside && isHere && gather.getAxes() == first.getAxes() &&
        type.getElementType() == whole.getElementType())
      beside = gather;
  }
  OpBuilder builder(segment);
  if (beside)
    builder.setInsertionPointAfter(beside);
  auto source = cast<ParamOp>(builder.clone(*param));
  auto gathered =
      makeGather(builder, source, whole, first.getAxes(), Phase::Backward);
  auto keep = KeepOp::create(builder, param.getLoc(), gathered.getResult(0),
                             /*like=*/Value());
  setPhase(keep, Phase::Backward);
}

/// The parameters that forward gathers are units, and FSDP gathers a unit whole
/// in backward, too: also biases, weights of norms or an embedding, which
/// backward does not read. `forward` and `backward` may be the same block.
void ShardStates::completeUnits(Block &forward, Block &backward) {
  /// And the next loop.
  SmallVector<std::pair<FlatAllGatherOp, ScanOpInterface>> gathers;
  SmallVector<ScanOpInterface> scans;
  ScanOpInterface next;
  for (Operation &op : llvm::reverse(forward)) {
    if (isBackward(&op))
      continue;
    if (auto scan = dyn_cast<ScanOpInterface>(op);
        scan && getPhase(&op) == Phase::Forward)
      scans.push_back(next = scan);
    // The optimizer may gather moments.
    if (auto gather = dyn_cast<FlatAllGatherOp>(op);
        gather && getPhase(&op) != Phase::Optimizer)
      gathers.emplace_back(gather, next);
  }
  // A root that is kept is one unit, which is gathered once.
  bool isKept =
      isa<func::FuncOp>(forward.getParentOp()) && root == RootUnits::Kept;
  if (!isKept)
    for (auto [gather, following] : llvm::reverse(gathers))
      if (Operation *segment = getMirrored(following, backward);
          segment && hasBackward(segment))
        gatherMissing(gather, backward, segment);
  for (ScanOpInterface scan : scans)
    for (auto other : backward.getOps<ScanOpInterface>())
      if (isBackward(other) && other.getScopeName() == scan.getScopeName())
        completeUnits(scan.getLoopBlock(), other.getLoopBlock());
}

/// Makes what a value of the forward body is a value of the backward body.
static Value hand(ScanPair &pair, Value value, IRRewriter &rewriter) {
  pair.forward = pair.forward.withStacked(rewriter, value);
  Value stack = pair.forward->getResults().back();
  if (pair.outer)
    stack = hand(*pair.outer, stack, rewriter);
  return pair.backward.addSlice(stack);
}

/// Keeps what forward gathers in the layers: backward reads it instead of
/// gathering again. `outer` is the pair whose bodies the blocks are, or null.
void ShardStates::keepForBackward(Block &forward, Block &backward,
                                  ScanPair *outer) {
  IRRewriter rewriter(&getContext());
  DenseMap<StringAttr, ScanOpInterface> sources;
  for (auto scan : forward.getOps<ScanOpInterface>())
    if (!isBackward(scan) && getPhase(scan) == Phase::Forward)
      sources[scan.getScopeName()] = scan;
  auto found = backward.getOps<ScanOpInterface>();
  SmallVector<ScanOpInterface> scans(found.begin(), found.end());
  for (ScanOpInterface scan : scans) {
    ScanOpInterface source = sources.lookup(scan.getScopeName());
    if (!isBackward(scan) || !source)
      continue;
    ScanPair pair{source, scan, outer};
    auto gathers = scan.getLoopBlock().getOps<FlatAllGatherOp>();
    SmallVector<FlatAllGatherOp> again(gathers.begin(), gathers.end());
    for (FlatAllGatherOp gather : again)
      for (auto first : pair.forward.getLoopBlock().getOps<FlatAllGatherOp>()) {
        if (getGathered(first).getParamName() !=
                getGathered(gather).getParamName() ||
            first.getResultTypes() != gather.getResultTypes())
          continue;
        gather.getResult(0).replaceAllUsesWith(
            hand(pair, first.getResult(0), rewriter));
        gather.erase();
        break;
      }
    keepForBackward(pair.forward.getLoopBlock(), scan.getLoopBlock(), &pair);
    sources[scan.getScopeName()] = pair.forward;
  }
}

/// Moves what reads results of `ops`, directly or not, after `all`: the
/// replicas of a shard are reduced after it, and what is reduced may be added
/// up.
static void moveReadersAfter(Operation *all,
                             ArrayRef<CollectiveOpInterface> ops) {
  Block *block = all->getBlock();
  SmallVector<Operation *> worklist(ops.begin(), ops.end());
  SetVector<Operation *> readers;
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      Operation *reader = block->findAncestorOpInBlock(*user);
      if (reader && reader->isBeforeInBlock(all) && readers.insert(reader))
        worklist.push_back(reader);
    }
  SmallVector<Operation *> ordered = readers.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *reader : llvm::reverse(ordered))
    reader->moveAfter(all);
}

/// One collective for all, at the place of the first or the last.
void ShardStates::coalesce(ArrayRef<CollectiveOpInterface> ops, bool atFirst) {
  if (ops.size() < 2)
    return;
  CollectiveOpInterface place = atFirst ? ops.front() : ops.back();
  // A gather reads parameters only.
  if (atFirst)
    for (CollectiveOpInterface op : ops)
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp())
          if (place->isBeforeInBlock(source))
            source->moveBefore(place);
  Operation *all = stg::coalesce(ops, place);
  setName(all, StringAttr::get(&getContext(), "unit"));
  moveReadersAfter(all, ops);
  unsigned next = 0;
  for (CollectiveOpInterface op : ops) {
    for (Value result : op->getResults())
      result.replaceAllUsesWith(all->getResult(next++));
    op->erase();
  }
}

/// What is gathered or scattered in a block between two loops, in one phase,
/// is one unit: a layer, what is before the layers, what is after them. With
/// `root=kept` all at the top is one.
void ShardStates::makeUnits(Block &block) {
  using Key = std::tuple<unsigned, Attribute, Type, Phase>;
  llvm::MapVector<Key, SmallVector<CollectiveOpInterface>> units;
  bool isRoot = isa<func::FuncOp>(block.getParentOp());
  unsigned segment = 0;
  for (Operation &op : block) {
    if (isa<LoopLikeOpInterface>(op) && !(isRoot && root == RootUnits::Kept))
      ++segment;
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || !collective.isFlat() || op.getNumResults() == 0 ||
        (collective.getReduction() && getPhase(&op) != Phase::Backward))
      continue;
    auto type = cast<SymTensorType>(op.getResult(0).getType());
    units[{segment, collective.getIdentity(), type.getElementType(),
           getPhase(&op)}]
        .push_back(collective);
  }
  for (auto &[key, ops] : units)
    coalesce(ops, !ops.front().getReduction());
}

/// A parameter that is read by several ops of a block, as by a replayed layer
/// and its backward pass, is gathered once for all.
static void mergeReads(Block &block) {
  llvm::StringMap<ParamOp> known;
  for (auto param : llvm::make_early_inc_range(block.getOps<ParamOp>())) {
    auto [it, isNew] = known.try_emplace(param.getParamName(), param);
    if (isNew || it->second.getType() != param.getType())
      continue;
    param.replaceAllUsesWith(it->second.getResult());
    param.erase();
  }
}

/// The parameters that the step changes. Neither what is frozen nor what the
/// loss does not depend on is among them.
static llvm::StringSet<> collectUpdated(func::FuncOp function) {
  llvm::StringSet<> paths;
  function.walk([&](CostOpInterface op) {
    if (std::string path = getUpdatedParameter(op); !path.empty())
      paths.insert(path);
  });
  return paths;
}

/// What is not updated has no gradient whose reduction would say which devices
/// hold it: those that do not divide it.
ArrayAttr ShardStates::getAxesOfConstant(ParamOp param) {
  LayoutAttr layout = param.getLayout();
  SmallVector<Attribute> axes;
  for (auto axis : over.getAsRange<StringAttr>())
    if (!layout || layout.getState(axis).kind == AxisState::Whole)
      axes.push_back(axis);
  return axes.empty() ? ArrayAttr() : ArrayAttr::get(&getContext(), axes);
}

void ShardStates::shardParameters(func::FuncOp function) {
  function.walk([](ScanOpInterface scan) { mergeReads(scan.getLoopBlock()); });
  // Units of a root that is not kept gather for themselves.
  if (root == RootUnits::Kept)
    mergeReads(function.getBody().front());
  SmallVector<ParamOp> params;
  function.walk([&](ParamOp param) { params.push_back(param); });
  llvm::StringSet<> updated = collectUpdated(function);
  for (ParamOp param : params) {
    std::string path = getParameterPath(param);
    ArrayAttr axes = updated.contains(path) ? shardedOver.lookup(path)
                                            : getAxesOfConstant(param);
    if (axes)
      gather(param, axes);
  }
  function.walk([&](OptimizerOpInterface step) {
    step.getUpdated().setType(step.getParam().getType());
  });
  Block &body = function.getBody().front();
  if (reshardAfterForward)
    completeUnits(body, body);
  else
    keepForBackward(body, body, /*outer=*/nullptr);
}

void ShardStates::run(func::FuncOp function) {
  SmallVector<AllReduceOp> reductions;
  function.walk([&](AllReduceOp reduce) {
    if (isStepReduction(reduce))
      reductions.push_back(reduce);
  });
  const auto &gradients = getChildAnalysis<GradientFlow>(function);
  for (AllReduceOp reduce : reductions)
    scatter(reduce, gradients);
  if (level >= ZeroLevel::Parameters)
    shardParameters(function);
  else
    gatherUpdated(function);
  if (level >= ZeroLevel::Gradients)
    function.walk([&](Block *block) { makeUnits(*block); });
}

/// The axes whose ranks hold the same states, but those of replicas.
ArrayAttr ShardStates::getAxes() {
  SmallVector<Attribute> axes;
  for (auto [axis, role] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisRoles()))
    if (holdsSameParameters(role) && role != AxisRole::Replica)
      axes.push_back(axis);
  return ArrayAttr::get(&getContext(), axes);
}

void ShardStates::runOnOperation() {
  ModuleOp module = getOperation();
  if (level == ZeroLevel::None)
    return;
  for (auto function : module.getOps<func::FuncOp>()) {
    MeshOp op = MeshOp::lookup(function);
    if (!op)
      return;
    mesh = op.getMesh();
    over = getAxes();
    shardedOver.clear();
    if (!over.empty() && !function.isExternal())
      run(function);
  }
}
