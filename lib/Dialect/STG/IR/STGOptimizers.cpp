//===- STGOptimizers.cpp - Steps of optimizers ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the generated methods of optimizers do, and their verifiers.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Rules and costs
//===----------------------------------------------------------------------===//

ShardingRule stg::detail::makeOptimizerRule(OptimizerOpInterface op) {
  ShardingRule rule;
  TensorFactors factors =
      rule.addFactors("d", tensorOf(op.getParam()).getRank());
  rule.operands.assign(2, factors);
  rule.operands.resize(op->getNumOperands()); // A norm has no dimension.
  rule.results.assign(op->getNumResults(), factors);
  return rule;
}

/// With a norm it is read, and the gradient is multiplied.
static OpCost addClipping(OpCost cost, Operation *op, SymTensorType gradient) {
  MutableOperandRange norm = cast<ClippedOpInterface>(op).getNormMutable();
  if (norm.empty())
    return cost;
  cost.operations = cost.operations + gradient.getNumElements();
  cost.bytes = cost.bytes + tensorOf(norm[0].get()).getNumBytes();
  return cost;
}

SmallVector<StateBuffer>
stg::detail::getOptimizerStates(OptimizerOpInterface op,
                                ArrayRef<StringRef> moments, Type type) {
  // Of the whole parameter, or of the shard that this device steps.
  SymTensorType param =
      tensorOf(op.getGradient())
          .withoutSharding()
          .withElementType(tensorOf(op.getParam()).getElementType());
  Type f32 = Float32Type::get(op->getContext());
  SmallVector<StateBuffer> states;
  if (param.getElementType().getIntOrFloatBitWidth() < 32)
    states.push_back({"master", param.withElementType(f32)});
  for (StringRef name : moments)
    states.push_back({name.str(), param.withElementType(type)});
  return states;
}

/// The parameter is only written where a master copy is what the step works on.
OpCost stg::detail::getOptimizerCost(OptimizerOpInterface op,
                                     int64_t perElement) {
  SymTensorType gradient = tensorOf(op.getGradient());
  SymExpr elements = gradient.getNumElements();
  SymExpr param = elements * tensorOf(op.getParam()).getElementBytes();
  SymExpr bytes = gradient.getNumBytes() + param;
  bool hasMaster = false;
  auto cost = cast<CostOpInterface>(op.getOperation());
  for (StateBuffer &state : cost.getStateBuffers()) {
    bytes = bytes + state.type.getNumBytes() * 2;
    hasMaster |= state.suffix == "master";
  }
  if (!hasMaster)
    bytes = bytes + param;
  return addClipping({elements * perElement, bytes, false}, op, gradient);
}

static ShardingRule makeRule(SymTensorType type) {
  ShardingRule rule;
  TensorFactors factors = rule.addFactors("d", type.getRank());
  rule.operands.push_back(factors);
  rule.results.push_back(factors);
  return rule;
}

LogicalResult MomentOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getGradient().getType());
  return success();
}

ShardingRule MomentOp::getShardingRule() {
  ShardingRule rule = makeRule(getGradient().getType());
  rule.operands.resize(getNumOperands());
  return rule;
}

SmallVector<StateBuffer> MomentOp::getStateBuffers() {
  return {
      {"momentum", getGradient().getType().withoutSharding().withElementType(
                       getMoments())}};
}

OpCost MomentOp::getCost() {
  SymTensorType gradient = getGradient().getType();
  return addClipping({gradient.getNumElements() * 2,
                      (gradient.getNumBytes() +
                       gradient.withElementType(getMoments()).getNumBytes()) *
                          2,
                      false},
                     *this, gradient);
}

LogicalResult GradientNormOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location>, Adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(SymTensorType::get(context, {}, Float32Type::get(context)));
  return success();
}

OpCost GradientNormOp::getCost() {
  OpCost cost;
  cost.bytes = getOperandAndResultBytes(*this);
  cost.operations = SymExpr::get(getContext(), 0);
  for (Value gradient : getGradients())
    cost.operations = cost.operations + tensorOf(gradient).getNumElements() * 2;
  return cost;
}

ShardingRule OrthogonalizeOp::getShardingRule() {
  return makeRule(getInput().getType());
}

/// A block of a matrix has no meaning where the ranks that divide it would hold
/// the same parameter.
LogicalResult
OrthogonalizeOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  MeshAttr mesh = MeshOp::lookup(*this).getMesh();
  SmallVector<int64_t> dims(getRows());
  llvm::append_range(dims, getColumns());
  for (int64_t dim : dims)
    for (auto axis :
         getAxes("d" + std::to_string(dim)).getAsRange<StringAttr>())
      if (holdsSameParameters(mesh.getAxisRole(axis)))
        return emitOpError("needs whole matrices, or their blocks on a tensor "
                           "axis, and dimension ")
               << dim << " is divided over '" << axis.getValue()
               << "'; take another optimizer than muon, or do not divide it";
  return success();
}

OrthogonalizeOp::Matrices OrthogonalizeOp::getMatrices() {
  SymExpr one = SymExpr::get(getContext(), 1);
  SymExpr rows = one, columns = one, count = one;
  for (auto [i, extent] : llvm::enumerate(getInput().getType().getShape())) {
    auto dim = static_cast<int64_t>(i);
    SymExpr &size = llvm::is_contained(getRows(), dim)      ? rows
                    : llvm::is_contained(getColumns(), dim) ? columns
                                                            : count;
    size = size * extent;
  }
  return {SymExpr::getFunction(SymFunc::Min, {rows, columns}),
          SymExpr::getFunction(SymFunc::Max, {rows, columns}), count};
}

OpCost OrthogonalizeOp::getCost() {
  auto [shorter, longer, count] = getMatrices();
  return {shorter * shorter * (longer * 4 + shorter * 2) * count *
              static_cast<int64_t>(getIterations()),
          getOperandAndResultBytes(*this), true};
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyMoments(Operation *op, Type type) {
  if (isa<FloatType>(type) && !isa<Float4E2M1FNType>(type) &&
      SymTensorType::isValidElementType(type)) // adam_c2
    return success();
  return op->emitOpError(
             "expects a float type of whole bytes for the moments, found ")
         << type;
}

/// True for one dimension with no more elements than there are.
static bool mayBeShard(SymTensorType whole, SymTensorType shard) {
  std::optional<Rational> all = whole.getNumElements().getConstant(),
                          some = shard.getNumElements().getConstant();
  return shard.getRank() == 1 && !(all && some && *all < *some);
}

LogicalResult stg::detail::verifyOptimizer(Operation *op) { // adam_c1
  auto step = cast<OptimizerOpInterface>(op);
  SymTensorType param = tensorOf(step.getParam()),
                gradient = tensorOf(step.getGradient());
  if (mayBeShard(param, gradient))
    return success();
  return checkSameShape(op->getLoc(), "gradient", param.getDims(),
                        gradient.getDims(), step.getParam(),
                        step.getGradient());
}

LogicalResult stg::detail::verifyNorm(Operation *op) { // adam_c4, moment_c2
  MutableOperandRange norm = cast<ClippedOpInterface>(op).getNormMutable();
  if (norm.empty())
    return success();
  SymTensorType type = tensorOf(norm[0].get());
  if (type.getRank() == 0 && isa<FloatType>(type.getElementType()))
    return success();
  return op->emitOpError("expects one float as the norm of gradients, found ")
         << type;
}

LogicalResult AdamOp::verify() { return verifyMoments(*this, getMoments()); }

LogicalResult MomentumOp::verify() {
  return verifyMoments(*this, getMoments());
}

LogicalResult MomentOp::verify() { // moment_c1
  return verifyMoments(*this, getMoments());
}

LogicalResult OrthogonalizeOp::verify() {
  SymTensorType input = getInput().getType(), result = getResult().getType();
  if (!mayBeShard(input, result) &&
      failed(checkSameShape(getLoc(), "result", input.getDims(),
                            result.getDims()))) // orthogonalize_c1
    return failure();
  if (getRows().empty() || getColumns().empty()) // orthogonalize_c2
    return emitOpError("expects a dimension of rows and one of columns");
  SmallVector<int64_t> dims(getRows());
  llvm::append_range(dims, getColumns());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= input.getRank())
      return emitOpError("has no dimension ")
             << dim << ": the operand has rank " << input.getRank();
    if (llvm::is_contained(ArrayRef(dims).drop_front(i + 1), dim))
      return emitOpError("has dimension ") << dim << " twice";
  }
  if (getIterations() < 1) // orthogonalize_c3
    return emitOpError("expects at least one iteration, found ")
           << getIterations();
  return success();
}
