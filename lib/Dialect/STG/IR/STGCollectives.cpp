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

static LogicalResult verifyAxes(Operation *op, ArrayAttr axes) {
  if (axes.empty())
    return op->emitOpError("expects at least one mesh axis");
  SmallPtrSet<Attribute, 4> seen;
  for (auto axis : axes.getAsRange<StringAttr>())
    if (!seen.insert(axis).second)
      return op->emitOpError("names mesh axis '")
             << axis.getValue() << "' twice";
  return success();
}

// all_reduce_c1
LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}

static SymTensorType asTensor(Type type) { return cast<SymTensorType>(type); }

static LogicalResult verifySameElementType(Operation *op, SymTensorType input,
                                           SymTensorType result) {
  if (input.getElementType() == result.getElementType())
    return success();
  return op->emitOpError("expects operand and result of one element type, "
                         "found ")
         << input.getElementType() << " and " << result.getElementType();
}

/// Checks that `whole` is `shard` with dimension `dim` times the group size.
static LogicalResult verifyShard(Operation *op, SymTensorType whole,
                                 SymTensorType shard, int64_t dim,
                                 SymExpr group) {
  if (dim < 0 || dim >= shard.getRank())
    return op->emitOpError("has dimension ")
           << dim << ", the tensor has rank " << shard.getRank();
  if (failed(verifySameElementType(op, whole, shard)))
    return failure();
  SmallVector<DimAttr> expected(shard.getDims());
  expected[dim] = expected[dim].withExtent(expected[dim].getExtent() * group);
  return checkSameShape(op->getLoc(), "unsharded tensor", expected,
                        whole.getDims());
}

/// Checks that dimension `from` is whole after and `to` before. Where devices
/// hold different shares, one of the two extents is free.
static LogicalResult verifyExchange(CollectiveOpInterface op,
                                    SymTensorType input, SymTensorType result,
                                    SymExpr group) {
  if (failed(verifySameElementType(op, input, result)))
    return failure();
  ExtentRange shape = input.getShape();
  int64_t rank = shape.size(), from = *op.getDividedBefore(),
          to = *op.getDividedAfter();
  if (from < 0 || from >= rank || to < 0 || to >= rank || from == to)
    return op->emitOpError(
               "expects two different dimensions of a tensor of rank ")
           << rank << ", found " << from << " and " << to;
  SymExpr divided = shape[to].exactDiv(group);
  std::optional<Rational> extent =
      divided ? divided.getConstant() : std::nullopt;
  bool isUneven = op.getExactBytes() && result.getRank() == rank;
  bool isFree = isUneven && result.getShape()[from] == shape[from] * group;
  // A mean of several extents may be a fraction.
  bool isMean =
      divided && result.getRank() == rank && result.getShape()[to] == divided;
  if (!divided || (extent && !extent->isInteger() && !isMean && !isFree))
    return op->emitOpError("cannot divide extent ")
           << shape[to].str() << " by the group size " << group.str();
  SmallVector<DimAttr> expected(input.getDims());
  expected[from] = expected[from].withExtent(shape[from] * group);
  expected[to] = expected[to].withExtent(divided);
  if (isUneven) {
    int64_t free = isFree ? to : from;
    expected[free] = expected[free].withExtent(result.getShape()[free]);
  }
  return checkSameShape(op->getLoc(), "result", expected, result.getDims());
}

/// Where devices have shares of different size, only what the dimensions are
/// is the same before and after.
static LogicalResult verifyUneven(Operation *op, SymTensorType input,
                                  SymTensorType result) {
  if (failed(verifySameElementType(op, input, result)))
    return failure();
  SmallVector<DimAttr> expected(input.getDims());
  if (input.getRank() == result.getRank())
    for (auto [dim, other] : llvm::zip_equal(expected, result.getDims()))
      dim = dim.withExtent(other.getExtent());
  return checkSameShape(op->getLoc(), "result", expected, result.getDims());
}

/// Checks one operand and what is made of it.
static LogicalResult verifyOperand(CollectiveOpInterface op, Type operand,
                                   Type made, SymExpr group) {
  SymTensorType input = asTensor(operand), result = asTensor(made);
  bool isExchange = op.getDividedBefore() && op.getDividedAfter();
  if (isExchange ? op.getPaddedBytes() : op.getExactBytes())
    return verifyUneven(op, input, result);
  if (op.getDividedBefore() && op.getDividedAfter())
    return verifyExchange(op, input, result, group);
  if (op.getDividedBefore())
    return verifyShard(op, result, input, *op.getDividedBefore(), group);
  if (op.getDividedAfter())
    return verifyShard(op, input, result, *op.getDividedAfter(), group);
  return success();
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

/// Checks that a shard is that of its tensor; one that is gathered may be cast
/// to a narrower type.
static LogicalResult verifyFlat(CollectiveOpInterface op, Type operand,
                                Type made, SymExpr group) {
  bool isGather = op.isKind(CollectiveKind::AllGather);
  SymTensorType whole = asTensor(isGather ? made : operand);
  SymTensorType shard = asTensor(isGather ? operand : made);
  if (isGather && whole.getElementBytes() < shard.getElementBytes())
    whole = whole.withElementType(shard.getElementType());
  int64_t leading = shard.getRank() - 1;
  if (leading >= 0 && leading <= whole.getRank() &&
      getFlatShard(whole, leading, group) == shard) // flat_all_gather_c2
    return success();
  return op->emitOpError("has ")
         << shard << " for the flat shard of " << whole << ", expected "
         << getFlatShard(
                whole, std::clamp<int64_t>(leading, 0, whole.getRank()), group);
}

LogicalResult stg::detail::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  unsigned operands = op->getNumOperands(), results = op->getNumResults();
  if (results > 0 && operands != results) // flat_all_gather_c1
    return op->emitOpError("has ")
           << operands << " operands and " << results
           << " results, expected as many and at least one";
  if (operands == 0)
    return op->emitOpError("expects at least one operand");
  if (failed(verifyAxes(op, collective.getAxes())))
    return failure();
  if (auto reduce = dyn_cast<AllReduceOp>(op); reduce && reduce.getAmong())
    if (failed(verifyAmong(op, *reduce.getAmong(), // all_reduce_c3
                           collective.getAxes().size())))
      return failure();
  if (collective.getPaddedBytes() && !collective.getExactBytes())
    return op->emitOpError("is padded, but has no payload"); // all_gather_c3
  if (results == 0 || collective.isFlat() || collective.getDividedBefore() ||
      collective.getDividedAfter())
    return success();
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperandTypes(), op->getResultTypes()))
    if (operand != result)
      return op->emitOpError("makes ")
             << result << " of " << operand << ", expected the same type";
  return success();
}

/// Coordinates are less than the size of their axis, if that is a number.
static LogicalResult verifyAmongSize(AllReduceOp op, SymExpr size) {
  std::optional<int64_t> number = size.getInt64();
  std::optional<ArrayRef<int64_t>> among = op.getAmong();
  if (!among || !number)
    return success();
  for (int64_t coordinate : *among) // all_reduce_c3
    if (coordinate >= *number)
      return op.emitOpError("is among coordinate ")
             << coordinate << " of mesh axis '"
             << cast<StringAttr>(op.getAxes()[0]).getValue()
             << "', which has size " << *number;
  return success();
}

LogicalResult stg::detail::verifyGroup(Operation *op,
                                       SymbolTableCollection &symbolTable) {
  auto collective = cast<CollectiveOpInterface>(op);
  MeshOp mesh = MeshOp::lookup(op, symbolTable);
  if (!mesh)
    return op->emitOpError("needs a mesh; declare one with 'stg.mesh'");
  if (failed(verifyMeshAxes(op, mesh, collective.getAxes())))
    return failure();
  SymExpr group = mesh.getMesh().getGroupSize(collective.getAxes());
  if (auto reduce = dyn_cast<AllReduceOp>(op);
      reduce && failed(verifyAmongSize(reduce, group)))
    return failure();
  auto verify = collective.isFlat() ? verifyFlat : verifyOperand;
  if (op->getNumResults() > 0)
    for (auto [operand, result] :
         llvm::zip_equal(op->getOperandTypes(), op->getResultTypes()))
      if (failed(verify(collective, operand, result, group)))
        return failure();
  return verifyDeclaredSymbols(op, symbolTable);
}

static SymExpr getGroupSize(Operation *op, ArrayAttr axes) {
  return MeshOp::lookup(op).getMesh().getGroupSize(axes);
}

static SymExpr addBytes(MLIRContext *context, TypeRange types) {
  SymExpr bytes = SymExpr::get(context, 0);
  for (Type type : types)
    bytes = bytes + asTensor(type).getNumBytes();
  return bytes;
}

/// The shards, in the type that they are gathered in.
SymExpr FlatAllGatherOp::getExactBytes() {
  SmallVector<Type> shards;
  for (auto [shard, whole] :
       llvm::zip_equal(getOperandTypes(), getResultTypes()))
    shards.push_back(
        asTensor(shard).withElementType(asTensor(whole).getElementType()));
  return addBytes(getContext(), shards);
}

/// The tensors with their padding.
SymExpr FlatReduceScatterOp::getExactBytes() {
  return addBytes(getContext(), getResultTypes()) *
         getGroupSize(*this, getAxes());
}

LogicalResult GatherUpdatedOp::verify() {
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

/// One device's shards.
SymExpr GatherUpdatedOp::getExactBytes() {
  SymExpr group = getGroupSize(*this, getAxes());
  SmallVector<Type> shards;
  for (auto [input, leading] : llvm::zip_equal(getInputs(), getLeading()))
    shards.push_back(getFlatShard(tensorOf(input), leading, group));
  return addBytes(getContext(), shards);
}

void GatherUpdatedOp::takeOperandsOf(ArrayRef<OpOperand *> operands) {
  SmallVector<int64_t> leading;
  for (OpOperand *operand : operands)
    leading.push_back(cast<GatherUpdatedOp>(operand->getOwner())
                          .getLeading()[operand->getOperandNumber()]);
  setLeading(leading);
}

//===----------------------------------------------------------------------===//
// What collectives have in common
//===----------------------------------------------------------------------===//

SymExpr stg::getNumBytes(CollectiveOpInterface op) {
  SymExpr exact = op.getExactBytes();
  return exact ? exact : addBytes(op->getContext(), op->getOperandTypes());
}

Attribute stg::detail::getCollectiveIdentity(Operation *op,
                                             ArrayRef<StringRef> without) {
  NamedAttrList attrs(op->getAttrDictionary());
  attrs.erase(STGDialect::kOriginName);
  attrs.erase(STGDialect::kOriginAttr);
  for (StringRef name : without)
    attrs.erase(name);
  attrs.set("op",
            StringAttr::get(op->getContext(), op->getName().getStringRef()));
  return attrs.getDictionary(op->getContext());
}

Operation *stg::createCoalesced(OpBuilder &builder, CollectiveOpInterface like,
                                ArrayRef<OpOperand *> operands,
                                ValueRange values, TypeRange types) {
  OperationState state(like->getLoc(), like->getName());
  state.addOperands(values);
  state.addTypes(types);
  state.addAttributes(like->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = like->getPropertiesAsAttribute();
  Operation *made = builder.create(state);
  cast<CollectiveOpInterface>(made).takeOperandsOf(operands);
  return made;
}

Operation *stg::coalesce(ArrayRef<CollectiveOpInterface> ops,
                         CollectiveOpInterface like) {
  SmallVector<OpOperand *> operands;
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (CollectiveOpInterface op : ops) {
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(&operand);
    llvm::append_range(values, op->getOperands());
    llvm::append_range(types, op->getResultTypes());
  }
  OpBuilder builder(like);
  Operation *all = createCoalesced(builder, like, operands, values, types);
  setRole(all, std::nullopt);
  return all;
}
