//===- ScheduleDetail.h - Shared by the schedule library --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_SCHEDULE_SCHEDULEDETAIL_H
#define STG_LIB_SCHEDULE_SCHEDULEDETAIL_H

#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace stg {

inline std::string toString(const PipelineAction &action) {
  std::string text;
  llvm::raw_string_ostream(text) << action;
  return text;
}

/// Runs a schedule that is complete; fails only if it has a deadlock. Times are
/// those of each virtual stage, or one for all.
llvm::Expected<ScheduleTimes> execute(const PipelineSchedule &schedule,
                                      llvm::ArrayRef<ActionTimes> times);

/// Reads a file of a schedule, as parseSchedule() does its text.
llvm::Expected<PipelineSchedule> readSchedule(llvm::StringRef path);

/// A schedule that can be asked for.
struct NamedSchedule {
  std::string name;
  std::string description;
  ScheduleBuilder builder;
};

/// The schedules that come with the library.
std::vector<NamedSchedule> getBuiltinSchedules();

} // namespace stg

#endif // STG_LIB_SCHEDULE_SCHEDULEDETAIL_H
