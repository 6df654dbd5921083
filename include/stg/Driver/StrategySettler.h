//===- StrategySettler.h - What a model makes of strategies -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a compilation before passes, for many strategies of one model:
// the model is read once.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DRIVER_STRATEGYSETTLER_H
#define STG_DRIVER_STRATEGYSETTLER_H

#include "stg/Driver/Compile.h"
#include <memory>

namespace stg {

class ModelCache;

class StrategySettler {
public:
  /// The model and all else are those of the request; its strategy is not
  /// looked at. All must outlive this.
  StrategySettler(mlir::MLIRContext &context, const CompileRequest &request,
                  const MessagePrinter &printer);
  ~StrategySettler();

  /// The strategy with what follows from the model, the preset and the mesh.
  /// The error is what `compile` says of it before any pass; it is empty if
  /// that has gone to the printer, as what is wrong with the model does.
  llvm::Expected<StrategyInput> settle(const StrategyInput &strategy);

  // Of the last strategy that was settled, or refused for its degrees:

  /// False if the model, or its preset, could not be read.
  bool isLoaded() const { return last != nullptr; }

  /// The value of a symbol of the model.
  std::optional<int64_t> getSymbol(llvm::StringRef name) const;
  /// What `compile` says of the stages of a strategy that was settled last:
  /// they must divide the layers.
  llvm::Error checkStages(const StrategyInput &strategy) const;
  /// The layers of all loops of the model.
  std::optional<int64_t> countLayers() const;
  /// True if ranks of data parallelism divide more than sequences, such as
  /// feed-forward layers: without them there are other kernels.
  bool dividesLayersByData() const;
  /// True if the strategy or its preset has a forward beside a backward, where
  /// the schedule can have that.
  bool mayHavePairs() const;
  /// True if the preset has a degree, or an option, of that name.
  bool hasDegree(llvm::StringRef name) const;
  bool hasOption(llvm::StringRef name) const;

private:
  mlir::MLIRContext &context;
  const CompileRequest &request;
  const MessagePrinter &printer;
  std::unique_ptr<ModelCache> models;
  struct Settled;
  std::unique_ptr<Settled> last;
  /// Steps of inference that were derived for `checkStages`, by what they
  /// follow from.
  struct Steps;
  std::unique_ptr<Steps> steps;
};

} // namespace stg

#endif // STG_DRIVER_STRATEGYSETTLER_H
