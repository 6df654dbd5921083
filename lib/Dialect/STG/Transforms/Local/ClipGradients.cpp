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
  Value createNorm(ArrayAttr axes);
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

/// Behind all gradients, and before all that is of the optimizer.
Value DeviceStep::createNorm(ArrayAttr axes) {
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
  Location loc = function.getLoc();
  Origin origin;
  origin.name = builder.getStringAttr("gradient_norm");
  origin.phase = Phase::Optimizer;
  Value norm = GradientNormOp::create(builder, loc, gradients.getArrayRef(),
                                      std::move(origin));
  if (axes.empty())
    return norm;
  auto sum = AllReduceOp::create(builder, loc, TypeRange(norm.getType()),
                                 ValueRange(norm), ReduceKind::Sum, axes);
  copyOrigin(norm.getDefiningOp(), sum);
  return sum.getResult(0);
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
  Value norm = createNorm(axes);
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
  // All devices of a pipeline wait for each other.
  if (StringAttr axis = mesh.getPipelineAxis())
    found.insert(axis);
  return ArrayAttr::get(mesh.getContext(), found.getArrayRef());
}

void ClipGradients::runOnOperation() {
  llvm::MapVector<Operation *, SmallVector<DeviceStep>> stepsOf; // By mesh.
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      if (std::optional<DeviceStep> step = DeviceStep::find(function))
        stepsOf[MeshOp::lookup(function)].push_back(std::move(*step));
  for (auto &[mesh, steps] : stepsOf) {
    ArrayAttr axes = mesh ? findAxes(cast<MeshOp>(mesh).getMesh(), steps)
                          : ArrayAttr::get(&getContext(), {});
    for (DeviceStep &step : steps)
      if (failed(step.clip(axes)))
        return signalPassFailure();
  }
}
