//===- stg-opt.cpp - The optimizer driver ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's driver, but for files: those it would open itself, and the output
// before the input is read. It would also go on without a plugin that it cannot
// load, and not say why. This tool is linked with libSTGShared.so and
// libMLIR.so, as plugins are.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"
#include "stg/InitAll.h"
#include "stg/Support/Files.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/CommandLine.h"
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

/// Makes the flag, which MLIR has registered, keep the first error of `load`.
static void
setPluginLoader(StringRef flag, std::string &message,
                std::function<llvm::Error(const std::string &)> load) {
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(flag);
  assert(option && "MLIR has registered it");
  static_cast<llvm::cl::list<std::string> *>(option)->setCallback(
      [&message, load = std::move(load)](const std::string &file) {
        llvm::Error error = load(file);
        if (error && message.empty())
          message = "cannot load the plugin '" + file +
                    "': " + llvm::toString(std::move(error));
        else
          llvm::consumeError(std::move(error));
      });
}

/// Plugins are loaded while the command line is read. What goes wrong is in the
/// message then.
static void setPluginLoaders(DialectRegistry &registry, std::string &message) {
  setPluginLoader("load-dialect-plugin", message,
                  [&](const std::string &file) -> llvm::Error {
                    llvm::Expected<DialectPlugin> plugin =
                        DialectPlugin::load(file);
                    if (!plugin)
                      return plugin.takeError();
                    plugin->registerDialectRegistryCallbacks(registry);
                    return llvm::Error::success();
                  });
  setPluginLoader("load-pass-plugin", message,
                  [](const std::string &file) -> llvm::Error {
                    llvm::Expected<PassPlugin> plugin = PassPlugin::load(file);
                    if (!plugin)
                      return plugin.takeError();
                    plugin->registerPassRegistryCallbacks();
                    return llvm::Error::success();
                  });
}

/// Scripts that say which passes run on what, and the op with which they find
/// that, `transform.structured.match`.
static void registerTransformDialect(DialectRegistry &registry) {
  registry.insert<transform::TransformDialect>();
  linalg::registerTransformDialectExtension(registry);
  transform::registerTransformPasses();
}

/// Options that a pass refuses are said where they are parsed. MLIR then ends
/// with an error that has no text.
static void dropEmptyErrors(MlirOptMainConfig &config) {
  config.setPassPipelineSetupFn([inner = config](PassManager &passes) {
    ScopedDiagnosticHandler handler(passes.getContext(),
                                    [](Diagnostic &diagnostic) {
                                      return success(diagnostic.str().empty());
                                    });
    return inner.setupPassPipeline(passes);
  });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-opt");
  DialectRegistry registry;
  stg::registerAllDialects(registry);
  stg::registerAllPasses();
  registerTransformDialect(registry);
  stg::registerLinalgDialects(registry);
  stg::registerLinalgPasses();
  std::string header = registerCLIOptions(
      "STG: symbolic tensor graphs to execution traces\n", registry);
  std::string pluginError;
  setPluginLoaders(registry, pluginError);
  auto [input, output] = parseCLIOptions(argc, argv, header);
  if (!pluginError.empty()) {
    printer.error(pluginError);
    return 1;
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  dropEmptyErrors(config);
  // These have no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(optimize(input, output, registry, config, printer));
}
