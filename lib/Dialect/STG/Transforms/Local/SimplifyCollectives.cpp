//===- SimplifyCollectives.cpp - Removes, merges and coalesces collectives ===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites that keep the meaning of the local program and lower what it moves.
// Each is a fact about collectives, none knows a model. Facts that are true of
// the ops alone are folds and canonicalizations (STGFolds.cpp); here is what
// needs the layouts of values, or decides what is kept from one phase to
// another.
//
//===----------------------------------------------------------------------===//

#include "LocalLayouts.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#define DEBUG_TYPE "stg-simplify-collectives"

namespace stg {
#define GEN_PASS_DEF_SIMPLIFYCOLLECTIVES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// Pairs of collectives
//===----------------------------------------------------------------------===//

namespace {
/// The layouts of a function that is being rewritten. A value keeps its layout
/// as long as it exists.
class CurrentLayouts : public RewriterBase::Listener {
public:
  explicit CurrentLayouts(func::FuncOp function) : function(function) {}

  bool isWhole(Value value, ArrayAttr axes) {
    if (!layouts)
      layouts.emplace(function, MeshOp::lookup(function).getMesh());
    return layouts->isWhole(value, axes);
  }

  /// What is said of a parameter has changed, and so what follows from it.
  void deriveAgain() { layouts.reset(); }

  void notifyOperationErased(Operation *op) override {
    if (!layouts)
      return;
    for (Value result : op->getResults())
      layouts->forget(result);
    for (Region &region : op->getRegions())
      for (Value arg : region.getArguments())
        layouts->forget(arg);
  }

private:
  func::FuncOp function;
  std::optional<LocalLayouts> layouts; ///< Derived when they are asked for.
};

/// all_gather(slice(x)), same dimension and axes, is x where all devices of the
/// group have the same x. Where they do not, it is made of a piece of each.
struct DropGatheredSlice : OpRewritePattern<AllGatherOp> {
  DropGatheredSlice(MLIRContext *context, CurrentLayouts &layouts)
      : OpRewritePattern(context), layouts(layouts) {}

  LogicalResult matchAndRewrite(AllGatherOp op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getInput().getDefiningOp<LocalSliceOp>();
    if (!slice || slice.getPeer() || slice.getDim() != op.getDim() ||
        slice.getAxes() != op.getAxes() ||
        !layouts.isWhole(slice.getInput(), op.getAxes()))
      return failure();
    rewriter.replaceOp(op, slice.getInput());
    return success();
  }

private:
  CurrentLayouts &layouts;
};

//===----------------------------------------------------------------------===//
// Linearity
//===----------------------------------------------------------------------===//

/// The op as a sum of one value over devices, or null.
static CollectiveOpInterface asSum(Operation *op) {
  auto reduction = dyn_cast_or_null<CollectiveOpInterface>(op);
  bool isSum = reduction && reduction.getReduction() == ReduceKind::Sum &&
               op->getNumOperands() == 1 && !reduction.isFlat();
  return isSum ? reduction : CollectiveOpInterface();
}

/// True if both reduce in the same way.
static bool reducesAlike(CollectiveOpInterface lhs, CollectiveOpInterface rhs) {
  return lhs.getIdentity() == rhs.getIdentity();
}

/// A copy of `op`, which has one result, with other operands and result type.
static Operation *cloneWith(PatternRewriter &rewriter, Operation *op,
                            ValueRange operands, Type resultType) {
  Operation *copy = rewriter.clone(*op);
  rewriter.modifyOpInPlace(copy, [&] {
    copy->setOperands(operands);
    copy->getResult(0).setType(resultType);
  });
  return copy;
}

/// f(reduce(x), reduce(y)) is reduce(f(x, y)) for a linear f: one reduction
/// instead of several. Only where each of the reductions serves f alone.
struct ReduceAfterLinear : OpInterfaceRewritePattern<ShardableOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ShardableOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!op.isLinear() || op->getNumResults() != 1 || op->getNumOperands() < 2)
      return failure();
    SmallVector<CollectiveOpInterface> reductions;
    SmallVector<Value> partials;
    for (Value operand : op->getOperands()) {
      CollectiveOpInterface reduction = asSum(operand.getDefiningOp());
      if (!reduction || !operand.hasOneUse() ||
          reduction->getBlock() != op->getBlock() ||
          (!reductions.empty() && !reducesAlike(reductions[0], reduction)))
        return failure();
      reductions.push_back(reduction);
      partials.push_back(reduction->getOperand(0));
    }
    // The op must do to whole values what it did to shards, if there are any.
    Type partialType = op->getResult(0).getType();
    if (TypeRange(ValueRange(partials)) != op->getOperandTypes()) {
      if (!llvm::all_equal(TypeRange(ValueRange(partials))) ||
          op->getResult(0).getType() != op->getOperand(0).getType())
        return failure();
      partialType = partials[0].getType();
    }
    Operation *linear = cloneWith(rewriter, op, partials, partialType);
    Operation *reduction =
        cloneWith(rewriter, reductions.front(), linear->getResult(0),
                  op->getResult(0).getType());
    rewriter.replaceOp(op, reduction->getResults());
    for (CollectiveOpInterface old : reductions)
      rewriter.eraseOp(old);
    return success();
  }
};

/// (x + reduce(a)) + reduce(b) is x + reduce(a + b): parallel branches of a
/// block are reduced once, however their sum is written.
struct ReduceAddChainOnce : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp outer,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto inner = outer->getOperand(i).getDefiningOp<AddOp>();
      auto second = getReduction(outer->getOperand(1 - i), outer);
      if (!inner || !second || !inner->hasOneUse() ||
          inner->getBlock() != outer->getBlock() ||
          getPhase(inner) != getPhase(outer))
        continue;
      for (unsigned j : {0u, 1u}) {
        auto first = getReduction(inner->getOperand(j), inner);
        auto rest = getReduction(inner->getOperand(1 - j), inner);
        // Where both are reduced alike, the inner sum is rewritten on its own.
        if (!first || !reducesAlike(first, second) ||
            (rest && reducesAlike(first, rest)) ||
            first->getOperand(0).getType() != second->getOperand(0).getType())
          continue;
        rewrite(outer, inner, inner->getOperand(1 - j), first, second,
                rewriter);
        return success();
      }
    }
    return failure();
  }

private:
  /// The reduction that makes `value` for `user` alone, or null.
  static CollectiveOpInterface getReduction(Value value, Operation *user) {
    CollectiveOpInterface reduction = asSum(value.getDefiningOp());
    bool isOwn = reduction && value.hasOneUse() &&
                 reduction->getBlock() == user->getBlock();
    return isOwn ? reduction : CollectiveOpInterface();
  }

  static void rewrite(AddOp outer, AddOp inner, Value rest, Operation *first,
                      Operation *second, PatternRewriter &rewriter) {
    Value partials[] = {first->getOperand(0), second->getOperand(0)};
    Operation *sum =
        cloneWith(rewriter, inner, partials, partials[0].getType());
    Operation *reduction = cloneWith(rewriter, second, sum->getResult(0),
                                     second->getResult(0).getType());
    Value operands[] = {rest, reduction->getResult(0)};
    Operation *total = cloneWith(rewriter, outer, operands, outer.getType());
    rewriter.replaceOp(outer, total->getResults());
    rewriter.eraseOp(inner);
    rewriter.eraseOp(first);
    rewriter.eraseOp(second);
  }
};

/// A sum over some axes of a sum over others is one over all of them, where the
/// mesh joins these: experts that are divided by width over the ones and by
/// number over the others.
struct ReduceTogether : OpRewritePattern<AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (!asSum(op) || op->getNumResults() != 1)
      return failure();
    auto inner = op->getOperand(0).getDefiningOp<AllReduceOp>();
    if (!inner || !asSum(inner) || !inner->getResult(0).hasOneUse() ||
        inner->getBlock() != op->getBlock() ||
        getPhase(inner) != getPhase(op) || op.getAmongAttr() ||
        inner.getAmongAttr())
      return failure();
    MeshOp mesh = MeshOp::lookup(op);
    SmallVector<Attribute> axes(inner.getAxes().getValue());
    llvm::append_range(axes, op.getAxes());
    for (Attribute lhs : inner.getAxes())
      for (Attribute rhs : op.getAxes())
        if (lhs == rhs ||
            !mesh.areJoined(cast<StringAttr>(lhs), cast<StringAttr>(rhs)))
          return failure();
    llvm::sort(axes, [&](Attribute lhs, Attribute rhs) {
      return mesh.getMesh().getAxisIndex(cast<StringAttr>(lhs)) <
             mesh.getMesh().getAxisIndex(cast<StringAttr>(rhs));
    });
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, inner->getOperand(0));
      op.setAxesAttr(rewriter.getArrayAttr(axes));
    });
    rewriter.eraseOp(inner);
    return success();
  }
};

/// True if a sum over the axes may follow what combines instead of coming
/// before it: all devices of the group have the same choices and weights.
static bool combinesPartial(CombineOp op, ArrayAttr axes,
                            CurrentLayouts &layouts) {
  return llvm::all_of(op->getOperands().drop_front(), [&](Value other) {
    return layouts.isWhole(other, axes);
  });
}

/// combine(all_reduce(rows)) is all_reduce(combine(rows)) where all devices of
/// the group have the same choices and weights: a row for each token instead of
/// one for each of its experts.
struct ReduceAfterCombine : OpRewritePattern<CombineOp> {
  ReduceAfterCombine(MLIRContext *context, CurrentLayouts &layouts)
      : OpRewritePattern(context), layouts(layouts) {}

  LogicalResult matchAndRewrite(CombineOp op,
                                PatternRewriter &rewriter) const override {
    CollectiveOpInterface sum = asSum(op->getOperand(0).getDefiningOp());
    if (!sum || !sum.isKind(CollectiveKind::AllReduce) ||
        !sum->getResult(0).hasOneUse() || sum->getBlock() != op->getBlock() ||
        !combinesPartial(op, sum.getAxes(), layouts))
      return failure();
    SmallVector<Value> operands(op->getOperands());
    operands[0] = sum->getOperand(0);
    Operation *partial = cloneWith(rewriter, op, operands, op.getType());
    Operation *reduction =
        cloneWith(rewriter, sum, partial->getResult(0), op.getType());
    rewriter.replaceOp(op, reduction->getResults());
    rewriter.eraseOp(sum);
    return success();
  }

private:
  CurrentLayouts &layouts;
};

/// The read of a parameter of which `value` is made by ops that are linear in
/// it, if nobody else reads it there or elsewhere in the function; or null.
static ParamOp getOnlyRead(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && value.hasOneUse() && !isa<ParamOp>(op)) {
    auto linear = dyn_cast<ShardableOpInterface>(op);
    if (!linear || op->getNumOperands() != 1 || op->getNumResults() != 1 ||
        !linear.isLinearIn(0))
      return {};
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  auto param = dyn_cast_or_null<ParamOp>(op);
  if (!param || !value.hasOneUse())
    return {};
  const std::string path = getParameterPath(param);
  WalkResult walked =
      param->getParentOfType<func::FuncOp>().walk([&](ParamOp other) {
        return other != param && getParameterPath(other) == path
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
  return walked.wasInterrupted() ? ParamOp() : param;
}

/// Says that the parameter is the sum of what devices along the axes have.
static void makePartial(ParamOp param, ArrayAttr over) {
  LayoutAttr layout = param.getLayout();
  SmallVector<StringAttr> axes(layout.getAxes());
  SmallVector<AxisState> states(layout.getStates());
  for (auto axis : over.getAsRange<StringAttr>()) {
    axes.push_back(axis);
    states.push_back(AxisState::getPartial(ReduceKind::Sum));
  }
  param.setLayoutAttr(LayoutAttr::get(param.getContext(), axes, states));
}

/// combine(all_reduce(rows) + bias) is combine(all_reduce(rows + bias')), where
/// the first device of the group has the bias and the others have zeros, so
/// that the sum can follow what combines. No device does or keeps less than
/// before: engines load the bias on one rank, into a buffer that all have. A
/// dense layer gains nothing by it: its bias is added to as many elements as
/// are summed. Biases are parameters alone, for what is made of tokens has no
/// place where zeros would come from.
struct AddBiasBeforeReduction
    : OpInterfaceRewritePattern<ShardableOpInterface> {
  AddBiasBeforeReduction(MLIRContext *context, CurrentLayouts &layouts)
      : OpInterfaceRewritePattern(context), layouts(layouts) {}

  LogicalResult matchAndRewrite(ShardableOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!op.isLinear() || op->getNumOperands() != 2 ||
        op->getNumResults() != 1 || !op->getResult(0).hasOneUse())
      return failure();
    auto combine = dyn_cast<CombineOp>(*op->user_begin());
    Value rows = op->getOperand(0), bias = op->getOperand(1);
    CollectiveOpInterface sum = asSum(rows.getDefiningOp());
    if (!combine || combine.getOperand(0) != op->getResult(0) || !sum ||
        !sum.isKind(CollectiveKind::AllReduce) || !rows.hasOneUse() ||
        sum->getBlock() != op->getBlock() ||
        !combinesPartial(combine, sum.getAxes(), layouts))
      return failure();
    ParamOp param = getOnlyRead(bias);
    if (!param || !param.getLayout() || !layouts.isWhole(param, sum.getAxes()))
      return failure();
    rewriter.modifyOpInPlace(param, [&] { makePartial(param, sum.getAxes()); });
    Value operands[] = {sum->getOperand(0), bias};
    Type type = op->getResult(0).getType();
    Operation *partial = cloneWith(rewriter, op, operands, type);
    Operation *reduction =
        cloneWith(rewriter, sum, partial->getResult(0), type);
    rewriter.replaceOp(op, reduction->getResults());
    rewriter.eraseOp(sum);
    layouts.deriveAgain();
    return success();
  }

private:
  CurrentLayouts &layouts;
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct SimplifyCollectives
    : stg::impl::SimplifyCollectivesBase<SimplifyCollectives> {
  using SimplifyCollectivesBase::SimplifyCollectivesBase;
  void runOnOperation() override;

private:
  LogicalResult rewrite(func::FuncOp function);
  void mergeEqual(Block &block);
  bool isKept(CollectiveOpInterface first);
  bool isStacked(CollectiveOpInterface first, BlockArgument slice, Value stack);
  void keepCollectedSlices(ScanOpInterface scan);

  GatherKinds kept;
};
} // namespace

/// The op as a collective that makes one value of one other, or null.
static CollectiveOpInterface asCollective(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  bool isSingle =
      collective && op->getNumOperands() == 1 && op->getNumResults() == 1;
  return isSingle ? collective : CollectiveOpInterface();
}

/// True for a product with one matrix of a parameter for each entry of an index
/// that all its operands and its result run over, as those of experts are.
static bool multipliesByEntry(EinsumOp product) {
  auto [operands, result] = product.getEquation().split("->");
  SmallVector<StringRef, 2> indices;
  operands.split(indices, ',');
  bool hasParameter = llvm::any_of(product->getOperands(), [](Value operand) {
    return static_cast<bool>(getReadParameter(operand));
  });
  return hasParameter && indices.size() > 1 &&
         llvm::any_of(result, [&](char index) {
           return llvm::all_of(indices,
                               [&](StringRef s) { return s.contains(index); });
         });
}

/// What reads a gathered value first, if need be through casts and views.
static GatherKind getKind(Value gathered) {
  for (Operation *user : gathered.getUsers()) {
    if (isa<AttentionOp>(user))
      return GatherKind::Context;
    auto product = dyn_cast<EinsumOp>(user);
    if (product && product->getNumOperands() > 1 && multipliesByEntry(product))
      return GatherKind::Experts;
    if (user->getNumOperands() != 1 || !isa<ShardableOpInterface>(user))
      continue;
    for (Value result : user->getResults())
      if (GatherKind kind = getKind(result); kind != GatherKind::Columns)
        return kind;
  }
  return GatherKind::Columns;
}

/// True if what a collective makes is kept from one phase to the next. What is
/// exchanged is not larger than before: keeping it costs nothing.
bool SimplifyCollectives::isKept(CollectiveOpInterface first) {
  return first.isKind(CollectiveKind::AllToAll) ||
         (first.isKind(CollectiveKind::AllGather) &&
          kept.count(getKind(first->getResult(0))));
}

/// The first of several equal collectives serves all their users in its phase,
/// and in others if it is kept. That is a choice of what is kept in memory,
/// which CSE would not make, and their origins differ.
void SimplifyCollectives::mergeEqual(Block &block) {
  DenseMap<std::pair<Value, Attribute>, SmallVector<CollectiveOpInterface, 2>>
      seen;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        mergeEqual(inner);
    CollectiveOpInterface collective = asCollective(&op);
    if (!collective)
      continue;
    auto &before = seen[{op.getOperand(0), collective.getIdentity()}];
    auto first = llvm::find_if(before, [&](CollectiveOpInterface other) {
      return getPhase(other) == getPhase(&op) || isKept(other);
    });
    if (first == before.end()) {
      before.push_back(collective);
      continue;
    }
    op.replaceAllUsesWith(first->getOperation());
    op.erase();
  }
}

/// What the scan that saves `saved` makes of it in the same way as `again`.
static CollectiveOpInterface findSameCollective(OpOperand &saved,
                                                CollectiveOpInterface again) {
  for (Operation *user : saved.get().getUsers()) {
    CollectiveOpInterface first = asCollective(user);
    if (first && first->getBlock() == saved.getOwner()->getBlock() &&
        first.getIdentity() == again.getIdentity())
      return first;
  }
  return {};
}

/// The stack that a scan has as slices `slice`; null if it is no slice.
static Value getStackOfSlice(Value slice) {
  auto arg = dyn_cast<BlockArgument>(slice);
  auto scan = arg ? dyn_cast<ScanOpInterface>(arg.getOwner()->getParentOp())
                  : ScanOpInterface();
  if (!scan || arg.getArgNumber() < scan.getNumCarried())
    return {};
  return scan.getStacks()[arg.getArgNumber() - scan.getNumCarried()];
}

/// As `getStackedOperand`, where scans are inside of scans, too: of a slice of
/// an outer stack the place where the scan inside of that one hands it out.
static OpOperand *findStackedOperand(Value stack) {
  Value outer = getStackOfSlice(stack);
  if (!outer)
    return getStackedOperand(stack);
  OpOperand *slice = findStackedOperand(outer);
  return slice ? getStackedOperand(slice->get()) : nullptr;
}

/// Stacks `value` beside what `stack` consists of, and returns what has it as
/// `stack` has that.
static Value stackBeside(RewriterBase &rewriter, Value stack, Value value) {
  Value outer = getStackOfSlice(stack);
  Value saved = outer ? findStackedOperand(outer)->get() : stack;
  auto saving = cast<ScanOpInterface>(saved.getDefiningOp());
  Value all = saving.withStacked(rewriter, value)->getResults().back();
  if (!outer)
    return all;
  auto reading = cast<ScanOpInterface>(stack.getParentBlock()->getParentOp());
  return reading.addSlice(stackBeside(rewriter, outer, all));
}

/// True if a slice alone reads the stack, and so for all scans around both.
static bool isReadOnce(Value stack) {
  if (!stack.hasOneUse())
    return false;
  Value outer = getStackOfSlice(stack);
  return !outer ||
         (isReadOnce(outer) && findStackedOperand(outer)->get().hasOneUse());
}

/// True if the result of the collective of a slice is to be stacked instead of
/// made again. What is exchanged takes the place of the slice, so nobody else
/// may read that.
bool SimplifyCollectives::isStacked(CollectiveOpInterface first,
                                    BlockArgument slice, Value stack) {
  if (first.isKind(CollectiveKind::AllToAll) &&
      !(slice.hasOneUse() && isReadOnce(stack)))
    return false;
  return isKept(first);
}

/// A slice that is gathered or exchanged here and was so by the scan that
/// stacked it: stacks the result instead of making it again.
void SimplifyCollectives::keepCollectedSlices(ScanOpInterface scan) {
  IRRewriter rewriter(&getContext());
  // What is exchanged may be gathered: slices that are added are visited, too.
  for (unsigned i = 0; i != scan.getStacks().size(); ++i) {
    BlockArgument slice = scan.getSliceArgs()[i];
    OpOperand *saved = findStackedOperand(scan.getStacks()[i]);
    if (!saved)
      continue;
    for (Operation *user : llvm::make_early_inc_range(slice.getUsers())) {
      CollectiveOpInterface again = asCollective(user);
      if (!again)
        continue;
      CollectiveOpInterface first = findSameCollective(*saved, again);
      if (!first || !isStacked(first, slice, scan.getStacks()[i]))
        continue;
      Value stack =
          stackBeside(rewriter, scan.getStacks()[i], first->getResult(0));
      saved = findStackedOperand(scan.getStacks()[i]);
      rewriter.replaceOp(again, scan.addSlice(stack));
    }
  }
}

LogicalResult SimplifyCollectives::rewrite(func::FuncOp function) {
  MLIRContext *context = &getContext();
  CurrentLayouts layouts(function);
  RewritePatternSet patterns(context);
  populateDropUnusedStacksPatterns(patterns);
  AllReduceOp::getCanonicalizationPatterns(patterns, context);
  LocalSliceOp::getCanonicalizationPatterns(patterns, context);
  patterns.add<ReduceAfterLinear, ReduceAddChainOnce, ReduceTogether>(context);
  patterns.add<DropGatheredSlice>(context, layouts);
  if (combineFirst)
    patterns.add<ReduceAfterCombine, AddBiasBeforeReduction>(context, layouts);
  GreedyRewriteConfig config;
  config.setListener(&layouts);
  return applyPatternsGreedily(function, std::move(patterns), config);
}

/// A gradient that is reduced before backward adds another one to it, which all
/// ranks have (of an encoder's tokens, that cp does not divide), is reduced in
/// each micro-batch.
static void moveToBackward(CollectiveOpInterface op) {
  if (getPhase(op) == Phase::GradSync &&
      llvm::any_of(op->getUsers(), [](Operation *user) {
        return isa<AddOp>(user) && getPhase(user) == Phase::Backward;
      }))
    setPhase(op, Phase::Backward);
}

void SimplifyCollectives::runOnOperation() {
  SmallVector<StringRef> words(keepGathered.begin(), keepGathered.end());
  std::optional<GatherKinds> kinds =
      words.empty() ? Strategy().keepGathered : parseGatherKinds(words);
  if (!kinds) {
    getOperation().emitError("keep-gathered is '")
        << llvm::join(words, ",") << "', expected all, none, or any of "
        << listNames(getNamedValues<GatherKind>());
    return signalPassFailure();
  }
  kept = std::move(*kinds);
  for (auto function : getOperation().getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      mergeEqual(block);
  SmallVector<ScanOpInterface> scans;
  getOperation().walk([&](ScanOpInterface scan) { scans.push_back(scan); });
  for (ScanOpInterface scan : scans)
    keepCollectedSlices(scan);
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(rewrite(function)))
      return signalPassFailure();
  getOperation().walk(moveToBackward);
}
