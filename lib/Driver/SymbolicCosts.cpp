//===- SymbolicCosts.cpp - What a rank does, as expressions ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/SymbolicCosts.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stg;

namespace {
/// Sums by what they are of.
class CostCollector {
public:
  explicit CostCollector(MLIRContext *context) : context(context) {}

  void add(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](chakra::CompOp op) { addComp(op); })
        .Case([&](chakra::CollOp op) { addColl(op); })
        .Case([&](chakra::StateOp op) { addState(op); });
  }
  std::vector<SymbolicCost> finish();

private:
  using Key = std::array<std::string, 4>;

  void addComp(chakra::CompOp op);
  void addColl(chakra::CollOp op);
  void addState(chakra::StateOp op);
  /// Adds `cost` for each execution of `op`.
  void add(Operation *op, Key key, SymExpr cost);

  MLIRContext *context;
  std::map<Key, size_t> numbers;
  std::vector<std::pair<Key, SmallVector<SymExpr>>> sums;
};
} // namespace

void CostCollector::add(Operation *op, Key key, SymExpr cost) {
  for (auto repeat = op->getParentOfType<chakra::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<chakra::RepeatOp>())
    cost = cost * repeat.getCount();
  auto [place, isNew] = numbers.insert({key, sums.size()});
  if (isNew)
    sums.push_back({std::move(key), {}});
  sums[place->second].second.push_back(cost);
}

void CostCollector::addComp(chakra::CompOp op) {
  std::string phase = op.getPhase().value_or("").str();
  add(op, {"operations", phase}, op.getOps());
  if (op.getMatrix())
    add(op, {"product_operations", phase}, op.getOps());
  add(op, {"memory_traffic", phase}, op.getBytes());
}

void CostCollector::addColl(chakra::CollOp op) {
  SymExpr bytes = op.getPayloadAttr();
  if (!bytes) {
    bytes = SymExpr::get(context, 0);
    for (Type type : op.getInputs().getTypes())
      bytes = bytes + chakra::getTotalBytes(type);
  }
  SmallVector<StringRef> axes;
  for (StringAttr axis : op.getOver().getAsRange<StringAttr>())
    axes.push_back(axis);
  add(op,
      {"collective", op.getPhase().value_or("").str(),
       chakra::stringifyCollKind(op.getKind()).str(), llvm::join(axes, "+")},
      bytes);
}

void CostCollector::addState(chakra::StateOp op) {
  auto type = cast<chakra::TensorType>(op.getType());
  add(op, {"state", "", chakra::stringifyCategory(type.getCategory()).str()},
      type.getBytes());
}

std::vector<SymbolicCost> CostCollector::finish() {
  std::vector<SymbolicCost> costs;
  for (auto &[key, parts] : sums) {
    // In pairs: a sum costs as much as it has terms.
    for (size_t step = 1; step < parts.size(); step *= 2)
      for (size_t i = 0; i + step < parts.size(); i += 2 * step)
        parts[i] = parts[i] + parts[i + step];
    costs.push_back({key[0], key[1], key[2], key[3], parts.front()});
  }
  return costs;
}

FailureOr<std::vector<SymbolicCost>> stg::collectCosts(ModuleOp module) {
  auto graphs = module.getOps<chakra::GraphOp>();
  if (!llvm::hasSingleElement(graphs))
    return module.emitError("expected one graph, found ")
           << std::distance(graphs.begin(), graphs.end());
  CostCollector collector(module.getContext());
  (*graphs.begin()).walk([&](Operation *op) { collector.add(op); });
  std::vector<SymbolicCost> costs = collector.finish();
  for (const SymbolicCost &cost : costs)
    if (!cost.expression)
      return module.emitError("the expression for ")
             << cost.quantity << " is too large";
  return costs;
}
