//===- TraceProgram.cpp - What makes the nodes of a rank ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/TraceProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace stg::trace;

StringRef stg::trace::getCategoryName(TensorCategory category) {
  static constexpr StringLiteral names[kNumTensorCategories] = {
      "parameter",     "gradient", "optimizer", "activation", "temporary",
      "communication", "input",    "kv_cache",  "host"};
  return names[static_cast<unsigned>(category)];
}

SmallVector<AxisMask> TraceProgram::getMasks() const {
  SmallVector<AxisMask> masks;
  for (const NodeTemplate &node : nodes)
    if (node.isColl() && node.executions)
      masks.push_back(node.axes);
  llvm::sort(masks);
  masks.erase(llvm::unique(masks), masks.end());
  return masks;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// Follows `position`, counted in nodes, into a body; leaves what remains.
bool TraceProgram::findInRepeat(const Repeat &repeat, uint64_t &position,
                                std::string &path) const {
  uint64_t own = bodies[repeat.body].numNodes - repeat.ahead.size();
  auto enter = [&](int64_t turn) {
    path +=
        (repeat.name + "." + llvm::Twine(repeat.getNumber(turn)) + ".").str();
  };
  for (int64_t turn = 0; turn < repeat.count; ++turn) {
    bool found = false;
    repeat.forEachAhead(turn, [&](uint32_t node, int64_t target) {
      if (!found && position-- == 0) {
        enter(target);
        path += nodes[node].name.str();
        found = true;
      }
    });
    if (found)
      return true;
    if (position < own) {
      enter(turn);
      return find(repeat.body, position, path);
    }
    position -= own;
  }
  return false;
}

bool TraceProgram::usesHost() const {
  return llvm::any_of(
             nodes,
             [](const NodeTemplate &node) { return node.isTransfer(); }) ||
         llvm::any_of(tensors, [](const TensorTemplate &tensor) {
           return tensor.category == TensorCategory::Host;
         });
}

uint64_t TraceProgram::getNumNodes(Step step) const {
  switch (step.kind) {
  case Step::Node:
  case Step::Series:
    return 1;
  case Step::Repeat: {
    const Repeat &repeat = repeats[step.index];
    return bodies[repeat.body].numNodes * repeat.count;
  }
  case Step::Call:
    return bodies[calls[step.index].body].numNodes;
  case Step::Schedule:
    return bodies[schedules[step.index].body].numNodes;
  case Step::State:
  case Step::Alias:
    break;
  }
  return 0;
}

/// Runs of the order are skipped as wholes.
bool TraceProgram::findInSchedule(const Schedule &schedule, uint64_t &position,
                                  std::string &path) const {
  const std::vector<Step> &steps = bodies[schedule.body].steps;
  for (const ExecutionOrder::Run &run : schedule.order.runs) {
    uint64_t each = 0;
    for (const ExecutionOrder::Item &item : run.items)
      each += getNumNodes(steps[item.step]);
    if (position >= each * run.times) {
      position -= each * run.times;
      continue;
    }
    auto number = static_cast<uint32_t>(position / each);
    position -= number * each;
    for (const ExecutionOrder::Item &item : run.items) {
      uint64_t own = getNumNodes(steps[item.step]);
      if (position < own) {
        OrderEntry entry = ExecutionOrder::getEntry(item, number);
        path += (schedule.name + llvm::Twine(entry.turn) + ".").str();
        return findInStep(steps[item.step], position, path);
      }
      position -= own;
    }
  }
  return false;
}

/// Appends the path of the node at `position` of a step, which has that many.
bool TraceProgram::findInStep(Step step, uint64_t &position,
                              std::string &path) const {
  switch (step.kind) {
  case Step::Node:
  case Step::Series:
    path += nodes[getNode(step)].name.str();
    return true;
  case Step::Repeat:
    return findInRepeat(repeats[step.index], position, path);
  case Step::Call: {
    const Call &call = calls[step.index];
    if (!call.scope.empty())
      path += (call.scope + ".").str();
    return find(call.body, position, path);
  }
  case Step::Schedule:
    return findInSchedule(schedules[step.index], position, path);
  case Step::State:
  case Step::Alias:
    break;
  }
  return false;
}

/// Appends the path of the node at `position` of a body, or subtracts the nodes
/// of the body from it.
bool TraceProgram::find(uint32_t body, uint64_t &position,
                        std::string &path) const {
  for (Step step : bodies[body].steps) {
    uint64_t own = getNumNodes(step);
    if (position < own)
      return findInStep(step, position, path);
    position -= own;
  }
  return false;
}

std::string TraceProgram::getPath(uint32_t id) const {
  std::string path;
  uint64_t position = id;
  find(0, position, path);
  return path;
}
