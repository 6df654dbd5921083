//===- StepPlan.cpp - The steps that requests are executed in -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/StepPlan.h"
#include "stg/Strategy/Strategy.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace stg;

/// Each loop is compiled by itself.
static constexpr size_t kMostLoops = 4096;

Requests StepLoop::getLast() const {
  Requests last = requests;
  for (Request &request : last.list)
    request.cachedTokens += advance ? advance->getTotal(count - 1)
                                    : (count - 1) * request.newTokens;
  return last;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Puts steps into loops, as they come.
class LoopBuilder {
public:
  explicit LoopBuilder(bool tellTokens = false) : tellTokens(tellTokens) {}

  Error add(Requests step, int64_t tokens, int64_t times = 1);
  Expected<std::vector<StepLoop>> finish();

private:
  bool continues(const Requests &step) const;

  bool tellTokens;
  std::vector<StepLoop> loops;
};
} // namespace

/// True for a step that differs from the last one in its contexts only, by what
/// that has added.
bool LoopBuilder::continues(const Requests &step) const {
  if (loops.empty() || loops.back().requests.list.size() != step.list.size())
    return false;
  Requests last = loops.back().getLast();
  return llvm::all_of(llvm::zip_equal(last.list, step.list), [](auto pair) {
    auto &[before, now] = pair;
    Request next = before;
    next.cachedTokens += next.newTokens;
    return next.count == now.count && next.getKind() == now.getKind();
  });
}

Error LoopBuilder::add(Requests step, int64_t tokens, int64_t times) {
  if (continues(step) && (!tellTokens || loops.back().tokens == tokens)) {
    loops.back().count += times;
    return Error::success();
  }
  if (loops.size() == kMostLoops)
    return makeError("there are more than " + Twine(kMostLoops) +
                     " kinds of steps; use fewer steps, or fewer requests that "
                     "come and leave");
  loops.push_back({std::move(step), times, std::nullopt, tokens});
  return Error::success();
}

Expected<std::vector<StepLoop>> LoopBuilder::finish() {
  if (loops.empty())
    return makeError("no request has a token in any step");
  return std::move(loops);
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

namespace {
/// Requests that are alike and have come as far.
struct Running {
  Request request;
  int64_t computed = 0;  ///< Of its new tokens.
  int64_t generated = 0; ///< Tokens.

  bool isComplete() const { return computed >= request.newTokens; }
  int64_t getNeeded() const {
    return isComplete() ? 1 : request.newTokens - computed;
  }
  int64_t getCached() const { return request.cachedTokens + computed; }
  bool isDone() const {
    return request.generate && generated >= *request.generate;
  }
  /// Those of the last new tokens that are among the next `share` ones. Engines
  /// make a row of the last token of each step.
  int64_t getLogits(int64_t share) const {
    if (*request.logits == 0 || isComplete())
      return std::min(*request.logits, share);
    int64_t behind = request.newTokens - computed - share;
    return std::clamp<int64_t>(*request.logits - behind, 1, share);
  }
};

class Scheduler {
public:
  Scheduler(const Requests &requests, StepLimits limits,
            std::optional<int64_t> steps)
      : requests(requests), limits(limits), steps(steps) {}

  Expected<std::vector<StepLoop>> run();

private:
  void admit(int64_t step);
  Requests runStep();
  void give(Running entry, int64_t share, Requests &step,
            SmallVectorImpl<Running> &next);
  bool isAtEnd(int64_t step) const;
  int64_t countAlike(int64_t step) const;
  bool isStarved() const;

  const Requests &requests;
  StepLimits limits;
  std::optional<int64_t> steps;
  /// In the order in which they are served.
  SmallVector<Running> running;
  int64_t tokens = 0; ///< That requests have got in the last step.
};
} // namespace

/// Those that come are behind those that are there.
void Scheduler::admit(int64_t step) {
  for (const Request &request : requests.list)
    if (request.arrival == step)
      running.push_back({request});
}

/// Without a number of steps the end is where prompts have been computed, and
/// those that say how much they generate have left.
bool Scheduler::isAtEnd(int64_t step) const {
  if (steps)
    return step >= *steps;
  bool isToCome = llvm::any_of(requests.list, [&](const Request &request) {
    return request.arrival >= step;
  });
  return !isToCome && llvm::all_of(running, [](const Running &entry) {
    return entry.isComplete() && !entry.request.generate;
  });
}

/// Requests with that many tokens in the step.
void Scheduler::give(Running entry, int64_t share, Requests &step,
                     SmallVectorImpl<Running> &next) {
  Request part = entry.request;
  part.newTokens = share;
  part.cachedTokens = entry.getCached();
  part.arrival = 0;
  part.generate.reset();
  if (part.logits)
    part.logits = entry.getLogits(share);
  auto known = llvm::find_if(step.list, [&](const Request &other) {
    return other.getKind() == part.getKind();
  });
  if (known == step.list.end())
    step.list.push_back(part);
  else
    known->count += part.count;
  entry.computed += share;
  entry.generated += entry.isComplete();
  if (entry.isComplete())
    tokens += entry.request.count;
  if (!entry.isDone())
    next.push_back(entry);
}

/// Requests that are alike get the same, as far as the budget goes: the last
/// one that gets something may get less.
Requests Scheduler::runStep() {
  Requests step;
  tokens = 0;
  int64_t budget = limits.tokens ? limits.tokens : INT64_MAX;
  SmallVector<Running> next;
  for (Running entry : running) {
    int64_t wanted = entry.getNeeded();
    if (limits.chunk)
      wanted = std::min(wanted, limits.chunk);
    int64_t all = entry.request.count;
    int64_t whole = std::min(all, budget / wanted);
    auto take = [&](int64_t number, int64_t share) {
      if (number == 0)
        return;
      Running part = entry;
      part.request.count = number;
      budget -= number * share;
      give(part, share, step, next);
    };
    take(whole, wanted);
    int64_t left = all - whole;
    if (left > 0 && budget > 0) {
      take(1, budget);
      --left;
    }
    if (left > 0) {
      entry.request.count = left;
      next.push_back(entry);
    }
  }
  running = std::move(next);
  return step;
}

/// How many steps from this one on have the same requests with longer contexts,
/// all of which generate: nobody comes, and nobody leaves before.
int64_t Scheduler::countAlike(int64_t step) const {
  int64_t alike = steps.value_or(INT64_MAX) - step, tokens = 0;
  for (const Request &request : requests.list)
    if (request.arrival > step)
      alike = std::min(alike, request.arrival - step);
  for (const Running &entry : running) {
    if (!entry.isComplete())
      return 1;
    tokens += entry.request.count;
    if (entry.request.generate)
      alike = std::min(alike, *entry.request.generate - entry.generated);
  }
  if (limits.tokens && tokens > limits.tokens)
    return 1;
  return std::max<int64_t>(alike, 1);
}

/// True if those that never leave take all of a budget, for which others wait.
bool Scheduler::isStarved() const {
  int64_t taken = 0;
  bool isSomeoneWaiting = false;
  for (const Running &entry : running) {
    if (entry.isComplete() && !entry.request.generate)
      taken += entry.request.count;
    isSomeoneWaiting |= !entry.isComplete();
  }
  return limits.tokens && taken >= limits.tokens && isSomeoneWaiting;
}

Expected<std::vector<StepLoop>> Scheduler::run() {
  LoopBuilder loops(limits.tellTokens);
  int64_t step = 0;
  for (; !isAtEnd(step); ++step) {
    if (!steps && isStarved())
      return makeError("requests that never leave have all " +
                       Twine(limits.tokens) +
                       " tokens of a step, so that others wait for ever; say "
                       "how many tokens they generate, as in (1,10)+16, give "
                       "the steps with --steps, or a larger --token-budget");
    if (step == kMostSteps)
      return makeError("requests take more than " + Twine(kMostSteps) +
                       " steps; give fewer with --steps" +
                       (limits.tokens ? ", or a larger --token-budget" : ""));
    admit(step);
    if (running.empty())
      continue;
    int64_t alike = countAlike(step);
    if (alike > kMostSteps - step)
      alike = kMostSteps - step;
    Requests own = runStep();
    // The others of the loop, at once.
    for (Running &entry : running)
      if (alike > 1) {
        entry.computed += alike - 1;
        entry.generated += alike - 1;
      }
    if (alike > 1)
      llvm::erase_if(running,
                     [](const Running &entry) { return entry.isDone(); });
    if (Error error = loops.add(std::move(own), tokens, alike))
      return std::move(error);
    step += alike - 1;
  }
  return loops.finish();
}

/// Micro-batches would have steps of their own.
static Error checkOneMicroBatch(const Requests &requests) {
  if (!requests.areOfMicroBatches())
    return Error::success();
  return makeError("lists of micro-batches are those of steps in which nobody "
                   "comes or leaves, and which have no chunks and no budget; "
                   "use one list for all of them");
}

/// Ranks would have steps of their own.
static Error checkOneList(const Requests &requests) {
  if (!requests.areOfRanks())
    return Error::success();
  return makeError("lists of data-parallel ranks are those of one step, in "
                   "which nobody comes or leaves; use one list for all ranks, "
                   "or compile the steps one by one");
}

/// All come before the end.
static Error checkArrivals(const Requests &requests, int64_t steps) {
  for (const Request &request : requests.list)
    if (request.arrival >= steps)
      return makeError("a request comes with step " + Twine(request.arrival) +
                       ", and there are " + Twine(steps) +
                       " steps, from 0 on; ask for more with --steps");
  return Error::success();
}

Expected<std::vector<StepLoop>>
stg::scheduleSteps(const Requests &requests, StepLimits limits,
                   std::optional<int64_t> steps) {
  if (Error error = checkOneList(requests))
    return std::move(error);
  if (Error error = checkOneMicroBatch(requests))
    return std::move(error);
  if (steps)
    if (Error error = checkArrivals(requests, *steps))
      return std::move(error);
  return Scheduler(requests, limits, steps).run();
}

Expected<std::vector<StepLoop>> stg::repeatSteps(const Requests &requests,
                                                 int64_t steps) {
  if (Error error = checkOneList(requests))
    return std::move(error);
  if (requests.change())
    if (Error error = checkOneMicroBatch(requests))
      return std::move(error);
  // Steps between two of these numbers have the same requests.
  SmallVector<int64_t> changes = {0, steps};
  auto getEnd = [&](const Request &request) {
    return request.generate && *request.generate < steps - request.arrival
               ? request.arrival + *request.generate
               : steps;
  };
  if (Error error = checkArrivals(requests, steps))
    return std::move(error);
  for (const Request &request : requests.list) {
    changes.push_back(request.arrival);
    changes.push_back(getEnd(request));
  }
  llvm::sort(changes);
  changes.erase(llvm::unique(changes), changes.end());
  LoopBuilder loops;
  for (auto [begin, end] : llvm::zip(changes, ArrayRef(changes).drop_front())) {
    Requests step;
    int64_t tokens = 0;
    for (Request request : requests.list) {
      if (request.arrival > begin || getEnd(request) <= begin)
        continue;
      request.cachedTokens += (begin - request.arrival) * request.newTokens;
      request.arrival = 0;
      request.generate.reset();
      if (request.newTokens == 1)
        tokens += request.count;
      step.list.push_back(request);
    }
    if (step.empty())
      continue;
    if (Error error = loops.add(std::move(step), tokens, end - begin))
      return std::move(error);
  }
  return loops.finish();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// So many steps of a loop, from its `first` one on.
static StepLoop getPart(const StepLoop &loop, int64_t first, int64_t count) {
  StepLoop part = loop;
  part.count = count;
  for (Request &request : part.requests.list)
    request.cachedTokens += loop.advance ? loop.advance->getTotal(first)
                                         : first * request.newTokens;
  if (loop.advance)
    part.advance = loop.advance->getAfter(first);
  return part;
}

void stg::handOnTokens(std::vector<StepLoop> &loops) {
  std::vector<StepLoop> apart;
  int64_t before = 0; // Tokens of the step before.
  for (const StepLoop &loop : loops) {
    bool isLast = &loop == &loops.back();
    auto add = [&](int64_t first, int64_t count, int64_t received) {
      if (count == 0)
        return;
      StepLoop &part = apart.emplace_back(getPart(loop, first, count));
      part.received = received;
      part.sent = loop.tokens;
    };
    int64_t first = before == loop.tokens ? 0 : 1;
    int64_t last = isLast && loop.tokens > 0 && loop.count > first ? 1 : 0;
    add(0, first, before);
    add(first, loop.count - first - last, loop.tokens);
    add(loop.count - last, last, loop.tokens);
    before = loop.tokens;
  }
  apart.back().sent = 0;
  loops = std::move(apart);
}
