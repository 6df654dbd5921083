//===- Models.cpp - Models of the library and of hubs, from C -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/Models.h"
#include "CompileCall.h"
#include "ImportedModel.h"
#include "mlir/IR/MLIRContext.h"
#include "stg/Driver/Compile.h"

using namespace llvm;
using namespace stg;
using namespace stg::capi;

struct StgModels {
  std::vector<LibraryModel> models;
};

StgError *stgListModels(const char *const *folders, size_t numFolders,
                        StgModels **result) {
  *result = nullptr;
  auto searched = toFolders(folders, numFolders);
  if (!searched)
    return toStgError(searched.takeError());
  MessageList messages;
  MessagePrinter printer(
      [&](const ToolMessage &message) { messages.add(message); });
  auto models = listModels(*searched, printer);
  if (failed(models))
    return toStgError(std::move(messages));
  *result = new StgModels{std::move(*models)};
  return nullptr;
}

void stgModelsDestroy(StgModels *models) { delete models; }

size_t stgModelsGetNum(const StgModels *models) {
  return models->models.size();
}

StgModel stgModelsGet(const StgModels *models, size_t index) {
  if (index >= models->models.size())
    return {};
  const LibraryModel &model = models->models[index];
  return {toText(model.name), toText(model.family), toExact(model.parameters)};
}

StgError *stgImportConfig(const StgConfigRequest *from,
                          StgImportedModel **result) {
  *result = nullptr;
  CompileRequest request;
  request.model = toStringRef(from->file);
  if (from->text)
    request.modelText = from->text;
  auto folders = toFolders(from->folders, from->numFolders);
  if (!folders)
    return toStgError(folders.takeError());
  request.modelPath = std::move(*folders);
  request.ignoresQuantization = from->ignoreQuantization;
  MessageList messages;
  MessagePrinter printer(
      [&](const ToolMessage &message) { messages.add(message); });
  Expected<ImportedModel> model = importModel(request, printer);
  if (!model) {
    if (std::string text = toString(model.takeError()); !text.empty())
      printer.error(text);
    return toStgError(std::move(messages));
  }
  *result = new StgImportedModel{std::move(*model), std::move(messages)};
  return nullptr;
}

void stgImportedModelDestroy(StgImportedModel *model) { delete model; }

StgText stgImportedModelGetName(const StgImportedModel *model) {
  return toText(model->model.name);
}

StgText stgImportedModelGetFamily(const StgImportedModel *model) {
  return toText(model->model.family);
}

StgText stgImportedModelGetText(const StgImportedModel *model) {
  return toText(model->model.text);
}

size_t stgImportedModelGetNumMessages(const StgImportedModel *model) {
  return model->messages.size();
}

StgMessage stgImportedModelGetMessage(const StgImportedModel *model,
                                      size_t index) {
  return model->messages.get(index);
}
