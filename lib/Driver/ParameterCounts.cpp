//===- ParameterCounts.cpp - How many parameters a model has --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParameterCounts.h"
#include "stg/Dialect/STG/IR/Experts.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace stg;

namespace {
/// Finds what counts, and for how much.
class ParameterCounter {
public:
  explicit ParameterCounter(ModuleOp module) : module(module) {}

  ParameterCounts count();

private:
  void collectVocabulary();
  void collectRouted(DispatchOp dispatch);
  bool isVocabularyTable(ParamOp param) const;

  ModuleOp module;
  DenseSet<StringAttr> vocabulary; ///< Names of dimensions.
  /// The part of a parameter of experts that a token uses.
  DenseMap<Operation *, std::pair<SymExpr, SymExpr>> routed;
};
} // namespace

/// The parameters that the value is, as it is or cast, split, ...
static void collectParams(Value value, SetVector<ParamOp> &params) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return;
  if (auto param = dyn_cast<ParamOp>(def)) {
    params.insert(param);
    return;
  }
  for (Value operand : def->getOperands())
    collectParams(operand, params);
}

/// Experts are what reads rows that were dispatched, up to where they are
/// combined. A token uses as many of their parameters as it has experts.
void ParameterCounter::collectRouted(DispatchOp dispatch) {
  auto buffers = cast<SymTensorType>(dispatch.getResult().getType());
  auto indices = cast<SymTensorType>(getChoices(dispatch).getType());
  DimAttr experts = buffers.getDims().front();
  std::pair<SymExpr, SymExpr> part = {indices.getDims().back().getExtent(),
                                      experts.getExtent()};
  SetVector<Value> rows;
  rows.insert(dispatch.getResult());
  SetVector<Operation *> readers;
  for (size_t i = 0; i < rows.size(); ++i)
    for (Operation *user : rows[i].getUsers())
      if (!isa<CombineOp>(user) && readers.insert(user))
        rows.insert_range(user->getResults());
  // Not before all rows are known: what they are made of is no part of experts.
  SetVector<ParamOp> params;
  for (Operation *reader : readers)
    for (Value operand : reader->getOperands())
      if (!rows.contains(operand))
        collectParams(operand, params);
  for (ParamOp param : params)
    for (DimAttr dim : cast<SymTensorType>(param.getType()).getDims())
      if (dim == experts)
        routed[param] = part;
}

/// What the loss chooses from.
void ParameterCounter::collectVocabulary() {
  module.walk([&](CrossEntropyOp loss) {
    auto logits = cast<SymTensorType>(loss.getLogits().getType());
    for (StringAttr name : logits.getDims().back().getNames())
      vocabulary.insert(name);
  });
}

bool ParameterCounter::isVocabularyTable(ParamOp param) const {
  return llvm::any_of(param->getUsers(), [&](Operation *user) {
    auto embedding = dyn_cast<EmbeddingOp>(user);
    if (!embedding || embedding.getTable() != param.getResult())
      return false;
    auto table = cast<SymTensorType>(param.getType());
    return llvm::any_of(
        table.getDims().front().getNames(),
        [&](StringAttr name) { return vocabulary.contains(name); });
  });
}

/// In pairs: a sum costs as much as it has terms.
static SymExpr sum(MutableArrayRef<SymExpr> counts, SymExpr zero) {
  if (counts.empty())
    return zero;
  for (size_t step = 1; step < counts.size(); step *= 2)
    for (size_t i = 0; i + step < counts.size(); i += 2 * step)
      counts[i] = counts[i] + counts[i + step];
  return counts.front();
}

ParameterCounts ParameterCounter::count() {
  collectVocabulary();
  module.walk([&](DispatchOp dispatch) { collectRouted(dispatch); });
  SmallVector<SymExpr> all, active, embedding, frozen;
  llvm::StringSet<> seen;
  module.walk([&](ParamOp param) {
    // Tables of numbers, such as which experts a token has, are no parameters.
    if (isa<IntegerType>(param.getType().getElementType()) ||
        !seen.insert(getParameterPath(param)).second)
      return;
    SymExpr number = param.getType().getNumElements() * getExecutions(param);
    all.push_back(number);
    if (param.getFrozen())
      frozen.push_back(number);
    if (isVocabularyTable(param))
      embedding.push_back(number);
    // What has experts as a dimension is a multiple of their number.
    if (auto it = routed.find(param); it != routed.end())
      number = (number * it->second.first).exactDiv(it->second.second);
    active.push_back(number);
  });
  SymExpr zero = SymExpr::get(module.getContext(), 0);
  return {sum(all, zero), sum(active, zero), sum(embedding, zero),
          sum(frozen, zero)};
}

SymExpr stg::countUpdated(ModuleOp module) {
  SmallVector<SymExpr> counts;
  module.walk([&](CostOpInterface op) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto param = operand.get().getDefiningOp<ParamOp>();
          param && op.updatesOperand(operand.getOperandNumber()))
        counts.push_back(param.getType().getNumElements() *
                         getExecutions(param));
  });
  return sum(counts, SymExpr::get(module.getContext(), 0));
}

ParameterCounts stg::countParameters(ModuleOp module) {
  return ParameterCounter(module).count();
}
