//===- ShardingRules.cpp - Rules over named dimensions --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"

using namespace mlir;
using namespace stg;

DimensionRules DimensionRules::get(MeshOp mesh) {
  SmallVector<DimensionRule> rules;
  if (std::optional<ArrayAttr> texts = mesh.getRules())
    for (auto text : texts->getAsRange<StringAttr>()) {
      std::string error;
      FailureOr<DimensionRule> rule =
          DimensionRule::parse(mesh.getContext(), text, error);
      if (succeeded(rule) && rule->axis)
        rules.push_back(*rule);
    }
  return DimensionRules(std::move(rules));
}

bool DimensionRules::hasRule(StringAttr dim, StringAttr axis,
                             ShardedValue kind) const {
  return llvm::any_of(rules, [&](const DimensionRule &rule) {
    return rule.dim == dim && rule.axis == axis &&
           (!rule.streamOnly || kind == ShardedValue::Stream);
  });
}

bool DimensionRules::matches(unsigned index, SymExpr extent,
                             ShardedValue kind) const {
  const DimensionRule &rule = rules[index];
  if (rule.streamOnly && kind != ShardedValue::Stream)
    return false;
  bool found = false;
  for (const SymExpr::Term &term : extent.getTerms()) {
    if (term.factors.size() != 1 || term.factors[0].exponent != 1 ||
        !term.coefficient.isInteger())
      return false;
    auto symbol = dyn_cast<StringAttr>(term.factors[0].atom);
    if (!symbol || !hasRule(symbol, rule.axis, kind))
      return false;
    found |= symbol == rule.dim;
  }
  return found;
}

SymTensorType DimensionRules::apply(SymTensorType type,
                                    ShardedValue kind) const {
  MLIRContext *context = type.getContext();
  SmallVector<SmallVector<Attribute>> dims(type.getRank());
  DenseSet<Attribute> used;
  for (unsigned index = 0, e = rules.size(); index != e; ++index)
    for (auto [extent, axes] : llvm::zip_equal(type.getShape(), dims))
      if (!used.contains(rules[index].axis) && matches(index, extent, kind)) {
        axes.push_back(rules[index].axis);
        used.insert(rules[index].axis);
      }
  SmallVector<ArrayAttr> dimAxes;
  for (auto &axes : dims)
    dimAxes.push_back(ArrayAttr::get(context, axes));
  return type.withSharding(ShardingAttr::get(
      context, dimAxes, ArrayAttr::get(context, {}), ReduceKind::Sum));
}

void stg::updateFunctionType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

SmallVector<AxisNames> stg::getFactorAxes(Operation *op,
                                          const ShardingRule &rule) {
  SmallVector<AxisNames> axes(rule.factors.size());
  auto factors = op->getAttrOfType<DictionaryAttr>(STGDialect::kFactorsAttr);
  if (!factors)
    return axes;
  for (auto [index, factor] : llvm::enumerate(rule.factors))
    if (auto names = factors.getAs<ArrayAttr>(factor.name))
      llvm::append_range(axes[index], names.getAsRange<StringAttr>());
  return axes;
}

AxisNames stg::getPartialAxes(const ShardingRule &rule, unsigned result,
                              ArrayRef<AxisNames> factorAxes) {
  AxisNames partial;
  for (auto [index, axes] : llvm::enumerate(factorAxes))
    if (rule.factors[index].kind == FactorKind::Shardable &&
        !runsOver(rule.results[result], index))
      llvm::append_range(partial, axes);
  return partial;
}
