//===- STGMixerCosts.cpp - Costs of ops over tokens ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs and states of causal convolutions, scans, delta rules, the matrix
// memory and the gated norm, and the parts that they have where tokens are
// divided.
//
//===----------------------------------------------------------------------===//

#include "MixerStates.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/STG/IR/Mixers.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The sum of `get` of the tokens of each chunk: whole ones, and what is left.
static SymExpr sumOverChunks(SymExpr tokens, SymExpr chunk,
                             function_ref<SymExpr(SymExpr)> get) {
  SymExpr whole =
      SymExpr::getFunction(SymFunc::CeilDiv, {tokens + 1, chunk}) - 1;
  return whole * get(chunk) + get(tokens - whole * chunk);
}

/// The sum over the sequences of a row of what `get` makes of their tokens.
static SymExpr sumOverSequences(RequestsAttr requests, SymExpr tokens,
                                function_ref<SymExpr(SymExpr)> get) {
  if (!requests)
    return get(tokens);
  return requests.getSum([&](SymExpr fresh, SymExpr) { return get(fresh); });
}

/// How many tokens may be taken back.
template <typename OpTy> static SymExpr getRollbackOrZero(OpTy op) {
  SymExpr tokens = op.getRollbackAttr();
  return tokens ? tokens : constant(op, 0);
}

namespace {
/// What an op keeps of each sequence: states, or inputs of a convolution.
struct KeptStates {
  SmallVector<DimAttr> dims; ///< Of one of them, of a sequence of each row.
  unsigned number;           ///< The dimension along which there are several.
  Type elementType;
  SymExpr read; ///< How many are what was there before the new tokens.

  SymExpr getBytes(SymExpr times) const {
    return SymTensorType::get(elementType.getContext(), dims, elementType)
               .getNumBytes() *
           times;
  }
};
} // namespace

/// Of a scan the last state is read.
template <typename OpTy>
static KeptStates makeScanStates(OpTy op, DimAttr batch,
                                 ArrayRef<DimAttr> dims) {
  KeptStates states{{batch}, 0, f32(op.getContext()), constant(op, 1)};
  llvm::append_range(states.dims, dims);
  return states;
}

static KeptStates getKeptStates(SelectiveScanOp op) {
  return makeScanStates(op, op.getX().getType().getDim(0),
                        op.getA().getType().getDims());
}

static KeptStates getKeptStates(LinearScanOp op) {
  ArrayRef<DimAttr> x = op.getX().getType().getDims();
  return makeScanStates(op, x[0], x.drop_front(2));
}

static KeptStates getKeptStates(DecayingMeanOp op) {
  ArrayRef<DimAttr> k = op.getK().getType().getDims();
  return makeScanStates(op, k[0], {k[2], getMeanParts(op.getK())});
}

static KeptStates getKeptStates(SsdOp op) {
  ArrayRef<DimAttr> x = op.getX().getType().getDims();
  return makeScanStates(op, x[0],
                        {x[2], x[3], op.getB().getType().getDims().back()});
}

static KeptStates getKeptStates(GatedDeltaRuleOp op) {
  ArrayRef<DimAttr> v = op.getV().getType().getDims();
  return makeScanStates(op, v[0], {v[2], op.getQ().getType().getDim(3), v[3]});
}

static KeptStates getKeptStates(GeneralDeltaRuleOp op) {
  ArrayRef<DimAttr> v = op.getV().getType().getDims();
  return makeScanStates(op, v[0], {v[2], op.getQ().getType().getDim(3), v[3]});
}

static KeptStates getKeptStates(MatrixMemoryOp op) {
  ArrayRef<DimAttr> v = op.getV().getType().getDims();
  return makeScanStates(op, v[0], {v[2], getMemorySize(op.getQ(), op.getV())});
}

/// What comes before a token overlaps with what comes before the next one.
static KeptStates getKeptStates(CausalConvOp op) {
  SymTensorType input = op.getInput().getType();
  KeptStates states{{input.getDim(0), DimAttr::get(constant(op, 1))},
                    1,
                    input.getElementType(),
                    op.getWeight().getType().getShape().back() - 1};
  llvm::append_range(states.dims, input.getDims().drop_front(2));
  return states;
}

/// What is there before the new tokens is read, and as much is written for each
/// token of which a state is kept. Where more tokens may be taken back than are
/// new, earlier steps have written the other states.
template <typename OpTy> static OpCost addStates(OpTy op, OpCost cost) {
  if (!op.getState())
    return cost;
  KeptStates states = getKeptStates(op);
  SymExpr more = getRollbackOrZero(op);
  SymExpr tokens = tensorOf(op->getOperand(0)).getShape()[1];
  SymExpr times =
      sumOverSequences(op.getRequestsAttr(), tokens, [&](SymExpr fresh) {
        SymExpr written = states.read;
        if (!more.isZero())
          written =
              written + SymExpr::getFunction(SymFunc::Min, {fresh - 1, more});
        return states.read + written;
      });
  cost.bytes = cost.bytes + states.getBytes(times);
  return cost;
}

/// There is room for what the last token leaves, and for as much before each
/// that may be taken back.
template <typename OpTy> static SmallVector<StateBuffer> makeStates(OpTy op) {
  if (!op.getState())
    return {};
  KeptStates states = getKeptStates(op);
  SymExpr sequences =
      sumOverSequences(op.getRequestsAttr(), constant(op, 1),
                       [&](SymExpr) { return constant(op, 1); });
  SymExpr times = states.read + getRollbackOrZero(op);
  DimAttr &batch = states.dims.front(), &number = states.dims[states.number];
  batch = batch.withExtent(batch.getExtent() * sequences);
  number = number.withExtent(number.getExtent() * times);
  auto type =
      SymTensorType::get(op.getContext(), states.dims, states.elementType);
  if (SymExpr parts = op.getPartsAttr())
    type = type.getStacked(DimAttr::get(parts));
  return {{op.getState()->str(), type, StateBuffer::Cache}};
}

OpCost CausalConvOp::getCost() {
  SymExpr width = getWeight().getType().getShape().back();
  return addStates(*this, makeCost(*this, elements(getResult()) * width * 2));
}

SmallVector<StateBuffer> CausalConvOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost CausalConvWeightGradOp::getCost() {
  SymExpr width = getType().getShape().back();
  return makeCost(*this, elements(getInput()) * width * 2);
}

/// Per token, channel and element of the state.
template <typename OpTy>
static SymExpr getScanOperations(OpTy op, int64_t perElement) {
  return elements(op.getX()) * op.getA().getType().getShape().back() *
         perElement;
}

OpCost SelectiveScanOp::getCost() {
  return addStates(*this, makeCost(*this, getScanOperations(*this, 7)));
}

SmallVector<StateBuffer> SelectiveScanOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost SelectiveScanGradOp::getCost() {
  return makeCost(*this, getScanOperations(*this, 14));
}

/// Of the mean and of the state that it leaves: two sums, two maxima, four
/// differences, four exponentials, two sums of two products each, and as many
/// with one product; a quotient.
constexpr int64_t kMeanOperations = 23;

OpCost LinearScanOp::getCost() {
  return addStates(*this, makeCost(*this, elements(getX()) * 2));
}

SmallVector<StateBuffer> LinearScanOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost LinearScanGradOp::getCost() {
  return makeCost(*this, elements(getDecay()) * 3);
}

OpCost DecayingMeanOp::getCost() {
  return addStates(*this, makeCost(*this, elements(getK()) * kMeanOperations));
}

SmallVector<StateBuffer> DecayingMeanOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost DecayingMeanGradOp::getCost() {
  return makeCost(*this, elements(getK()) * 2 * kMeanOperations);
}

/// The products of a row of so many tokens: C B^T and what is read of it in
/// each chunk, states and what is read of them.
template <typename OpTy>
static SymExpr getSsdOperations(OpTy op, SymExpr tokens) {
  ExtentRange x = op.getX().getType().getShape();
  ArrayRef<DimAttr> b = op.getB().getType().getDims();
  SymExpr channels = x[2] * x[3], state = b.back().getExtent();
  SymExpr groups = b.size() == 4 ? b[2].getExtent() : constant(op, 1);
  SymExpr squares =
      sumOverChunks(tokens, op.getChunkAttr(), [](SymExpr n) { return n * n; });
  return squares * (state * groups + channels) * 2 +
         tokens * channels * state * 4;
}

OpCost SsdOp::getCost() {
  ExtentRange x = getX().getType().getShape();
  SymExpr state = getB().getType().getShape().back();
  SymExpr row = sumOverSequences(getRequestsAttr(), x[1], [&](SymExpr tokens) {
    if (getState() && tokens.isOne())
      return x[2] * x[3] * state * 4;
    return getSsdOperations(*this, tokens);
  });
  return addStates(*this, makeCost(*this, x[0] * row, /*isMatrix=*/true));
}

SmallVector<StateBuffer> SsdOp::getStateBuffers() { return makeStates(*this); }

OpCost SsdGradOp::getCost() {
  ExtentRange x = getX().getType().getShape();
  return makeCost(*this, x[0] * getSsdOperations(*this, x[1]) * 2,
                  /*isMatrix=*/true);
}

namespace {
/// The products of a delta rule: so many operations for each pair of tokens of
/// a chunk, by the sizes of keys and values, and for each token and element of
/// the state.
struct DeltaProducts {
  int64_t perKey, perValue, perState;
};
} // namespace

/// Queries and keys, keys and keys, and corrections of keys; corrections of
/// values, and what is read of them. States, what keys find and what queries
/// read.
static DeltaProducts getProducts(GatedDeltaRuleOp) { return {6, 4, 6}; }
static DeltaProducts getProducts(GatedDeltaRuleGradOp) { return {6, 4, 6}; }
/// What is looked for, and queries, are multiplied with keys and with what is
/// written. Values and what is found are two of what states are made of, and of
/// what is read and corrected.
static DeltaProducts getProducts(GeneralDeltaRuleOp) { return {10, 8, 8}; }
static DeltaProducts getProducts(GeneralDeltaRuleGradOp) { return {10, 8, 8}; }

/// The products of a row of so many tokens, and solving for its corrections.
template <typename OpTy>
static SymExpr getDeltaRuleOperations(OpTy op, SymExpr tokens) {
  SymExpr key = op.getQ().getType().getShape()[3];
  ExtentRange v = op.getV().getType().getShape();
  DeltaProducts products = getProducts(op);
  SymExpr row = sumOverChunks(tokens, op.getChunkAttr(), [&](SymExpr n) {
    return n * n * (key * products.perKey + v[3] * products.perValue) +
           ((n - 1) * n * (n * 2 - 1)).exactDiv(3);
  });
  return v[2] * (row + tokens * key * v[3] * products.perState);
}

template <typename OpTy> static OpCost getDeltaRuleCost(OpTy op) {
  SymExpr key = op.getQ().getType().getShape()[3];
  ExtentRange v = op.getV().getType().getShape();
  SymExpr row =
      sumOverSequences(op.getRequestsAttr(), v[1], [&](SymExpr tokens) {
        if (op.getState() && tokens.isOne())
          return v[2] * key * v[3] * getProducts(op).perState;
        return getDeltaRuleOperations(op, tokens);
      });
  return addStates(op, makeCost(op, v[0] * row, /*isMatrix=*/true));
}

/// Backward executes twice as many.
template <typename OpTy> static OpCost getDeltaRuleGradCost(OpTy op) {
  ExtentRange v = op.getV().getType().getShape();
  return makeCost(op, v[0] * getDeltaRuleOperations(op, v[1]) * 2,
                  /*isMatrix=*/true);
}

OpCost GatedDeltaRuleOp::getCost() { return getDeltaRuleCost(*this); }

SmallVector<StateBuffer> GatedDeltaRuleOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost GatedDeltaRuleGradOp::getCost() { return getDeltaRuleGradCost(*this); }

OpCost GeneralDeltaRuleOp::getCost() { return getDeltaRuleCost(*this); }

SmallVector<StateBuffer> GeneralDeltaRuleOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost GeneralDeltaRuleGradOp::getCost() { return getDeltaRuleGradCost(*this); }

/// So many operations for each token and element of the state, in which each
/// key has a number beside its value.
template <typename OpTy>
static SymExpr getMemoryStates(OpTy op, SymExpr tokens, int64_t perElement) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  return v[2] * tokens * key * (v[3] + 1) * perElement;
}

/// The products of a row of so many tokens: queries with keys, what is read of
/// a chunk, states and what is read of them.
template <typename OpTy>
static SymExpr getMemoryOperations(OpTy op, SymExpr tokens) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  SymExpr squares =
      sumOverChunks(tokens, op.getChunkAttr(), [](SymExpr n) { return n * n; });
  return v[2] * squares * (key + v[3] + 1) * 2 + getMemoryStates(op, tokens, 4);
}

OpCost MatrixMemoryOp::getCost() {
  ExtentRange v = getV().getType().getShape();
  SymExpr row = sumOverSequences(getRequestsAttr(), v[1], [&](SymExpr tokens) {
    if (getState() && tokens.isOne())
      return getMemoryStates(*this, tokens, 4);
    return getMemoryOperations(*this, tokens);
  });
  return addStates(*this, makeCost(*this, v[0] * row, /*isMatrix=*/true));
}

SmallVector<StateBuffer> MatrixMemoryOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost MatrixMemoryGradOp::getCost() {
  ExtentRange v = getV().getType().getShape();
  return makeCost(*this, v[0] * getMemoryOperations(*this, v[1]) * 2,
                  /*isMatrix=*/true);
}

OpCost RecurrencePartOp::getCost() {
  return makeCost(*this, getOperations(), getMatrix());
}
std::optional<unsigned> RecurrencePartOp::getReusableOperand(unsigned result) {
  if (result < getCompleted())
    return result;
  return std::nullopt;
}
bool RecurrencePartOp::destroysOperand(unsigned operand) {
  return operand < getCompleted();
}

//===----------------------------------------------------------------------===//
// Parts of recurrent ops
//===----------------------------------------------------------------------===//

/// So many tokens of the operand that the convolution goes over, and all that
/// it computes.
static RecurrenceParts getConvParts(CostOpInterface op, unsigned operand,
                                    SymExpr width, bool isBackward) {
  SymTensorType type = tensorOf(op->getOperand(operand));
  SmallVector<DimAttr> dims(type.getDims());
  dims[1] = dims[1].withExtent(width - 1);
  RecurrenceParts parts;
  parts.state = type.withDims(dims);
  parts.isBackward = isBackward;
  parts.tail = operand;
  parts.rest = op.getCost().operations;
  return parts;
}

RecurrenceParts CausalConvOp::getDeviceParts() {
  return getConvParts(*this, 0, getWeight().getType().getShape().back(),
                      getReversed());
}

/// A product of a token with a gradient of the next device is made where the
/// token is.
RecurrenceParts CausalConvWeightGradOp::getDeviceParts() {
  return getConvParts(*this, 1, getDw().getType().getShape().back(),
                      /*isBackward=*/true);
}

/// A kernel that goes over all tokens makes the state at the end.
static RecurrenceParts getScanParts(SymTensorType state, SymExpr operations,
                                    bool isBackward) {
  RecurrenceParts parts;
  parts.state = state;
  parts.passing = operations;
  parts.isBackward = isBackward;
  return parts;
}

RecurrenceParts SelectiveScanOp::getDeviceParts() {
  return getScanParts(getScanState(getX(), getA()), getScanOperations(*this, 7),
                      /*isBackward=*/false);
}

RecurrenceParts SelectiveScanGradOp::getDeviceParts() {
  return getScanParts(getScanState(getX(), getA()),
                      getScanOperations(*this, 14), /*isBackward=*/true);
}

RecurrenceParts LinearScanOp::getDeviceParts() {
  return getScanParts(getLinearState(getX()), elements(getX()) * 2,
                      /*isBackward=*/false);
}

RecurrenceParts LinearScanGradOp::getDeviceParts() {
  return getScanParts(getLinearState(getDecay()), elements(getDecay()) * 3,
                      /*isBackward=*/true);
}

RecurrenceParts DecayingMeanOp::getDeviceParts() {
  return getScanParts(getMeanState(getK()), elements(getK()) * kMeanOperations,
                      /*isBackward=*/false);
}

RecurrenceParts DecayingMeanGradOp::getDeviceParts() {
  return getScanParts(getMeanState(getK()),
                      elements(getK()) * 2 * kMeanOperations,
                      /*isBackward=*/true);
}

/// States of chunks are made as if the first one were zero. The state that is
/// given, times how much of it is left at the end, is added to the last one.
/// What tokens read of the states before their chunks is the rest; backward,
/// the gradients of what made those states.
static RecurrenceParts getAddedParts(SymTensorType state, SymExpr operations,
                                     SymExpr read) {
  RecurrenceParts parts;
  parts.state = state;
  parts.own = operations - read;
  parts.passing = state.getNumElements() * 2;
  parts.rest = read;
  parts.isMatrix = parts.isAdded = true;
  return parts;
}

template <typename OpTy>
static RecurrenceParts getSsdParts(OpTy op, int64_t times) {
  ExtentRange x = op.getX().getType().getShape();
  SymExpr read = x[0] * x[1] * x[2] * x[3] *
                 op.getB().getType().getShape().back() * 2 * times;
  return getAddedParts(getSsdState(op.getX(), op.getB()),
                       x[0] * getSsdOperations(op, x[1]) * times, read);
}

RecurrenceParts SsdOp::getDeviceParts() {
  return getSsdParts(*this, /*times=*/1);
}

RecurrenceParts SsdGradOp::getDeviceParts() {
  RecurrenceParts parts = getSsdParts(*this, /*times=*/2);
  parts.isBackward = true;
  return parts;
}

/// So many operations for each pair of tokens of a chunk, by the sizes of keys
/// and values.
template <typename OpTy>
static SymExpr getDeltaPairs(OpTy op, int64_t perKey, int64_t perValue) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  SymExpr squares =
      sumOverChunks(v[1], op.getChunkAttr(), [](SymExpr n) { return n * n; });
  return v[0] * v[2] * squares * (key * perKey + v[3] * perValue);
}

/// So many operations for each token and element of the state.
template <typename OpTy>
static SymExpr getDeltaStates(OpTy op, int64_t perElement) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  return v[0] * v[1] * v[2] * key * v[3] * perElement;
}

/// What a chunk writes depends on the state before it: the products of its
/// keys with that and with what is written (W S and K^T U) go from chunk to
/// chunk. What queries read (Q S and A U) is the rest.
template <typename OpTy> static RecurrenceParts getDeltaParts(OpTy op) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr all = v[0] * getDeltaRuleOperations(op, v[1]);
  RecurrenceParts parts;
  parts.state = getDeltaState(op.getQ(), op.getV());
  parts.passing = getDeltaStates(op, 4);
  parts.rest = getDeltaStates(op, 2) + getDeltaPairs(op, 0, 2);
  parts.own = all - parts.passing - parts.rest;
  parts.isMatrix = true;
  return parts;
}

/// First what the gradient of the result alone says, of queries, states and
/// of `products` of pairs (A U and Q K^T); then, from chunk to chunk, two
/// products for the gradient of what is written and of the state; then all that
/// follows from these.
template <typename OpTy>
static RecurrenceParts getDeltaGradParts(OpTy op, int64_t products) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr all = v[0] * getDeltaRuleOperations(op, v[1]) * 2;
  RecurrenceParts parts;
  parts.state = getDeltaState(op.getQ(), op.getV());
  parts.isBackward = true;
  parts.own =
      getDeltaStates(op, 4) + getDeltaPairs(op, 2 * products, 2 * products);
  parts.passing = getDeltaStates(op, 4);
  parts.rest = all - parts.own - parts.passing;
  parts.isMatrix = true;
  return parts;
}

RecurrenceParts GatedDeltaRuleOp::getDeviceParts() {
  return getDeltaParts(*this);
}

RecurrenceParts GatedDeltaRuleGradOp::getDeviceParts() {
  return getDeltaGradParts(*this, /*products=*/2);
}

/// States have values, too, which nothing has to wait for.
RecurrenceParts GeneralDeltaRuleOp::getDeviceParts() {
  return getDeltaParts(*this);
}

/// Queries read values and what was found: twice as many products.
RecurrenceParts GeneralDeltaRuleGradOp::getDeviceParts() {
  return getDeltaGradParts(*this, /*products=*/4);
}

template <typename OpTy>
static RecurrenceParts getMemoryParts(OpTy op, int64_t times) {
  ExtentRange v = op.getV().getType().getShape();
  return getAddedParts(getMemoryState(op.getQ(), op.getV()),
                       v[0] * getMemoryOperations(op, v[1]) * times,
                       v[0] * getMemoryStates(op, v[1], 2) * times);
}

RecurrenceParts MatrixMemoryOp::getDeviceParts() {
  return getMemoryParts(*this, /*times=*/1);
}

RecurrenceParts MatrixMemoryGradOp::getDeviceParts() {
  RecurrenceParts parts = getMemoryParts(*this, /*times=*/2);
  parts.isBackward = true;
  return parts;
}

OpCost GatedNormOp::getCost() {
  return makeCost(*this, elements(getInput()) * 9 + elements(getRstd()) * 3);
}
OpCost GatedNormGradOp::getCost() {
  return makeCost(*this, elements(getInput()) * 23 + elements(getRstd()));
}
OpCost GatedNormSquaresOp::getCost() {
  return makeCost(*this, elements(getInput()) * 7);
}
OpCost GatedNormApplyOp::getCost() {
  return makeCost(*this, elements(getInput()) * 7);
}
OpCost GatedValuesOp::getCost() {
  return makeCost(*this, elements(getInput()) * 5);
}
OpCost GroupedNormOp::getCost() {
  return makeCost(*this, elements(getInput()) * 3 + elements(getRstd()) * 3);
}
OpCost GroupedNormApplyOp::getCost() {
  return makeCost(*this, elements(getResult()) * 2);
}
OpCost GatedNormDotOp::getCost() {
  return makeCost(*this, elements(getInput()) * 8);
}
