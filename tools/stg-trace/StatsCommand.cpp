//===- StatsCommand.cpp - stg-trace stats ---------------------------------===//
//
// What each rank of a trace computes and communicates.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Trace/Bundle/BundleStats.h"
#include "stg/Trace/Stats/TraceStats.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("stats",
                              "Totals of a trace: nodes, operations, bytes");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<prefix, directory, file or ->"),
                                  cl::sub(command));
static cl::opt<bool> asJSON("json", cl::desc("Write JSON instead of a table"),
                            cl::sub(command));
static cl::opt<std::string> rankRange(
    "ranks", cl::value_desc("LO:HI"),
    cl::desc("Tell the ranks LO to HI - 1 one by one (LO: to the last)"),
    cl::sub(command));
static cl::opt<std::string> groupFile(
    "comm-groups", cl::value_desc("file"),
    cl::desc("Communicator groups (default: the file beside the trace)"),
    cl::sub(command));
static cl::opt<unsigned>
    threads("threads", cl::value_desc("n"),
            cl::desc("Threads to read with (default: one per core)"),
            cl::sub(command));
static cl::opt<bool> quiet("quiet", cl::desc("No progress on a terminal"),
                           cl::sub(command));

cl::SubCommand &getStatsCommand() { return command; }

/// The ranks that --ranks names; none without the option.
static Expected<ExpandedRanks> getExpandedRanks() {
  if (!rankRange.getNumOccurrences())
    return std::nullopt;
  auto [first, end] = StringRef(rankRange).split(':');
  std::pair<uint64_t, uint64_t> ranks = {0, UINT64_MAX};
  if (StringRef(rankRange).contains(':') &&
      !first.getAsInteger(10, ranks.first) &&
      (end.empty() || !end.getAsInteger(10, ranks.second)) &&
      ranks.first < ranks.second)
    return ranks;
  return createStringError("--ranks " + Twine(rankRange) +
                           ": expected LO:HI with LO < HI, or LO:");
}

static Error print(const TraceStats &stats, raw_ostream &os) {
  Expected<ExpandedRanks> expanded = getExpandedRanks();
  if (!expanded)
    return expanded.takeError();
  if (asJSON)
    printStatsJSON(stats, *expanded, os, quiet);
  else
    printStatsTable(stats, *expanded, os, quiet);
  return Error::success();
}

Expected<bool> runStats(raw_ostream &os) {
  Expected<TraceInput> trace = openTrace(input, groupFile);
  if (!trace)
    return trace.takeError();
  if (trace->bundle) {
    if (Error error = print(BundleStats(*trace->bundle, input), os))
      return std::move(error);
    return true;
  }
  Expected<FileStats> stats =
      computeStats(trace->files, std::move(trace->groups), threads, quiet);
  if (!stats)
    return stats.takeError();
  if (Error error = print(*stats, os))
    return std::move(error);
  return true;
}

} // namespace stg::trace
