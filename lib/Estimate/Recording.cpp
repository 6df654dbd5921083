//===- Recording.cpp - What ranks did when --------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/Recording.h"

using namespace stg;
using namespace stg::trace;

std::optional<TaskBody> TaskBody::get(const TraceProgram &program,
                                      const RecordedEvent &task) {
  if (task.index == kNone)
    return std::nullopt;
  TraceProgram::Step step =
      program.bodies[program.schedules.front().body].steps[task.index];
  const uint32_t body = program.calls[step.index].body;
  TaskBody found;
  found.phase = program.findPhase(
      step, [](const NodeTemplate &node) { return node.isComp(); });
  for (TraceProgram::Step inner : program.bodies[body].steps)
    if (inner.kind == TraceProgram::Step::Repeat && !found.firstLayer)
      found.firstLayer = program.repeats[inner.index].first;
  return found;
}

void Recording::repeat(uint32_t first, uint32_t last, Ticks shift) {
  const uint32_t distance = size() - first;
  events.reserve(events.size() + (last - first));
  for (uint32_t i = first; i < last; ++i) {
    RecordedEvent event = events[i];
    event.issue += shift;
    event.start += shift;
    event.end += shift;
    if (event.link != trace::kNone && event.link >= first)
      event.link += distance;
    events.push_back(event);
  }
}
