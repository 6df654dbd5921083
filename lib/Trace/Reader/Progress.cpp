//===- Progress.cpp - How far long work has come --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg::trace;

Progress::Progress(StringRef verb, uint64_t total, bool isQuiet)
    : verb(verb), total(total), isShown(!isQuiet && errs().is_displayed()),
      nextLine(start + std::chrono::seconds(2)) {}

Progress::~Progress() {
  if (hasLine)
    errs() << "\r\x1b[K";
}

std::string Progress::format(StringRef verb, uint64_t done, uint64_t total,
                             uint64_t bytes, double seconds) {
  std::string text =
      formatv("{0:N} of {1:N} ranks {2}", done, total, verb).str();
  if (bytes) {
    static constexpr StringLiteral units[] = {"B", "KiB", "MiB", "GiB"};
    double rate = static_cast<double>(bytes) / seconds;
    unsigned unit = 0;
    for (; rate >= 1024 && unit + 1 < std::size(units); ++unit)
      rate /= 1024;
    text += formatv(", {0:F1} {1}/s", rate, units[unit]).str();
  }
  if (done)
    text += formatv(", {0:F0} s left", seconds / static_cast<double>(done) *
                                           static_cast<double>(total - done))
                .str();
  return text;
}

void Progress::add(uint64_t ranks, uint64_t moreBytes) {
  if (!isShown)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  done += ranks;
  bytes += moreBytes;
  Clock::time_point now = Clock::now();
  if (now < nextLine)
    return;
  nextLine = now + std::chrono::milliseconds(250);
  hasLine = true;
  double seconds = std::chrono::duration<double>(now - start).count();
  errs() << '\r' << format(verb, done, total, bytes, seconds) << "\x1b[K";
}
