//===- STGGradients.cpp - Backward passes of the stg ops ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op builds the ops of its own backward pass. A product makes one product
// per operand whose gradient somebody needs; nothing is computed twice.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;

ParamOp stg::getReadParameter(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto param = dyn_cast<ParamOp>(op))
      return param;
    if (!isa<ReplicateOp, CastOp, DequantizeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

Value stg::readAgain(OpBuilder &builder, Value value, Phase phase) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, readAgain(builder, operand, phase));
  Operation *again = builder.clone(*op, mapping);
  if (isa<CostOpInterface>(again))
    setPhase(again, phase);
  return again->getResult(0);
}

void GradientBuilder::annotate(Operation *op, std::optional<Role> role) {
  setOrigin(op, {getOrigin(forward).name, Phase::Backward, role});
}

Role GradientBuilder::getRole(unsigned operand) {
  return getReadParameter(forward->getOperand(operand)) ? Role::Dw : Role::Dx;
}

/// For `bsd,dhe->bshe`: dX = `bshe,dhe->bsd`, dW = `bsd,bshe->dhe`. The
/// gradient takes the place of the operand in the product.
LogicalResult EinsumOp::buildGradient(GradientBuilder &gradient) {
  auto equation = llvm::cantFail(EinsumEquation::parse(getEquation()));
  Value dy = gradient.getResultGradient(0);
  for (unsigned i = 0, e = getInputs().size(); i != e; ++i) {
    if (!gradient.needsGradient(i))
      continue;
    SmallVector<Value> inputs(getInputs());
    SmallVector<StringRef> terms(equation.inputs);
    inputs[i] = dy;
    terms[i] = equation.output;
    std::string all = llvm::join(terms, ",");
    for (char letter : equation.inputs[i])
      if (!StringRef(all).contains(letter))
        return emitOpError("cannot be differentiated: index '")
               << Twine(letter) << "' is summed over in operand #" << i
               << " alone";
    SymTensorType type = gradient.getGradientType(i);
    auto first = cast<SymTensorType>(inputs[0].getType());
    auto into = type.getElementType() == first.getElementType()
                    ? TypeAttr()
                    : TypeAttr::get(type.getElementType());
    auto op = gradient.create<EinsumOp>(gradient.getRole(i), inputs,
                                        (all + "->" + equation.inputs[i]).str(),
                                        into, DrawsAttr(), SymExpr());
    gradient.addGradient(i, op);
  }
  return success();
}

/// A cast to a narrow type is one for products only, and the gradient of a
/// parameter has its own type.
LogicalResult CastOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (!isNarrowing() && !getReadParameter(getInput()))
    dy = gradient.create<CastOp>(
        gradient.getRole(0), gradient.getGradientType(0).withoutSharding(), dy);
  gradient.addGradient(0, dy);
  return success();
}

/// The gradient of an operand that may repeat itself along dimensions of the
/// result: the sum along these.
static Value sumRepeated(GradientBuilder &gradient, unsigned operand,
                         Value input, Value dy) {
  ArrayRef<DimAttr> dims = cast<SymTensorType>(input.getType()).getDims();
  for (auto [number, dim] : llvm::enumerate(dims)) {
    auto type = cast<SymTensorType>(dy.getType());
    if (!stg::detail::repeatsItself(dim) ||
        stg::detail::repeatsItself(type.getDim(number)))
      continue;
    SmallVector<DimAttr> rest(type.getDims());
    rest.erase(rest.begin() + number);
    Type element =
        cast<SymTensorType>(gradient.getGradientType(operand)).getElementType();
    MLIRContext *context = dy.getContext();
    Value sum = gradient.create<BroadcastGradOp>(
        Role::Repeated, SymTensorType::get(context, rest, element), dy, number);
    rest.insert(rest.begin() + number, dim);
    dy = gradient.create<BroadcastOp>(
        Role::Repeated, SymTensorType::get(context, rest, element), sum,
        number);
  }
  return dy;
}

LogicalResult AddOp::buildGradient(GradientBuilder &gradient) {
  for (unsigned i : {0u, 1u})
    if (gradient.needsGradient(i))
      gradient.addGradient(i, sumRepeated(gradient, i, getOperand(i),
                                          gradient.getResultGradient(0)));
  return success();
}

LogicalResult MulOp::buildGradient(GradientBuilder &gradient) {
  Value square; ///< Of a square both gradients are one product.
  for (unsigned i : {0u, 1u}) {
    if (!gradient.needsGradient(i))
      continue;
    Value product = square;
    if (!product)
      product = gradient.create<MulOp>(i == 0 ? Role::Dlhs : Role::Drhs,
                                       gradient.getResultGradient(0),
                                       getOperand(1 - i));
    if (getLhs() == getRhs())
      square = product;
    gradient.addGradient(i, sumRepeated(gradient, i, getOperand(i), product));
  }
  return success();
}

LogicalResult ElementwiseOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  for (unsigned i = 0, e = getNumOperands(); i < e; ++i) {
    if (!gradient.needsGradient(i))
      continue;
    Value product = dy;
    if (i > 0 || getKind() != ElementwiseKind::Sub)
      product =
          gradient.create<ElementwiseGradOp>(e == 1   ? std::optional<Role>()
                                             : i == 0 ? Role::Dlhs
                                                      : Role::Drhs,
                                             dy, getSaved(i), getKind(), i);
    gradient.addGradient(i, sumRepeated(gradient, i, getOperand(i), product));
  }
  return success();
}

LogicalResult MaskScoresOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<MaskScoresOp>(
                              std::nullopt, gradient.getResultGradient(0),
                              getMask(), getWindowAttr()));
  return success();
}

/// True where the gradient follows from the result, which what comes behind
/// often keeps anyway.
static bool isSavedByResult(Activation function) {
  return function == Activation::Relu || function == Activation::Tanh ||
         function == Activation::Sigmoid;
}

LogicalResult ActivationOp::buildGradient(GradientBuilder &gradient) {
  Value saved = isSavedByResult(getFunction()) ? getResult() : getInput();
  gradient.addGradient(0, gradient.create<ActivationGradOp>(
                              std::nullopt, saved,
                              gradient.getResultGradient(0), getFunction()));
  return success();
}

LogicalResult LearnedActivationOp::buildGradient(GradientBuilder &gradient) {
  auto op = gradient.create<LearnedActivationGradOp>(
      std::nullopt, gradient.getGradientType(0), gradient.getGradientType(1),
      getInput(), getNumbers(), gradient.getResultGradient(0), getFunction());
  for (unsigned i = 0, e = getNumOperands(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

LogicalResult DropoutOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(
      0, gradient.create<DropoutGradOp>(std::nullopt, getMask(),
                                        gradient.getResultGradient(0)));
  return success();
}

LogicalResult GluOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(
      0, gradient.create<GluGradOp>(std::nullopt, getInput(),
                                    gradient.getResultGradient(0),
                                    getFunction(), getClamped(), getLimited()));
  return success();
}

LogicalResult RmsNormOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1))
    return emitOpError("cannot be differentiated through its rstd result");
  auto op = gradient.create<RmsNormGradOp>(
      std::nullopt, gradient.getGradientType(0),
      getWeight() ? gradient.getGradientType(1) : SymTensorType(), getInput(),
      getWeight(), getRstd(), gradient.getResultGradient(0));
  for (unsigned i = 0, e = getNumOperands(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

LogicalResult LayerNormOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1) || gradient.getResultGradient(2))
    return emitOpError(
        "cannot be differentiated through its mean and rstd results");
  SmallVector<Type> types;
  for (unsigned i = 0, e = getNumOperands(); i != e; ++i)
    types.push_back(gradient.getGradientType(i));
  Value weight = getParameters().empty() ? Value() : getParameters().front();
  auto op = gradient.create<LayerNormGradOp>(
      std::nullopt, types.front(), ArrayRef(types).drop_front(), getInput(),
      weight, getMean(), getRstd(), gradient.getResultGradient(0));
  for (unsigned i = 0, e = getNumOperands(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

LogicalResult BiasAddOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (gradient.needsGradient(0))
    gradient.addGradient(0, dy);
  if (gradient.needsGradient(1))
    gradient.addGradient(
        1, gradient.create<BiasGradOp>(Role::Db, gradient.getGradientType(1),
                                       dy, getDimsAttr()));
  return success();
}

LogicalResult RopeOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(
      0, gradient.create<RopeOp>(std::nullopt, gradient.getResultGradient(0),
                                 !getInverse(), getRotatedAttr()));
  return success();
}

LogicalResult AttentionOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1))
    return emitOpError("cannot be differentiated through its log-sum-exp");
  Value dy = gradient.getResultGradient(0);
  SmallVector<unsigned> others{0, 1, 2}; ///< Than the sinks.
  SmallVector<Value> terms;
  for (auto [number, term] : llvm::enumerate(getTerms())) {
    unsigned operand = 3 + number;
    if (term != getSinks())
      terms.push_back(term);
    if (term == getBias() || (getCompressedAttr() && number < 2))
      others.push_back(operand);
    else if (gradient.needsGradient(operand))
      gradient.addGradient(operand,
                           gradient.create<AttentionSinksGradOp>(
                               Role::Dw, gradient.getGradientType(operand),
                               term, getResult(), getLse(), dy));
  }
  if (llvm::none_of(others,
                    [&](unsigned i) { return gradient.needsGradient(i); }))
    return success();
  auto op = gradient.create<AttentionGradOp>(
      std::nullopt, getQuery(), getKey(), getValue(), getResult(), getLse(), dy,
      terms, getMask(), getFullCount(), getContextAttr(), getRequestsAttr(),
      getWindowAttr(), getChunkAttr(), getCapped(), getAlibi(), getPrefixAttr(),
      getCompressedAttr());
  for (auto [result, operand] : llvm::enumerate(others))
    if (gradient.needsGradient(operand))
      gradient.addGradient(operand, op->getResult(result));
  return success();
}

LogicalResult CompressOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (llvm::none_of(ArrayRef<unsigned>{0, 1, 2}, [&](unsigned operand) {
        return gradient.needsGradient(operand);
      }))
    return success();
  auto op = gradient.create<CompressGradOp>(
      std::nullopt,
      TypeRange{getValue().getType().withoutSharding(),
                getScore().getType().withoutSharding(),
                gradient.getGradientType(2)},
      getValue(), getScore(), getBias(), dy, getSize(), getOverlapping());
  for (unsigned operand : {0, 1, 2})
    if (gradient.needsGradient(operand))
      gradient.addGradient(operand, op->getResult(operand));
  return success();
}

/// Numbers of keys do not change with what scores are made of.
LogicalResult SelectKeysOp::buildGradient(GradientBuilder &) {
  return success();
}

LogicalResult EmbeddingOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.needsGradient(0))
    gradient.addGradient(0,
                         gradient.create<EmbeddingGradOp>(
                             Role::Dw, gradient.getGradientType(0), getIds(),
                             gradient.getResultGradient(0), getPooledAttr(),
                             getRowsAttr(), getOverAttr(), getRowsOverAttr()));
  return success();
}

LogicalResult GatherOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.needsGradient(0))
    gradient.addGradient(0, gradient.create<GatherGradOp>(
                                std::nullopt, gradient.getGradientType(0),
                                getIds(), gradient.getResultGradient(0),
                                getDim()));
  return success();
}

LogicalResult CrossEntropyOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1))
    return emitOpError("cannot be differentiated through its softmax result");
  gradient.addGradient(0, gradient.create<CrossEntropyGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              getProbs(), getLabels(),
                              gradient.getResultGradient(0)));
  return success();
}

/// A part without gradient is zero.
static Value getGradientOrZero(GradientBuilder &gradient, unsigned result,
                               SymTensorType type) {
  if (Value value = gradient.getResultGradient(result))
    return value;
  return gradient.create<SplatOp>(std::nullopt, type.withoutSharding(),
                                  SymExpr::get(type.getContext(), 0));
}

LogicalResult SplitOp::buildGradient(GradientBuilder &gradient) {
  SmallVector<Value> parts;
  for (auto [number, result] : llvm::enumerate(getResults()))
    parts.push_back(getGradientOrZero(gradient, number,
                                      cast<SymTensorType>(result.getType())));
  gradient.addGradient(0, gradient.create<ConcatOp>(std::nullopt,
                                                    getInput().getType(), parts,
                                                    getDim(), getOrdered()));
  return success();
}

LogicalResult ConcatOp::buildGradient(GradientBuilder &gradient) {
  auto op = gradient.create<SplitOp>(std::nullopt, getInputs().getTypes(),
                                     gradient.getResultGradient(0), getDim(),
                                     getOrdered());
  for (unsigned i = 0, e = getInputs().size(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

LogicalResult BroadcastOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<BroadcastGradOp>(
                              std::nullopt, gradient.getGradientType(0),
                              gradient.getResultGradient(0), getDim()));
  return success();
}

LogicalResult ReplicateOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<ReplicateGradOp>(
                              Role::Replicas, gradient.getGradientType(0),
                              gradient.getResultGradient(0), getDim(),
                              getTogether()));
  return success();
}
