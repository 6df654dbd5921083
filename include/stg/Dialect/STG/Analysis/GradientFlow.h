//===- GradientFlow.h - What reaches the optimizer --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which values are gradients of which parameters. A gradient is what the
// optimizer reads, and what becomes that by nothing but sums over devices,
// linear ops, and the stacks of scans.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_ANALYSIS_GRADIENTFLOW_H
#define STG_DIALECT_STG_ANALYSIS_GRADIENTFLOW_H

#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/SetVector.h"

namespace stg {

/// True if an op of the optimizer reads a gradient here, and not a parameter.
bool isOptimizerRead(mlir::OpOperand &use);

/// The path of the parameter that an op of the optimizer updates; empty if it
/// updates none that is read beside it.
std::string getUpdatedParameter(mlir::Operation *step);

/// True for a sum over devices of what backward has made.
bool isReduction(mlir::Operation *op);

/// True for a reduction of gradients that happens once per step.
bool isStepReduction(mlir::Operation *op);

/// The gradients of a function, as an analysis of MLIR.
class GradientFlow {
public:
  /// With `throughOps` also what becomes a gradient by ops that are linear in
  /// it and read parameters, or what is made of them, beside it.
  explicit GradientFlow(mlir::Operation *function, bool throughOps = false);

  /// How a gradient reaches the optimizer.
  struct Flow {
    /// The ops of the optimizer that read it at last.
    llvm::SmallSetVector<mlir::Operation *, 1> steps;
    /// True if the function returns it, or something that it becomes.
    bool isReturned = false;
    /// The leading dimensions that it has from stacks, less those that the
    /// scans around it add; nothing if that depends on the way.
    std::optional<int> stacks;
    /// True if linear ops are in between: it is a term of the gradient, or a
    /// cast is to come.
    bool isTerm = false;

    /// True if an op of the optimizer reads it on each way.
    bool isStepped() const { return !steps.empty() && !isReturned; }
    void join(const Flow &way);
  };

  /// How the value reaches the optimizer; null if it has no reader, or one that
  /// makes something else of it.
  const Flow *lookup(mlir::Value value) const;

  /// True if the value is a gradient that the optimizer reads.
  bool reachesOptimizer(mlir::Value value) const {
    const Flow *flow = lookup(value);
    return flow && flow->isStepped();
  }

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Value value);
  bool addUse(mlir::OpOperand &use, Flow &flow);
  bool addNext(mlir::Value next, int stacks, bool isTerm, Flow &flow);
  bool addOp(mlir::OpOperand &use, Flow &flow);

  void addMadeOfParameters(mlir::Block &block);

  bool throughOps;
  llvm::DenseSet<mlir::Value> madeOfParameters;
  llvm::DenseMap<mlir::Value, Flow> flows;
};

} // namespace stg

#endif // STG_DIALECT_STG_ANALYSIS_GRADIENTFLOW_H
