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

void stg::detail::noteNames(Diagnostic &diag, DimAttr dim, Value value) {
  if (value)
    diag.attachNote(value.getLoc())
        << "'" << dim.getNamesText() << "' comes from here";
}

static LogicalResult checkNames(std::optional<Location> loc, StringRef what,
                                unsigned number, DimAttr expected,
                                DimAttr found, Value expectedOf,
                                Value foundOf) {
  if (expected.hasSameNames(found))
    return success();
  if (!loc)
    return failure();
  InFlightDiagnostic diag = emitError(*loc)
                            << what << " has dimension " << number << " named '"
                            << found.getNamesText() << "', expected '"
                            << expected.getNamesText() << "'";
  noteNames(*diag.getUnderlyingDiagnostic(), expected, expectedOf);
  noteNames(*diag.getUnderlyingDiagnostic(), found, foundOf);
  return diag;
}

LogicalResult stg::detail::checkSameShape(std::optional<Location> loc,
                                          StringRef what,
                                          ArrayRef<DimAttr> expected,
                                          ArrayRef<DimAttr> found,
                                          Value expectedOf, Value foundOf) {
  if (expected.size() != found.size())
    return emitOptionalError(loc, what, " has rank ", found.size(),
                             ", expected ", expected.size());
  for (auto [number, pair] :
       llvm::enumerate(llvm::zip_equal(expected, found))) {
    auto [expectedDim, dim] = pair;
    if (expectedDim.getExtent() != dim.getExtent())
      return emitOptionalError(loc, what, " has extent ", dim.getExtent().str(),
                               " in dimension ", number, ", expected ",
                               expectedDim.getExtent().str());
    if (failed(checkNames(loc, what, number, expectedDim, dim, expectedOf,
                          foundOf)))
      return failure();
  }
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
  ArrayRef<DimAttr> shape;
  Value value;
};
} // namespace

/// The first value that has another shape is an error; what is expected follows
/// from `source`.
static LogicalResult checkShapes(Location loc, Value source,
                                 ArrayRef<ExpectedShape> expected) {
  return success(llvm::all_of(expected, [&](const ExpectedShape &entry) {
    return succeeded(checkSameShape(loc, entry.what, entry.shape,
                                    tensorOf(entry.value).getDims(), source,
                                    entry.value));
  }));
}

static Type f32(MLIRContext *context) { return Float32Type::get(context); }

/// `type` with this shape and no sharding.
static SymTensorType makeTensor(ArrayRef<DimAttr> shape, Type elementType) {
  return SymTensorType::get(elementType.getContext(), shape, elementType);
}

/// The rows of `type`: its shape without the last dimensions, in fp32.
static SymTensorType rowsOf(SymTensorType type, unsigned width = 1) {
  return makeTensor(type.getDims().drop_back(width), f32(type.getContext()));
}

//===----------------------------------------------------------------------===//
// EinsumOp
//===----------------------------------------------------------------------===//

llvm::Expected<EinsumEquation> EinsumEquation::parse(StringRef text) {
  auto [left, right] = text.split("->");
  EinsumEquation equation;
  equation.output = right;
  left.split(equation.inputs, ',');
  SmallVector<StringRef> terms(equation.inputs);
  terms.push_back(right);
  if (!text.contains("->"))
    return llvm::createStringError("has no '->'");
  for (StringRef term : terms)
    for (auto [position, letter] : llvm::enumerate(term)) {
      if (letter < 'a' || letter > 'z')
        return llvm::createStringError(
            "has '" + Twine(letter) +
            "', expected lower-case letters, ',' and '->'");
      if (term.find(letter) != position)
        return llvm::createStringError(
            "has index '" + Twine(letter) + "' twice in term '" + term +
            "'; give the two dimensions different indices");
    }
  return equation;
}

namespace {
/// What an index of an einsum is, and the operand that says so.
struct EinsumIndex {
  DimAttr dim;
  size_t operand;
};
using EinsumIndices = llvm::SmallDenseMap<char, EinsumIndex>;
} // namespace

/// One index has one extent and one name.
static LogicalResult checkIndex(std::optional<Location> loc, char letter,
                                EinsumIndex first, EinsumIndex second,
                                ValueRange inputs) {
  StringRef index(&letter, 1);
  if (first.dim.getExtent() != second.dim.getExtent()) // einsum_c3
    return emitOptionalError(
        loc, "index '", index, "' has extent ", first.dim.getExtent().str(),
        " and ", second.dim.getExtent().str(), " in operand #", second.operand);
  if (first.dim.hasSameNames(second.dim)) // einsum_c7
    return success();
  if (!loc)
    return failure();
  InFlightDiagnostic diag =
      emitError(*loc) << "index '" << index << "' is named '"
                      << first.dim.getNamesText() << "' in operand #"
                      << first.operand << " and '" << second.dim.getNamesText()
                      << "' in operand #" << second.operand;
  for (EinsumIndex use : {first, second})
    noteNames(*diag.getUnderlyingDiagnostic(), use.dim, inputs[use.operand]);
  return diag;
}

/// Collects what each index is; fails where two uses disagree.
static LogicalResult collectIndices(std::optional<Location> loc,
                                    const EinsumEquation &equation,
                                    ValueRange inputs, EinsumIndices &indices) {
  for (auto [number, input] : llvm::enumerate(inputs)) {
    StringRef term = equation.inputs[number];
    ArrayRef<DimAttr> dims = tensorOf(input).getDims();
    if (dims.size() != term.size()) // einsum_c2
      return emitOptionalError(loc, "operand #", number, " has rank ",
                               dims.size(), ", the term '", term, "' has ",
                               term.size(), " indices");
    for (auto [letter, dim] : llvm::zip_equal(term, dims)) {
      EinsumIndex use{dim, number};
      auto [it, isNew] = indices.try_emplace(letter, use);
      if (!isNew && failed(checkIndex(loc, letter, it->second, use, inputs)))
        return failure();
    }
  }
  return success();
}

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  llvm::Expected<EinsumEquation> equation =
      EinsumEquation::parse(adaptor.getEquation());
  if (!equation) // einsum_c1
    return emitOptionalError(loc, "equation '", adaptor.getEquation(), "' ",
                             llvm::toString(equation.takeError()));
  if (adaptor.getInto() &&
      (isa<Float4E2M1FNType>(*adaptor.getInto()) ||
       !SymTensorType::isValidElementType(*adaptor.getInto()))) // einsum_c5
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
  EinsumIndices indices;
  if (failed(collectIndices(loc, *equation, adaptor.getInputs(), indices)))
    return failure();
  SmallVector<DimAttr> dims;
  for (char letter : equation->output) {
    auto it = indices.find(letter);
    if (it == indices.end()) // einsum_c4
      return emitOptionalError(loc, "index '", StringRef(&letter, 1),
                               "' of the result occurs in no operand");
    dims.push_back(it->second.dim);
  }
  Type elementType = adaptor.getInto()
                         ? *adaptor.getInto()
                         : tensorOf(adaptor.getInputs()[0]).getElementType();
  types.push_back(makeTensor(dims, elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  SymTensorType from = getInput().getType(), to = getType();
  if (failed(checkSameShape(getLoc(), "result", from.getDims(), to.getDims(),
                            getInput(), getResult()))) // cast_c1
    return failure();
  for (SymTensorType type : {from, to})
    if (!isa<FloatType>(type.getElementType()) && // cast_c2
        !(type == from && isa<ScaledType>(type.getElementType())))
      return emitOpError("expects floats, found element type ")
             << type.getElementType();
  return success();
}

LogicalResult DequantizeOp::verify() {
  SymTensorType from = getInput().getType(), to = getType();
  if (failed(checkSameShape(getLoc(), "result", from.getDims(), to.getDims(),
                            getInput(), getResult()))) // dequantize_c1
    return failure();
  if (!isa<ScaledType>(from.getElementType()) || // dequantize_c2
      !isa<FloatType>(to.getElementType()))
    return emitOpError("expects an operand of '!stg.scaled' and a float as "
                       "result, found ")
           << from << " and " << to;
  return success();
}

/// The shape of a gated unit's result: the input's without the pair dimension.
static FailureOr<SymTensorType> getGluResult(std::optional<Location> loc,
                                             SymTensorType input) {
  if (failed(checkMinRank(loc, "operand", input, 2)))
    return failure();
  SmallVector<DimAttr> shape(input.getDims());
  SymExpr pair = shape[shape.size() - 2].getExtent();
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
  if (adaptor.getClamped() && adaptor.getLimited()) // glu_c2
    return emitOptionalError(loc, "is clamped and limited, expected one");
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
      failed(checkSameShape(loc, "gradient", forward->getDims(),
                            tensorOf(adaptor.getDy()).getDims(),
                            adaptor.getInput(), adaptor.getDy())))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}

//===----------------------------------------------------------------------===//
// Norms, rotary embedding, attention
//===----------------------------------------------------------------------===//

unsigned stg::getNormWidth(SymTensorType input, Value weight) {
  int64_t rank = weight ? tensorOf(weight).getRank() : 0;
  return rank > 0 && rank < input.getRank() ? rank : 1;
}

/// Checks the numbers of an activation against the function that has them.
static LogicalResult checkNumbers(std::optional<Location> loc, Value input,
                                  Value numbers, LearnedActivation function) {
  SymTensorType type = tensorOf(numbers);
  int64_t count = function == LearnedActivation::Xielu ? 2 : 1;
  if (type.getRank() != 1 ||
      type.getDims().front().getExtent().getInt64() != count)
    return emitOptionalError(loc, "has numbers ", type, ", expected ", count,
                             " of ", stringifyLearnedActivation(function));
  Type element = tensorOf(input).getElementType();
  if (type.getElementType() != element)
    return emitOptionalError(loc, "has numbers of type ", type.getElementType(),
                             ", expected ", element);
  return success();
}

LogicalResult LearnedActivationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  // Types are inferred before attributes are verified.
  if (!adaptor.getFunctionAttr())
    return emitOptionalError(loc, "requires attribute 'function'");
  if (failed(checkNumbers(loc, adaptor.getInput(), adaptor.getNumbers(),
                          adaptor.getFunction()))) // learned_activation_c1
    return failure();
  types.push_back(tensorOf(adaptor.getInput()).withoutSharding());
  return success();
}

LogicalResult LearnedActivationGradOp::verify() {
  ArrayRef<DimAttr> full = getInput().getType().getDims();
  if (failed(checkNumbers(getLoc(), getInput(), getNumbers(),
                          getFunction()))) // learned_activation_grad_c1
    return failure();
  if (failed(checkShapes(
          getLoc(), getNumbers(),
          {{"result #1", getNumbers().getType().getDims(), getDnumbers()}})))
    return failure();
  return checkShapes(
      getLoc(), getInput(),
      {{"gradient", full, getDy()}, {"result #0", full, getDx()}});
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  Value weight = adaptor.getWeight();
  if (failed(checkMinRank(loc, "operand", input, 1)))
    return failure();
  unsigned width = getNormWidth(input, weight);
  if (weight && failed(checkSameShape(
                    loc, "weight", input.getDims().take_back(width),
                    tensorOf(weight).getDims(), adaptor.getInput(), weight)))
    return failure();
  types.append({input.withoutSharding(), rowsOf(input, width)});
  return success();
}

LogicalResult RmsNormGradOp::verify() {
  SymTensorType input = getInput().getType();
  if (failed(checkMinRank(getLoc(), "operand", input, 1)))
    return failure();
  if (!getWeight() != !getDw()) // rms_norm_grad_c2
    return emitOpError("has ")
           << (getWeight() ? "a weight and no gradient of it"
                           : "no weight and a gradient of one");
  unsigned rank = getNormWidth(input, getWeight());
  ArrayRef<DimAttr> full = input.getDims(), rows = full.drop_back(rank),
                    width = full.take_back(rank);
  if (getWeight() && failed(checkShapes(getLoc(), getInput(),
                                        {{"weight", width, getWeight()},
                                         {"result #1", width, getDw()}})))
    return failure();
  return checkShapes(getLoc(), getInput(),
                     {{"rstd", rows, getRstd()},
                      {"gradient", full, getDy()},
                      {"result #0", full, getDx()}});
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  ValueRange parameters = adaptor.getParameters();
  if (failed(checkMinRank(loc, "operand", input, 1)))
    return failure();
  if (parameters.size() > 2) // layer_norm_c2
    return emitOptionalError(loc, "has ", parameters.size(),
                             " parameters, expected a weight and a bias");
  for (auto [number, value] : llvm::enumerate(parameters)) // layer_norm_c1
    if (failed(checkSameShape(
            loc, number == 0 ? "weight" : "bias", input.getDims().take_back(1),
            tensorOf(value).getDims(), adaptor.getInput(), value)))
      return failure();
  types.append({input.withoutSharding(), rowsOf(input), rowsOf(input)});
  return success();
}

LogicalResult LayerNormGradOp::verify() {
  SymTensorType input = getInput().getType();
  if (failed(checkMinRank(getLoc(), "operand", input, 1)))
    return failure();
  ArrayRef<DimAttr> full = input.getDims(), rows = full.drop_back(),
                    width = full.take_back(1);
  size_t most = getWeight() ? 2 : 0;
  if (getDparameters().size() > most) // layer_norm_grad_c2
    return emitOpError("has gradients of ")
           << getDparameters().size() << " parameters, expected at most "
           << most;
  if (getWeight() && failed(checkShapes(getLoc(), getInput(),
                                        {{"weight", width, getWeight()}})))
    return failure();
  for (auto [number, value] : llvm::enumerate(getDparameters()))
    if (failed(checkShapes(
            getLoc(), getInput(),
            {{number == 0 ? "result #1" : "result #2", width, value}})))
      return failure();
  return checkShapes(getLoc(), getInput(),
                     {{"mean", rows, getMean()},
                      {"rstd", rows, getRstd()},
                      {"gradient", full, getDy()},
                      {"result #0", full, getDx()}});
}

SmallVector<unsigned> stg::getBiasDims(SymTensorType input, SymTensorType bias,
                                       DenseI64ArrayAttr dims) {
  if (dims)
    return SmallVector<unsigned>(dims.asArrayRef());
  return llvm::to_vector(
      llvm::seq<unsigned>(input.getRank() - bias.getRank(), input.getRank()));
}

/// Checks that `bias` has those dimensions of `tensor`, or the last ones.
static LogicalResult checkBias(std::optional<Location> loc, StringRef what,
                               Value tensor, Value bias,
                               DenseI64ArrayAttr dims) {
  SymTensorType type = tensorOf(tensor);
  int64_t rank = tensorOf(bias).getRank();
  if (failed(checkMinRank(loc, "operand", type, rank)))
    return failure();
  int64_t previous = -1;
  for (int64_t dim : dims ? dims.asArrayRef() : ArrayRef<int64_t>()) {
    if (dim <= previous || dim >= type.getRank()) // bias_add_c2
      return emitOptionalError(loc, "'dims' has ", dim,
                               ", expected dimensions of the operand, which "
                               "has rank ",
                               type.getRank(), ", in ascending order");
    previous = dim;
  }
  if (dims && dims.size() != rank)
    return emitOptionalError(loc, "'dims' names ", dims.size(),
                             " dimensions, but the ", what, " has rank ", rank);
  SmallVector<DimAttr> expected;
  for (unsigned dim : getBiasDims(type, tensorOf(bias), dims))
    expected.push_back(type.getDim(dim));
  return checkSameShape(loc, what, expected, tensorOf(bias).getDims(), tensor,
                        bias);
}

LogicalResult BiasAddOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  SymTensorType bias = tensorOf(adaptor.getBias());
  if (failed(checkBias(loc, "bias", adaptor.getInput(), adaptor.getBias(),
                       adaptor.getDimsAttr()))) // bias_add_c1
    return failure();
  if (input.getElementType() != bias.getElementType())
    return emitOptionalError(loc, "bias has element type ",
                             bias.getElementType(), ", expected ",
                             input.getElementType());
  types.push_back(input.withoutSharding());
  return success();
}

LogicalResult BiasGradOp::verify() { // bias_grad_c1
  return checkBias(getLoc(), "result", getDy(), getResult(), getDimsAttr());
}

LogicalResult RopeOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkMinRank(loc, "operand", input, 3)))
    return failure();
  SymExpr rotated = adaptor.getRotatedAttr();
  SymExpr extent = input.getShape().back();
  std::optional<Rational> part = rotated ? rotated.getConstant() : std::nullopt;
  std::optional<Rational> all = extent.getConstant();
  if (part &&
      (!part->isInteger() || *part < 1 || (all && *all < *part))) // rope_c2
    return emitOptionalError(loc, "rotates ", rotated.str(), " of ",
                             extent.str(), " elements, expected 1 to ",
                             extent.str());
  types.push_back(input.withoutSharding());
  return success();
}

/// Checks the dimensions that query, key and value share. Heads may differ, and
/// so may the names of their tokens.
static LogicalResult checkAttention(std::optional<Location> loc,
                                    ArrayRef<Value> values) {
  SymTensorType query = tensorOf(values[0]), key = tensorOf(values[1]),
                value = tensorOf(values[2]);
  for (auto [name, type] :
       {std::pair("query", query), {"key", key}, {"value", value}})
    if (type.getRank() != 4) // attention_c1
      return emitOptionalError(loc, name, " has rank ", type.getRank(),
                               ", expected 4: batch, tokens, heads, head size");
  ArrayRef<DimAttr> q = query.getDims(), k = key.getDims();
  // attention_c2
  if (failed(checkSameShape(loc, "value", k.drop_back(),
                            value.getDims().drop_back(), values[1], values[2])))
    return failure();
  ExtentRange queries = query.getShape(), keys = key.getShape();
  if (queries[0] != keys[0])
    return emitOptionalError(loc, "key has batch extent ", keys[0].str(),
                             ", the query has ", queries[0].str());
  if (queries[3] != keys[3])
    return emitOptionalError(loc, "key has head size ", keys[3].str(),
                             ", the query has ", queries[3].str());
  for (unsigned dim : {0u, 3u}) // attention_c4
    if (failed(
            checkNames(loc, "key", dim, q[dim], k[dim], values[0], values[1])))
      return failure();
  SymExpr group = queries[2].exactDiv(keys[2]);
  std::optional<Rational> size = group ? group.getConstant() : std::nullopt;
  if (size && !size->isInteger()) // attention_c3
    return emitOptionalError(loc, "query has ", queries[2].str(),
                             " heads, which the ", keys[2].str(),
                             " of the key do not divide");
  return success();
}

LogicalResult stg::detail::checkSinks(std::optional<Location> loc, Value query,
                                      Value sinks) {
  if (!sinks)
    return success();
  if (!isa<FloatType>(tensorOf(sinks).getElementType())) // attention_c7
    return emitOptionalError(loc, "sinks have element type ",
                             tensorOf(sinks).getElementType(),
                             ", expected a float");
  return checkSameShape(loc, "sinks", tensorOf(query).getDims().slice(2, 1),
                        tensorOf(sinks).getDims(), query, sinks);
}

/// Checks that a bias is for the heads, queries and keys, of all sequences or
/// of each.
static LogicalResult checkScoreBias(std::optional<Location> loc, Value bias,
                                    Value query, Value key) {
  if (!bias)
    return success();
  ArrayRef<DimAttr> dims = tensorOf(bias).getDims();
  if (dims.size() == 4) { // attention_c7
    if (failed(checkSameShape(loc, "bias",
                              tensorOf(query).getDims().take_front(),
                              dims.take_front(), query, bias)))
      return failure();
    dims = dims.drop_front();
  }
  for (auto [what, dim, expected] :
       {std::tuple("heads", dims[0], tensorOf(query).getDim(2)),
        {"queries", dims[1], tensorOf(query).getDim(1)},
        {"keys", dims[2], tensorOf(key).getDim(1)}})
    if (dim.getExtent() != expected.getExtent())
      return emitOptionalError(loc, "bias has ", dim.getExtent().str(), " ",
                               what, ", expected ", expected.getExtent().str());
  return success();
}

/// Keys that are selected for each sequence and query, as integers.
static LogicalResult checkSelected(std::optional<Location> loc, Value selected,
                                   Value query) {
  return selected ? checkSameShape(loc, "selected keys", // attention_c9
                                   tensorOf(query).getDims().take_front(2),
                                   tensorOf(selected).getDims().take_front(2),
                                   query, selected)
                  : success();
}

namespace {
/// What `stg.attention` reads beside queries, keys and values.
enum class AttentionTerm { Sinks, Bias, Selected };
} // namespace

/// Sinks have one dimension, a bias three or four, of floats, and selected keys
/// three, of integers.
static AttentionTerm getTermKind(Value term) {
  SymTensorType type = tensorOf(term);
  bool isFloat = isa<FloatType>(type.getElementType());
  if (type.getRank() == 3)
    return isFloat ? AttentionTerm::Bias : AttentionTerm::Selected;
  return type.getRank() == 4 && isFloat ? AttentionTerm::Bias
                                        : AttentionTerm::Sinks;
}

/// The terms behind keys and values of blocks, if there are any.
template <typename OpTy> static ValueRange getOtherTerms(OpTy op) {
  ValueRange terms = op.getTerms();
  return op.getCompressedAttr() ? terms.drop_front(2) : terms;
}

template <typename OpTy> static Value findTerm(OpTy op, AttentionTerm kind) {
  for (Value term : getOtherTerms(op))
    if (getTermKind(term) == kind)
      return term;
  return {};
}
Value AttentionOp::getSinks() { return findTerm(*this, AttentionTerm::Sinks); }
Value AttentionOp::getBias() { return findTerm(*this, AttentionTerm::Bias); }
Value AttentionOp::getSelected() {
  return findTerm(*this, AttentionTerm::Selected);
}
Value AttentionGradOp::getBias() {
  return findTerm(*this, AttentionTerm::Bias);
}
Value AttentionGradOp::getSelected() {
  return findTerm(*this, AttentionTerm::Selected);
}
Value AttentionOp::getCompressedKey() {
  return getCompressedAttr() ? getTerms()[0] : Value();
}
Value AttentionOp::getCompressedValue() {
  return getCompressedAttr() ? getTerms()[1] : Value();
}
Value AttentionGradOp::getCompressedKey() {
  return getCompressedAttr() ? getTerms()[0] : Value();
}
Value AttentionGradOp::getCompressedValue() {
  return getCompressedAttr() ? getTerms()[1] : Value();
}

/// Checks that keys and values of blocks are like those of tokens, but for how
/// many they are.
template <typename Adaptor>
static LogicalResult checkCompressed(std::optional<Location> loc,
                                     Adaptor adaptor) {
  SymExpr size = adaptor.getCompressedAttr();
  if (!size)
    return success();
  if (adaptor.getTerms().size() < 2) // attention_c10
    return emitOptionalError(loc, "has keys of blocks, expected keys and "
                                  "values as the first two terms");
  if (isNoCount(size))
    return emitOptionalError(loc, "has keys of blocks of ", size.str(),
                             " tokens, expected at least 1");
  auto check = [&](StringRef what, Value found, Value other, DimAttr blocks) {
    SmallVector<DimAttr> expected(tensorOf(other).getDims());
    if (expected.size() == 4)
      expected[1] = blocks;
    return checkSameShape(loc, what, expected, tensorOf(found).getDims(), other,
                          found);
  };
  Value key = adaptor.getTerms()[0], value = adaptor.getTerms()[1];
  if (tensorOf(key).getRank() != 4)
    return emitOptionalError(loc, "keys of blocks have rank ",
                             tensorOf(key).getRank(),
                             ", expected 4: batch, blocks, heads, head size");
  DimAttr blocks = tensorOf(key).getDim(1);
  return failure(
      failed(check("keys of blocks", key, adaptor.getKey(), blocks)) ||
      failed(check("values of blocks", value, adaptor.getValue(), blocks)));
}

template <typename Adaptor>
static LogicalResult inferAttention(std::optional<Location> loc,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  SymTensorType query = tensorOf(adaptor.getQuery());
  SymTensorType value = tensorOf(adaptor.getValue());
  if (failed(checkAttention(
          loc, {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()})))
    return failure();
  SmallVector<DimAttr> shape(query.getDims());
  shape.back() = value.getDims().back();
  types.append({makeTensor(shape, query.getElementType()), rowsOf(query)});
  return success();
}

template <typename Adaptor>
static LogicalResult inferAttentionGrad(std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  SymTensorType query = tensorOf(adaptor.getQuery());
  SymTensorType key = tensorOf(adaptor.getKey());
  SymTensorType value = tensorOf(adaptor.getValue());
  ArrayRef<DimAttr> output = tensorOf(adaptor.getOutput()).getDims();
  if (failed(checkAttention(
          loc, {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()})) ||
      failed(checkSameShape(loc, "output", query.getDims().drop_back(),
                            output.drop_back())) ||
      failed(checkSameShape(loc, "gradient", output,
                            tensorOf(adaptor.getDy()).getDims(),
                            adaptor.getOutput(), adaptor.getDy())) ||
      failed(checkSameShape(loc, "log-sum-exp", query.getDims().drop_back(),
                            tensorOf(adaptor.getLse()).getDims(),
                            adaptor.getQuery(), adaptor.getLse())))
    return failure();
  types.append({query.withoutSharding(), key.withoutSharding(),
                value.withoutSharding()});
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  if (failed(inferAttention(loc, adaptor, types)) ||
      failed(checkCompressed(loc, adaptor)))
    return failure();
  Value sinks = findTerm(adaptor, AttentionTerm::Sinks);
  Value bias = findTerm(adaptor, AttentionTerm::Bias);
  Value selected = findTerm(adaptor, AttentionTerm::Selected);
  for (Value term : getOtherTerms(adaptor))
    if (term != sinks && term != bias && term != selected)
      return emitOptionalError(
          loc, "has ", adaptor.getTerms().size(),
          " terms, expected sinks, a bias and selected keys at most");
  return failure(
      failed(checkSinks(loc, adaptor.getQuery(), sinks)) ||
      failed(checkScoreBias(loc, bias, adaptor.getQuery(), adaptor.getKey())) ||
      failed(checkSelected(loc, selected, adaptor.getQuery())));
}

LogicalResult SelectKeysOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  SymTensorType query = tensorOf(adaptor.getQuery());
  SymTensorType key = tensorOf(adaptor.getKey());
  for (auto [what, type, rank] :
       {std::tuple("queries", query, 4), // select_keys_c1
        {"keys", key, 3},
        {"weights", tensorOf(adaptor.getWeight()), 3}})
    if (type.getRank() != rank)
      return emitOptionalError(loc, what, " have rank ", type.getRank(),
                               ", expected ", rank);
  ArrayRef<DimAttr> dims = query.getDims();
  SmallVector<DimAttr> keys{dims[0], key.getDim(1), dims[3]};
  if (failed(checkSameShape(loc, "keys", keys, key.getDims(), // select_keys_c2
                            adaptor.getQuery(), adaptor.getKey())) ||
      failed(checkSameShape(loc, "weights", dims.drop_back(),
                            tensorOf(adaptor.getWeight()).getDims(),
                            adaptor.getQuery(), adaptor.getWeight())))
    return failure();
  SymExpr count = adaptor.getCount(), size = adaptor.getCompressedAttr();
  if (isNoCount(count)) // select_keys_c3
    return emitOptionalError(loc, "selects ", count.str(),
                             " keys, expected an integer of at least 1");
  if (size && isNoCount(size))
    return emitOptionalError(loc, "has keys of blocks of ", size.str(),
                             " tokens, expected an integer of at least 1");
  types.push_back(
      makeTensor({dims[0], dims[1], DimAttr::get(context, {}, count)},
                 IntegerType::get(context, 32)));
  return success();
}

/// Checks values, scores and bias of blocks, and what is made of them.
template <typename OpTy>
static LogicalResult verifyCompress(OpTy op, SymTensorType result) {
  SymTensorType value = op.getValue().getType();
  if (value.getRank() != 3) // compress_c1
    return op.emitOpError("has values of rank ")
           << value.getRank() << ", expected 3: batch, tokens, channels";
  SymExpr size = op.getSize(); // compress_c2
  if (isNoCount(size))
    return op.emitOpError("has blocks of ")
           << size.str() << " tokens, expected an integer of at least 1";
  DimAttr channels = value.getDims().back();
  SmallVector<DimAttr> bias{DimAttr::get(op.getContext(), {}, size), channels};
  SymExpr made = channels.getExtent(); // compress_c3
  if (op.getOverlapping())
    made = made.exactDiv(2);
  if (result.getRank() != 3 || result.getDim(0) != value.getDim(0) ||
      result.getShape()[2] != made)
    return op.emitOpError("makes blocks of type ")
           << result << " of " << value << ", expected " << made.str()
           << " channels of each block of a sequence";
  return success(
      succeeded(checkSameShape(op.getLoc(), "scores", value.getDims(),
                               tensorOf(op.getScore()).getDims(), op.getValue(),
                               op.getScore())) &&
      succeeded(checkSameShape(op.getLoc(), "bias", bias,
                               tensorOf(op.getBias()).getDims())));
}

LogicalResult CompressOp::verify() {
  if (failed(verifyCompress(*this, getType())))
    return failure();
  if (getRequestsAttr() || getPastAttr())
    return success();
  SymExpr tokens = getValue().getType().getShape()[1];
  SymExpr blocks = SymExpr::getFunction(SymFunc::CeilDiv, {tokens, getSize()});
  if (getType().getShape()[1] == blocks)
    return success();
  return emitOpError("makes ")
         << getType().getShape()[1].str() << " blocks of " << tokens.str()
         << " tokens, expected " << blocks.str();
}

LogicalResult CompressGradOp::verify() {
  SymTensorType value = getValue().getType(), bias = getBias().getType();
  return success(
      succeeded(verifyCompress(*this, getDy().getType())) && // compress_grad_c1
      succeeded(
          checkShapes(getLoc(), getValue(), // compress_grad_c2
                      {{"gradient of values", value.getDims(), getDvalue()},
                       {"gradient of scores", value.getDims(), getDscore()},
                       {"gradient of the bias", bias.getDims(), getDbias()}})));
}

LogicalResult AttentionSinksGradOp::verify() {
  SymTensorType output = getOutput().getType();
  if (output.getRank() != 4) // attention_sinks_grad_c1
    return emitOpError("has an output of rank ")
           << output.getRank() << ", expected 4";
  ArrayRef<DimAttr> full = output.getDims(), heads = full.slice(2, 1);
  return checkShapes(getLoc(), getOutput(),
                     {{"sinks", heads, getSinks()},
                      {"log-sum-exp", full.drop_back(), getLse()},
                      {"gradient", full, getDy()},
                      {"result", heads, getDsinks()}});
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  if (failed(inferAttentionGrad(loc, adaptor, types)) ||
      failed(checkCompressed(loc, adaptor)))
    return failure();
  Value bias = findTerm(adaptor, AttentionTerm::Bias);
  Value selected = findTerm(adaptor, AttentionTerm::Selected);
  for (Value term : getOtherTerms(adaptor))
    if (term != bias && term != selected)
      return emitOptionalError(loc, "has ", adaptor.getTerms().size(),
                               " terms, expected a bias and selected keys at "
                               "most");
  if (failed(checkScoreBias(loc, bias, adaptor.getQuery(), adaptor.getKey())) ||
      failed(checkSelected(loc, selected, adaptor.getQuery())))
    return failure();
  if (adaptor.getCompressedAttr())
    for (Value term : adaptor.getTerms().take_front(2))
      types.push_back(tensorOf(term).withoutSharding());
  if (bias)
    types.push_back(tensorOf(bias).withoutSharding());
  return success();
}

/// Blocks may add up in another element type than they read.
static LogicalResult setElementType(std::optional<Location> loc,
                                    std::optional<Type> into,
                                    MutableArrayRef<Type> types) {
  if (!into)
    return success();
  if (!isa<FloatType>(*into) || isa<Float4E2M1FNType>(*into) ||
      !SymTensorType::isValidElementType(*into)) // attention_block_c5
    return emitOptionalError(loc, "'into' is ", *into,
                             ", expected a float of whole bytes");
  for (Type &type : types)
    type = cast<SymTensorType>(type).withElementType(*into);
  return success();
}

LogicalResult AttentionBlockOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  if (failed(inferAttention(loc, adaptor, types)))
    return failure();
  // Log-sum-exps are in f32 anyway.
  return setElementType(loc, adaptor.getInto(),
                        MutableArrayRef(types).drop_back());
}

LogicalResult AttentionBlockGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(inferAttentionGrad(loc, adaptor, types)))
    return failure();
  return setElementType(loc, adaptor.getInto(), types);
}

LogicalResult PackOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult ExchangeOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}

//===----------------------------------------------------------------------===//
// Embedding and cross-entropy
//===----------------------------------------------------------------------===//

/// Checks that the leading dimensions of a table, of which there are several,
/// are the last ones of the ids, and gives the shape of what is found but for
/// its width: the ids without the dimension that is pooled.
static FailureOr<SmallVector<DimAttr>>
getRowDims(std::optional<Location> loc, StringRef what, SymTensorType table,
           SymTensorType ids, std::optional<uint64_t> pooled) {
  if (failed(checkIntegers(loc, "token id operand", ids))) // embedding_c2
    return failure();
  if (table.getRank() < 2) { // embedding_c1
    (void)emitOptionalError(loc, what, " has rank ", table.getRank(),
                            ", expected 2: vocabulary and embedding size");
    return failure();
  }
  ArrayRef<DimAttr> tables = table.getDims().drop_back(2);
  if (tables.size() > static_cast<size_t>(ids.getRank())) {
    (void)emitOptionalError(loc, what, " has ", tables.size(),
                            " dimensions of tables, the ids have rank ",
                            ids.getRank());
    return failure();
  }
  if (failed(checkSameShape(loc, what, ids.getDims().take_back(tables.size()),
                            tables)))
    return failure();
  SmallVector<DimAttr> rows(ids.getDims());
  if (pooled) {
    if (*pooled >= rows.size() - tables.size()) { // embedding_c3
      (void)emitOptionalError(
          loc, "'pooled' is ", *pooled, ", expected one of the ", rows.size(),
          " dimensions of the ids",
          tables.empty() ? "" : " that is none of the table");
      return failure();
    }
    rows.erase(rows.begin() + *pooled);
  }
  return rows;
}

/// Checks the tables of different sizes that a lookup lists.
template <typename LookupT>
static LogicalResult checkTables(std::optional<Location> loc,
                                 SymTensorType table, LookupT lookup) {
  std::optional<ArrayRef<int64_t>> rows = lookup.getRows();
  if (!rows) // embedding_c6
    return lookup.getOver() || lookup.getRowsOver()
               ? emitOptionalError(loc, "has 'over' or 'rows_over', which come "
                                        "with 'rows' of tables")
               : success();
  if (table.getRank() > 3) // embedding_c4
    return emitOptionalError(loc, "lists the rows of tables, expected a table "
                                  "of rank 3: tables, their mean rows, width");
  SymExpr sum = SymExpr::get(table.getContext(), 0);
  for (int64_t number : *rows) {
    if (number < 1)
      return emitOptionalError(loc, "lists a table with ", number,
                               " rows, expected one at least");
    sum = sum + number;
  }
  auto number = static_cast<int64_t>(rows->size());
  if (rows->empty())
    return emitOptionalError(loc, "lists the rows of no table");
  if (table.getRank() < 3 || lookup.getOver() || lookup.getRowsOver())
    return success();
  SymExpr tables = table.getShape()[0]; // embedding_c5
  SymExpr all = tables * table.getShape()[1];
  if (tables.isConstant() && tables.getInt64() != number)
    return emitOptionalError(loc, "lists the rows of ", number,
                             " tables, but there are ", tables.str());
  if (all && all.isConstant() && all != sum)
    return emitOptionalError(loc, "lists ", sum.str(),
                             " rows in all, but the tables have ", all.str());
  return success();
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType table = tensorOf(adaptor.getTable());
  FailureOr<SmallVector<DimAttr>> shape = getRowDims(
      loc, "table", table, tensorOf(adaptor.getIds()), adaptor.getPooled());
  if (failed(shape) || failed(checkTables(loc, table, adaptor)))
    return failure();
  shape->push_back(table.getDims().back());
  types.push_back(makeTensor(*shape, table.getElementType()));
  return success();
}

/// Checks that ids and the gradient of what they found make one of the table.
static LogicalResult checkTableGradient(Location loc, StringRef what,
                                        SymTensorType ids, SymTensorType dy,
                                        SymTensorType table,
                                        std::optional<uint64_t> pooled) {
  if (failed(checkMinRank(loc, "gradient", dy, 1)))
    return failure();
  FailureOr<SmallVector<DimAttr>> rows =
      getRowDims(loc, what, table, ids, pooled);
  return failure(
      failed(rows) ||
      failed(checkSameShape(loc, "gradient rows", *rows,
                            dy.getDims().drop_back())) ||
      failed(checkSameShape(loc, "embedding size", dy.getDims().take_back(1),
                            table.getDims().take_back(1))));
}

LogicalResult EmbeddingGradOp::verify() {
  SymTensorType table = getResult().getType();
  return failure(
      failed(checkTableGradient(getLoc(), "result", getIds().getType(),
                                getDy().getType(), table, getPooled())) ||
      failed(checkTables(getLoc(), table, *this)));
}

//===----------------------------------------------------------------------===//
// Ids that are sent to the device with their rows
//===----------------------------------------------------------------------===//

/// Checks integers of so many dimensions.
static LogicalResult checkNumbers(Location loc, StringRef what,
                                  SymTensorType type, int64_t rank) {
  if (failed(checkIntegers(loc, what, type)))
    return failure();
  if (type.getRank() == rank)
    return success();
  return emitError(loc) << what << " has rank " << type.getRank()
                        << ", expected " << rank;
}

LogicalResult BucketizeOp::verify() {
  SymTensorType ids = getIds().getType(), lengths = getLengths().getType(),
                sorted = getSorted().getType();
  if (failed(checkNumbers(getLoc(), "ids", ids, 3)) || // bucketize_c1
      failed(checkNumbers(getLoc(), "lengths", lengths, 3)) ||
      failed(checkNumbers(getLoc(), "sorted ids", sorted, 2)))
    return failure();
  // bucketize_c2
  if (failed(checkSameShape(getLoc(), "buckets", lengths.getDims().take_front(),
                            sorted.getDims().take_front())) ||
      failed(checkSameShape(getLoc(), "samples and tables",
                            {ids.getDim(0), ids.getDim(2)},
                            lengths.getDims().drop_front())))
    return failure();
  if (sorted.getNumElements() == ids.getNumElements())
    return success();
  return emitOpError("sorts ")
         << ids.getNumElements().str() << " ids, but gives "
         << sorted.getNumElements().str();
}

/// Checks a lookup by ids that were sent here.
static LogicalResult checkBag(Location loc, SymTensorType table,
                              SymTensorType ids, SymTensorType lengths,
                              SymTensorType found) {
  if (table.getRank() != 2) // embedding_bag_c1
    return emitError(loc) << "table has rank " << table.getRank()
                          << ", expected 2: rows and embedding size";
  if (failed(checkNumbers(loc, "ids", ids, 2)) || // embedding_bag_c2
      failed(checkNumbers(loc, "lengths", lengths, 3)))
    return failure();
  SmallVector<DimAttr> dims(lengths.getDims().drop_front()); // embedding_bag_c3
  dims.push_back(table.getDim(1));
  return checkSameShape(loc, "what is found", dims, found.getDims());
}

LogicalResult EmbeddingBagOp::verify() {
  return checkBag(getLoc(), getTable().getType(), getIds().getType(),
                  getLengths().getType(), getResult().getType());
}

LogicalResult EmbeddingBagGradOp::verify() {
  return checkBag(getLoc(), getResult().getType(), getIds().getType(),
                  getLengths().getType(), getDy().getType());
}

LogicalResult RowAdagradOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getParam().getType());
  return success();
}

LogicalResult RowAdagradOp::verify() { // row_adagrad_c1
  SymTensorType table = getParam().getType(), ids = getIds().getType(),
                dy = getDy().getType();
  if (!getLengths().empty())
    return checkBag(getLoc(), table, ids,
                    cast<SymTensorType>(getLengths().front().getType()), dy);
  return checkTableGradient(getLoc(), "table", ids, dy, table, getPooled());
}

/// The dimensions of slices along `dim`, by their numbers.
static FailureOr<SmallVector<DimAttr>>
getGatheredDims(std::optional<Location> loc, StringRef what,
                SymTensorType whole, SymTensorType ids, uint64_t dim) {
  if (dim >= static_cast<uint64_t>(whole.getRank())) // gather_c1
    return emitOptionalError(loc, "has dimension ", dim, ", ", what,
                             " has rank ", whole.getRank());
  if (failed(checkIntegers(loc, "numbers", ids))) // gather_c2
    return failure();
  SmallVector<DimAttr> dims(whole.getDims());
  dims.erase(dims.begin() + dim);
  dims.insert(dims.begin() + dim, ids.getDims().begin(), ids.getDims().end());
  return dims;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  FailureOr<SmallVector<DimAttr>> dims = getGatheredDims(
      loc, "the operand", input, tensorOf(adaptor.getIds()), adaptor.getDim());
  if (failed(dims))
    return failure();
  types.push_back(makeTensor(*dims, input.getElementType()));
  return success();
}

LogicalResult GatherGradOp::verify() { // gather_grad_c1
  FailureOr<SmallVector<DimAttr>> dims = getGatheredDims(
      getLoc(), "the result", getType(), getIds().getType(), getDim());
  return failure(failed(dims) ||
                 failed(checkSameShape(getLoc(), "gradient", *dims,
                                       getDy().getType().getDims())));
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  SymTensorType logits = tensorOf(adaptor.getLogits());
  SymTensorType labels = tensorOf(adaptor.getLabels());
  if (failed(checkMinRank(loc, "logits", logits, 1)) ||
      failed(checkSameShape(loc, "labels", logits.getDims().drop_back(),
                            labels.getDims())) ||
      failed(checkIntegers(loc, "label operand", labels)))
    return failure();
  types.append({rowsOf(logits), makeTensor(logits.getDims(), f32(context))});
  return success();
}

LogicalResult CrossEntropyGradOp::verify() {
  SymTensorType probs = getProbs().getType();
  if (failed(checkMinRank(getLoc(), "softmax", probs, 1)))
    return failure();
  ArrayRef<DimAttr> full = probs.getDims(), rows = full.drop_back();
  return checkShapes(getLoc(), getProbs(),
                     {{"labels", rows, getLabels()},
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
                                 Value input, Value perRow) {
  if (failed(checkMinRank(loc, "operand", tensorOf(input), 1)))
    return failure();
  return checkSameShape(loc, what, tensorOf(input).getDims().drop_back(),
                        tensorOf(perRow).getDims(), input, perRow);
}

LogicalResult ExpSumOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkPerRow(loc, "maximum", adaptor.getInput(), adaptor.getMax())))
    return failure();
  types.append({makeTensor(input.getDims(), f32(context)), rowsOf(input)});
  return success();
}

LogicalResult PickOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(
          checkPerRow(loc, "index", adaptor.getInput(), adaptor.getIndex())) ||
      failed(checkIntegers(loc, "index", tensorOf(adaptor.getIndex()))))
    return failure();
  types.push_back(rowsOf(input));
  return success();
}

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkPerRow(loc, "sum", adaptor.getInput(), adaptor.getSum())))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}
