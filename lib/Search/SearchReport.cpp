//===- SearchReport.cpp - What a search says ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Search/SearchReport.h"
#include "stg/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cinttypes>
#include <cmath>

using namespace llvm;
using namespace stg;

static std::string asGiB(double bytes) {
  return asBytes(static_cast<__int128>(bytes));
}

static std::string asCount(uint64_t count) {
  return formatv("{0:N0}", count).str();
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// True for what says that there is nothing of something.
static bool saysNothing(const Field &field, const Strategy &values) {
  static const Strategy defaults;
  bool isPlain = field.isDegree || field.kind == Field::Kind::Bool;
  return isPlain && field.print(values) == field.print(defaults);
}

/// As a word of a shell.
static std::string quote(StringRef word) {
  if (all_of(word, [](char c) {
        return isAlnum(c) || StringRef("-_=./,:+").contains(c);
      }))
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string SearchReport::getCommand(const Estimated &entry) const {
  std::string command = "stg-compile " + quote(request.model);
  auto add = [&](StringRef flag, StringRef value) {
    if (!value.empty())
      command += (" --" + flag + " " + quote(value)).str();
  };
  add("config", request.config);
  add("program", request.program);
  for (const std::string &folder : request.modelPath)
    add("models", folder);
  if (request.ignoresQuantization)
    command += " --ignore-quantization";
  for (const Field &field : getFields()) {
    if (!entry.strategy.isGiven(field.id) || !(field.scopes & Field::Flags) ||
        saysNothing(field, entry.strategy.values))
      continue;
    for (const std::string &value :
         listFlagValues(field, entry.strategy.values))
      if (field.kind == Field::Kind::Bool)
        command += " --" + field.name.str() + (value == "true" ? "" : "=false");
      else
        add(field.name, value);
  }
  return command;
}

/// True if not all strategies have the same.
bool SearchReport::isVaried(const Field &field) const {
  if (!result.axes.empty())
    return any_of(result.axes, [&](const SearchResult::AxisCost &axis) {
      return axis.field && axis.field->id == field.id;
    });
  std::string first = field.print(result.estimated.front().strategy.values);
  return any_of(result.estimated, [&](const Estimated &entry) {
    return field.print(entry.strategy.values) != first;
  });
}

/// What makes it different from others of the search.
std::string SearchReport::describe(const Estimated &entry) const {
  std::string text;
  for (const Field &field : getFields()) {
    if (!entry.strategy.isGiven(field.id) || !isVaried(field) ||
        saysNothing(field, entry.strategy.values))
      continue;
    std::string value = field.print(entry.strategy.values);
    text += (text.empty() ? "" : " ") + field.name.str();
    if (field.kind != Field::Kind::Bool)
      text += " " + value;
  }
  return text;
}

static std::string getPartName(StringRef part) {
  return part == "other kernels" ? "other_kernels" : part.str();
}

json::Object SearchReport::getEntry(const Estimated &entry) const {
  json::Object object, time, exposed;
  for (const Report::Part &part : entry.parts) {
    StringRef name = part.name;
    if (name.consume_front("exposed "))
      exposed[name.str()] = part.seconds;
    else
      time[getPartName(name)] = part.seconds;
  }
  time["exposed"] = std::move(exposed);
  object["number"] = static_cast<int64_t>(entry.number);
  object["step_seconds"] = entry.seconds;
  if (entry.overlapsSteps)
    object["step_interval_seconds"] = entry.interval / kTicksPerSecond;
  object["memory_bytes"] = static_cast<int64_t>(entry.needed);
  object["ranks"] = entry.job.ranks;
  object["mfu"] = entry.mfu;
  object["hfu"] = entry.hfu;
  if (entry.tokenRate)
    object["tokens_per_second_and_device"] = *entry.tokenRate;
  object["time"] = std::move(time);
  object["strategy"] = json::Object(entry.settled);
  object["command"] = getCommand(entry);
  return object;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Seconds, or those of a device for each token.
double SearchReport::getCost(const Estimated &entry) const {
  return SearchCosts{entry.total, entry.needed, entry.job, entry.interval}.get(
             result.goal) /
         kTicksPerSecond;
}

bool SearchReport::showsThroughput() const {
  return result.jobs.size() > 1 || !isOfTime() || result.criteria.throughput;
}

/// A line of a table, without what its strategies have in common.
void SearchReport::printLine(const Estimated &entry, raw_ostream &os) const {
  os << format("%10.6g      %5.1f %%  ", entry.seconds, 100 * entry.mfu)
     << right_justify(asGiB(entry.needed), 13);
  if (differIn(result.jobs, &SearchJob::ranks))
    os << format("%9" PRId64, entry.job.ranks);
  if (showsThroughput())
    os << format("%13.1f", entry.tokenRate.value_or(0));
  os << "  " << describe(entry) << '\n';
}

void SearchReport::printBest(raw_ostream &os) const {
  os << "       step, s  use of peak         memory";
  if (differIn(result.jobs, &SearchJob::ranks))
    os << "  devices";
  if (showsThroughput())
    os << "  tokens/s each";
  os << "  strategy\n";
  for (size_t i = 0; i < result.numBest; ++i) {
    os << format("%3zu ", i + 1);
    printLine(result.estimated[i], os);
  }
}

void SearchReport::printFront(raw_ostream &os) const {
  if (result.front.size() < 2)
    return;
  // Of memory alone the least is at the end.
  const FrontCriteria &criteria = result.criteria;
  std::string names = "time";
  for (auto [isOne, name] : {std::pair(criteria.memory, "memory"),
                             {criteria.devices, "devices"},
                             {criteria.throughput, "tokens/s each"}})
    if (isOne)
      names += std::string(", ") + name;
  os << "front of " << names << '\n';
  for (size_t i : result.front) {
    os << "    ";
    printLine(result.estimated[i], os);
  }
}

/// The best with each value, over the best of all.
void SearchReport::printAxes(raw_ostream &os) const {
  double best = getCost(result.estimated.front());
  bool any = false;
  for (const SearchResult::AxisCost &axis : result.axes) {
    std::string line;
    unsigned known = 0;
    for (const SearchResult::ValueCost &value : axis.values) {
      if (!value.cost && !value.atLeast)
        continue;
      ++known;
      line += "  " + value.value;
      if (value.cost && !value.atLeast)
        line += formatv(" {0:F1} %", 100 * (*value.cost / best - 1)).str();
      else
        line += formatv(" >{0:F1} %",
                        100 * (std::max(*value.atLeast, best) / best - 1))
                    .str();
    }
    if (known < 2)
      continue;
    if (!any)
      os << (isOfTime() ? "longer with, at best\n"
                        : "more device-seconds per token with, at best\n");
    any = true;
    os << "  " << left_justify(axis.getName(), 20) << line << '\n';
  }
}

void SearchReport::printRunnerUp(raw_ostream &os) const {
  if (result.numBest < 2)
    return;
  const Estimated &first = result.estimated[0], &second = result.estimated[1];
  StringRef unit = isOfTime() ? "s" : "device-s";
  // A difference of whole picoseconds, or what rounding has left of none.
  auto isNone = [](double seconds) { return std::abs(seconds) < 1e-13; };
  const double longer = getCost(second) - getCost(first);
  if (isNone(longer))
    os << "the second takes as long";
  else
    os << format("the second takes %.6g ", longer) << unit
       << (isOfTime() ? " longer" : " per token longer");
  std::map<std::string, double> more;
  for (const auto &[entry, sign] : {std::pair(&second, 1), {&first, -1}})
    for (const Report::Part &part : entry->parts)
      more[part.name] += sign * part.seconds * getCost(*entry) / entry->seconds;
  std::vector<std::pair<std::string, double>> parts(more.begin(), more.end());
  llvm::sort(parts, [](const auto &lhs, const auto &rhs) {
    return std::abs(lhs.second) > std::abs(rhs.second);
  });
  StringRef separator = ": ";
  for (const auto &[name, seconds] : ArrayRef(parts).take_front(4)) {
    if (isNone(seconds))
      continue;
    os << separator << name << format(" %+.6g ", seconds) << unit;
    separator = ", ";
  }
  os << '\n';
}

void SearchReport::printCounts(raw_ostream &os) const {
  os << asCount(result.numStrategies) << " strategies in "
     << format("%.3g s", result.seconds);
  if (result.numShapes)
    os << ", " << asCount(result.numMeasured) << " of "
       << asCount(result.numShapes) << " kinds of tasks measured";
  os << ": " << asCount(result.numEstimated) << " estimated";
  for (auto [count, what] :
       {std::pair(result.cutByTime, "cannot be better"),
        {result.cutByMemory + result.tooLarge, "do not fit"},
        {result.refused, "refused"}})
    if (count)
      os << ", " << asCount(count) << ' ' << what;
  os << '\n';
  if (result.isComplete)
    return;
  os << "interrupted: the best of those that were estimated so far";
  if (result.leastLeft)
    os << format("; what is left takes at least %.6g s", *result.leastLeft);
  os << '\n';
}

void SearchReport::printText(raw_ostream &os) const {
  const Estimated &best = result.estimated.front();
  os << "best strategies of " << request.model << " on ";
  interleave(listRanks(result.jobs), os, ", ");
  os << " x " << machine.getName() << '\n';
  printBest(os);
  printFront(os);
  printAxes(os);
  printRunnerUp(os);
  os << getCommand(best) << '\n';
  printCounts(os);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

json::Object SearchReport::getJSON() const {
  json::Object object;
  object["version"] = 1;
  object["model"] = request.model;
  object["machine"] = machine.getName().str();
  object["memory_limit_bytes"] = static_cast<int64_t>(memoryLimit);
  object["complete"] = result.isComplete;
  if (result.leastLeft)
    object["left_at_least_seconds"] = *result.leastLeft;
  object["seconds"] = result.seconds;
  object["strategies"] = json::Object{
      {"all", result.numStrategies},     {"estimated", result.numEstimated},
      {"cut_by_time", result.cutByTime}, {"cut_by_memory", result.cutByMemory},
      {"too_large", result.tooLarge},    {"refused", result.refused},
  };
  json::Array best, front, axes;
  for (size_t i = 0; i < result.numBest; ++i)
    best.push_back(getEntry(result.estimated[i]));
  for (size_t i : result.front)
    front.push_back(getEntry(result.estimated[i]));
  for (const SearchResult::AxisCost &axis : result.axes) {
    json::Array values;
    for (const SearchResult::ValueCost &value : axis.values) {
      json::Object entry{{"value", value.value}};
      StringRef cost = isOfTime() ? "step_seconds" : "device_seconds_per_token";
      StringRef atLeast =
          isOfTime() ? "at_least_seconds" : "at_least_device_seconds_per_token";
      if (value.cost)
        entry[cost] = *value.cost;
      if (value.atLeast)
        entry[atLeast] = *value.atLeast;
      values.push_back(std::move(entry));
    }
    axes.push_back(
        json::Object{{"flag", axis.getName()}, {"values", std::move(values)}});
  }
  json::Array compared{"time"};
  for (auto [isOne, name] : {std::pair(result.criteria.memory, "memory"),
                             {result.criteria.devices, "devices"},
                             {result.criteria.throughput, "throughput"}})
    if (isOne)
      compared.push_back(name);
  object["goal"] = isOfTime() ? "time" : "throughput";
  object["best"] = std::move(best);
  object["front_of"] = std::move(compared);
  object["front"] = std::move(front);
  object["axes"] = std::move(axes);
  return object;
}

void SearchReport::writeCSV(raw_ostream &os) const {
  std::vector<const Field *> fields;
  for (const Field &field : getFields())
    if (any_of(result.estimated, [&](const Estimated &entry) {
          return entry.strategy.isGiven(field.id);
        }))
      fields.push_back(&field);
  auto quoteCell = [](std::string text) {
    if (text.find_first_of(",\"\n") == std::string::npos)
      return text;
    std::string quoted = "\"";
    for (char c : text)
      quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
  };
  os << "number,step_seconds,memory_bytes,ranks,tokens,mfu,hfu,"
        "at_least_seconds,at_least_bytes,interval_seconds,"
        "at_least_interval_seconds";
  for (const Field *field : fields)
    os << ',' << field->name;
  os << '\n';
  for (const Estimated &entry : result.estimated) {
    os << entry.number << ',' << format("%.12f,", entry.seconds)
       << static_cast<int64_t>(entry.needed) << ',' << entry.job.ranks << ',';
    if (entry.job.tokens)
      os << format("%.15g", entry.job.tokens);
    os << format(",%.6f,%.6f,", entry.mfu, entry.hfu);
    if (entry.leastSeconds)
      os << format("%.12f", *entry.leastSeconds);
    os << ',';
    if (entry.leastNeeded)
      os << static_cast<int64_t>(*entry.leastNeeded);
    os << format(",%.12f,", entry.interval / kTicksPerSecond);
    if (entry.leastInterval)
      os << format("%.12f", *entry.leastInterval);
    for (const Field *field : fields) {
      os << ',';
      if (entry.strategy.isGiven(field->id))
        os << quoteCell(field->print(entry.strategy.values));
    }
    os << '\n';
  }
}

void SearchReport::writeStrategy(raw_ostream &os) const {
  os << formatv("{0:2}\n",
                json::Value(json::Object(result.estimated.front().settled)));
}

//===----------------------------------------------------------------------===//
// Nothing found
//===----------------------------------------------------------------------===//

Error SearchReport::check() const {
  if (!result.estimated.empty())
    return Error::success();
  if (!result.isComplete)
    return createStringError(
        result.numEstimated
            ? "interrupted before a strategy was found that fits"
        : result.numStrategies ? "interrupted before any strategy was estimated"
                               : "interrupted while strategies were listed");
  std::string refused = result.refusalExample;
  if (uint64_t large = result.cutByMemory + result.tooLarge)
    return createStringError(
        "no strategy fits: each of " + asCount(large) + " needs more than " +
        asGiB(memoryLimit) + " on a device, the smallest at least " +
        asGiB(result.leastNeeded) +
        "; needs more --ranks, a smaller model, or a larger --memory-limit");
  if (!refused.empty())
    return createStringError(
        "no strategy is possible: all are refused, the first because " +
        refused);
  return createStringError("there is no strategy with so many ranks: degrees "
                           "that are given or varied do not make them; leave "
                           "one of --dp, --tp, --cp and --pp open");
}
