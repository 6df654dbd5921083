//===- Progress.h - How far long work has come ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_PROGRESS_H
#define STG_TRACE_READER_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace stg::trace {

/// One line on standard error for work that takes more than two seconds, if
/// that is a terminal. All methods may be called by any thread.
class Progress {
public:
  /// Work on `total` ranks; `verb` says what is done with them: "written".
  Progress(llvm::StringRef verb, uint64_t total, bool isQuiet);
  /// Erases the line.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// So many more ranks and bytes are done.
  void add(uint64_t ranks, uint64_t bytes);

  /// "1,024 of 4,096 ranks written, 1.5 GiB/s, 3 s left".
  static std::string format(llvm::StringRef verb, uint64_t done, uint64_t total,
                            uint64_t bytes, double seconds);

private:
  using Clock = std::chrono::steady_clock;

  std::string verb;
  uint64_t total;
  bool isShown;
  std::mutex mutex;
  uint64_t done = 0, bytes = 0;
  Clock::time_point start = Clock::now(), nextLine;
  bool hasLine = false;
};

} // namespace stg::trace

#endif // STG_TRACE_READER_PROGRESS_H
