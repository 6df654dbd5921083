//===- ChakraInterfaces.h - What is asked of chakra's ops -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRAINTERFACES_H
#define STG_DIALECT_CHAKRA_IR_CHAKRAINTERFACES_H

#include "mlir/IR/OpDefinition.h"
#include "stg/Dialect/Sym/IR/Sym.h"

namespace stg::chakra::detail {
/// Names go into files that other tools read: commas and equals signs are
/// separators in the logs of simulators, and protobuf strings are UTF-8.
llvm::LogicalResult verifyName(mlir::Operation *op, llvm::StringRef name);
} // namespace stg::chakra::detail

#include "stg/Dialect/Chakra/IR/ChakraInterfaces.h.inc"

#endif // STG_DIALECT_CHAKRA_IR_CHAKRAINTERFACES_H
