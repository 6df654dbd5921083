//===- Commands.h - Subcommands of stg-trace --------------------*- C++ -*-===//
//
// Each subcommand has a file of its own with its options and a run function.
// All of them write to the stream that main opens for -o.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_TRACE_COMMANDS_H
#define STG_TOOLS_STG_TRACE_COMMANDS_H

#include "stg/Support/Messages.h"
#include "stg/Trace/Bundle/TraceInput.h"
#include "llvm/Support/CommandLine.h"

namespace stg::trace {

/// Parses the command line; false after an error, which has been printed.
bool parseCommandLine(int argc, char **argv, MessagePrinter &printer);

/// The file that -o names.
std::string getOutputFile();

/// The ranks LO <= rank < HI that `--ranks LO:HI` names (LO: to the last).
llvm::Expected<std::pair<uint64_t, uint64_t>>
parseRankRange(llvm::StringRef text);

/// Fails where the trace has none of the ranks of `--ranks text`, or ends with
/// the rank `last` before all of them.
llvm::Error checkRankRange(llvm::StringRef text,
                           std::pair<uint64_t, uint64_t> ranks, bool hasAny,
                           uint64_t last);

/// Runs the subcommand that was given.
llvm::Expected<bool> runCommand(llvm::raw_ostream &os);

/// The subcommands, each true if it was given.
llvm::cl::SubCommand &getStatsCommand();
llvm::cl::SubCommand &getValidateCommand();
llvm::cl::SubCommand &getPrintCommand();
llvm::cl::SubCommand &getTimelineCommand();
llvm::cl::SubCommand &getGraphCommand();
llvm::cl::SubCommand &getDiffCommand();
llvm::cl::SubCommand &getEncodeCommand();

/// Run functions. False if the command did its work and found the trace bad.
llvm::Expected<bool> runStats(llvm::raw_ostream &os);
llvm::Expected<bool> runValidate(llvm::raw_ostream &os);
llvm::Expected<bool> runPrint(llvm::raw_ostream &os);
llvm::Expected<bool> runTimeline(llvm::raw_ostream &os);
llvm::Expected<bool> runGraph(llvm::raw_ostream &os);
llvm::Expected<bool> runDiff(llvm::raw_ostream &os);
llvm::Expected<bool> runEncode(llvm::raw_ostream &os);

} // namespace stg::trace

#endif // STG_TOOLS_STG_TRACE_COMMANDS_H
