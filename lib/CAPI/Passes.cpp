//===- Passes.cpp - Running passes from C ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileCall.h"
#include "ImportedModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "stg-c/Compile.h"
#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"
#include "stg/Driver/Compile.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/InitAll.h"
#include "stg/Support/Files.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <cstring>

using namespace llvm;
using namespace stg;
using namespace stg::capi;

/// The registry of passes is one for the process.
static void registerPassesOnce() {
  static bool registered = [] {
    registerAllPasses();
    registerLinalgPasses();
    return true;
  }();
  (void)registered;
}

/// The elements of a pipeline, which commas outside of all brackets divide.
static SmallVector<StringRef> splitPipeline(StringRef text) {
  SmallVector<StringRef> elements;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += StringRef("({[").contains(text[i]);
    depth -= StringRef(")}]").contains(text[i]);
    if (text[i] != ',' || depth != 0)
      continue;
    elements.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  elements.push_back(text.drop_front(begin).trim());
  return elements;
}

/// Adds `name` or `name{options}`, at the ops that it is for; anything else is
/// left to MLIR's parser.
static mlir::LogicalResult addElement(StringRef element, mlir::PassManager &pm,
                                      raw_ostream &errors) {
  StringRef options = element;
  StringRef name = options.take_until([](char c) { return c == '{'; });
  options = options.drop_front(name.size());
  const mlir::PassRegistryEntry *entry = mlir::PassInfo::lookup(name);
  if (!entry)
    entry = mlir::PassPipelineInfo::lookup(name);
  if (!entry)
    return mlir::parsePassPipeline(element, pm, errors);
  if (options.consume_front("{") && !options.consume_back("}")) {
    errors << "expected '}' at the end of '" << element << "'";
    return mlir::failure();
  }
  return entry->addToPipeline(pm, options, [&](const Twine &message) {
    errors << message;
    return mlir::failure();
  });
}

/// Parses a pipeline: as flags of stg-opt would have it, or anchored at a
/// module.
static mlir::LogicalResult parsePipeline(StringRef text, mlir::PassManager &pm,
                                         raw_ostream &errors) {
  StringRef inner = text.trim();
  if (inner.consume_front("builtin.module(") && !inner.consume_back(")")) {
    errors << "expected ')' at the end of '" << text << "'";
    return mlir::failure();
  }
  if (inner.empty())
    return mlir::success();
  for (StringRef element : splitPipeline(inner)) {
    if (element.empty()) {
      errors << "expected a pass before and after each comma of '" << text
             << "'";
      return mlir::failure();
    }
    if (failed(addElement(element, pm, errors)))
      return mlir::failure();
  }
  return mlir::success();
}

/// Runs what `build` adds on a module, which may be in linalg.
static mlir::LogicalResult
runPasses(std::unique_ptr<MemoryBuffer> buffer,
          function_ref<mlir::LogicalResult(mlir::PassManager &)> build,
          const MessagePrinter &printer, std::string &result) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::DialectRegistry linalg;
  registerLinalgDialects(linalg);
  context->appendDialectRegistry(linalg);
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
  DiagnosticForwarder forwarder(*context, sources, printer);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, context.get());
  if (!module)
    return mlir::failure();
  mlir::PassManager pm(context.get(), mlir::ModuleOp::getOperationName(),
                       mlir::PassManager::Nesting::Implicit);
  if (failed(build(pm)) || failed(pm.run(*module)))
    return mlir::failure();
  raw_string_ostream os(result);
  module->print(os);
  os << '\n';
  return mlir::success();
}

StgError *stgRunPasses(const char *text, const char *name, const char *pipeline,
                       char **result) {
  *result = nullptr;
  registerPassesOnce();
  MessageList messages;
  MessagePrinter printer(
      [&](const ToolMessage &message) { messages.add(message); });
  std::string printed;
  auto buffer =
      MemoryBuffer::getMemBufferCopy(toStringRef(text), name ? name : "module");
  auto build = [&](mlir::PassManager &pm) {
    std::string errors;
    raw_string_ostream os(errors);
    mlir::LogicalResult isKnown = parsePipeline(toStringRef(pipeline), pm, os);
    if (failed(isKnown))
      printer.error(StringRef(errors).trim());
    return isKnown;
  };
  if (failed(runPasses(std::move(buffer), build, printer, printed)))
    return toStgError(std::move(messages));
  *result = strdup(printed.c_str());
  return nullptr;
}

StgError *stgImportLinalg(const StgLinalgRequest *request,
                          StgImportedModel **result) {
  *result = nullptr;
  StringRef file = toStringRef(request->file);
  auto model = std::make_unique<StgImportedModel>();
  MessagePrinter printer(
      [&](const ToolMessage &message) { model->messages.add(message); });
  std::unique_ptr<MemoryBuffer> buffer;
  if (request->text) {
    buffer = MemoryBuffer::getMemBufferCopy(request->text, file);
  } else {
    auto read = readInput(file);
    if (!read)
      return toStgError(
          createStringError(file + ": " + toString(read.takeError())));
    buffer = std::move(*read);
  }
  auto build = [&](mlir::PassManager &pm) {
    ConvertLinalgToSTGOptions options;
    options.loss = request->loss;
    for (size_t i = 0; i < request->numParameters; ++i)
      options.parameters.push_back(toStringRef(request->parameters[i]).str());
    buildImportLinalgPipeline(pm, options);
    return mlir::success();
  };
  if (failed(runPasses(std::move(buffer), build, printer, model->model.text)))
    return toStgError(std::move(model->messages));
  model->model.name = sys::path::stem(file).str();
  *result = model.release();
  return nullptr;
}

void stgTextFree(char *text) { free(text); }
