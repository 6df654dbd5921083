//===- ChromeTrace.h - Timelines that viewers open --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON of Chrome's tracing, as PyTorch's profiler writes it: Perfetto and
// Holistic Trace Analysis read it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_CHROMETRACE_H
#define STG_ESTIMATE_CHROMETRACE_H

#include "stg/Estimate/NodeTimes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

namespace stg {

/// Writes a file. Events of a thread must not overlap but by being in one
/// another.
class ChromeTrace {
public:
  using Arguments = llvm::function_ref<void(llvm::json::OStream &)>;

  /// `rank` and `numRanks` are what `distributedInfo` says.
  ChromeTrace(llvm::raw_ostream &os, int64_t rank, int64_t numRanks);
  /// Ends the file.
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace &) = delete;
  ChromeTrace &operator=(const ChromeTrace &) = delete;

  void nameProcess(int64_t process, llvm::StringRef name, int64_t order);
  void nameThread(int64_t process, int64_t thread, llvm::StringRef name);
  /// Something that takes time.
  void addSpan(int64_t process, int64_t thread, llvm::StringRef category,
               llvm::StringRef name, Ticks start, Ticks end,
               Arguments arguments);
  /// An arrow, from a span to one on another thread; one end each.
  void addFlow(bool isBegin, int64_t process, int64_t thread, uint64_t id,
               Ticks time);
  /// Values from that time on.
  void addCounter(int64_t process, llvm::StringRef name, Ticks time,
                  Arguments values);

private:
  void begin(llvm::StringRef phase, int64_t process, llvm::StringRef name);
  void setTime(llvm::StringRef key, Ticks time);
  void addName(llvm::StringRef kind, int64_t process,
               std::optional<int64_t> thread, Arguments arguments);

  llvm::json::OStream json;
};

/// What PyTorch's profiler calls a collective, and the kernel that does it.
std::pair<llvm::StringRef, llvm::StringRef>
getProfilerNames(trace::CollectiveType type);
/// The same of a transfer from the host, or to it.
llvm::StringRef getProfilerName(bool isLoad);

/// Microseconds with all digits: "12.000345".
std::string formatMicroseconds(Ticks time);

} // namespace stg

#endif // STG_ESTIMATE_CHROMETRACE_H
