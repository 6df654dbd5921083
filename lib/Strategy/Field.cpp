//===- Field.cpp - The table of fields ------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/Field.h"
#include "Condition.h"
#include "FieldTypes.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace stg;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

#define STG_ENUM(Type)                                                         \
  template <> ArrayRef<NamedValue> stg::getNamedValues<Type>() {               \
    static constexpr NamedValue values[] = {
#define STG_VALUE(Type, Id, Name, Meaning) {Name, Meaning},
#define STG_ENUM_END(Type)                                                     \
  }                                                                            \
  ;                                                                            \
  return values;                                                               \
  }
#include "stg/Strategy/StrategyEnums.def"

std::string stg::listNames(ArrayRef<NamedValue> values) {
  std::vector<std::string> names;
  for (const NamedValue &value : values)
    names.push_back(value.name);
  return joinWords(names, "or");
}

StringRef stg::getTitle(FieldGroup group) {
  static constexpr StringLiteral titles[] = {
#define STG_GROUP(Id, Title) Title,
#include "stg/Strategy/Strategy.def"
  };
  return titles[static_cast<size_t>(group)];
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static std::vector<Field> makeFields() {
  constexpr unsigned Flags = Field::Flags, File = Field::File;
  std::vector<Field> fields;
  fields.reserve(kNumFields);
  FieldGroup group = FieldGroup();
#define STG_GROUP(Id, Title) group = FieldGroup::Id;
#define STG_FIELD(Type, Member, Name, Default, Description)                    \
  {                                                                            \
    Field field = makeField<Type, &Strategy::Member>(FieldId::Member);         \
    field.group = group;                                                       \
    field.name = Name;                                                         \
    field.jsonName = Name;                                                     \
    llvm::replace(field.jsonName, '-', '_');                                   \
    fields.push_back(field.Description);                                       \
  }
#include "stg/Strategy/Strategy.def"
  (void)Flags, (void)File;
  return fields;
}

ArrayRef<Field> stg::getFields() {
  static const std::vector<Field> fields = makeFields();
  return fields;
}

const Field &stg::getField(FieldId id) {
  return getFields()[static_cast<size_t>(id)];
}

const Field *stg::findField(StringRef name) {
  static const StringMap<const Field *> byName = [] {
    StringMap<const Field *> map;
    for (const Field &field : getFields())
      map[field.name] = &field;
    return map;
  }();
  return byName.lookup(name);
}

const Field *stg::findFieldOf(StringRef degree) {
  for (const Field &field : getFields())
    if (field.jsonName == degree && field.scopes &&
        (field.isDegree || field.kind == Field::Kind::Bool))
      return &field;
  return nullptr;
}

ArrayRef<Conflict> stg::getConflicts() {
  static constexpr struct {
    StringLiteral first, second, reason;
  } table[] = {
#define STG_CONFLICT(First, Second, Reason) {First, Second, Reason},
#include "stg/Strategy/Strategy.def"
  };
  static const std::vector<Conflict> conflicts = [] {
    std::vector<Conflict> list;
    for (const auto &entry : table)
      list.push_back({entry.first, entry.second, entry.reason});
    return list;
  }();
  return conflicts;
}

//===----------------------------------------------------------------------===//
// What a field takes
//===----------------------------------------------------------------------===//

/// The names of schedules, and that a file does it, too.
static std::string listScheduleNames() {
  std::string text;
  for (const auto &[name, description] : listSchedules())
    text += name + ", ";
  return text + "or a .json file";
}

std::string Field::getExpectation() const {
  std::string integer = "an integer of at least " + std::to_string(least);
  switch (kind) {
  case Kind::Bool:
    return "true or false";
  case Kind::Integer:
    return values.empty() ? integer : listNames(values);
  case Kind::Word:
    return listNames(values);
  case Kind::Words:
    return "all, none, or any of " + listNames(values);
  case Kind::Integers:
    return "a list whose elements are " + integer;
  case Kind::Text:
    return "a text";
  case Kind::Texts:
    return "a list of texts that are not empty";
  case Kind::Object:
    return "NAME=VALUE with an integer or the value of an option";
  case Kind::Loads:
    return "numbers joined by ',' or a .json file with a list of them";
  case Kind::Requests:
    return "requests such as 64*(1,4095),(512,0) or a .jsonl file with one in "
           "each line";
  case Kind::Schedule:
    return listScheduleNames();
  case Kind::Preset:
    return "the name of a preset, a .json file, or what one contains";
  }
  llvm_unreachable("all kinds are above");
}

std::string Field::getValueName() const {
  if (!valueName.empty())
    return valueName.str();
  switch (kind) {
  case Kind::Bool:
    return "true|false";
  case Kind::Word:
    return values.size() > 4 ? "TYPE" : "VALUE";
  default:
    return values.empty() ? "N" : "VALUE";
  }
}

std::string Field::getHelp() const {
  std::string text = helpText.str();
  static const Strategy defaults;
  std::string value = print(defaults);
  if (!fallback.empty()) {
    auto [condition, choice] = fallback.split(" ? ");
    auto [first, second] = choice.split(" : ");
    text += " (default " + second.str() + "; " + first.str() + " with " +
            condition.str() + ")";
  } else if (!value.empty() && kind != Kind::Bool) {
    text += " (default " + value + ")";
  } else if (value == "true") {
    text += " (default true)";
  }
  // The words of the description: they hold for flags and options.
  if (!condition.empty() && !StringRef(condition).contains(name))
    text += "; needs " + condition.str();
  return text;
}
