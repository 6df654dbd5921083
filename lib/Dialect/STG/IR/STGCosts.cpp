//===- STGCosts.cpp - Operation and byte counts of the stg ops ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conventions that docs/Conventions.md documents: a multiply-add is 2
// operations; each elementwise and normalization op has a count per element.
// Bytes are those that an op reads and writes in device memory, each operand
// and result once.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "stg/Dialect/STG/IR/DrawnSlices.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

/// What is in memory of a value that an op reads.
static Value getStored(Value value) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  return dequantize ? dequantize.getInput() : value;
}

SymExpr stg::getOperandAndResultBytes(Operation *op) {
  SymExpr bytes = SymExpr::get(op->getContext(), 0);
  // What is two operands is read once.
  SmallVector<std::pair<Value, SymExpr>> read;
  for (OpOperand &use : op->getOpOperands()) {
    Value stored = getStored(use.get());
    auto tensor = dyn_cast<SymTensorType>(stored.getType());
    if (!tensor || use.get().getDefiningOp<SplatOp>())
      continue;
    std::pair<Value, SymExpr> part(stored,
                                   getReadPart(use, tensor.getNumBytes()));
    if (llvm::is_contained(read, part))
      continue;
    bytes = bytes + part.second;
    read.push_back(part);
  }
  for (OpResult result : op->getResults()) {
    auto tensor = dyn_cast<SymTensorType>(result.getType());
    if (tensor && isMade(result))
      bytes = bytes + tensor.getNumBytes();
  }
  return bytes;
}

bool stg::canBeMean(SymExpr extent) {
  if (std::optional<Rational> number = extent.getConstant())
    return number->isZero() || !number->isInteger();
  return llvm::any_of(extent.getTerms(), [](const SymExpr::Term &term) {
    return !term.coefficient.isInteger() ||
           llvm::any_of(term.factors, [](const SymExpr::Factor &factor) {
             return factor.exponent < 0 || !isa<StringAttr>(factor.atom);
           });
  });
}

SymExpr stg::getDrawnPart(DrawsAttr draws, SymExpr amount, SymExpr rows) {
  SymExpr tokens = (rows * draws.getAmong()).exactDiv(draws.getChosen());
  return SymExpr::getFunction(
      SymFunc::Hits, {amount, draws.getAmong(), draws.getChosen(), tokens});
}

/// Of so many slices those that have a row.
template <typename OpTy>
static SymExpr getUsedPart(OpTy op, SymExpr amount, SymExpr slices,
                           SymExpr rows) {
  if (DrawsAttr draws = op.getDrawsAttr())
    return getDrawnPart(draws, amount, rows);
  if (SymExpr used = op.getUsedAttr())
    return amount.exactDiv(slices) * used;
  if (!canBeMean(rows))
    return amount;
  return amount.exactDiv(slices) *
         SymExpr::getFunction(SymFunc::Min, {slices, slices * rows});
}

/// Slices of an einsum's operand are what another operand has rows of: `x` of
/// "xcd,xdf->xcf". Calls `visit` with their number and that of the rows of one.
static void forEachSlices(EinsumOp op, unsigned number,
                          function_ref<void(SymExpr, SymExpr)> visit) {
  auto equation = llvm::cantFail(EinsumEquation::parse(op.getEquation()));
  StringRef own = equation.inputs[number];
  for (auto [term, input] : llvm::zip_equal(equation.inputs, op.getInputs())) {
    auto shape = cast<SymTensorType>(input.getType()).getShape();
    for (size_t i = 1; i < term.size(); ++i)
      if (own.contains(term[i - 1]) && !own.contains(term[i]) &&
          equation.output.contains(term[i - 1]))
        visit(shape[i - 1], shape[i]);
  }
}

static SymExpr getReadPart(EinsumOp op, unsigned number, SymExpr amount) {
  forEachSlices(op, number, [&](SymExpr slices, SymExpr rows) {
    amount = getUsedPart(op, amount, slices, rows);
  });
  return amount;
}

std::optional<DrawnSlices> stg::getDrawnSlices(EinsumOp op) {
  std::optional<DrawnSlices> drawn;
  if (DrawsAttr draws = op.getDrawsAttr())
    for (unsigned i = 0; i != op.getInputs().size(); ++i)
      forEachSlices(op, i, [&](SymExpr slices, SymExpr rows) {
        drawn = {slices, getDrawnPart(draws, slices, rows)};
      });
  return drawn;
}

/// A bias has slices in front of a dimension that it does not have.
static SymExpr getReadPart(BiasAddOp op, SymExpr amount) {
  auto shape = op.getType().getShape();
  SmallVector<unsigned> dims =
      getBiasDims(op.getType(), op.getBias().getType(), op.getDimsAttr());
  for (unsigned dim : dims)
    if (dim + 1 < op.getType().getRank() && !llvm::is_contained(dims, dim + 1))
      amount = getUsedPart(op, amount, shape[dim], shape[dim + 1]);
  return amount;
}

/// What `get` says of new tokens and all that they may see, summed over
/// requests if there are several in a row.
static SymExpr sumOverRequests(RequestsAttr requests, SymExpr queries,
                               SymExpr keys,
                               function_ref<SymExpr(SymExpr, SymExpr)> get) {
  if (!requests)
    return get(queries, keys);
  return requests.getSum([&](SymExpr fresh, SymExpr cached) {
    return get(fresh, fresh + cached);
  });
}

SymExpr stg::getWholeBlocks(SymExpr tokens, SymExpr size) {
  if (tokens.isZero())
    return tokens;
  return SymExpr::getFunction(SymFunc::CeilDiv, {tokens + 1, size}) - 1;
}

/// How many keys each query sees at most that are selected; null: all.
static SymExpr getSelectedNumber(Value selected) {
  return selected ? cast<SymTensorType>(selected.getType()).getShape()[2]
                  : SymExpr();
}

/// Of the tokens of keys and values, or of the blocks, no more than the queries
/// of each request see of those that are selected.
template <typename OpTy>
static SymExpr getReadKeys(OpTy op, OpOperand &use, SymExpr amount) {
  SymExpr number = getSelectedNumber(op.getSelected());
  SymExpr size = op.getCompressedAttr();
  Value key = size ? op.getCompressedKey() : op.getKey();
  Value value = size ? op.getCompressedValue() : op.getValue();
  if (!number || (use.get() != key && use.get() != value))
    return amount;
  SymExpr all = cast<SymTensorType>(key.getType()).getShape()[1];
  RequestsAttr requests = op.getRequestsAttr();
  SymExpr past = AttentionOpInterface(op).getPastAttr();
  SymExpr read = sumOverRequests(
      requests, op.getQuery().getType().getShape()[1], all,
      [&](SymExpr queries, SymExpr keys) {
        // Nobody attends to a block that is not whole.
        if (size && requests)
          keys = getWholeBlocks(keys, size);
        else if (size && past)
          keys = getWholeBlocks(past + queries, size);
        return SymExpr::getFunction(SymFunc::Min, {keys, queries * number});
      });
  return amount.exactDiv(all) * read;
}

SymExpr stg::getReadPart(OpOperand &use, SymExpr amount) {
  if (auto attention = dyn_cast<AttentionOp>(use.getOwner()))
    return getReadKeys(attention, use, amount);
  if (auto gradient = dyn_cast<AttentionGradOp>(use.getOwner()))
    return getReadKeys(gradient, use, amount);
  if (auto einsum = dyn_cast<EinsumOp>(use.getOwner()))
    return ::getReadPart(einsum, use.getOperandNumber(), amount);
  if (auto bias = dyn_cast<BiasAddOp>(use.getOwner());
      bias && use.get() == bias.getBias())
    return ::getReadPart(bias, amount);
  return amount;
}

/// What is read is the product's; of slices that nobody reads nothing is made.
OpCost DequantizeOp::getCost() {
  auto stored = cast<ScaledType>(getInput().getType().getElementType());
  SymExpr none = SymExpr::get(getContext(), 0);
  // The product multiplies what is stored, and its sums with the scales.
  if (stored.getElementType() == getType().getElementType())
    return {none, none, /*isMatrix=*/false};
  SymExpr operations = getType().getNumElements();
  if (getResult().hasOneUse())
    operations = getReadPart(*getResult().use_begin(), operations);
  return {operations, SymExpr::get(getContext(), 0), /*isMatrix=*/false};
}

bool stg::isMade(Value value) {
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  auto cost = dyn_cast<CostOpInterface>(op);
  // An op that nobody reads at all is looked at as it is.
  return !cost || !cost.isMadeIfRead(result.getResultNumber()) ||
         !result.use_empty() || op->use_empty();
}

/// An op that is not a matrix product and touches each operand and result once.
static OpCost makeVectorCost(Operation *op, SymExpr operations) {
  return {operations, getOperandAndResultBytes(op), false};
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// 2 x the product of all index extents, or 1 x if no index is contracted.
OpCost EinsumOp::getCost() {
  auto equation = llvm::cantFail(EinsumEquation::parse(getEquation()));
  SymExpr product = constant(*this, 1);
  bool contracts = false;
  llvm::SmallDenseSet<char> seen;
  for (auto [term, input] : llvm::zip_equal(equation.inputs, getInputs()))
    for (auto [letter, extent] : llvm::zip_equal(
             term, cast<SymTensorType>(input.getType()).getShape())) {
      if (!seen.insert(letter).second)
        continue;
      product = product * extent;
      contracts |= !equation.output.contains(letter);
    }
  return {product * (contracts ? 2 : 1), getOperandAndResultBytes(*this),
          contracts};
}

/// Pairs of a query and a key that a kernel works on. With a causal mask the
/// last query sees all keys and each one before sees one less, so q queries
/// over k keys make q*k - q*(q-1)/2 pairs.
static SymExpr getSpan(SymExpr queries, SymExpr keys, bool causal) {
  SymExpr square = queries * keys;
  if (!causal)
    return square;
  return square - (queries * (queries - 1)).exactDiv(2);
}

/// 1 + 2 + ... + n, and 0 for a negative number.
static SymExpr getTriangle(SymExpr n) {
  n = SymExpr::getFunction(SymFunc::Max, {n, SymExpr::get(n.getContext(), 0)});
  return (n * (n + 1)).exactDiv(2);
}

/// Of the pairs of a causal mask those that are less than the window apart. The
/// others are a triangle, less the one of queries that are not there.
static SymExpr getWindowSpan(SymExpr queries, SymExpr keys, SymExpr window) {
  SymExpr past = keys - queries;
  SymExpr pairs =
      getSpan(queries, keys, /*causal=*/true) - getTriangle(keys - window);
  return past.isZero() ? pairs : pairs + getTriangle(past - window);
}

/// As many queries as keys: half of the window is on each side of a query.
static SymExpr getBandSpan(SymExpr tokens, SymExpr window) {
  SymExpr two = SymExpr::get(tokens.getContext(), 2);
  SymExpr side = SymExpr::getFunction(SymFunc::CeilDiv, {window - 1, two});
  // Each side with the token itself, which is there once.
  return getWindowSpan(tokens, tokens, side + 1) * 2 - tokens;
}

/// The first tokens see keys of their own chunk: whole chunks, and the rest.
static SymExpr getChunkSpan(SymExpr tokens, SymExpr chunk, bool causal) {
  SymExpr whole =
      SymExpr::getFunction(SymFunc::CeilDiv, {tokens + 1, chunk}) - 1;
  SymExpr rest = tokens - whole * chunk;
  return whole * getSpan(chunk, chunk, causal) + getSpan(rest, rest, causal);
}

/// Of so many tokens that begin a sequence the blocks that each of them sees,
/// at most `limit` if it is not null: 0 + ... + 0 + 1 + ... + 1 + 2 + ...
static SymExpr getBlockTriangle(SymExpr tokens, SymExpr size, SymExpr limit) {
  if (limit) {
    SymExpr below = limit * size - 1; // Of which each sees less.
    SymExpr most = SymExpr::getFunction(SymFunc::Min, {tokens, below});
    SymExpr rest = SymExpr::getFunction(SymFunc::Max, {tokens, below}) - below;
    return getBlockTriangle(most, size, SymExpr()) + rest * limit;
  }
  SymExpr whole = getWholeBlocks(tokens, size);
  return size * (whole * (whole - 1)).exactDiv(2) +
         whole * (tokens - whole * size + 1);
}

/// Pairs with the blocks that end at the query or before it.
static SymExpr getBlockPairs(SymExpr queries, SymExpr past, SymExpr size,
                             SymExpr limit) {
  if (!past || past.isZero())
    return getBlockTriangle(queries, size, limit);
  return getBlockTriangle(past + queries, size, limit) -
         getBlockTriangle(past, size, limit);
}

static SymExpr getBlockPairs(AttentionOpInterface op, SymExpr queries,
                             SymExpr past) {
  SymExpr size = op.getCompressedAttr();
  return size ? getBlockPairs(queries, past, size,
                              getSelectedNumber(op.getSelected()))
              : SymExpr::get(queries.getContext(), 0);
}

/// With a `prefix` among the queries; null if there is none. Pairs with keys of
/// blocks are not among them.
static SymExpr getUnmaskedPairs(AttentionOpInterface op, SymExpr queries,
                                SymExpr keys, SymExpr prefix) {
  bool causal = op.getMask() == AttentionMask::Causal;
  SymExpr number = getSelectedNumber(op.getSelected());
  if (number && !op.getCompressedAttr()) {
    // As many as of a window; which ones they are does not matter.
    return causal
               ? getWindowSpan(queries, keys, number)
               : queries * SymExpr::getFunction(SymFunc::Min, {keys, number});
  }
  if (SymExpr window = op.getWindowAttr())
    return causal ? getWindowSpan(queries, keys, window)
                  : getBandSpan(keys, window);
  SymExpr chunk = op.getChunkAttr();
  if (!chunk) {
    // Of the tokens of a prefix each sees the later ones, too.
    SymExpr pairs = getSpan(queries, keys, causal);
    return causal && prefix ? pairs + (prefix * (prefix - 1)).exactDiv(2)
                            : pairs;
  }
  SymExpr pairs = getChunkSpan(keys, chunk, causal);
  SymExpr past = keys - queries;
  return past.isZero() ? pairs : pairs - getChunkSpan(past, chunk, causal);
}

SymExpr stg::getUnmaskedPairs(AttentionOpInterface op, SymExpr queries,
                              SymExpr keys) {
  return ::getUnmaskedPairs(op, queries, keys, op.getPrefixAttr()) +
         getBlockPairs(op, queries, op.getPastAttr());
}

/// Of tokens, not of blocks.
static SymExpr getTokenPairsOfRequest(AttentionOpInterface op,
                                      SymExpr newTokens, SymExpr cached) {
  SymExpr kept =
      TokenSpan{op.getWindowAttr(), op.getChunkAttr()}.getVisible(cached);
  return ::getUnmaskedPairs(op, newTokens, kept + newTokens,
                            cached.isZero() ? op.getPrefixAttr() : SymExpr());
}

SymExpr stg::getUnmaskedPairsOfRequest(AttentionOpInterface op,
                                       SymExpr newTokens, SymExpr cached) {
  return getTokenPairsOfRequest(op, newTokens, cached) +
         getBlockPairs(op, newTokens, cached);
}

namespace {
/// The pairs that are counted, of queries and keys.
struct CountedPairs {
  SymExpr tokens; ///< With keys of tokens.
  SymExpr blocks; ///< With keys of blocks of tokens.
};
} // namespace

template <typename OpTy>
static CountedPairs getPairs(OpTy op, RequestsAttr requests) {
  const bool isMasked =
      !op.getFullCount() || op.getSelected() || op.getCompressedAttr();
  AttentionOpInterface attention(op);
  if (!requests) {
    SymExpr queries = op.getQuery().getType().getShape()[1];
    SymExpr keys = op.getValue().getType().getShape()[1];
    SymExpr blocks = getBlockPairs(op, queries, attention.getPastAttr());
    if (!isMasked)
      return {getSpan(queries, keys, /*causal=*/false), blocks};
    return {getUnmaskedPairs(op, queries, keys, op.getPrefixAttr()), blocks};
  }
  TokenSpan span{op.getWindowAttr(), op.getChunkAttr()};
  return {requests.getSum([&](SymExpr fresh, SymExpr cached) {
            return isMasked ? getTokenPairsOfRequest(op, fresh, cached)
                            : getSpan(fresh, span.getVisible(cached) + fresh,
                                      /*causal=*/false);
          }),
          requests.getSum([&](SymExpr fresh, SymExpr cached) {
            return getBlockPairs(op, fresh, cached);
          })};
}

/// QK^T and PV for so many pairs of a query and a key of each sequence and
/// head. The gradient has twice as many.
template <typename OpTy>
static SymExpr getAttentionOperations(OpTy op, SymExpr pairs) {
  ExtentRange query = op.getQuery().getType().getShape();
  ExtentRange value = op.getValue().getType().getShape();
  return query[0] * query[2] * pairs * (query[3] + value[3]) * 2;
}

/// Whether the values lie in the buffers of the keys, with one head for all,
/// and are not the keys.
static bool isPartOfKeys(Value values, Value keys) {
  auto key = keys.getDefiningOp<BroadcastOp>();
  auto value = values.getDefiningOp<BroadcastOp>();
  if (keys == values || !key || !value || !key.isView() || !value.isView())
    return false;
  auto whole = key.getInput().getDefiningOp<ConcatOp>();
  return whole ? llvm::is_contained(whole.getInputs(), value.getInput())
               : key.getInput() == value.getInput();
}

/// Of all operands and results, each buffer once.
template <typename OpTy> static SymExpr getAttentionBytes(OpTy op) {
  SymExpr bytes = getOperandAndResultBytes(op);
  if (isPartOfKeys(op.getValue(), op.getKey()))
    bytes = bytes - getReadPart(op.getValueMutable(),
                                op.getValue().getType().getNumBytes());
  return bytes;
}

OpCost AttentionOp::getCost() {
  SymExpr pairs = getPairsAttr();
  if (!pairs) {
    CountedPairs counted = ::getPairs(*this, getRequestsAttr());
    pairs = counted.tokens + counted.blocks;
  }
  return {getAttentionOperations(*this, pairs), getAttentionBytes(*this), true};
}

static SymExpr addIfMade(SymExpr sum, Value gradient, SymExpr amount) {
  return gradient && isMade(gradient) ? sum + amount : sum;
}

/// Products of queries and keys have another size than those with values.
OpCost AttentionGradOp::getCost() {
  ExtentRange query = getQuery().getType().getShape();
  SymExpr keySize = query[3];
  SymExpr valueSize = getValue().getType().getShape()[3];
  CountedPairs pairs = ::getPairs(*this, getRequestsAttr());
  auto getProducts = [&](SymExpr number, Value dkey, Value dvalue) {
    SymExpr sizes = constant(*this, 0);
    sizes = addIfMade(sizes, getDquery(), keySize);
    sizes = addIfMade(sizes, dkey, keySize);
    if (!sizes.isZero())
      sizes = sizes + valueSize;
    return number * addIfMade(sizes, dvalue, valueSize);
  };
  SymExpr products = getProducts(pairs.tokens, getDkey(), getDvalue());
  if (getCompressedAttr())
    products =
        products + getProducts(pairs.blocks, getDterms()[0], getDterms()[1]);
  return {query[0] * query[2] * products * 2, getAttentionBytes(*this), true};
}

bool AttentionGradOp::isMadeIfRead(unsigned) { return true; }

/// The scores of all pairs, of each head and together.
OpCost SelectKeysOp::getCost() {
  ExtentRange query = getQuery().getType().getShape();
  SymExpr size = getCompressedAttr(), past = getPastAttr();
  RequestsAttr requests = getRequestsAttr();
  SymExpr pairs = sumOverRequests(
      requests, query[1], getKey().getType().getShape()[1],
      [&](SymExpr queries, SymExpr keys) {
        if (!size)
          return getSpan(queries, keys, /*causal=*/true);
        return getBlockPairs(queries, requests ? keys - queries : past, size,
                             /*limit=*/SymExpr());
      });
  SymExpr perPair = query[2] * (query[3] * 2 + 3) + 1;
  return {query[0] * pairs * perPair, getOperandAndResultBytes(*this), true};
}

/// How many blocks the tokens of a step make whole, of all requests of a row,
/// or of `tokens` behind the `past` ones, where null is none.
static SymExpr getFinishedBlocks(SymExpr size, RequestsAttr requests,
                                 SymExpr tokens, SymExpr past) {
  return sumOverRequests(requests, tokens, past ? past + tokens : tokens,
                         [&](SymExpr fresh, SymExpr all) {
                           return getWholeBlocks(all, size) -
                                  getWholeBlocks(all - fresh, size);
                         });
}

/// The tokens of blocks that are pooled, of one series of channels: with two of
/// them each block also has those of the block before, if there is one.
static SymExpr getPooledTokens(SymExpr size, bool isOverlapping,
                               RequestsAttr requests, SymExpr tokens,
                               SymExpr past) {
  SymExpr pooled = getFinishedBlocks(size, requests, tokens, past) * size;
  if (!isOverlapping)
    return pooled;
  SymExpr one = SymExpr::get(tokens.getContext(), 1);
  auto hasOne = [&](SymExpr all) {
    return SymExpr::getFunction(SymFunc::Min, {getWholeBlocks(all, size), one});
  };
  // 1 if the first block of a sequence is among those that are finished.
  SymExpr firsts =
      sumOverRequests(requests, tokens, past ? past + tokens : tokens,
                      [&](SymExpr fresh, SymExpr all) {
                        return hasOne(all) - hasOne(all - fresh);
                      });
  return pooled * 2 - firsts * size;
}

/// Elements of the blocks.
OpCost CompressOp::getCost() {
  SymExpr tokens = getValue().getType().getShape()[1], past = getPastAttr();
  // What is kept of unfinished blocks is among the values.
  if (past)
    tokens = tokens -
             detail::getKeptSpan(getSize(), getOverlapping()).getVisible(past);
  SymTensorType result = getType();
  SymExpr rows = getPooledTokens(getSize(), getOverlapping(), getRequestsAttr(),
                                 tokens, past);
  // There may be none, which is no dimension of a type.
  ExtentRange extents = result.getShape();
  SymExpr read = extents.front() * rows * extents.back();
  SymExpr bytes = read * (getValue().getType().getElementBytes() +
                          getScore().getType().getElementBytes()) +
                  getBias().getType().getNumBytes() + result.getNumBytes();
  return {read * 8, bytes, false};
}

OpCost CompressGradOp::getCost() {
  SymTensorType dy = getDy().getType();
  SymExpr rows = getPooledTokens(getSize(), getOverlapping(), RequestsAttr(),
                                 getValue().getType().getShape()[1], SymExpr());
  SymExpr perElement = constant(*this, 8);
  perElement = addIfMade(perElement, getDvalue(), constant(*this, 1));
  if (isMade(getDscore()) || isMade(getDbias()))
    perElement = perElement + 5;
  perElement = addIfMade(perElement, getDbias(), constant(*this, 1));
  SymExpr elements =
      dy.withDims({dy.getDim(0), DimAttr::get(rows), dy.getDims().back()})
          .getNumElements();
  return makeVectorCost(*this, elements * perElement);
}

bool CompressGradOp::isMadeIfRead(unsigned) { return true; }

/// A node costs that much only where all keys are its own device's.
static StringRef getContextLowering(ContextAttr context) {
  return context ? "stg-lower-context-parallel" : "";
}
StringRef AttentionOp::getLoweringPass() {
  return getContextLowering(getContextAttr());
}
StringRef AttentionGradOp::getLoweringPass() {
  return getContextLowering(getContextAttr());
}

static SymExpr getBytes(ValueRange values, SymExpr bytes) {
  for (Value value : values)
    bytes = bytes + cast<SymTensorType>(value.getType()).getNumBytes();
  return bytes;
}

/// How many operands are what earlier blocks have made; sinks are not.
template <typename OpTy> static unsigned getNumEarlier(OpTy op) {
  unsigned number = op.getPartial().size();
  return number == op->getNumResults() ? number : 0;
}

/// Writes its results, and reads its operands where any key is seen.
template <typename OpTy>
static OpCost getBlockCost(OpTy op, SymExpr operations, unsigned numEarlier) {
  SymExpr zero = constant(op, 0), written = getBytes(op->getResults(), zero);
  SymExpr read = getBytes(op->getOperands().drop_back(numEarlier), zero);
  if (SymExpr seen = op.getSeenAttr())
    return {operations * seen, written + read * seen, true};
  return {operations, written + read, true};
}

OpCost AttentionBlockOp::getCost() {
  return getBlockCost(*this, getAttentionOperations(*this, getPairs()),
                      getNumEarlier(*this));
}

/// Product and sum of the output and its gradient; difference, exponential,
/// product and sum.
OpCost AttentionSinksGradOp::getCost() {
  return makeVectorCost(*this,
                        elements(getOutput()) * 2 + elements(getLse()) * 4);
}

OpCost AttentionBlockGradOp::getCost() {
  return getBlockCost(*this, getAttentionOperations(*this, getPairs()) * 2,
                      getPartial().size());
}

/// What earlier blocks have made is corrected where it is.
static std::optional<unsigned>
getPartialOperand(Operation *op, unsigned numEarlier, unsigned result) {
  if (result >= numEarlier)
    return std::nullopt;
  return op->getNumOperands() - numEarlier + result;
}
std::optional<unsigned> AttentionBlockOp::getReusableOperand(unsigned result) {
  return getPartialOperand(*this, getNumEarlier(*this), result);
}
std::optional<unsigned>
AttentionBlockGradOp::getReusableOperand(unsigned result) {
  return getPartialOperand(*this, getPartial().size(), result);
}
bool AttentionBlockOp::destroysOperand(unsigned operand) {
  return operand + getNumEarlier(*this) >= getNumOperands();
}
bool AttentionBlockGradOp::destroysOperand(unsigned operand) {
  return operand + getPartial().size() >= getNumOperands();
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

/// silu x/(1+e^-x): negate, exp, add, divide. gelu: the tanh form.
int64_t stg::getActivationOperations(Activation function) {
  switch (function) {
  case Activation::Relu:
  case Activation::Tanh:
    return 1;
  case Activation::Relu2:
    return 2;
  case Activation::Softplus:
    return 3;
  case Activation::Sigmoid:
  case Activation::Silu:
    return 4;
  case Activation::QuickGelu:
    return 5;
  case Activation::Gelu:
    return 8;
  }
  llvm_unreachable("unknown activation");
}

/// Gradient of the activation times the incoming gradient. silu: the sigmoid
/// (4) is kept from above and s*(1 + x*(1-s)) times dy adds 3 more. tanh and
/// sigmoid: (1 - y*y)*dy and y*(1-y)*dy, from the result.
int64_t stg::getActivationGradOperations(Activation function) {
  switch (function) {
  case Activation::Relu:
    return 1;
  case Activation::Relu2:
  case Activation::Tanh:
  case Activation::Sigmoid:
    return 3;
  case Activation::Softplus: // The sigmoid, times dy.
    return 5;
  case Activation::Silu:
    return 7;
  case Activation::QuickGelu:
    return 8;
  case Activation::Gelu:
    return 13;
  }
  llvm_unreachable("unknown activation");
}

OpCost LearnedActivationOp::getCost() {
  int64_t perElement = getFunction() == LearnedActivation::Xielu ? 8 : 2;
  return makeVectorCost(*this, elements(getResult()) * perElement);
}

OpCost LearnedActivationGradOp::getCost() {
  bool isXielu = getFunction() == LearnedActivation::Xielu;
  int64_t perElement = isXielu ? 4 : 1;
  if (isMade(getDx()))
    perElement += isXielu ? 3 : 1;
  if (isMade(getDnumbers()))
    perElement += isXielu ? 3 : 2;
  return makeVectorCost(*this, elements(getInput()) * perElement);
}
bool LearnedActivationGradOp::isMadeIfRead(unsigned) { return true; }

std::optional<unsigned> AccumulateOp::getReusableOperand(unsigned) { return 0; }
bool AccumulateOp::destroysOperand(unsigned operand) { return operand == 0; }

OpCost GluOp::getCost() {
  int64_t perElement = getActivationOperations(getFunction()) + 1 +
                       (getClamped()   ? 4
                        : getLimited() ? 3
                                       : 0);
  return makeVectorCost(*this, elements(getResult()) * perElement);
}

/// d up = dy * act(gate), d gate = dy * up * act'(gate).
OpCost GluGradOp::getCost() {
  int64_t perElement = getActivationOperations(getFunction()) +
                       getActivationGradOperations(getFunction()) + 2 +
                       (getClamped()   ? 6
                        : getLimited() ? 5
                                       : 0);
  return makeVectorCost(*this, elements(getDy()) * perElement);
}

//===----------------------------------------------------------------------===//
// Norms, rotary embedding, embedding
//===----------------------------------------------------------------------===//

/// Per element: square, sum, scale, weight. Per row: mean, epsilon, root.
OpCost RmsNormOp::getCost() {
  return makeVectorCost(*this, elements(getResult()) * (getWeight() ? 4 : 3) +
                                   elements(getRstd()) * 3);
}

/// Per element: x*rstd; dy*w; its product with x*rstd and their sum; the
/// correction x*rstd*mean, difference and scale; dy*x*rstd and its sum over
/// rows. Per row: mean. The first is for both gradients, the last two for that
/// of the weight.
OpCost RmsNormGradOp::getCost() {
  bool hasDx = isMade(getDx()), hasDw = getDw() && isMade(getDw());
  int64_t perElement = 1 + (hasDw ? 2 : 0);
  if (hasDx)
    perElement += getWeight() ? 6 : 5;
  SymExpr count = elements(getInput()) * perElement;
  return makeVectorCost(*this, hasDx ? count + elements(getRstd()) : count);
}

/// Per element: sum, difference, square, sum, scale, weight, bias. Per row: two
/// means, epsilon, root.
OpCost LayerNormOp::getCost() {
  int64_t perElement = 5 + static_cast<int64_t>(getParameters().size());
  return makeVectorCost(*this, elements(getResult()) * perElement +
                                   elements(getRstd()) * 4);
}

/// Per element: the normalized value (2); dy*w; its sum; its product with the
/// normalized value and that sum (2); the two corrections and the scale (3); dy
/// times the normalized value and its sum over rows (2); the sum of dy over
/// rows. Per row: two means.
OpCost LayerNormGradOp::getCost() {
  ResultRange ofParameters = getDparameters();
  bool hasDx = isMade(getDx());
  bool hasDw = !ofParameters.empty() && isMade(ofParameters[0]);
  bool hasDb = ofParameters.size() == 2 && isMade(ofParameters[1]);
  int64_t perElement =
      (hasDx || hasDw ? 2 : 0) + (hasDw ? 2 : 0) + (hasDb ? 1 : 0);
  if (hasDx)
    perElement += getWeight() ? 7 : 6;
  SymExpr count = elements(getInput()) * perElement;
  return makeVectorCost(*this, hasDx ? count + elements(getRstd()) * 2 : count);
}

bool RmsNormGradOp::isMadeIfRead(unsigned) { return true; }
bool LayerNormGradOp::isMadeIfRead(unsigned) { return true; }

OpCost BiasAddOp::getCost() {
  return makeVectorCost(*this, elements(getResult()));
}
OpCost BiasGradOp::getCost() {
  return makeVectorCost(*this, elements(getDy()));
}

OpCost RopeOp::getCost() {
  SymExpr rotated = elements(getResult());
  if (getRotated())
    rotated = rotated.exactDiv(getType().getShape().back()) * *getRotated();
  return makeVectorCost(*this, rotated * 3);
}

/// Elements of the rows of all ids.
static SymExpr getRowElements(Value ids, Value rows) {
  return cast<SymTensorType>(ids.getType()).getNumElements() *
         cast<SymTensorType>(rows.getType()).getShape().back();
}

/// Reads one row per id, not the table.
OpCost EmbeddingOp::getCost() {
  SymExpr ids = cast<SymTensorType>(getIds().getType()).getNumBytes();
  SymExpr rows = getRowElements(getIds(), getResult());
  SymExpr bytes =
      rows * cast<SymTensorType>(getTable().getType()).getElementBytes();
  return {getPooled() ? rows : constant(*this, 0),
          ids + bytes + getResult().getType().getNumBytes(), false};
}

OpCost EmbeddingGradOp::getCost() {
  return makeVectorCost(*this, getRowElements(getIds(), getDy()));
}

OpCost EmbeddingBagOp::getCost() {
  SymExpr rows = getRowElements(getIds(), getResult());
  return {rows,
          getIds().getType().getNumBytes() +
              getLengths().getType().getNumBytes() +
              rows * getTable().getType().getElementBytes() +
              getResult().getType().getNumBytes(),
          false};
}

OpCost EmbeddingBagGradOp::getCost() {
  return makeVectorCost(*this, getRowElements(getIds(), getDy()));
}

OpCost BucketizeOp::getCost() {
  return makeVectorCost(*this, constant(*this, 0));
}

/// One number for each row.
SmallVector<StateBuffer> RowAdagradOp::getStateBuffers() {
  SymTensorType param = getParam().getType().withoutSharding();
  return {
      {"sum_of_squares", param.withDims(param.getDims().drop_back())
                             .withElementType(Float32Type::get(getContext()))}};
}

bool RowAdagradOp::updatesOperand(unsigned operand) { return operand == 0; }

/// Of the ids whose rows are on this device.
OpCost RowAdagradOp::getCost() {
  SymExpr ids = elements(getIds());
  if (std::optional<SymExpr> among = getAmong())
    ids = ids.exactDiv(*among);
  SymTensorType param = getParam().getType();
  SymExpr width = param.getShape().back();
  SymExpr bytes = getIds().getType().getNumBytes() +
                  getDy().getType().getNumBytes() +
                  ids * width * param.getElementBytes() * 2 + ids * 8;
  for (Value lengths : getLengths())
    bytes = bytes + cast<SymTensorType>(lengths.getType()).getNumBytes();
  return {ids * width * 5 + ids * 5, bytes, false};
}

/// Reads what it gives, not all of its operand.
OpCost GatherOp::getCost() {
  SymExpr ids = cast<SymTensorType>(getIds().getType()).getNumBytes();
  return {constant(*this, 0), ids + getResult().getType().getNumBytes() * 2,
          false};
}

OpCost GatherGradOp::getCost() {
  return makeVectorCost(*this, elements(getDy()));
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// Equal to the sum of the ops it decomposes into.
OpCost CrossEntropyOp::getCost() {
  return makeVectorCost(*this,
                        elements(getProbs()) * 5 + elements(getLoss()) * 3);
}

OpCost CrossEntropyGradOp::getCost() {
  return makeVectorCost(*this, elements(getDlogits()) + elements(getLabels()));
}

OpCost ReduceOp::getCost() {
  return makeVectorCost(*this, elements(getInput()));
}
OpCost ExpSumOp::getCost() {
  return makeVectorCost(*this, elements(getInput()) * 3);
}

/// Reads one element per row.
OpCost PickOp::getCost() {
  SymExpr rows = elements(getResult());
  int64_t read = cast<SymTensorType>(getInput().getType()).getElementBytes();
  return {constant(*this, 0),
          rows * read +
              cast<SymTensorType>(getIndex().getType()).getNumBytes() +
              getResult().getType().getNumBytes(),
          false};
}

std::optional<unsigned> NormalizeOp::getReusableOperand(unsigned) { return 0; }

OpCost NormalizeOp::getCost() {
  return makeVectorCost(*this, elements(getResult()));
}

//===----------------------------------------------------------------------===//
// Views, replicas and optimizer
//===----------------------------------------------------------------------===//

static OpCost getViewCost(Operation *op) {
  return {constant(op, 0), constant(op, 0), false};
}

OpCost SplitOp::getCost() { return getViewCost(*this); }
bool SplitOp::isView() { return true; }
OpCost ConcatOp::getCost() { return getViewCost(*this); }
bool ConcatOp::isView() { return true; }

OpCost ReplicateOp::getCost() {
  return makeVectorCost(*this, constant(*this, 0));
}

OpCost ReplicateGradOp::getCost() {
  return makeVectorCost(*this, elements(getInput()));
}

OpCost BroadcastOp::getCost() {
  return isView() ? getViewCost(*this)
                  : makeVectorCost(*this, constant(*this, 0));
}
/// A share of heads that is one is not meant: all devices do the same.
bool BroadcastOp::isView() {
  DimAttr dim = getType().getDim(getDim());
  return dim.getExtent().isOne() && dim.getNames().empty();
}

OpCost BroadcastGradOp::getCost() {
  return makeVectorCost(*this, elements(getInput()));
}

OpCost KeepOp::getCost() { return getViewCost(*this); }
bool KeepOp::isView() { return true; }
