//===- Requests.cpp - The requests of a step of inference -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/Requests.h"
#include "stg/Support/Error.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace llvm;
using namespace stg;

/// More tokens than these are in no step, and their products fit 128 bits.
static constexpr int64_t kMostTokens = int64_t(1) << 40;
/// More steps than these are in no run.
static constexpr int64_t kMostSteps = int64_t(1) << 20;
/// More data-parallel ranks, or micro-batches, than these do not have lists of
/// their own.
static constexpr int64_t kMostLists = 4096;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

int64_t Requests::countRequests() const {
  int64_t sum = 0;
  for (const Request &request : list)
    sum += request.count;
  return sum;
}

int64_t Requests::countNew() const {
  int64_t sum = 0;
  for (const Request &request : list)
    sum += request.count * request.newTokens;
  return sum;
}

int64_t Requests::countCached() const {
  int64_t sum = 0;
  for (const Request &request : list)
    sum += request.count * request.cachedTokens;
  return sum;
}

bool Requests::change() const {
  return llvm::any_of(list, [](const Request &request) {
    return request.arrival > 0 || request.generate;
  });
}

bool Requests::areOfRanks() const {
  return !list.empty() && list.front().rank.has_value();
}

bool Requests::areOfMicroBatches() const {
  return !list.empty() && list.front().microBatch.has_value();
}

using Owner = std::optional<int64_t> Request::*;

/// The requests of each owner, of whom nothing is said any more.
static std::vector<Requests> splitBy(ArrayRef<Request> all, Owner owner) {
  std::vector<Requests> lists(1);
  for (Request request : all) {
    size_t number = (request.*owner).value_or(0);
    lists.resize(std::max(lists.size(), number + 1));
    (request.*owner).reset();
    lists[number].list.push_back(request);
  }
  return lists;
}

std::vector<Requests> Requests::getLists() const {
  return splitBy(list, &Request::rank);
}

std::vector<Requests> Requests::getMicroBatches() const {
  return splitBy(list, &Request::microBatch);
}

std::string Requests::str() const {
  std::string text;
  for (const Request &request : list) {
    text += text.empty() ? "" : ",";
    if (request.count != 1)
      text += std::to_string(request.count) + "*";
    text += "(" + std::to_string(request.newTokens) + "," +
            std::to_string(request.cachedTokens);
    if (request.logits)
      text += "," + std::to_string(*request.logits);
    text += ")";
    if (request.arrival)
      text += "@" + std::to_string(request.arrival);
    if (request.generate)
      text += "+" + std::to_string(*request.generate);
    if (request.rank)
      text += "#" + std::to_string(*request.rank);
    if (request.microBatch)
      text += "/" + std::to_string(*request.microBatch);
  }
  return text;
}

Requests Requests::withLogits(bool all) const {
  Requests result = *this;
  for (Request &request : result.list)
    if (!request.logits)
      request.logits = all ? request.newTokens : 1;
  return result;
}

/// Either all owners, such as `data-parallel rank`, have the same requests, or
/// each has some.
static Error checkOwners(const Requests &requests, Owner owner, StringRef what,
                         StringRef member) {
  std::set<int64_t> owners;
  for (const Request &request : requests.list) {
    if ((request.*owner).has_value() !=
        (requests.list.front().*owner).has_value())
      return makeError("some requests say their " + what + " '" + member +
                       "', and others do not");
    if (request.*owner)
      owners.insert(*(request.*owner));
  }
  int64_t next = 0;
  StringRef noun = what.substr(what.rfind(' ') + 1);
  for (int64_t number : owners)
    if (number != next++)
      return makeError(what + " " + Twine(next - 1) + " has no request, but " +
                       noun + " " + Twine(*owners.rbegin()) +
                       " has; give it one, as engines do: "
                       "{\"new\": 1, \"cached\": 0, \"" +
                       member + "\": " + Twine(next - 1) + "}");
  return Error::success();
}

static Error checkOwners(const Requests &requests) {
  if (Error error =
          checkOwners(requests, &Request::rank, "data-parallel rank", "dp"))
    return error;
  return checkOwners(requests, &Request::microBatch, "micro-batch",
                     "micro_batch");
}

void Requests::joinEqual() {
  using Kind = std::tuple<int64_t, int64_t, std::optional<int64_t>, int64_t,
                          std::optional<int64_t>, std::optional<int64_t>,
                          std::optional<int64_t>>;
  std::map<Kind, size_t> known;
  std::vector<Request> joined;
  for (const Request &request : list) {
    auto [it, isNew] = known.try_emplace(request.getKind(), joined.size());
    if (isNew)
      joined.push_back(request);
    else
      joined[it->second].count += request.count;
  }
  list = std::move(joined);
}

/// Puts together equal requests that follow one another.
static Expected<Requests> join(ArrayRef<Request> all) {
  Requests requests;
  int64_t tokens = 0;
  for (const Request &request : all) {
    if (requests.empty() || requests.list.back().getKind() != request.getKind())
      requests.list.push_back(request);
    else
      requests.list.back().count += request.count;
    // Neither product overflows: each factor is at most 2^40, so ask first.
    int64_t each = request.newTokens + request.cachedTokens;
    if (request.count > kMostTokens / each ||
        (tokens += request.count * each) > kMostTokens)
      return makeError("has more than " + Twine(kMostTokens) + " tokens");
  }
  if (requests.empty())
    return makeError("has no request");
  if (Error error = checkOwners(requests))
    return std::move(error);
  return requests;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error checkNumber(StringRef what, int64_t number, int64_t least,
                         int64_t most) {
  if (number >= least && number <= most)
    return Error::success();
  return makeError("'" + what + "' is " + Twine(number) +
                   ", expected an integer from " + Twine(least) + " to " +
                   Twine(most));
}

static Error check(const Request &request) {
  if (Error error = checkNumber("count", request.count, 1, kMostTokens))
    return error;
  if (Error error = checkNumber("new", request.newTokens, 1, kMostTokens))
    return error;
  if (Error error = checkNumber("cached", request.cachedTokens, 0, kMostTokens))
    return error;
  if (Error error = checkNumber("step", request.arrival, 0, kMostSteps))
    return error;
  if (Error error =
          checkNumber("generate", request.generate.value_or(1), 1, kMostSteps))
    return error;
  if (Error error =
          checkNumber("dp", request.rank.value_or(0), 0, kMostLists - 1))
    return error;
  if (Error error = checkNumber("micro_batch", request.microBatch.value_or(0),
                                0, kMostLists - 1))
    return error;
  // A token is sampled from the last row.
  if (request.generate && request.logits == 0)
    return makeError("a request that generates has 'logits' of 0, from which "
                     "no token can be sampled; expected at least 1");
  return checkNumber("logits", request.logits.value_or(0), 0,
                     request.newTokens);
}

/// `{"new": 512, "cached": 0}`
static Expected<Request> readRequest(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeError("expected an object such as {\"new\": 1, \"cached\": 0}");
  Request request;
  for (const auto &[key, member] : *object) {
    StringRef name = key;
    if (name != "new" && name != "cached" && name != "logits" &&
        name != "count" && name != "step" && name != "generate" &&
        name != "dp" && name != "micro_batch")
      return makeError("unknown member '" + shortenText(name) +
                       "'; known are new, cached, logits, count, step, "
                       "generate, dp and micro_batch");
    std::optional<int64_t> number = member.getAsInteger();
    if (!number)
      return makeError("'" + name + "' is no integer of 64 bits");
    if (name == "logits")
      request.logits = *number;
    else if (name == "generate")
      request.generate = *number;
    else if (name == "dp")
      request.rank = *number;
    else if (name == "micro_batch")
      request.microBatch = *number;
    else
      (name == "new"      ? request.newTokens
       : name == "cached" ? request.cachedTokens
       : name == "step"   ? request.arrival
                          : request.count) = *number;
  }
  for (StringRef name : {"new", "cached"})
    if (!object->get(name))
      return makeError("has no member '" + name + "'");
  if (Error error = check(request))
    return std::move(error);
  return request;
}

Expected<Requests> stg::readRequests(const json::Array &array) {
  std::vector<Request> all;
  for (const auto &[number, value] : enumerate(array)) {
    Expected<Request> request = readRequest(value);
    if (!request)
      return makeError("request " + Twine(number) + ": " +
                       toString(request.takeError()));
    all.push_back(*request);
  }
  return join(all);
}

/// An object in each line; empty lines are none.
static Expected<Requests> readLines(StringRef text) {
  std::vector<Request> all;
  for (size_t line = 1; !text.empty(); ++line) {
    auto [own, rest] = text.split('\n');
    text = rest;
    if (own.trim().empty())
      continue;
    Expected<json::Value> value = parseJSON(own);
    Expected<Request> request =
        value ? readRequest(*value) : Expected<Request>(value.takeError());
    if (!request)
      return makeError("line " + Twine(line) + ": " +
                       toString(request.takeError()));
    all.push_back(*request);
  }
  return join(all);
}

/// Reads the integer that `text` begins with.
static bool consumeNumber(StringRef &text, int64_t &number) {
  text = text.ltrim();
  return !text.consumeInteger(10, number) && (text = text.ltrim(), true);
}

/// A number behind that character, if it is there; false for what is none.
static bool consumeOption(StringRef &text, StringRef mark,
                          std::optional<int64_t> &value) {
  int64_t number = 0;
  if (!text.consume_front(mark))
    return true;
  if (!consumeNumber(text, number))
    return false;
  value = number;
  return true;
}

/// `64*(1,4095)`, `(5,1024,5)`, `(512,0)@8+16`, `(1,4095)#2` or `(1,4095)/2`.
static bool consumeRequest(StringRef &text, Request &request) {
  if (!text.ltrim().starts_with("(") &&
      !(consumeNumber(text, request.count) && text.consume_front("*")))
    return false;
  text = text.ltrim();
  if (!text.consume_front("(") || !consumeNumber(text, request.newTokens) ||
      !text.consume_front(",") || !consumeNumber(text, request.cachedTokens))
    return false;
  int64_t logits = 0;
  if (text.consume_front(",")) {
    if (!consumeNumber(text, logits))
      return false;
    request.logits = logits;
  }
  if (!text.consume_front(")"))
    return false;
  text = text.ltrim();
  if (text.consume_front("@") && !consumeNumber(text, request.arrival))
    return false;
  return consumeOption(text, "+", request.generate) &&
         consumeOption(text, "#", request.rank) &&
         consumeOption(text, "/", request.microBatch);
}

static Expected<Requests> readList(StringRef text) {
  std::vector<Request> all;
  for (bool isFirst = true; isFirst || !text.empty(); isFirst = false) {
    Request request;
    if ((!isFirst && !text.consume_front(",")) ||
        !consumeRequest(text, request))
      return makeError(
          "expected COUNT*(NEW,CACHED),... such as 64*(1,4095),(512,0), or a "
          ".jsonl file with a request in each line");
    if (Error error = check(request))
      return makeError("request " + Twine(all.size()) + ": " +
                       toString(std::move(error)));
    all.push_back(request);
  }
  return join(all);
}

Expected<Requests> stg::readRequests(StringRef text) {
  StringRef trimmed = text.ltrim();
  if (trimmed.starts_with("{"))
    return readLines(text);
  if (!trimmed.starts_with("["))
    return readList(text);
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return value.takeError();
  if (const json::Array *array = value->getAsArray())
    return readRequests(*array);
  return makeError("expected a list of requests");
}

json::Value stg::writeRequests(const Requests &requests) {
  json::Array array;
  for (const Request &request : requests.list) {
    json::Object object{{"new", request.newTokens},
                        {"cached", request.cachedTokens}};
    if (request.count != 1)
      object["count"] = request.count;
    if (request.logits)
      object["logits"] = *request.logits;
    if (request.arrival)
      object["step"] = request.arrival;
    if (request.generate)
      object["generate"] = *request.generate;
    if (request.rank)
      object["dp"] = *request.rank;
    if (request.microBatch)
      object["micro_batch"] = *request.microBatch;
    array.push_back(std::move(object));
  }
  return array;
}
