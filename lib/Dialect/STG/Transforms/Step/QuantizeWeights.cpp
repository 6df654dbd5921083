//===- QuantizeWeights.cpp - Weights in few bits, with scales -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices that products of layers read get a type with scales, and what has to
// be done to read them becomes an op. All bytes follow from the type, whatever
// is sharded later.
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/Support/GlobPattern.h"

namespace stg {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// How elements are stored. Blocks are so many elements along what a product
/// sums over, and along what it does not; -1: all of them.
struct Storage {
  Type element, scale;
  int64_t summed, other;
};

/// A matrix, and the operands of products that it is.
struct Weight {
  ParamOp param;
  SmallVector<OpOperand *> uses;
};

struct QuantizeWeights : stg::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;
  void runOnOperation() override;

private:
  LogicalResult readPatterns();
  bool isKept(ParamOp param);
  void store(Weight &weight, const Storage &storage);

  SmallVector<llvm::GlobPattern> patterns;
};
} // namespace

static Storage getStorage(MLIRContext *context, WeightFormat format) {
  Type f8 = Float8E4M3FNType::get(context), f32 = Float32Type::get(context);
  Type f4 = Float4E2M1FNType::get(context);
  Type power = Float8E8M0FNUType::get(context);
  switch (format) {
  case WeightFormat::FP8:
    return {f8, f32, -1, 1};
  case WeightFormat::FP8Block:
    return {f8, f32, 128, 128};
  case WeightFormat::MXFP8:
    return {f8, power, 32, 1};
  case WeightFormat::Int8:
    return {IntegerType::get(context, 8), f32, -1, 1};
  case WeightFormat::Int4:
    return {IntegerType::get(context, 4), Float16Type::get(context), 128, 1};
  case WeightFormat::MXFP4:
    return {f4, power, 32, 1};
  case WeightFormat::NVFP4:
    return {f4, f8, 16, 1};
  }
  llvm_unreachable("all formats are handled");
}

/// Collects the products in repeats that read the value; false where something
/// else does.
static bool collectProducts(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<ReplicateOp>(op)) {
      if (!collectProducts(op->getResult(0), uses))
        return false;
      continue;
    }
    auto product = dyn_cast<EinsumOp>(op);
    if (!product || !product.getCost().isMatrix ||
        !op->getParentOfType<LoopLikeOpInterface>())
      return false;
    uses.push_back(&use);
  }
  return !uses.empty();
}

/// What a dimension of a matrix is to the product that reads it.
enum class Part { Slices, Summed, Other };

static Part getPart(const EinsumEquation &equation, unsigned number,
                    char letter) {
  if (!equation.output.contains(letter))
    return Part::Summed;
  for (auto [i, term] : llvm::enumerate(equation.inputs))
    if (i != number && term.contains(letter))
      return Part::Slices;
  return Part::Other;
}

/// The blocks of a matrix that is read so. Dimensions side by side that are the
/// same part are one; a number of matrices, such as gate and up, are several.
static SmallVector<int64_t> getBlocks(OpOperand &use, const Storage &storage) {
  auto product = cast<EinsumOp>(use.getOwner());
  auto equation = llvm::cantFail(EinsumEquation::parse(product.getEquation()));
  StringRef term = equation.inputs[use.getOperandNumber()];
  auto type = cast<SymTensorType>(use.get().getType());
  auto getPartOf = [&](size_t i) {
    return getPart(equation, use.getOperandNumber(), term[i]);
  };
  SmallVector<int64_t> blocks;
  for (size_t i = 0; i < term.size(); ++i) {
    Part part = getPartOf(i);
    bool isNamed = !type.getDim(i).getNames().empty();
    bool isJoined = part != Part::Slices && isNamed && i + 1 < term.size() &&
                    getPartOf(i + 1) == part;
    blocks.push_back(part == Part::Slices || !isNamed ? 1
                     : isJoined                       ? 0
                     : part == Part::Summed           ? storage.summed
                                                      : storage.other);
  }
  return blocks;
}

LogicalResult QuantizeWeights::readPatterns() {
  patterns.clear();
  for (const std::string &text : keep) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return getOperation().emitError("keeps '")
             << text << "': " << llvm::toString(pattern.takeError());
    patterns.push_back(std::move(*pattern));
  }
  return success();
}

/// A pattern is for a name, with what stands before a dot or without it.
bool QuantizeWeights::isKept(ParamOp param) {
  StringRef name = param.getParamName();
  return llvm::any_of(patterns, [&](const llvm::GlobPattern &pattern) {
    return pattern.match(name) || pattern.match(name.rsplit('.').second);
  });
}

void QuantizeWeights::store(Weight &weight, const Storage &storage) {
  Type read = weight.param.getType().getElementType();
  auto stored = ScaledType::get(&getContext(), storage.element, storage.scale,
                                getBlocks(*weight.uses.front(), storage));
  for (OpOperand *use : weight.uses) {
    // Replicas of slices are those of what is stored.
    for (Value value = use->get(); value;) {
      auto type = cast<SymTensorType>(value.getType());
      value.setType(type.withElementType(stored));
      Operation *op = value.getDefiningOp();
      value = isa<ReplicateOp>(op) ? op->getOperand(0) : Value();
    }
  }
  for (OpOperand *use : weight.uses) {
    Operation *product = use->getOwner();
    OpBuilder builder(product);
    auto type = cast<SymTensorType>(use->get().getType());
    auto dequantize = DequantizeOp::create(
        builder, product->getLoc(), type.withElementType(read), use->get());
    copyOrigin(product, dequantize);
    StringAttr own = getOrigin(product).name;
    setName(dequantize,
            builder.getStringAttr((own ? own.getValue() : StringRef("weight")) +
                                  ".dequantize"));
    use->set(dequantize);
  }
}

void QuantizeWeights::runOnOperation() {
  if (failed(readPatterns()))
    return signalPassFailure();
  // A parameter is read in several places as one.
  llvm::MapVector<StringAttr, SmallVector<ParamOp>> params;
  getOperation().walk([&](ParamOp param) {
    params[param.getParamNameAttr()].push_back(param);
  });
  Storage storage = getStorage(&getContext(), format);
  for (auto &[name, reads] : params) {
    SmallVector<Weight> weights;
    bool isMatrix = true;
    for (ParamOp param : reads) {
      weights.push_back({param, {}});
      isMatrix &= isa<FloatType>(param.getType().getElementType()) &&
                  param.getType().getRank() > 1 && !isKept(param) &&
                  collectProducts(param, weights.back().uses);
    }
    if (isMatrix)
      for (Weight &weight : weights)
        store(weight, storage);
  }
}
