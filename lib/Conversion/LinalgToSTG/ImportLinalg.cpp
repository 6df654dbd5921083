//===- ImportLinalg.cpp - The pipeline from linalg to a model -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

using namespace mlir;
using namespace stg;

namespace {
/// Those of the conversion.
struct ImportOptions : PassPipelineOptions<ImportOptions> {
  ListOption<std::string> parameters{
      *this, "parameters",
      llvm::cl::desc("Arguments that are parameters, as numbers and ranges: "
                     "1-291")};
  Option<bool> loss{
      *this, "loss",
      llvm::cl::desc("Return the cross-entropy of the result and of labels, a "
                     "further input"),
      llvm::cl::init(false)};
};
} // namespace

void stg::buildImportLinalgPipeline(OpPassManager &pm,
                                    const ConvertLinalgToSTGOptions &options) {
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createConvertLinalgToSTG(options));
  pm.addNestedPass<func::FuncOp>(createRaiseKernels());
  pm.addPass(createRollLayers());
}

void stg::registerLinalgPasses() {
  registerLinalgToSTGPasses();
  PassPipelineRegistration<ImportOptions>(
      "stg-import-linalg",
      "Turn a program of linalg on tensors into a model: calls inlined, "
      "dimensions, kernels and layers found",
      [](OpPassManager &pm, const ImportOptions &options) {
        ConvertLinalgToSTGOptions conversion;
        llvm::append_range(conversion.parameters, options.parameters);
        conversion.loss = options.loss;
        buildImportLinalgPipeline(pm, conversion);
      });
}
