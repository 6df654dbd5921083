//===- Search.cpp - Which strategy is the best ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Search/Search.h"
#include "stg/Search/TaskBounds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

using namespace llvm;
using namespace stg;

//===----------------------------------------------------------------------===//
// One strategy
//===----------------------------------------------------------------------===//

/// Without traces, and without further threads.
static CompileRequest makeCompileRequest(const CompileRequest &base,
                                         const StrategyInput &strategy) {
  CompileRequest request = base;
  request.strategy = strategy;
  request.dryRun = true;
  request.exportOptions.output = chakra::ExportOptions::Output::Nothing;
  request.exportOptions.files.threads = 1;
  return request;
}

/// The first message is why there is no program.
static FailureOr<CompileResult> compileQuietly(mlir::MLIRContext &context,
                                               const CompileRequest &request,
                                               std::string &refusal) {
  MessagePrinter printer([&](const ToolMessage &message) {
    if (message.severity == ToolMessage::Severity::Error && refusal.empty())
      refusal = message.text;
  });
  return compile(context, request, printer);
}

Estimated stg::estimateStrategy(const CompileRequest &base,
                                const StrategyInput &strategy,
                                const Machine &machine) {
  Estimated result;
  result.strategy = strategy;
  CompileRequest request = makeCompileRequest(base, strategy);
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto compiled = compileQuietly(*context, request, result.refusal);
  if (failed(compiled))
    return result;
  const trace::TraceBundle &programs = *compiled->summary.programs;
  const Execution &execution = compiled->execution;
  Expected<JobFacts> facts = JobFacts::get(programs, execution);
  if (!facts) {
    result.refusal = toString(facts.takeError());
    return result;
  }
  Expected<StepTimes> step = getStepTimes(programs, machine, execution);
  if (!step) {
    result.refusal = toString(step.takeError());
    return result;
  }
  Report report = {machine, *facts, *step, execution, nullptr};
  result.total = step->total;
  result.seconds = step->getSeconds();
  result.needed = report.getNeeded();
  result.ranks = facts->ranks;
  result.mfu = report.getUse(false);
  result.hfu = report.getUse(true);
  result.tokenRate = report.getTokenRate();
  result.parts = report.getParts();
  json::Value settled = toJSON(compiled->strategy);
  result.settled = *settled.getAsObject();
  return result;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Calls `work(i)` for all i, until `isStopped`.
template <typename Work, typename IsStopped>
static void runAll(unsigned jobs, size_t count, Work work,
                   IsStopped isStopped) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t i; !isStopped() && (i = next++) < count;)
      work(i);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs && i < count; ++i)
    threads.emplace_back(run);
  run();
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
class Searcher {
public:
  Searcher(const SearchRequest &request, const MessagePrinter &printer)
      : request(request), printer(printer) {}

  Expected<SearchResult> run();

private:
  struct Bound {
    Ticks time = 0;
    double memory = 0;
  };

  Error enumerate();
  void measureShapes();
  bool isRefused(const TaskShape &shape, StringRef refusal) const;
  void readSchedules();
  void boundPoints();
  void estimatePoints();
  void estimateList();
  void keep(Estimated estimated);
  bool isCut(const Bound &bound) const;
  void finish();
  void finishAxes();
  bool isStopped() const {
    return request.space.isInterrupted && request.space.isInterrupted();
  }
  void report(StringRef step, uint64_t done, uint64_t total);

  using ScheduleKey = std::array<uint32_t, 4>;
  ScheduleKey getKey(const PointFacts &point) const {
    return {point.schedule, point.stages, point.virtualStages,
            point.microBatches};
  }

  const SearchRequest &request;
  const MessagePrinter &printer;
  SearchResult result;
  std::vector<TaskBounds> shapes;
  std::map<ScheduleKey, ScheduleFacts> schedules;
  /// Of each point; those that are left, the least first.
  std::vector<Bound> bounds;
  std::vector<uint32_t> left;
  std::vector<bool> isLeft;

  std::mutex mutex;
  std::multiset<Ticks> best;                   ///< At most `most`.
  std::vector<std::pair<Ticks, double>> front; ///< Times and memory, found.
  Ticks fastest = INT64_MAX;
};
} // namespace

void Searcher::report(StringRef step, uint64_t done, uint64_t total) {
  if (request.progress)
    request.progress(step, done, total,
                     fastest == INT64_MAX ? 0 : fastest / kTicksPerSecond);
}

Error Searcher::enumerate() {
  report("listing", 0, 0);
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  StrategySettler settler(*context, *request.space.request, printer);
  Expected<SearchSpace> space = makeSearchSpace(request.space, settler);
  if (!space)
    return space.takeError();
  result.space = std::move(*space);
  result.numStrategies = result.space.size();
  result.refusalExample = result.space.refused.example;
  return Error::success();
}

/// True if a strategy of the shape is refused for the same reason as what
/// stands for the shape, so that all are. Else nothing is known of it.
bool Searcher::isRefused(const TaskShape &shape, StringRef refusal) const {
  const CompileRequest &base = *request.space.request;
  Estimated first = estimateStrategy(
      base, result.space.getStrategy(shape.firstPoint, base.strategy),
      *request.machine);
  return first.refusal == refusal;
}

/// Each shape is compiled once.
void Searcher::measureShapes() {
  const SearchSpace &space = result.space;
  std::set<unsigned> counts;
  for (const PointFacts &point : space.points)
    if (point.stages > 1)
      counts.insert(point.stages * point.virtualStages);
  std::vector<unsigned> stageCounts(counts.begin(), counts.end());
  shapes.resize(space.shapes.size());
  result.numShapes = shapes.size();
  uint64_t done = 0;
  runAll(
      request.jobs, shapes.size(),
      [&](size_t i) {
        const TaskShape &shape = space.shapes[i];
        std::unique_ptr<mlir::MLIRContext> context = makeContext();
        auto compiled = compileQuietly(
            *context,
            makeCompileRequest(*request.space.request, shape.strategy),
            shapes[i].refusal);
        if (succeeded(compiled))
          shapes[i].measure(*compiled, *request.machine, shape.hasMicroBatches,
                            stageCounts);
        else if (!isRefused(shape, shapes[i].refusal))
          shapes[i].refusal.clear();
        std::lock_guard<std::mutex> lock(mutex);
        report("measuring tasks", ++done, shapes.size());
      },
      [&] { return isStopped(); });
}

void Searcher::readSchedules() {
  for (const PointFacts &point : result.space.points)
    if (point.stages > 1)
      schedules.try_emplace(getKey(point));
  std::vector<std::pair<const ScheduleKey, ScheduleFacts> *> all;
  for (auto &entry : schedules)
    all.push_back(&entry);
  runAll(
      request.jobs, all.size(),
      [&](size_t i) {
        auto &[key, facts] = *all[i];
        facts = ScheduleFacts::get(result.space.schedules[key[0]], key[1],
                                   key[2], key[3]);
      },
      [&] { return isStopped(); });
}

void Searcher::boundPoints() {
  const SearchSpace &space = result.space;
  static const ScheduleFacts none;
  bounds.resize(space.size());
  isLeft.assign(space.size(), false);
  auto refuse = [&](const std::string &why) {
    if (!result.refused++ && result.refusalExample.empty())
      result.refusalExample = why;
  };
  for (size_t i = 0; i < space.size(); ++i) {
    const PointFacts &point = space.points[i];
    const TaskBounds &shape = shapes[point.shape];
    const ScheduleFacts &schedule =
        point.stages > 1 ? schedules.find(getKey(point))->second : none;
    if (!shape.refusal.empty() || !schedule.refusal.empty()) {
      refuse(shape.refusal.empty() ? schedule.refusal : shape.refusal);
      continue;
    }
    bounds[i] = {shape.getTime(point, schedule),
                 shape.getMemory(point, schedule)};
    if (bounds[i].memory > request.memoryLimit && !request.isExhaustive) {
      ++result.cutByMemory;
      if (!result.leastNeeded || bounds[i].memory < result.leastNeeded)
        result.leastNeeded = bounds[i].memory;
      continue;
    }
    isLeft[i] = true;
    left.push_back(i);
  }
  llvm::sort(left, [&](uint32_t lhs, uint32_t rhs) {
    return std::pair(bounds[lhs].time, lhs) < std::pair(bounds[rhs].time, rhs);
  });
}

/// True if something that has been found is as good as the strategy can be, and
/// so many are better.
bool Searcher::isCut(const Bound &bound) const {
  if (request.isExhaustive || best.size() < request.most)
    return false;
  if (bound.time < *best.rbegin())
    return false;
  if (bound.time > fastest * request.within)
    return true;
  return any_of(front, [&](const auto &found) {
    return found.first <= bound.time && found.second <= bound.memory;
  });
}

/// With the lock.
void Searcher::keep(Estimated estimated) {
  ++result.numEstimated;
  if (!estimated.refusal.empty()) {
    if (!result.refused++ && result.refusalExample.empty())
      result.refusalExample = estimated.refusal;
    --result.numEstimated;
    return;
  }
  if (estimated.needed > request.memoryLimit) {
    ++result.tooLarge;
    if (!result.leastNeeded || estimated.needed < result.leastNeeded)
      result.leastNeeded = estimated.needed;
    return;
  }
  fastest = std::min(fastest, estimated.total);
  best.insert(estimated.total);
  if (best.size() > request.most)
    best.erase(std::prev(best.end()));
  std::pair<Ticks, double> own = {estimated.total, estimated.needed};
  if (none_of(front, [&](const auto &other) {
        return other.first <= own.first && other.second <= own.second;
      })) {
    erase_if(front, [&](const auto &other) {
      return own.first <= other.first && own.second <= other.second;
    });
    front.push_back(own);
  }
  result.estimated.push_back(std::move(estimated));
}

/// From the least bound on: what has been found cuts the more of the rest.
void Searcher::estimatePoints() {
  const CompileRequest &base = *request.space.request;
  uint64_t done = 0;
  runAll(
      request.jobs, left.size(),
      [&](size_t i) {
        uint32_t point = left[i];
        {
          std::lock_guard<std::mutex> lock(mutex);
          ++done;
          if (isCut(bounds[point])) {
            ++result.cutByTime;
            return;
          }
        }
        isLeft[point] = false;
        Estimated estimated = estimateStrategy(
            base, result.space.getStrategy(point, base.strategy),
            *request.machine);
        estimated.number = point;
        assert((!estimated.refusal.empty() ||
                (bounds[point].time <= estimated.total &&
                 bounds[point].memory <= estimated.needed)) &&
               "a bound is not one");
        std::lock_guard<std::mutex> lock(mutex);
        keep(std::move(estimated));
        report("estimating", done, left.size());
      },
      [&] { return isStopped(); });
}

void Searcher::estimateList() {
  result.numStrategies = request.among.size();
  uint64_t done = 0;
  runAll(
      request.jobs, request.among.size(),
      [&](size_t i) {
        Estimated estimated = estimateStrategy(
            *request.space.request, request.among[i], *request.machine);
        estimated.number = i;
        std::lock_guard<std::mutex> lock(mutex);
        keep(std::move(estimated));
        report("estimating", ++done, request.among.size());
      },
      [&] { return isStopped(); });
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

/// What was estimated with a value is its best; else its least bound.
void Searcher::finishAxes() {
  const SearchSpace &space = result.space;
  for (auto [number, axis] : llvm::enumerate(space.axes)) {
    SearchResult::AxisCost cost = {axis.field, {}};
    for (const std::string &value : axis.values)
      cost.values.push_back({value, std::nullopt, std::nullopt});
    auto lower = [](std::optional<double> &place, double seconds) {
      place = place ? std::min(*place, seconds) : seconds;
    };
    for (const Estimated &entry : result.estimated) {
      uint8_t choice = space.getChoices(entry.number)[number];
      if (choice != SearchSpace::kUnset)
        lower(cost.values[choice].seconds, entry.seconds);
    }
    for (uint32_t point : left) {
      uint8_t choice = space.getChoices(point)[number];
      if (isLeft[point] && choice != SearchSpace::kUnset)
        lower(cost.values[choice].atLeast,
              bounds[point].time / kTicksPerSecond);
    }
    for (SearchResult::ValueCost &value : cost.values)
      if (value.seconds && value.atLeast && *value.seconds <= *value.atLeast)
        value.atLeast.reset();
    result.axes.push_back(std::move(cost));
  }
}

void Searcher::finish() {
  llvm::sort(result.estimated, [](const Estimated &lhs, const Estimated &rhs) {
    return std::tie(lhs.total, lhs.needed, lhs.number) <
           std::tie(rhs.total, rhs.needed, rhs.number);
  });
  result.numBest = std::min(request.most, result.estimated.size());
  double least = 0;
  for (auto [i, entry] : llvm::enumerate(result.estimated)) {
    if (entry.total > fastest * request.within)
      break;
    if (i && entry.needed >= least)
      continue;
    least = entry.needed;
    result.front.push_back(i);
  }
}

Expected<SearchResult> Searcher::run() {
  auto start = std::chrono::steady_clock::now();
  if (!request.among.empty()) {
    estimateList();
  } else {
    if (Error error = enumerate())
      return std::move(error);
    measureShapes();
    readSchedules();
    if (!isStopped()) {
      boundPoints();
      estimatePoints();
    }
  }
  result.isComplete = !isStopped();
  finish();
  finishAxes();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return std::move(result);
}

Expected<SearchResult> stg::search(const SearchRequest &request,
                                   const MessagePrinter &printer) {
  return Searcher(request, printer).run();
}
