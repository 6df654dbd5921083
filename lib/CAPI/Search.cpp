//===- Search.cpp - Searches from C ---------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/Search.h"
#include "CompileCall.h"
#include "stg/Search/SearchOptions.h"
#include "stg/Search/SearchReport.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <list>

using namespace llvm;
using namespace stg;
using namespace stg::capi;

struct StgSearch {
  SearchResult result;
  MessageList messages;
  std::list<std::string> texts; ///< Views point to them.
  std::list<std::vector<StgTimePart>> parts;
  std::vector<StgSearchEntry> entries;
  std::vector<StgSearchValue> values;
  std::string json;

  StgText keep(std::string text) {
    texts.push_back(std::move(text));
    return toText(texts.back());
  }
};

/// C may have written any number, which as an enumeration is not to be read.
static Error checkNumbers(const StgSearchOptions &options) {
  unsigned goal;
  static_assert(sizeof(goal) == sizeof(options.goal));
  std::memcpy(&goal, &options.goal, sizeof(goal));
  if (goal > STG_GOAL_THROUGHPUT)
    return createStringError("unknown goal " + Twine(goal));
  unsigned known = STG_FRONT_MEMORY | STG_FRONT_DEVICES | STG_FRONT_THROUGHPUT;
  if (options.front & ~known)
    return createStringError("unknown criterion of the front " +
                             Twine(options.front & ~known));
  return Error::success();
}

/// All zeros of C is the default.
static Expected<SearchOptions> toOptions(const StgSearchOptions &from,
                                         const CompileRequest &request) {
  if (Error error = checkNumbers(from))
    return std::move(error);
  SearchOptions options;
  options.ranks.assign(from.ranks, from.ranks + from.numRanks);
  options.vary.assign(from.vary, from.vary + from.numVary);
  if (from.memoryLimit != 0)
    options.memoryLimit = from.memoryLimit;
  if (from.numBest != 0)
    options.most = from.numBest;
  if (from.goal != STG_GOAL_AUTO)
    options.goal =
        from.goal == STG_GOAL_TIME ? SearchGoal::Time : SearchGoal::Throughput;
  if (from.front)
    options.front = {(from.front & STG_FRONT_MEMORY) != 0,
                     (from.front & STG_FRONT_DEVICES) != 0,
                     (from.front & STG_FRONT_THROUGHPUT) != 0};
  if (from.within != 0)
    options.within = from.within;
  options.jobs = from.numThreads;
  if (Error error = options.check(/*isList=*/from.numAmong != 0))
    return std::move(error);
  for (size_t i = 0; i < from.numAmong; ++i) {
    Expected<StrategyInput> own =
        StrategyInput::combine(from.among[i]->file, from.among[i]->flags);
    if (!own)
      return own.takeError();
    Expected<StrategyInput> all =
        StrategyInput::combine(*own, request.strategy);
    if (!all)
      return createStringError("strategy " + Twine(i + 1) + ": " +
                               toString(all.takeError()));
    options.among.push_back(std::move(*all));
  }
  return options;
}

/// Makes what C sees of a result, which does not move any more.
static void addViews(const SearchReport &report, StgSearch &search) {
  for (const Estimated &entry : search.result.estimated) {
    std::vector<StgTimePart> &parts = search.parts.emplace_back();
    for (const Report::Part &part : entry.parts)
      parts.push_back({toText(part.name), part.seconds});
    json::Value settled = json::Object(entry.settled);
    search.entries.push_back(
        {entry.number, entry.seconds, entry.needed, entry.job.ranks, entry.mfu,
         entry.hfu, entry.overlapsSteps ? entry.interval / kTicksPerSecond : 0,
         entry.tokenRate.value_or(0), parts.data(), parts.size(),
         search.keep(formatv("{0}", settled)),
         search.keep(report.getCommand(entry))});
  }
  for (const SearchResult::AxisCost &axis : search.result.axes)
    for (const SearchResult::ValueCost &value : axis.values)
      search.values.push_back({toText(axis.getName()), toText(value.value),
                               value.cost.value_or(0),
                               value.atLeast.value_or(0)});
  search.json = formatv("{0:2}\n", json::Value(report.getJSON())).str();
}

StgError *stgSearch(const StgCompileRequest *from, const StgMachine *where,
                    const StgSearchOptions *what, StgSearch **result) {
  *result = nullptr;
  // What is wrong with a machine is said before a model is compiled.
  Expected<Machine> machine = loadMachine(*where);
  if (!machine)
    return toStgError(machine.takeError());
  Expected<CompileRequest> request = toRequest(*from);
  if (!request)
    return toStgError(request.takeError());
  if (!request->dryRun)
    return toStgError(createStringError("a search writes no traces"));
  Expected<SearchOptions> options = toOptions(*what, *request);
  if (!options)
    return toStgError(options.takeError());
  Expected<SearchRequest> asked = options->makeRequest(*request, *machine);
  if (!asked)
    return toStgError(asked.takeError());
  CompileCall call(*from);
  std::atomic<bool> isEnough = false;
  if (what->progress)
    asked->progress = [&](StringRef step, uint64_t done, uint64_t total,
                          double bestSeconds) {
      if (!isEnough && !what->progress({toText(step), done, total, bestSeconds},
                                       what->progressData))
        isEnough = true;
    };
  asked->space.isInterrupted = [&] {
    return isEnough || (call.goOn && !call.goOn("search"));
  };
  Expected<SearchResult> found = stg::search(*asked, call.printer);
  if (!found) {
    // What has been said already has no text.
    std::string text = toString(found.takeError());
    if (call.isStopped || text.empty())
      return call.fail();
    return toStgError(createStringError(text));
  }
  if (call.isStopped || (isEnough && found->estimated.empty()))
    return makeInterruption();
  auto made = std::make_unique<StgSearch>();
  made->result = std::move(*found);
  made->messages = std::move(call.messages);
  SearchReport report = {*request, *machine, made->result, asked->memoryLimit};
  if (Error error = report.check())
    return toStgError(std::move(error));
  addViews(report, *made);
  *result = made.release();
  return nullptr;
}

void stgSearchDestroy(StgSearch *search) { delete search; }

size_t stgSearchGetNumEntries(const StgSearch *search) {
  return search->entries.size();
}

const StgSearchEntry *stgSearchGetEntry(const StgSearch *search, size_t index) {
  return index < search->entries.size() ? &search->entries[index] : nullptr;
}

size_t stgSearchGetNumBest(const StgSearch *search) {
  return search->result.numBest;
}

StgSearchGoal stgSearchGetGoal(const StgSearch *search) {
  return search->result.goal == SearchGoal::Time ? STG_GOAL_TIME
                                                 : STG_GOAL_THROUGHPUT;
}

unsigned stgSearchGetCriteria(const StgSearch *search) {
  const FrontCriteria &criteria = search->result.criteria;
  return (criteria.memory ? STG_FRONT_MEMORY : 0) |
         (criteria.devices ? STG_FRONT_DEVICES : 0) |
         (criteria.throughput ? STG_FRONT_THROUGHPUT : 0);
}

size_t stgSearchGetNumFront(const StgSearch *search) {
  return search->result.front.size();
}

size_t stgSearchGetFront(const StgSearch *search, size_t index) {
  const std::vector<size_t> &front = search->result.front;
  return index < front.size() ? front[index] : SIZE_MAX;
}

size_t stgSearchGetNumValues(const StgSearch *search) {
  return search->values.size();
}

StgSearchValue stgSearchGetValue(const StgSearch *search, size_t index) {
  if (index >= search->values.size())
    return {};
  return search->values[index];
}

StgSearchCounts stgSearchGetCounts(const StgSearch *search) {
  const SearchResult &result = search->result;
  return {result.numStrategies, result.numEstimated, result.cutByTime,
          result.cutByMemory,   result.tooLarge,     result.refused};
}

size_t stgSearchGetNumMessages(const StgSearch *search) {
  return search->messages.size();
}

StgMessage stgSearchGetMessage(const StgSearch *search, size_t index) {
  return search->messages.get(index);
}

bool stgSearchIsComplete(const StgSearch *search) {
  return search->result.isComplete;
}

StgText stgSearchGetJSON(const StgSearch *search) {
  return toText(search->json);
}
