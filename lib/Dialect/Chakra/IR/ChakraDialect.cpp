//===- ChakraDialect.cpp - The chakra dialect -----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Sym/IR/Bytecode.h"

using namespace mlir;
using namespace stg::chakra;

#include "stg/Dialect/Chakra/IR/ChakraDialect.cpp.inc"

/// To be counted up, with an upgrade, when what was written before would not be
/// read or would mean something else.
static constexpr uint64_t kBytecodeVersion = 1;

void ChakraDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "stg/Dialect/Chakra/IR/ChakraOps.cpp.inc"
      >();
  addInterface<stg::VersionedBytecode>(kBytecodeVersion);
}

LogicalResult
ChakraDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  auto isThatOfComp = [&](StringRef name, bool hasType) {
    return attribute.getName() == name && isa<CompOp>(op) && hasType;
  };
  if (isThatOfComp(kDelayedAttr, isa<UnitAttr>(attribute.getValue())) ||
      isThatOfComp(kDurationAttr, isa<IntegerAttr>(attribute.getValue())))
    return success();
  return op->emitOpError("has '")
         << attribute.getName().getValue() << "' " << attribute.getValue()
         << ", expected a '" << CompOp::getOperationName() << "' with '"
         << kDelayedAttr << "' or with an integer as '" << kDurationAttr << "'";
}
