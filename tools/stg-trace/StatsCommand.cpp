//===- StatsCommand.cpp - stg-trace stats ---------------------------------===//
//
// What each rank of a trace computes and communicates.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Support/Units.h"
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

static cl::opt<double>
    memoryLimit("memory-limit", cl::value_desc("GiB"),
                cl::desc("Memory of a device: say which ranks need more at "
                         "their peak"),
                cl::sub(command));

cl::SubCommand &getStatsCommand() { return command; }

/// The ranks that --ranks names; none without the option.
static Error readExpandedRanks(StatsView &view) {
  if (!rankRange.getNumOccurrences())
    return Error::success();
  Expected<std::pair<uint64_t, uint64_t>> ranks = parseRankRange(rankRange);
  if (!ranks)
    return ranks.takeError();
  view.expanded = *ranks;
  return Error::success();
}

static Expected<StatsView> getView() {
  StatsView view;
  view.quiet = quiet;
  if (Error error = readExpandedRanks(view))
    return error;
  if (!memoryLimit.getNumOccurrences())
    return view;
  Expected<int64_t> limit = getMemoryLimit(memoryLimit);
  if (!limit)
    return limit.takeError();
  view.memoryLimit = *limit;
  return view;
}

/// Fails if not all of these ranks are there.
static Error checkRanks(const TraceInput &trace,
                        std::pair<uint64_t, uint64_t> ranks) {
  bool hasAny = false;
  uint64_t last = 0;
  if (trace.bundle) {
    last = trace.bundle->getSpace().getNumRanks() - 1;
    hasAny = ranks.first <= last;
  }
  for (const RankFile &file : trace.files.files) {
    hasAny |= file.rank >= ranks.first && file.rank < ranks.second;
    last = std::max(last, file.rank);
  }
  return checkRankRange(rankRange, ranks, hasAny, last);
}

static void print(const TraceStats &stats, const StatsView &view,
                  raw_ostream &os) {
  if (asJSON)
    printStatsJSON(stats, view, os);
  else
    printStatsTable(stats, view, os);
}

Expected<bool> runStats(raw_ostream &os) {
  Expected<StatsView> view = getView();
  if (!view)
    return view.takeError();
  Expected<TraceInput> trace = openTrace(input, groupFile);
  if (!trace)
    return trace.takeError();
  if (view->expanded)
    if (Error error = checkRanks(*trace, *view->expanded))
      return std::move(error);
  if (trace->bundle) {
    print(BundleStats(*trace->bundle, input), *view, os);
    return true;
  }
  Expected<FileStats> stats =
      computeStats(trace->files, std::move(trace->groups), threads, quiet);
  if (!stats)
    return stats.takeError();
  print(*stats, *view, os);
  return true;
}

} // namespace stg::trace
