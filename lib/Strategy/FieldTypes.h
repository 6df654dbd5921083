//===- FieldTypes.h - How values of each type are read and written -*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One `FieldType` for each type of a member of `Strategy`: its kind in JSON,
// and how a text, a JSON value and a value of the type become each other. An
// error says what was expected; who calls says where.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_STRATEGY_FIELDTYPES_H
#define STG_LIB_STRATEGY_FIELDTYPES_H

#include "stg/Strategy/Field.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace stg {

/// "expected " and what the field takes.
llvm::Error expected(const Field &field);

/// An integer in the range of the field.
llvm::Expected<int64_t> parseInteger(const Field &field, llvm::StringRef text);
llvm::Expected<int64_t> readInteger(const Field &field,
                                    const llvm::json::Value &value);
llvm::Expected<unsigned> parseWord(const Field &field, llvm::StringRef text);
llvm::Expected<Loads> parseLoads(llvm::StringRef text);
/// A list, or the path of a .jsonl or .json file.
llvm::Expected<Requests> parseRequests(llvm::StringRef text);
llvm::Expected<Loads> readLoads(const llvm::json::Value &value);
llvm::Expected<ScheduleName> parseScheduleName(const Field &field,
                                               llvm::StringRef text);
llvm::json::Value writeScheduleName(const ScheduleName &name);
llvm::Expected<PresetName> readPresetName(const Field &field,
                                          const llvm::json::Value &value);
llvm::json::Value writePresetName(const PresetName &preset);

template <typename T, typename = void> struct FieldType;

template <> struct FieldType<bool> {
  static constexpr Field::Kind kind = Field::Kind::Bool;

  static llvm::Expected<bool> parse(const Field &field, llvm::StringRef text) {
    if (text.empty() || text == "true")
      return true;
    if (text == "false")
      return false;
    return expected(field);
  }
  static llvm::Expected<bool> read(const Field &field,
                                   const llvm::json::Value &value) {
    if (std::optional<bool> boolean = value.getAsBoolean())
      return *boolean;
    return expected(field);
  }
  static std::string print(bool value) { return value ? "true" : "false"; }
  static llvm::json::Value write(bool value) { return value; }
};

template <> struct FieldType<int64_t> {
  static constexpr Field::Kind kind = Field::Kind::Integer;

  static llvm::Expected<int64_t> parse(const Field &field,
                                       llvm::StringRef text) {
    return parseInteger(field, text);
  }
  static llvm::Expected<int64_t> read(const Field &field,
                                      const llvm::json::Value &value) {
    return readInteger(field, value);
  }
  static std::string print(int64_t value) { return std::to_string(value); }
  static llvm::json::Value write(int64_t value) { return value; }
};

template <> struct FieldType<Degree> {
  static constexpr Field::Kind kind = Field::Kind::Integer;

  static llvm::Expected<Degree> parse(const Field &field, llvm::StringRef text);
  static llvm::Expected<Degree> read(const Field &field,
                                     const llvm::json::Value &value) {
    llvm::Expected<int64_t> number = readInteger(field, value);
    if (!number)
      return number.takeError();
    return Degree(*number);
  }
  static std::string print(const Degree &value) {
    return value.isSet() ? value.str() : "";
  }
  static llvm::json::Value write(const Degree &value) { return value.number; }
};

template <typename Enum>
struct FieldType<Enum, std::enable_if_t<std::is_enum_v<Enum> &&
                                        !std::is_same_v<Enum, ZeroLevel>>> {
  static constexpr Field::Kind kind = Field::Kind::Word;

  static llvm::Expected<Enum> parse(const Field &field, llvm::StringRef text) {
    llvm::Expected<unsigned> index = parseWord(field, text);
    if (!index)
      return index.takeError();
    return static_cast<Enum>(*index);
  }
  static llvm::Expected<Enum> read(const Field &field,
                                   const llvm::json::Value &value) {
    std::optional<llvm::StringRef> text = value.getAsString();
    return text ? parse(field, *text) : expected(field);
  }
  static std::string print(Enum value) { return stringify(value).str(); }
  static llvm::json::Value write(Enum value) { return stringify(value); }
};

/// Spelled as numbers, they are numbers in JSON.
template <> struct FieldType<ZeroLevel> {
  static constexpr Field::Kind kind = Field::Kind::Integer;

  static llvm::Expected<ZeroLevel> parse(const Field &field,
                                         llvm::StringRef text) {
    llvm::Expected<unsigned> index = parseWord(field, text);
    if (!index)
      return index.takeError();
    return static_cast<ZeroLevel>(*index);
  }
  static llvm::Expected<ZeroLevel> read(const Field &field,
                                        const llvm::json::Value &value) {
    std::optional<int64_t> number = value.getAsInteger();
    return number ? parse(field, std::to_string(*number)) : expected(field);
  }
  static std::string print(ZeroLevel value) { return stringify(value).str(); }
  static llvm::json::Value write(ZeroLevel value) {
    return static_cast<int64_t>(value);
  }
};

template <typename T> struct FieldType<std::optional<T>> {
  static constexpr Field::Kind kind = FieldType<T>::kind;

  static llvm::Expected<std::optional<T>> wrap(llvm::Expected<T> value) {
    if (!value)
      return value.takeError();
    return std::optional<T>(std::move(*value));
  }
  static llvm::Expected<std::optional<T>> parse(const Field &field,
                                                llvm::StringRef text) {
    return wrap(FieldType<T>::parse(field, text));
  }
  static llvm::Expected<std::optional<T>> read(const Field &field,
                                               const llvm::json::Value &value) {
    return wrap(FieldType<T>::read(field, value));
  }
  static std::string print(const std::optional<T> &value) {
    return value ? FieldType<T>::print(*value) : "";
  }
  static llvm::json::Value write(const std::optional<T> &value) {
    return FieldType<T>::write(*value);
  }
};

template <> struct FieldType<std::string> {
  static constexpr Field::Kind kind = Field::Kind::Text;

  static llvm::Expected<std::string> parse(const Field &,
                                           llvm::StringRef text) {
    return text.str();
  }
  static llvm::Expected<std::string> read(const Field &field,
                                          const llvm::json::Value &value) {
    if (std::optional<llvm::StringRef> text = value.getAsString())
      return text->str();
    return expected(field);
  }
  static std::string print(const std::string &value) { return value; }
  static llvm::json::Value write(const std::string &value) { return value; }
};

template <typename T> struct FieldType<std::vector<T>> {
  static constexpr Field::Kind kind =
      std::is_same_v<T, int64_t> ? Field::Kind::Integers : Field::Kind::Texts;

  /// A text that is nothing names nothing, and is not there when it is printed.
  static bool isEmpty(const T &element) {
    if constexpr (std::is_same_v<T, std::string>)
      return element.empty();
    return false;
  }
  static llvm::Expected<std::vector<T>> parse(const Field &field,
                                              llvm::StringRef text) {
    std::vector<T> list;
    // As it prints: `--weight-keep=` keeps nothing.
    if (std::is_same_v<T, std::string> && text.empty())
      return list;
    for (llvm::StringRef word : llvm::split(text, ',')) {
      llvm::Expected<T> element = FieldType<T>::parse(field, word);
      if (!element)
        return element.takeError();
      if (isEmpty(*element))
        return expected(field);
      list.push_back(*element);
    }
    return list;
  }
  static llvm::Expected<std::vector<T>> read(const Field &field,
                                             const llvm::json::Value &value) {
    const llvm::json::Array *array = value.getAsArray();
    if (!array)
      return expected(field);
    std::vector<T> list;
    for (const llvm::json::Value &entry : *array) {
      llvm::Expected<T> element = FieldType<T>::read(field, entry);
      if (!element)
        return element.takeError();
      if (isEmpty(*element))
        return expected(field);
      list.push_back(*element);
    }
    return list;
  }
  static std::string print(const std::vector<T> &list) {
    std::string text;
    for (const T &element : list)
      text += (text.empty() ? "" : ",") + FieldType<T>::print(element);
    return text;
  }
  static llvm::json::Value write(const std::vector<T> &list) {
    return llvm::json::Array(list);
  }
};

/// The positions among the values of the field that a list of words names;
/// `all`, the empty word and `none` stand alone.
std::optional<std::vector<unsigned>>
parseWordSet(llvm::ArrayRef<NamedValue> known,
             llvm::ArrayRef<llvm::StringRef> words);
/// The words of a JSON list.
llvm::Expected<std::vector<unsigned>>
readWordSet(const Field &field, const llvm::json::Value &value);

template <typename Enum> struct FieldType<std::set<Enum>> {
  static constexpr Field::Kind kind = Field::Kind::Words;
  using Set = std::set<Enum>;

  static Set make(const std::vector<unsigned> &positions) {
    Set set;
    for (unsigned position : positions)
      set.insert(static_cast<Enum>(position));
    return set;
  }
  static llvm::Expected<Set> parse(const Field &field, llvm::StringRef text) {
    auto words = llvm::to_vector(llvm::split(text, ','));
    auto positions = parseWordSet(getNamedValues<Enum>(), words);
    return positions ? llvm::Expected<Set>(make(*positions)) : expected(field);
  }
  static llvm::Expected<Set> read(const Field &field,
                                  const llvm::json::Value &value) {
    llvm::Expected<std::vector<unsigned>> positions = readWordSet(field, value);
    if (!positions)
      return positions.takeError();
    return make(*positions);
  }
  static std::string print(const Set &set) {
    std::string text;
    for (Enum entry : set)
      text += (text.empty() ? "" : ",") + stringify(entry).str();
    return text.empty() ? "none" : text;
  }
  static llvm::json::Value write(const Set &set) {
    llvm::json::Array names;
    for (Enum entry : set)
      names.push_back(stringify(entry));
    return names;
  }
};

template <> struct FieldType<Symbols> {
  static constexpr Field::Kind kind = Field::Kind::Object;

  static llvm::Expected<Symbols> parse(const Field &field,
                                       llvm::StringRef text);
  static llvm::Expected<Symbols> read(const Field &field,
                                      const llvm::json::Value &value);
  static std::string print(const Symbols &symbols);
  static llvm::json::Value write(const Symbols &symbols);
};

/// `rank=16,targets=q_proj:v_proj`, in JSON a list of these words.
template <> struct FieldType<Adapters> {
  static constexpr Field::Kind kind = Field::Kind::Texts;

  static llvm::Expected<Adapters> parse(const Field &field,
                                        llvm::StringRef text);
  static llvm::Expected<Adapters> read(const Field &field,
                                       const llvm::json::Value &value) {
    llvm::Expected<Strings> words = FieldType<Strings>::read(field, value);
    if (!words)
      return words.takeError();
    if (words->empty())
      return Adapters();
    return parse(field, llvm::join(*words, ","));
  }
  static std::string print(const Adapters &adapters) {
    return llvm::join(adapters.getWords(), ",");
  }
  static llvm::json::Value write(const Adapters &adapters) {
    return llvm::json::Array(adapters.getWords());
  }
};

template <> struct FieldType<Loads> {
  static constexpr Field::Kind kind = Field::Kind::Loads;

  static llvm::Expected<Loads> parse(const Field &, llvm::StringRef text) {
    return parseLoads(text);
  }
  static llvm::Expected<Loads> read(const Field &,
                                    const llvm::json::Value &value) {
    return readLoads(value);
  }
  static std::string print(const Loads &loads) {
    return FieldType<Integers>::print(loads.values);
  }
  static llvm::json::Value write(const Loads &loads) {
    return llvm::json::Array(loads.values);
  }
};

template <> struct FieldType<Requests> {
  static constexpr Field::Kind kind = Field::Kind::Requests;

  static llvm::Expected<Requests> parse(const Field &, llvm::StringRef text) {
    return parseRequests(text);
  }
  static llvm::Expected<Requests> read(const Field &field,
                                       const llvm::json::Value &value);
  static std::string print(const Requests &requests) { return requests.str(); }
  static llvm::json::Value write(const Requests &requests) {
    return writeRequests(requests);
  }
};

template <> struct FieldType<ScheduleName> {
  static constexpr Field::Kind kind = Field::Kind::Schedule;

  static llvm::Expected<ScheduleName> parse(const Field &field,
                                            llvm::StringRef text) {
    return parseScheduleName(field, text);
  }
  static llvm::Expected<ScheduleName> read(const Field &field,
                                           const llvm::json::Value &value);
  static std::string print(const ScheduleName &name) { return name.text; }
  static llvm::json::Value write(const ScheduleName &name) {
    return writeScheduleName(name);
  }
};

template <> struct FieldType<PresetName> {
  static constexpr Field::Kind kind = Field::Kind::Preset;

  static llvm::Expected<PresetName> parse(const Field &, llvm::StringRef text) {
    PresetName preset(text.starts_with("{") ? "" : text);
    if (preset.name.empty())
      preset.text = text.str();
    return preset;
  }
  static llvm::Expected<PresetName> read(const Field &field,
                                         const llvm::json::Value &value) {
    return readPresetName(field, value);
  }
  static std::string print(const PresetName &preset) { return preset.str(); }
  static llvm::json::Value write(const PresetName &preset) {
    return writePresetName(preset);
  }
};

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Puts a value in its place; lists that a flag gives again add up.
template <typename T>
llvm::Error assign(T &place, llvm::Expected<T> value, bool /*add*/) {
  if (!value)
    return value.takeError();
  place = std::move(*value);
  return llvm::Error::success();
}
template <typename T>
llvm::Error assign(std::vector<T> &place, llvm::Expected<std::vector<T>> value,
                   bool add) {
  if (!value)
    return value.takeError();
  if (!add)
    place.clear();
  llvm::append_range(place, *value);
  return llvm::Error::success();
}
llvm::Error assign(Symbols &place, llvm::Expected<Symbols> value, bool add);

template <typename T>
constexpr bool isList =
    std::is_same_v<T, Integers> || std::is_same_v<T, Strings> ||
    std::is_same_v<T, Symbols>;
template <typename T>
constexpr bool mayBeUnset =
    std::is_same_v<T, Degree> || isList<T> || std::is_same_v<T, Loads> ||
    std::is_same_v<T, ScheduleName> || std::is_same_v<T, Requests> ||
    std::is_same_v<T, std::optional<Mode>> ||
    std::is_same_v<T, std::optional<int64_t>> ||
    std::is_same_v<T, std::optional<std::string>> ||
    std::is_same_v<T, std::optional<ElementType>> ||
    std::is_same_v<T, std::optional<ProductType>> ||
    std::is_same_v<T, std::optional<WeightFormat>>;

template <typename T> llvm::ArrayRef<NamedValue> getNamedValuesOf(T *) {
  if constexpr (std::is_enum_v<T>)
    return getNamedValues<T>();
  else
    return {};
}
template <typename T>
llvm::ArrayRef<NamedValue> getNamedValuesOf(std::set<T> *) {
  return getNamedValues<T>();
}
template <typename T>
llvm::ArrayRef<NamedValue> getNamedValuesOf(std::optional<T> *) {
  return getNamedValuesOf(static_cast<T *>(nullptr));
}

/// The field of a member.
template <typename T, T Strategy::*Member> Field makeField(FieldId id) {
  Field field = {};
  field.id = id;
  field.least = 1;
  field.most = kMostRanks;
  field.scopes = Field::Flags | Field::File | Field::Pipeline;
  field.values = getNamedValuesOf(static_cast<T *>(nullptr));
  field.kind = FieldType<T>::kind;
  field.isOptional = mayBeUnset<T>;
  field.isList = isList<T>;
  field.isDegree = std::is_same_v<T, Degree>;
  field.parse = [](const Field &field, llvm::StringRef text, bool add,
                   Strategy &strategy) {
    return assign(strategy.*Member, FieldType<T>::parse(field, text), add);
  };
  field.parseJSON = [](const Field &field, const llvm::json::Value &value,
                       Strategy &strategy) {
    return assign(strategy.*Member, FieldType<T>::read(field, value), false);
  };
  field.copy = [](const Strategy &from, Strategy &to) {
    to.*Member = from.*Member;
  };
  field.print = [](const Strategy &strategy) {
    return FieldType<T>::print(strategy.*Member);
  };
  field.toJSON = [](const Strategy &strategy) {
    return FieldType<T>::write(strategy.*Member);
  };
  return field;
}

} // namespace stg

#endif // STG_LIB_STRATEGY_FIELDTYPES_H
