//===- ModelCache.h - Models that are read once -----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model as it is before any strategy is applied to it: read, with the values
// of its options, and without blocks and calls. That follows from few fields of
// a strategy, so that many strategies have it in common.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_MODELCACHE_H
#define STG_LIB_DRIVER_MODELCACHE_H

#include "ModelLibrary.h"
#include "stg/Presets/Preset.h"
#include <map>
#include <memory>

namespace stg {

/// A model, and the text that locations in it are in.
struct PreparedModel {
  llvm::SourceMgr sources;
  Model model;
  std::map<std::string, std::string> options; ///< Their values, by name.
  LoadedPresets presets;                      ///< Of strategies so far.
};

/// Models of requests that differ in the strategy only, in one context.
class ModelCache {
public:
  explicit ModelCache(mlir::MLIRContext &context) : context(context) {}

  /// The model for a strategy. The error is empty if that has gone to the
  /// printer. The model lives as long as this.
  llvm::Expected<PreparedModel *> get(const CompileRequest &request,
                                      const StrategyInput &strategy,
                                      const MessagePrinter &printer);

private:
  mlir::MLIRContext &context;
  std::map<std::string, std::unique_ptr<PreparedModel>> models;
};

/// A copy that passes may change.
Model cloneModel(const Model &model);

} // namespace stg

#endif // STG_LIB_DRIVER_MODELCACHE_H
