//===- Value.h - Values of configurations, with places ------------ -*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_IMPORT_VALUE_H
#define STG_IMPORT_VALUE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace stg::importer {

/// Where something stands in a text; both count from 1.
struct Place {
  int64_t line = 1, column = 1;
};

struct Member;

/// What JSON and expressions over it can be: one type for both, so that what a
/// file says goes into an expression as it is.
struct Value {
  enum Kind : uint8_t { Null, Bool, Int, Real, Text, Symbol, List, Object };

  Kind kind = Null;
  bool flag = false;
  int64_t number = 0;
  double real = 0;
  /// Of a text or symbol; how a number is spelled.
  std::string text;
  std::vector<Value> list;
  std::vector<Member> members; ///< In the order of the file.
  Place place;                 ///< Of the value.

  static Value getBool(bool value);
  static Value getInt(int64_t value);
  static Value getText(llvm::StringRef value);
  static Value getSymbol(llvm::StringRef name);
  static Value getList(std::vector<Value> values);

  bool isNull() const { return kind == Null; }
  bool isTrue() const { return kind == Bool && flag; }
  /// The value of the member, or null if it is not there.
  const Value *find(llvm::StringRef key) const;
  bool operator==(const Value &other) const;
  bool operator!=(const Value &other) const { return !(*this == other); }

  /// As JSON writes it, short enough for a message.
  std::string str() const;
};

/// A member of an object.
struct Member {
  std::string key;
  Place place; ///< Of the key.
  Value value;
};

/// What is wrong with a text, and where.
struct Problem {
  Place place;
  std::string message;
};

/// Parses JSON as Python writes it: `NaN`, `Infinity` and `-Infinity` are
/// numbers. A key that an object has twice is a problem.
bool parseValue(llvm::StringRef text, Value &value, Problem &problem);

} // namespace stg::importer

#endif // STG_IMPORT_VALUE_H
