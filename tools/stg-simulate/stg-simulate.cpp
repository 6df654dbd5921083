//===- stg-simulate.cpp - Runs ASTRA-sim on traces ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exit status of the simulator says nothing: it is 0 when ranks wait for
// each other for ever, and may be that of a crash after all is done. What says
// something is how many ranks have printed that they are finished.
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/AstraSim.h"
#include "stg/Support/Files.h"
#include "stg/Support/Messages.h"
#include "stg/Trace/Bundle/TraceInput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include <map>

using namespace llvm;
using namespace stg;

static cl::OptionCategory category("stg-simulate options");
static cl::opt<std::string>
    folder(cl::Positional, cl::Required,
           cl::desc("DIR (what stg-compile --astra-sim has written)"),
           cl::cat(category));
static cl::opt<std::string>
    simulator("simulator", cl::Required, cl::value_desc("PATH"),
              cl::desc("AstraSim_Analytical_Congestion_Unaware, or a program "
                       "that takes its arguments"),
              cl::cat(category));
static cl::opt<unsigned>
    timeout("timeout", cl::init(0), cl::value_desc("seconds"),
            cl::desc("End the simulator after so long (default: never)"),
            cl::cat(category));
static cl::opt<std::string> logFile("log", cl::value_desc("FILE"),
                                    cl::desc("Keep what the simulator prints"),
                                    cl::cat(category));
static cl::opt<bool> asJSON("json", cl::desc("Print the result as JSON"),
                            cl::cat(category));

namespace {
/// What the simulator has said.
struct Simulation {
  struct Rank {
    int64_t cycles = 0, exposed = 0; ///< ns.
  };
  std::map<int64_t, Rank> finished;
  std::string end;       ///< How it has ended, as words.
  std::string lastWords; ///< The last line that it has printed.

  int64_t getLast() const {
    int64_t last = 0;
    for (const auto &[rank, times] : finished)
      last = std::max(last, times.cycles);
    return last;
  }
};
} // namespace

/// `... sys[3] finished, 1200 cycles, exposed communication 200 cycles.`
static void readLine(StringRef line, Simulation &simulation) {
  line = line.trim();
  if (!line.empty())
    simulation.lastWords = line.str();
  size_t begin = line.find("sys[");
  if (begin == StringRef::npos)
    return;
  line = line.drop_front(begin + 4);
  int64_t rank = 0;
  Simulation::Rank times;
  if (line.consumeInteger(10, rank) || !line.consume_front("] finished, ") ||
      line.consumeInteger(10, times.cycles) ||
      !line.consume_front(" cycles, exposed communication ") ||
      line.consumeInteger(10, times.exposed))
    return;
  simulation.finished[rank] = times;
}

/// An empty file for what the simulator prints, in the place of what was there.
/// One that is kept is written while it runs: it is also there of a simulator
/// that is stopped. Other kinds of files get a copy.
static Error makeOutput(SmallString<128> &output, bool &isTemporary) {
  std::error_code code;
  isTemporary = logFile.empty();
  if (!isTemporary) {
    raw_fd_ostream os(logFile, code);
    if (code)
      return createStringError("cannot write '" + logFile +
                               "': " + code.message());
    isTemporary = !isRegularFile(logFile);
    output = logFile;
  }
  if (!isTemporary)
    return Error::success();
  code = sys::fs::createTemporaryFile("stg-simulate", "log", output);
  if (code)
    return createStringError("cannot make a file for what the simulator "
                             "prints: " +
                             code.message());
  sys::RemoveFileOnSignal(output);
  return Error::success();
}

/// What a program that has printed to a file has said.
static Expected<Simulation> readOutput(StringRef output) {
  auto text = readFile(output);
  if (!text)
    return createStringError(output + ": " + toString(text.takeError()));
  Simulation simulation;
  for (StringRef line : split((*text)->getBuffer(), '\n'))
    readLine(line, simulation);
  return simulation;
}

static Expected<Simulation> runSimulator(StringRef prefix) {
  std::vector<std::string> arguments = getAstraArguments(folder, prefix);
  arguments.insert(arguments.begin(), simulator);
  std::vector<StringRef> views(arguments.begin(), arguments.end());
  SmallString<128> output;
  bool isTemporary = false;
  if (Error error = makeOutput(output, isTemporary))
    return std::move(error);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(output),
                                          StringRef(output)};
  std::string message;
  bool hasFailed = false;
  int status = sys::ExecuteAndWait(simulator, views, std::nullopt, redirects,
                                   timeout, 0, &message, &hasFailed);
  Expected<Simulation> simulation = readOutput(output);
  std::error_code code;
  if (isTemporary) {
    if (!logFile.empty())
      code = sys::fs::copy_file(output, logFile);
    sys::fs::remove(output);
    sys::DontRemoveFileOnSignal(output);
  }
  if (hasFailed) {
    consumeError(simulation.takeError());
    return createStringError("cannot run '" + simulator + "': " + message);
  }
  if (code) {
    consumeError(simulation.takeError());
    return createStringError("cannot write '" + logFile +
                             "': " + code.message());
  }
  if (!simulation)
    return simulation;
  // Less than 0 says that it has not ended by itself, and the message why.
  simulation->end = status >= 0 ? "exit status " + std::to_string(status)
                                : StringRef(message).rtrim(": ").str();
  return simulation;
}

/// What the simulator is known to stumble over before it says why.
static Error checkNames() {
  if (StringRef(folder).contains("empty"))
    return createStringError("'" + folder +
                             "': ASTRA-sim reads no groups from a path with "
                             "'empty' in it");
  if (!logFile.empty() && sys::fs::equivalent(logFile, simulator))
    return createStringError("cannot write '" + logFile +
                             "': it is the simulator, too");
  return Error::success();
}

static json::Object toJSON(const Simulation &simulation, int64_t numRanks,
                           const TraceTimes &ours) {
  json::Array ranks;
  for (const auto &[rank, times] : simulation.finished)
    ranks.push_back(json::Object{{"rank", rank},
                                 {"cycles", times.cycles},
                                 {"exposed_cycles", times.exposed}});
  double simulated = double(simulation.getLast()) / 1e9;
  double estimated = double(ours.total) / kTicksPerSecond;
  // How far a step is that has not ended says nothing.
  bool isComplete = int64_t(simulation.finished.size()) == numRanks;
  return json::Object{
      {"version", 1},
      {"ranks", numRanks},
      {"finished", int64_t(simulation.finished.size())},
      {"simulated_seconds", simulated},
      {"estimated_seconds", estimated},
      {"difference", isComplete && simulated > 0
                         ? json::Value(estimated / simulated - 1)
                         : json::Value(nullptr)},
      {"each", std::move(ranks)}};
}

static void print(const Simulation &simulation, int64_t numRanks,
                  const TraceTimes &ours) {
  int64_t first = INT64_MAX, least = INT64_MAX, most = 0;
  for (const auto &[rank, times] : simulation.finished) {
    first = std::min(first, times.cycles);
    least = std::min(least, times.exposed);
    most = std::max(most, times.exposed);
  }
  double simulated = double(simulation.getLast()) / 1e9;
  double estimated = double(ours.total) / kTicksPerSecond;
  outs() << "finished        " << simulation.finished.size() << " of "
         << numRanks << " ranks\n"
         << format("simulated       %.9f s (first rank %.9f s), communication "
                   "exposed %.9f to %.9f s\n",
                   simulated, double(first) / 1e9, double(least) / 1e9,
                   double(most) / 1e9)
         << format("estimated       %.9f s under the same assumptions: ",
                   estimated)
         << format("%+.2f %%\n", 100 * (estimated / simulated - 1));
}

static Expected<bool> simulate(MessagePrinter &printer) {
  if (Error error = checkNames())
    return std::move(error);
  // What the simulator reads is read here, too, and found to be the output.
  std::unique_ptr<OutputFile> reserved;
  if (!logFile.empty())
    if (Error error = OutputFile::reserve(logFile).moveInto(reserved))
      return std::move(error);
  Expected<AstraConfiguration> configuration = AstraConfiguration::read(folder);
  if (!configuration)
    return configuration.takeError();
  Expected<trace::TraceInput> input = trace::openTrace(folder, "");
  if (!input)
    return input.takeError();
  if (input->bundle)
    return createStringError("'" + folder +
                             "' has a bundle: the simulator reads files, which "
                             "stg-translate --unbundle makes");
  int64_t numRanks = input->files.files.size();
  if (numRanks != configuration->getNumRanks())
    return createStringError("'" + folder + "' has " + Twine(numRanks) +
                             " traces, and its network " +
                             Twine(configuration->getNumRanks()) + " ranks");
  Expected<TraceGraphs> graphs =
      TraceGraphs::load(*input, [](uint64_t) { return false; });
  if (!graphs)
    return graphs.takeError();
  Expected<TraceTimes> ours = executeTraces(*graphs, configuration->getCosts());
  if (!ours)
    return ours.takeError();
  Expected<Simulation> simulation =
      runSimulator(sys::path::filename(input->files.prefix));
  if (!simulation)
    return simulation.takeError();
  bool isComplete = int64_t(simulation->finished.size()) == numRanks;
  if (!isComplete)
    printer.error("only " + Twine(simulation->finished.size()) + " of " +
                  Twine(numRanks) + " ranks have finished (" + simulation->end +
                  "); the simulator's last line: " + simulation->lastWords);
  if (asJSON)
    outs() << formatv("{0:2}\n",
                      json::Value(toJSON(*simulation, numRanks, *ours)));
  else if (isComplete)
    print(*simulation, numRanks, *ours);
  return isComplete;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  MessagePrinter &printer = guardStandardStreams("stg-simulate");
  cl::HideUnrelatedOptions(category);
  if (!stg::parseCommandLine(argc, argv,
                             "STG: runs ASTRA-sim on traces, beside an "
                             "estimate\n",
                             printer))
    return 1;
  Expected<bool> isGood = simulate(printer);
  if (isGood)
    return *isGood ? 0 : 1;
  printer.error(isGood.takeError());
  return 1;
}
