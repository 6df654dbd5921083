//===- SplitBackward.h - Halves of a backward task --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Zero-bubble schedules delay the gradients of weights, for which no other
// stage waits. A backward task becomes two: one that makes what the previous
// stage waits for, and one that makes the gradients of parameters from what the
// first has left.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_SPLITBACKWARD_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_SPLITBACKWARD_H

#include "mlir/IR/PatternMatch.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

struct BackwardHalves {
  /// Takes some arguments of the task; gives its first results, then what the
  /// other half reads.
  mlir::func::FuncOp input;
  llvm::SmallVector<unsigned> inputArgs;

  /// Gives the other results of the task.
  mlir::func::FuncOp weight;
  /// An argument of the task, or a further result of `input`, by number.
  struct WeightArg {
    bool fromInput;
    unsigned number;
  };
  llvm::SmallVector<WeightArg> weightArgs;
};

/// Splits `task`, whose first `numSends` results are for the previous stage.
/// The task stays as it is.
BackwardHalves splitBackward(mlir::func::FuncOp task, unsigned numSends);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_SPLITBACKWARD_H
