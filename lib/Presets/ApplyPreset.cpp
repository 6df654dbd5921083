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

/// `dp=4 sequence-parallel` stands for `values=dp=4,sequence-parallel`; the
/// declared options keep their spelling.
LogicalResult ApplyPreset::initializeOptions(
    StringRef options,
    function_ref<LogicalResult(const Twine &)> errorHandler) {
  SmallVector<StringRef> words, declared;
  SmallVector<std::string> assignments;
  options.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [key, value] = word.split('=');
    if (key == "values")
      assignments.push_back(value.str());
    else if (key == "preset" || key == "rules" || key == "rank-order")
      declared.push_back(word);
    else
      assignments.push_back(word.str());
  }
  std::string text = llvm::join(declared, " ");
  if (!assignments.empty())
    text += " values=" + llvm::join(assignments, ",");
  return Pass::initializeOptions(text, errorHandler);
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
  for (StringAttr name : collectDimensionNames(module))
    dimensions.push_back(name);
  llvm::Expected<PresetPlan> plan =
      evaluatePreset(*chosen, getRequest(), &getContext(), dimensions);
  if (!plan)
    return fail(plan.takeError());
  ParallelizeOptions options;
  llvm::append_range(options.mesh, plan->getMesh());
  llvm::append_range(options.rules, plan->getRules());
  llvm::append_range(options.claims, plan->claims);
  OpPassManager pm(ModuleOp::getOperationName());
  pm.addPass(createParallelize(options));
  if (failed(runPipeline(pm, module)))
    signalPassFailure();
}
