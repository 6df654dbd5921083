//===- TimelineCommand.cpp - stg-trace timeline ---------------------------===//
//
// What ranks of a trace do when, on a machine.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Estimate/TraceTimeline.h"
#include "stg/Machine/Machine.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("timeline",
                              "Execute a trace on a machine, for Perfetto");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<prefix, directory or file>"),
                                  cl::sub(command));
static cl::opt<std::string> machineName("machine", cl::Required,
                                        cl::value_desc("NAME|FILE"),
                                        cl::desc("Machine to execute it on"),
                                        cl::sub(command));
static cl::list<std::string> changes("machine-set", cl::value_desc("KEY=VALUE"),
                                     cl::desc("Change a number of the machine"),
                                     cl::sub(command));
static cl::opt<bool>
    roofline("roofline",
             cl::desc("Compute nodes take what operations at the peak or bytes "
                      "at the bandwidth take"),
             cl::sub(command));
static cl::opt<std::string>
    rankRange("ranks", cl::value_desc("LO:HI"),
              cl::desc("Ranks to write (default: the first eight)"),
              cl::sub(command));
static cl::opt<std::string> groupFile(
    "comm-groups", cl::value_desc("file"),
    cl::desc("Communicator groups (default: the file beside the trace)"),
    cl::sub(command));
static cl::opt<bool>
    summary("summary",
            cl::desc("Where the time of each rank goes, and no timeline"),
            cl::sub(command));

cl::SubCommand &getTimelineCommand() { return command; }

static void printSummary(const TraceGraphs &graphs, const TraceTimes &times,
                         ArrayRef<size_t> positions, raw_ostream &os) {
  auto seconds = [](Ticks time) { return double(time) / kTicksPerSecond; };
  os << format("step            %.9g s\n", seconds(times.total));
  for (size_t position : positions) {
    TraceSpending spending =
        getSpending(graphs.ranks[position], times, position);
    os << "rank " << graphs.ranks[position].rank
       << format(": compute %.9g s, communication %.9g s exposed and %.9g s "
                 "behind it, idle %.9g s\n",
                 seconds(spending.compute), seconds(spending.exposed),
                 seconds(spending.overlapped), seconds(spending.idle));
  }
}

Expected<bool> runTimeline(raw_ostream &os) {
  Expected<Machine> machine = Machine::load(machineName, changes);
  if (!machine)
    return machine.takeError();
  std::pair<uint64_t, uint64_t> shown = {0, 8};
  if (rankRange.getNumOccurrences()) {
    Expected<std::pair<uint64_t, uint64_t>> range = parseRankRange(rankRange);
    if (!range)
      return range.takeError();
    shown = *range;
  }
  Expected<TraceInput> trace = openTrace(input, groupFile);
  if (!trace)
    return trace.takeError();
  // A file by itself is shown, whatever its rank is.
  bool isAlone = !trace->bundle && trace->files.isSingleFile;
  auto isShown = [&](uint64_t rank) {
    return (isAlone && !rankRange.getNumOccurrences()) ||
           (rank >= shown.first && rank < shown.second);
  };
  Expected<TraceGraphs> graphs = TraceGraphs::load(*trace, isShown);
  if (!graphs)
    return graphs.takeError();
  Expected<TraceCosts> costs =
      getMachineCosts(*machine, roofline, graphs->numRanks);
  if (!costs)
    return costs.takeError();
  Expected<TraceTimes> times = executeTraces(*graphs, *costs);
  if (!times)
    return times.takeError();
  std::vector<size_t> positions;
  for (size_t i = 0; i < graphs->ranks.size(); ++i)
    if (isShown(graphs->ranks[i].rank))
      positions.push_back(i);
  if (rankRange.getNumOccurrences())
    if (Error error = checkRankRange(rankRange, shown, !positions.empty(),
                                     graphs->ranks.back().rank))
      return std::move(error);
  if (summary)
    printSummary(*graphs, *times, positions, os);
  else
    writeTraceTimeline(*graphs, *times, positions, os);
  return true;
}

} // namespace stg::trace
