//===- ClipGradients.cpp - Clips gradients by their norm ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalLayouts.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace stg {
#define GEN_PASS_DEF_CLIPGRADIENTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ClipGradients : stg::impl::ClipGradientsBase<ClipGradients> {
  using ClipGradientsBase::ClipGradientsBase;
  void runOnOperation() override;
};

/// The step of a device: its gradients, in the block that the optimizer is in.
struct DeviceStep {
  func::FuncOp function;
  SetVector<Value> gradients;

  static std::optional<DeviceStep> find(func::FuncOp function);
  LogicalResult clip(ArrayAttr axes);

private:
  Value createTotalNorm(ArrayAttr axes);
  LogicalResult scale(Block &block, DenseSet<Value> &read, Value norm);
};
} // namespace

static bool isOfOptimizer(Operation &op) {
  return getPhase(&op) == Phase::Optimizer;
}

/// None for a function that steps nothing.
std::optional<DeviceStep> DeviceStep::find(func::FuncOp function) {
  DeviceStep step{function, {}};
  for (Operation &op : function.getBody().front())
    if (isOfOptimizer(op))
      for (Value operand : op.getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || (!isa<ParamOp>(producer) && !isOfOptimizer(*producer)))
          step.gradients.insert(operand);
      }
  return step.gradients.empty() ? std::nullopt : std::optional(std::move(step));
}

static void setNormOrigin(Operation *op) {
  Origin origin;
  origin.name = StringAttr::get(op->getContext(), "gradient_norm");
  origin.phase = Phase::Optimizer;
  setOrigin(op, origin);
}

static Value createNorm(OpBuilder &builder, func::FuncOp function,
                        ValueRange gradients) {
  auto norm =
      GradientNormOp::create(builder, function.getLoc(), gradients, Origin());
  setNormOrigin(norm);
  return norm;
}

/// The norm of all devices, of which one has `norm`.
static Value createSum(OpBuilder &builder, Value norm, ArrayAttr axes) {
  auto sum =
      AllReduceOp::create(builder, norm.getLoc(), TypeRange(norm.getType()),
                          ValueRange(norm), ReduceKind::Sum, axes);
  setNormOrigin(sum);
  return sum.getResult(0);
}

/// A device that steps nothing adds nothing to what others wait for.
static void addNothing(func::FuncOp function, ArrayAttr axes) {
  OpBuilder builder(function.getBody().front().getTerminator());
  auto keep = KeepOp::create(
      builder, function.getLoc(),
      createSum(builder, createNorm(builder, function, {}), axes),
      /*like=*/Value());
  setPhase(keep, Phase::Optimizer);
}

/// Behind all gradients, and before all that is of the optimizer.
Value DeviceStep::createTotalNorm(ArrayAttr axes) {
  Block &block = function.getBody().front();
  Operation *last = nullptr;
  for (Value gradient : gradients)
    if (Operation *producer = gradient.getDefiningOp();
        producer && (!last || last->isBeforeInBlock(producer)))
      last = producer;
  auto builder = OpBuilder::atBlockBegin(&block);
  if (last) {
    SmallVector<Operation *> early;
    for (Operation &op : block) {
      if (&op == last)
        break;
      if (isOfOptimizer(op))
        early.push_back(&op);
    }
    for (Operation *op : llvm::reverse(early))
      op->moveAfter(last);
    builder.setInsertionPointAfter(last);
  }
  Value norm = createNorm(builder, function, gradients.getArrayRef());
  return axes.empty() ? norm : createSum(builder, norm, axes);
}

/// Who reads what of `read`, which gets the slices that loops give.
LogicalResult DeviceStep::scale(Block &block, DenseSet<Value> &read,
                                Value norm) {
  auto isRead = [&](Value value) { return read.contains(value); };
  for (Operation &op : block) {
    if (!isOfOptimizer(op) || isa<GradientNormOp>(op))
      continue;
    if (auto scan = dyn_cast<ScanOpInterface>(op)) {
      for (auto [slice, stack] :
           llvm::zip_equal(scan.getSliceArgs(), scan.getStacks()))
        if (isRead(stack))
          read.insert(slice);
      if (failed(scale(op.getRegion(0).front(), read, norm)))
        return failure();
    } else if (llvm::any_of(op.getOperands(), isRead)) {
      auto clipped = dyn_cast<ClippedOpInterface>(op);
      if (!clipped)
        return op.emitOpError("reads a gradient that it cannot clip: it does "
                              "not implement ClippedOpInterface");
      clipped.getNormMutable().assign(norm);
    }
  }
  return success();
}

LogicalResult DeviceStep::clip(ArrayAttr axes) {
  Value norm = createTotalNorm(axes);
  DenseSet<Value> read(gradients.begin(), gradients.end());
  return scale(function.getBody().front(), read, norm);
}

/// The axes along which devices do not have the same gradients.
static ArrayAttr findAxes(MeshAttr mesh, ArrayRef<DeviceStep> steps) {
  SetVector<Attribute> found;
  for (const DeviceStep &step : steps) {
    LocalLayouts layouts(step.function, mesh);
    for (StringAttr axis : layouts.getAxes())
      if (llvm::any_of(step.gradients, [&](Value gradient) {
            return layouts.get(gradient, axis).kind > AxisState::Whole;
          }))
        found.insert(axis);
  }
  // Stages wait for each other, and for those that step nothing.
  if (StringAttr axis = mesh.getPipelineAxis())
    found.insert(axis);
  return ArrayAttr::get(mesh.getContext(), found.getArrayRef());
}

/// True for one of these functions, and for one that calls one.
static bool hasStep(func::FuncOp function, const llvm::StringSet<> &stepping) {
  return stepping.contains(function.getSymName()) ||
         function
             .walk([&](func::CallOp call) {
               return stepping.contains(call.getCallee())
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
}

void ClipGradients::runOnOperation() {
  llvm::MapVector<Operation *, SmallVector<DeviceStep>> stepsOf; // By mesh.
  llvm::StringSet<> stepping;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      if (std::optional<DeviceStep> step = DeviceStep::find(function)) {
        stepsOf[MeshOp::lookup(function)].push_back(std::move(*step));
        stepping.insert(function.getSymName());
      }
  llvm::MapVector<Operation *, SmallVector<func::FuncOp>> frozenOf;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (function->hasAttr(STGDialect::kCoordinatesAttr) &&
        !hasStep(function, stepping))
      frozenOf[MeshOp::lookup(function)].push_back(function);
  for (auto &[mesh, steps] : stepsOf) {
    ArrayAttr axes = mesh ? findAxes(cast<MeshOp>(mesh).getMesh(), steps)
                          : ArrayAttr::get(&getContext(), {});
    for (DeviceStep &step : steps)
      if (failed(step.clip(axes)))
        return signalPassFailure();
    for (func::FuncOp function : frozenOf.lookup(mesh))
      addNothing(function, axes);
  }
}
