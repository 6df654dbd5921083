//===- Plan.cpp - What becomes of the ops of a program --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Describe/Describe.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;

/// How an op is known after passes have replaced it: by a location of its own,
/// which passes give to what they make of it.
static constexpr StringLiteral kKey = "op";

static std::optional<unsigned> getNumber(Location loc) {
  std::optional<unsigned> number;
  loc->walk([&](Location part) {
    auto key = dyn_cast<FileLineColLoc>(part);
    if (!key || key.getFilename() != kKey)
      return WalkResult::advance();
    number = key.getLine();
    return WalkResult::interrupt();
  });
  return number;
}

/// True for a program with a mesh and no collectives yet.
static bool isPlan(ModuleOp module) {
  bool hasMesh = false, isLocal = false;
  module.walk([&](Operation *op) {
    hasMesh |= isa<MeshOp>(op);
    isLocal |= isa<CollectiveOpInterface>(op);
  });
  return hasMesh && !isLocal;
}

static LogicalResult completePlan(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(createNameOps());
  pm.addPass(createPropagateShardings());
  return pm.run(module);
}

static LogicalResult makeLocal(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createInsertCollectives());
  return pm.run(module);
}

void Plan::add(Operation *op, Entry &entry) {
  OpDescription description = describe(op);
  if (isa<CollectiveOpInterface>(op)) {
    if (description.kind == OpDescription::Kind::Collective)
      entry.collectives.push_back(description.communication);
    return;
  }
  auto accumulate = [](SymExpr &sum, SymExpr term) {
    if (term)
      sum = sum ? sum + term : term;
  };
  // An op that is decomposed is several ops.
  accumulate(entry.operations, description.operations);
  accumulate(entry.bytes, description.bytes);
  entry.types.clear();
  for (Type type : op->getResultTypes())
    llvm::raw_string_ostream(entry.types.emplace_back()) << type;
}

Plan::Plan(ModuleOp module) {
  // What a file has may be a module itself.
  if (!module.getBody()->empty())
    if (auto inner = dyn_cast<ModuleOp>(module.getBody()->front()))
      module = inner;
  if (!isPlan(module))
    return;
  SmallVector<Operation *> ops;
  IRMapping map;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(map));
  module.walk([&](Operation *op) {
    map.lookup(op)->setLoc(FileLineColLoc::get(
        module.getContext(), kKey, static_cast<unsigned>(ops.size()), 0));
    ops.push_back(op);
  });
  ScopedDiagnosticHandler ignore(module.getContext(), [](Diagnostic &) {});
  auto forEach = [&](function_ref<void(Operation *, Entry &)> visit) {
    copy->walk([&](Operation *op) {
      std::optional<unsigned> number = getNumber(op->getLoc());
      if (number && *number < ops.size())
        visit(op, entries[ops[*number]]);
    });
  };
  if (failed(completePlan(*copy)))
    return;
  // What is local does not say any more which factors are divided.
  forEach([](Operation *op, Entry &entry) {
    entry.sharding = describe(op).sharding;
  });
  if (succeeded(makeLocal(*copy)))
    forEach([&](Operation *op, Entry &entry) { add(op, entry); });
  else
    entries.clear();
}
