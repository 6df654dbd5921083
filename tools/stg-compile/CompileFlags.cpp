//===- CompileFlags.cpp - The flags of stg-compile ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"

using namespace llvm;
using namespace stg;

cl::OptionCategory &stg::getCompileCategory() {
  static cl::OptionCategory category("stg-compile options");
  return category;
}

std::string CompileFlags::finish() {
  if (batchFlag.getNumOccurrences())
    request.batch = batch;
  if (seqFlag.getNumOccurrences())
    request.seq = seq;
  if (microBatchFlag.getNumOccurrences())
    request.microBatch = microBatch;
  if (etpFlag.getNumOccurrences())
    request.etp = etpFlag;
  for (auto [name, degree] :
       {std::pair<const char *, int64_t>("dp", request.dp),
        {"tp", request.tp},
        {"cp", request.cp},
        {"ep", request.ep},
        {"etp", request.etp.value_or(1)},
        {"pp", request.pp},
        {"dp-replicate", request.dpReplicate},
        {"virtual-stages", request.virtualStages},
        {"micro-batch", request.microBatch.value_or(1)}})
    if (degree < 1)
      return "--" + std::string(name) + " " + std::to_string(degree) +
             ": expected an integer of at least 1";
  if (request.exportOptions.splits < 1)
    return "--splits 0: expected an integer of at least 1";
  return finishOutput();
}

/// Checks what is written, and where.
std::string CompileFlags::finishOutput() {
  chakra::ExportOptions &options = request.exportOptions;
  if (!request.dryRun && options.files.directory.empty())
    return "no folder for the traces; give one with -o DIR, or --dry-run";
  if (bundle) {
    options.output = chakra::ExportOptions::Output::Bundle;
    for (auto [isGiven, flag] : {std::pair(!ranks.empty(), "--ranks"),
                                 {!part.empty(), "--part"},
                                 {options.files.resume, "--resume"}})
      if (isGiven)
        return std::string("--bundle with ") + flag +
               ": a bundle is always of all ranks; make files of some with "
               "stg-translate --unbundle";
  }
  if (!ranks.empty() && !part.empty())
    return "--ranks with --part: give one of them";
  if (!part.empty())
    return finishPart();
  return ranks.empty() ? "" : finishRanks();
}

std::string CompileFlags::finishPart() {
  auto [number, count] = StringRef(part).split('/');
  std::pair<int64_t, int64_t> parts = {0, 0};
  if (number.getAsInteger(10, parts.first) ||
      count.getAsInteger(10, parts.second) || parts.first < 1 ||
      parts.first > parts.second)
    return "--part " + part + ": expected I/N with 1 <= I <= N";
  request.exportOptions.part = parts;
  return "";
}

std::string CompileFlags::finishRanks() {
  auto [low, high] = StringRef(ranks).split(':');
  std::pair<int64_t, int64_t> range = {0, 0};
  int64_t numRanks = request.dp * request.tp * request.cp * request.pp;
  if (low.getAsInteger(10, range.first) ||
      high.getAsInteger(10, range.second) || range.first < 0 ||
      range.first >= range.second || range.second > numRanks)
    return "--ranks " + ranks +
           ": expected LO:HI with 0 <= LO < HI <= " + std::to_string(numRanks) +
           ", the number of ranks";
  request.exportOptions.files.ranks = range;
  return "";
}
