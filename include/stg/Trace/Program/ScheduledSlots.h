//===- ScheduledSlots.h - The slots of turns of a schedule ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which of the slots that the steps of a schedule read and set are those of a
// turn.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_PROGRAM_SCHEDULEDSLOTS_H
#define STG_TRACE_PROGRAM_SCHEDULEDSLOTS_H

#include "stg/Trace/Program/TraceProgram.h"
#include "llvm/ADT/DenseMap.h"

namespace stg::trace {

struct ScheduledSlots {
  ScheduledSlots() = default;
  ScheduledSlots(const TraceProgram &program,
                 const TraceProgram::Schedule &schedule);

  struct Use {
    uint32_t slot, lane;
  };
  llvm::DenseMap<uint32_t, uint32_t> laneOf; ///< By slot.
  /// By step, in the order of its operands and results.
  std::vector<llvm::SmallVector<Use, 4>> reads, sets;

private:
  void add(const TraceProgram &program, TraceProgram::Step step);
};

} // namespace stg::trace

#endif // STG_TRACE_PROGRAM_SCHEDULEDSLOTS_H
