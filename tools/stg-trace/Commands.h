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

} // namespace stg::trace

#endif // STG_TOOLS_STG_TRACE_COMMANDS_H
