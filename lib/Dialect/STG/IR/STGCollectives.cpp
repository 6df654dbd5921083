//===- STGCollectives.cpp - Verifiers of the collectives ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

/// The size of the group, or null after an error: without a mesh, with an axis
/// that it lacks, or with one named twice.
static SymExpr verifyAxes(Operation *op, ArrayAttr axes) {
  MeshOp mesh = MeshOp::lookup(op);
  if (!mesh) {
    op->emitOpError("needs a mesh; declare one with 'stg.mesh'");
    return {};
  }
  if (axes.empty()) {
    op->emitOpError("expects at least one mesh axis");
    return {};
  }
  SmallPtrSet<Attribute, 4> seen;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    if (!seen.insert(axis).second) {
      op->emitOpError("names mesh axis '") << axis.getValue() << "' twice";
      return {};
    }
  }
  if (failed(stg::detail::verifyMeshAxes(op, mesh, axes)))
    return {};
  return mesh.getMesh().getGroupSize(axes);
}

// all_reduce_c1
LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getInputs().empty())
    return emitOpError("expects at least one operand");
  return success(static_cast<bool>(verifyAxes(*this, getAxes())));
}

/// Checks that `whole` is `shard` with dimension `dim` times the group size.
static LogicalResult verifyShard(Operation *op, SymTensorType whole,
                                 SymTensorType shard, int64_t dim,
                                 ArrayAttr axes) {
  SymExpr group = verifyAxes(op, axes);
  if (!group)
    return failure();
  if (dim < 0 || dim >= shard.getRank())
    return op->emitOpError("has dimension ")
           << dim << ", the tensor has rank " << shard.getRank();
  if (whole.getElementType() != shard.getElementType())
    return op->emitOpError(
               "expects operand and result of one element type, found ")
           << whole.getElementType() << " and " << shard.getElementType();
  SmallVector<DimAttr> expected(shard.getDims());
  expected[dim] = expected[dim].withExtent(expected[dim].getExtent() * group);
  return checkSameShape(op->getLoc(), "unsharded tensor", expected,
                        whole.getDims());
}

LogicalResult AllGatherOp::verify() {
  return verifyShard(*this, getResult().getType(), getInput().getType(),
                     getDim(), getAxes());
}

LogicalResult ReduceScatterOp::verify() {
  return verifyShard(*this, getInput().getType(), getResult().getType(),
                     getDim(), getAxes());
}

LogicalResult LocalSliceOp::verify() {
  return verifyShard(*this, getInput().getType(), getResult().getType(),
                     getDim(), getAxes());
}

LogicalResult AllToAllOp::verify() {
  SymExpr group = verifyAxes(*this, getAxes());
  if (!group)
    return failure();
  SymTensorType input = getInput().getType(), result = getResult().getType();
  if (input.getElementType() != result.getElementType())
    return emitOpError("expects operand and result of one element type, found ")
           << input.getElementType() << " and " << result.getElementType();
  ExtentRange shape = input.getShape();
  int64_t rank = shape.size(), from = getFrom(), to = getTo();
  if (from < 0 || from >= rank || to < 0 || to >= rank || from == to)
    return emitOpError("expects two different dimensions of a tensor of rank ")
           << rank << ", found " << from << " and " << to;
  SymExpr divided = shape[to].exactDiv(group);
  std::optional<Rational> extent =
      divided ? divided.getConstant() : std::nullopt;
  if (!divided || (extent && !extent->isInteger()))
    return emitOpError("cannot divide extent ")
           << shape[to].str() << " by the group size " << group.str();
  SmallVector<DimAttr> expected(input.getDims());
  expected[from] = expected[from].withExtent(shape[from] * group);
  expected[to] = expected[to].withExtent(divided);
  if (getPayload() && result.getRank() == rank) {
    int64_t free =
        result.getShape()[from] == expected[from].getExtent() ? to : from;
    expected[free] = expected[free].withExtent(result.getShape()[free]);
  }
  return checkSameShape(getLoc(), "result", expected, result.getDims());
}

//===----------------------------------------------------------------------===//
// Flat shards
//===----------------------------------------------------------------------===//

SymTensorType stg::getFlatShard(SymTensorType whole, unsigned leading,
                                SymExpr group) {
  ArrayRef<DimAttr> flattened = whole.getDims().drop_front(leading);
  SymExpr rest = SymExpr::get(whole.getContext(), 1);
  for (DimAttr dim : flattened)
    rest = rest * dim.getExtent();
  SmallVector<DimAttr> dims(whole.getDims().take_front(leading));
  dims.push_back(DimAttr::getJoined(
      flattened, SymExpr::getFunction(SymFunc::CeilDiv, {rest, group})));
  return SymTensorType::get(whole.getContext(), dims, whole.getElementType());
}

/// `wholes` and `shards` correspond; shards may be cast to a narrower type.
static LogicalResult verifyFlat(Operation *op, TypeRange wholes,
                                TypeRange shards, ArrayAttr axes,
                                bool mayNarrow) {
  SymExpr group = verifyAxes(op, axes); // flat_all_gather_c3
  if (!group)
    return failure();
  if (wholes.empty() || wholes.size() != shards.size()) // flat_all_gather_c1
    return op->emitOpError("has ")
           << op->getNumOperands() << " operands and " << op->getNumResults()
           << " results, expected as many and at least one";
  for (auto [wholeType, shardType] : llvm::zip_equal(wholes, shards)) {
    auto whole = cast<SymTensorType>(wholeType);
    auto shard = cast<SymTensorType>(shardType);
    if (mayNarrow && whole.getElementBytes() < shard.getElementBytes())
      whole = whole.withElementType(shard.getElementType());
    int64_t leading = shard.getRank() - 1;
    if (leading < 0 || leading > whole.getRank() ||
        getFlatShard(whole, leading, group) != shard) // flat_all_gather_c2
      return op->emitOpError("has ")
             << shard << " for the flat shard of " << whole << ", expected "
             << getFlatShard(whole,
                             std::clamp<int64_t>(leading, 0, whole.getRank()),
                             group);
  }
  return success();
}

LogicalResult FlatAllGatherOp::verify() {
  return verifyFlat(*this, getResultTypes(), getOperandTypes(), getAxes(),
                    /*mayNarrow=*/true);
}

LogicalResult FlatReduceScatterOp::verify() {
  return verifyFlat(*this, getOperandTypes(), getResultTypes(), getAxes(),
                    /*mayNarrow=*/false);
}

LogicalResult GatherUpdatedOp::verify() {
  if (getInputs().empty()) // gather_updated_c1
    return emitOpError("expects at least one operand");
  if (!verifyAxes(*this, getAxes())) // gather_updated_c2
    return failure();
  if (getLeading().size() != getInputs().size()) // gather_updated_c3
    return emitOpError("has ") << getInputs().size() << " operands, but "
                               << getLeading().size() << " entries in leading";
  for (auto [input, leading] : llvm::zip_equal(getInputs(), getLeading()))
    if (leading < 0 || leading > tensorOf(input).getRank())
      return emitOpError("has ")
             << leading << " leading dimensions for an operand of type "
             << input.getType();
  return success();
}

SymExpr GatherUpdatedOp::getPayload() {
  SymExpr bytes = SymExpr::get(getContext(), 0);
  SymExpr group = MeshOp::lookup(*this).getMesh().getGroupSize(getAxes());
  for (auto [input, leading] : llvm::zip_equal(getInputs(), getLeading()))
    bytes = bytes + getFlatShard(tensorOf(input), leading, group).getNumBytes();
  return bytes;
}
