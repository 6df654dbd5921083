//===- ChakraOps.h - Operations of the chakra dialect -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRAOPS_H
#define STG_DIALECT_CHAKRA_IR_CHAKRAOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/Chakra/IR/ChakraInterfaces.h"
#include "stg/Dialect/Chakra/IR/ChakraTypes.h"

namespace stg::chakra::detail {
/// Names are parts of paths in traces.
llvm::LogicalResult verifyName(mlir::Operation *op, llvm::StringRef name);
/// Categories may differ, but for that of what is on the host.
bool haveSameSize(mlir::Type lhs, mlir::Type rhs);
/// Checks that a repeat around a call or a schedule is one over steps.
llvm::LogicalResult verifyInSteps(mlir::Operation *op);
/// True for a function that stands before what calls it, or what that is in.
bool isBeforeCall(mlir::Operation *function, mlir::Operation *call);
} // namespace stg::chakra::detail

namespace stg::chakra {
/// True for a buffer, or a stack of buffers, that is not in the memory of the
/// rank but in that of its host.
bool isOnHost(mlir::Type type);
} // namespace stg::chakra

#define GET_OP_CLASSES
#include "stg/Dialect/Chakra/IR/ChakraOps.h.inc"

#endif // STG_DIALECT_CHAKRA_IR_CHAKRAOPS_H
