//===- stg-trace.cpp - Looks at Chakra traces -----------------------------===//
//
// Entry point of stg-trace, which takes traces of any producer. The exit
// status is 0 if all went well, 1 on an error or a violation.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace stg::trace;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  if (!parseCommandLine(argc, argv))
    return 1;
  std::error_code code;
  ToolOutputFile output(getOutputFile(), code, sys::fs::OF_None);
  if (code) {
    printError(getOutputFile() + ": " + code.message());
    return 1;
  }
  Expected<bool> isGood = runCommand(output.os());
  if (!isGood) {
    output.os().flush();
    // Part of a result is not kept under the name of a whole one.
    handleAllErrors(isGood.takeError(), [](const ErrorInfoBase &part) {
      printError(part.message());
    });
    return 1;
  }
  output.keep();
  return *isGood ? 0 : 1;
}
