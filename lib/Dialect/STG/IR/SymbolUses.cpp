//===- SymbolUses.cpp - Which symbols a program mentions ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/SymbolUses.h"

using namespace mlir;
using namespace stg;

SymbolUses::SymbolUses(ModuleOp module) : module(module) {
  walker.addWalk([this](SymExpr expr) {
    expr.walkSymbols([this](StringAttr name) { add(name); });
    return WalkResult::skip();
  });
}

void SymbolUses::add(StringAttr name) {
  if (!symbols.insert(name).second)
    return;
  auto symbol = module.lookupSymbol<SymbolOp>(name);
  if (symbol && symbol.getValue())
    symbol.getValue()->walkSymbols([this](StringAttr used) { add(used); });
}

void SymbolUses::addAll(Operation *root) {
  root->walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getOperandTypes())
      walker.walk(type);
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        walker.walk(type);
  });
}
