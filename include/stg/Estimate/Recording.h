//===- Recording.h - What ranks did when ------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The events of an execution, for who asks for them: nodes with their times,
// and what the compute stream does between them. What the execution does not
// repeat, because it is like something before, is copied here.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_RECORDING_H
#define STG_ESTIMATE_RECORDING_H

#include "stg/Estimate/NodeTimes.h"
#include <optional>
#include <vector>

namespace stg {

struct RecordedEvent {
  enum Kind : uint8_t {
    Kernel,
    Collective,
    Send,
    Receive,
    Transfer, ///< From or to the memory of the host.
    // The compute stream:
    Exposed, ///< waits for communication,
    Bubble,  ///< waits for another stage,
    Slowed,  ///< has kernels that take longer beside communication,
    Host,    ///< waits for launches.
    // Several of these together:
    Body, ///< a call,
    Turn, ///< a turn of a repeat,
    Task, ///< what the schedule has as one, or steps of one phase in a row.
  };

  Kind kind = Kernel;
  uint8_t group = 0; ///< Of communication, and of waiting for it.
  /// The node, the call or the repeat; of a task, the step of its body or
  /// kNone.
  uint32_t index = trace::kNone;
  uint32_t turn = 0; ///< Of a repeat or of a schedule.
  /// Of a receive, the send among the events of the class that sends; of
  /// several together, the first of them. Or kNone.
  uint32_t link = trace::kNone;
  uint32_t peer = trace::kNone; ///< Of a message, the other class.
  Ticks issue = 0;              ///< When the compute stream was at this place.
  Ticks start = 0, end = 0;
  bool isBeside = false; ///< Of the second one of two tasks side by side.

  bool isNode() const { return kind <= Transfer; }
  bool isCommunication() const {
    return kind >= Collective && kind <= Transfer;
  }
  /// True for what the compute stream does. Such events follow each other
  /// without gaps.
  bool isCompute() const {
    return kind == Kernel || (kind >= Exposed && kind <= Host);
  }
};

/// The events of a class. Its nodes are in the order of the program.
class Recording {
public:
  std::vector<RecordedEvent> events;

  uint32_t size() const { return static_cast<uint32_t>(events.size()); }
  void add(RecordedEvent event) { events.push_back(event); }
  /// Adds the events first <= i < last once more, so much later.
  void repeat(uint32_t first, uint32_t last, Ticks shift);
};

/// What is told by the call that a task of a schedule executes.
struct TaskBody {
  llvm::StringRef phase; ///< Of its first kernel; empty if there is none.
  /// Where its first loop begins to count: virtual stages have different
  /// layers.
  std::optional<int64_t> firstLayer;

  /// Nothing for tasks that are no step of a schedule.
  static std::optional<TaskBody> get(const trace::TraceProgram &program,
                                     const RecordedEvent &task);
};

/// The events of all classes, in the order of these.
struct StepRecording {
  struct Arrival {
    uint32_t classIndex;
    uint32_t event;
    Ticks time;
  };
  std::vector<Recording> classes;
  /// Of each collective of ranks of several classes, when these came to it.
  std::vector<std::vector<Arrival>> meetings;
};

} // namespace stg

#endif // STG_ESTIMATE_RECORDING_H
