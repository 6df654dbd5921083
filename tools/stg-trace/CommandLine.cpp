//===- CommandLine.cpp - Command line of stg-trace ------------------------===//
//
// What the subcommands have in common: parsing, the choice of a subcommand, and
// how an input is found.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

using namespace llvm;

namespace stg::trace {

static cl::OptionCategory category("stg-trace options");
static cl::opt<std::string> outputFile("o", cl::init("-"),
                                       cl::value_desc("file"),
                                       cl::desc("Output file (default: -)"),
                                       cl::cat(category),
                                       cl::sub(cl::SubCommand::getAll()));

std::string getOutputFile() { return outputFile; }

bool parseCommandLine(int argc, char **argv, MessagePrinter &printer) {
  // LLVM's libraries bring options of their own.
  cl::HideUnrelatedOptions(category);
  return stg::parseCommandLine(argc, argv, "Looks at Chakra execution traces\n",
                               printer);
}

Expected<std::pair<uint64_t, uint64_t>> parseRankRange(StringRef text) {
  auto [first, end] = text.split(':');
  std::pair<uint64_t, uint64_t> ranks = {0, UINT64_MAX};
  if (text.contains(':') && !first.getAsInteger(10, ranks.first) &&
      (end.empty() || !end.getAsInteger(10, ranks.second)) &&
      ranks.first < ranks.second)
    return ranks;
  return createStringError("--ranks " + text +
                           ": expected LO:HI with LO < HI, or LO:");
}

Error checkRankRange(StringRef text, std::pair<uint64_t, uint64_t> ranks,
                     bool hasAny, uint64_t last) {
  if (!hasAny)
    return createStringError("--ranks " + text +
                             ": the trace has none of these");
  // LO: is to the last one, whichever that is.
  if (ranks.second != UINT64_MAX && ranks.second > last + 1)
    return createStringError("--ranks " + text +
                             ": the last rank of the trace is " + Twine(last));
  return Error::success();
}

Expected<bool> runCommand(raw_ostream &os) {
  if (getStatsCommand())
    return runStats(os);
  if (getValidateCommand())
    return runValidate(os);
  if (getPrintCommand())
    return runPrint(os);
  if (getEncodeCommand())
    return runEncode(os);
  if (getTimelineCommand())
    return runTimeline(os);
  if (getGraphCommand())
    return runGraph(os);
  if (getDiffCommand())
    return runDiff(os);
  return createStringError(inconvertibleErrorCode(),
                           "expected a subcommand: stats, validate, print, "
                           "encode, timeline, graph or diff");
}

} // namespace stg::trace
