//===- ExpertLoads.cpp - Relative loads of experts ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace stg;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(message);
}

/// The numbers in a file with one JSON list.
static llvm::Expected<std::vector<double>> readList(StringRef path) {
  llvm::Expected<llvm::json::Value> json = readJSON(path);
  if (!json)
    return json.takeError();
  std::vector<double> numbers;
  bool isList = json->kind() == llvm::json::Value::Array;
  if (isList)
    for (const llvm::json::Value &element : *json->getAsArray()) {
      std::optional<double> number = element.getAsNumber();
      isList &= number.has_value();
      numbers.push_back(number.value_or(0));
    }
  if (!isList)
    return makeError("expected a list of numbers");
  return std::move(numbers);
}

/// The numbers of a text such as `5,2.5,1`.
static llvm::Expected<std::vector<double>> parseList(StringRef text) {
  std::vector<double> numbers;
  for (StringRef word : llvm::split(text, ',')) {
    double number = 0;
    if (word.getAsDouble(number))
      return makeError("'" + shortenText(word) +
                       "' is not a number; expected numbers joined by ',' or "
                       "a .json file with a list of them");
    numbers.push_back(number);
  }
  return std::move(numbers);
}

/// Integers in the same proportions: of integers, their own; else millionths.
static llvm::Expected<std::vector<int64_t>> scale(ArrayRef<double> numbers) {
  constexpr double kLargest = 1e9;
  bool areIntegers = llvm::all_of(
      numbers, [](double number) { return number == std::floor(number); });
  std::vector<int64_t> loads;
  int64_t common = 0;
  for (double number : numbers) {
    if (!(number >= 0 && number <= kLargest))
      return makeError("loads are numbers from 0 to 1e9");
    loads.push_back(std::llround(areIntegers ? number : number * 1e6));
    common = std::gcd(common, loads.back());
  }
  if (common == 0)
    return makeError("all loads are zero, expected one above");
  for (int64_t &load : loads)
    load /= common;
  return std::move(loads);
}

/// The loads that `text` gives or the file that it names has, one for each
/// expert.
static llvm::Expected<std::vector<int64_t>>
readLoads(StringRef text, const SymbolValues &values) {
  auto experts = values.find("X");
  if (experts == values.end())
    return makeError("the model has no symbol 'X', the number of experts");
  llvm::Expected<std::vector<double>> numbers =
      text.ends_with(".json") ? readList(text) : parseList(text);
  if (!numbers)
    return numbers.takeError();
  int64_t count = numbers->size();
  if (count != experts->second.value)
    return makeError("has " + Twine(count) +
                     " loads, expected X = " + Twine(experts->second.value) +
                     ", from " + experts->second.source);
  return scale(*numbers);
}

llvm::Expected<std::vector<int64_t>>
stg::readExpertLoads(const CompileRequest &request,
                     const SymbolValues &values) {
  StringRef text = request.expertHistogram;
  if (text.empty())
    return std::vector<int64_t>();
  llvm::Expected<std::vector<int64_t>> loads = readLoads(text, values);
  if (!loads)
    return makeError("--expert-histogram " + shortenText(text) + ": " +
                     llvm::toString(loads.takeError()));
  return loads;
}

bool stg::hasExpertCapacity(const SymbolValues &values) {
  auto numerator = values.find("CN"), denominator = values.find("CD");
  return numerator != values.end() && denominator != values.end() &&
         numerator->second.value != denominator->second.value;
}
