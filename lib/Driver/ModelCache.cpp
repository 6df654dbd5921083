//===- ModelCache.cpp - Models that are read once -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCache.h"
#include "PrepareModel.h"
#include "mlir/IR/IRMapping.h"
#include "stg/Driver/DiagnosticForwarder.h"

using namespace mlir;
using namespace stg;
using llvm::Expected;

/// What reading a model, and preparing it, look at.
static std::string getKey(const StrategyInput &strategy) {
  std::string key = strategy.isGiven(FieldId::weightDtype) ? "plain\n" : "\n";
  for (FieldId id : {FieldId::set, FieldId::freeze})
    key += getField(id).print(strategy.values) + "\n";
  return key;
}

Expected<PreparedModel *> ModelCache::get(const CompileRequest &request,
                                          const StrategyInput &strategy,
                                          const MessagePrinter &printer) {
  std::unique_ptr<PreparedModel> &place = models[getKey(strategy)];
  if (place)
    return place.get();
  auto prepared = std::make_unique<PreparedModel>();
  DiagnosticForwarder forwarder(context, prepared->sources, printer);
  Expected<Model> model =
      loadModel(context, request, prepared->sources, printer);
  if (!model)
    return model.takeError();
  auto options = prepareModel(*model, request, strategy);
  if (!options)
    return options.takeError();
  prepared->model = std::move(*model);
  prepared->options = std::move(*options);
  place = std::move(prepared);
  return place.get();
}

Model stg::cloneModel(const Model &model) {
  Model copy;
  IRMapping mapping;
  copy.module = cast<ModuleOp>((*model.module)->clone(mapping));
  copy.file = model.file;
  copy.family = model.family;
  if (ConfigOp config = model.config)
    copy.config = cast<ConfigOp>(mapping.lookup(config.getOperation()));
  return copy;
}
