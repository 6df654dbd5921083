//===- Field.h - What can be asked of a field of a strategy -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reflection of `Strategy`: a table with a `Field` for each member. All
// that reads, writes or explains strategies is a loop over it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_FIELD_H
#define STG_STRATEGY_FIELD_H

#include "stg/Strategy/Strategy.h"
#include "stg/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace stg {

class Field {
public:
  /// Where a field can be given.
  enum Scope : unsigned { Flags = 1, File = 2, Pipeline = 4 };

  /// What JSON has for it.
  enum class Kind {
    Bool,
    Integer,
    Word,
    Words,
    Text,
    Integers,
    Texts,
    Object,
    Loads,
    Requests,
    Schedule,
    Preset
  };

  //===--------------------------------------------------------------------===//
  // What is described
  //===--------------------------------------------------------------------===//

  FieldId id;
  FieldGroup group;
  llvm::StringRef name; ///< As a flag: "cp-comm-type".
  std::string jsonName; ///< "cp_comm_type".
  llvm::StringRef helpText, valueName, condition, fallback, symbolName, knownAs;
  int64_t least = 1, most = kMostRanks;
  llvm::ArrayRef<NamedValue> values; ///< All there are, or empty.
  unsigned scopes = Flags | File | Pipeline;
  bool needsValue = false; ///< Words: the flag alone does not mean all.

  //===--------------------------------------------------------------------===//
  // What its type says
  //===--------------------------------------------------------------------===//

  Kind kind;
  bool isOptional = false; ///< There may be no value.
  bool isDegree = false;   ///< Of type `Degree`.
  /// What is given more than once as a flag adds up.
  bool isList = false;
  /// Reads a text into the strategy. Adds to a list that has been given. The
  /// error says what was expected.
  llvm::Error (*parse)(const Field &field, llvm::StringRef text, bool add,
                       Strategy &strategy);
  llvm::Error (*parseJSON)(const Field &field, const llvm::json::Value &value,
                           Strategy &strategy);
  void (*copy)(const Strategy &from, Strategy &to);
  /// The text that `parse` reads; empty if there is no value.
  std::string (*print)(const Strategy &strategy);
  llvm::json::Value (*toJSON)(const Strategy &strategy);

  //===--------------------------------------------------------------------===//
  // For Strategy.def
  //===--------------------------------------------------------------------===//

  Field &help(llvm::StringRef text) { return helpText = text, *this; }
  Field &value(llvm::StringRef text) { return valueName = text, *this; }
  Field &range(int64_t low, int64_t high) {
    return least = low, most = high, *this;
  }
  Field &needs(llvm::StringRef text) { return condition = text, *this; }
  Field &otherwise(llvm::StringRef text) { return fallback = text, *this; }
  Field &symbol(llvm::StringRef text) { return symbolName = text, *this; }
  Field &known(llvm::StringRef text) { return knownAs = text, *this; }
  Field &withValue() { return needsValue = true, *this; }
  Field &only(unsigned where) { return scopes = where, *this; }

  /// What a value looks like: "an integer of at least 1", "executed or full".
  std::string getExpectation() const;
  /// For `-h`: the value, and the default after the text.
  std::string getValueName() const;
  std::string getHelp() const;
};

/// All of them, in the order of Strategy.def.
llvm::ArrayRef<Field> getFields();
const Field &getField(FieldId id);
/// By the name of the flag; null if there is none.
const Field *findField(llvm::StringRef name);
/// The field that gives the degree, or the option, of a preset a value; null if
/// there is none.
const Field *findFieldOf(llvm::StringRef degree);

/// What cannot be together, as conditions of fields.
struct Conflict {
  llvm::StringRef first, second, reason;
};
llvm::ArrayRef<Conflict> getConflicts();

} // namespace stg

#endif // STG_STRATEGY_FIELD_H
