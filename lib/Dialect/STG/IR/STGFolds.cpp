//===- STGFolds.cpp - Folders and canonicalizers of the stg ops -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An axis of size 1 leaves no trace: its collectives fold away.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/PatternMatch.h"
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

/// A shard that is as large as the whole is the whole.
template <typename OpTy> static OpFoldResult foldTrivial(OpTy op) {
  return op.getInput().getType() == op.getType() ? op.getInput()
                                                 : OpFoldResult();
}

/// True if the devices are groups of one.
static bool isAlone(Operation *op, ArrayAttr axes) {
  MeshOp mesh = MeshOp::lookup(op);
  return mesh && mesh.getMesh().getGroupSize(axes).isOne();
}

/// The same of a collective. Where devices have shares of different size types
/// do not tell, as extents are free.
template <typename OpTy> static OpFoldResult foldCollective(OpTy op) {
  if (op.getPayload() && !isAlone(op, op.getAxes()))
    return {};
  return foldTrivial(op);
}

OpFoldResult AllGatherOp::fold(FoldAdaptor) { return foldCollective(*this); }
OpFoldResult ReduceScatterOp::fold(FoldAdaptor) {
  return foldCollective(*this);
}

/// An exchange and its inverse cancel; of shares of different size only the
/// sizes are known.
OpFoldResult AllToAllOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<AllToAllOp>();
  if (inner && inner.getFrom() == getTo() && inner.getTo() == getFrom() &&
      inner.getAxes() == getAxes() && !inner.getPayload() && !getPayload() &&
      inner.getInput().getType() == getType())
    return inner.getInput();
  return foldCollective(*this);
}

/// A device's slice of what was gathered in the same way is its shard.
OpFoldResult LocalSliceOp::fold(FoldAdaptor) {
  auto gather = getInput().getDefiningOp<AllGatherOp>();
  if (gather && !getPeer() && !gather.getPayload() &&
      gather.getDim() == getDim() && gather.getAxes() == getAxes() &&
      gather.getInput().getType() == getType())
    return gather.getInput();
  return foldTrivial(*this);
}

/// One replica of each slice.
OpFoldResult ReplicateOp::fold(FoldAdaptor) { return foldTrivial(*this); }
OpFoldResult ReplicateGradOp::fold(FoldAdaptor) { return foldTrivial(*this); }

//===----------------------------------------------------------------------===//
// Pointwise ops and views
//===----------------------------------------------------------------------===//

static bool isZero(Value value) {
  auto splat = value.getDefiningOp<SplatOp>();
  return splat && splat.getValue().isZero();
}

/// x + 0 is x.
OpFoldResult AddOp::fold(FoldAdaptor) {
  if (isZero(getRhs()) && getLhs().getType() == getType())
    return getLhs();
  if (isZero(getLhs()) && getRhs().getType() == getType())
    return getRhs();
  return {};
}

/// A part that is all of a tensor.
OpFoldResult SliceOp::fold(FoldAdaptor) { return foldTrivial(*this); }
OpFoldResult PadOp::fold(FoldAdaptor) { return foldTrivial(*this); }

/// A rotation and its inverse cancel.
OpFoldResult RopeOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<RopeOp>();
  if (inner && inner.getInverse() != getInverse() &&
      inner.getRotatedAttr() == getRotatedAttr() &&
      inner.getInput().getType() == getType())
    return inner.getInput();
  return {};
}

/// A split of joined values along the same cuts gives the values.
LogicalResult SplitOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  auto concat = getInput().getDefiningOp<ConcatOp>();
  if (!concat || concat.getDim() != getDim() ||
      TypeRange(concat.getInputs().getTypes()) != getResultTypes())
    return failure();
  llvm::append_range(results, concat.getInputs());
  return success();
}

/// Joining all parts of a split in order gives what was split.
OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().empty())
    return {};
  auto split = getInputs().front().getDefiningOp<SplitOp>();
  if (split && split.getDim() == getDim() &&
      split.getInput().getType() == getType() &&
      split.getResults() == ValueRange(getInputs()))
    return split.getInput();
  return {};
}

namespace {
/// Slices that nobody reads and stacks that nobody uses are not kept.
struct DropUnusedStacks : OpInterfaceRewritePattern<ScanOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ScanOpInterface scan,
                                PatternRewriter &rewriter) const override {
    return scan.dropUnusedStacks(rewriter);
  }
};

/// slice(all_reduce(x)) is reduce_scatter(x), whatever x is, and moves half as
/// much where nobody else reads the sum. A slice in a loop stays behind a
/// reduction that is executed once.
struct ScatterSlicedReduction : OpRewritePattern<LocalSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LocalSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto reduce = op.getInput().getDefiningOp<AllReduceOp>();
    if (!reduce || op.getPeer() || reduce.getInputs().size() != 1 ||
        reduce.getKind() != ReduceKind::Sum || reduce.getAmongAttr() ||
        reduce.getAxes() != op.getAxes() || !op.getInput().hasOneUse() ||
        reduce->getBlock() != op->getBlock())
      return failure();
    auto scatter = rewriter.replaceOpWithNewOp<ReduceScatterOp>(
        op, op.getType(), reduce.getInputs()[0], op.getDim(), op.getAxes(),
        /*payload=*/SymExpr(), /*padded=*/SymExpr());
    copyOrigin(reduce, scatter);
    return success();
  }
};

/// slice(all_reduce(x)) over other axes is all_reduce(slice(x)), and reduces
/// only what is read.
struct SliceBeforeReduction : OpRewritePattern<LocalSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LocalSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto reduce = op.getInput().getDefiningOp<AllReduceOp>();
    if (!reduce || reduce.getInputs().size() != 1 || reduce.getAmongAttr() ||
        reduce->getBlock() != op->getBlock() || !op.getInput().hasOneUse() ||
        llvm::any_of(op.getAxes(), [&](Attribute axis) {
          return llvm::is_contained(reduce.getAxes(), axis);
        }))
      return failure();
    Value input = reduce.getInputs()[0];
    auto slice =
        LocalSliceOp::create(rewriter, op.getLoc(), op.getType(), input,
                             op.getDim(), op.getAxes(), op.getPeer());
    copyOrigin(op, slice);
    // It belongs to what makes the value, which may be before the reduction is
    // on its way.
    Operation *producer = input.getDefiningOp();
    if (producer && getOrigin(producer).phase)
      setPhase(slice, getPhase(producer));
    auto sum = AllReduceOp::create(rewriter, reduce.getLoc(),
                                   TypeRange(op.getType()), ValueRange(slice),
                                   reduce.getKind(), reduce.getAxes());
    copyOrigin(reduce, sum);
    rewriter.replaceOp(op, sum.getResults());
    return success();
  }
};

/// An all-reduce within groups of one is its operands.
struct DropTrivialAllReduce : OpRewritePattern<AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getAmong() || !isAlone(op, op.getAxes()))
      return failure();
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
};
} // namespace

void stg::populateDropUnusedStacksPatterns(RewritePatternSet &patterns) {
  patterns.add<DropUnusedStacks>(patterns.getContext());
}

void LocalSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<ScatterSlicedReduction, SliceBeforeReduction>(context);
}

void RepeatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  populateDropUnusedStacksPatterns(patterns);
}

void AllReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropTrivialAllReduce>(context);
}
