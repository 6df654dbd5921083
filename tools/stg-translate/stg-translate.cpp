//===- stg-translate.cpp - Files from IR and IR from files ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The registry of translations is MLIR's. Its driver is not: it opens the
// output before it has read the input, which may be the same file.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/Timing.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "stg/Import/Family.h"
#include "stg/Import/Import.h"
#include "stg/Support/Files.h"
#include "stg/Support/Installation.h"
#include "stg/Support/Messages.h"
#include "stg/Target/Chakra/Translation.h"
#include "stg/Target/Graphviz/Graphviz.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Reader/TraceSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace {
struct Flags {
  llvm::cl::opt<const Translation *, false, TranslationParser> translation{
      llvm::cl::desc("Translations to perform")};
  llvm::cl::opt<std::string> input{llvm::cl::Positional,
                                   llvm::cl::desc("<input file>"),
                                   llvm::cl::init("-")};
  llvm::cl::opt<std::string> output{"o", llvm::cl::desc("Output filename"),
                                    llvm::cl::value_desc("filename"),
                                    llvm::cl::init("-")};
  llvm::cl::opt<bool> allowUnregistered{
      "allow-unregistered-dialect",
      llvm::cl::desc("Allow operation with no registered dialects "
                     "(discouraged: testing only!)")};
  llvm::cl::opt<std::string> splitMarker{
      "split-input-file", llvm::cl::ValueOptional,
      llvm::cl::desc("Split the input file into chunks using the given or "
                     "default marker and process each chunk independently"),
      llvm::cl::callback([&](const std::string &marker) {
        // A value is given where the flag has none.
        if (marker.empty())
          splitMarker.setValue(kDefaultSplitMarker);
      })};
  llvm::cl::opt<std::string> outputSplitMarker{
      "output-split-marker",
      llvm::cl::desc("Split marker to use for merging the output")};
  llvm::cl::opt<bool> verifyDiagnostics{
      "verify-diagnostics",
      llvm::cl::desc("Check that emitted diagnostics match expected-* lines on "
                     "the corresponding line")};
};
} // namespace

/// The flags of `--import-hf-config`.
namespace {
struct ConfigFlags {
  llvm::cl::OptionCategory category{
      "Models from configurations (--import-hf-config)"};
  llvm::cl::list<std::string> modelPath{
      "models", llvm::cl::value_desc("DIR"),
      llvm::cl::desc("Folder with further families of models"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> ignoreQuantization{
      "ignore-quantization",
      llvm::cl::desc("Of a quantized config.json take the model without "
                     "quantization"),
      llvm::cl::cat(category)};
};
} // namespace

/// What the importer says, as diagnostics.
static void report(const stg::ToolMessage &message, MLIRContext *context) {
  Location loc = UnknownLoc::get(context);
  if (message.place)
    loc = FileLineColLoc::get(context, message.place->file,
                              static_cast<unsigned>(message.place->line),
                              static_cast<unsigned>(message.place->column));
  if (message.severity == stg::ToolMessage::Severity::Error)
    emitError(loc, message.text);
  else
    emitRemark(loc, message.text);
}

static LogicalResult printImported(const ConfigFlags &flags,
                                   llvm::SourceMgr &sources, raw_ostream &os,
                                   MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  stg::ImportOptions options;
  options.file = buffer->getBufferIdentifier().str();
  stg::importer::FamilyLibrary families(stg::getModelPath(flags.modelPath));
  options.ignoresQuantization = flags.ignoreQuantization;
  auto model = stg::importConfig(
      buffer->getBuffer(), options, families,
      [&](const stg::ToolMessage &message) { report(message, context); });
  if (!model)
    return failure();
  os << model->text;
  return success();
}

/// It is text that is printed, and no module: with comments and names of types.
static void registerConfigTranslation() {
  static ConfigFlags flags;
  static TranslateRegistration registration(
      "import-hf-config", "print the model of a config.json as a .mlir file",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &os,
         MLIRContext *context) {
        return printImported(flags, *sources, os, context);
      });
}

static LogicalResult translateChunk(const Flags &flags,
                                    std::unique_ptr<llvm::MemoryBuffer> chunk,
                                    raw_ostream &os) {
  MLIRContext context;
  context.allowUnregisteredDialects(flags.allowUnregistered);
  context.printOpOnDiagnostic(!flags.verifyDiagnostics);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(chunk), SMLoc());
  const Translation &translation = *flags.translation;
  if (!flags.verifyDiagnostics) {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    return translation(sources, os, &context);
  }
  SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
  // It is the diagnostics that decide.
  (void)translation(sources, os, &context);
  return handler.verify();
}

/// The name of a translation is that of its flag.
static bool isTranslation(Flags &flags, StringRef name) {
  auto &parser = flags.translation.getParser();
  for (unsigned i = 0, count = parser.getNumOptions(); i < count; ++i)
    if (parser.getOption(i) == name)
      return parser.getDescription(i) == flags.translation->getDescription();
  return false;
}

/// Which file of a folder is meant. Other tools take the folder.
static std::string describeFolder(Flags &flags) {
  StringRef folder = flags.input;
  std::string message = (folder + " is a folder; give ").str();
  if (isTranslation(flags, "unbundle")) {
    if (auto bundle = stg::trace::TraceBundle::findIn(folder))
      return message + "the bundle in it, " + *bundle;
    return message + "a bundle, which stg-compile --bundle writes";
  }
  if (!isTranslation(flags, "traces-to-chakra"))
    return message + "a file";
  llvm::Expected<stg::trace::TraceSet> traces = stg::trace::findTraces(folder);
  if (traces && !traces->files.empty())
    return message + "the trace of one rank, such as " +
           traces->files.front().path;
  llvm::consumeError(traces.takeError());
  return message + "the trace of one rank";
}

static LogicalResult translate(Flags &flags,
                               const stg::MessagePrinter &printer) {
  auto fail = [&](const llvm::Twine &message) {
    printer.error(message);
    return failure();
  };
  if (flags.input != "-" && llvm::sys::fs::is_directory(flags.input))
    return fail(describeFolder(flags));
  auto output = stg::OutputFile::open(flags.output);
  if (!output)
    return fail(llvm::toString(output.takeError()));
  auto input = stg::readInput(flags.input);
  if (!input)
    return fail(flags.input + ": " + llvm::toString(input.takeError()));
  auto work = [&](std::unique_ptr<llvm::MemoryBuffer> chunk, raw_ostream &os) {
    return translateChunk(flags, std::move(chunk), os);
  };
  if (failed(splitAndProcessBuffer(std::move(*input), work, (*output)->os(),
                                   flags.splitMarker, flags.outputSplitMarker)))
    return failure();
  if (llvm::Error error = (*output)->keep())
    return fail(llvm::toString(std::move(error)));
  return success();
}

static std::string listTranslations(Flags &flags) {
  auto &parser = flags.translation.getParser();
  std::string text;
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0, count = parser.getNumOptions(); i < count; ++i)
    os << (i == 0           ? ""
           : i + 1 == count ? " or "
                            : ", ")
       << "--" << parser.getOption(i);
  return text;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-translate");
  stg::chakra::registerChakraTraceTranslations();
  stg::registerGraphvizTranslation();
  registerConfigTranslation();
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerTranslationCLOptions();
  registerDefaultTimingManagerCLOptions();
  Flags flags;
  if (!stg::parseCommandLine(argc, argv,
                             "STG: writes and reads Chakra execution traces\n",
                             printer))
    return 1;
  // The library says of a missing one what it says of each of them.
  if (!flags.translation.getNumOccurrences()) {
    printer.error("expected a translation: " + listTranslations(flags));
    return 1;
  }
  DefaultTimingManager timing;
  applyDefaultTimingManagerCLOptions(timing);
  TimingScope scope = timing.getRootScope();
  return failed(translate(flags, printer));
}
