//===- PassFields.cpp - What passes are asked by --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassFields.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
using namespace stg;

/// The fields that a pass follows from, as far as they can be what is wrong.
static ArrayRef<FieldId> getFieldsOf(StringRef pass) {
  static const llvm::StringMap<std::vector<FieldId>> fields = {
      {"stg-set-attention-mask", {FieldId::documents, FieldId::prefixTokens}},
      {"stg-add-prediction-layers", {FieldId::mtp, FieldId::mtpRepeated}},
      {"stg-add-router-losses", {FieldId::routerLoss, FieldId::routerZLoss}},
      {"stg-add-adapters", {FieldId::lora}},
      {"stg-freeze-parameters", {FieldId::freeze}},
      {"stg-autodiff", {FieldId::freeze}},
      {"stg-pass-states", {FieldId::cpScanType}},
      {"stg-context-parallel",
       {FieldId::cpCommType, FieldId::cpBalance, FieldId::etp, FieldId::ep}},
      {"stg-divide-unevenly", {FieldId::uneven}},
      {"chakra-offload",
       {FieldId::offload, FieldId::offloadSaved, FieldId::offloadPercent,
        FieldId::expertHistogram}},
  };
  auto it = fields.find(pass);
  return it == fields.end() ? ArrayRef<FieldId>() : ArrayRef(it->second);
}

struct PassFields::Watcher : PassInstrumentation {
  explicit Watcher(StringRef &argument) : argument(argument) {}

  /// What runs passes on nested ops is a pass without a name.
  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      argument = pass->getArgument();
  }

  StringRef &argument;
};

PassFields::PassFields(PassManager &pm, const StrategyInput &strategy)
    : strategy(strategy),
      handler(pm.getContext(),
              [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {
  pm.addInstrumentation(std::make_unique<Watcher>(argument));
}

LogicalResult PassFields::handle(Diagnostic &diagnostic) const {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    std::string given;
    for (FieldId id : getFieldsOf(argument))
      if (strategy.isGiven(id))
        given += (given.empty() ? "" : ", ") + strategy.spell(getField(id));
    if (!given.empty())
      diagnostic << " (with " << given << ")";
  }
  // The handler that was there before prints it.
  return failure();
}
