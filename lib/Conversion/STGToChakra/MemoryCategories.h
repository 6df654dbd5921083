//===- MemoryCategories.h - What each value is for --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CONVERSION_STGTOCHAKRA_MEMORYCATEGORIES_H
#define STG_LIB_CONVERSION_STGTOCHAKRA_MEMORYCATEGORIES_H

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace stg {

/// Which ops may write over their operands, because nobody else reads them:
/// inside of a function, and where a function is called with a buffer that its
/// caller has no further use for, such as gradients for the optimizer's task.
class BufferOwners {
public:
  explicit BufferOwners(mlir::ModuleOp module);

  /// True for a collective whose results are the buffers of its operands, or
  /// views of them.
  bool isInPlace(mlir::Operation *op);

  /// The operand into whose buffer the op writes this result.
  std::optional<unsigned> getOverwrittenOperand(CostOpInterface op,
                                                unsigned result);

private:
  /// True if the value has a buffer of its own that has one reader. A view may
  /// share its buffer with other values.
  bool hasOneReader(mlir::Value value);
  bool isGivenUp(mlir::BlockArgument arg);
  bool isGivenUpBy(mlir::Operation *call, unsigned argument);
  bool isTotalGivenUp(TurnCallOp call, unsigned number);
  bool returnsOwnBuffer(mlir::Operation *call, mlir::FlatSymbolRefAttr callee,
                        unsigned result);
  bool isTotalOwnBuffer(ScheduleOp schedule, unsigned result);
  void addCall(mlir::Operation *call, mlir::FlatSymbolRefAttr callee);
  mlir::func::FuncOp getCallee(mlir::Operation *call,
                               mlir::FlatSymbolRefAttr callee);

  mlir::SymbolTableCollection tables;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>>
      calls; ///< By callee.
  llvm::DenseMap<mlir::Value, bool> givenUp;
};

/// The memory category of each value of a local program:
///
///   communication  a gathered parameter
///   gradient       flows into the optimizer
///   activation     made by the forward pass and read by the backward pass
///   communication  made by another collective
///   temporary      everything else
///
/// Values that are one buffer (what a repeat carries, the slices of a stack,
/// the operand and the result of a reduction in place), and what is joined and
/// its parts, have the first of these that applies to one of them.
class MemoryCategories {
public:
  MemoryCategories(mlir::func::FuncOp function, BufferOwners &owners);
  chakra::Category get(mlir::Value value) const;

private:
  void markReturned(mlir::Operation *terminator);
  void markCollective(CollectiveOpInterface op, BufferOwners &owners);
  void joinPassed(mlir::Operation *op);
  void mark(mlir::Value value, chakra::Category category);
  void *getLeader(mlir::Value value) const;

  llvm::EquivalenceClasses<void *> buffers;
  llvm::DenseMap<void *, chakra::Category> categories; ///< By class leader.
  llvm::DenseSet<void *> gathered; ///< Leaders: what flat_all_gather makes.
};

} // namespace stg

#endif // STG_LIB_CONVERSION_STGTOCHAKRA_MEMORYCATEGORIES_H
