//===- SearchFlags.cpp - The flags of stg-search --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchFlags.h"
#include "stg/Support/FileFlags.h"
#include "stg/Support/Files.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Units.h"

using namespace llvm;
using namespace stg;

std::vector<const cl::OptionCategory *> SearchFlags::getCategories() const {
  auto categories = getRequestCategories();
  categories.push_back(&searchCategory);
  categories.push_back(&outputCategory);
  return categories;
}

Error SearchFlags::finish() {
  if (Error error = finishRequest())
    return error;
  Expected<std::string> onlySweep = getSweep(sweeps);
  if (!onlySweep)
    return makeError(toString(onlySweep.takeError()));
  sweep = *onlySweep;
  if (request.strategyFile.hasDecodePlan())
    return makeError(strategy.getFile() +
                     ": has a plan of prefill and one of decoding, and "
                     "a search is for one plan; give a file with one");
  if (Error error = checkFileFlags({{&csvFlag, csv},
                                    {&strategyOutputFlag, strategyOutput},
                                    {&amongFlag, among}}))
    return error;
  if (!csv.empty() && csv == strategyOutput)
    return makeError("--csv and --write-strategy are both " + csv +
                     "; give each a file of its own");
  if (memoryLimitFlag.getNumOccurrences()) {
    Expected<int64_t> limit = getMemoryLimit(memoryLimit);
    if (!limit)
      return limit.takeError();
    options.memoryLimit = static_cast<double>(*limit);
  }
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&csvFlag),
        static_cast<const cl::Option *>(&strategyOutputFlag)})
    if (option->getNumOccurrences() && !sweep.empty())
      return makeError("--" + option->ArgStr +
                       " is of one machine: it does not go with "
                       "--sweep-machine");
  if (goalFlag.getNumOccurrences())
    options.goal = goalFlag;
  if (frontFlag.getBits())
    options.front = {frontFlag.isSet(FrontCriterion::Memory),
                     frontFlag.isSet(FrontCriterion::Devices),
                     frontFlag.isSet(FrontCriterion::Throughput)};
  if (Error error = options.check(/*isList=*/!among.empty()))
    return error;
  return among.empty() ? Error::success() : readAmong();
}

Error SearchFlags::readAmong() {
  ReadOptions readOptions;
  readOptions.maxBytes = kMaxJSONBytes;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(among, readOptions);
  if (!buffer)
    return createStringError("--among " + among + ": " +
                             toString(buffer.takeError()));
  Expected<std::vector<StrategyInput>> strategies =
      readStrategyList((*buffer)->getBuffer(), among, request.strategy);
  if (!strategies)
    return strategies.takeError();
  options.among = std::move(*strategies);
  return Error::success();
}
