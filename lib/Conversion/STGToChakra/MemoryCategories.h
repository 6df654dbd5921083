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

/// The memory category of each value of a local program:
///
///   communication  a gathered parameter
///   gradient       flows into the optimizer
///   activation     made by the forward pass and read by the backward pass
///   communication  made by another collective
///   temporary      everything else
///
/// Values that are one buffer (what a repeat carries, the slices of a stack,
/// the operand and the result of a reduction in place) have the first of these
/// that applies to one of them.
class MemoryCategories {
public:
  explicit MemoryCategories(mlir::func::FuncOp function);
  chakra::Category get(mlir::Value value) const;

private:
  void markReturned(mlir::Operation *terminator);
  void joinRepeat(RepeatOp repeat);
  void mark(mlir::Value value, chakra::Category category);
  void *getLeader(mlir::Value value) const;

  llvm::EquivalenceClasses<void *> buffers;
  llvm::DenseMap<void *, chakra::Category> categories; ///< By class leader.
  llvm::DenseSet<void *> gathered; ///< Leaders: what flat_all_gather makes.
};

/// True if the reduction may overwrite its operands: nobody else reads them.
bool isInPlace(AllReduceOp op);

/// The operand into whose buffer the op writes this result, if the op can and
/// nobody else reads it.
std::optional<unsigned> getOverwrittenOperand(CostOpInterface op,
                                              unsigned result);

} // namespace stg

#endif // STG_LIB_CONVERSION_STGTOCHAKRA_MEMORYCATEGORIES_H
