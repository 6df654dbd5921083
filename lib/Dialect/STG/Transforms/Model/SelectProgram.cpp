//===- SelectProgram.cpp - Drops all programs but one ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  SmallVector<func::FuncOp> worklist = {program};
  while (!worklist.empty()) {
    auto uses = SymbolTable::getSymbolUses(&worklist.pop_back_val().getBody());
    for (SymbolTable::SymbolUse use : *uses) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          use.getUser(), use.getSymbolRef());
      if (callee && reached.insert(callee).second)
        worklist.push_back(callee);
    }
  }
  return reached;
}

void SelectProgram::runOnOperation() {
  func::FuncOp program = findProgram();
  if (!program)
    return signalPassFailure();
  DenseSet<Operation *> reached = collectCallees(program);
  MeshOp own = MeshOp::lookup(program);
  bool isNamed = getProgramAttr(program) != nullptr;
  for (Operation &op : llvm::make_early_inc_range(getOperation().getOps())) {
    auto mesh = dyn_cast<MeshOp>(op);
    if (mesh && isNamed && mesh != own)
      mesh.erase();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.isExternal())
      continue;
    if (!reached.contains(function)) {
      function.erase();
      continue;
    }
    // Of one program nothing needs to be said.
    function->removeAttr(STGDialect::kProgramAttr);
    if (function != program)
      function.setPrivate();
  }
}
