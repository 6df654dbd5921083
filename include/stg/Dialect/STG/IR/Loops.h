//===- Loops.h - What passes ask of a loop ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Passes follow values through loops without knowing a loop op. What a loop
// carries they learn from `LoopLikeOpInterface`, how values go into regions and
// out of them from `RegionBranchOpInterface`, and what a loop counts, slices
// and stacks from `ScanOpInterface`.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_LOOPS_H
#define STG_DIALECT_STG_IR_LOOPS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// A value that goes from each iteration of a loop to the next.
struct CarriedValue {
  mlir::OpOperand *init;    ///< What the first iteration starts with.
  mlir::BlockArgument arg;  ///< What an iteration reads.
  mlir::OpOperand *yielded; ///< What it hands to the next one.
  mlir::OpResult result;    ///< What the last one hands out.
};

/// What the op carries, if it is a loop, in order.
llvm::SmallVector<CarriedValue> getCarriedValues(mlir::Operation *op);

/// True if what a loop carries is a sum: each iteration only adds to what it is
/// handed, by linear ops with one reader each, and nobody else reads that.
bool isSum(const CarriedValue &carried);

/// True for a sum that starts with zero.
bool isSumFromZero(const CarriedValue &carried);

/// The ops that add to such a sum in an iteration, in order.
llvm::SmallVector<mlir::Operation *> getSummands(const CarriedValue &carried);

/// The sum that the op of a loop's body hands on to the next iteration; nothing
/// if the operand of its terminator is none.
std::optional<CarriedValue> getYieldedSum(mlir::OpOperand &use);

/// The sum that `result` is of all iterations of a loop; likewise.
std::optional<CarriedValue> getResultingSum(mlir::Value result);

/// How a value gets into a region or out of it.
enum class PassedAs {
  Same,  ///< As it is.
  Slice, ///< One slice in each iteration.
  Stack, ///< That of all iterations, stacked.
};

struct PassedValue {
  mlir::Value value;
  PassedAs as;
};

/// What a use hands its value to in the regions of its op or, of a terminator,
/// around it: arguments of bodies and results of what is around.
llvm::SmallVector<PassedValue> getPassedValues(mlir::OpOperand &use);

/// True if the op ends a region by handing values on, and is no op of its own.
bool isRegionTerminator(mlir::Operation *op);

/// The place where the body of a scan hands out what `stack` consists of; null
/// if no scan makes `stack` of its iterations.
mlir::OpOperand *getStackedOperand(mlir::Value stack);

/// Makes the types of what a scan stacks those of what it hands out, stacked.
void retypeStacks(ScanOpInterface scan);

/// Scans keep neither slices that nobody reads nor stacks that nobody uses.
void populateDropUnusedStacksPatterns(mlir::RewritePatternSet &patterns);

/// The number of iterations of a loop: an expression if it is a scan, or a
/// constant; null if neither is known.
SymExpr getIterations(mlir::LoopLikeOpInterface loop);

/// How often an op is executed: the product of the iterations around it. Null
/// if one is unknown.
SymExpr getExecutions(mlir::Operation *op);

/// The layers that one iteration of a scan has: those of the scans inside, or
/// one.
SymExpr getLayersOfIteration(ScanOpInterface scan);

/// The names of the scopes around an op, outermost first, each with '/'.
std::string getScopePath(mlir::Operation *op);

} // namespace stg

#endif // STG_DIALECT_STG_IR_LOOPS_H
