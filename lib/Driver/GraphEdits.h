//===- GraphEdits.h - Graphs that become parts of each other ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What makes one graph of graphs that were compiled apart.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_GRAPHEDITS_H
#define STG_LIB_DRIVER_GRAPHEDITS_H

#include "mlir/IR/BuiltinOps.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"

namespace stg {

bool isStepLoop(mlir::Operation &op);

/// The graph of a module that is of the ranks of `graph`; null if there is
/// none. Graphs of other models have other names.
chakra::GraphOp findGraph(mlir::ModuleOp module, chakra::GraphOp graph);

/// The states of a state, or of a stack of them, in order.
llvm::SmallVector<chakra::StateOp> getStates(mlir::Operation &op);

/// The states in `body` with the name of `op`.
mlir::Operation *findStates(mlir::Block &body, mlir::Operation &op,
                            llvm::function_ref<bool(mlir::Operation &)> isFree);

/// A value has another size, and so has what is the same buffer: an iteration's
/// part of a stack, what a node has changed in place, or what a turn of a
/// schedule or a function gets.
void setBufferType(mlir::Value value, mlir::Type type);

/// Moves a function of `from` into another graph, under a name that is free in
/// both: what it executes is that of its own graph.
void moveFunction(chakra::FuncOp function, mlir::Block &body,
                  chakra::GraphOp from, const llvm::Twine &suffix);

} // namespace stg

#endif // STG_LIB_DRIVER_GRAPHEDITS_H
