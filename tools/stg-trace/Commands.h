//===- Commands.h - Subcommands of stg-trace --------------------*- C++ -*-===//
//
// Each subcommand has a file of its own with its options and a run function.
// All of them write to the stream that main opens for -o.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_TRACE_COMMANDS_H
#define STG_TOOLS_STG_TRACE_COMMANDS_H

#include "stg/Support/Messages.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Reader/CommGroups.h"
#include "stg/Trace/Reader/TraceSet.h"
#include "llvm/Support/CommandLine.h"

namespace stg::trace {

/// Parses the command line; false after an error, which has been printed.
bool parseCommandLine(int argc, char **argv, MessagePrinter &printer);

/// The file that -o names.
std::string getOutputFile();

/// Runs the subcommand that was given.
llvm::Expected<bool> runCommand(llvm::raw_ostream &os);

/// The subcommands, each true if it was given.
llvm::cl::SubCommand &getStatsCommand();
llvm::cl::SubCommand &getValidateCommand();
llvm::cl::SubCommand &getPrintCommand();

/// Run functions. False if the command did its work and found the trace bad.
llvm::Expected<bool> runStats(llvm::raw_ostream &os);
llvm::Expected<bool> runValidate(llvm::raw_ostream &os);
llvm::Expected<bool> runPrint(llvm::raw_ostream &os);

/// The bundle that `input` names: the file, or the one in a directory without
/// trace files. Null if it names something else.
llvm::Expected<std::unique_ptr<TraceBundle>> findBundle(llvm::StringRef input);

/// A trace of several ranks: a bundle, or else files and their groups.
struct TraceInput {
  std::unique_ptr<TraceBundle> bundle;
  TraceSet files;
  CommGroups groups;
};

/// Finds the trace that `input` names. Groups of files are read from
/// `groupFile`, or if that is empty from the file that stands beside the trace;
/// none is fine. A bundle has its own.
llvm::Expected<TraceInput> openTrace(llvm::StringRef input,
                                     llvm::StringRef groupFile);

} // namespace stg::trace

#endif // STG_TOOLS_STG_TRACE_COMMANDS_H
