//===- ShardingRules.cpp - Rules over named dimensions --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;

/// What a value is called in messages.
static std::string describe(Value value) {
  if (auto param = value.getDefiningOp<ParamOp>())
    return ("parameter '" + param.getParamName() + "'").str();
  if (auto arg = dyn_cast<BlockArgument>(value))
    return ("argument #" + Twine(arg.getArgNumber())).str();
  return ("result #" + Twine(cast<OpResult>(value).getResultNumber())).str();
}

bool DimensionRules::hasRule(StringAttr dim, StringAttr axis,
                             RuleScope kind) const {
  return llvm::any_of(rules, [&](RuleAttr rule) {
    return rule.getDim() == dim && rule.getAxis() == axis && rule.covers(kind);
  });
}

bool DimensionRules::matches(unsigned index, DimAttr dim,
                             RuleScope kind) const {
  RuleAttr rule = rules[index];
  if (!rule.covers(kind) || !dim.hasName(rule.getDim()))
    return false;
  return llvm::all_of(dim.getNames(), [&](StringAttr name) {
    return hasRule(name, rule.getAxis(), kind);
  });
}

FailureOr<std::optional<unsigned>>
DimensionRules::findDim(unsigned index, Value value, RuleScope kind) const {
  auto type = cast<SymTensorType>(value.getType());
  std::optional<unsigned> found;
  for (auto [number, dim] : llvm::enumerate(type.getDims())) {
    if (!matches(index, dim, kind))
      continue;
    if (found) {
      StringRef name = rules[index].getDim(), axis = rules[index].getAxis();
      return emitError(value.getLoc())
             << describe(value) << " of type " << type << " has dimensions "
             << *found << " and " << number << ", which rule '"
             << rules[index].str() << "' both names; give one of them "
             << "another name, as in '" << name << "2 = " << dim.getExtent()
             << "', or write into its type which one is divided, as in '"
             << dim.str() << " : " << axis << "'";
    }
    found = number;
  }
  return found;
}

FailureOr<SymTensorType> DimensionRules::apply(Value value,
                                               RuleScope kind) const {
  auto type = cast<SymTensorType>(value.getType());
  MLIRContext *context = type.getContext();
  SmallVector<SmallVector<Attribute>> dims(type.getRank());
  DenseSet<Attribute> used;
  for (unsigned index = 0, e = rules.size(); index != e; ++index) {
    if (used.contains(rules[index].getAxis()))
      continue;
    FailureOr<std::optional<unsigned>> dim = findDim(index, value, kind);
    if (failed(dim))
      return failure();
    if (*dim) {
      dims[**dim].push_back(rules[index].getAxis());
      used.insert(rules[index].getAxis());
    }
  }
  SmallVector<ArrayAttr> dimAxes;
  for (auto &axes : dims)
    dimAxes.push_back(ArrayAttr::get(context, axes));
  return type.withSharding(ShardingAttr::get(
      context, dimAxes, ArrayAttr::get(context, {}), ReduceKind::Sum));
}

SmallVector<StringAttr> stg::collectDimensionNames(Operation *root) {
  DenseSet<Type> types;
  DenseSet<StringAttr> seen;
  SmallVector<StringAttr> names;
  auto collect = [&](Value value) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (!type || !types.insert(type).second)
      return;
    for (DimAttr dim : type.getDims())
      for (StringAttr name : dim.getNames())
        if (seen.insert(name).second)
          names.push_back(name);
  };
  root->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), collect);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), collect);
  });
  llvm::sort(names, [](StringAttr lhs, StringAttr rhs) {
    return lhs.getValue() < rhs.getValue();
  });
  return names;
}

/// True for the gradient of a parameter, which iterations of a loop add up.
static bool addsToParameter(const CarriedValue &carried) {
  return llvm::any_of(getSummands(carried),
                      [](Operation *op) { return isa<AccumulateOp>(op); });
}

void stg::forEachRuledValue(Operation *root,
                            function_ref<void(Value, RuleScope)> visit) {
  root->walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op))
      visit(param, RuleScope::Param);
    SmallVector<CarriedValue> carried = getCarriedValues(op);
    // Gradients of parameters are sharded as these are.
    llvm::erase_if(carried, addsToParameter);
    for (const CarriedValue &value : carried)
      visit(value.arg, RuleScope::Stream);
    for (const CarriedValue &value : carried)
      visit(value.result, RuleScope::Stream);
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && !function.isExternal())
      for (Value arg : function.getArguments())
        if (isa<SymTensorType>(arg.getType()))
          visit(arg, RuleScope::Input);
  });
}

StringRef stg::describeScope(RuleScope scope) {
  switch (scope) {
  case RuleScope::All:
    return "parameter, argument or carried value";
  case RuleScope::Param:
    return "parameter";
  case RuleScope::Input:
    return "argument";
  case RuleScope::Stream:
    return "carried value";
  }
  llvm_unreachable("unknown scope");
}

LogicalResult
stg::forEachProgram(ModuleOp module,
                    function_ref<LogicalResult(func::FuncOp, MeshOp)> run) {
  if (!MeshOp::lookup(module))
    return module.emitError(
        "the module has no mesh; run --stg-parallelize first or declare "
        "one with 'stg.mesh'");
  auto functions = module.getOps<func::FuncOp>();
  bool areNamed = llvm::any_of(functions, [](func::FuncOp function) {
    return getProgramAttr(function) != nullptr;
  });
  for (auto function : functions) {
    if (function.isExternal())
      continue;
    if (areNamed && !getProgramAttr(function))
      return function.emitOpError(
          "names no mesh, but others of the module do; run --stg-parallelize "
          "for its program, and --inline for blocks that programs share");
    if (failed(run(function, MeshOp::lookup(function))))
      return failure();
  }
  return success();
}

void stg::updateFunctionType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

SmallVector<AxisNames> stg::getFactorAxes(ShardableOpInterface op,
                                          const ShardingRule &rule) {
  SmallVector<AxisNames> axes(rule.factors.size());
  FactorsAttr factors = op.getFactorsAttr();
  if (!factors)
    return axes;
  for (auto [index, factor] : llvm::enumerate(rule.factors))
    if (ArrayAttr names = factors.lookup(factor.name))
      llvm::append_range(axes[index], names.getAsRange<StringAttr>());
  return axes;
}

FailureOr<unsigned> stg::findFactor(Operation *op, const ShardingRule &rule,
                                    StringAttr name) {
  if (std::optional<unsigned> factor = rule.getFactor(name))
    return *factor;
  SmallVector<StringRef> names;
  for (const ShardingFactor &known : rule.factors)
    names.push_back(known.name);
  return op->emitOpError("has no factor '")
         << name.getValue() << "'; its factors are " << llvm::join(names, ", ");
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
