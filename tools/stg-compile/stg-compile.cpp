//===- stg-compile.cpp - From a model to traces ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;

/// `-h` lists ours, `--help-hidden` those of MLIR, too: of passes and timing.
static void hideOptions(ArrayRef<const cl::OptionCategory *> ours) {
  cl::HideUnrelatedOptions(ours);
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (name.starts_with("mlir-"))
      option->setHiddenFlag(cl::Hidden);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-compile");
  // libLLVM.so registers the options of LLVM's own tools, one of them under a
  // name of ours.
  if (cl::Option *foreign = cl::getRegisteredOptions().lookup("threads"))
    foreign->removeArgument();
  stg::CompileFlags flags;
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  hideOptions(flags.getCategories());
  if (!stg::parseCommandLine(argc, argv, "STG: from a model to traces\n",
                             printer))
    return 1;
  if (Error error = flags.finish()) {
    printer.error(std::move(error));
    return 1;
  }
  std::unique_ptr<mlir::MLIRContext> context = stg::makeContext();
  if (flags.listModels) {
    auto models = stg::listModels(*context, flags.request.modelPath, printer);
    if (succeeded(models))
      stg::printModels(*models, flags.json, outs());
    return failed(models);
  }
  flags.request.configurePasses = mlir::applyPassManagerCLOptions;
  if (flags.printSchedule)
    return failed(stg::printSchedule(*context, flags.request, outs(), printer));
  auto result = stg::compile(*context, flags.request, printer);
  if (failed(result))
    return 1;
  if (flags.json)
    stg::printJSON(flags.request, *result, outs());
  else
    stg::printSummary(flags.request, *result, outs());
  return 0;
}
