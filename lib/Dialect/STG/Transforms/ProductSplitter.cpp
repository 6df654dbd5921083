//===- ProductSplitter.cpp - Products with parts of a parameter -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter that holds several things becomes one parameter for each.
//
//===----------------------------------------------------------------------===//

#include "ProductSplitter.h"

using namespace mlir;
using namespace stg;

/// The type with another dimension in one place.
static SymTensorType withDim(Value value, unsigned number, DimAttr dim) {
  auto type = cast<SymTensorType>(value.getType());
  SmallVector<DimAttr> dims(type.getDims());
  dims[number] = dim;
  return SymTensorType::get(type.getContext(), dims, type.getElementType());
}

SmallVector<Value> ProductSplitter::split(Value value, unsigned dim) {
  if (auto param = value.getDefiningOp<ParamOp>())
    return splitParam(param, dim);
  if (auto product = value.getDefiningOp<EinsumOp>())
    return splitProduct(product, dim);
  if (auto biased = value.getDefiningOp<BiasAddOp>())
    return splitBiased(biased, dim);
  if (auto cast = value.getDefiningOp<CastOp>())
    return splitCast(cast, dim);
  return {};
}

SmallVector<Value> ProductSplitter::splitParam(ParamOp param, unsigned dim) {
  OpBuilder builder(param);
  SmallVector<Value> parts;
  for (auto [part, name] : llvm::zip_equal(dims, names)) {
    auto read = ParamOp::create(
        builder, param.getLoc(), withDim(param.getResult(), dim, part),
        builder.getStringAttr(param.getParamName() + name));
    read.setFrozen(param.getFrozen());
    parts.push_back(read);
  }
  replaced.insert(param);
  return parts;
}

SmallVector<Value> ProductSplitter::splitProduct(EinsumOp op, unsigned dim) {
  auto equation = llvm::cantFail(EinsumEquation::parse(op.getEquation()));
  char index = equation.output[dim];
  SmallVector<SmallVector<Value>> inputs(dims.size());
  for (auto [term, input] : llvm::zip_equal(equation.inputs, op.getInputs())) {
    size_t position = term.find(index);
    SmallVector<Value> parts(dims.size(), input);
    if (position != StringRef::npos)
      parts = split(input, position);
    if (parts.empty())
      return {};
    for (auto [list, part] : llvm::zip_equal(inputs, parts))
      list.push_back(part);
  }
  OpBuilder builder(op);
  SmallVector<Value> parts;
  for (ArrayRef<Value> operands : inputs)
    parts.push_back(EinsumOp::create(builder, op.getLoc(), operands,
                                     op.getEquation(), op.getIntoAttr(),
                                     op.getDrawsAttr(), op.getUsedAttr()));
  finish(op, parts);
  return parts;
}

SmallVector<Value> ProductSplitter::splitBiased(BiasAddOp op, unsigned dim) {
  unsigned leading = op.getType().getRank() - op.getBias().getType().getRank();
  if (dim < leading || op.getDims())
    return {};
  SmallVector<Value> inputs = split(op.getInput(), dim);
  SmallVector<Value> biases = split(op.getBias(), dim - leading);
  if (inputs.empty() || biases.empty())
    return {};
  OpBuilder builder(op);
  SmallVector<Value> parts;
  for (auto [input, bias] : llvm::zip_equal(inputs, biases))
    parts.push_back(BiasAddOp::create(builder, op.getLoc(), input, bias,
                                      DenseI64ArrayAttr(), op.getDrawsAttr(),
                                      op.getUsedAttr()));
  finish(op, parts);
  return parts;
}

SmallVector<Value> ProductSplitter::splitCast(CastOp op, unsigned dim) {
  SmallVector<Value> parts;
  for (Value input : split(op.getInput(), dim)) {
    OpBuilder builder(op);
    auto type = cast<SymTensorType>(input.getType())
                    .withElementType(op.getType().getElementType());
    parts.push_back(CastOp::create(builder, op.getLoc(), type, input));
  }
  if (!parts.empty())
    finish(op, parts);
  return parts;
}

/// The parts of `op` have its attributes, and its name with their own suffix.
void ProductSplitter::finish(Operation *op, ArrayRef<Value> parts) {
  replaced.insert(op);
  for (auto [part, suffix] : llvm::zip_equal(parts, names)) {
    Operation *made = part.getDefiningOp();
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    copyOrigin(op, made);
    if (StringAttr name = getOrigin(op).name)
      setName(made, StringAttr::get(op->getContext(), name.str() + suffix));
  }
}
