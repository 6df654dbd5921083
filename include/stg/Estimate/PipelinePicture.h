//===- PipelinePicture.h - A step as a picture ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recorded step in the manner of papers on pipeline schedules: a row for each
// class, a box for each task with the number of its micro-batch. Below it, on
// the same axis, what is exposed of communication, and memory of activations.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_PIPELINEPICTURE_H
#define STG_ESTIMATE_PIPELINEPICTURE_H

#include "stg/Estimate/StepTimes.h"
#include <vector>

namespace stg {

/// One execution of a task.
struct PipelineBox {
  /// Backward makes both gradients, or those of inputs where those of weights
  /// are tasks of their own.
  enum Kind : uint8_t { Forward, Backward, Weights, Optimizer, Other };

  Kind kind = Other;
  uint32_t microBatch = trace::kNone; ///< None outside of schedules.
  /// Which of the virtual stages of the device, in the order of the model.
  unsigned chunk = 0;
  Ticks start = 0, end = 0; ///< From its first kernel.
  /// Two tasks that are executed by turns are one above the other.
  enum Place : uint8_t { Alone, Above, Below };
  Place place = Alone;
};

/// The tasks of a class, in the order of its program. Those without a kernel
/// are left out.
std::vector<PipelineBox> getPipelineBoxes(const trace::TraceProgram &program,
                                          const Recording &recording);

struct PipelinePicture {
  const trace::TraceBundle &programs;
  const StepTimes &step;
  const StepRecording &recording;

  void write(llvm::raw_ostream &os) const;
};

} // namespace stg

#endif // STG_ESTIMATE_PIPELINEPICTURE_H
