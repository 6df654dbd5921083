//===- PrepareModel.cpp - The program that is compiled --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrepareModel.h"
#include "SymbolValues.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Pipelines/Pipelines.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// Leaves the program that is compiled, where there are several.
static Error chooseProgram(ModuleOp module, const CompileRequest &request) {
  SmallVector<StringRef> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal())
      names.push_back(function.getSymName());
  const std::string &name = request.program;
  if (name.empty() && names.size() <= 1)
    return Error::success();
  std::string all = llvm::join(names, ", ");
  if (name.empty())
    return makeError("the model has the programs " + all +
                     "; choose one with --program NAME");
  if (!llvm::is_contained(names, name))
    return makeError("--program " + name +
                     ": the model has no such program; its programs "
                     "are " +
                     all);
  PassManager pm(module->getContext());
  pm.addPass(createSelectProgram({name}));
  return succeeded(pm.run(module)) ? Error::success() : makeDiagnosed();
}

Error stg::inlineBlocks(ModuleOp module, ArrayRef<std::string> frozen) {
  PassManager blocks(module->getContext());
  blocks.addPass(createCheckCalls());
  InlineBlocksOptions options;
  llvm::append_range(options.freeze, frozen);
  blocks.addPass(createInlineBlocks(options));
  if (failed(blocks.run(module)))
    return makeDiagnosed();
  // What MLIR makes of a valid module is looked at with what comes next.
  PassManager functions(module->getContext());
  functions.enableVerifier(false);
  functions.addPass(createInlinerPass());
  functions.addPass(createSymbolDCEPass());
  return succeeded(functions.run(module)) ? Error::success() : makeDiagnosed();
}

Expected<std::map<std::string, std::string>>
stg::prepareModel(const Model &model, const CompileRequest &request,
                  const StrategyInput &strategy) {
  ModuleOp module = *model.module;
  if (Error error = chooseProgram(module, request))
    return std::move(error);
  if (Error error = setOptions(model, strategy))
    return std::move(error);
  std::map<std::string, std::string> options;
  for (auto option : module.getOps<OptionOp>())
    options[option.getSymName().str()] = option.getValue()->str();
  if (Error error = inlineBlocks(module, getFrozenBlocks(strategy.values)))
    return std::move(error);
  return options;
}
