//===- Kernels.cpp - What compute nodes compute ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Support/KernelSizes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace stg;

using Sizes = SmallVector<SymExpr, 8>;

/// Where slices of the batch have different numbers of rows, those that have
/// some, with the most of them.
static void setUsedBatch(EinsumOp op, SymExpr rows, SymExpr &m,
                         SymExpr &batch) {
  SymExpr one = SymExpr::get(op.getContext(), 1);
  SymExpr all = batch * rows;
  SymExpr used = op.getDraws() ? getDrawnPart(*op.getDraws(), batch, rows)
                 : op.getUsedAttr()
                     ? op.getUsedAttr()
                     : SymExpr::getFunction(SymFunc::Min, {batch, all});
  SymExpr divisor = SymExpr::getFunction(SymFunc::Max, {used, one});
  batch = op.getDraws() ? divisor : used;
  m = m * SymExpr::getFunction(SymFunc::CeilDiv, {all, divisor});
}

/// Operands but the last are the left one.
static Sizes getProductSizes(EinsumOp op) {
  auto equation = llvm::cantFail(EinsumEquation::parse(op.getEquation()));
  SymExpr one = SymExpr::get(op.getContext(), 1);
  SymExpr m = one, n = one, k = one, batch = one, rows = one;
  StringRef right = equation.inputs.back();
  SmallString<8> left;
  auto multiply = [&](StringRef term, Value input, bool isRight) {
    for (auto [letter, extent] : llvm::zip_equal(
             term, cast<SymTensorType>(input.getType()).getShape())) {
      bool isInLeft = StringRef(left).contains(letter);
      if (!isRight && isInLeft)
        continue;
      if (!isRight)
        left.push_back(letter);
      if (isRight && isInLeft)
        continue;
      bool isInBoth = !isRight && right.contains(letter);
      bool isInOutput = equation.output.contains(letter);
      bool hasRows = op.getDraws() || op.getUsed() || canBeMean(extent);
      SymExpr &size = !isInOutput ? k
                      : isInBoth  ? batch
                      : isRight   ? n
                      : hasRows   ? rows
                                  : m;
      size = size * extent;
    }
  };
  ValueRange inputs = op.getInputs();
  for (auto [term, input] : llvm::zip_equal(
           ArrayRef(equation.inputs).drop_back(), inputs.drop_back()))
    multiply(term, input, /*isRight=*/false);
  multiply(right, inputs.back(), /*isRight=*/true);
  if (batch.isOne()) {
    m = m * rows;
  } else if (op.getDraws() || op.getUsed() || !rows.isOne()) {
    setUsedBatch(op, rows, m, batch);
  }
  ProductSizes<SymExpr> sizes(m, n, k, batch);
  auto weight = inputs.back().getDefiningOp<DequantizeOp>();
  if (weight || op.getDraws()) {
    Value stored = weight ? weight.getInput() : inputs.back();
    sizes.rightBytes =
        getReadPart(op->getOpOperand(op.getNumOperands() - 1),
                    cast<SymTensorType>(stored.getType()).getNumBytes());
  }
  return sizes.getList();
}

static SymExpr getProduct(ArrayRef<DimAttr> dims, SymExpr product) {
  for (DimAttr dim : dims)
    product = product * dim.getExtent();
  return product;
}

/// A convolution as the product that its kernels compute, by tiles, without
/// copies of windows: positions, outputs, windows and groups. For the gradient
/// of the input, a position reads as many others as there are windows over it.
static Sizes getConvSizes(Operation *op, Value input, Value weight,
                          Value result) {
  auto getDims = [](Value value) {
    return cast<SymTensorType>(value.getType()).getDims();
  };
  auto divide = [](SymExpr number, SymExpr by) {
    SymExpr exact = number.exactDiv(by);
    return exact ? exact : SymExpr::getFunction(SymFunc::CeilDiv, {number, by});
  };
  ArrayRef<DimAttr> read = getDims(input), weights = getDims(weight),
                    made = getDims(result);
  SymExpr one = SymExpr::get(op->getContext(), 1);
  SymExpr window = getProduct(weights.drop_back(2), one);
  SymExpr channels = weights.drop_back().back().getExtent();
  SymExpr groups = divide(read.back().getExtent(), channels);
  SymExpr outputs = divide(weights.back().getExtent(), groups);
  SymExpr positions = getProduct(made.drop_back(), one);
  if (isa<ConvWeightGradOp>(op))
    return ProductSizes<SymExpr>(channels * window, outputs, positions, groups)
        .getList();
  if (isa<ConvOp>(op))
    return ProductSizes<SymExpr>(positions, outputs, channels * window, groups)
        .getList();
  SymExpr all = getProduct(read.drop_back(), one);
  return ProductSizes<SymExpr>(
             all, channels, divide(outputs * window * positions, all), groups)
      .getList();
}

namespace {
/// Requests of a row that have as many new tokens, the longest of them or the
/// others.
struct AlikeRequests {
  SymExpr newTokens;
  bool isLongest;
  SymExpr count, keys, pairs; ///< Of all of them.
};
} // namespace

/// By new tokens, the most that requests with so many have kept; null where
/// that cannot be told.
static SmallVector<std::pair<SymExpr, SymExpr>>
getMostKept(ArrayRef<SymExpr> newTokens, ArrayRef<SymExpr> allKept) {
  SmallVector<std::pair<SymExpr, SymExpr>> all;
  for (auto [fresh, kept] : llvm::zip_equal(newTokens, allKept)) {
    auto *own = llvm::find_if(
        all, [tokens = fresh](auto &entry) { return entry.first == tokens; });
    if (own == all.end()) {
      all.push_back({fresh, kept});
      continue;
    }
    SymExpr &most = own->second;
    std::optional<int64_t> more =
        most ? (kept - most).getInt64() : std::nullopt;
    if (!more)
      most = SymExpr();
    else if (*more > 0)
      most = kept;
  }
  return all;
}

template <typename OpTy>
static SmallVector<AlikeRequests> getRequests(OpTy op) {
  SmallVector<AlikeRequests> all;
  RequestsAttr requests = op.getRequestsAttr();
  if (!requests)
    return all;
  TokenSpan span{op.getWindowAttr(), op.getChunkAttr()};
  SymExpr zero = SymExpr::get(op->getContext(), 0);
  SmallVector<SymExpr> allKept;
  for (SymExpr cached : requests.getCachedTokens())
    allKept.push_back(span.getVisible(cached));
  auto most = getMostKept(requests.getNewTokens(), allKept);
  for (auto [count, fresh, cached, kept] :
       llvm::zip_equal(requests.getCounts(), requests.getNewTokens(),
                       requests.getCachedTokens(), allKept)) {
    SymExpr longest = llvm::find_if(most, [tokens = fresh](auto &entry) {
                        return entry.first == tokens;
                      })->second;
    bool isLongest = !longest || kept == longest;
    auto *alike = llvm::find_if(all, [&, tokens = fresh](auto &other) {
      return other.newTokens == tokens && other.isLongest == isLongest;
    });
    if (alike == all.end())
      alike =
          &all.emplace_back(AlikeRequests{fresh, isLongest, zero, zero, zero});
    alike->count = alike->count + count;
    alike->keys = alike->keys + (kept + fresh) * count;
    if (SymExpr size = op.getCompressedAttr())
      alike->keys = alike->keys + getWholeBlocks(cached + fresh, size) * count;
    alike->pairs =
        alike->pairs + getUnmaskedPairsOfRequest(op, fresh, cached) * count;
  }
  return all;
}

template <typename OpTy>
static SymExpr getPairs(OpTy op, ArrayRef<AlikeRequests> requests) {
  if (requests.empty())
    return getUnmaskedPairs(op, op.getQuery().getType().getShape()[1],
                            op.getValue().getType().getShape()[1]);
  SymExpr pairs = SymExpr::get(op->getContext(), 0);
  for (const AlikeRequests &alike : requests)
    pairs = pairs + alike.pairs;
  return pairs;
}

/// How many keys there are beside those of tokens.
static SymExpr getNumBlocks(Operation *op) {
  auto attention = dyn_cast<AttentionOpInterface>(op);
  Value key = attention ? attention.getCompressedKey() : Value();
  return key ? cast<SymTensorType>(key.getType()).getShape()[1]
             : SymExpr::get(op->getContext(), 0);
}

template <typename OpTy>
static AttentionSizes<SymExpr> getRowSizes(OpTy op, SymExpr pairs) {
  auto query = op.getQuery().getType().getShape();
  auto key = op.getKey().getType().getShape();
  auto value = op.getValue().getType().getShape();
  AttentionSizes<SymExpr> sizes;
  sizes.batch = query[0];
  sizes.heads = query[2];
  sizes.keyHeads = key[2];
  sizes.queries = query[1];
  sizes.keys = key[1] + getNumBlocks(op);
  sizes.keySize = query[3];
  sizes.valueSize = value[3];
  sizes.pairs = pairs;
  return sizes;
}

template <typename OpTy> static Sizes getAttentionSizes(OpTy op) {
  SmallVector<AlikeRequests> requests = getRequests(op);
  AttentionSizes<SymExpr> sizes = getRowSizes(op, getPairs(op, requests));
  for (const AlikeRequests &alike : requests)
    sizes.requests.push_back(
        {alike.newTokens, alike.count, alike.keys, alike.pairs});
  return sizes.getList();
}

/// Of keys that are divided each device has some of each request's.
static Sizes getAttentionSizes(AttentionOp op) {
  if (SymExpr pairs = op.getPairsAttr())
    return getRowSizes(op, pairs).getList();
  return getAttentionSizes<AttentionOp>(op);
}
static Sizes getAttentionSizes(AttentionBlockOp op) {
  return getRowSizes(op, op.getPairs()).getList();
}
static Sizes getAttentionSizes(AttentionBlockGradOp op) {
  SymExpr seen = op.getSeenAttr();
  return getRowSizes(op, seen ? op.getPairs() * seen : op.getPairs()).getList();
}

static Sizes getElements(Operation *op) {
  Sizes sizes;
  auto add = [&](Value value) {
    if (auto tensor = dyn_cast<SymTensorType>(value.getType()))
      sizes.push_back(tensor.getNumElements());
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return sizes;
}

static Sizes getChoiceSizes(TopKOp op) {
  ChoiceSizes<SymExpr> sizes(op.getInput().getType().getNumElements(),
                             op.getIndices().getType().getNumElements());
  if (op.getGroups())
    sizes.groups = {*op.getGroups(), *op.getLimit()};
  return sizes.getList();
}

static Sizes getMatrixStepSizes(OrthogonalizeOp op) {
  auto [shorter, longer, count] = op.getMatrices();
  return MatrixStepSizes<SymExpr>(
             shorter, longer, count,
             SymExpr::get(op.getContext(),
                          static_cast<int64_t>(op.getIterations())))
      .getList();
}

/// Of a clamped or limited unit the elements that are limited follow.
template <typename OpTy> static Sizes getGluSizes(OpTy op) {
  Sizes sizes = getElements(op);
  if (op.getClamped() || op.getLimited())
    sizes.push_back(op.getInput().getType().getNumElements());
  return sizes;
}

/// Chunks of the longest sequence, each of which waits for the state that the
/// one before leaves, then elements.
template <typename OpTy>
static Sizes getScanSizes(OpTy op, RequestsAttr requests) {
  SymExpr tokens =
      cast<SymTensorType>(op->getOperand(0).getType()).getShape()[1];
  if (requests) {
    tokens = SymExpr::get(op->getContext(), 1);
    for (SymExpr fresh : requests.getNewTokens())
      tokens = SymExpr::getFunction(SymFunc::Max, {tokens, fresh});
  }
  Sizes sizes = {
      SymExpr::getFunction(SymFunc::CeilDiv, {tokens, op.getChunkAttr()})};
  sizes.append(getElements(op));
  return sizes;
}

static Sizes getSizes(Operation *op, bool isMatrix) {
  return llvm::TypeSwitch<Operation *, Sizes>(op)
      .Case<AttentionOp, AttentionGradOp, AttentionBlockOp,
            AttentionBlockGradOp>([](auto op) { return getAttentionSizes(op); })
      .Case([&](EinsumOp op) {
        return isMatrix ? getProductSizes(op) : getElements(op);
      })
      .Case([](ConvOp op) {
        return getConvSizes(op, op.getInput(), op.getWeight(), op.getResult());
      })
      .Case([](ConvInputGradOp op) {
        return getConvSizes(op, op.getResult(), op.getWeight(), op.getDy());
      })
      .Case([](ConvWeightGradOp op) {
        return getConvSizes(op, op.getInput(), op.getResult(), op.getDy());
      })
      .Case([](TopKOp op) { return getChoiceSizes(op); })
      .Case([](OrthogonalizeOp op) { return getMatrixStepSizes(op); })
      .Case<GluOp, GluGradOp>([](auto op) { return getGluSizes(op); })
      .Case<SsdOp, GatedDeltaRuleOp, GeneralDeltaRuleOp, MatrixMemoryOp>(
          [](auto op) { return getScanSizes(op, op.getRequestsAttr()); })
      .Case<SsdGradOp, GatedDeltaRuleGradOp, GeneralDeltaRuleGradOp,
            MatrixMemoryGradOp>(
          [](auto op) { return getScanSizes(op, nullptr); })
      .Default([](Operation *op) { return getElements(op); });
}

/// The element type of the first tensor; empty if there is none.
static StringAttr getElementType(MLIRContext *context, TypeRange types) {
  for (Type type : types)
    if (auto tensor = dyn_cast<SymTensorType>(type)) {
      // A printer for each node costs more than all else of its kernel, and
      // types of floating-point numbers are spelled like their names.
      Type element = tensor.getElementType();
      StringRef name = element.getAbstractType().getName();
      if (isa<FloatType>(element) && name.consume_front("builtin."))
        return StringAttr::get(context, name);
      return StringAttr::get(context, llvm::formatv("{0}", element));
    }
  return StringAttr::get(context);
}

chakra::KernelAttr stg::getKernel(CostOpInterface op, bool isMatrix,
                                  bool accumulates) {
  MLIRContext *context = op->getContext();
  return chakra::KernelAttr::get(
      context, StringAttr::get(context, op->getName().stripDialect()),
      getElementType(context, op->getOperandTypes()),
      getElementType(context, op->getResultTypes()), getSizes(op, isMatrix),
      accumulates);
}
