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

/// The phase of the first kernel of a body.
static llvm::StringRef getPhase(const TraceProgram &program, uint32_t body) {
  for (TraceProgram::Step step : program.bodies[body].steps) {
    llvm::StringRef phase;
    if (step.kind == TraceProgram::Step::Node ||
        step.kind == TraceProgram::Step::Series) {
      const NodeTemplate &node = program.nodes[program.getNode(step)];
      if (node.isComp())
        phase = node.phase;
    } else if (step.kind == TraceProgram::Step::Repeat) {
      phase = getPhase(program, program.repeats[step.index].body);
    } else if (step.kind == TraceProgram::Step::Call) {
      phase = getPhase(program, program.calls[step.index].body);
    }
    if (!phase.empty())
      return phase;
  }
  return "";
}

std::optional<TaskBody> TaskBody::get(const TraceProgram &program,
                                      const RecordedEvent &task) {
  if (task.index == kNone)
    return std::nullopt;
  TraceProgram::Step step =
      program.bodies[program.schedules.front().body].steps[task.index];
  const uint32_t body = program.calls[step.index].body;
  TaskBody found;
  found.phase = getPhase(program, body);
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
