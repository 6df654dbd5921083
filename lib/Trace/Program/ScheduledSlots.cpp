//===- ScheduledSlots.cpp - The slots of turns of a schedule --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/ScheduledSlots.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace stg::trace;

ScheduledSlots::ScheduledSlots(const TraceProgram &program,
                               const TraceProgram::Schedule &schedule) {
  for (auto [number, lane] : llvm::enumerate(schedule.lanes))
    laneOf[lane.slot] = number;
  for (TraceProgram::Step step : program.bodies[schedule.body].steps)
    add(program, step);
}

void ScheduledSlots::add(const TraceProgram &program, TraceProgram::Step step) {
  SmallVector<Use, 4> &ownReads = reads.emplace_back();
  SmallVector<Use, 4> &ownSets = sets.emplace_back();
  auto use = [&](SmallVector<Use, 4> &uses, uint32_t slot) {
    if (auto it = laneOf.find(slot); it != laneOf.end())
      uses.push_back({it->first, it->second});
  };
  if (step.kind == TraceProgram::Step::Alias) {
    use(ownReads, program.aliases[step.index].from);
    use(ownSets, program.aliases[step.index].to);
  } else if (step.kind == TraceProgram::Step::Call) {
    for (TraceProgram::Alias arg : program.calls[step.index].args)
      use(ownReads, arg.from);
    for (TraceProgram::Alias result : program.calls[step.index].results)
      use(ownSets, result.to);
  } else if (step.kind == TraceProgram::Step::Node ||
             step.kind == TraceProgram::Step::Series) {
    const TraceProgram::NodeWiring &wiring =
        program.wiring[program.getNode(step)];
    for (TraceProgram::Slot slot :
         llvm::concat<const TraceProgram::Slot>(wiring.reads, wiring.after))
      use(ownReads, slot.index);
    for (const TraceProgram::Output &output : wiring.outputs) {
      if (output.kind == TraceProgram::Output::InPlace)
        use(ownReads, output.source);
      use(ownSets, output.slot.index);
    }
  }
}
