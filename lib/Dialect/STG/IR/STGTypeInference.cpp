//===- STGTypeInference.cpp - Result types and shape checks of compute ops ===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Result types follow from operands and attributes; ops with written result
// types check them. Messages name what was expected and what was found, as
// expressions in symbols.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

LogicalResult stg::detail::checkSameShape(std::optional<Location> loc,
                                          StringRef what,
                                          ArrayRef<SymExpr> expected,
                                          ArrayRef<SymExpr> found) {
  if (expected.size() != found.size())
    return emitOptionalError(loc, what, " has rank ", found.size(),
                             ", expected ", expected.size());
  for (auto [dim, pair] : llvm::enumerate(llvm::zip_equal(expected, found)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return emitOptionalError(loc, what, " has extent ",
                               std::get<1>(pair).str(), " in dimension ", dim,
                               ", expected ", std::get<0>(pair).str());
  return success();
}

LogicalResult stg::detail::checkMinRank(std::optional<Location> loc,
                                        StringRef what, SymTensorType type,
                                        int64_t rank) {
  if (type.getRank() >= rank)
    return success();
  return emitOptionalError(loc, what, " has rank ", type.getRank(),
                           ", expected at least ", rank);
}

LogicalResult stg::detail::checkIntegers(std::optional<Location> loc,
                                         StringRef what, SymTensorType type) {
  if (type.getElementType().isInteger())
    return success();
  return emitOptionalError(loc, what, " has element type ",
                           type.getElementType(), ", expected an integer");
}

namespace {
/// What a value is called in messages and the shape that it must have.
struct ExpectedShape {
  StringRef what;
  ArrayRef<SymExpr> shape;
  Value value;
};
} // namespace

/// The first value that has another shape is an error.
static LogicalResult checkShapes(Location loc,
                                 ArrayRef<ExpectedShape> expected) {
  return success(llvm::all_of(expected, [&](const ExpectedShape &entry) {
    return succeeded(checkSameShape(loc, entry.what, entry.shape,
                                    tensorOf(entry.value).getShape()));
  }));
}

static Type f32(MLIRContext *context) { return Float32Type::get(context); }

/// `type` with this shape and no sharding.
static SymTensorType makeTensor(ArrayRef<SymExpr> shape, Type elementType) {
  return SymTensorType::get(elementType.getContext(), shape, elementType);
}

/// The rows of `type`: its shape without the last dimension, in fp32.
static SymTensorType rowsOf(SymTensorType type) {
  return makeTensor(type.getShape().drop_back(), f32(type.getContext()));
}

//===----------------------------------------------------------------------===//
// EinsumOp
//===----------------------------------------------------------------------===//

FailureOr<EinsumEquation> EinsumEquation::parse(StringRef text,
                                                std::string &error) {
  auto [left, right] = text.split("->");
  EinsumEquation equation;
  equation.output = right;
  left.split(equation.inputs, ',');
  SmallVector<StringRef> terms(equation.inputs);
  terms.push_back(right);
  if (!text.contains("->")) {
    error = "has no '->'";
    return failure();
  }
  for (StringRef term : terms)
    for (auto [position, letter] : llvm::enumerate(term)) {
      if (letter < 'a' || letter > 'z') {
        error = ("has '" + Twine(letter) +
                 "', expected lower-case letters, ',' and '->'")
                    .str();
        return failure();
      }
      if (term.find(letter) != position) {
        error = ("has index '" + Twine(letter) + "' twice in term '" + term +
                 "'; give the two dimensions different indices")
                    .str();
        return failure();
      }
    }
  return equation;
}

/// Collects the extent of each index; fails where two uses disagree.
static LogicalResult
collectExtents(std::optional<Location> loc, const EinsumEquation &equation,
               ValueRange inputs, llvm::SmallDenseMap<char, SymExpr> &extents) {
  for (auto [number, input] : llvm::enumerate(inputs)) {
    StringRef term = equation.inputs[number];
    ArrayRef<SymExpr> shape = tensorOf(input).getShape();
    if (shape.size() != term.size()) // einsum_c2
      return emitOptionalError(loc, "operand #", number, " has rank ",
                               shape.size(), ", the term '", term, "' has ",
                               term.size(), " indices");
    for (auto [letter, extent] : llvm::zip_equal(term, shape)) {
      auto [it, isNew] = extents.try_emplace(letter, extent);
      if (!isNew && it->second != extent) // einsum_c3
        return emitOptionalError(loc, "index '", StringRef(&letter, 1),
                                 "' has extent ", it->second.str(), " and ",
                                 extent.str(), " in operand #", number);
    }
  }
  return success();
}

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  std::string error;
  FailureOr<EinsumEquation> equation =
      EinsumEquation::parse(adaptor.getEquation(), error);
  if (failed(equation)) // einsum_c1
    return emitOptionalError(loc, "equation '", adaptor.getEquation(), "' ",
                             error);
  if (adaptor.getInto() &&
      !SymTensorType::isValidElementType(*adaptor.getInto())) // einsum_c5
    return emitOptionalError(loc, "'into' is ", *adaptor.getInto(),
                             ", expected an integer or float of whole bytes");
  if (equation->inputs.size() != adaptor.getInputs().size())
    return emitOptionalError(loc, "equation has ", equation->inputs.size(),
                             " terms for ", adaptor.getInputs().size(),
                             " operands");
  for (auto [number, input] : llvm::enumerate(adaptor.getInputs()))
    if (!isa<FloatType>(tensorOf(input).getElementType())) // einsum_c6
      return emitOptionalError(loc, "operand #", number, " has element type ",
                               tensorOf(input).getElementType(),
                               ", expected a float");
  llvm::SmallDenseMap<char, SymExpr> extents;
  if (failed(collectExtents(loc, *equation, adaptor.getInputs(), extents)))
    return failure();
  SmallVector<SymExpr> shape;
  for (char letter : equation->output) {
    auto it = extents.find(letter);
    if (it == extents.end()) // einsum_c4
      return emitOptionalError(loc, "index '", StringRef(&letter, 1),
                               "' of the result occurs in no operand");
    shape.push_back(it->second);
  }
  Type elementType = adaptor.getInto()
                         ? *adaptor.getInto()
                         : tensorOf(adaptor.getInputs()[0]).getElementType();
  types.push_back(makeTensor(shape, elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

static LogicalResult inferPointwise(std::optional<Location> loc, Value lhs,
                                    Value rhs, SmallVectorImpl<Type> &types) {
  SymTensorType type = tensorOf(lhs), other = tensorOf(rhs);
  if (failed(checkSameShape(loc, "right operand", type.getShape(),
                            other.getShape())))
    return failure();
  if (type.getElementType() != other.getElementType())
    return emitOptionalError(loc, "right operand has element type ",
                             other.getElementType(), ", expected ",
                             type.getElementType());
  types.push_back(type.withoutSharding());
  return success();
}

LogicalResult AddOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferPointwise(loc, adaptor.getLhs(), adaptor.getRhs(), types);
}

LogicalResult AccumulateOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferPointwise(loc, adaptor.getTotal(), adaptor.getTerm(), types);
}

LogicalResult MulOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferPointwise(loc, adaptor.getLhs(), adaptor.getRhs(), types);
}

LogicalResult ActivationOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(adaptor.getInput()).withoutSharding());
  return success();
}

LogicalResult ActivationGradOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  return inferPointwise(loc, adaptor.getInput(), adaptor.getDy(), types);
}

/// The shape of a gated unit's result: the input's without the pair dimension.
static FailureOr<SymTensorType> getGluResult(std::optional<Location> loc,
                                             SymTensorType input) {
  if (failed(checkMinRank(loc, "operand", input, 2)))
    return failure();
  SmallVector<SymExpr> shape(input.getShape());
  SymExpr pair = shape[shape.size() - 2];
  if (pair.getInt64() != 2) // glu_c1
    return emitOptionalError(loc, "operand has extent ", pair.str(),
                             " in its second last dimension, expected 2: "
                             "gate and up");
  shape.erase(shape.end() - 2);
  return makeTensor(shape, input.getElementType());
}

LogicalResult GluOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  FailureOr<SymTensorType> result =
      getGluResult(loc, tensorOf(adaptor.getInput()));
  if (failed(result))
    return failure();
  types.push_back(*result);
  return success();
}

LogicalResult GluGradOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  FailureOr<SymTensorType> forward = getGluResult(loc, input);
  if (failed(forward) ||
      failed(checkSameShape(loc, "gradient", forward->getShape(),
                            tensorOf(adaptor.getDy()).getShape())))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}

//===----------------------------------------------------------------------===//
// Norms, rotary embedding, attention
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 1)) ||
      failed(checkSameShape(loc, "weight", input.getShape().take_back(1),
                            tensorOf(adaptor.getWeight()).getShape())))
    return failure();
  types.append({input.withoutSharding(), rowsOf(input)});
  return success();
}

LogicalResult RmsNormGradOp::verify() {
  SymTensorType input = getInput().getType();
  if (failed(checkMinRank(getLoc(), "operand", input, 1)))
    return failure();
  ArrayRef<SymExpr> full = input.getShape(), rows = full.drop_back(),
                    width = full.take_back(1);
  return checkShapes(getLoc(), {{"weight", width, getWeight()},
                                {"rstd", rows, getRstd()},
                                {"gradient", full, getDy()},
                                {"result #0", full, getDx()},
                                {"result #1", width, getDw()}});
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 1)) ||
      failed(checkSameShape(loc, "weight", input.getShape().take_back(1),
                            tensorOf(adaptor.getWeight()).getShape())) ||
      failed(checkSameShape(loc, "bias", input.getShape().take_back(1),
                            tensorOf(adaptor.getBias()).getShape())))
    return failure();
  types.append({input.withoutSharding(), rowsOf(input), rowsOf(input)});
  return success();
}

LogicalResult LayerNormGradOp::verify() {
  SymTensorType input = getInput().getType();
  if (failed(checkMinRank(getLoc(), "operand", input, 1)))
    return failure();
  ArrayRef<SymExpr> full = input.getShape(), rows = full.drop_back(),
                    width = full.take_back(1);
  return checkShapes(getLoc(), {{"weight", width, getWeight()},
                                {"mean", rows, getMean()},
                                {"rstd", rows, getRstd()},
                                {"gradient", full, getDy()},
                                {"result #0", full, getDx()},
                                {"result #1", width, getDw()},
                                {"result #2", width, getDb()}});
}

/// Checks that `bias` has the last dimensions of `tensor`.
static LogicalResult checkBias(std::optional<Location> loc, StringRef what,
                               SymTensorType tensor, SymTensorType bias) {
  if (failed(checkMinRank(loc, "operand", tensor, bias.getRank())))
    return failure();
  return checkSameShape(loc, what, tensor.getShape().take_back(bias.getRank()),
                        bias.getShape());
}

LogicalResult BiasAddOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  SymTensorType bias = tensorOf(adaptor.getBias());
  if (failed(checkBias(loc, "bias", input, bias))) // bias_add_c1
    return failure();
  if (input.getElementType() != bias.getElementType())
    return emitOptionalError(loc, "bias has element type ",
                             bias.getElementType(), ", expected ",
                             input.getElementType());
  types.push_back(input.withoutSharding());
  return success();
}

LogicalResult BiasGradOp::verify() { // bias_grad_c1
  return checkBias(getLoc(), "result", getDy().getType(),
                   getResult().getType());
}

LogicalResult RopeOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 3)))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}

/// Checks the extents that query, key and value share. Heads may differ.
static LogicalResult checkAttention(std::optional<Location> loc,
                                    SymTensorType query, SymTensorType key,
                                    SymTensorType value) {
  for (auto [name, type] :
       {std::pair("query", query), {"key", key}, {"value", value}})
    if (type.getRank() != 4) // attention_c1
      return emitOptionalError(loc, name, " has rank ", type.getRank(),
                               ", expected 4: batch, tokens, heads, head size");
  ArrayRef<SymExpr> q = query.getShape(), k = key.getShape();
  // attention_c2
  if (failed(checkSameShape(loc, "value", k.drop_back(),
                            value.getShape().drop_back())))
    return failure();
  if (q[0] != k[0])
    return emitOptionalError(loc, "key has batch extent ", k[0].str(),
                             ", the query has ", q[0].str());
  if (q[3] != k[3])
    return emitOptionalError(loc, "key has head size ", k[3].str(),
                             ", the query has ", q[3].str());
  SymExpr group = q[2].exactDiv(k[2]);
  std::optional<Rational> size = group ? group.getConstant() : std::nullopt;
  if (size && !size->isInteger()) // attention_c3
    return emitOptionalError(loc, "query has ", q[2].str(),
                             " heads, which the ", k[2].str(),
                             " of the key do not divide");
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType query = tensorOf(adaptor.getQuery());
  SymTensorType value = tensorOf(adaptor.getValue());
  if (failed(checkAttention(loc, query, tensorOf(adaptor.getKey()), value)))
    return failure();
  SmallVector<SymExpr> shape(query.getShape());
  shape.back() = value.getShape().back();
  types.append({makeTensor(shape, query.getElementType()), rowsOf(query)});
  return success();
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  SymTensorType query = tensorOf(adaptor.getQuery());
  SymTensorType key = tensorOf(adaptor.getKey());
  SymTensorType value = tensorOf(adaptor.getValue());
  ArrayRef<SymExpr> output = tensorOf(adaptor.getOutput()).getShape();
  if (failed(checkAttention(loc, query, key, value)) ||
      failed(checkSameShape(loc, "output", query.getShape().drop_back(),
                            output.drop_back())) ||
      failed(checkSameShape(loc, "gradient", output,
                            tensorOf(adaptor.getDy()).getShape())) ||
      failed(checkSameShape(loc, "log-sum-exp", query.getShape().drop_back(),
                            tensorOf(adaptor.getLse()).getShape())))
    return failure();
  types.append({query.withoutSharding(), key.withoutSharding(),
                value.withoutSharding()});
  return success();
}

//===----------------------------------------------------------------------===//
// Embedding and cross-entropy
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType table = tensorOf(adaptor.getTable());
  SymTensorType ids = tensorOf(adaptor.getIds());
  if (table.getRank() != 2) // embedding_c1
    return emitOptionalError(loc, "table has rank ", table.getRank(),
                             ", expected 2: vocabulary and embedding size");
  if (failed(checkIntegers(loc, "token id operand", ids))) // embedding_c2
    return failure();
  SmallVector<SymExpr> shape(ids.getShape());
  shape.push_back(table.getShape()[1]);
  types.push_back(makeTensor(shape, table.getElementType()));
  return success();
}

LogicalResult EmbeddingGradOp::verify() {
  SymTensorType dy = getDy().getType(), result = getResult().getType();
  if (failed(checkMinRank(getLoc(), "gradient", dy, 1)))
    return failure();
  if (result.getRank() != 2)
    return emitOpError("has a result of rank ")
           << result.getRank() << ", expected 2: vocabulary and embedding size";
  return success(succeeded(checkIntegers(getLoc(), "token id operand",
                                         getIds().getType())) &&
                 succeeded(checkSameShape(getLoc(), "gradient rows",
                                          getIds().getType().getShape(),
                                          dy.getShape().drop_back())) &&
                 succeeded(checkSameShape(getLoc(), "embedding size",
                                          dy.getShape().take_back(1),
                                          result.getShape().drop_front())));
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  SymTensorType logits = tensorOf(adaptor.getLogits());
  SymTensorType labels = tensorOf(adaptor.getLabels());
  if (failed(checkMinRank(loc, "logits", logits, 1)) ||
      failed(checkSameShape(loc, "labels", logits.getShape().drop_back(),
                            labels.getShape())) ||
      failed(checkIntegers(loc, "label operand", labels)))
    return failure();
  types.append({rowsOf(logits), makeTensor(logits.getShape(), f32(context))});
  return success();
}

LogicalResult CrossEntropyGradOp::verify() {
  SymTensorType probs = getProbs().getType();
  if (failed(checkMinRank(getLoc(), "softmax", probs, 1)))
    return failure();
  ArrayRef<SymExpr> full = probs.getShape(), rows = full.drop_back();
  return checkShapes(getLoc(), {{"labels", rows, getLabels()},
                                {"loss gradient", rows, getDloss()},
                                {"result", full, getDlogits()}});
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 1)))
    return failure();
  types.push_back(rowsOf(input));
  return success();
}

/// For ops with an operand that has one element per row of `input`.
static LogicalResult checkPerRow(std::optional<Location> loc, StringRef what,
                                 SymTensorType input, Value perRow) {
  if (failed(checkMinRank(loc, "operand", input, 1)))
    return failure();
  return checkSameShape(loc, what, input.getShape().drop_back(),
                        tensorOf(perRow).getShape());
}

LogicalResult ExpSumOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkPerRow(loc, "maximum", input, adaptor.getMax())))
    return failure();
  types.append({makeTensor(input.getShape(), f32(context)), rowsOf(input)});
  return success();
}

LogicalResult PickOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkPerRow(loc, "index", input, adaptor.getIndex())) ||
      failed(checkIntegers(loc, "index", tensorOf(adaptor.getIndex()))))
    return failure();
  types.push_back(rowsOf(input));
  return success();
}

LogicalResult NllOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  SymTensorType sum = tensorOf(adaptor.getSum());
  if (failed(checkSameShape(loc, "maximum", sum.getShape(),
                            tensorOf(adaptor.getMax()).getShape())) ||
      failed(checkSameShape(loc, "target", sum.getShape(),
                            tensorOf(adaptor.getTarget()).getShape())))
    return failure();
  types.push_back(sum.withoutSharding());
  return success();
}

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkPerRow(loc, "sum", input, adaptor.getSum())))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}
