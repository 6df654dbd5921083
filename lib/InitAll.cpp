//===- InitAll.cpp - Registers everything that the tools offer ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/InitAll.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "stg/Conversion/STGToChakra/STGToChakra.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/Chakra/Transforms/Passes.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Pipelines/Pipelines.h"
#include "stg/Presets/Passes.h"

using namespace mlir;

void stg::registerAllDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, SymDialect, STGDialect,
                  chakra::ChakraDialect>();
  func::registerInlinerExtension(registry);
}

void stg::registerAllPasses() {
  registerSTGPasses();
  registerSTGToChakraPasses();
  chakra::registerChakraPasses();
  registerSTGPresetsPasses();
  registerPipelines();
  mlir::registerTransformsPasses();
}
