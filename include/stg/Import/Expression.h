//===- Expression.h - What tables of families say of keys --------- -*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expressions of a family's table. They compute with the values of a
// configuration and with each other:
//
//   head_dim ?? hidden_size / num_attention_heads
//   if layer < first_k_dense_replace then 'dense' else 'experts'
//
// Names are keys or definitions; `'...'` is a text, `@X` a symbol of the model.
// `/` must be exact, `div` and `mod` round down. `a ?? b` is b where a is null.
// Arithmetic with null is null.
//
//===----------------------------------------------------------------------===//

#ifndef STG_IMPORT_EXPRESSION_H
#define STG_IMPORT_EXPRESSION_H

#include "stg/Import/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>

namespace stg::importer {

/// A parsed expression; parts are shared and not changed.
struct Expression {
  /// Operators have their spelling as `text`; calls the name of the function.
  enum Kind : uint8_t { Constant, Name, Operator, Call, If, List };

  Kind kind = Constant;
  Value value;
  std::string text;
  std::vector<Expression> operands;

  /// Calls `visit` for each name in it.
  void walkNames(llvm::function_ref<void(llvm::StringRef)> visit) const;
};

/// A value of the program: `x`, or `x[layer + 1]`, one of many.
struct Variable {
  std::string name;
  std::optional<Expression> number;
};

/// `RESULT = CALLEE(ARGUMENTS) {ENTRIES} if CONDITION`, or `RESULT = ARGUMENT`,
/// which is another name of a value and has no callee.
struct Statement {
  struct Entry {
    std::string name;
    bool isDimension = false; ///< `K as @H`.
    Expression value;
  };

  std::vector<Variable> results;
  std::string callee;
  /// `CALLEE<'scope'>(...)`, or `CALLEE<join('layer', n)>(...)`.
  std::optional<Expression> scope;
  std::vector<Variable> arguments;
  std::vector<Entry> entries;
  std::optional<Expression> condition;
};

/// What is wrong with an expression: where it stops making sense.
llvm::Expected<Expression> parseExpression(llvm::StringRef text);
llvm::Expected<Statement> parseStatement(llvm::StringRef text);

/// Where names get values. A result of false is an error that has been told.
using Lookup = llvm::function_ref<bool(llvm::StringRef name, Value &value)>;
/// Tells what cannot be computed, with the part that cannot.
using Complaint =
    llvm::function_ref<void(const Expression &part, const llvm::Twine &text)>;

bool evaluate(const Expression &expression, Lookup lookup, Complaint complain,
              Value &value);

} // namespace stg::importer

#endif // STG_IMPORT_EXPRESSION_H
