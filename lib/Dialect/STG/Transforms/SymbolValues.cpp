//===- SymbolValues.cpp - Values of symbols before binding ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of the values of symbols before they are bound.
//
//===----------------------------------------------------------------------===//

#include "SymbolValues.h"

using namespace mlir;
using namespace stg;

FailureOr<SymBinding> stg::collectSymbolValues(ModuleOp module,
                                               StringRef config,
                                               ArrayRef<std::string> values) {
  MLIRContext *context = module.getContext();
  SymBinding binding;
  if (auto op = module.lookupSymbol<ConfigOp>(config))
    for (NamedAttribute entry : op.getBindings())
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        binding[entry.getName()] = SymExpr::get(context, value.getInt());
  for (StringRef assignment : values) {
    auto [name, text] = assignment.split('=');
    if (!module.lookupSymbol<SymbolOp>(name.trim()))
      continue;
    llvm::Expected<SymExpr> value = SymExpr::parse(context, text);
    if (!value)
      return module.emitError("cannot bind '")
             << assignment << "': " << llvm::toString(value.takeError());
    binding[StringAttr::get(context, name.trim())] = *value;
  }
  for (auto symbol : module.getOps<SymbolOp>())
    if (symbol.getValue())
      binding.try_emplace(symbol.getSymNameAttr(), *symbol.getValue());
  return binding;
}

std::optional<int64_t> stg::evaluate(SymExpr expr, const SymBinding &binding) {
  // A default may be an expression of symbols that have values.
  for (unsigned round = 0; round < 8 && expr && !expr.isConstant(); ++round)
    expr = expr.substitute(binding);
  return expr ? expr.getInt64() : std::nullopt;
}
