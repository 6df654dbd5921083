//===- StatsCommand.cpp - stg-trace stats ---------------------------------===//
//
// What each rank of a trace computes and communicates.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Trace/TraceStats.h"
#include "stg/TraceProgram/BundleStats.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("stats",
                              "Totals of a trace: nodes, operations, bytes");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<prefix, directory, file or ->"),
                                  cl::sub(command));
static cl::opt<bool> asJSON("json", cl::desc("Write JSON instead of a table"),
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

static void print(const TraceStats &stats, raw_ostream &os) {
  if (asJSON)
    printStatsJSON(stats, os, quiet);
  else
    printStatsTable(stats, os, quiet);
}

Expected<bool> runStats(raw_ostream &os) {
  Expected<TraceInput> trace = openTrace(input, groupFile);
  if (!trace)
    return trace.takeError();
  if (trace->bundle) {
    print(BundleStats(*trace->bundle, input), os);
    return true;
  }
  Expected<FileStats> stats =
      computeStats(trace->files, std::move(trace->groups), threads, quiet);
  if (!stats)
    return stats.takeError();
  print(*stats, os);
  return true;
}

} // namespace stg::trace
