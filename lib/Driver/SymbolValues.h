//===- SymbolValues.h - The numbers of a model ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_SYMBOLVALUES_H
#define STG_LIB_DRIVER_SYMBOLVALUES_H

#include "ModelLibrary.h"
#include <map>

namespace stg {

/// Which flag gave a symbol its value, for messages: "--batch 64".
struct SymbolValue {
  int64_t value;
  std::string source;
};
using SymbolValues = std::map<std::string, SymbolValue>;

/// The symbol, and the dimension, of a vocabulary.
constexpr llvm::StringLiteral kVocabularyDim = "V";

/// Gives the options of the model values, from its configuration and the
/// strategy. The error says what is wrong or which option has no value.
llvm::Error setOptions(const Model &model, const StrategyInput &strategy);

/// Values of all symbols of the model, from its configuration and the strategy.
/// The error says what is wrong or which symbol has no value.
llvm::Expected<SymbolValues> collectSymbols(const Model &model,
                                            const StrategyInput &strategy);

/// Adds the symbols that the module declares with a value, which may depend on
/// others. The error says which one is no integer of at least 1.
llvm::Error setDefinedSymbols(mlir::ModuleOp module, SymbolValues &values);

/// The value of an expression of the model's symbols; none if an extent does
/// not divide, or if a symbol of it has no value.
std::optional<Exact> evaluate(SymExpr expr, const SymbolValues &symbols);

/// True if all symbols have values, and that of the expression is no integer.
bool isFraction(SymExpr expr, const SymbolValues &symbols);

/// What divides `number` and is possible otherwise, the smallest first: twelve
/// at most, for messages.
std::string listDivisors(
    int64_t number, llvm::function_ref<bool(int64_t)> isPossible = [](int64_t) {
      return true;
    });

} // namespace stg

#endif // STG_LIB_DRIVER_SYMBOLVALUES_H
