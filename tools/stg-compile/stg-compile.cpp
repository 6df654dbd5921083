//===- stg-compile.cpp - From a model to traces ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "mlir/Pass/PassManager.h"
#include "stg/InitAll.h"
#include "stg/Support/Files.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  stg::guardStandardStreams("stg-compile");
  // libLLVM.so registers the options of LLVM's own tools, one of them under a
  // name of ours.
  if (cl::Option *foreign = cl::getRegisteredOptions().lookup("threads"))
    foreign->removeArgument();
  stg::CompileFlags flags;
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions(flags.getCategories());
  cl::ParseCommandLineOptions(argc, argv, "STG: from a model to traces\n");
  if (Error error = flags.finish()) {
    errs() << "stg-compile: error: " << toString(std::move(error)) << "\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto result = stg::compile(context, flags.request, errs());
  if (failed(result))
    return 1;
  if (flags.json)
    stg::printJSON(flags.request, *result, outs());
  else
    stg::printSummary(flags.request, *result, outs());
  return 0;
}
