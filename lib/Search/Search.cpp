//===- Search.cpp - Which strategy is the best ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Search/Search.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Search/TaskBounds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
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

/// For bounds.
static CompileRequest makeBoundRequest(const CompileRequest &base,
                                       const StrategyInput &strategy,
                                       bool measuresMemory) {
  CompileRequest request = makeCompileRequest(base, strategy);
  // Other degrees than those of the strategies that it stands for.
  request.dropsWithoutEffect = true;
  request.verifies = false;
  request.exportOptions.measuresMemory = measuresMemory;
  return request;
}

/// The first message is why there is no program.
static FailureOr<CompileResult> compileQuietly(Compiler &compiler,
                                               const CompileRequest &request,
                                               std::string &refusal) {
  MessagePrinter printer([&](const ToolMessage &message) {
    if (message.severity == ToolMessage::Severity::Error && refusal.empty())
      refusal = message.text;
  });
  return compiler.compile(request, printer);
}

Estimated stg::estimateStrategy(Compiler &compiler, const CompileRequest &base,
                                const StrategyInput &strategy,
                                const Machine &machine) {
  Estimated result;
  result.strategy = strategy;
  CompileRequest request = makeCompileRequest(base, strategy);
  auto compiled = compileQuietly(compiler, request, result.refusal);
  if (failed(compiled))
    return result;
  const trace::TraceBundle &programs = *compiled->summary.programs;
  const Execution &execution = compiled->execution;
  Expected<JobFacts> facts = JobFacts::get(programs, execution);
  if (!facts) {
    result.refusal = toString(facts.takeError());
    return result;
  }
  Expected<JobTimes> times =
      JobTimes::get(programs, *facts, machine, execution);
  if (!times) {
    result.refusal = toString(times.takeError());
    return result;
  }
  Report report = {machine, *facts, *times, execution};
  result.total = times->step.total;
  result.overlapsSteps = times->interval.has_value();
  result.interval =
      result.overlapsSteps ? toTicks(*times->interval) : result.total;
  result.seconds = times->step.getSeconds();
  result.needed = report.getNeeded();
  result.job = {facts->ranks, facts->tokens.value_or(0)};
  result.isTraining = !facts->isInference();
  result.mfu = report.getUse(Report::UseOf::Model);
  result.hfu = report.getUse(Report::UseOf::Hardware);
  result.tokenRate = report.getTokenRate();
  result.parts = report.getParts();
  json::Value settled = toJSON(compiled->strategy);
  result.settled = *settled.getAsObject();
  return result;
}

double SearchCosts::get(SearchGoal goal) const {
  // Doubles keep the order of ticks, and of steps of less than two hours all.
  if (goal == SearchGoal::Time)
    return static_cast<double>(time);
  return job.tokens ? static_cast<double>(interval) *
                          static_cast<double>(job.ranks) / job.tokens
                    : 0;
}

bool SearchCosts::isAsGoodAs(const SearchCosts &other,
                             const FrontCriteria &criteria) const {
  return time <= other.time && (!criteria.memory || memory <= other.memory) &&
         (!criteria.devices || job.ranks <= other.job.ranks) &&
         (!criteria.throughput ||
          get(SearchGoal::Throughput) <= other.get(SearchGoal::Throughput));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Calls `work(i, thread)` for all i, until `isStopped`.
template <typename Work, typename IsStopped>
static void runAll(unsigned jobs, size_t count, Work work,
                   IsStopped isStopped) {
  std::atomic<size_t> next = 0;
  auto run = [&](unsigned thread) {
    for (size_t i; !isStopped() && (i = next++) < count;)
      work(i, thread);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs && i < count; ++i)
    threads.emplace_back(run, i);
  run(0);
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
/// What one part of a search has done, over all threads.
struct Tally {
  std::atomic<uint64_t> count = 0, nanoseconds = 0;
};

class Searcher {
public:
  Searcher(const SearchRequest &request, const MessagePrinter &printer)
      : request(request), printer(printer),
        compilers(std::max(1u, request.jobs)) {}

  Expected<SearchResult> run();

private:
  enum class ShapeState : uint8_t { Unknown, Grown, BeingMeasured, Measured };
  struct Bound {
    Ticks time = 0, interval = 0;
    double memory = 0;
    bool isClose = false;                  ///< No program says more of it.
    ShapeState from = ShapeState::Unknown; ///< Of its shape, when it was made.
  };

  Error enumerate();
  bool measure(Compiler &compiler, uint32_t number, ArrayRef<uint32_t> others,
               std::string &reason);
  void prepareFamilies();
  uint64_t measureFamily(Compiler &compiler, ArrayRef<uint32_t> family);
  void measureFamilies();
  bool isRefused(Compiler &compiler, const TaskShape &shape,
                 StringRef refusal) const;
  void readSchedules();
  void refuse(const std::string &why);
  bool bound(uint32_t number);
  void boundPoints();
  void measureClosely(Compiler &compiler, uint32_t shape,
                      std::unique_lock<std::mutex> &lock);
  void measureInside(Compiler &compiler, uint32_t inside,
                     std::unique_lock<std::mutex> &lock);
  void boundAgain(std::vector<uint32_t> &points);
  std::optional<uint32_t> findUnknown(uint32_t number) const;
  void estimate(Compiler &compiler, uint32_t point,
                std::unique_lock<std::mutex> &lock);
  void estimatePoints();
  void estimateFirst();
  void boundRest();
  void estimateList();
  void keep(Estimated estimated);
  SearchCosts getCosts(const Estimated &entry) const {
    return {entry.total, entry.needed, entry.job, entry.interval};
  }
  SearchCosts getLeast(uint32_t point) const {
    return {bounds[point].time, bounds[point].memory,
            result.space.jobs[result.space.points[point].job],
            bounds[point].interval};
  }
  void push(uint32_t point) {
    queue.push({getLeast(point).get(result.goal), point});
  }
  void choose(std::vector<SearchJob> jobs, bool isTraining);
  void chooseOfList();
  bool isTooLong(const SearchCosts &costs) const;
  bool isCut(uint32_t point) const;
  void finishFront();
  void finish();
  void finishAxes();
  bool isStopped() const {
    return request.space.isInterrupted && request.space.isInterrupted();
  }
  void report(StringRef step, uint64_t done, uint64_t total);

  using ScheduleKey = std::array<uint32_t, 5>;
  ScheduleKey getKey(const PointFacts &point) const {
    return {point.schedule, point.stages, point.virtualStages,
            point.microBatches, static_cast<uint32_t>(point.pairs)};
  }

  enum class Part { List, Schedules, Families, Bounds, Shapes, Insides, Steps };
  /// Counts what is done as long as it lives. Any thread may have one.
  class Stopwatch {
  public:
    Stopwatch(Searcher &searcher, Part part, uint64_t count = 1)
        : tally(searcher.tallies[static_cast<size_t>(part)]),
          start(std::chrono::steady_clock::now()) {
      tally.count += count;
    }
    ~Stopwatch() {
      using namespace std::chrono;
      auto spent = steady_clock::now() - start;
      tally.nanoseconds += duration_cast<nanoseconds>(spent).count();
    }
    Stopwatch(const Stopwatch &) = delete;
    Stopwatch &operator=(const Stopwatch &) = delete;

  private:
    Tally &tally;
    std::chrono::steady_clock::time_point start;
  };
  void finishWork();

  const SearchRequest &request;
  const MessagePrinter &printer;
  std::array<Tally, 7> tallies;    ///< By part.
  std::vector<Compiler> compilers; ///< By thread.
  SearchResult result;
  // By shape.
  std::vector<TaskBounds> shapes;
  std::vector<ShapeState> states;
  std::vector<std::vector<unsigned>> stageCounts, insideCounts;
  std::vector<std::vector<uint32_t>> waiting; ///< Points, for it.
  // By `PointFacts::inside`.
  std::vector<std::optional<TaskTimes>> insides;
  std::vector<ShapeState> insideStates;
  std::vector<std::vector<uint32_t>> waitingInside;
  std::map<ScheduleKey, ScheduleFacts> schedules;
  // By point.
  std::vector<Bound> bounds;
  std::vector<bool> isLeft; ///< Neither estimated nor known not to fit.
  /// Points to look at, the least bound first.
  using Entry = std::pair<double, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;

  std::mutex mutex;
  std::condition_variable changed;
  unsigned numActive = 0;         ///< Threads that may add to the queue.
  std::multiset<double> best;     ///< Costs, at most `most`.
  std::vector<SearchCosts> front; ///< Of what has been found.
  std::map<SearchJob, Ticks> fastest;
  bool hasRefused = false; ///< A strategy that was settled.
  double bestSeconds = 0;  ///< Of the step of the best.
};
} // namespace

void Searcher::report(StringRef step, uint64_t done, uint64_t total) {
  if (request.progress)
    request.progress(step, done, total, bestSeconds);
}

Error Searcher::enumerate() {
  Stopwatch watch(*this, Part::List);
  report("listing", 0, 0);
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  StrategySettler settler(*context, *request.space.request, printer);
  Expected<SearchSpace> space = makeSearchSpace(request.space, settler);
  if (!space)
    return space.takeError();
  result.space = std::move(*space);
  result.numStrategies = result.space.size();
  result.refusalExample = result.space.refused.example;
  choose(result.space.jobs, result.space.isTraining);
  return Error::success();
}

/// What is compared, where nobody says it.
void Searcher::choose(std::vector<SearchJob> jobs, bool isTraining) {
  llvm::sort(jobs);
  jobs.erase(llvm::unique(jobs), jobs.end());
  const bool differ = differIn(jobs, &SearchJob::tokens);
  result.goal =
      request.goal.value_or(differ ? SearchGoal::Throughput : SearchGoal::Time);
  FrontCriteria criteria;
  criteria.memory = jobs.size() < 2 || isTraining;
  criteria.devices = isTraining && differIn(jobs, &SearchJob::ranks);
  criteria.throughput = jobs.size() > 1 && (differ || !isTraining);
  result.criteria = request.front.value_or(criteria);
  result.jobs = std::move(jobs);
}

/// What is left of a message where numbers and names of ops are not told apart.
static std::string getReason(StringRef message) {
  std::string reason;
  bool isQuoted = false;
  for (char c : message) {
    isQuoted ^= c == '\'';
    if (!isQuoted && !isDigit(c))
      reason += c;
  }
  return reason;
}

/// True if a strategy of the shape is refused for the same reason as what
/// stands for the shape, so that all are: messages between the ranks of a
/// stage, say, are too large, of which the one or the other is seen first.
/// Else nothing is known of it.
bool Searcher::isRefused(Compiler &compiler, const TaskShape &shape,
                         StringRef refusal) const {
  const CompileRequest &base = *request.space.request;
  Estimated first = estimateStrategy(
      compiler, base, result.space.getStrategy(shape.firstPoint, base.strategy),
      *request.machine);
  return !first.refusal.empty() &&
         getReason(first.refusal) == getReason(refusal);
}

/// Compiles a shape, and sets its bounds and those of the shapes after it in
/// its family. False if there is no such program. `reason` is why all
/// strategies of another shape of the family are refused, if that is known:
/// those of this one are if it is the same for the shape.
bool Searcher::measure(Compiler &compiler, uint32_t number,
                       ArrayRef<uint32_t> others, std::string &reason) {
  const TaskShape &shape = result.space.shapes[number];
  std::string refusal;
  auto compiled =
      compileQuietly(compiler,
                     makeBoundRequest(*request.space.request, shape.strategy,
                                      /*measuresMemory=*/true),
                     refusal);
  if (failed(compiled)) {
    std::string own = getReason(refusal);
    if (own == reason || isRefused(compiler, shape, refusal)) {
      reason = std::move(own);
      shapes[number].refusal = std::move(refusal);
    }
    return false;
  }
  Expected<ShapeProgram> program =
      ShapeProgram::get(*compiled, *request.machine);
  if (!program) {
    shapes[number].refusal = toString(program.takeError());
    for (uint32_t other : others)
      shapes[other].refusal = shapes[number].refusal;
    return true;
  }
  TaskBounds own;
  own.measure(*program, shape.hasMicroBatches, stageCounts[number]);
  shapes[number] = std::move(own);
  for (uint32_t other : others)
    shapes[other].measure(*program, shape.hasMicroBatches, stageCounts[other],
                          result.space.shapes[other].sequences /
                              shape.sequences);
  return true;
}

/// What is asked of each shape, and the families whose programs are the
/// smallest first: a ring has as many steps as ranks. An interrupted search has
/// most of them then.
void Searcher::prepareFamilies() {
  SearchSpace &space = result.space;
  stageCounts.resize(space.shapes.size());
  insideCounts.resize(space.insides.size());
  for (const PointFacts &point : space.points) {
    if (point.stages == 1)
      continue;
    const unsigned count = point.stages * point.virtualStages;
    stageCounts[point.shape].push_back(count);
    for (uint32_t inside : {point.inside, point.split})
      if (inside != SearchSpace::kNoInside)
        insideCounts[inside].push_back(count);
  }
  for (auto *all : {&stageCounts, &insideCounts})
    for (std::vector<unsigned> &counts : *all) {
      llvm::sort(counts);
      counts.erase(llvm::unique(counts), counts.end());
    }
  shapes.resize(space.shapes.size());
  states.assign(space.shapes.size(), ShapeState::Unknown);
  result.numShapes = shapes.size() + space.insides.size();
  llvm::sort(space.families, [&](ArrayRef<uint32_t> lhs,
                                 ArrayRef<uint32_t> rhs) {
    auto getPlace = [&](ArrayRef<uint32_t> family) {
      uint32_t first = family.front();
      return std::pair(space.shapes[first].strategy.values.cp.number, first);
    };
    return getPlace(lhs) < getPlace(rhs);
  });
}

/// The shape with the fewest sequences is compiled; if there is no such
/// program, the next one. The number of those that were.
uint64_t Searcher::measureFamily(Compiler &compiler,
                                 ArrayRef<uint32_t> family) {
  uint64_t numMeasured = 0;
  std::string reason;
  for (bool isMeasured = false; !family.empty() && !isMeasured;) {
    const uint32_t shape = family.front();
    family = family.drop_front();
    isMeasured = measure(compiler, shape, family, reason);
    states[shape] = ShapeState::Measured;
    ++numMeasured;
    if (isMeasured)
      for (uint32_t other : family)
        states[other] = ShapeState::Grown;
  }
  return numMeasured;
}

void Searcher::measureFamilies() {
  prepareFamilies();
  const std::vector<std::vector<uint32_t>> &families = result.space.families;
  uint64_t done = 0;
  runAll(
      request.jobs, families.size(),
      [&](size_t i, unsigned thread) {
        Stopwatch watch(*this, Part::Families);
        const uint64_t numMeasured =
            measureFamily(compilers[thread], families[i]);
        std::lock_guard<std::mutex> lock(mutex);
        result.numMeasured += numMeasured;
        report("measuring tasks", ++done, families.size());
      },
      [&] { return isStopped(); });
}

void Searcher::readSchedules() {
  for (const PointFacts &point : result.space.points)
    if (point.hasSchedule())
      schedules.try_emplace(getKey(point));
  std::vector<std::pair<const ScheduleKey, ScheduleFacts> *> all;
  for (auto &entry : schedules)
    all.push_back(&entry);
  runAll(
      request.jobs, all.size(),
      [&](size_t i, unsigned) {
        Stopwatch watch(*this, Part::Schedules);
        auto &[key, facts] = *all[i];
        const std::string &name = result.space.schedules[key[0]];
        ScheduleRequest request = {key[1], key[2], key[3]};
        const auto pairs = static_cast<PairRequest>(key[4]);
        request.pairs = pairs == PairRequest::WherePossible
                            ? canHavePairs(name, request)
                            : pairs == PairRequest::Always;
        facts = ScheduleFacts::get(name, request);
      },
      [&] { return isStopped(); });
}

/// What is wrong with strategies that are settled says more than why others are
/// none.
void Searcher::refuse(const std::string &why) {
  if (!std::exchange(hasRefused, true))
    result.refusalExample = why;
  ++result.refused;
}

/// False if it is known by now that there is no such strategy, or that it does
/// not fit.
bool Searcher::bound(uint32_t number) {
  const PointFacts &point = result.space.points[number];
  static const ScheduleFacts none;
  const TaskBounds &shape = shapes[point.shape];
  const ScheduleFacts &schedule =
      point.hasSchedule() ? schedules.find(getKey(point))->second : none;
  if (!shape.refusal.empty() || !schedule.refusal.empty()) {
    refuse(shape.refusal.empty() ? schedule.refusal : shape.refusal);
    return false;
  }
  bool isClose = states[point.shape] == ShapeState::Measured;
  auto find = [&](uint32_t inside) -> const TaskTimes * {
    if (inside == SearchSpace::kNoInside)
      return nullptr;
    isClose &= insideStates[inside] == ShapeState::Measured;
    return insides[inside] ? &*insides[inside] : nullptr;
  };
  const TaskTimes *inside = find(point.inside), *split = find(point.split);
  Bound &own = bounds[number];
  const Ticks time = shape.getTime(point, schedule, inside, split);
  // Several steps of decoding may be under way.
  const bool overlaps = point.stages > 1 && point.isDecode;
  own = {time, overlaps ? std::min(time, shape.getInterval(point)) : time,
         shape.getMemory(point, schedule), isClose, states[point.shape]};
  if (own.memory <= request.memoryLimit || request.isExhaustive)
    return true;
  ++result.cutByMemory;
  if (!result.leastNeeded || own.memory < result.leastNeeded)
    result.leastNeeded = own.memory;
  return false;
}

void Searcher::boundPoints() {
  const SearchSpace &space = result.space;
  Stopwatch watch(*this, Part::Bounds, space.size());
  bounds.resize(space.size());
  isLeft.assign(space.size(), false);
  waiting.resize(shapes.size());
  insides.resize(space.insides.size());
  insideStates.assign(space.insides.size(), ShapeState::Grown);
  waitingInside.resize(space.insides.size());
  for (size_t i = 0; i < space.size(); ++i) {
    // Where measuring was interrupted.
    if (states[space.points[i].shape] == ShapeState::Unknown || !bound(i))
      continue;
    isLeft[i] = true;
    push(static_cast<uint32_t>(i));
  }
}

/// True if it is of no interest for the front.
bool Searcher::isTooLong(const SearchCosts &costs) const {
  auto it = fastest.find(costs.job);
  return it != fastest.end() &&
         static_cast<double>(costs.time) > it->second * request.within;
}

/// True if something that has been found is as good as the strategy can be, and
/// so many are better.
bool Searcher::isCut(uint32_t point) const {
  if (request.isExhaustive || best.size() < request.most)
    return false;
  const SearchCosts least = getLeast(point);
  if (least.get(result.goal) < *best.rbegin())
    return false;
  return isTooLong(least) || any_of(front, [&](const SearchCosts &found) {
           return found.isAsGoodAs(least, result.criteria);
         });
}

/// With the lock.
void Searcher::keep(Estimated estimated) {
  ++result.numEstimated;
  if (!estimated.refusal.empty()) {
    refuse(estimated.refusal);
    --result.numEstimated;
    return;
  }
  if (estimated.needed > request.memoryLimit) {
    ++result.tooLarge;
    if (!result.leastNeeded || estimated.needed < result.leastNeeded)
      result.leastNeeded = estimated.needed;
    return;
  }
  const SearchCosts own = getCosts(estimated);
  const double cost = own.get(result.goal);
  if (best.empty() || cost < *best.begin())
    bestSeconds = estimated.seconds;
  best.insert(cost);
  if (best.size() > request.most)
    best.erase(std::prev(best.end()));
  Ticks &least = fastest.try_emplace(own.job, own.time).first->second;
  least = std::min(least, own.time);
  if (none_of(front, [&](const SearchCosts &other) {
        return other.isAsGoodAs(own, result.criteria);
      })) {
    erase_if(front, [&](const SearchCosts &other) {
      return own.isAsGoodAs(other, result.criteria);
    });
    front.push_back(own);
  }
  result.estimated.push_back(std::move(estimated));
}

/// The shape's own program is run, and those of its strategies that were to be
/// looked at have closer bounds. With the lock, which it gives back meanwhile.
void Searcher::measureClosely(Compiler &compiler, uint32_t shape,
                              std::unique_lock<std::mutex> &lock) {
  states[shape] = ShapeState::BeingMeasured;
  ++numActive;
  lock.unlock();
  {
    Stopwatch watch(*this, Part::Shapes);
    std::string reason;
    measure(compiler, shape, {}, reason);
  }
  lock.lock();
  --numActive;
  ++result.numMeasured;
  states[shape] = ShapeState::Measured;
  boundAgain(waiting[shape]);
}

/// With the collectives that data parallelism adds to the tasks of a shape.
/// Likewise.
void Searcher::measureInside(Compiler &compiler, uint32_t inside,
                             std::unique_lock<std::mutex> &lock) {
  const TaskShape &shape = result.space.insides[inside];
  insideStates[inside] = ShapeState::BeingMeasured;
  const std::vector<unsigned> &counts = insideCounts[inside];
  ++numActive;
  lock.unlock();
  std::optional<TaskTimes> times;
  {
    Stopwatch watch(*this, Part::Insides);
    std::string refusal;
    auto compiled =
        compileQuietly(compiler,
                       makeBoundRequest(*request.space.request, shape.strategy,
                                        /*measuresMemory=*/false),
                       refusal);
    if (succeeded(compiled))
      times = TaskBounds::measureInside(*compiled, *request.machine,
                                        shape.hasMicroBatches, counts);
  }
  lock.lock();
  --numActive;
  ++result.numMeasured;
  insides[inside] = std::move(times);
  insideStates[inside] = ShapeState::Measured;
  boundAgain(waitingInside[inside]);
}

/// Strategies of which more is known by now are looked at again. With the lock.
void Searcher::boundAgain(std::vector<uint32_t> &points) {
  for (uint32_t point : points) {
    [[maybe_unused]] Bound last = bounds[point];
    if (!bound(point)) {
      isLeft[point] = false;
      continue;
    }
    assert(last.time <= bounds[point].time &&
           last.interval <= bounds[point].interval &&
           last.memory <= bounds[point].memory &&
           "a bound of a family is not one of its shapes");
    push(point);
  }
  points.clear();
  changed.notify_all();
}

/// Likewise.
void Searcher::estimate(Compiler &compiler, uint32_t point,
                        std::unique_lock<std::mutex> &lock) {
  const CompileRequest &base = *request.space.request;
  isLeft[point] = false;
  ++numActive;
  lock.unlock();
  Estimated estimated = [&] {
    Stopwatch watch(*this, Part::Steps);
    return estimateStrategy(compiler, base,
                            result.space.getStrategy(point, base.strategy),
                            *request.machine);
  }();
  estimated.number = point;
  const SearchJob &job = result.space.jobs[result.space.points[point].job];
  assert((!estimated.refusal.empty() || !job.tokens || job == estimated.job) &&
         "a job is not what was asked for");
  estimated.job = job;
  estimated.leastSeconds = bounds[point].time / kTicksPerSecond;
  estimated.leastInterval = bounds[point].interval / kTicksPerSecond;
  estimated.leastNeeded = bounds[point].memory;
  assert((!estimated.refusal.empty() ||
          (bounds[point].time <= estimated.total &&
           bounds[point].interval <= estimated.interval &&
           bounds[point].memory <= estimated.needed)) &&
         "a bound is not one");
  lock.lock();
  --numActive;
  keep(std::move(estimated));
  changed.notify_all();
}

/// What a strategy has in its tasks that has not been looked at.
std::optional<uint32_t> Searcher::findUnknown(uint32_t number) const {
  const PointFacts &point = result.space.points[number];
  for (uint32_t inside : {point.inside, point.split})
    if (inside != SearchSpace::kNoInside &&
        insideStates[inside] != ShapeState::Measured)
      return inside;
  return std::nullopt;
}

/// From the least bound on: what has been found cuts the more of the rest.
void Searcher::estimatePoints() {
  const uint64_t total = queue.size();
  auto run = [&](size_t, unsigned thread) {
    Compiler &compiler = compilers[thread];
    std::unique_lock<std::mutex> lock(mutex);
    while (!isStopped()) {
      if (queue.empty()) {
        if (!numActive)
          return;
        changed.wait(lock);
        continue;
      }
      const uint32_t point = queue.top().second;
      queue.pop();
      const uint32_t shape = result.space.points[point].shape;
      const std::optional<uint32_t> inside = findUnknown(point);
      if (isCut(point)) {
        ++result.cutByTime;
      } else if (bounds[point].isClose) {
        estimate(compiler, point, lock);
        report("estimating", total - std::min(total, queue.size()), total);
      } else if (states[shape] != ShapeState::Measured) {
        // Programs of data parallelism and of halves are for what this one does
        // not cut.
        waiting[shape].push_back(point);
        if (states[shape] == ShapeState::Grown)
          measureClosely(compiler, shape, lock);
      } else if (bounds[point].from != states[shape]) {
        // Others of the shape have been looked at before.
        if (bound(point))
          push(point);
        else
          isLeft[point] = false;
      } else if (inside) {
        waitingInside[*inside].push_back(point);
        if (insideStates[*inside] == ShapeState::Grown)
          measureInside(compiler, *inside, lock);
      } else {
        // Others with the same have been looked at before.
        if (bound(point))
          push(point);
        else
          isLeft[point] = false;
      }
    }
    // Who waits is to see it as well.
    changed.notify_all();
  };
  runAll(request.jobs, request.jobs, run, [] { return false; });
}

/// Interrupted before anything was found: the most promising strategies, until
/// one fits. Then those of families that nothing is known of, from all parts of
/// the space; bounds leave out what does not fit.
void Searcher::estimateFirst() {
  constexpr size_t most = 16, mostOfFamily = 2;
  std::unique_lock<std::mutex> lock(mutex);
  for (size_t i = 0; i < most && !queue.empty() && best.empty(); ++i) {
    const uint32_t point = queue.top().second;
    queue.pop();
    estimate(compilers.front(), point, lock);
  }
  if (!best.empty())
    return;
  std::vector<ArrayRef<uint32_t>> unknown, samples;
  for (ArrayRef<uint32_t> family : result.space.families)
    if (states[family.front()] == ShapeState::Unknown)
      unknown.push_back(family);
  const size_t count = std::min(4 * most, unknown.size());
  constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> sampleOf(shapes.size(), none);
  for (size_t i = 0; i < count; ++i) {
    samples.push_back(unknown[i * unknown.size() / count]);
    for (uint32_t shape : samples.back())
      sampleOf[shape] = static_cast<uint32_t>(i);
  }
  std::vector<std::vector<uint32_t>> pointsOf(count);
  for (auto [number, point] : llvm::enumerate(result.space.points))
    if (const uint32_t sample = sampleOf[point.shape]; sample != none)
      pointsOf[sample].push_back(static_cast<uint32_t>(number));
  for (size_t i = 0; i < count && best.empty(); ++i) {
    {
      Stopwatch watch(*this, Part::Families);
      result.numMeasured += measureFamily(compilers.front(), samples[i]);
    }
    std::vector<Entry> fitting;
    for (uint32_t point : pointsOf[i])
      if ((isLeft[point] = bound(point)))
        fitting.push_back({getLeast(point).get(result.goal), point});
    llvm::sort(fitting);
    for (auto [number, entry] : llvm::enumerate(fitting))
      if (number < mostOfFamily && best.empty())
        estimate(compilers.front(), entry.second, lock);
      else
        queue.push(entry);
  }
}

/// Interrupted: of all that is still to be looked at.
void Searcher::boundRest() {
  if (queue.empty() || is_contained(states, ShapeState::Unknown))
    return;
  Ticks least = INT64_MAX;
  for (; !queue.empty(); queue.pop())
    least = std::min(least, bounds[queue.top().second].time);
  result.leastLeft = least / kTicksPerSecond;
}

void Searcher::estimateList() {
  result.numStrategies = request.among.size();
  uint64_t done = 0;
  runAll(
      request.jobs, request.among.size(),
      [&](size_t i, unsigned thread) {
        Estimated estimated =
            estimateStrategy(compilers[thread], *request.space.request,
                             request.among[i], *request.machine);
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

/// The jobs of a list are known when it is estimated.
void Searcher::chooseOfList() {
  std::vector<SearchJob> jobs;
  bool isTraining = false;
  for (const Estimated &entry : result.estimated) {
    jobs.push_back(entry.job);
    isTraining |= entry.isTraining;
  }
  choose(std::move(jobs), isTraining);
}

/// What was estimated with a value is its best; else its least bound.
void Searcher::finishAxes() {
  const SearchSpace &space = result.space;
  for (const SearchAxis &axis : space.axes) {
    result.axes.push_back({axis.field, {}});
    for (const std::string &value : axis.values)
      result.axes.back().values.push_back({value, std::nullopt, std::nullopt});
  }
  const std::vector<int64_t> ranks = listRanks(space.jobs);
  if (ranks.size() > 1) {
    result.axes.push_back({nullptr, {}});
    for (int64_t number : ranks)
      result.axes.back().values.push_back(
          {std::to_string(number), std::nullopt, std::nullopt});
  }
  // Lowers what is known of each value that a strategy has chosen.
  auto lower = [&](size_t point, const SearchCosts &costs,
                   std::optional<double> SearchResult::ValueCost::*known) {
    const double cost = costs.get(result.goal) / kTicksPerSecond;
    auto update = [&](SearchResult::ValueCost &value) {
      value.*known = std::min((value.*known).value_or(cost), cost);
    };
    for (auto [number, choice] : llvm::enumerate(space.getChoices(point)))
      if (choice != SearchSpace::kUnset)
        update(result.axes[number].values[choice]);
    if (ranks.size() > 1)
      update(result.axes.back()
                 .values[llvm::find(ranks, costs.job.ranks) - ranks.begin()]);
  };
  if (!space.points.empty())
    for (const Estimated &entry : result.estimated)
      lower(entry.number, getCosts(entry), &SearchResult::ValueCost::cost);
  for (size_t point = 0; point < isLeft.size(); ++point)
    if (isLeft[point])
      lower(point, getLeast(static_cast<uint32_t>(point)),
            &SearchResult::ValueCost::atLeast);
  for (SearchResult::AxisCost &axis : result.axes)
    for (SearchResult::ValueCost &value : axis.values)
      if (value.cost && value.atLeast && *value.cost <= *value.atLeast)
        value.atLeast.reset();
}

/// Of strategies that are as good as each other the first one.
void Searcher::finishFront() {
  std::vector<size_t> order;
  for (size_t i = 0; i < result.estimated.size(); ++i)
    if (!isTooLong(getCosts(result.estimated[i])))
      order.push_back(i);
  llvm::sort(order, [&](size_t lhs, size_t rhs) {
    const Estimated &left = result.estimated[lhs],
                    &right = result.estimated[rhs];
    return std::tie(left.total, left.needed, lhs) <
           std::tie(right.total, right.needed, rhs);
  });
  // What is as good as another one, and not the same, may come before it.
  for (size_t i : order) {
    const SearchCosts own = getCosts(result.estimated[i]);
    auto isAsGood = [&](size_t other) {
      return getCosts(result.estimated[other]).isAsGoodAs(own, result.criteria);
    };
    if (any_of(result.front, isAsGood))
      continue;
    erase_if(result.front, [&](size_t other) {
      return own.isAsGoodAs(getCosts(result.estimated[other]), result.criteria);
    });
    result.front.push_back(i);
  }
}

void Searcher::finish() {
  if (!request.among.empty())
    chooseOfList();
  auto getKey = [&](const Estimated &entry) {
    return std::tuple(getCosts(entry).get(result.goal), entry.total,
                      entry.needed, entry.number);
  };
  llvm::sort(result.estimated, [&](const Estimated &lhs, const Estimated &rhs) {
    return getKey(lhs) < getKey(rhs);
  });
  result.numBest = std::min(request.most, result.estimated.size());
  finishFront();
}

void Searcher::finishWork() {
  constexpr StringLiteral names[] = {
      "listing strategies", "reading schedules", "compiling families",
      "bounding",           "compiling sizes",   "compiling data parallelism",
      "estimating"};
  for (auto [name, tally] : zip_equal(names, tallies))
    result.work.push_back({name, tally.count, 1e-9 * tally.nanoseconds});
}

Expected<SearchResult> Searcher::run() {
  auto start = std::chrono::steady_clock::now();
  if (!request.among.empty()) {
    estimateList();
  } else {
    if (Error error = enumerate())
      return std::move(error);
    readSchedules();
    measureFamilies();
    boundPoints();
    estimatePoints();
    if (isStopped() && best.empty())
      estimateFirst();
    if (isStopped())
      boundRest();
  }
  result.isComplete = !isStopped();
  finish();
  finishAxes();
  finishWork();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return std::move(result);
}

Expected<SearchResult> stg::search(const SearchRequest &request,
                                   const MessagePrinter &printer) {
  return Searcher(request, printer).run();
}
