//===- stg-opt.cpp - The optimizer driver ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's driver, but for files: those it would open itself, and the output
// before the input is read.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "stg/InitAll.h"
#include "stg/Support/Files.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"

using namespace mlir;

static LogicalResult optimize(StringRef input, StringRef output,
                              DialectRegistry &registry,
                              const MlirOptMainConfig &config,
                              const stg::MessagePrinter &printer) {
  auto fail = [&](const llvm::Twine &message) {
    printer.error(message);
    return failure();
  };
  auto file = stg::OutputFile::open(output);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  if (input == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(0))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to "
                    "interrupt)\n";
  auto buffer = stg::readInput(input);
  if (!buffer)
    return fail(input + ": " + llvm::toString(buffer.takeError()));
  if (failed(MlirOptMain((*file)->os(), std::move(*buffer), registry, config)))
    return failure();
  if (llvm::Error error = (*file)->keep())
    return fail(llvm::toString(std::move(error)));
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-opt");
  DialectRegistry registry;
  stg::registerAllDialects(registry);
  stg::registerAllPasses();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "STG: symbolic tensor graphs to execution traces\n",
      registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These have no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(optimize(input, output, registry, config, printer));
}
