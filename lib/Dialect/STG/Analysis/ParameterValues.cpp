//===- ParameterValues.cpp - What is made of parameters -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Analysis/ParameterValues.h"

using namespace mlir;
using namespace stg;

bool stg::isOfParameter(Value value) {
  // A collective of several values gathers each by itself.
  auto gather = value.getDefiningOp<CollectiveOpInterface>();
  if (gather && gather.isCoalescable())
    value = gather->getOperand(cast<OpResult>(value).getResultNumber());
  return static_cast<bool>(getReadParameter(value));
}

bool stg::isMadeOfParameters(Value value) {
  auto maker = value.getDefiningOp<ShardableOpInterface>();
  return isOfParameter(value) ||
         (maker && maker->getNumOperands() > 0 &&
          llvm::all_of(maker->getOperands(), isMadeOfParameters));
}
