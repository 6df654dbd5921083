//===- STGInference.cpp - Ops of a step of inference ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, costs and sharding rules of the ops that a step of inference has, and
// how attention goes on from keys and values of earlier steps.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

SymExpr TokenSpan::getVisible(SymExpr tokens, int64_t parts) const {
  if (block)
    return getWholeBlocks(tokens, block);
  if (tokens.isZero() || (!window && !chunk))
    return tokens;
  if (window) {
    SymExpr seen = SymExpr::getFunction(SymFunc::Min, {tokens, window - 1});
    if (parts == 1 || seen == tokens)
      return seen;
    SymExpr number = SymExpr::get(tokens.getContext(), parts);
    seen = SymExpr::getFunction(SymFunc::CeilDiv, {seen, number}) * number;
    return SymExpr::getFunction(SymFunc::Min, {tokens, seen});
  }
  SymExpr whole = getWholeBlocks(tokens, chunk);
  if (seesChunkBefore)
    whole = SymExpr::getFunction(
                SymFunc::Max, {whole, SymExpr::get(tokens.getContext(), 1)}) -
            1;
  return tokens - whole * chunk;
}

SymExpr TokenSpan::getMost() const {
  if (window)
    return window;
  return seesChunkBefore ? chunk * 2 : chunk;
}

SymExpr TokenSpan::getKept(SymExpr tokens) const {
  SymExpr bound = getMost();
  return bound ? SymExpr::getFunction(SymFunc::Min, {tokens, bound}) : tokens;
}

/// Refuses numbers of a request that cannot be.
static LogicalResult checkRequests(Operation *op, RequestsAttr requests) {
  for (auto [fresh, cached, logits] :
       llvm::zip_equal(requests.getNewTokens(), requests.getCachedTokens(),
                       requests.getLogits()))
    for (auto [what, number, least] : {std::tuple("new tokens", fresh, 1),
                                       {"cached tokens", cached, 0},
                                       {"rows of logits", logits, 0}})
      if (std::optional<Rational> value = number.getConstant();
          value && (!value->isInteger() || *value < Rational(least)))
        return op->emitOpError("has a request with ")
               << number.str() << ' ' << what << ", expected at least "
               << least;
  return success();
}

LogicalResult AttentionOp::verify() {
  RequestsAttr requests = getRequestsAttr();
  if (!requests)
    return verifySpan(*this);
  if (failed(verifySpan(*this)) || failed(checkRequests(*this, requests)))
    return failure();
  // One device has some of the tokens of all requests.
  if (getContextAttr() && getContextAttr().getAxes())
    return success();
  SymExpr fresh = requests.getNumNew();
  TokenSpan span{getWindowAttr(), getChunkAttr()};
  SymExpr past = requests.getSum(
      [&](SymExpr, SymExpr cached) { return span.getVisible(cached); });
  // What fills a row up is of no request, and devices that divide tokens keep
  // equally many of a window.
  SymExpr all = fresh + (getWindowAttr() ? requests.getNumCached() : past);
  for (auto [what, expected, most, type] :
       {std::tuple("queries", fresh, SymExpr(), getQuery().getType()),
        {"keys", fresh + past, all, getKey().getType()}}) {
    SymExpr found = type.getShape()[1];
    if (!expected.isConstant() || !found.isConstant() || expected == found)
      continue;
    bool isTooMany =
        most && most.isConstant() && *most.getConstant() < *found.getConstant();
    if (isTooMany || *found.getConstant() < *expected.getConstant())
      return emitOpError("has requests with ") // attention_c4
             << expected.str() << ' ' << what << ", the operand has "
             << found.str();
  }
  return success();
}

/// Whether the first tokens of a sequence are among the new ones. Otherwise a
/// prefix is among those that are kept, and new tokens are behind it.
static bool hasStart(IncrementBuilder &increment) {
  RequestsAttr requests = increment.getRequests();
  return requests ? llvm::any_of(requests.getCachedTokens(),
                                 [](SymExpr cached) { return cached.isZero(); })
                  : increment.getCached().isZero();
}

/// Keeps keys and values, once where they are the same.
static void keepKeys(IncrementBuilder &increment, OpOperand &key,
                     OpOperand &value, StringRef prefix, TokenSpan span) {
  if (key.get() == value.get()) {
    Value kept = increment.keep(key.get(), (prefix + "kv").str(), span);
    key.set(kept);
    value.set(kept);
    return;
  }
  key.set(increment.keep(key.get(), (prefix + "k").str(), span));
  value.set(increment.keep(value.get(), (prefix + "v").str(), span));
}

/// Of rows that are one request each how many tokens come before the new ones.
template <typename OpTy>
static void setPast(OpTy op, IncrementBuilder &increment) {
  if (!increment.getRequests() && !increment.getCached().isZero())
    op.setPastAttr(increment.getCached());
}

/// Keys and values are kept. Queries are those of new tokens, the last ones,
/// which is what the mask counts from.
LogicalResult AttentionOp::buildIncrement(IncrementBuilder &increment) {
  DimAttr queries = getQuery().getType().getDim(1);
  DimAttr keys = getKey().getType().getDim(1);
  if (!increment.isTokens(queries) && !increment.isTokens(keys))
    return success();
  if (!increment.isTokens(keys))
    return emitOpError("has keys named '")
           << keys.getNamesText()
           << "', which are not the tokens of a step; cross attention has no "
              "step of inference yet";
  if (getMask() != AttentionMask::None) {
    TokenSpan span{getWindowAttr(), getChunkAttr()};
    keepKeys(increment, getKeyMutable(), getValueMutable(), "", span);
    if (SymExpr size = getCompressedAttr()) {
      TokenSpan blocks;
      blocks.block = size;
      OpOperand *terms = &getTermsMutable()[0];
      keepKeys(increment, terms[0], terms[1], "compressed_", blocks);
      setPast(*this, increment);
    }
    if (getPrefixAttr() && !hasStart(increment))
      removePrefixAttr();
  } else if (!increment.getCached().isZero()) {
    return emitOpError("sees tokens that come later, so nothing of it can be "
                       "kept; needs whole sequences, cached=0");
  }
  if (RequestsAttr requests = increment.getRequests())
    setRequestsAttr(requests);
  return success();
}

/// Keys are kept, and queries are those of new tokens.
LogicalResult SelectKeysOp::buildIncrement(IncrementBuilder &increment) {
  if (!increment.isTokens(getQuery().getType().getDim(1)))
    return success();
  TokenSpan span;
  span.block = getCompressedAttr();
  getKeyMutable().assign(increment.keep(getKey(), "k", span));
  if (span.block)
    setPast(*this, increment);
  if (RequestsAttr requests = increment.getRequests())
    setRequestsAttr(requests);
  return success();
}

TokenSpan stg::detail::getKeptSpan(SymExpr size, bool isOverlapping) {
  TokenSpan span;
  span.chunk = size;
  span.seesChunkBefore = isOverlapping;
  span.isState = true;
  return span;
}

/// The tokens of unfinished blocks are kept.
LogicalResult CompressOp::buildIncrement(IncrementBuilder &increment) {
  if (!increment.isTokens(getValue().getType().getDim(1)))
    return success();
  TokenSpan span = getKeptSpan(getSize(), getOverlapping());
  getValueMutable().assign(increment.keep(getValue(), "values", span));
  getScoreMutable().assign(increment.keep(getScore(), "scores", span));
  setPast(*this, increment);
  if (RequestsAttr requests = increment.getRequests())
    setRequestsAttr(requests);
  return increment.countBlocks(getResult(), getSize());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult CacheOp::verify() {
  if (getCacheName().empty()) // cache_c2
    return emitOpError("expects a name");
  SymTensorType input = getInput().getType(), result = getType();
  SymExpr capacity = getCapacityAttr(); // cache_c3
  if (!capacity != !getDim())
    return emitOpError("has ") << (capacity ? "a capacity and no dimension"
                                            : "a dimension and no capacity");
  if (capacity && *getDim() >= static_cast<uint64_t>(result.getRank()))
    return emitOpError("has a capacity of dimension ")
           << *getDim() << ", the tensor has rank " << result.getRank();
  if (capacity && isNoCount(capacity))
    return emitOpError("has a capacity of ")
           << capacity.str() << ", expected an integer of at least 1";
  SmallVector<DimAttr> expected(input.getDims());
  if (input.getRank() == result.getRank()) {
    unsigned longer = 0; // cache_c1
    for (auto [own, other] : llvm::zip_equal(expected, result.getDims()))
      if (own.getExtent() != other.getExtent() && !longer++)
        own = own.withExtent(other.getExtent());
  }
  return checkSameShape(getLoc(), "cache", expected, result.getDims(),
                        getInput(), getResult());
}

LogicalResult SelectRowsOp::verify() {
  SymTensorType input = getInput().getType(), result = getType();
  if (getDim() >= static_cast<uint64_t>(input.getRank())) // select_rows_c1
    return emitOpError("has dimension ")
           << getDim() << ", the tensor has rank " << input.getRank();
  if (input.getElementType() != result.getElementType()) // select_rows_c2
    return emitOpError("expects operand and result of one element type, found ")
           << input << " and " << result;
  SmallVector<DimAttr> expected(input.getDims());
  if (input.getRank() == result.getRank())
    expected[getDim()] =
        expected[getDim()].withExtent(result.getShape()[getDim()]);
  return checkSameShape(getLoc(), "result", expected, result.getDims(),
                        getInput(), getResult());
}

LogicalResult SampleOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SymTensorType logits = tensorOf(adaptor.getLogits());
  if (failed(checkMinRank(loc, "logits", logits, 1)))
    return failure();
  if (!isa<FloatType>(logits.getElementType()))
    return emitOptionalError(loc, "logits have element type ",
                             logits.getElementType(), ", expected a float");
  types.push_back(SymTensorType::get(context, logits.getDims().drop_back(),
                                     IntegerType::get(context, 32)));
  return success();
}

LogicalResult SamplePartOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  SymTensorType logits = tensorOf(adaptor.getLogits());
  if (failed(checkMinRank(loc, "logits", logits, 1)))
    return failure();
  if (!isa<FloatType>(logits.getElementType()))
    return emitOptionalError(loc, "logits have element type ",
                             logits.getElementType(), ", expected a float");
  SmallVector<DimAttr> dims(logits.getDims());
  dims.back() = DimAttr::get(SymExpr::get(context, 2));
  types.push_back(SymTensorType::get(context, dims, Float32Type::get(context)));
  return success();
}

LogicalResult PlaceRowsOp::verify() {
  SymTensorType input = getInput().getType(), result = getType();
  SmallVector<DimAttr> expected(input.getDims()); // place_rows_c1
  if (input.getRank() == result.getRank())
    for (auto [dim, other] : llvm::zip_equal(expected, result.getDims()))
      dim = dim.withExtent(other.getExtent());
  if (input.getElementType() != result.getElementType())
    return emitOpError("expects operand and result of one element type, found ")
           << input << " and " << result;
  return checkSameShape(getLoc(), "result", expected, result.getDims());
}

LogicalResult MergePartialOp::verify() {
  SymTensorType output = getOutput().getType(), lse = getLse().getType();
  if (output.getRank() != 4 || lse.getRank() != 3 || // merge_partial_c1
      output.getDims().take_front(2) != lse.getDims().take_front(2))
    return emitOpError("has an output of type ")
           << output << " and log-sum-exps of type " << lse
           << ", expected rows of heads of both";
  if (getType() != output) // merge_partial_c2
    return emitOpError("makes ")
           << getType() << " of " << output << ", expected the same type";
  return success();
}

/// The bytes of a head of a row: its elements, the largest score and the sum of
/// its weights, two fp32 numbers.
SymExpr stg::getPartialBytes(SymTensorType output) {
  return output.withDims(output.getDims().back()).getNumBytes() + 8;
}

/// A buffer of parts, and the output that they are of.
static LogicalResult checkParts(Operation *op, SymTensorType parts,
                                SymTensorType output) {
  if (parts.getRank() != 5 || output.getRank() != 4)
    return op->emitOpError("has parts of rank ")
           << parts.getRank() << " and outputs of rank " << output.getRank()
           << ", expected 5 and 4";
  if (parts.getDims().take_front(3) != output.getDims().take_front(3) ||
      parts.getShape().back() != getPartialBytes(output))
    return op->emitOpError("has parts of type ")
           << parts << " for outputs of type " << output << ", expected "
           << getPartialBytes(output) << " bytes of each head of a row";
  return success();
}

LogicalResult PackPartialOp::verify() {
  SymTensorType output = getOutput().getType(), lse = getLse().getType();
  if (failed(checkParts(*this, getType(), output))) // pack_partial_c2
    return failure();
  if (lse.getDims() != output.getDims().take_front(3)) // pack_partial_c1
    return emitOpError("has an output of type ")
           << output << " and log-sum-exps of type " << lse
           << ", expected one of each head of a row";
  SymExpr devices = getType().getShape()[3];
  if (devices != SymExpr::get(getContext(), 1))
    return emitOpError("makes parts of ")
           << devices << " devices, expected one";
  return success();
}

LogicalResult MergePartsOp::verify() { // merge_parts_c1, merge_parts_c2
  return checkParts(*this, getParts().getType(), getType());
}

LogicalResult EncodeRowsOp::verify() {
  SymTensorType input = getInput().getType(), result = getType();
  if (failed(checkMinRank(getLoc(), "operand", input, 1))) // encode_rows_c1
    return failure();
  SmallVector<DimAttr> expected(input.getDims()); // encode_rows_c2
  if (input.getRank() == result.getRank())
    expected.back() = result.getDims().back();
  return checkSameShape(getLoc(), "result", expected, result.getDims(),
                        getInput(), getResult());
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The new rows are read, and written where the cache has them.
OpCost CacheOp::getCost() {
  SymTensorType input = getInput().getType();
  SymExpr elements = input.getNumElements();
  bool isCast = input.getElementType() != getType().getElementType();
  return {elements * (isCast ? 1 : 0),
          input.getNumBytes() +
              input.withElementType(getType().getElementType()).getNumBytes(),
          false};
}

SmallVector<StateBuffer> CacheOp::getStateBuffers() {
  SymTensorType type = getType().withoutSharding();
  if (SymExpr capacity = getCapacityAttr()) {
    SmallVector<DimAttr> dims(type.getDims());
    dims[*getDim()] = dims[*getDim()].withExtent(capacity);
    type = type.withDims(dims);
  }
  if (SymExpr parts = getPartsAttr())
    type = type.getStacked(DimAttr::get(parts));
  return {{getCacheName().str(), type, StateBuffer::Cache}};
}

void CacheOp::splitStates(SymExpr parts) {
  SymExpr before = getPartsAttr();
  setPartsAttr(before ? before * parts : parts);
}

void CacheOp::prefixStates(StringRef prefix) {
  setCacheName((prefix + getCacheName()).str());
}

std::optional<unsigned> CacheOp::getResultState(unsigned) { return 0; }

OpCost SelectRowsOp::getCost() {
  SymExpr zero = SymExpr::get(getContext(), 0);
  return {zero, isView() ? zero : getType().getNumBytes() * 2, false};
}

bool SelectRowsOp::isView() { return getInput().getType() == getType(); }

OpCost SampleOp::getCost() {
  return {getLogits().getType().getNumElements(),
          getOperandAndResultBytes(*this), false};
}

OpCost SamplePartOp::getCost() {
  return {getLogits().getType().getNumElements(),
          getOperandAndResultBytes(*this), false};
}

OpCost PlaceRowsOp::getCost() {
  return {SymExpr::get(getContext(), 0), getOperandAndResultBytes(*this),
          false};
}

OpCost MergePartialOp::getCost() {
  return {getOutput().getType().getNumElements() +
              getLse().getType().getNumElements() * 5,
          getOperandAndResultBytes(*this), false};
}

OpCost PackPartialOp::getCost() {
  return {SymExpr::get(getContext(), 0), getOperandAndResultBytes(*this),
          false};
}

OpCost MergePartsOp::getCost() {
  SymTensorType parts = getParts().getType();
  SymExpr heads = parts.getNumElements().exactDiv(parts.getShape().back());
  return {heads * (getType().getShape().back() * 2 + 5),
          getOperandAndResultBytes(*this), false};
}

OpCost EncodeRowsOp::getCost() {
  return {
      SymExpr::getFunction(SymFunc::Max, {getInput().getType().getNumElements(),
                                          getType().getNumElements()}),
      getOperandAndResultBytes(*this), false};
}

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

ShardingRule EncodeRowsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = rule.addFactors("d", getType().getRank() - 1);
  TensorFactors from = rows, to = rows;
  from.push_back({rule.addFactor("from", FactorKind::Whole)});
  to.push_back({rule.addFactor("to", FactorKind::Whole)});
  rule.operands = {from};
  rule.results = {to};
  return rule;
}

/// A device keeps what it has made; the tokens that it has are its share of
/// all.
ShardingRule CacheOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors tensor = rule.addFactors("d", getType().getRank());
  rule.operands = {tensor};
  // Which of the tokens a device has follows from nothing that it reads.
  if (getDividedOver())
    for (auto [dim, own, other] :
         llvm::enumerate(getInput().getType().getDims(), getType().getDims()))
      if (own.getExtent() != other.getExtent())
        tensor[dim] = {rule.addFactor("kept")};
  rule.results = {tensor};
  return rule;
}

/// A device has its share of the buffer.
LogicalResult CacheOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  SymExpr capacity = getCapacityAttr();
  if (!capacity)
    return success();
  ArrayAttr axes = getAxes("d" + std::to_string(*getDim()));
  if (!axes.empty())
    setCapacityAttr(SymExpr::getFunction(
        SymFunc::CeilDiv,
        {capacity, MeshOp::lookup(*this).getMesh().getGroupSize(axes)}));
  return success();
}

/// The rows are anywhere, so all of them have to be here.
ShardingRule SelectRowsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors tensor = rule.addFactors("d", getType().getRank());
  rule.operands = {tensor};
  rule.factors[getDim()].kind = FactorKind::Whole;
  tensor[getDim()] = {rule.addFactor("rows", FactorKind::Whole)};
  rule.results = {tensor};
  return rule;
}
bool SelectRowsOp::isLinear() { return true; }

ShardingRule SamplePartOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows =
      rule.addFactors("d", getLogits().getType().getRank() - 1);
  TensorFactors logits = rows, best = rows;
  logits.push_back({rule.addFactor("v", FactorKind::Whole)});
  best.push_back({rule.addFactor("best", FactorKind::Whole)});
  rule.operands = {logits};
  rule.results = {best};
  return rule;
}

/// Shards of rows become partial sums of all.
ShardingRule PlaceRowsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors own = rule.addFactors("d", getType().getRank()), all = own;
  for (auto [dim, before, after] :
       llvm::enumerate(getInput().getType().getDims(), getType().getDims()))
    if (before.getExtent() != after.getExtent())
      all[dim] = {
          rule.addFactor("all" + std::to_string(dim), FactorKind::Whole)};
  rule.operands = {own};
  rule.results = {all};
  return rule;
}

ShardingRule MergePartialOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors output = rule.addFactors("d", 4);
  TensorFactors lse(output.begin(), output.begin() + 2);
  lse.push_back({rule.addFactor("all", FactorKind::Whole)});
  rule.operands = {output, lse};
  rule.results = {output};
  return rule;
}

/// Each device has a part of its own.
ShardingRule PackPartialOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors heads = rule.addFactors("d", 3), output = heads, parts = heads;
  output.push_back({rule.addFactor("width", FactorKind::Whole)});
  parts.push_back({rule.addFactor("part", FactorKind::Whole)});
  parts.push_back({rule.addFactor("bytes", FactorKind::Whole)});
  rule.operands = {output, heads};
  rule.results = {parts};
  return rule;
}

ShardingRule MergePartsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors heads = rule.addFactors("d", 3), output = heads, parts = heads;
  parts.push_back({rule.addFactor("part", FactorKind::Whole)});
  parts.push_back({rule.addFactor("bytes", FactorKind::Whole)});
  output.push_back({rule.addFactor("width", FactorKind::Whole)});
  rule.operands = {parts};
  rule.results = {output};
  return rule;
}

ShardingRule SampleOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows =
      rule.addFactors("d", getLogits().getType().getRank() - 1);
  TensorFactors logits = rows;
  logits.push_back({rule.addFactor("v", FactorKind::Whole)});
  rule.operands = {logits};
  rule.results = {rows};
  return rule;
}
