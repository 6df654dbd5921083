//===- SearchFlags.cpp - The flags of stg-search --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchFlags.h"
#include "stg/Support/Files.h"
#include "stg/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

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
  if (!among.empty())
    for (const cl::Option *option :
         {static_cast<const cl::Option *>(&varyFlag),
          static_cast<const cl::Option *>(&ranksFlag)})
      if (option->getNumOccurrences())
        return makeStrategyError("--" + option->ArgStr +
                                 " with --among, which lists all strategies");
  if (among.empty() && ranks < 1)
    return makeStrategyError("--ranks N with N of at least 1 says how many "
                             "devices there are; or give strategies with "
                             "--among FILE");
  if (ranks > kMostRanks)
    return makeStrategyError("--ranks " + Twine(ranks) + ": expected at most " +
                             Twine(kMostRanks));
  if (memoryLimitFlag.getNumOccurrences() && !(memoryLimit > 0))
    return makeStrategyError("--memory-limit: expected more than 0 GiB");
  if (!(within >= 1))
    return makeStrategyError("--within: expected a factor of at least 1");
  if (top < 1)
    return makeStrategyError("--top 0: expected at least 1");
  return Error::success();
}

Expected<Machine> SearchFlags::loadMachine() const {
  Expected<Machine> machine = Machine::load(this->machine);
  if (!machine)
    return machine;
  for (const std::string &change : changes)
    if (Error error = machine->set(change))
      return createStringError("--machine-set " + change + ": " +
                               toString(std::move(error)));
  return machine;
}

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

Expected<std::vector<StrategyInput>> SearchFlags::readAmong() const {
  auto fail = [&](const Twine &message) {
    return createStringError("--among " + among + ": " + message);
  };
  ReadOptions options;
  options.maxBytes = kMaxJSONBytes;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(among, options);
  if (!buffer)
    return fail(toString(buffer.takeError()));
  Expected<std::vector<json::Value>> objects =
      readObjects((*buffer)->getBuffer());
  if (!objects)
    return fail(toString(objects.takeError()));
  if (objects->empty())
    return fail("there is no strategy; expected an array of strategy objects, "
                "or one in each line");
  std::vector<StrategyInput> strategies;
  for (auto [number, object] : enumerate(*objects)) {
    std::string name = formatv("{0}, strategy {1}", among, number + 1);
    StrategyInput own;
    if (Error error = own.readJSON(formatv("{0}", object).str(), name))
      return std::move(error);
    Expected<StrategyInput> all = StrategyInput::combine(own, request.strategy);
    if (!all)
      return createStringError(name + ": " + toString(all.takeError()));
    strategies.push_back(std::move(*all));
  }
  return strategies;
}
