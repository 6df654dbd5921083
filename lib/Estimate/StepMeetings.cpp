//===- StepMeetings.cpp - Collectives of several classes ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSimulation.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// True if the class has a collective over the mask; with kNoAxes, one with
/// other classes in a loop.
bool StepSimulation::usesMask(const ClassRun &run, AxisMask mask) const {
  if (run.isLeftOut)
    return false;
  return mask == kNoAxes
             ? !run.times->getMasksOfLoops().empty()
             : llvm::any_of(run.source->program.nodes,
                            [&](const NodeTemplate &node) {
                              return node.isColl() && node.axes == mask;
                            });
}

/// Joins classes that have ranks in a group over the mask.
void StepSimulation::joinCells(AxisMask mask, IntEqClasses &classes) const {
  const RankPartition &partition = programs.getPartition();
  const RankSpace &space = programs.getSpace();
  const AxisMask others = partition.getAxes() & ~mask;
  DenseMap<int64_t, uint32_t> first;
  for (int64_t cell = 0; cell < partition.getNumCells(); ++cell) {
    int64_t rank = partition.getFirstRank(cell);
    uint32_t index = partition.getClassOfCell(cell);
    if (space.isMember(mask, rank))
      classes.join(first.try_emplace(space.getPosition(others, rank), index)
                       .first->second,
                   index);
  }
}

const ClassGroups &StepSimulation::getGroups(AxisMask mask) {
  auto [it, isNew] = groups.try_emplace(mask);
  ClassGroups &result = it->second;
  if (!isNew)
    return result;
  IntEqClasses classes(runs.size());
  if (mask != kNoAxes)
    joinCells(mask, classes);
  else
    for (ClassRun &run : runs)
      for (AxisMask met : run.times->getMasksOfLoops())
        joinCells(met, classes);
  classes.compress();
  result.sizes.resize(classes.getNumClasses());
  for (ClassRun &run : runs) {
    result.groups.push_back(classes[run.index]);
    result.sizes[result.groups.back()] += usesMask(run, mask);
  }
  return result;
}

/// The next gathering of the group of a class over the mask, to which `arrive`
/// adds what it says, once; null until all others are there.
Gathering *StepSimulation::gather(ClassRun &run, AxisMask mask,
                                  function_ref<void(Gathering &)> arrive) {
  const ClassGroups &all = getGroups(mask);
  uint32_t group = all.groups[run.index];
  GatheringKey key = {mask, group, run.meetings[mask]};
  Gathering &gathering = gatherings[key];
  if (!run.waitsFor) {
    arrive(gathering);
    run.waitsFor = key;
    gathering.there.push_back(run.index);
    if (gathering.there.size() >= all.sizes[group])
      end(gathering);
  }
  return gathering.isOver ? &gathering : nullptr;
}

/// Who waits goes on.
void StepSimulation::end(Gathering &gathering) {
  gathering.isOver = true;
  for (uint32_t index : gathering.there)
    enqueue(index);
}

void StepSimulation::leave(ClassRun &run, Gathering &gathering) {
  ++run.meetings[std::get<0>(*run.waitsFor)];
  if (++gathering.left == gathering.there.size() && !gathering.early)
    gatherings.erase(*run.waitsFor);
  run.waitsFor.reset();
}

/// A group with ranks of several classes meets when the last of them comes.
std::optional<Ticks> StepSimulation::meet(ClassRun &run, AxisMask axes,
                                          Ticks arrival) {
  Gathering *gathering = gather(run, axes, [&](Gathering &own) {
    own.last = std::max(own.last, arrival);
    if (!recording)
      return;
    GatheringKey key = {axes, getGroups(axes).groups[run.index],
                        run.meetings[axes]};
    auto [it, isNew] =
        meetingNumbers.try_emplace(key, recording->meetings.size());
    if (isNew)
      recording->meetings.emplace_back();
    // The collective is recorded next.
    recording->meetings[it->second].push_back(
        {run.index, run.times->getRecording()->size(), arrival});
  });
  if (!gathering)
    return std::nullopt;
  Ticks last = gathering->last;
  leave(run, *gathering);
  return last;
}

/// Iterations are left out if all classes that meet in them leave out as many,
/// and they took all of them as long: then all are as far apart afterwards.
std::optional<bool> StepSimulation::agree(ClassRun &run,
                                          std::optional<Ticks> duration,
                                          int64_t count) {
  Gathering *gathering = gather(run, kNoAxes, [&](Gathering &own) {
    std::optional<std::pair<Ticks, int64_t>> alike;
    if (duration)
      alike = {*duration, count};
    if (own.there.empty())
      own.alike = alike;
    else if (own.alike != alike)
      own.alike.reset();
  });
  if (!gathering)
    return std::nullopt;
  bool isAlike = gathering->alike.has_value();
  leave(run, *gathering);
  return isAlike;
}

/// Ends gatherings to which nobody else comes; false if there are none. Classes
/// that wait for others in loops are not asked again.
bool StepSimulation::release() {
  SmallVector<Gathering *> over;
  auto find = [&](bool isOfLoops) {
    for (auto &[key, gathering] : gatherings) {
      // Lambdas of C++17 do not capture structured bindings.
      trace::AxisMask mask = std::get<0>(key);
      uint32_t group = std::get<1>(key);
      bool hasRunning =
          llvm::any_of(runs, [&, &key = key](const ClassRun &run) {
            return usesMask(run, mask) && !run.isDone() &&
                   getGroups(mask).groups[run.index] == group &&
                   run.waitsFor != key;
          });
      if (!gathering.isOver && (mask == kNoAxes) == isOfLoops &&
          (isOfLoops || !hasRunning))
        over.push_back(&gathering);
    }
  };
  find(/*isOfLoops=*/true);
  for (Gathering *gathering : over)
    gathering->alike.reset();
  if (over.empty())
    find(/*isOfLoops=*/false);
  for (Gathering *gathering : over)
    end(*gathering);
  return !over.empty() || releaseEarly();
}

/// A collective that runs beside kernels does not hold up what a class does
/// next, as a message that another class waits for before it comes. Ends the
/// gathering that the first have come to, as if its others came when the pass
/// before has found; false if there is none.
bool StepSimulation::releaseEarly() {
  auto first = gatherings.end();
  for (auto it = gatherings.begin(); it != gatherings.end(); ++it)
    if (!it->second.isOver && std::get<0>(it->first) != kNoAxes &&
        (first == gatherings.end() || it->second.last < first->second.last))
      first = it;
  if (first == gatherings.end())
    return false;
  auto &[key, gathering] = *first;
  if (auto it = late.find(key); it != late.end())
    gathering.last = std::max(gathering.last, it->second);
  gathering.early = gathering.last;
  end(gathering);
  return true;
}

/// True if somebody came to a gathering later than others had taken it for.
bool StepSimulation::noteLate() {
  bool isLater = false;
  for (const auto &[key, gathering] : gatherings) {
    if (!gathering.early)
      continue;
    late[key] = gathering.last;
    isLater |= gathering.last > *gathering.early;
  }
  return isLater;
}
