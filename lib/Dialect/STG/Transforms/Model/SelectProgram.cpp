//===- SelectProgram.cpp - Drops all programs but one ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/SymbolUses.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace stg {
#define GEN_PASS_DEF_SELECTPROGRAM
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct SelectProgram : stg::impl::SelectProgramBase<SelectProgram> {
  using SelectProgramBase::SelectProgramBase;
  void runOnOperation() override;

private:
  func::FuncOp findProgram();
  DenseSet<Operation *> collectCallees(func::FuncOp program);
  void dropSymbols(const DenseSet<StringAttr> &dropped);
};
} // namespace

func::FuncOp SelectProgram::findProgram() {
  if (name.empty())
    return getProgram(getOperation());
  SmallVector<StringRef> names;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (function.getSymName() == name.getValue())
      return function;
    names.push_back(function.getSymName());
  }
  getOperation().emitError("has no program '")
      << name.getValue() << "'; its programs are " << llvm::join(names, ", ");
  return {};
}

/// The program and what it calls, over whatever others.
DenseSet<Operation *> SelectProgram::collectCallees(func::FuncOp program) {
  SymbolTableCollection symbols;
  DenseSet<Operation *> reached = {program};
  SmallVector<Operation *> worklist = {program};
  while (!worklist.empty()) {
    Operation *function = worklist.pop_back_val();
    auto uses = SymbolTable::getSymbolUses(&function->getRegion(0));
    for (SymbolTable::SymbolUse use : *uses) {
      // A block has symbols of its own, but is called at the top.
      Operation *callee =
          symbols.lookupSymbolIn(getOperation(), use.getSymbolRef());
      if (isa_and_nonnull<func::FuncOp, BlockOp>(callee) &&
          reached.insert(callee).second)
        worklist.push_back(callee);
    }
  }
  return reached;
}

/// Takes away the declarations, and the values that configurations give.
void SelectProgram::dropSymbols(const DenseSet<StringAttr> &dropped) {
  for (Operation &op : llvm::make_early_inc_range(getOperation().getOps())) {
    if (auto symbol = dyn_cast<SymbolOp>(op)) {
      if (dropped.contains(symbol.getSymNameAttr()))
        symbol.erase();
      continue;
    }
    auto config = dyn_cast<ConfigOp>(op);
    if (!config)
      continue;
    auto kept =
        llvm::filter_to_vector(config.getBindings(), [&](NamedAttribute entry) {
          return !dropped.contains(entry.getName());
        });
    config.setBindingsAttr(DictionaryAttr::get(&getContext(), kept));
  }
}

void SelectProgram::runOnOperation() {
  func::FuncOp program = findProgram();
  if (!program)
    return signalPassFailure();
  DenseSet<Operation *> reached = collectCallees(program);
  MeshOp ownMesh = MeshOp::lookup(program);
  bool isNamed = getProgramAttr(program) != nullptr;
  SymbolUses own(getOperation()), others(getOperation());
  for (Operation &op : llvm::make_early_inc_range(getOperation().getOps())) {
    auto mesh = dyn_cast<MeshOp>(op);
    auto function = dyn_cast<func::FuncOp>(op);
    if (!mesh && !function && !isa<BlockOp>(op))
      continue;
    bool isOwn =
        mesh ? !isNamed || mesh == ownMesh
             : (function && function.isExternal()) || reached.contains(&op);
    (isOwn ? own : others).addAll(&op);
    if (!isOwn)
      op.erase();
    if (!isOwn || !function || function.isExternal())
      continue;
    // Of one program nothing needs to be said.
    function->removeAttr(STGDialect::kProgramAttr);
    if (function != program)
      function.setPrivate();
  }
  DenseSet<StringAttr> dropped;
  for (StringAttr name : others.getSymbols())
    if (!own.contains(name))
      dropped.insert(name);
  dropSymbols(dropped);
}
