//===- TraceProgram.cpp - What makes the nodes of a rank ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/TraceProgram.h"
#include "stg/Trace/Program/ProgramRunner.h"
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
// Nodes that are emitted ahead
//===----------------------------------------------------------------------===//

void TraceProgram::linkRepeats(uint32_t alone) {
  links.assign(repeats.size(), {});
  for (auto [i, repeat] : llvm::enumerate(repeats))
    for (const Ahead &entry : repeat.ahead)
      links[i].reach = std::max(links[i].reach, entry.distance);
  std::vector<uint32_t> linkedOfBody(bodies.size(), kNone);
  for (auto [i, repeat] : llvm::enumerate(repeats))
    if (repeat.group != 0)
      linkedOfBody[repeat.body] = static_cast<uint32_t>(i);
  std::vector<bool> isLinked(bodies.size(), alone == kNone);
  if (alone != kNone)
    isLinked[repeats[alone].body] = true;
  // Bodies stand before those that they run.
  for (auto [body, entry] : llvm::enumerate(bodies)) {
    if (!isLinked[body])
      continue;
    uint32_t around = linkedOfBody[body], last = kNone;
    for (Step step : entry.steps) {
      if (step.kind != Step::Repeat)
        continue;
      isLinked[repeats[step.index].body] = true;
      if (repeats[step.index].group == 0)
        continue;
      Link &link = links[step.index];
      if (around != kNone) {
        link.around = links[around].around;
        link.around.push_back(around);
        link.isFirst = links[around].isFirst;
        if (links[around].firstInner == kNone)
          links[around].firstInner = step.index;
      }
      if (last != kNone && repeats[last].group == repeats[step.index].group) {
        links[last].next = step.index;
        link.isFirst = false;
      }
      last = step.index;
    }
  }
  // All that are linked reach as far as one of them does.
  for (uint32_t first = 0; first < repeats.size(); ++first) {
    if (repeats[first].group == 0 || !links[first].isFirst ||
        !links[first].around.empty())
      continue;
    SmallVector<uint32_t> all;
    for (uint32_t i = first; i != kNone; i = links[i].next)
      all.push_back(i);
    int64_t reach = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      reach = std::max(reach, links[all[k]].reach);
      for (uint32_t i = links[all[k]].firstInner; i != kNone; i = links[i].next)
        all.push_back(i);
    }
    for (uint32_t i : all)
      links[i].reach = reach;
  }
}

bool TraceProgram::goOn(Place &place) const {
  auto enter = [&](uint32_t repeat) {
    for (; repeat != kNone; repeat = links[repeat].firstInner) {
      place.repeat = repeat;
      place.turns.push_back(0);
    }
  };
  for (uint32_t repeat = place.repeat;;) {
    if (place.turns.back() + 1 < repeats[repeat].count) {
      ++place.turns.back();
      place.repeat = repeat;
      enter(links[repeat].firstInner);
      return true;
    }
    place.turns.pop_back();
    if (uint32_t next = links[repeat].next; next != kNone) {
      enter(next);
      return true;
    }
    if (place.turns.empty())
      return false;
    repeat = links[repeat].around.back();
  }
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
    Place place = {getIndex(repeat), {turn}};
    forEachAhead(place, [&](uint32_t node, const Place &target) {
      if (!found && position-- == 0) {
        enter(target.turns.back());
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

bool TraceProgram::hasPairs() const {
  return llvm::any_of(schedules, [](const Schedule &schedule) {
    return schedule.order.hasPairs();
  });
}

StringRef TraceProgram::findPhase(
    Step step, function_ref<bool(const NodeTemplate &)> isMeant) const {
  if (step.kind == Step::Node || step.kind == Step::Series) {
    const NodeTemplate &node = nodes[getNode(step)];
    return isMeant(node) ? node.phase : "";
  }
  uint32_t body;
  if (step.kind == Step::Repeat)
    body = repeats[step.index].body;
  else if (step.kind == Step::Call)
    body = calls[step.index].body;
  else
    return "";
  for (Step inner : bodies[body].steps)
    if (StringRef phase = findPhase(inner, isMeant); !phase.empty())
      return phase;
  return "";
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
  if (hasPairs() || llvm::any_of(repeats, [](const Repeat &repeat) {
        return repeat.group != 0;
      })) {
    ProgramRunner runner(*this);
    FlatNode node = {};
    for (uint32_t i = 0; i <= id; ++i)
      runner.next(node);
    return (node.prefix + node.common->name).str();
  }
  std::string path;
  uint64_t position = id;
  find(0, position, path);
  return path;
}
