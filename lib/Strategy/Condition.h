//===- Condition.h - Conditions over the fields of a strategy ---*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_STRATEGY_CONDITION_H
#define STG_LIB_STRATEGY_CONDITION_H

#include "stg/Strategy/StrategyInput.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace stg {

/// NAME, NAME=VALUE, NAME!=VALUE or NAME>INTEGER.
struct Term {
  enum Kind { IsSet, Equal, NotEqual, Above };

  const Field *field;
  Kind kind;
  llvm::StringRef value;

  /// True as well if the field is not known yet.
  bool holds(const StrategyInput &input) const;
};

/// Clauses that all hold, each a list of terms one of which holds.
struct Condition {
  llvm::SmallVector<llvm::SmallVector<Term, 3>, 2> clauses;

  /// Strategy.def is our own: what cannot be parsed is asserted.
  static Condition parse(llvm::StringRef text);
  bool holds(const StrategyInput &input) const;
};

} // namespace stg

#endif // STG_LIB_STRATEGY_CONDITION_H
