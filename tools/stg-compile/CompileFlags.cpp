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
  for (auto [name, degree] :
       {std::pair<const char *, int64_t>("dp", request.dp),
        {"tp", request.tp},
        {"cp", request.cp},
        {"ep", request.ep},
        {"pp", request.pp},
        {"dp-replicate", request.dpReplicate},
        {"virtual-stages", request.virtualStages},
        {"micro-batch", request.microBatch.value_or(1)}})
    if (degree < 1)
      return "--" + std::string(name) + " " + std::to_string(degree) +
             ": expected an integer of at least 1";
  if (!request.dryRun && request.exportOptions.directory.empty())
    return "no folder for the traces; give one with -o DIR, or --dry-run";
  if (request.exportOptions.splits < 1)
    return "--splits 0: expected an integer of at least 1";
  if (ranks.empty())
    return "";
  auto [low, high] = StringRef(ranks).split(':');
  std::pair<int64_t, int64_t> range;
  int64_t numRanks = request.dp * request.tp * request.cp * request.pp;
  if (low.getAsInteger(10, range.first) ||
      high.getAsInteger(10, range.second) || range.first < 0 ||
      range.first >= range.second || range.second > numRanks)
    return "--ranks " + ranks +
           ": expected LO:HI with 0 <= LO < HI <= " + std::to_string(numRanks) +
           ", the number of ranks";
  request.exportOptions.ranks = range;
  return "";
}
