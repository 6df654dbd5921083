//===- ApplyPreset.cpp - States what a preset makes of degrees ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/PassManager.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Presets/Passes.h"
#include "stg/Presets/Preset.h"
#include "llvm/ADT/StringExtras.h"

namespace stg {
#define GEN_PASS_DEF_APPLYPRESET
#include "stg/Presets/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ApplyPreset : stg::impl::ApplyPresetBase<ApplyPreset> {
  using ApplyPresetBase::ApplyPresetBase;

  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override;
  void runOnOperation() override;

private:
  PresetRequest getRequest();
};
} // namespace

/// Degrees and options of a preset may be given as options of the pass.
LogicalResult ApplyPreset::initializeOptions(
    StringRef options,
    function_ref<LogicalResult(const Twine &)> errorHandler) {
  auto isDeclared = [](StringRef word) {
    StringRef key = word.split('=').first;
    return key == "preset" || key == "rules" || key == "rank-order" ||
           key == "late" || key == "program";
  };
  return Pass::initializeOptions(gatherValues(options, isDeclared),
                                 errorHandler);
}

PresetRequest ApplyPreset::getRequest() {
  PresetRequest request;
  for (StringRef assignment : values) {
    auto [name, value] = assignment.split('=');
    std::string key = name.trim().str();
    llvm::replace(key, '-', '_');
    request.values.emplace_back(key, assignment.contains('=') ? value.str()
                                                              : "true");
  }
  request.rules.assign(rules.begin(), rules.end());
  request.rankOrder = rankOrder;
  return request;
}

void stg::addPresetPlan(OpPassManager &pm, const PresetPlan &plan,
                        StringRef program) {
  ParallelizeOptions options;
  llvm::append_range(options.mesh, plan.getMesh());
  llvm::append_range(options.rules, plan.getRules());
  llvm::append_range(options.claims, plan.claims);
  llvm::append_range(options.joined, plan.joined);
  llvm::append_range(options.late, plan.late);
  options.program = program.str();
  pm.addPass(createParallelize(options));
}

void ApplyPreset::runOnOperation() {
  ModuleOp module = getOperation();
  auto fail = [&](llvm::Error error) {
    module.emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  };
  llvm::Expected<Preset> chosen = Preset::load(preset);
  if (!chosen)
    return fail(chosen.takeError());
  std::vector<StringRef> dimensions;
  // Without one --stg-parallelize says what is wrong.
  Operation *scope = module.lookupSymbol(program.getValue());
  for (StringAttr name : collectDimensionNames(scope ? scope : module))
    dimensions.push_back(name);
  llvm::Expected<PresetPlan> plan =
      evaluatePreset(*chosen, getRequest(), &getContext(), dimensions);
  if (!plan)
    return fail(plan.takeError());
  plan->late.assign(late.begin(), late.end());
  OpPassManager pm(ModuleOp::getOperationName());
  addPresetPlan(pm, *plan, program.getValue());
  if (failed(runPipeline(pm, module)))
    signalPassFailure();
}
