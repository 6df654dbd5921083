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

Expected<bool> runCommand(raw_ostream &os) {
  if (getStatsCommand())
    return runStats(os);
  if (getValidateCommand())
    return runValidate(os);
  if (getPrintCommand())
    return runPrint(os);
  return createStringError(inconvertibleErrorCode(),
                           "expected a subcommand: stats, validate or print");
}

} // namespace stg::trace
