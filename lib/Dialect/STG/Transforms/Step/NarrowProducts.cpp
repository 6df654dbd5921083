//===- NarrowProducts.cpp - Products of narrow floats ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParameterPatterns.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_NARROWPRODUCTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct NarrowProducts : stg::impl::NarrowProductsBase<NarrowProducts> {
  using NarrowProductsBase::NarrowProductsBase;
  void runOnOperation() override;

private:
  void narrow(EinsumOp product);
  Value cast(Value value, FloatType type, EinsumOp product);

  FloatType forwardType, gradientType;
  /// By value and type, so that a value is cast once in a block.
  DenseMap<std::pair<Value, Type>, Value> casts;
};
} // namespace

/// Only operands of products may have 4 bits.
static FloatType getNarrowType(MLIRContext *context, StringRef name) {
  if (name == "f4E2M1FN")
    return Float4E2M1FNType::get(context);
  return getFloatType(context, name);
}

static bool isNarrow(Value value) {
  return mlir::cast<SymTensorType>(value.getType()).getElementBytes() == 1;
}

/// True for a product with a parameter, forward, or with what such a product
/// has read, backward; in the layers of a model, or also outside of them.
static bool isNarrowed(EinsumOp op, bool outside) {
  if (op.getInputs().size() != 2 || !op.getCost().isMatrix ||
      !(outside || op->getParentOfType<LoopLikeOpInterface>()))
    return false;
  return llvm::any_of(op.getInputs(), [](Value input) {
    return getReadParameter(input) || isNarrow(input);
  });
}

/// The cast stands where the value is made, so that all products share it.
Value NarrowProducts::cast(Value value, FloatType type, EinsumOp product) {
  Value &known = casts[{value, type}];
  if (known)
    return known;
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(value);
  auto tensor = mlir::cast<SymTensorType>(value.getType());
  auto op =
      CastOp::create(builder, product.getLoc(),
                     tensor.withoutSharding().withElementType(type), value);
  Origin origin = getOrigin(product);
  origin.role = getReadParameter(value) ? Role::CastWeight
                : type == gradientType  ? Role::CastGradient
                                        : Role::Cast;
  setOrigin(op, origin);
  return known = op;
}

void NarrowProducts::narrow(EinsumOp product) {
  bool isBackward = getPhase(product) == Phase::Backward;
  Type result = product.getType().getElementType();
  for (OpOperand &input : product->getOpOperands())
    if (!isNarrow(input.get()))
      input.set(
          cast(input.get(), isBackward ? gradientType : forwardType, product));
  product.setIntoAttr(TypeAttr::get(result));
}

void NarrowProducts::runOnOperation() {
  func::FuncOp function = getOperation();
  forwardType = getNarrowType(&getContext(), type);
  gradientType = getNarrowType(&getContext(), gradients);
  for (auto [name, parsed] :
       {std::pair<StringRef, FloatType>(type, forwardType),
        {gradients, gradientType}})
    if (!parsed || parsed.getWidth() > 8) {
      function.emitError("type '")
          << name << "' is not f8E4M3FN, f8E5M2 or f4E2M1FN";
      return signalPassFailure();
    }
  ParameterPatterns kept;
  if (failed(emitIfFailed(function, kept.read(keep))))
    return signalPassFailure();
  auto isKept = [&](Value input) {
    ParamOp param = getReadParameter(input);
    return param && kept.match(param);
  };
  casts.clear();
  SmallVector<EinsumOp> products;
  function.walk([&](EinsumOp op) {
    if (isNarrowed(op, outside) && !llvm::any_of(op.getInputs(), isKept))
      products.push_back(op);
  });
  for (EinsumOp product : products)
    narrow(product);
}
