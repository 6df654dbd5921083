//===- stg-trace.cpp - Looks at Chakra traces -----------------------------===//
//
// Entry point of stg-trace, which takes traces of any producer. The exit
// status is 0 if all went well, 1 on an error or a violation.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Support/Files.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace stg::trace;

static Expected<bool> run() {
  auto output = stg::OutputFile::open(getOutputFile());
  if (!output)
    return output.takeError();
  Expected<bool> isGood = runCommand((*output)->os());
  if (!isGood)
    return isGood;
  if (Error error = (*output)->keep())
    return std::move(error);
  return isGood;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-trace");
  if (!parseCommandLine(argc, argv, printer))
    return 1;
  Expected<bool> isGood = run();
  if (isGood)
    return *isGood ? 0 : 1;
  printer.error(isGood.takeError());
  return 1;
}
