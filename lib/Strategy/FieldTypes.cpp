//===- FieldTypes.cpp - How values of each type are read and written ------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FieldTypes.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Support/Files.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace stg;

Error stg::expected(const Field &field) {
  return makeError("expected " + field.getExpectation());
}

//===----------------------------------------------------------------------===//
// Integers and words
//===----------------------------------------------------------------------===//

static Error tooLarge(const Field &field) {
  return makeError("expected an integer of at most " + Twine(field.most));
}

static Expected<int64_t> checkRange(const Field &field, int64_t number) {
  if (number < field.least)
    return expected(field);
  if (number > field.most)
    return tooLarge(field);
  return number;
}

Expected<int64_t> stg::parseInteger(const Field &field, StringRef text) {
  int64_t number = 0;
  if (!text.getAsInteger(10, number))
    return checkRange(field, number);
  // Digits that are no number of 64 bits.
  if (!text.empty() && all_of(text, isDigit))
    return tooLarge(field);
  return expected(field);
}

Expected<int64_t> stg::readInteger(const Field &field,
                                   const json::Value &value) {
  if (std::optional<int64_t> number = value.getAsInteger())
    return checkRange(field, *number);
  if (std::optional<uint64_t> number = value.getAsUINT64())
    return tooLarge(field);
  return expected(field);
}

/// Element types as PyTorch and engines spell them, in MLIR's words.
static StringRef translateType(StringRef text) {
  return StringSwitch<StringRef>(text)
      .Cases({"bfloat16", "torch.bfloat16"}, "bf16")
      .Cases({"fp16", "float16", "half", "torch.float16"}, "f16")
      .Cases({"fp32", "float32", "float", "torch.float32"}, "f32")
      .Cases({"fp8", "fp8_e4m3", "float8_e4m3fn"}, "f8E4M3FN")
      .Cases({"fp8_e5m2", "float8_e5m2"}, "f8E5M2")
      .Default(text);
}

Expected<unsigned> stg::parseWord(const Field &field, StringRef text) {
  // What is a word of the field itself, `fp8` of weights, means that.
  for (StringRef word : {text, translateType(text)})
    for (auto [i, value] : enumerate(field.values))
      if (word == value.name)
        return static_cast<unsigned>(i);
  return expected(field);
}

Expected<Degree> FieldType<Degree>::parse(const Field &field, StringRef text) {
  bool isSymbol = !text.empty() && (isAlpha(text[0]) || text[0] == '_') &&
                  all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
  if (isSymbol) {
    Degree degree;
    degree.symbol = text.str();
    return degree;
  }
  Expected<int64_t> number = parseInteger(field, text);
  if (!number)
    return number.takeError();
  return Degree(*number);
}

//===----------------------------------------------------------------------===//
// Adapters
//===----------------------------------------------------------------------===//

Strings Adapters::getWords() const {
  Strings words;
  if (!isSet())
    return words;
  words.push_back("rank=" + std::to_string(rank));
  if (alpha)
    words.push_back("alpha=" + std::to_string(alpha));
  words.push_back("targets=" + join(targets, ":"));
  return words;
}

Expected<Adapters> FieldType<Adapters>::parse(const Field &field,
                                              StringRef text) {
  Adapters adapters;
  StringSet<> seen;
  for (StringRef word : split(text, ',')) {
    auto [name, value] = word.split('=');
    if (!seen.insert(name).second)
      return makeError("expected each of rank, targets and alpha once, "
                       "found '" +
                       word + "' again");
    int64_t *number = name == "rank"    ? &adapters.rank
                      : name == "alpha" ? &adapters.alpha
                                        : nullptr;
    if (number) {
      if (value.getAsInteger(10, *number) || *number < 1)
        return makeError("expected " + name +
                         " to be an integer of at least 1, found '" + value +
                         "'");
      continue;
    }
    if (name != "targets" || value.empty())
      return makeError("expected rank=N,targets=NAME:NAME[,alpha=N], "
                       "found '" +
                       word + "'");
    for (StringRef target : split(value, ':'))
      adapters.targets.push_back(target.str());
  }
  if (!adapters.isSet() || adapters.targets.empty())
    return makeError(Twine("expected ") + (adapters.isSet()
                                               ? "targets, such as "
                                                 "targets=q_proj:v_proj"
                                               : "a rank, such as rank=16"));
  return adapters;
}

//===----------------------------------------------------------------------===//
// Sets of words
//===----------------------------------------------------------------------===//

std::optional<std::vector<unsigned>>
stg::parseWordSet(ArrayRef<NamedValue> known, ArrayRef<StringRef> words) {
  std::vector<unsigned> positions;
  if (words.size() == 1 && words[0] == "none")
    return positions;
  bool isAll = words.size() == 1 && (words[0] == "all" || words[0].empty());
  for (auto [i, value] : enumerate(known))
    if (isAll || is_contained(words, StringRef(value.name)))
      positions.push_back(i);
  for (StringRef word : words)
    if (!isAll && none_of(known, [&](const NamedValue &value) {
          return word == value.name;
        }))
      return std::nullopt;
  return positions;
}

Expected<std::vector<unsigned>> stg::readWordSet(const Field &field,
                                                 const json::Value &value) {
  const json::Array *array = value.getAsArray();
  SmallVector<StringRef> words;
  if (array)
    for (const json::Value &entry : *array)
      words.push_back(entry.getAsString().value_or(""));
  if (array && words.empty())
    return std::vector<unsigned>();
  std::optional<std::vector<unsigned>> positions =
      parseWordSet(field.values, words);
  if (!positions || is_contained(words, ""))
    return expected(field);
  return *positions;
}

std::optional<GatherKinds> stg::parseGatherKinds(ArrayRef<StringRef> words) {
  auto positions = parseWordSet(getNamedValues<GatherKind>(), words);
  return positions ? std::optional(FieldType<GatherKinds>::make(*positions))
                   : std::nullopt;
}

std::optional<RecomputeModules>
stg::parseRecomputeModules(ArrayRef<StringRef> words) {
  auto positions = parseWordSet(getNamedValues<RecomputeModule>(), words);
  return positions
             ? std::optional(FieldType<RecomputeModules>::make(*positions))
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Expected<Symbols> FieldType<Symbols>::parse(const Field &field,
                                            StringRef text) {
  auto [name, value] = text.split('=');
  int64_t number = 0;
  if (name.empty() || value.empty())
    return expected(field);
  if (value.getAsInteger(10, number))
    return Symbols{{name.str(), value.str()}};
  if (number < 1)
    return makeError("expected an integer of at least 1");
  return Symbols{{name.str(), number}};
}

Expected<Symbols> FieldType<Symbols>::read(const Field &,
                                           const json::Value &value) {
  Symbols symbols;
  const json::Object *object = value.getAsObject();
  if (object)
    for (const auto &[name, entry] : *object) {
      Setting &setting = symbols[StringRef(name).str()];
      std::optional<int64_t> number = entry.getAsInteger();
      if (number && *number >= 1)
        setting = *number;
      else if (std::optional<StringRef> text = entry.getAsString();
               text && !text->empty())
        setting = text->str();
      else if (std::optional<bool> flag = entry.getAsBoolean())
        setting = std::string(*flag ? "true" : "false");
      else
        return makeError("symbol '" + StringRef(name) +
                         "': expected an integer of at least 1");
    }
  if (!object)
    return makeError("expected an object with a value for each symbol");
  return symbols;
}

std::string FieldType<Symbols>::print(const Symbols &symbols) {
  std::string text;
  for (const auto &[name, value] : symbols)
    text += (text.empty() ? "" : ",") + name + "=" + value.str();
  return text;
}

json::Value FieldType<Symbols>::write(const Symbols &symbols) {
  json::Object object;
  for (const auto &[name, value] : symbols)
    object[name] =
        value.number ? json::Value(value.number) : json::Value(value.text);
  return object;
}

Error stg::assign(Symbols &place, Expected<Symbols> value, bool add) {
  if (!value)
    return value.takeError();
  if (!add)
    place.clear();
  for (const auto &[name, setting] : *value)
    place[name] = setting;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Loads of experts
//===----------------------------------------------------------------------===//

/// Integers in the same proportions, in lowest terms. Of what are no integers,
/// millionths count.
static Expected<Loads> scale(ArrayRef<double> numbers) {
  constexpr double kLargest = 1e9;
  bool areIntegers = all_of(
      numbers, [](double number) { return number == std::floor(number); });
  Loads loads;
  int64_t common = 0;
  for (double number : numbers) {
    if (!(number >= 0 && number <= kLargest))
      return makeError("loads are numbers from 0 to 1e9");
    loads.values.push_back(std::llround(areIntegers ? number : number * 1e6));
    common = std::gcd(common, loads.values.back());
  }
  if (common == 0)
    return makeError("all loads are zero, expected one above");
  for (int64_t &load : loads.values)
    load /= common;
  return loads;
}

Expected<Loads> stg::readLoads(const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return parseLoads(*text);
  const json::Array *array = value.getAsArray();
  std::vector<double> numbers;
  if (array)
    for (const json::Value &element : *array)
      if (std::optional<double> number = element.getAsNumber())
        numbers.push_back(*number);
  if (!array || numbers.size() != array->size())
    return makeError("expected a list of numbers");
  return scale(numbers);
}

Expected<Loads> stg::parseLoads(StringRef text) {
  if (text.ends_with(".json")) {
    Expected<json::Value> value = readJSON(text);
    if (!value)
      return value.takeError();
    if (!value->getAsArray())
      return makeError("expected a list of numbers");
    return readLoads(*value);
  }
  std::vector<double> numbers;
  for (StringRef word : split(text, ',')) {
    double number = 0;
    if (word.getAsDouble(number))
      return makeError(
          "'" + shortenText(word) +
          "' is not a number; expected numbers joined by ',' or a .json file "
          "with a list of them");
    numbers.push_back(number);
  }
  return scale(numbers);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Expected<Requests> stg::parseRequests(StringRef text) {
  if (!text.ends_with(".jsonl") && !text.ends_with(".json"))
    return readRequests(text);
  ReadOptions options;
  options.maxBytes = kMaxJSONBytes;
  options.isNullTerminated = false;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(text, options);
  if (!buffer)
    return buffer.takeError();
  StringRef content = (*buffer)->getBuffer();
  // What is no JSON is told as that, not as what a list looks like.
  if (StringRef start = content.ltrim();
      !start.starts_with("{") && !start.starts_with("["))
    return makeError("line 1: expected an object such as "
                     "{\"new\": 1, \"cached\": 0}");
  return readRequests(content);
}

Expected<Requests> FieldType<Requests>::read(const Field &field,
                                             const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return parse(field, *text);
  if (const json::Array *array = value.getAsArray())
    return readRequests(*array);
  return expected(field);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

Expected<ScheduleName> stg::parseScheduleName(const Field &field,
                                              StringRef text) {
  bool isKnown = isScheduleFile(text);
  for (const auto &[name, description] : listSchedules())
    isKnown |= text == name;
  if (!isKnown)
    return expected(field);
  return ScheduleName{text.str()};
}

Expected<ScheduleName> FieldType<ScheduleName>::read(const Field &field,
                                                     const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return parse(field, *text);
  if (!value.getAsObject())
    return expected(field);
  std::string text;
  raw_string_ostream(text) << value;
  return ScheduleName{text};
}

/// A file may change or not be there for who reads the manifest, so what it
/// says is written.
json::Value stg::writeScheduleName(const ScheduleName &name) {
  StringRef text = name.text;
  if (!isScheduleFile(text))
    return text.str();
  Expected<json::Value> value =
      text.starts_with("{") ? parseJSON(text) : readJSON(text);
  if (value)
    return *value;
  // The schedule was made from it, so that it can be read.
  consumeError(value.takeError());
  return text.str();
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

Expected<PresetName> stg::readPresetName(const Field &field,
                                         const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return PresetName(*text);
  if (!value.getAsObject())
    return expected(field);
  PresetName preset;
  raw_string_ostream(preset.text) << value;
  return preset;
}

/// A preset that is not one of those that come with the tools is written whole.
json::Value stg::writePresetName(const PresetName &preset) {
  if (preset.text.empty())
    return preset.name;
  Expected<json::Value> value = parseJSON(preset.text);
  if (value)
    return *value;
  // It has been applied, so that it can be read.
  consumeError(value.takeError());
  return preset.text;
}
