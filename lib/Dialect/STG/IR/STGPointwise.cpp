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
