//===- CriticalPath.cpp - What a step waits for ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are whole, so what made something begin is what ended at that time.
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/CriticalPath.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <optional>

using namespace llvm;
using namespace stg;
using trace::kNone;

namespace {
/// A place in the recording of a class.
struct Place {
  uint32_t classIndex = 0;
  uint32_t event = kNone;
};

class PathFinder {
public:
  PathFinder(const StepRecording &recording,
             std::vector<CriticalPath::Part> &parts);

  /// Adds the parts of the path, the last one first.
  void follow(Place place);

private:
  /// Collectives and messages by their ends.
  using Ends = std::vector<std::pair<Ticks, uint32_t>>;

  const RecordedEvent &get(Place place) const {
    return recording.classes[place.classIndex].events[place.event];
  }
  Place findCompute(Place before) const;
  Place findCommunication(Place before, Ticks end,
                          std::optional<uint8_t> group) const;
  Place findLastToArrive(Place place) const;
  Place followCompute(Place place);
  Place followCommunication(Place place);
  void add(Place place, Ticks start, Ticks end) {
    if (end > start)
      parts.push_back({place.classIndex, place.event, start, end});
  }

  const StepRecording &recording;
  std::vector<CriticalPath::Part> &parts;
  std::vector<Ends> ends; ///< By class.
  /// By class and event, the number of a meeting.
  DenseMap<std::pair<uint32_t, uint32_t>, size_t> meetings;
};
} // namespace

PathFinder::PathFinder(const StepRecording &recording,
                       std::vector<CriticalPath::Part> &parts)
    : recording(recording), parts(parts) {
  for (const Recording &own : recording.classes) {
    Ends &list = ends.emplace_back();
    for (auto [i, event] : enumerate(own.events))
      if (event.isCommunication())
        list.push_back({event.end, static_cast<uint32_t>(i)});
    llvm::sort(list);
  }
  for (auto [i, meeting] : enumerate(recording.meetings))
    for (const StepRecording::Arrival &arrival : meeting)
      meetings[{arrival.classIndex, arrival.event}] = i;
}

/// What the compute stream did last before an event.
Place PathFinder::findCompute(Place before) const {
  const auto &events = recording.classes[before.classIndex].events;
  for (uint32_t i = before.event; i-- > 0;)
    if (events[i].isCompute())
      return {before.classIndex, i};
  return {before.classIndex, kNone};
}

/// The last collective or message before an event that ended at that time.
Place PathFinder::findCommunication(Place before, Ticks end,
                                    std::optional<uint8_t> group) const {
  const Ends &list = ends[before.classIndex];
  const auto &events = recording.classes[before.classIndex].events;
  auto it = llvm::lower_bound(list, std::pair(end, before.event));
  while (it != list.begin() && (--it)->first == end)
    if (!group || events[it->second].group == *group)
      return {before.classIndex, it->second};
  return {before.classIndex, kNone};
}

/// Of a collective of several classes, that of the class that came last.
Place PathFinder::findLastToArrive(Place place) const {
  auto it = meetings.find({place.classIndex, place.event});
  if (it == meetings.end())
    return place;
  const auto &arrivals = recording.meetings[it->second];
  const auto &last = *llvm::max_element(
      arrivals, [](const auto &a, const auto &b) { return a.time < b.time; });
  auto own = llvm::find_if(arrivals, [&](const auto &arrival) {
    return arrival.classIndex == place.classIndex;
  });
  if (own->time == last.time)
    return place;
  return {last.classIndex, last.event};
}

Place PathFinder::followCompute(Place place) {
  const RecordedEvent &event = get(place);
  if (event.kind == RecordedEvent::Exposed ||
      event.kind == RecordedEvent::Bubble) {
    Place cause = findCommunication(place, event.end, event.group);
    if (cause.event != kNone)
      return cause;
  }
  add(place, event.start, event.end);
  return findCompute(place);
}

Place PathFinder::followCommunication(Place place) {
  const RecordedEvent &event = get(place);
  if (event.kind == RecordedEvent::Receive && event.link != kNone)
    return {event.peer == kNone ? place.classIndex : event.peer, event.link};
  add(place, event.start, event.end);
  Place last = findLastToArrive(place);
  const RecordedEvent &begun = get(last);
  if (begun.issue < event.start)
    if (Place cause = findCommunication(last, event.start, std::nullopt);
        cause.event != kNone)
      return cause;
  return findCompute(last);
}

void PathFinder::follow(Place place) {
  while (place.event != kNone)
    place = get(place).isCompute() ? followCompute(place)
                                   : followCommunication(place);
}

CriticalPath::CriticalPath(const StepTimes &step,
                           const StepRecording &recording) {
  auto slowest = static_cast<uint32_t>(step.slowest);
  Ticks last = step.total - step.fixed;
  if (step.fixed > 0)
    parts.push_back({slowest, kNone, last, step.total});
  const auto &events = recording.classes[slowest].events;
  PathFinder finder(recording, parts);
  for (uint32_t i = events.size(); i-- > 0;) {
    if (!events[i].isCompute())
      continue;
    finder.follow({slowest, i});
    break;
  }
  std::reverse(parts.begin(), parts.end());
}
