//===- Job.cpp - What an estimate is of -----------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/Job.h"
#include "ProgramFacts.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace stg;

/// Bytes for each logit that live at the loss of a program: the logits in 16
/// bits, and probabilities.
static constexpr double kProgramLogits = 2 + 4;

/// What copies of logits add to the memory of a class, or take from it: of
/// those at `peakNode`, or of all, if that is empty.
static double getMoreLogits(const trace::TraceProgram &program,
                            StringRef peakNode, const Execution &execution) {
  auto getCopies = [](ArrayRef<double> bytes) {
    return bytes.empty()
               ? 0
               : std::accumulate(bytes.begin(), bytes.end(), -kProgramLogits);
  };
  double whole = getCopies(execution.liveLogits);
  std::optional<double> most;
  double sharded = execution.liveLogitsSharded.empty()
                       ? whole
                       : getCopies(execution.liveLogitsSharded);
  for (const trace::NodeTemplate &node : program.nodes) {
    if (node.kernel == trace::kNone ||
        !(peakNode.empty() || peakNode.ends_with(node.name)))
      continue;
    const trace::Kernel &kernel = program.kernels[node.kernel];
    // A loss of parts has its steps as kernels.
    bool isWhole = StringRef(kernel.op).starts_with("cross_entropy");
    if (isLossKernel(kernel.op) && !kernel.sizes.empty())
      if (double more = (isWhole ? whole : sharded) * kernel.sizes[0];
          !most || more > *most)
        most = more;
  }
  return most.value_or(0);
}

/// What a runtime of pipelines keeps until the step ends: what the stage sends,
/// and what it receives in backward. What it receives in forward is saved for
/// backward anyway.
static double getStageBuffers(const trace::TraceProgram &program) {
  double bytes = 0;
  for (const trace::NodeTemplate &node : program.nodes)
    // Those of a schedule are of its turns; others are inside of stages.
    if (node.isMessage() && program.channels[node.channel].turns > 0 &&
        (node.kind == trace::NodeKind::Send || node.phase == kBackwardPhase))
      bytes += double(node.bytes) * double(node.executions);
  return bytes;
}

/// The most that a gather of keys and values makes.
static double getGatheredKeys(const trace::TraceProgram &program,
                              const trace::RankSpace &space) {
  ProgramFacts facts(program);
  double most = 0;
  for (auto [i, node] : enumerate(program.nodes))
    if (node.isColl() && facts.feedsAttention(i))
      most = std::max(most, double(node.bytes) *
                                double(space.getGroupSize(node.axes)));
  return most;
}

/// The sum over categories.
static double getTotal(const json::Object &bytes) {
  if (std::optional<double> total = bytes.getNumber("total"))
    return *total;
  double sum = 0;
  for (const auto &[category, value] : bytes)
    if (category != "host")
      sum += value.getAsNumber().value_or(0);
  return sum;
}

/// What a class of the manifest has at its peak, and what that takes.
static std::pair<double, double>
getMemory(const json::Object &entry, const trace::TraceBundle::Class &source,
          const trace::RankSpace &space, const Execution &execution) {
  const json::Object *memory = entry.getObject("memory");
  const json::Object *peak = memory ? memory->getObject("peak_bytes") : nullptr;
  const json::Object *largest =
      memory ? memory->getObject("largest_bytes") : nullptr;
  if (!peak || !largest)
    return {0, 0};
  StringRef node = memory->getString("peak_at").value_or("");
  double live =
      getTotal(*peak) + getMoreLogits(source.program, node, execution);
  double pools =
      getTotal(*largest) + getMoreLogits(source.program, "", execution);
  // What kernels wait for at once is in their memory.
  if (execution.blockingKeys)
    pools -= std::min(getGatheredKeys(source.program, space),
                      largest->getNumber("communication").value_or(0) -
                          peak->getNumber("communication").value_or(0));
  double buffers = execution.stageBuffers ? getStageBuffers(source.program) : 0;
  double most = execution.separatePools ? std::max(live, pools) : live;
  return {live + buffers, (most + buffers) * execution.reservedOverLive};
}

/// What a class has in the memory of the host.
static double getHostBytes(const json::Object &entry) {
  const json::Object *memory = entry.getObject("memory");
  const json::Object *largest =
      memory ? memory->getObject("largest_bytes") : nullptr;
  return largest ? largest->getNumber("host").value_or(0) : 0;
}

/// The steps of the manifest: what a row has in all of them, and those before
/// every request has one new token.
static void addSteps(const json::Array &loops, int64_t rows, JobFacts &facts) {
  int64_t tokens = 0;
  bool isGenerating = false;
  for (const json::Value &value : loops) {
    const json::Object *loop = value.getAsObject();
    const json::Array *requests = loop ? loop->getArray("requests") : nullptr;
    if (!requests)
      continue;
    int64_t count = loop->getInteger("count").value_or(1), own = 0, number = 0;
    for (const json::Value &entry : *requests)
      if (const json::Object *request = entry.getAsObject()) {
        int64_t alike = request->getInteger("count").value_or(1);
        own += alike * request->getInteger("new").value_or(1);
        number += alike;
      }
    tokens += count * own;
    isGenerating |= own == number;
    if (!isGenerating)
      facts.promptSteps += count;
  }
  facts.tokens = static_cast<double>(rows * tokens);
}

/// Steps are rounds of drafts: of the tokens that are verified so many remain.
static void setRounds(double tokens, const json::Object &manifest, int64_t rows,
                      JobFacts &facts) {
  facts.promptSteps = 0;
  facts.tokensPerStep = tokens;
  double all = 0;
  if (const json::Array *loops = manifest.getArray("steps"))
    for (const json::Value &value : *loops)
      if (const json::Object *loop = value.getAsObject())
        if (const json::Array *requests = loop->getArray("requests"))
          for (const json::Value &entry : *requests)
            if (const json::Object *request = entry.getAsObject())
              all +=
                  static_cast<double>(loop->getInteger("count").value_or(1) *
                                      request->getInteger("count").value_or(1));
  facts.tokens = all * static_cast<double>(rows) * tokens;
}

/// Where micro-batches or data-parallel ranks have lists of their own, the rows
/// that have one list.
static std::optional<int64_t> getRowsOfList(const json::Object &manifest,
                                            const json::Array &requests,
                                            int64_t batch) {
  const json::Object *first =
      requests.empty() ? nullptr : requests.front().getAsObject();
  if (first && first->get("dp"))
    return 1;
  if (!first || !first->get("micro_batch"))
    return std::nullopt;
  return batch /
         std::max<int64_t>(manifest.getInteger("micro_batches").value_or(1), 1);
}

/// Of a plan: the requests of a row.
static int64_t countRequests(const json::Object &plan) {
  const json::Array *requests = plan.getArray("requests");
  if (!requests)
    return 1;
  int64_t number = 0;
  for (const json::Value &entry : *requests)
    if (const json::Object *request = entry.getAsObject())
      number += request->getInteger("count").value_or(1);
  return number;
}

namespace {
/// Of a list whose requests have as many new tokens each.
struct AlikeRequests {
  int64_t newTokens = 0, count = 0;
};
} // namespace

static std::optional<AlikeRequests> getAlike(const json::Array *requests) {
  AlikeRequests alike;
  if (!requests)
    return std::nullopt;
  for (const json::Value &entry : *requests) {
    const json::Object *request = entry.getAsObject();
    if (!request)
      return std::nullopt;
    int64_t tokens = request->getInteger("new").value_or(1);
    if (alike.count && tokens != alike.newTokens)
      return std::nullopt;
    alike.newTokens = tokens;
    alike.count += request->getInteger("count").value_or(1);
  }
  return alike.count ? std::optional(alike) : std::nullopt;
}

/// The requests of a row, if they are as many in each step, with as many new
/// tokens each: then all wait for the same. Of a single step each has one.
static std::optional<int64_t> countAlike(const json::Array &requests,
                                         const json::Array *steps) {
  if (!steps) {
    std::optional<AlikeRequests> alike = getAlike(&requests);
    return alike && alike->newTokens == 1 ? std::optional(alike->count)
                                          : std::nullopt;
  }
  std::optional<int64_t> count;
  for (const json::Value &value : *steps) {
    const json::Object *loop = value.getAsObject();
    auto alike = getAlike(loop ? loop->getArray("requests") : nullptr);
    if (!alike || (count && *count != alike->count))
      return std::nullopt;
    count = alike->count;
  }
  return count;
}

/// All requests begin and go on: each has a token more than its prompt.
static void addDecoding(const json::Object &manifest, int64_t rows,
                        JobFacts &facts) {
  const json::Object *plan = manifest.getObject("decode_strategy");
  if (!plan)
    return;
  facts.firstDecodeRank = manifest.getInteger("decode_first_rank");
  facts.requests = rows * countRequests(*plan);
  facts.tokens =
      facts.tokens.value_or(0) + static_cast<double>(*facts.requests);
}

/// Bytes of parameters and caches that all nodes read.
static double getStateBytes(const trace::TraceProgram &program) {
  ProgramFacts facts(program);
  double bytes = 0;
  for (auto [i, node] : enumerate(program.nodes))
    bytes += double(node.executions) * facts.getStateBytes(i);
  return bytes;
}

Expected<JobFacts> JobFacts::get(const trace::TraceBundle &programs,
                                 const Execution &execution) {
  JobFacts facts;
  facts.ranks = programs.getSpace().getNumRanks();
  Expected<json::Value> manifest =
      json::parse(programs.getManifest(0, facts.ranks));
  if (!manifest)
    return createStringError("the manifest of the bundle cannot be read: " +
                             toString(manifest.takeError()));
  const json::Object *object = manifest->getAsObject();
  if (!object)
    return facts;
  if (const json::Object *symbols = object->getObject("symbols")) {
    std::optional<int64_t> batch = symbols->getInteger("B"),
                           tokens = symbols->getInteger("S");
    if (batch && tokens)
      facts.tokens = static_cast<double>(*batch * *tokens);
    const json::Object *strategy = object->getObject("strategy");
    const json::Array *requests =
        strategy ? strategy->getArray("requests") : nullptr;
    if (strategy && !requests)
      facts.requests = batch;
    if (requests && batch)
      if (auto rows = getRowsOfList(*object, *requests, *batch)) {
        batch = rows;
        addSteps(
            json::Array{json::Object{{"requests", json::Array(*requests)}}},
            *rows, facts);
      }
    const json::Array *loops = object->getArray("steps");
    if (requests && batch)
      if (std::optional<int64_t> alike = countAlike(*requests, loops))
        facts.requests = *batch * *alike;
    if (loops && batch)
      addSteps(*loops, *batch, facts);
    addDecoding(*object, batch.value_or(1), facts);
    if (const json::Object *draft = object->getObject("draft"))
      setRounds(draft->getNumber("tokens_of_round").value_or(1), *object,
                batch.value_or(1), facts);
  }
  facts.mode = object->getString("mode").value_or("").str();
  if (const json::Array *classes = object->getArray("classes"))
    for (auto [entry, source] : zip(*classes, programs.getClasses()))
      if (const json::Object *own = entry.getAsObject()) {
        auto [live, needed] =
            getMemory(*own, source, programs.getSpace(), execution);
        if (facts.isInference())
          facts.stateBytes =
              std::max(facts.stateBytes, getStateBytes(source.program));
        facts.liveBytes = std::max(facts.liveBytes, live);
        facts.neededBytes = std::max(facts.neededBytes, needed);
        facts.hostBytes = std::max(facts.hostBytes, getHostBytes(*own));
      }
  return facts;
}

static bool isDecoding(const JobFacts &job) {
  return job.mode == "decode" && job.requests && job.tokens == job.requests;
}

static bool hasSteps(const trace::TraceBundle::Class &entry) {
  return any_of(entry.program.repeats,
                [](const auto &repeat) { return repeat.isStep; });
}

/// Nothing where steps do not overlap, or the program says itself how they do.
static Expected<std::optional<double>>
getInterval(const trace::TraceBundle &programs, const JobFacts &job,
            const Machine &machine, const Execution &execution) {
  if (!isDecoding(job) || job.firstDecodeRank ||
      any_of(programs.getClasses(), hasSteps))
    return std::nullopt;
  auto interval = getStepInterval(programs, machine, execution);
  if (!interval)
    return interval.takeError();
  if (!*interval)
    return std::nullopt;
  return **interval / kTicksPerSecond;
}

static Expected<std::optional<SideSeconds>>
getSideSeconds(const trace::TraceBundle &programs, const JobFacts &job,
               const Machine &machine, const Execution &execution) {
  if (!job.firstDecodeRank)
    return std::nullopt;
  int64_t first = *job.firstDecodeRank;
  auto prefill = getStepTimesOf({0, first}, programs, machine, execution);
  if (!prefill)
    return prefill.takeError();
  auto decode =
      getStepTimesOf({first, job.ranks}, programs, machine, execution);
  if (!decode)
    return decode.takeError();
  return SideSeconds{prefill->getSeconds(), decode->getSeconds(),
                     prefill->fixed / kTicksPerSecond};
}

Expected<JobTimes> JobTimes::get(const trace::TraceBundle &programs,
                                 const JobFacts &job, const Machine &machine,
                                 const Execution &execution,
                                 StepRecording *recording) {
  auto step = getStepTimes(programs, machine, execution, recording);
  if (!step)
    return step.takeError();
  auto sides = getSideSeconds(programs, job, machine, execution);
  if (!sides)
    return sides.takeError();
  auto interval = getInterval(programs, job, machine, execution);
  if (!interval)
    return interval.takeError();
  return JobTimes{std::move(*step), *sides, *interval};
}
