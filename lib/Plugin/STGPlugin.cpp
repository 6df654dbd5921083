//===- STGPlugin.cpp - STG in other people's tools ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `mlir-opt --load-dialect-plugin` and `--load-pass-plugin` ask for. The
// rest is in libSTGShared.so, which plugins for our tools link, too: all that
// are loaded into one process share one copy of our types.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"
#include "stg/InitAll.h"

extern "C" ::mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "STG", STG_VERSION,
          [](mlir::DialectRegistry *registry) {
            stg::registerAllDialects(*registry);
            stg::registerLinalgDialects(*registry);
          }};
}

extern "C" ::mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "STG", STG_VERSION, [] {
            stg::registerAllPasses();
            stg::registerLinalgPasses();
          }};
}
