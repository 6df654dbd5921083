//===- STGMoE.cpp - Ops of mixtures of experts ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, costs, sharding rules and gradients of the router's ops and of those
// that move tokens to their experts and back.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/STG/IR/Experts.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult checkFloat(std::optional<Location> loc, StringRef what,
                                Value value) {
  Type type = tensorOf(value).getElementType();
  if (isa<FloatType>(type))
    return success();
  return emitOptionalError(loc, what, " has element type ", type,
                           ", expected a float");
}

/// The buffers of all experts.
static LogicalResult checkBuffers(std::optional<Location> loc, StringRef what,
                                  Value value) {
  int64_t rank = tensorOf(value).getRank();
  if (rank == 3)
    return success();
  return emitOptionalError(loc, what, " has rank ", rank,
                           ", expected 3: experts, rows, width");
}

/// Integers, one row of them for each token.
static LogicalResult checkIndices(std::optional<Location> loc, Value indices) {
  if (failed(checkMinRank(loc, "index operand", tensorOf(indices), 1)))
    return failure();
  return checkIntegers(loc, "index operand", tensorOf(indices));
}

static LogicalResult checkShape(std::optional<Location> loc, StringRef what,
                                ArrayRef<DimAttr> expected, Value value) {
  return checkSameShape(loc, what, expected, tensorOf(value).getDims());
}

/// `shape` with another last dimension.
static SmallVector<DimAttr> withLast(ArrayRef<DimAttr> shape, DimAttr last) {
  SmallVector<DimAttr> result(shape);
  result.back() = last;
  return result;
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 1)) ||       // softmax_c1
      failed(checkFloat(loc, "operand", adaptor.getInput()))) // softmax_c2
    return failure();
  types.push_back(
      SymTensorType::get(context, input.getDims(), Float32Type::get(context)));
  return success();
}

LogicalResult SoftmaxGradOp::verify() { // softmax_grad_c1
  ArrayRef<DimAttr> shape = getProbs().getType().getDims();
  return success(
      succeeded(checkMinRank(getLoc(), "operand", getProbs().getType(), 1)) &&
      succeeded(checkShape(getLoc(), "gradient", shape, getDprobs())) &&
      succeeded(checkShape(getLoc(), "result", shape, getDx())));
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 1)) ||       // top_k_c1
      failed(checkFloat(loc, "operand", adaptor.getInput()))) // top_k_c3
    return failure();
  SymExpr extent = input.getShape().back();
  SymExpr number = adaptor.getK().getExtent();
  std::optional<Rational> k = number.getConstant();
  std::optional<Rational> all = extent.getConstant();
  if ((k && (!k->isInteger() || *k < 1)) || (k && all && *all < *k)) // top_k_c2
    return emitOptionalError(loc, "takes ", number.str(), " of ", extent.str(),
                             " elements, expected 1 to ", extent.str());
  SmallVector<DimAttr> shape = withLast(input.getDims(), adaptor.getK());
  types.append(
      {SymTensorType::get(context, shape, input.getElementType()),
       SymTensorType::get(context, shape, IntegerType::get(context, 32))});
  return success();
}

LogicalResult TopKOp::verify() {
  SymTensorType input = getInput().getType().withoutSharding();
  if (getScores() &&
      tensorOf(getScores()).withoutSharding() != input) // top_k_c4
    return emitOpError("compares scores of type ")
           << getScores().getType() << ", expected that of the operand, "
           << input;
  SymExpr groups = getGroupsAttr(), limit = getLimitAttr();
  if (!groups != !limit) // top_k_c5
    return emitOpError("has ")
           << (groups ? "groups and no limit" : "a limit and no groups");
  std::optional<Rational> taken = limit ? limit.getConstant() : std::nullopt;
  std::optional<Rational> all = groups ? groups.getConstant() : std::nullopt;
  if (taken && (!taken->isInteger() || *taken < 1 || (all && *all < *taken)))
    return emitOpError("takes the elements of ")
           << limit.str() << " of " << groups.str() << " groups, expected 1 to "
           << groups.str();
  return success();
}

LogicalResult DivideBySumOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  // divide_by_sum_c1, divide_by_sum_c2
  if (failed(checkMinRank(loc, "operand", input, 1)) ||
      failed(checkFloat(loc, "operand", adaptor.getInput())))
    return failure();
  types.append({input.withoutSharding(),
                SymTensorType::get(context, input.getDims().drop_back(),
                                   input.getElementType())});
  return success();
}

LogicalResult DivideBySumGradOp::verify() { // divide_by_sum_grad_c1
  ArrayRef<DimAttr> shape = getQuotient().getType().getDims();
  return success(
      succeeded(
          checkMinRank(getLoc(), "operand", getQuotient().getType(), 1)) &&
      succeeded(checkShape(getLoc(), "sum", shape.drop_back(), getSum())) &&
      succeeded(checkShape(getLoc(), "gradient", shape, getDy())) &&
      succeeded(checkShape(getLoc(), "result", shape, getDx())));
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  SymTensorType indices = tensorOf(adaptor.getIndices());
  if (failed(checkMinRank(loc, "operand", input, 1)) ||  // take_c1
      failed(checkIndices(loc, adaptor.getIndices())) || // take_c2
      failed(checkSameShape(loc, "rows of indices", input.getDims().drop_back(),
                            indices.getDims().drop_back(), adaptor.getInput(),
                            adaptor.getIndices())))
    return failure();
  types.push_back(
      SymTensorType::get(context, indices.getDims(), input.getElementType()));
  return success();
}

/// Checks matrices that are balanced, and how often.
static LogicalResult checkBalance(std::optional<Location> loc, Value input,
                                  SymExpr iterations) {
  if (failed(checkMinRank(loc, "operand", tensorOf(input), 2)) || // balance_c1
      failed(checkFloat(loc, "operand", input)))                  // balance_c2
    return failure();
  if (isNoCount(iterations)) // balance_c3
    return emitOptionalError(loc, "has ", iterations.str(),
                             " iterations, expected an integer of at least 1");
  return success();
}

LogicalResult BalanceOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(checkBalance(loc, adaptor.getInput(), adaptor.getIterations())))
    return failure();
  types.push_back(tensorOf(adaptor.getInput()).withoutSharding());
  return success();
}

LogicalResult BalanceGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  // balance_grad_c2, balance_grad_c1
  if (failed(checkBalance(loc, adaptor.getInput(), adaptor.getIterations())) ||
      failed(checkShape(loc, "gradient", input.getDims(), adaptor.getDy())))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}

LogicalResult TopKGradOp::verify() {
  ArrayRef<DimAttr> indices = getIndices().getType().getDims();
  // top_k_grad_c1, top_k_grad_c2
  if (failed(checkIndices(getLoc(), getIndices())) ||
      failed(checkShape(getLoc(), "gradient", indices, getDvalues())) ||
      failed(checkMinRank(getLoc(), "result", getDx().getType(), 1)))
    return failure();
  return checkSameShape(getLoc(), "result", // top_k_grad_c3
                        indices.drop_back(),
                        getDx().getType().getDims().drop_back());
}

/// A float for each index, if there are weights.
static LogicalResult checkWeights(std::optional<Location> loc, Value indices,
                                  Value weights) {
  if (!weights)
    return success();
  return success(succeeded(checkShape(loc, "weight operand",
                                      tensorOf(indices).getDims(), weights)) &&
                 succeeded(checkFloat(loc, "weight operand", weights)));
}

Value stg::getChoices(DispatchOp dispatch) {
  Value choices = dispatch.getIndices();
  while (auto shaped = choices.getDefiningOp<RearrangeOp>())
    choices = shaped.getInput();
  return choices;
}

LogicalResult DispatchOp::verify() {
  SymTensorType tokens = getTokens().getType(), result = getResult().getType();
  ArrayRef<DimAttr> indices = getIndices().getType().getDims();
  if (failed(checkMinRank(getLoc(), "token operand", tokens, 1)) ||
      failed(checkIndices(getLoc(), getIndices())) || // dispatch_c1
      failed(checkSameShape(getLoc(), "index rows",
                            tokens.getDims().drop_back(),
                            indices.drop_back())) ||
      failed(checkBuffers(getLoc(), "result", getResult())) || // dispatch_c2
      failed(checkWeights(getLoc(), getIndices(),
                          getWeights()))) // dispatch_c3
    return failure();
  SymExpr width = tokens.getShape().back(), found = result.getShape().back();
  if (found != width)
    return emitOpError("has a result of width ")
           << found << ", expected that of the tokens, " << width;
  if (failed(checkSameShape(getLoc(), "result width", // dispatch_c3
                            tokens.getDims().take_back(),
                            result.getDims().take_back(), getTokens(),
                            getResult())))
    return failure();
  if (result.getElementType() != tokens.getElementType())
    return emitOpError("has a result of element type ")
           << result.getElementType() << ", expected that of the tokens, "
           << tokens.getElementType();
  return success();
}

LogicalResult DispatchGradOp::verify() {
  // dispatch_grad_c1, dispatch_grad_c2
  if (failed(checkBuffers(getLoc(), "gradient", getDresult())) ||
      failed(checkIndices(getLoc(), getIndices())))
    return failure();
  DimAttr width = getDresult().getType().getDims().back();
  return checkShape(getLoc(), "result", // dispatch_grad_c3
                    withLast(getIndices().getType().getDims(), width),
                    getDtokens());
}

LogicalResult DispatchWeightsGradOp::verify() {
  // dispatch_weights_grad_c1, dispatch_weights_grad_c2
  if (failed(checkBuffers(getLoc(), "gradient", getDresult())) ||
      failed(checkIndices(getLoc(), getIndices())))
    return failure();
  ArrayRef<DimAttr> indices = getIndices().getType().getDims();
  DimAttr width = getDresult().getType().getDims().back();
  return success(
      succeeded(checkShape(getLoc(), "token operand", // c3
                           withLast(indices, width), getTokens())) &&
      succeeded(checkShape(getLoc(), "result", indices, getDweights()))); // c4
}

/// The type of what `stg.combine` gives for these operands.
static FailureOr<SymTensorType> getCombined(std::optional<Location> loc,
                                            Value outputs, Value indices,
                                            Value weights) {
  // combine_c1, combine_c2, combine_c3
  if (failed(checkBuffers(loc, "expert output operand", outputs)) ||
      failed(checkIndices(loc, indices)) ||
      failed(checkWeights(loc, indices, weights)))
    return failure();
  SymTensorType type = tensorOf(outputs);
  return SymTensorType::get(
      type.getContext(),
      withLast(tensorOf(indices).getDims(), type.getDims().back()),
      type.getElementType());
}

LogicalResult CombineOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  FailureOr<SymTensorType> type = getCombined(
      loc, adaptor.getOutputs(), adaptor.getIndices(), adaptor.getWeights());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult CombineGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  FailureOr<SymTensorType> forward = getCombined(
      loc, adaptor.getOutputs(), adaptor.getIndices(), adaptor.getWeights());
  if (failed(forward) ||
      failed(checkShape(loc, "gradient", // combine_grad_c4
                        forward->getDims(), adaptor.getDy())))
    return failure();
  types.append({tensorOf(adaptor.getOutputs()).withoutSharding(),
                tensorOf(adaptor.getWeights()).withoutSharding()});
  return success();
}

LogicalResult CountIndicesOp::verify() {
  ArrayRef<DimAttr> indices = getIndices().getType().getDims();
  ArrayRef<DimAttr> result = getType().getDims();
  if (failed(checkIndices(getLoc(), getIndices()))) // count_indices_c1
    return failure();
  if (result.empty() || result.size() > indices.size()) // count_indices_c2
    return emitOpError("has a result of rank ")
           << result.size() << ", expected 1 to " << indices.size()
           << ": the first dimensions of the indices, and their values";
  if (getOwn() && result.size() != 1) // count_indices_c3
    return emitOpError("counts a device's own samples together, but has a "
                       "result of rank ")
           << result.size() << ", expected 1";
  return checkSameShape(getLoc(), "result",
                        indices.take_front(result.size() - 1),
                        result.drop_back(), getIndices(), getResult());
}

/// Counts of rows, or of several rows together.
static LogicalResult checkCounts(std::optional<Location> loc, Value counts,
                                 ArrayRef<DimAttr> scores) {
  ArrayRef<DimAttr> dims = tensorOf(counts).getDims();
  if (dims.empty() || dims.size() > scores.size())
    return emitOptionalError(loc, "counts have rank ", dims.size(),
                             ", expected 1 to ", scores.size());
  SmallVector<DimAttr> expected(scores.take_front(dims.size() - 1));
  expected.push_back(scores.back());
  return checkSameShape(loc, "counts", expected, dims);
}

LogicalResult BalanceLossOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  SymTensorType scores = tensorOf(adaptor.getScores());
  // balance_loss_c1, balance_loss_c2
  if (failed(checkMinRank(loc, "score operand", scores, 1)) ||
      failed(checkFloat(loc, "score operand", adaptor.getScores())) ||
      failed(checkCounts(loc, adaptor.getCounts(), scores.getDims())))
    return failure();
  types.push_back(SymTensorType::get(context, scores.getDims().drop_back(),
                                     Float32Type::get(context)));
  return success();
}

LogicalResult BalanceLossGradOp::verify() {
  ArrayRef<DimAttr> scores = getDscores().getType().getDims();
  // balance_loss_grad_c1, balance_loss_grad_c2
  return success(
      succeeded(checkMinRank(getLoc(), "result", getDscores().getType(), 1)) &&
      succeeded(checkCounts(getLoc(), getCounts(), scores)) &&
      succeeded(
          checkShape(getLoc(), "gradient", scores.drop_back(), getDloss())));
}

LogicalResult ZLossOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  SymTensorType logits = tensorOf(adaptor.getLogits());
  if (failed(checkMinRank(loc, "operand", logits, 1)) ||       // z_loss_c1
      failed(checkFloat(loc, "operand", adaptor.getLogits()))) // z_loss_c2
    return failure();
  types.append(2, SymTensorType::get(context, logits.getDims().drop_back(),
                                     Float32Type::get(context)));
  return success();
}

LogicalResult ZLossGradOp::verify() {
  SymTensorType logits = getLogits().getType();
  // z_loss_grad_c1, z_loss_grad_c2
  if (failed(checkMinRank(getLoc(), "operand", logits, 1)))
    return failure();
  ArrayRef<DimAttr> rows = logits.getDims().drop_back();
  return success(
      succeeded(
          checkShape(getLoc(), "result", logits.getDims(), getDlogits())) &&
      succeeded(checkShape(getLoc(), "log-sum-exp", rows, getLse())) &&
      succeeded(checkShape(getLoc(), "gradient", rows, getDloss())));
}

LogicalResult AuxiliaryLossOp::verify() {
  if (getWeight().isZero()) // auxiliary_loss_c2
    return emitOpError("has weight 0, expected another one; without the op "
                       "there is no loss");
  return checkFloat(getLoc(), "operand", getValue()); // auxiliary_loss_c1
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static OpCost makeMove(Operation *op, SymExpr bytes) {
  return {SymExpr::get(op->getContext(), 0), bytes, false};
}

/// Per token, expert of the token and element: `indices` has an element for
/// each token and expert of it, and the buffers have the width of a token.
static SymExpr copiedElements(Value indices, Value buffers) {
  return elements(indices) * tensorOf(buffers).getShape().back();
}

/// Maximum, difference, exponential, sum, quotient.
OpCost SoftmaxOp::getCost() {
  return makeCost(*this, elements(getInput()) * 5);
}

/// p * (dp - sum(p*dp)): two products, sum, difference.
OpCost SoftmaxGradOp::getCost() {
  return makeCost(*this, elements(getProbs()) * 4);
}

OpCost TopKOp::getCost() {
  SymExpr all = elements(getInput());
  SymExpr operations = all * getK().getExtent();
  if (getGroups()) {
    SymExpr rows = all.exactDiv(getInput().getType().getShape().back());
    operations = operations + all * 2 + rows * *getGroups() * *getLimit();
  }
  return makeCost(*this, operations);
}

OpCost TakeOp::getCost() {
  // What is not taken is not read.
  SymExpr bytes =
      getIndices().getType().getNumBytes() + getType().getNumBytes() * 2;
  return makeMove(*this, bytes);
}

/// Divisions by sums of rows or columns.
static SymExpr countDivisions(SymExpr iterations) { return iterations * 2 - 1; }

OpCost BalanceOp::getCost() {
  return makeCost(*this,
                  elements(getInput()) * countDivisions(getIterations()) * 2);
}

/// Sum and quotient once more; then product, its sum, difference, quotient.
OpCost BalanceGradOp::getCost() {
  return makeCost(*this,
                  elements(getInput()) * countDivisions(getIterations()) * 6);
}

/// Sum and quotient.
OpCost DivideBySumOp::getCost() {
  return makeCost(*this, elements(getInput()) * 2);
}

OpCost DivideBySumGradOp::getCost() {
  return makeCost(*this, elements(getQuotient()) * 4);
}

OpCost TopKGradOp::getCost() {
  return makeMove(*this, getOperandAndResultBytes(*this));
}

/// Reads one row for each that it writes, not the tokens once.
OpCost DispatchOp::getCost() {
  SymTensorType result = getResult().getType();
  SymExpr bytes =
      getIndices().getType().getNumBytes() + result.getNumBytes() * 2;
  if (!getWeights())
    return makeMove(*this, bytes);
  return {result.getNumElements(), bytes + tensorOf(getWeights()).getNumBytes(),
          false};
}

/// The rows of gradients and tokens are read, product and sum.
OpCost DispatchWeightsGradOp::getCost() {
  return makeCost(*this, copiedElements(getIndices(), getDresult()) * 2);
}

OpCost DispatchGradOp::getCost() {
  return makeCost(*this, copiedElements(getIndices(), getDresult()));
}

OpCost CombineOp::getCost() {
  return makeCost(*this, copiedElements(getIndices(), getOutputs()) *
                             (getWeights() ? 2 : 1));
}

OpCost CombineGradOp::getCost() {
  return makeCost(*this, copiedElements(getIndices(), getOutputs()) * 3);
}

OpCost CountIndicesOp::getCost() {
  return makeCost(*this, elements(getIndices()));
}

/// Product and sum.
OpCost BalanceLossOp::getCost() {
  return makeCost(*this, elements(getScores()) * 2);
}

OpCost BalanceLossGradOp::getCost() {
  return makeCost(*this, elements(getDscores()));
}

OpCost ZLossOp::getCost() {
  return makeCost(*this, elements(getLogits()) * 4 + elements(getLse()) * 3);
}

OpCost ZLossGradOp::getCost() {
  return makeCost(*this, elements(getLogits()) * 3 + elements(getLse()) * 2);
}

OpCost AuxiliaryLossOp::getCost() {
  SymExpr zero = SymExpr::get(getContext(), 0);
  return {zero, zero, false};
}
bool AuxiliaryLossOp::isView() { return true; }

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

/// Factors d0, d1, ... of the rows, and the last dimension, which is whole.
static TensorFactors addRowsAndWhole(ShardingRule &rule, unsigned rank,
                                     StringRef last) {
  TensorFactors tensor = rule.addFactors("d", rank - 1);
  tensor.push_back({rule.addFactor(last.str(), FactorKind::Whole)});
  return tensor;
}

/// All tensors are rows with the same whole last dimension.
static ShardingRule makeRowwise(SymTensorType type, unsigned operands) {
  ShardingRule rule;
  TensorFactors tensor = addRowsAndWhole(rule, type.getRank(), "v");
  rule.operands.assign(operands, tensor);
  rule.results = {tensor};
  return rule;
}

ShardingRule SoftmaxOp::getShardingRule() { return makeRowwise(getType(), 1); }

ShardingRule SoftmaxGradOp::getShardingRule() {
  return makeRowwise(getType(), 2);
}

namespace {
/// The tensors of a router's choice: all elements of a row and the chosen ones.
struct ChoiceFactors {
  ShardingRule rule;
  TensorFactors all, chosen;

  explicit ChoiceFactors(SymTensorType type) {
    all = addRowsAndWhole(rule, type.getRank(), "x");
    chosen = all;
    chosen.back() = {rule.addFactor("a", FactorKind::Whole)};
  }
};

/// The tensors of an op between tokens and the buffers of experts. A device
/// makes the rows of its own tokens in the buffers of all experts, so the rows
/// run over all dimensions of the tokens and over their experts. Where devices
/// have the same tokens, each may have some of the experts: what experts make
/// of a token is then a sum over devices.
struct ExchangeFactors {
  ShardingRule rule;
  TensorFactors tokens, indices, buffers;

  explicit ExchangeFactors(SymTensorType indexType) {
    indices = addRowsAndWhole(rule, indexType.getRank(), "a");
    tokens = indices;
    tokens.back() = {rule.addFactor("width")};
    unsigned experts = rule.addFactor("x");
    buffers = {{experts}, {}, tokens.back()};
    for (const auto &dim : indices)
      buffers[1].push_back(dim.front());
  }
};
} // namespace

ShardingRule TopKOp::getShardingRule() {
  ChoiceFactors f(getInput().getType());
  f.rule.operands.assign(getNumOperands(), f.all);
  f.rule.results = {f.chosen, f.chosen};
  return f.rule;
}

ShardingRule DivideBySumOp::getShardingRule() {
  ShardingRule rule = makeRowwise(getResult().getType(), 1);
  TensorFactors rows = rule.operands.front();
  rows.pop_back();
  rule.results.push_back(rows);
  return rule;
}

ShardingRule DivideBySumGradOp::getShardingRule() {
  ShardingRule rule = makeRowwise(getType(), 3);
  rule.operands[1].pop_back();
  return rule;
}

ShardingRule TakeOp::getShardingRule() {
  ChoiceFactors f(getInput().getType());
  f.rule.operands = {f.all, f.chosen};
  f.rule.results = {f.chosen};
  return f.rule;
}

/// Rows and columns have to be whole.
static ShardingRule getBalanceRule(unsigned rank, unsigned numOperands) {
  ShardingRule rule;
  TensorFactors tensor = rule.addFactors("d", rank - 2);
  tensor.push_back({rule.addFactor("row", FactorKind::Whole)});
  tensor.push_back({rule.addFactor("column", FactorKind::Whole)});
  rule.operands.assign(numOperands, tensor);
  rule.results = {tensor};
  return rule;
}
ShardingRule BalanceOp::getShardingRule() {
  return getBalanceRule(getType().getRank(), 1);
}
ShardingRule BalanceGradOp::getShardingRule() {
  return getBalanceRule(getType().getRank(), 2);
}

ShardingRule TopKGradOp::getShardingRule() {
  ChoiceFactors f(getType());
  f.rule.operands = {f.chosen, f.chosen};
  f.rule.results = {f.all};
  return f.rule;
}

ShardingRule DispatchOp::getShardingRule() {
  ExchangeFactors f(getIndices().getType());
  f.rule.operands = {f.tokens, f.indices};
  if (getWeights())
    f.rule.operands.push_back(f.indices);
  f.rule.results = {f.buffers};
  return f.rule;
}

LogicalResult
DispatchOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  ArrayAttr axes = getAxes("x");
  if (!axes.empty())
    setDividedOverAttr(axes);
  return success();
}

ShardingRule DispatchGradOp::getShardingRule() {
  ExchangeFactors f(getIndices().getType());
  f.rule.operands = {f.buffers, f.indices};
  f.rule.results = {f.tokens};
  return f.rule;
}

ShardingRule DispatchWeightsGradOp::getShardingRule() {
  ExchangeFactors f(getIndices().getType());
  f.rule.operands = {f.buffers, f.indices, f.tokens};
  f.rule.results = {f.indices};
  return f.rule;
}

ShardingRule CombineOp::getShardingRule() {
  ExchangeFactors f(getIndices().getType());
  f.rule.operands = {f.buffers, f.indices};
  if (getWeights())
    f.rule.operands.push_back(f.indices);
  f.rule.results = {f.tokens};
  return f.rule;
}

ShardingRule CombineGradOp::getShardingRule() {
  ExchangeFactors f(getIndices().getType());
  f.rule.operands = {f.buffers, f.indices, f.indices, f.tokens};
  f.rule.results = {f.buffers, f.indices};
  return f.rule;
}

/// What is counted together is a sum over the devices that have it.
ShardingRule CountIndicesOp::getShardingRule() {
  ShardingRule rule;
  int64_t apart = getType().getRank() - 1;
  TensorFactors indices =
      rule.addFactors("d", getIndices().getType().getRank());
  TensorFactors counts(indices.begin(), indices.begin() + apart);
  counts.push_back({rule.addFactor("x", FactorKind::Whole)});
  if (getOwn())
    rule.factors[indices.front().front()].kind = FactorKind::Separate;
  rule.operands = {indices};
  rule.results = {counts};
  return rule;
}

namespace {
/// The tensors of a loss of scores and counts.
struct BalanceFactors {
  ShardingRule rule;
  TensorFactors scores, counts, rows;

  BalanceFactors(SymTensorType scoreType, SymTensorType countType) {
    scores = addRowsAndWhole(rule, scoreType.getRank(), "x");
    counts.assign(scores.begin(), scores.begin() + countType.getRank() - 1);
    counts.push_back(scores.back());
    rows.assign(scores.begin(), scores.end() - 1);
  }
};
} // namespace

ShardingRule BalanceLossOp::getShardingRule() {
  BalanceFactors f(getScores().getType(), getCounts().getType());
  f.rule.operands = {f.scores, f.counts};
  f.rule.results = {f.rows};
  return f.rule;
}

ShardingRule BalanceLossGradOp::getShardingRule() {
  BalanceFactors f(getDscores().getType(), getCounts().getType());
  f.rule.operands = {f.counts, f.rows};
  f.rule.results = {f.scores};
  return f.rule;
}

ShardingRule ZLossOp::getShardingRule() {
  ShardingRule rule = makeRowwise(getLogits().getType(), 1);
  TensorFactors rows = rule.operands.front();
  rows.pop_back();
  rule.results = {rows, rows};
  return rule;
}

ShardingRule ZLossGradOp::getShardingRule() {
  ShardingRule rule = makeRowwise(getLogits().getType(), 1);
  TensorFactors rows = rule.operands.front();
  rows.pop_back();
  rule.operands.append({rows, rows});
  return rule;
}

ShardingRule AuxiliaryLossOp::getShardingRule() {
  ShardingRule rule;
  rule.operands = {rule.addFactors("d", getValue().getType().getRank())};
  return rule;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<SoftmaxGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              getResult(), gradient.getResultGradient(0)));
  return success();
}

LogicalResult DivideBySumOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1))
    return emitOpError("cannot be differentiated through its sums");
  gradient.addGradient(0, gradient.create<DivideBySumGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              getResult(), getSum(),
                              gradient.getResultGradient(0)));
  return success();
}

LogicalResult TopKOp::buildGradient(GradientBuilder &gradient) {
  if (!gradient.needsGradient(0) || !gradient.getResultGradient(0))
    return success();
  gradient.addGradient(0, gradient.create<TopKGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              getIndices(), gradient.getResultGradient(0)));
  return success();
}

LogicalResult TakeOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.needsGradient(0))
    gradient.addGradient(0, gradient.create<TopKGradOp>(
                                std::nullopt, gradient.getGradientType(0),
                                getIndices(), gradient.getResultGradient(0)));
  return success();
}

LogicalResult BalanceOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<BalanceGradOp>(
                              std::nullopt, getInput(),
                              gradient.getResultGradient(0), getIterations()));
  return success();
}

/// Scaled copies are gathered as outputs of experts are.
LogicalResult DispatchOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (getWeights()) {
    if (gradient.needsGradient(0))
      gradient.addGradient(0, gradient.create<CombineOp>(
                                  Role::Dlhs, dy, getIndices(), getWeights()));
    if (gradient.needsGradient(2))
      gradient.addGradient(2, gradient.create<DispatchWeightsGradOp>(
                                  Role::Drhs, gradient.getGradientType(2), dy,
                                  getIndices(), getTokens()));
    return success();
  }
  gradient.addGradient(0, gradient.create<DispatchGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              gradient.getResultGradient(0), getIndices()));
  return success();
}

/// Without weights the gradient of each output is that of its token.
LogicalResult CombineOp::buildGradient(GradientBuilder &gradient) {
  if (!getWeights()) {
    gradient.addGradient(0, gradient.create<DispatchOp>(
                                std::nullopt, gradient.getGradientType(0),
                                gradient.getResultGradient(0), getIndices(),
                                Value(), ArrayAttr()));
    return success();
  }
  auto op = gradient.create<CombineGradOp>(std::nullopt, getOutputs(),
                                           getIndices(), getWeights(),
                                           gradient.getResultGradient(0));
  if (gradient.needsGradient(0))
    gradient.addGradient(0, op.getDoutputs());
  if (gradient.needsGradient(2))
    gradient.addGradient(2, op.getDweights());
  return success();
}

LogicalResult BalanceLossOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<BalanceLossGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              getCounts(), gradient.getResultGradient(0)));
  return success();
}

LogicalResult ZLossOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1))
    return emitOpError("cannot be differentiated through its log-sum-exp");
  gradient.addGradient(
      0, gradient.create<ZLossGradOp>(std::nullopt, gradient.getGradientType(0),
                                      getLogits(), getLse(),
                                      gradient.getResultGradient(0)));
  return success();
}
