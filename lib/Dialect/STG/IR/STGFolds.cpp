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

OpFoldResult AllGatherOp::fold(FoldAdaptor) { return foldTrivial(*this); }
OpFoldResult ReduceScatterOp::fold(FoldAdaptor) { return foldTrivial(*this); }
OpFoldResult AllToAllOp::fold(FoldAdaptor) { return foldTrivial(*this); }
OpFoldResult LocalSliceOp::fold(FoldAdaptor) { return foldTrivial(*this); }

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

/// A rotation and its inverse cancel.
OpFoldResult RopeOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<RopeOp>();
  if (inner && inner.getInverse() != getInverse() &&
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

/// An all-reduce within groups of one is its operands.
struct DropTrivialAllReduce : OpRewritePattern<AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    MeshOp mesh = MeshOp::lookup(op);
    if (!mesh || !mesh.getMesh().getGroupSize(op.getAxes()).isOne())
      return failure();
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
};
} // namespace

void stg::populateDropUnusedStacksPatterns(RewritePatternSet &patterns) {
  patterns.add<DropUnusedStacks>(patterns.getContext());
}

void RepeatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *) {
  populateDropUnusedStacksPatterns(patterns);
}

void AllReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropTrivialAllReduce>(context);
}
