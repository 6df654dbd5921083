//===- ListModels.cpp - What is in the library ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelChecks.h"
#include "ModelLibrary.h"
#include "ParameterCounts.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/Support/Installation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// Symbols that a step has and a configuration has not do not change what the
/// model is; any value does.
static Expected<SymbolValues> collectAll(const Model &model) {
  StrategyInput strategy;
  ModuleOp module = *model.module;
  for (auto symbol : module.getOps<SymbolOp>()) {
    ConfigOp config = model.config;
    bool isSet = config && config.getBindings().get(symbol.getSymName());
    if (!symbol.getValue() && !isSet)
      strategy.values.set[symbol.getSymName().str()] = Setting(1);
  }
  return collectSymbols(model, strategy);
}

/// Reads one model as far as its parameters are known.
static Expected<LibraryModel> describe(MLIRContext &context,
                                       const CompileRequest &request,
                                       ModelLibrary &library,
                                       const MessagePrinter &printer) {
  llvm::SourceMgr sources;
  DiagnosticForwarder forwarder(context, sources, printer);
  MessagePrinter quiet([](const ToolMessage &) {});
  Expected<Model> model = loadModel(context, request, library, sources, quiet);
  if (!model)
    return model.takeError();
  if (Error error = setOptions(*model, StrategyInput()))
    return std::move(error);
  ModuleOp module = *model->module;
  if (Error error = inlineBlocks(module))
    return std::move(error);
  Expected<SymbolValues> values = collectAll(*model);
  if (!values)
    return values.takeError();
  LibraryModel result{request.model, model->family, 0};
  result.parameters =
      evaluate(countParameters(module).all, *values).value_or(0);
  return result;
}

FailureOr<std::vector<LibraryModel>>
stg::listModels(ArrayRef<std::string> modelPath,
                const MessagePrinter &printer) {
  const std::vector<std::string> folders = getModelPath(modelPath);
  const std::vector<std::string> names = ModelLibrary(folders).list();
  std::vector<std::optional<LibraryModel>> found(names.size());
  auto read = [&](size_t number, MLIRContext &context, ModelLibrary &library,
                  const MessagePrinter &printer) {
    CompileRequest request;
    request.model = names[number];
    request.modelPath = modelPath;
    Expected<LibraryModel> model = describe(context, request, library, printer);
    if (model)
      found[number] = std::move(*model);
    return model.takeError();
  };
  // What has been read of the library is of a thread, and so is a context.
  std::atomic<size_t> next = 0;
  auto work = [&] {
    std::unique_ptr<MLIRContext> context = makeContext();
    ModelLibrary library(folders);
    MessagePrinter quiet([](const ToolMessage &) {});
    for (size_t number; (number = next++) < names.size();)
      llvm::consumeError(read(number, *context, library, quiet));
  };
  {
    llvm::DefaultThreadPool pool;
    for (unsigned i = 0; i < pool.getMaxConcurrency(); ++i)
      pool.async(work);
  }
  std::vector<LibraryModel> models;
  for (auto [number, model] : llvm::enumerate(found)) {
    if (model) {
      models.push_back(std::move(*model));
      continue;
    }
    // Once more, for what is wrong with it.
    std::unique_ptr<MLIRContext> context = makeContext();
    ModelLibrary library(folders);
    std::string message =
        llvm::toString(read(number, *context, library, printer));
    printer.error("model '" + names[number] + "'" +
                  (message.empty() ? " is not valid" : ": " + message));
    return failure();
  }
  return models;
}

void stg::printModels(ArrayRef<LibraryModel> models, bool asJSON,
                      raw_ostream &os) {
  if (!asJSON) {
    size_t names = 0, families = 0;
    for (const LibraryModel &model : models) {
      names = std::max(names, model.name.size());
      families = std::max(families, model.family.size());
    }
    for (const LibraryModel &model : models)
      os << llvm::left_justify(model.name, names + 2)
         << llvm::left_justify(model.family, families + 2)
         << llvm::right_justify(
                llvm::formatv("{0:N}", static_cast<int64_t>(model.parameters))
                    .str(),
                20)
         << '\n';
    return;
  }
  llvm::json::OStream json(os, 2);
  json.array([&] {
    for (const LibraryModel &model : models)
      json.object([&] {
        json.attribute("name", model.name);
        json.attribute("family", model.family);
        json.attribute("parameters", static_cast<int64_t>(model.parameters));
      });
  });
  os << '\n';
}
