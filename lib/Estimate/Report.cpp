//===- Report.cpp - What an estimate says ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/Report.h"
#include "stg/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace stg;

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

std::optional<Report::Training> Report::getTraining() const {
  if (!trainTokens || !job.tokens || job.isInference())
    return std::nullopt;
  Training training;
  training.tokens = *trainTokens;
  training.steps = std::ceil(*trainTokens / *job.tokens);
  training.seconds = training.steps * times.step.getSeconds();
  training.deviceHours = training.seconds * double(job.ranks) / 3600;
  return training;
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
  if (std::optional<Training> training = getTraining())
    os << format("training        %.6g tokens: %.0f steps, %.6g days, %.6g "
                 "device hours\n",
                 training->tokens, training->steps, training->seconds / 86400,
                 training->deviceHours);
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
  if (std::optional<Training> training = getTraining())
    result["training"] = json::Object{{"tokens", training->tokens},
                                      {"steps", training->steps},
                                      {"seconds", training->seconds},
                                      {"device_hours", training->deviceHours}};
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
