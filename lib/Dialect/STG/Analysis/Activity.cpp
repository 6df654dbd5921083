//===- Activity.cpp - What depends on trained parameters ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Analysis/Activity.h"

using namespace mlir;
using namespace stg;

bool stg::isFloatTensor(Value value) {
  auto tensor = dyn_cast<SymTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

void Activity::addBlock(Block &block) {
  for (Operation &op : block)
    addOp(op);
}

void Activity::addOp(Operation &op) {
  if (auto scan = dyn_cast<ScanOpInterface>(op))
    return addScan(scan);
  auto param = dyn_cast<ParamOp>(op);
  bool isActive = param ? !param.getFrozen()
                        : llvm::any_of(op.getOperands(), [&](Value operand) {
                            return active.contains(operand);
                          });
  if (isActive)
    addFloats(op.getResults());
}

void Activity::addFloats(ValueRange values) {
  for (Value value : values)
    if (isFloatTensor(value))
      active.insert(value);
}

/// Carried values feed themselves, if there is a second iteration: repeated
/// until nothing is added.
void Activity::addScan(ScanOpInterface scan) {
  Block &body = scan.getLoopBlock();
  for (auto [arg, operand] :
       llvm::zip_equal(body.getArguments(), scan->getOperands()))
    if (contains(operand))
      active.insert(arg);
  OperandRange yielded = scan.getYielded();
  for (bool changed = true; changed;) {
    addBlock(body);
    changed = false;
    if (scan.getCount().isOne() && !replayed)
      break;
    for (auto [arg, value] : llvm::zip(scan.getCarriedArgs(), yielded))
      if (contains(value))
        changed |= active.insert(arg).second;
  }
  for (auto [result, value] : llvm::zip_equal(scan->getResults(), yielded))
    if (contains(value))
      active.insert(result);
}
