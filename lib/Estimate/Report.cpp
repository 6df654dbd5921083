//===- Report.cpp - What an estimate says ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/Report.h"
#include "ProgramFacts.h"
#include "stg/Support/Phases.h"
#include "stg/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <numeric>
#include <optional>

using namespace llvm;
using namespace stg;

//===----------------------------------------------------------------------===//
// The job
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::vector<Report::Part> Report::getParts() const {
  Spending mean = times.step.getMean();
  auto seconds = [](Ticks ticks) { return ticks / kTicksPerSecond; };
  std::vector<Part> parts = {{"products", seconds(mean.kernels[0])},
                             {"attention", seconds(mean.kernels[1])},
                             {"other kernels", seconds(mean.kernels[2])}};
  for (auto [i, group] : enumerate(times.step.groups))
    if (mean.exposed[i])
      parts.push_back({"exposed " + group, seconds(mean.exposed[i])});
  parts.push_back({"interference", seconds(mean.interference)});
  parts.push_back({"host", seconds(mean.host)});
  parts.push_back({"bubble", seconds(mean.bubble)});
  return parts;
}

double Report::getUse(UseOf use) const {
  Spending mean = times.step.getMean();
  double operations =
      use == UseOf::Model ? mean.operations - mean.recomputed : mean.executed;
  return times.step.peak > 0
             ? operations / (times.step.getSeconds() * times.step.peak)
             : 0;
}

std::optional<double> Report::getTokenRate() const {
  if (!job.tokens)
    return std::nullopt;
  return *job.tokens / (getIntervalSeconds() * job.ranks);
}

const Quantity *Report::getError() const {
  return machine.find(job.isInference() ? "estimate.inference_error"
                                        : "estimate.error");
}

std::pair<double, double> Report::getFloors() const {
  double bandwidth = machine.get("device.memory.bandwidth").value_or(0);
  double executed = 0;
  for (const ClassTimes &entry : times.step.classes)
    executed = std::max(executed, entry.spending.executed);
  return {bandwidth > 0 ? job.stateBytes / bandwidth : 0,
          times.step.peak > 0 ? executed / times.step.peak : 0};
}

/// What the host does once for a step comes on top.
std::vector<double> Report::getStepSeconds() const {
  ArrayRef<Ticks> steps = times.step.classes[times.step.slowest].steps;
  std::vector<double> seconds;
  for (Ticks own : steps)
    seconds.push_back((own + double(times.step.fixed) / steps.size()) /
                      kTicksPerSecond);
  return seconds;
}

Report::StepRange Report::getRange(ArrayRef<double> steps) {
  double sum = std::accumulate(steps.begin(), steps.end(), 0.);
  return {steps.size(), *llvm::min_element(steps), sum / steps.size(),
          *llvm::max_element(steps)};
}

std::optional<double> Report::getFirstToken() const {
  std::vector<double> steps = getStepSeconds();
  if (!job.requests || job.promptSteps == 0 ||
      steps.size() < static_cast<size_t>(job.promptSteps))
    return std::nullopt;
  return std::accumulate(steps.begin(), steps.begin() + job.promptSteps, 0.);
}

std::optional<double> Report::getTimePerToken() const {
  std::vector<double> steps = getStepSeconds();
  if (!job.requests || steps.size() <= static_cast<size_t>(job.promptSteps))
    return std::nullopt;
  return getRange(ArrayRef(steps).drop_front(job.promptSteps)).mean /
         job.tokensPerStep;
}

/// What a request waits for in a step of inference of one token each, or of
/// prompts.
std::optional<StringRef> Report::getLatency() const {
  if (!times.step.classes[times.step.slowest].steps.empty())
    return std::nullopt;
  if (!job.requests || !job.isInference() || times.sides)
    return std::nullopt;
  if (job.mode == "prefill")
    return "first token";
  bool isOneToken = job.tokens && *job.tokens == *job.requests;
  return isOneToken ? std::optional<StringRef>("time per token") : std::nullopt;
}

/// Of all ranks together, what such steps do that follow one another.
std::optional<double> Report::getRequestRate() const {
  if (!getLatency())
    return std::nullopt;
  return *job.requests / getIntervalSeconds();
}

double Report::getTransfer() const {
  double alone =
      times.sides->prefill + times.sides->decode - times.sides->fixed;
  return std::max(0., times.step.getSeconds() - alone);
}

double stg::getAvailableMemory(const Machine &machine) {
  return machine.get("device.memory.capacity").value_or(0) -
         machine.get("device.memory.reserved").value_or(0);
}

bool Report::liveFits() const { return job.liveBytes <= getCapacity(); }

bool Report::fits() const {
  std::optional<double> host = machine.get("device.second_memory.capacity");
  return getNeeded() <= getCapacity() && (!host || job.hostBytes <= *host);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// What steps, prompts and tokens take.
static void printTokens(const Report &report, raw_ostream &os) {
  if (std::vector<double> steps = report.getStepSeconds(); !steps.empty()) {
    Report::StepRange range = report.getRange(steps);
    os << "steps           " << range.count
       << format(" of %.6g s to %.6g s, %.6g s on average\n", range.least,
                 range.most, range.mean);
  }
  if (std::optional<double> first = report.getFirstToken())
    os << format("first token     %.6g s\n", *first);
  if (std::optional<double> each = report.getTimePerToken())
    os << format("time per token  %.6g s\n", *each);
  if (report.times.sides)
    os << format("first token     %.6g s\ntransfer        %.6g s\n"
                 "time per token  %.6g s\n",
                 report.times.sides->prefill, report.getTransfer(),
                 report.times.sides->decode)
       << format("requests        %.6g prompts per second, %.6g tokens per "
                 "second\n",
                 *report.job.requests / report.times.sides->prefill,
                 *report.job.requests / report.times.sides->decode);
  if (std::optional<StringRef> name = report.getLatency())
    os << left_justify(*name, 16)
       << format("%.6g s", report.times.step.getSeconds()) << '\n';
  if (report.times.interval)
    os << format("interval        %.6g s from one step to the next\n",
                 *report.times.interval);
  if (std::optional<double> rate = report.getRequestRate())
    os << format("requests        %.6g %s per second\n", *rate,
                 report.job.mode == "decode" ? "tokens" : "prompts");
}

void Report::printText(raw_ostream &os) const {
  const double total = times.step.getSeconds();
  os << format("step            %.6g s", total) << " on " << job.ranks << " x "
     << machine.getName() << '\n';
  for (const Part &part : getParts())
    if (part.seconds != 0)
      os << "  " << left_justify(part.name, 20)
         << format("%12.6f s  %5.1f %%", part.seconds,
                   100 * part.seconds / total)
         << '\n';
  if (times.step.classes.size() > 1)
    os << "last done       " << times.step.classes[times.step.slowest].name
       << '\n';
  os << format(
      "use of peak     %.1f %% of the model, %.1f %% of the hardware\n",
      100 * getUse(UseOf::Model), 100 * getUse(UseOf::Hardware));
  if (std::optional<double> rate = getTokenRate())
    os << format("tokens          %.1f per second and device\n", *rate);
  if (job.isInference()) {
    auto [memory, products] = getFloors();
    os << format("floors          %.6g s of memory, %.6g s of products\n",
                 memory, products);
  }
  printTokens(*this, os);
  os << "memory          " << asBytes(static_cast<__int128>(job.neededBytes))
     << " of " << asBytes(static_cast<__int128>(getCapacity())) << ", "
     << asBytes(static_cast<__int128>(job.liveBytes)) << " live"
     << (job.neededBytes <= getCapacity() ? ""
         : liveFits() ? ": fits only as the allocator gives back what it caches"
                      : ": does not fit")
     << '\n';
  if (job.hostBytes > 0) {
    std::optional<double> capacity =
        machine.get("device.second_memory.capacity");
    os << "host memory     " << asBytes(static_cast<__int128>(job.hostBytes));
    if (capacity)
      os << " of " << asBytes(static_cast<__int128>(*capacity));
    os << " for each device"
       << (capacity && job.hostBytes > *capacity ? ": does not fit\n" : "\n");
  }
  if (path)
    path->printText(os);
  if (const Quantity *error = getError())
    os << format("error           %.1f %% on average, of steps that no "
                 "constant was fitted on",
                 100 * error->value)
       << (error->fitted.empty() ? "" : ", of ") << error->fitted << '\n';
  else
    os << "error           unknown: this machine has no mean error of steps of "
       << (job.isInference() ? "inference\n" : "training\n");
}

static void addTokens(const Report &report, json::Object &result) {
  if (std::vector<double> steps = report.getStepSeconds(); !steps.empty()) {
    Report::StepRange range = report.getRange(steps);
    result["steps"] = json::Object{{"count", int64_t(range.count)},
                                   {"least_seconds", range.least},
                                   {"mean_seconds", range.mean},
                                   {"most_seconds", range.most}};
  }
  if (std::optional<double> first = report.getFirstToken())
    result["time_to_first_token_seconds"] = *first;
  if (std::optional<double> each = report.getTimePerToken())
    result["time_per_token_seconds"] = *each;
  if (report.times.sides) {
    result["time_to_first_token_seconds"] = report.times.sides->prefill;
    result["transfer_seconds"] = report.getTransfer();
    result["time_per_token_seconds"] = report.times.sides->decode;
    result["prompts_per_second"] =
        *report.job.requests / report.times.sides->prefill;
    result["tokens_per_second"] =
        *report.job.requests / report.times.sides->decode;
  }
  if (std::optional<StringRef> name = report.getLatency())
    result[*name == "first token" ? "time_to_first_token_seconds"
                                  : "time_per_token_seconds"] =
        report.times.step.getSeconds();
  if (report.times.interval)
    result["step_interval_seconds"] = *report.times.interval;
  if (std::optional<double> rate = report.getRequestRate())
    result[report.job.mode == "decode" ? "tokens_per_second"
                                       : "prompts_per_second"] = *rate;
}

json::Object Report::getJSON() const {
  json::Object time, memory, result;
  json::Object exposed;
  for (const Part &part : getParts()) {
    StringRef name = part.name;
    if (name.consume_front("exposed "))
      exposed[name.str()] = part.seconds;
    else
      time[name == "other kernels" ? "other_kernels" : name.str()] =
          part.seconds;
  }
  time["exposed"] = std::move(exposed);
  memory["live_bytes"] = static_cast<int64_t>(job.liveBytes);
  memory["needed_bytes"] = static_cast<int64_t>(job.neededBytes);
  memory["available_bytes"] = static_cast<int64_t>(getCapacity());
  memory["fits"] = fits();
  memory["live_fits"] = liveFits();
  if (job.hostBytes > 0) {
    memory["host_bytes"] = static_cast<int64_t>(job.hostBytes);
    if (std::optional<double> capacity =
            machine.get("device.second_memory.capacity"))
      memory["host_available_bytes"] = static_cast<int64_t>(*capacity);
  }
  json::Array classes;
  for (const ClassTimes &entry : times.step.classes)
    classes.push_back(
        json::Object{{"name", entry.name},
                     {"ranks", entry.ranks},
                     {"end_seconds", entry.end / kTicksPerSecond}});
  result["version"] = 1;
  result["step_seconds"] = times.step.getSeconds();
  result["machine"] = machine.getName().str();
  result["ranks"] = job.ranks;
  result["time"] = std::move(time);
  result["classes"] = std::move(classes);
  result["last_class"] = times.step.classes[times.step.slowest].name;
  result["mfu"] = getUse(UseOf::Model);
  result["hfu"] = getUse(UseOf::Hardware);
  if (std::optional<double> rate = getTokenRate())
    result["tokens_per_second_and_device"] = *rate;
  result["memory"] = std::move(memory);
  if (path)
    result["critical_path"] = path->getJSON();
  if (!job.mode.empty())
    result["mode"] = job.mode;
  if (job.isInference()) {
    auto [memoryFloor, productFloor] = getFloors();
    result["floors"] = json::Object{{"memory_seconds", memoryFloor},
                                    {"product_seconds", productFloor}};
  }
  addTokens(*this, result);
  if (const Quantity *error = getError())
    result["mean_error"] = error->value;
  return result;
}

void stg::printConstants(const Machine &machine, const Execution &execution,
                         raw_ostream &os) {
  for (const auto &[key, quantity] : machine.getQuantities()) {
    os << key << " = " << format("%g", quantity.given);
    if (quantity.unit != "1")
      os << ' ' << quantity.unit;
    os << "  (" << quantity.source;
    if (!quantity.fitted.empty())
      os << "; fitted on " << quantity.fitted;
    os << ")\n";
  }
  for (const Execution::Constant &constant : execution.constants) {
    os << "execution." << constant.name << " = " << constant.value;
    if (!constant.source.empty())
      os << "  (" << constant.source << ")";
    os << '\n';
  }
}

json::Value stg::getConstants(const Machine &machine,
                              const Execution &execution) {
  json::Object constants;
  for (const auto &[key, quantity] : machine.getQuantities()) {
    json::Object entry{{"value", quantity.given},
                       {"unit", quantity.unit},
                       {"source", quantity.source}};
    if (!quantity.fitted.empty())
      entry["fitted"] = quantity.fitted;
    constants[key] = std::move(entry);
  }
  for (const Execution::Constant &constant : execution.constants) {
    json::Object entry{{"value", constant.value}};
    if (!constant.source.empty())
      entry["source"] = constant.source;
    constants["execution." + constant.name] = std::move(entry);
  }
  return constants;
}
