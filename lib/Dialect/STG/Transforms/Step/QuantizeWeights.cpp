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

#include "ParameterPatterns.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

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
  Type read; ///< Its elements before.
  SmallVector<OpOperand *> uses;
};

struct QuantizeWeights : stg::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;
  void runOnOperation() override;

private:
  void store(Weight &weight, const Storage &storage);
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

/// Collects the products in repeats that read the value, which may be cast for
/// them; false where something else does.
static bool collectProducts(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<ReplicateOp, CastOp>(op)) {
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

/// True for attention with latents as its keys: one head, which has no name.
static bool hasLatents(AttentionOp attention) {
  DimAttr heads = attention.getKey().getType().getDim(2);
  return heads.getNames().empty() && heads.getExtent().isOne();
}

/// True if the value is all or a part of what attention asks latents for.
static bool isQueryOfLatents(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ConcatOp, CastOp>(user))
      return isQueryOfLatents(user->getResult(0));
    auto attention = dyn_cast<AttentionOp>(user);
    return attention && attention.getQuery() == use.get() &&
           hasLatents(attention);
  });
}

/// What the dimension of latents is to a product that a head executes with a
/// matrix that makes its keys or values of latents c, in another order: q (W c)
/// is (q W) c. None for other products.
static std::optional<Part> getPartOfLatents(EinsumOp product, unsigned number) {
  if (isQueryOfLatents(product.getResult()))
    return Part::Other;
  Value read = product.getInputs()[1 - number];
  while (auto narrow = read.getDefiningOp<CastOp>())
    read = narrow.getInput();
  auto attention = read.getDefiningOp<AttentionOp>();
  return attention && hasLatents(attention) ? std::optional(Part::Summed)
                                            : std::nullopt;
}

/// The blocks of a matrix that is read so. Dimensions side by side that are the
/// same part are one; a number of matrices, such as gate and up, are several.
/// A matrix is stored once, whatever form a step reads it in: one that queries
/// or outputs have absorbed as that of a linear layer, which sums over latents.
static SmallVector<int64_t> getBlocks(OpOperand &use, const Storage &storage) {
  auto product = cast<EinsumOp>(use.getOwner());
  auto equation = llvm::cantFail(EinsumEquation::parse(product.getEquation()));
  StringRef term = equation.inputs[use.getOperandNumber()];
  auto type = cast<SymTensorType>(use.get().getType());
  auto getReadPart = [&](char letter) {
    return getPart(equation, use.getOperandNumber(), letter);
  };
  bool isOfHeads = llvm::any_of(
      term, [&](char letter) { return getReadPart(letter) == Part::Slices; });
  std::optional<Part> latents;
  if (isOfHeads && equation.inputs.size() == 2)
    latents = getPartOfLatents(product, use.getOperandNumber());
  auto getPartOf = [&](size_t i) {
    Part part = getReadPart(term[i]);
    if (latents)
      return part == *latents ? Part::Summed : Part::Other;
    return part;
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

/// Stores what `value` reads: the parameter, and replicas of its slices, which
/// are those of what is stored. What has been cast is read without the cast.
static Value setStored(Value value, ScaledType stored) {
  Operation *op = value.getDefiningOp();
  if (isa<CastOp>(op))
    return setStored(op->getOperand(0), stored);
  if (isa<ReplicateOp>(op))
    op->setOperand(0, setStored(op->getOperand(0), stored));
  auto type = cast<SymTensorType>(value.getType());
  value.setType(type.withElementType(stored));
  return value;
}

static void eraseUnread(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa<CastOp, ReplicateOp>(op) || !op->use_empty())
    return;
  Value input = op->getOperand(0);
  op->erase();
  eraseUnread(input);
}

void QuantizeWeights::store(Weight &weight, const Storage &storage) {
  auto stored = ScaledType::get(&getContext(), storage.element, storage.scale,
                                getBlocks(*weight.uses.front(), storage));
  for (OpOperand *use : weight.uses) {
    Operation *product = use->getOwner();
    OpBuilder builder(product);
    Value before = use->get();
    // What the product reads: activations' type, or that of narrow operands.
    Type read = cast<SymTensorType>(before.getType()).getElementType();
    if (auto known = dyn_cast<ScaledType>(read))
      read = weight.read;
    Value value = setStored(before, stored);
    auto type = cast<SymTensorType>(value.getType());
    auto dequantize = DequantizeOp::create(builder, product->getLoc(),
                                           type.withElementType(read), value);
    copyOrigin(product, dequantize);
    StringAttr own = getOrigin(product).name;
    setName(dequantize,
            builder.getStringAttr((own ? own.getValue() : StringRef("weight")) +
                                  ".dequantize"));
    use->set(dequantize);
    if (before != value)
      eraseUnread(before);
  }
}

void QuantizeWeights::runOnOperation() {
  ParameterPatterns kept;
  if (failed(emitIfFailed(getOperation(), kept.read(keep))))
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
      weights.push_back({param, param.getType().getElementType(), {}});
      isMatrix &= isa<FloatType>(param.getType().getElementType()) &&
                  param.getType().getRank() > 1 && !kept.match(param) &&
                  collectProducts(param, weights.back().uses);
    }
    if (isMatrix)
      for (Weight &weight : weights)
        store(weight, storage);
  }
  // What most models have may be kept, or nothing.
  if (!keepIfThere &&
      failed(emitIfFailed(getOperation(),
                          kept.checkUsed("matrices", {"router", "none"}))))
    signalPassFailure();
}
