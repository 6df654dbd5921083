//===- SearchOptions.cpp - What a search is asked for ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Search/SearchOptions.h"
#include "stg/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include <cmath>

using namespace llvm;
using namespace stg;

Error SearchOptions::check(bool isList) const {
  if (isList)
    for (auto [isGiven, flag] :
         {std::pair(!vary.empty(), "--vary"), {!ranks.empty(), "--ranks"}})
      if (isGiven)
        return makeError(Twine(flag) +
                         " with --among, which lists all strategies");
  if (!isList && ranks.empty())
    return makeError("--ranks N with N of at least 1 says how many "
                     "devices there are; or give strategies with "
                     "--among FILE");
  for (int64_t number : ranks)
    if (number < 1 || number > kMostRanks)
      return makeError("--ranks " + Twine(number) +
                       ": expected at least 1, and at most " +
                       Twine(kMostRanks));
  if (memoryLimit && !(*memoryLimit > 0 && std::isfinite(*memoryLimit)))
    return makeError("--memory-limit: expected a finite number above 0");
  if (!(within >= 1))
    return makeError("--within: expected a factor of at least 1");
  if (most < 1)
    return makeError("--top 0: expected at least 1");
  return Error::success();
}

Expected<SearchRequest>
SearchOptions::makeRequest(const CompileRequest &base,
                           const Machine &machine) const {
  if (Error error = check(!among.empty()))
    return error;
  SearchRequest request;
  request.space.request = &base;
  for (int64_t number : ranks)
    if (!is_contained(request.space.ranks, number))
      request.space.ranks.push_back(number);
  request.space.vary = vary;
  request.machine = &machine;
  request.memoryLimit = memoryLimit.value_or(getAvailableMemory(machine));
  request.most = most;
  request.goal = goal;
  request.front = front;
  request.within = within;
  request.isExhaustive = isExhaustive;
  // More threads than any machine has would only fail to start.
  constexpr unsigned kMostJobs = 1024;
  request.jobs =
      std::min(hardware_concurrency(jobs).compute_thread_count(), kMostJobs);
  request.among = among;
  return request;
}

//===----------------------------------------------------------------------===//
// Lists of strategies
//===----------------------------------------------------------------------===//

/// An array, or an object in each line.
static Expected<std::vector<json::Value>> readObjects(StringRef text) {
  std::vector<json::Value> objects;
  if (text.ltrim().starts_with("[")) {
    Expected<json::Value> all = parseJSON(text);
    if (!all)
      return all.takeError();
    for (json::Value &object : *all->getAsArray())
      objects.push_back(std::move(object));
    return objects;
  }
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : enumerate(lines)) {
    if (line.trim().empty())
      continue;
    Expected<json::Value> object = parseJSON(line);
    if (!object)
      return createStringError("line " + Twine(number + 1) + ": " +
                               toString(object.takeError()));
    objects.push_back(std::move(*object));
  }
  return objects;
}

Expected<std::vector<StrategyInput>>
stg::readStrategyList(StringRef text, StringRef name,
                      const StrategyInput &fixed) {
  auto fail = [&](const Twine &message) {
    return createStringError("--among " + name + ": " + message);
  };
  Expected<std::vector<json::Value>> objects = readObjects(text);
  if (!objects)
    return fail(toString(objects.takeError()));
  if (objects->empty())
    return fail("there is no strategy; expected an array of strategy objects, "
                "or one in each line");
  std::vector<StrategyInput> strategies;
  for (auto [number, object] : enumerate(*objects)) {
    std::string place = formatv("{0}, strategy {1}", name, number + 1);
    StrategyInput own;
    if (Error error = own.readJSON(formatv("{0}", object).str(), place))
      return std::move(error);
    Expected<StrategyInput> all = StrategyInput::combine(own, fixed);
    if (!all)
      return createStringError(place + ": " + toString(all.takeError()));
    strategies.push_back(std::move(*all));
  }
  return strategies;
}
