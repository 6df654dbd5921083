//===- StrategySettler.cpp - What a model makes of strategies -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/StrategySettler.h"
#include "ModelChecks.h"
#include "SettleStrategy.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// Of one set of options of the model, without blocks and calls.
struct StrategySettler::Loaded {
  llvm::SourceMgr sources;
  Model model;
};

struct StrategySettler::Settled {
  Preset preset;
  SymbolValues values;
  func::FuncOp program;
};

StrategySettler::StrategySettler(MLIRContext &context,
                                 const CompileRequest &request,
                                 const MessagePrinter &printer)
    : context(context), request(request), printer(printer) {}

StrategySettler::~StrategySettler() = default;

Expected<StrategySettler::Loaded *>
StrategySettler::load(const StrategyInput &strategy) {
  std::string key = getField(FieldId::set).print(strategy.values) + "\n" +
                    getField(FieldId::freeze).print(strategy.values);
  std::unique_ptr<Loaded> &place = models[key];
  if (place)
    return place.get();
  auto loaded = std::make_unique<Loaded>();
  DiagnosticForwarder forwarder(context, loaded->sources, printer);
  Expected<Model> model = loadModel(context, request, loaded->sources, printer);
  if (!model)
    return model.takeError();
  loaded->model = std::move(*model);
  auto options = prepareModel(loaded->model, request, strategy);
  if (!options)
    return options.takeError();
  place = std::move(loaded);
  return place.get();
}

Expected<StrategyInput> StrategySettler::settle(const StrategyInput &strategy) {
  StrategyInput settled = strategy;
  settled.deriveStep();
  last.reset();
  Expected<Loaded *> loaded = load(settled);
  if (!loaded)
    return loaded.takeError();
  const Model &model = (*loaded)->model;
  DiagnosticForwarder forwarder(context, (*loaded)->sources, printer);
  Expected<SymbolValues> values = collectSymbols(model, settled);
  if (!values)
    return values.takeError();
  Expected<Preset> preset = loadPreset(settled);
  if (!preset)
    return preset.takeError();
  last = std::make_unique<Settled>();
  last->preset = std::move(*preset);
  last->values = std::move(*values);
  last->program = getProgram(*model.module);
  Expected<PresetPlan> plan = settleStrategy(
      last->preset, request, *model.module, last->values, settled);
  if (!plan)
    return plan.takeError();
  if (Error error = checkDegrees(settled, *model.module, last->preset, *plan,
                                 last->values))
    return std::move(error);
  return settled;
}

std::optional<int64_t> StrategySettler::getSymbol(StringRef name) const {
  if (!last)
    return std::nullopt;
  auto it = last->values.find(name.str());
  if (it == last->values.end())
    return std::nullopt;
  return it->second.value;
}

std::optional<int64_t> StrategySettler::countLayers() const {
  int64_t common = 0;
  if (!last || !last->program)
    return std::nullopt;
  return stg::countLayers(last->program, last->values, common);
}

bool StrategySettler::hasDegree(StringRef name) const {
  return last && llvm::any_of(last->preset.degrees, [&](const auto &degree) {
           return degree.name == name;
         });
}

bool StrategySettler::hasOption(StringRef name) const {
  return last && llvm::any_of(last->preset.options, [&](const auto &option) {
           return option.name == name;
         });
}
