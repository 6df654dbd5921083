//===- NarrowProducts.cpp - Products of narrow floats ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LayerRanges.h"
#include "../SymbolValues.h"
#include "ParameterPatterns.h"
#include "stg/Dialect/STG/IR/LayerProducts.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_NARROWPRODUCTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Parameters whose products have operands of another type, or wide ones.
struct Exceptions {
  ParameterPatterns patterns;
  FloatType type; ///< Null for wide ones.
};

struct NarrowProducts : stg::impl::NarrowProductsBase<NarrowProducts> {
  using NarrowProductsBase::NarrowProductsBase;
  void runOnOperation() override;

private:
  LogicalResult readTypes();
  LogicalResult narrowIn(func::FuncOp function);
  FailureOr<std::set<StringRef>> findWideRepeats(func::FuncOp function);
  FloatType getTypeFor(EinsumOp product);
  void narrow(EinsumOp product, FloatType type);
  Value cast(Value value, FloatType type, EinsumOp product, bool isGradient);

  FloatType forwardType, gradientType;
  SmallVector<Exceptions> exceptions;
  SymBinding binding;
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

/// The float of at most 8 bits that a value has, if it has one.
static FloatType getNarrowElement(Value value) {
  auto type = mlir::dyn_cast<FloatType>(
      mlir::cast<SymTensorType>(value.getType()).getElementType());
  return type && type.getWidth() <= 8 ? type : FloatType();
}

static bool isNarrow(Value value) { return bool(getNarrowElement(value)); }

/// True for a product with a parameter, forward, in the layers of a model, or
/// also outside of them; or with what such a product has read, backward.
static bool isNarrowed(EinsumOp op, bool outside) {
  if (op.getInputs().size() != 2 || !op.getCost().isMatrix)
    return false;
  if (llvm::any_of(op.getInputs(), isNarrow))
    return outside || isInLayer(op) || getPhase(op) == Phase::Backward;
  return (outside || isInLayer(op)) &&
         llvm::any_of(op.getInputs(), getReadParameter);
}

/// The cast stands where the value is made, so that all products share it.
Value NarrowProducts::cast(Value value, FloatType type, EinsumOp product,
                           bool isGradient) {
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
                : isGradient            ? Role::CastGradient
                                        : Role::Cast;
  setOrigin(op, origin);
  return known = op;
}

void NarrowProducts::narrow(EinsumOp product, FloatType type) {
  bool isBackward = getPhase(product) == Phase::Backward;
  Type result = product.getType().getElementType();
  for (OpOperand &input : product->getOpOperands())
    if (!isNarrow(input.get()))
      input.set(cast(input.get(), type, product, isBackward));
  product.setIntoAttr(TypeAttr::get(result));
}

/// The type of operands that are to be cast; null if the product stays as it
/// is. A gradient meets an operand that is narrow already, as an exception may
/// have made it.
FloatType NarrowProducts::getTypeFor(EinsumOp product) {
  bool isBackward = getPhase(product) == Phase::Backward;
  FloatType type = forwardType;
  for (Value input : product.getInputs()) {
    if (FloatType known = getNarrowElement(input); isBackward && known)
      type = known;
    if (ParamOp param = getReadParameter(input))
      for (Exceptions &some : exceptions)
        if (some.patterns.match(param))
          type = some.type;
  }
  return isBackward && type == forwardType ? gradientType : type;
}

/// Repeats of the first and last layers of the model, by their names, which
/// those of backward have, too.
FailureOr<std::set<StringRef>>
NarrowProducts::findWideRepeats(func::FuncOp function) {
  std::set<StringRef> names;
  if (!atStart && !atEnd)
    return names;
  LayerRanges layers = collectLayers(function, binding);
  if (failed(checkEndLayers(function, layers, atStart, atEnd)))
    return failure();
  const int64_t firstOfEnd = layers.getNumLayers() - atEnd;
  for (const LayerRange &range : layers.ranges) {
    RepeatOp repeat = range.repeat;
    auto isDivided = [&](int64_t layer) {
      return range.begin < layer && layer < range.end;
    };
    if (isDivided(atStart) || isDivided(firstOfEnd))
      return repeat.emitOpError("has some of the first ")
             << atStart.getValue() << " or last " << atEnd.getValue()
             << " layers, and others; divide it by --stg-cut-layers";
    if (range.end <= atStart || range.begin >= firstOfEnd)
      names.insert(repeat.getRepeatName());
  }
  return names;
}

LogicalResult NarrowProducts::narrowIn(func::FuncOp function) {
  FailureOr<std::set<StringRef>> wide = findWideRepeats(function);
  if (failed(wide))
    return failure();
  casts.clear();
  SmallVector<std::pair<EinsumOp, FloatType>> products;
  for (Operation &top : function.getOps()) {
    auto repeat = dyn_cast<RepeatOp>(top);
    if (repeat && wide->count(repeat.getRepeatName()))
      continue;
    top.walk([&](EinsumOp op) {
      if (!isNarrowed(op, outside))
        return;
      if (FloatType type = getTypeFor(op))
        products.push_back({op, type});
    });
  }
  for (auto [product, type] : products)
    narrow(product, type);
  return success();
}

/// Reads the types of operands, those of exceptions among them.
LogicalResult NarrowProducts::readTypes() {
  auto read = [&](StringRef name, FloatType &type) -> LogicalResult {
    type = getNarrowType(&getContext(), name);
    if (type && type.getWidth() <= 8)
      return success();
    return getOperation().emitError("type '")
           << name << "' is not f8E4M3FN, f8E5M2 or f4E2M1FN";
  };
  if (failed(read(type, forwardType)) || failed(read(gradients, gradientType)))
    return failure();
  // Patterns by their types, of which most have none.
  llvm::MapVector<StringRef, std::vector<std::string>> patterns;
  for (StringRef text : keep) {
    auto [pattern, name] = text.split('=');
    patterns[text.contains('=') ? name : "wide"].push_back(pattern.str());
  }
  exceptions.clear();
  for (auto &[name, texts] : patterns) {
    Exceptions &some = exceptions.emplace_back();
    if (failed(emitIfFailed(getOperation(), some.patterns.read(texts))) ||
        (name != "wide" && failed(read(name, some.type))))
      return failure();
  }
  return success();
}

void NarrowProducts::runOnOperation() {
  if (failed(readTypes()))
    return signalPassFailure();
  FailureOr<SymBinding> known =
      collectSymbolValues(getOperation(), config, *values);
  if (failed(known))
    return signalPassFailure();
  binding = std::move(*known);
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(narrowIn(function)))
      return signalPassFailure();
  // What most models have may be kept, or nothing.
  for (Exceptions &some : exceptions)
    if (!keepIfThere &&
        failed(emitIfFailed(
            getOperation(),
            some.patterns.checkUsed("parameters of products in layers",
                                    {"router", "none"}))))
      return signalPassFailure();
}
