//===- EstimateFlags.cpp - The flags of stg-estimate ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimateFlags.h"
#include "stg/Support/FileFlags.h"
#include "stg/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace stg;

std::vector<const cl::OptionCategory *> EstimateFlags::getCategories() const {
  auto categories = getRequestCategories();
  categories.push_back(&machineCategory);
  categories.push_back(&outputCategory);
  return categories;
}

Error EstimateFlags::finish() {
  request.dryRun = true;
  Expected<std::string> onlySweep = getSweep(sweeps);
  if (!onlySweep)
    return onlySweep.takeError();
  sweep = *onlySweep;
  if (timelineRanksFlag.getNumOccurrences() && timeline.empty())
    return createStringError(
        "--timeline-ranks has no effect without --timeline");
  for (const auto &[flag, file] :
       {std::pair("--timeline", timeline), {"--pipeline-svg", picture}})
    if (!file.empty() && !sweep.empty())
      return createStringError(
          Twine(flag) +
          " is of one machine: it does not go with --sweep-machine");
  if (Error error = checkFileFlags({{&timelineFlag, timeline},
                                    {&pictureFlag, picture},
                                    {&simaiFlag, simai}}))
    return error;
  if (timeline == "-")
    return createStringError(
        "--timeline -: expected the name of a file, or of a folder and '/'");
  if (picture == "-")
    return createStringError("--pipeline-svg -: expected the name of a file");
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto &[flag, file] : {std::pair("--timeline", timeline),
                                   {"--pipeline-svg", picture},
                                   {"--simai", simai}}) {
    if (file.empty())
      continue;
    for (const auto &[other, name] : files)
      if (name == file || sys::fs::equivalent(name, file))
        return createStringError(Twine(other) + " and " + flag + " are both " +
                                 file + "; give each a file of its own");
    files.push_back({flag, file});
  }
  if (!simai.empty() && !sweep.empty())
    return createStringError("--simai writes one workload; leave out "
                             "--sweep-machine");
  return finishPlans();
}

/// A bundle has its strategy.
Error EstimateFlags::checkBundle() const {
  auto categories = getRequestCategories();
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() && option != &model &&
        any_of(categories, [&, &option = option](const auto *category) {
          return is_contained(option->Categories, category);
        }))
      return createStringError("--" + name +
                               " has no effect: a bundle is of a model with a "
                               "strategy");
  return Error::success();
}

Expected<std::optional<double>>
EstimateFlags::getTrainTokens(const JobFacts &job) const {
  if (!trainTokensFlag.getNumOccurrences())
    return std::nullopt;
  std::optional<double> tokens = parseCount(trainTokens);
  if (!tokens)
    return createStringError("--train-tokens " + trainTokens +
                             ": expected a number of tokens, such as 15e12, "
                             "300B or 15T");
  if (job.isInference())
    return createStringError("--train-tokens has no effect: the step is one of "
                             "inference; leave it out, or give --mode=train");
  if (!job.tokens)
    return createStringError(
        "--train-tokens has no effect: a step of this model has no tokens, "
        "which are its symbols B (sequences) times S (tokens of each)");
  return tokens;
}

/// More processes than a viewer shows.
static constexpr size_t kMostTimelineRanks = 1024;

Expected<std::vector<int64_t>>
EstimateFlags::getTimelineRanks(int64_t numRanks) const {
  std::vector<int64_t> ranks;
  auto fail = [&](const Twine &what) {
    return createStringError("--timeline-ranks " + timelineRanks + ": " + what);
  };
  for (StringRef part : split(timelineRanks, ',')) {
    if (timelineRanks.empty())
      break;
    auto [low, high] = part.split(':');
    int64_t first, end;
    if (low.getAsInteger(10, first) || first < 0)
      return fail("expected ranks and ranges LO:HI");
    end = first + 1;
    if (part.contains(':') && (high.getAsInteger(10, end) || end <= first))
      return fail("expected ranks and ranges LO:HI with LO < HI");
    if (end > numRanks)
      return fail("there are ranks 0 to " + Twine(numRanks - 1));
    if (ranks.size() + (end - first) > kMostTimelineRanks)
      return fail("more than " + Twine(kMostTimelineRanks) + " ranks");
    for (; first < end; ++first)
      ranks.push_back(first);
  }
  llvm::sort(ranks);
  ranks.erase(llvm::unique(ranks), ranks.end());
  return ranks;
}
