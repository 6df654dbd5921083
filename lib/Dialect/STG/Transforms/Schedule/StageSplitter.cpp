//===- StageSplitter.cpp - Tasks of pipeline stages -----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageSplitter.h"

using namespace mlir;
using namespace stg;

StageSplitter::StageSplitter(func::FuncOp program, ArrayRef<int64_t> layers,
                             ArrayRef<unsigned> deviceOf,
                             const GradientFlow &gradients)
    : program(program), deviceOf(deviceOf),
      stages(program, layers, deviceOf, gradients),
      steps(*llvm::max_element(deviceOf) + 1) {
  forward.resize(getNumStages());
  backward.resize(getNumStages());
}

/// Deals the ops out once: each list is as long as what is made of it.
void StageSplitter::dealOps() {
  forwardOps.resize(getNumStages());
  backwardOps.resize(getNumStages());
  stepOps.resize(steps.size());
  for (Operation &op : program.getBody().front()) {
    const BitVector *own = stages.getStages(&op);
    if (!own)
      continue;
    Section section = stages.getSection(&op);
    for (unsigned stage : own->set_bits()) {
      auto &list = section == Section::Forward    ? forwardOps[stage]
                   : section == Section::Backward ? backwardOps[stage]
                                                  : stepOps[deviceOf[stage]];
      // A device may have several of the stages.
      if (list.empty() || list.back() != &op)
        list.push_back(&op);
    }
  }
}

/// The order is that of the functions in the module.
void StageSplitter::makeBuilders() {
  auto make = [&](Task &task, Section section, const Twine &suffix) {
    return std::make_unique<TaskBuilder>(stages, builders, task, section,
                                         program.getSymName() + "." + suffix);
  };
  for (auto [stage, task] : llvm::enumerate(forward))
    builders.forward.push_back(
        make(task, Section::Forward, "stage" + Twine(stage) + ".forward"));
  for (auto [stage, task] : llvm::enumerate(backward))
    builders.backward.push_back(
        make(task, Section::Backward, "stage" + Twine(stage) + ".backward"));
  for (auto [device, task] : llvm::enumerate(steps))
    builders.steps.push_back(
        make(task, Section::Step, "device" + Twine(device) + ".step"));
}

LogicalResult StageSplitter::buildStep(unsigned device,
                                       ArrayRef<unsigned> own) {
  TaskBuilder &step = *builders.steps[device];
  for (Operation *op : stepOps[device]) {
    SmallVector<unsigned> here;
    for (unsigned stage : own)
      if (stages.getStages(op)->test(stage))
        here.push_back(stage);
    LogicalResult built = stages.getSharedTerm(op) ? step.reduceShared(here, op)
                          : isCoalesced(op) ? step.cloneCoalesced(here, op)
                                            : step.cloneOnce(here, op);
    if (failed(built))
      return failure();
  }
  step.finish(0);
  return success();
}

/// Each task after those that it reads from: stages in order, and backward.
LogicalResult StageSplitter::buildTasks(Value kept) {
  unsigned numStages = getNumStages();
  std::vector<SmallVector<unsigned>> stagesOn(steps.size());
  for (auto [stage, device] : llvm::enumerate(deviceOf))
    stagesOn[device].push_back(stage);
  for (unsigned stage = 0; stage < numStages; ++stage)
    for (Operation *op : forwardOps[stage])
      if (failed(builders.forward[stage]->clone(stage, op)))
        return failure();
  if (kept &&
      failed(builders.forward[numStages - 1]->addResult(numStages - 1, kept)))
    return failure();
  for (unsigned stage = numStages; stage-- > 0;)
    for (Operation *op : backwardOps[stage])
      if (failed(builders.backward[stage]->clone(stage, op)))
        return failure();
  for (auto [device, own] : llvm::enumerate(stagesOn))
    if (failed(buildStep(device, own)))
      return failure();
  for (unsigned stage = 0; stage < numStages; ++stage) {
    builders.forward[stage]->finish(stage);
    builders.backward[stage]->finish(stage);
  }
  return success();
}

/// Where each argument is among what the other task makes.
void StageSplitter::numberArgs() {
  auto number = [](Task &task, Task::Source source,
                   const llvm::SetVector<Value> &made) {
    llvm::SmallDenseMap<Value, unsigned> numbers;
    for (auto [index, value] : llvm::enumerate(made))
      numbers[value] = index;
    for (Task::Arg &arg : task.args)
      if (arg.source == source)
        arg.number = numbers.lookup(arg.value);
  };
  for (unsigned stage = 0, e = getNumStages(); stage < e; ++stage) {
    if (stage > 0)
      number(forward[stage], Task::Received, forward[stage - 1].sends);
    if (stage + 1 < e)
      number(backward[stage], Task::Received, backward[stage + 1].sends);
    number(backward[stage], Task::Saved, forward[stage].results);
  }
  DenseMap<std::pair<Value, unsigned>, unsigned> gradients;
  for (auto [stage, task] : llvm::enumerate(backward))
    for (auto [index, value] : llvm::enumerate(task.results))
      gradients[{value, stage}] = index;
  for (Task &step : steps)
    for (Task::Arg &arg : step.args)
      arg.number = gradients.lookup({arg.value, arg.stage});
}

/// A stage between others at least passes on what they exchange; one at an end
/// of a model without embedding or head may have nothing to do, and a device
/// without nodes has no trace.
LogicalResult StageSplitter::checkWork() {
  auto isEmpty = [](Task &task) {
    return llvm::hasSingleElement(task.function.getBody().front()) &&
           task.args.empty();
  };
  BitVector hasWork(steps.size());
  for (auto [stage, device] : llvm::enumerate(deviceOf))
    if (!isEmpty(forward[stage]) || !isEmpty(backward[stage]))
      hasWork.set(device);
  for (auto [device, step] : llvm::enumerate(steps)) {
    // That of a program on one device has no others.
    if (llvm::is_contained(deviceOf, device) && !hasWork.test(device) &&
        isEmpty(step))
      return program.emitError("has nothing to do for pipeline device ")
             << device << "; give its stages layers with layers-per-stage";
  }
  return success();
}

LogicalResult StageSplitter::run(Value kept) {
  if (failed(stages.run()))
    return failure();
  // From here on nothing of the program is erased.
  if (MeshOp mesh = MeshOp::lookup(program))
    builders.layouts = std::make_unique<LocalLayouts>(program, mesh.getMesh());
  dealOps();
  makeBuilders();
  if (failed(buildTasks(kept)))
    return failure();
  numberArgs();
  return checkWork();
}
