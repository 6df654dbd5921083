//===- StrategySettler.cpp - What a model makes of strategies -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/StrategySettler.h"
#include "DeriveStrategy.h"
#include "ModelCache.h"
#include "ModelChecks.h"
#include "SettleStrategy.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/Pipelines/Pipelines.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

struct StrategySettler::Settled {
  Preset preset;
  SymbolValues values;
  func::FuncOp program;
  bool dividesLayersByData = false;
  bool mayHavePairs = false;
};

struct StrategySettler::Steps {
  std::map<std::string, OwningOpRef<ModuleOp>> of; ///< Null: there is none.

  OwningOpRef<ModuleOp> &get(func::FuncOp program, const Strategy &values);
};

StrategySettler::StrategySettler(MLIRContext &context,
                                 const CompileRequest &request,
                                 const MessagePrinter &printer)
    : context(context), request(request), printer(printer),
      models(std::make_unique<ModelCache>(context)),
      steps(std::make_unique<Steps>()) {}

StrategySettler::~StrategySettler() = default;

Expected<StrategyInput> StrategySettler::settle(const StrategyInput &strategy) {
  StrategyInput settled = strategy;
  settled.deriveStep();
  last.reset();
  Expected<PreparedModel *> prepared = models->get(request, settled, printer);
  if (!prepared)
    return prepared.takeError();
  const Model &model = (*prepared)->model;
  DiagnosticForwarder forwarder(context, (*prepared)->sources, printer);
  Expected<SymbolValues> values = collectSymbols(model, settled);
  if (!values)
    return values.takeError();
  Expected<Preset> preset = loadPreset(settled, &(*prepared)->presets);
  if (!preset)
    return preset.takeError();
  last = std::make_unique<Settled>();
  last->mayHavePairs = settled.values.overlapMoeExpertParallelComm;
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
  StringRef batch = kBatchDim;
  last->dividesLayersByData =
      llvm::any_of(plan->rules, [&](const PresetPlan::Rule &rule) {
        return rule.rule.getDim() != batch &&
               llvm::any_of(plan->axes, [&](const PresetPlan::Axis &axis) {
                 return axis.role == AxisRole::Data &&
                        rule.rule.getAxis() == axis.name;
               });
      });
  return settled;
}

/// Which layers a step has depends on what is cached, and on the options of the
/// model, not on degrees. What is wrong with it is said when it is compiled.
OwningOpRef<ModuleOp> &StrategySettler::Steps::get(func::FuncOp program,
                                                   const Strategy &values) {
  std::string key;
  for (FieldId id :
       {FieldId::mode, FieldId::kvLen, FieldId::requests, FieldId::set})
    key += getField(id).print(values) + '\n';
  auto [it, isNew] = of.try_emplace(std::move(key));
  if (!isNew)
    return it->second;
  MLIRContext *context = program.getContext();
  OwningOpRef<ModuleOp> step(program->getParentOfType<ModuleOp>().clone());
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) {});
  PassManager pm(context);
  addInference(pm, values);
  if (succeeded(pm.run(*step)))
    it->second = std::move(step);
  return it->second;
}

std::optional<int64_t> StrategySettler::getSymbol(StringRef name) const {
  if (!last)
    return std::nullopt;
  auto it = last->values.find(name.str());
  if (it == last->values.end())
    return std::nullopt;
  return it->second.value;
}

Error StrategySettler::checkStages(const StrategyInput &strategy) const {
  if (!last || !last->program)
    return Error::success();
  if (!strategy.values.inference || strategy.values.pipelineRanks.isOne())
    return stg::checkStages(last->program, strategy, last->values);
  // A step of inference may have fewer layers than its model.
  OwningOpRef<ModuleOp> &step = steps->get(last->program, strategy.values);
  if (!step)
    return Error::success();
  return stg::checkStages(getProgram(*step), strategy, last->values);
}

std::optional<int64_t> StrategySettler::countLayers() const {
  if (!last || !last->program)
    return std::nullopt;
  return stg::countLayers(last->program, last->values);
}

bool StrategySettler::dividesLayersByData() const {
  return last && last->dividesLayersByData;
}

bool StrategySettler::mayHavePairs() const {
  return last && last->mayHavePairs;
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
