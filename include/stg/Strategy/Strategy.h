//===- Strategy.h - How a step is distributed and executed ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy is what determines, together with a model, every byte that is
// written. Its fields are described once, in Strategy.def; this file has the
// struct and what can be asked of a field. StrategyInput.h reads strategies.
// Nothing here knows MLIR, so that flags, passes, files and other languages
// share it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_STRATEGY_H
#define STG_STRATEGY_STRATEGY_H

#include "stg/Strategy/Requests.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stg {

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// A value as it is spelled, and what it means.
struct NamedValue {
  const char *name, *meaning;
};

#define STG_ENUM(Type) enum class Type {
#define STG_VALUE(Type, Id, Name, Meaning) Id,
#define STG_ENUM_END(Type)                                                     \
  }                                                                            \
  ;
#include "stg/Strategy/StrategyEnums.def"

/// The values of an enumeration, in the order of the enumerators.
template <typename Enum> llvm::ArrayRef<NamedValue> getNamedValues();
#define STG_ENUM(Type)                                                         \
  template <> llvm::ArrayRef<NamedValue> getNamedValues<Type>();
#define STG_VALUE(Type, Id, Name, Meaning)
#define STG_ENUM_END(Type)
#include "stg/Strategy/StrategyEnums.def"

template <typename Enum> llvm::StringRef stringify(Enum value) {
  return getNamedValues<Enum>()[static_cast<size_t>(value)].name;
}

/// `executed or full`.
std::string listNames(llvm::ArrayRef<NamedValue> values);

//===----------------------------------------------------------------------===//
// Types of fields
//===----------------------------------------------------------------------===//

constexpr int64_t kUnlimited = INT64_MAX;
/// The symbols, and the dimensions, of sequences, of their tokens and of
/// experts.
constexpr llvm::StringLiteral kBatchDim = "B", kTokenDim = "S",
                              kExpertDim = "X";
/// More ranks than these cannot be numbered in a trace.
constexpr int64_t kMostRanks = INT32_MAX;
/// The draft model that is a module of the model itself.
constexpr llvm::StringLiteral kOwnDraft = "mtp";
/// More consecutive steps than these are in no run.
constexpr int64_t kMostSteps = int64_t(1) << 20;

/// An integer of at least 1, or, in pipelines only, a symbol of the program.
struct Degree {
  int64_t number = 0; ///< 0: a symbol, or nothing.
  std::string symbol;

  Degree() = default;
  Degree(int64_t number) : number(number) {}

  bool isSet() const { return number != 0 || !symbol.empty(); }
  bool isOne() const { return number == 1; }
  std::string str() const { return number ? std::to_string(number) : symbol; }
};

using Integers = std::vector<int64_t>;
using Strings = std::vector<std::string>;

/// What a symbol or an option of the model is set to.
struct Setting {
  int64_t number = 0; ///< Of a symbol; 0: the text is the value of an option.
  std::string text;

  Setting() = default;
  Setting(int64_t number) : number(number) {}
  Setting(std::string text) : text(std::move(text)) {}

  std::string str() const { return number ? std::to_string(number) : text; }
  bool operator==(const Setting &other) const {
    return number == other.number && text == other.text;
  }
};
using Symbols = std::map<std::string, Setting>;

/// Kinds of gathered values.
using GatherKinds = std::set<GatherKind>;
/// The kinds that a list names. `all`, the empty word and `none` stand alone.
std::optional<GatherKinds>
parseGatherKinds(llvm::ArrayRef<llvm::StringRef> words);

/// Parts of layers that backward replays.
using RecomputeModules = std::set<RecomputeModule>;
/// The modules that a list names; likewise.
std::optional<RecomputeModules>
parseRecomputeModules(llvm::ArrayRef<llvm::StringRef> words);

/// Kinds of buffers that are kept in the memory of the host.
using OffloadKinds = std::set<OffloadKind>;

/// Relative loads in lowest terms; empty: all are equal.
struct Loads {
  Integers values;
};

/// The loads of experts of which some have replicas, in the order in which so
/// many ranks have them. As DeepSeek's balancer does it, each replica is one of
/// the expert whose replicas are most loaded, and the most loaded ones are
/// dealt first, each to the rank with the least load that has room. If ranks do
/// not have equally many, they are in the order of experts.
Integers spreadLoads(const Integers &loads, int64_t replicas, int64_t ranks);

/// The name of a schedule, the path of a .json file, or the text of one; empty:
/// none was chosen.
struct ScheduleName {
  std::string text;
};

/// A preset: its name, the path of a .json file, or the text of one, which is
/// there once the file has been read. A file may change, the text does not.
struct PresetName {
  std::string name, text;

  explicit PresetName(llvm::StringRef name = "") : name(name) {}
  /// What finds it: the text, or else the name.
  const std::string &str() const { return text.empty() ? name : text; }
};

/// Low-rank adapters; a rank of 0: there are none.
struct Adapters {
  int64_t rank = 0;
  int64_t alpha = 0; ///< 0: the rank.
  Strings targets;

  bool isSet() const { return rank != 0; }
  /// `rank=16`, `alpha=32` and `targets=q_proj:v_proj`.
  Strings getWords() const;
};

//===----------------------------------------------------------------------===//
// The strategy
//===----------------------------------------------------------------------===//

struct Strategy {
#define STG_FIELD(Type, Member, Name, Default, Description)                    \
  Type Member = Default;
#include "stg/Strategy/Strategy.def"
};

enum class FieldId {
#define STG_FIELD(Type, Member, Name, Default, Description) Member,
#include "stg/Strategy/Strategy.def"
};

enum class FieldGroup {
#define STG_GROUP(Id, Title) Id,
#include "stg/Strategy/Strategy.def"
};
llvm::StringRef getTitle(FieldGroup group);

constexpr size_t kNumFields = 0
#define STG_FIELD(Type, Member, Name, Default, Description) +1
#include "stg/Strategy/Strategy.def"
    ;

} // namespace stg

#endif // STG_STRATEGY_STRATEGY_H
