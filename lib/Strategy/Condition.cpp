//===- Condition.cpp - Conditions over the fields of a strategy -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Condition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stg;

static Term parseTerm(StringRef text) {
  Term term = {nullptr, Term::IsSet, ""};
  StringRef name = text.trim();
  size_t at = name.find_first_of("=!>");
  if (at != StringRef::npos) {
    StringRef rest = name.substr(at);
    term.kind = rest[0] == '='   ? Term::Equal
                : rest[0] == '!' ? Term::NotEqual
                                 : Term::Above;
    term.value = rest.drop_front(term.kind == Term::NotEqual ? 2 : 1);
    name = name.take_front(at);
  }
  term.field = findField(name);
  assert(term.field && "conditions name fields");
  return term;
}

Condition Condition::parse(StringRef text) {
  Condition condition;
  if (text.empty())
    return condition;
  for (StringRef clause : split(text, '&')) {
    condition.clauses.emplace_back();
    for (StringRef term : split(clause, '|'))
      condition.clauses.back().push_back(parseTerm(term));
  }
  return condition;
}

bool Term::holds(const StrategyInput &input) const {
  // What follows from the model is not known before the model is.
  if (!(field->scopes & (Field::Flags | Field::File)) &&
      !input.isGiven(field->id))
    return true;
  std::string text = field->print(input.values);
  int64_t number = 0, limit = 0;
  switch (kind) {
  case IsSet:
    return !text.empty() && text != "false";
  case Equal:
    // One of several words.
    if (field->kind == Field::Kind::Words)
      return is_contained(split(text, ','), value);
    return text == value;
  case NotEqual:
    return text != value;
  case Above:
    // A symbol stands for any number.
    return StringRef(text).getAsInteger(10, number) ||
           value.getAsInteger(10, limit) || number > limit;
  }
  llvm_unreachable("all kinds are above");
}

bool Condition::holds(const StrategyInput &input) const {
  return all_of(clauses, [&](const auto &clause) {
    return any_of(clause, [&](const Term &term) { return term.holds(input); });
  });
}
