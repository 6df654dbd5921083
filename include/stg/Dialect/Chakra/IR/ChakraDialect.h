//===- ChakraDialect.h - The chakra dialect ---------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRADIALECT_H
#define STG_DIALECT_CHAKRA_IR_CHAKRADIALECT_H

#include "mlir/IR/Dialect.h"

#include "stg/Dialect/Chakra/IR/ChakraDialect.h.inc"

#endif // STG_DIALECT_CHAKRA_IR_CHAKRADIALECT_H
