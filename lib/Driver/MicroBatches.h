//===- MicroBatches.h - Micro-batches with requests of their own -*- C++ -*-==//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule executes the same for all micro-batches. Where they have lists of
// requests of their own, each list is compiled as if all had it; then one
// schedule executes in each turn what is that of its list.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_MICROBATCHES_H
#define STG_LIB_DRIVER_MICROBATCHES_H

#include "mlir/IR/BuiltinOps.h"
#include "stg/Strategy/StrategyInput.h"

namespace stg {

/// The strategies of the lists that micro-batches have, each once.
struct MicroBatchParts {
  std::vector<StrategyInput> parts;
  /// Of each micro-batch.
  std::vector<unsigned> partOf;
};

llvm::Expected<MicroBatchParts> splitMicroBatches(const StrategyInput &input);

/// Puts what the other modules execute for their micro-batches into the first
/// one. Reports what does not go together.
mlir::LogicalResult joinMicroBatches(llvm::ArrayRef<mlir::ModuleOp> modules,
                                     llvm::ArrayRef<unsigned> partOf);

} // namespace stg

#endif // STG_LIB_DRIVER_MICROBATCHES_H
