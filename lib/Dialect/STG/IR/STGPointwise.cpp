//===- STGPointwise.cpp - What all pointwise ops have in common -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pointwise op is one record in TableGen (STG_PointwiseOp); what its
// generated methods do is here.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

bool stg::detail::repeatsItself(DimAttr dim) {
  return dim.getExtent().isOne() && dim.getNames().empty();
}

/// The dimensions of all operands together, where each may have an extent of 1
/// instead.
static SmallVector<DimAttr> getCommonDims(ValueRange operands) {
  SmallVector<DimAttr> dims(tensorOf(operands.front()).getDims());
  for (Value operand : operands.drop_front())
    for (auto [dim, other] : llvm::zip(dims, tensorOf(operand).getDims()))
      if (repeatsItself(dim))
        dim = other;
  return dims;
}

LogicalResult stg::detail::inferPointwise(std::optional<Location> loc,
                                          ValueRange operands, bool broadcasts,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType type = tensorOf(operands.front()).withoutSharding();
  if (broadcasts)
    type = SymTensorType::get(type.getContext(), getCommonDims(operands),
                              type.getElementType());
  for (auto [number, operand] : llvm::enumerate(operands)) {
    SymTensorType other = tensorOf(operand);
    std::string what = ("operand #" + Twine(number)).str();
    SmallVector<DimAttr> expected(type.getDims());
    if (broadcasts)
      for (auto [dim, own] : llvm::zip(expected, other.getDims()))
        if (repeatsItself(own))
          dim = own;
    if (failed(checkSameShape(loc, what, expected, other.getDims(),
                              operands.front(), operand)))
      return failure();
    if (type.getElementType() != other.getElementType())
      return emitOptionalError(loc, what, " has element type ",
                               other.getElementType(), ", expected ",
                               type.getElementType());
  }
  types.push_back(type);
  return success();
}

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput()).withoutSharding();
  if (!isa<FloatType>(input.getElementType())) // dropout_c1
    return emitOptionalError(loc, "operand has element type ",
                             input.getElementType(), ", expected a float");
  types.append({input, input.withElementType(IntegerType::get(context, 8))});
  return success();
}

LogicalResult DropoutGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  SymTensorType mask = tensorOf(adaptor.getMask());
  SymTensorType gradient = tensorOf(adaptor.getDy());
  if (failed(checkSameShape(loc, "gradient", mask.getDims(), // dropout_grad_c1
                            gradient.getDims(), adaptor.getMask(),
                            adaptor.getDy())))
    return failure();
  if (!isa<IntegerType>(mask.getElementType())) // dropout_grad_c2
    return emitOptionalError(loc, "mask has element type ",
                             mask.getElementType(), ", expected an integer");
  types.push_back(gradient.withoutSharding());
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

namespace {
/// Values that a derivative may be made of.
enum Saved : unsigned { None = 0, Lhs = 1, Rhs = 2, Result = 4 };

/// The derivative of a function with respect to an operand.
struct Derivative {
  unsigned saved;     ///< What it is made of.
  int64_t operations; ///< Per element; 0: it is dy itself.
};
} // namespace

static unsigned countOperands(ElementwiseKind kind) {
  return kind >= ElementwiseKind::Sub ? 2 : 1;
}

static Derivative getDerivative(ElementwiseKind kind, uint64_t of) {
  switch (kind) {
  case ElementwiseKind::Exp: // dy*y
    return {Result, 1};
  case ElementwiseKind::Log: // dy/x
  case ElementwiseKind::Abs: // dy with the sign of x
    return {Lhs, 1};
  case ElementwiseKind::Neg:
    return {None, 1};
  case ElementwiseKind::Reciprocal: // -(y*y)*dy
    return {Result, 3};
  case ElementwiseKind::Sqrt: // dy/(y + y)
    return {Result, 2};
  case ElementwiseKind::Rsqrt: // -1/2*(y*y*y)*dy
    return {Result, 4};
  case ElementwiseKind::Square: // (x + x)*dy
  case ElementwiseKind::Sin:    // cos(x)*dy
    return {Lhs, 2};
  case ElementwiseKind::Cos: // -sin(x)*dy
    return {Lhs, 3};
  case ElementwiseKind::Erf: // c*exp(-(x*x))*dy
    return {Lhs, 5};
  case ElementwiseKind::Sub:
    return {None, of == 0 ? 0 : 1};
  case ElementwiseKind::Div: // dy/z and -(y/z)*dy
    if (of == 0)
      return {Rhs, 1};
    return {Rhs | Result, 3};
  case ElementwiseKind::Max: // dy where this operand was chosen
  case ElementwiseKind::Min:
    return {Lhs | Rhs, 2};
  case ElementwiseKind::Pow: // z*x^(z - 1)*dy and log(x)*y*dy
    if (of == 0)
      return {Lhs | Rhs, 4};
    return {Lhs | Result, 3};
  }
  llvm_unreachable("unknown function");
}

int64_t stg::getElementwiseGradOperations(ElementwiseKind kind, uint64_t of) {
  return getDerivative(kind, of).operations;
}

LogicalResult ElementwiseOp::verify() {
  unsigned expected = countOperands(getKind());
  if (getNumOperands() != expected) // elementwise_c1
    return emitOpError("has ")
           << getNumOperands() << " operands, expected " << expected << " of '"
           << stringifyElementwiseKind(getKind()) << "'";
  Type element = getType().getElementType();
  if (!isa<FloatType>(element)) // elementwise_c3
    return emitOpError("has element type ") << element << ", expected a float";
  return success();
}

SmallVector<Value> ElementwiseOp::getSaved(unsigned of) {
  unsigned needed = getDerivative(getKind(), of).saved;
  SmallVector<Value> saved;
  if (needed & Lhs)
    saved.push_back(getLhs());
  if (needed & Rhs)
    saved.push_back(getRhs());
  if (needed & Result)
    saved.push_back(getResult());
  return saved;
}

LogicalResult ElementwiseGradOp::verify() {
  if (getOf() >= countOperands(getKind()) ||
      getDerivative(getKind(), getOf()).operations == 0) // elementwise_grad_c1
    return emitOpError("has no gradient of operand ")
           << getOf() << " of '" << stringifyElementwiseKind(getKind()) << "'";
  unsigned expected = llvm::popcount(getDerivative(getKind(), getOf()).saved);
  if (getSaved().size() != expected) // elementwise_grad_c2
    return emitOpError("has ")
           << getSaved().size() << " values of the forward pass, expected "
           << expected;
  return success();
}

LogicalResult MaskScoresOp::verify() {
  if (failed(checkMinRank(getLoc(), "input", getInput().getType(),
                          2))) // mask_scores_c1
    return failure();
  if (getMask() != AttentionMask::Causal) // mask_scores_c2
    return emitOpError("has a mask that hides nothing, expected a causal one");
  SymExpr window = getWindowAttr();
  if (window && window.isConstant() && !window.canBeExtent()) // mask_scores_c3
    return emitOpError("has a window of ")
           << window.str() << ", expected at least 1";
  return success();
}

//===----------------------------------------------------------------------===//
// Rules and costs
//===----------------------------------------------------------------------===//

ShardingRule stg::detail::makePointwiseRule(Operation *op) {
  ShardingRule rule;
  TensorFactors tensor =
      rule.addFactors("d", tensorOf(op->getResult(0)).getRank());
  rule.operands.assign(op->getNumOperands(), tensor);
  rule.results.assign(op->getNumResults(), tensor);
  // An operand does not run over a dimension along which it repeats itself.
  ArrayRef<DimAttr> dims = tensorOf(op->getResult(0)).getDims();
  for (auto [operand, factors] :
       llvm::zip_equal(op->getOperands(), rule.operands))
    for (auto [whole, own, factor] :
         llvm::zip_equal(dims, tensorOf(operand).getDims(), factors))
      if (repeatsItself(own) && !repeatsItself(whole))
        factor.clear();
  return rule;
}

OpCost stg::detail::makePointwiseCost(Operation *op, int64_t count) {
  return {tensorOf(op->getResult(0)).getNumElements() * count,
          getOperandAndResultBytes(op), /*isMatrix=*/false};
}

SmallVector<NamedAttribute> stg::detail::getDeclaredAttributes(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (StringAttr name : op->getName().getAttributeNames())
    if (Attribute value = op->getInherentAttr(name).value_or(Attribute()))
      if (name != STGDialect::kOriginName && name != STGDialect::kFactorsName)
        attributes.emplace_back(name, value);
  return attributes;
}
