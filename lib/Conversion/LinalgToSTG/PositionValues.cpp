//===- PositionValues.cpp - What depends on positions alone ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PositionValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "stg/Dialect/STG/IR/STG.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace stg;

/// A number, a boolean or, of a constant tensor, what all elements are.
static std::optional<double> toDouble(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    if (number.getType().isInteger(1))
      return number.getValue().isZero() ? 0.0 : 1.0;
    return static_cast<double>(number.getValue().getSExtValue());
  }
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    if (elements.isSplat())
      return toDouble(elements.getSplatValue<Attribute>());
  return std::nullopt;
}

bool PositionValues::isParameter(Operation *op) {
  if (isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(op))
    return isa<RankedTensorType>(op->getResult(0).getType());
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return false;
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  return type && isa<FloatType>(type.getElementType()) &&
         !toDouble(constant.getValue());
}

StringAttr PositionValues::getMask(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  auto function =
      arg ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return {};
  return function.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                               STGDialect::kMaskAttr);
}

bool PositionValues::isUndefined(Value tensor) {
  return tensor.getDefiningOp<tensor::EmptyOp>();
}

bool PositionValues::isPosition(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  bool result = getMask(value) != nullptr;
  if (Operation *op = value.getDefiningOp()) {
    result = !isParameter(op) && llvm::all_of(op->getOperands(), [&](Value v) {
      return isPosition(v);
    });
    // An extent is no data.
    result |= isa<tensor::DimOp>(op);
    // What a body reads from outside.
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentRegion()->isProperAncestor(&region))
            result &= isPosition(operand);
      });
  }
  return known[value] = result;
}

std::optional<double> PositionValues::getSplat(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return toDouble(constant.getValue());
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    Attribute value;
    if (matchPattern(fill.getInputs().front(), m_Constant(&value)))
      return toDouble(value);
    return std::nullopt;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
          tensor::ExtractSliceOp, linalg::BroadcastOp, linalg::TransposeOp>(op))
    return getSplat(op->getOperand(0));
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    Attribute value;
    if (matchPattern(splat.getInput(), m_Constant(&value)))
      return toDouble(value);
  }
  return std::nullopt;
}

int64_t PositionValues::getSampleExtent(int64_t extent) const {
  return ShapedType::isDynamic(extent) ? sampleExtent : extent;
}

void PositionValues::noteConstants(Value scalar, linalg::LinalgOp op) {
  if (auto arg = dyn_cast<BlockArgument>(scalar)) {
    if (op && arg.getOwner() == op.getBlock())
      noteConstants(op.getMatchingOpOperand(arg)->get(), {});
    return;
  }
  Operation *producer = scalar.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(producer)) {
    std::optional<double> value = toDouble(constant.getValue());
    if (value && !isa<FloatType>(getElementTypeOrSelf(constant.getType())))
      sampleExtent = std::max<int64_t>(
          sampleExtent, std::min(2 * std::abs(*value) + 2, 131072.0));
    return;
  }
  if (isa<tensor::DimOp>(producer))
    return;
  if (auto inner = dyn_cast<linalg::LinalgOp>(producer))
    for (Value yielded : inner.getBlock()->getTerminator()->getOperands())
      noteConstants(yielded, inner);
  for (Value operand : producer->getOperands())
    noteConstants(operand, op);
}

static int64_t linearize(const PositionValues &values,
                         ArrayRef<int64_t> coordinates,
                         ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, shape))
    number = number * values.getSampleExtent(extent) + coordinate;
  return number;
}

static SmallVector<int64_t> delinearize(const PositionValues &values,
                                        int64_t number,
                                        ArrayRef<int64_t> shape) {
  SmallVector<int64_t> coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = number % values.getSampleExtent(shape[i]);
    number /= values.getSampleExtent(shape[i]);
  }
  return coordinates;
}

std::optional<double>
PositionValues::getElement(Value tensor, ArrayRef<int64_t> coordinates) {
  if (std::optional<double> splat = getSplat(tensor))
    return splat;
  Operation *op = tensor.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (StringAttr mask = getMask(tensor); mask && type) {
    bool isSeen = true;
    if (symbolizeAttentionMask(mask.getValue()) == AttentionMask::Causal &&
        coordinates.size() >= 2)
      isSeen = coordinates.back() <= coordinates[coordinates.size() - 2];
    if (isa<FloatType>(type.getElementType()))
      return isSeen ? 0 : -std::numeric_limits<double>::infinity();
    return isSeen;
  }
  if (!op || !type)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return std::nullopt;
    int64_t number = linearize(*this, coordinates, type.getShape());
    return toDouble(elements.getValues<Attribute>()[number]);
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    auto source = cast<RankedTensorType>(op->getOperand(0).getType());
    return getElement(
        op->getOperand(0),
        delinearize(*this, linearize(*this, coordinates, type.getShape()),
                    source.getShape()));
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return getElement(cast.getSource(), coordinates);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<int64_t> source;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned next = 0;
    for (auto [dim, offset] : llvm::enumerate(slice.getStaticOffsets())) {
      int64_t stride = slice.getStaticStrides()[dim];
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
        return std::nullopt;
      source.push_back(offset +
                       (dropped[dim] ? 0 : coordinates[next++] * stride));
    }
    return getElement(slice.getSource(), source);
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumReductionLoops() != 0)
    return std::nullopt;
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  AffineMap map =
      structured.getIndexingMapMatchingResult(structured->getResult(result));
  SmallVector<int64_t> iteration(structured.getNumLoops(), 0);
  for (auto [expr, coordinate] : llvm::zip_equal(map.getResults(), coordinates))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      iteration[dim.getPosition()] = coordinate;
  Operation *yield = structured.getBlock()->getTerminator();
  return getScalar(yield->getOperand(result), structured, iteration);
}

static double compare(arith::CmpIPredicate predicate, double x, double y) {
  // As unsigned numbers negative ones are large.
  if (predicate >= arith::CmpIPredicate::ult) {
    x += x < 0 ? 0x1p64 : 0;
    y += y < 0 ? 0x1p64 : 0;
  }
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  llvm_unreachable("unknown predicate");
}

static std::optional<double> compare(arith::CmpFPredicate predicate, double x,
                                     double y) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    return x == y;
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UNE:
    return x != y;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return x < y;
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return x <= y;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return x >= y;
  default:
    return std::nullopt;
  }
}

std::optional<double> PositionValues::getScalar(Value scalar,
                                                linalg::LinalgOp op,
                                                ArrayRef<int64_t> iteration) {
  if (auto arg = dyn_cast<BlockArgument>(scalar)) {
    if (arg.getOwner() != op.getBlock())
      return std::nullopt;
    OpOperand *operand = op.getMatchingOpOperand(arg);
    if (!isa<RankedTensorType>(operand->get().getType())) {
      Attribute value;
      if (matchPattern(operand->get(), m_Constant(&value)))
        return toDouble(value);
      return std::nullopt;
    }
    SmallVector<int64_t> coordinates;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        coordinates.push_back(iteration[dim.getPosition()]);
      else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        coordinates.push_back(constant.getValue());
      else
        return std::nullopt;
    }
    return getElement(operand->get(), coordinates);
  }
  Operation *body = scalar.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(body))
    return toDouble(constant.getValue());
  if (auto index = dyn_cast<linalg::IndexOp>(body))
    return static_cast<double>(iteration[index.getDim()]);
  if (auto dim = dyn_cast<tensor::DimOp>(body)) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!type || !number)
      return std::nullopt;
    return static_cast<double>(getSampleExtent(type.getDimSize(*number)));
  }
  SmallVector<double, 3> x;
  for (Value operand : body->getOperands()) {
    std::optional<double> value = getScalar(operand, op, iteration);
    if (!value)
      return std::nullopt;
    x.push_back(*value);
  }
  // A sign that is one bit is -1.
  if (isa<arith::ExtSIOp, arith::SIToFPOp>(body) &&
      body->getOperand(0).getType().isInteger(1))
    return -x[0];
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
          arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
          body))
    return x[0];
  if (isa<arith::AddIOp, arith::AddFOp>(body))
    return x[0] + x[1];
  if (isa<arith::SubIOp, arith::SubFOp>(body))
    return x[0] - x[1];
  if (isa<arith::MulIOp, arith::MulFOp>(body))
    return x[0] * x[1];
  if (isa<arith::DivFOp>(body))
    return x[0] / x[1];
  if (isa<arith::NegFOp>(body))
    return -x[0];
  if (isa<math::SqrtOp>(body))
    return std::sqrt(x[0]);
  if (isa<math::RsqrtOp>(body))
    return 1 / std::sqrt(x[0]);
  if (isa<math::ExpOp>(body))
    return std::exp(x[0]);
  if (isa<math::PowFOp, math::FPowIOp>(body))
    return std::pow(x[0], x[1]);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(body))
    return std::max(x[0], x[1]);
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(body))
    return std::min(x[0], x[1]);
  if (isa<arith::SelectOp>(body))
    return x[0] != 0 ? x[1] : x[2];
  bool isBoolean = scalar.getType().isInteger(1);
  if (isBoolean && isa<arith::AndIOp>(body))
    return x[0] != 0 && x[1] != 0;
  if (isBoolean && isa<arith::OrIOp>(body))
    return x[0] != 0 || x[1] != 0;
  if (isBoolean && isa<arith::XOrIOp>(body))
    return (x[0] != 0) != (x[1] != 0);
  if (auto cmp = dyn_cast<arith::CmpIOp>(body))
    return compare(cmp.getPredicate(), x[0], x[1]);
  if (auto cmp = dyn_cast<arith::CmpFOp>(body))
    return compare(cmp.getPredicate(), x[0], x[1]);
  return std::nullopt;
}
