//===- ExpertLoads.cpp - Relative loads of experts ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace stg;

/// The numbers in a file with one JSON list.
static FailureOr<std::vector<double>> readList(StringRef path,
                                               std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    error = "cannot read the file: " + buffer.getError().message();
    return failure();
  }
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  if (!json) {
    error = "is not JSON: " + llvm::toString(json.takeError());
    return failure();
  }
  std::vector<double> numbers;
  bool isList = json->kind() == llvm::json::Value::Array;
  if (isList)
    for (const llvm::json::Value &element : *json->getAsArray()) {
      std::optional<double> number = element.getAsNumber();
      isList &= number.has_value();
      numbers.push_back(number.value_or(0));
    }
  if (isList)
    return numbers;
  error = "expected a list of numbers";
  return failure();
}

/// The numbers of a text such as `5,2.5,1`.
static FailureOr<std::vector<double>> parseList(StringRef text,
                                                std::string &error) {
  std::vector<double> numbers;
  for (StringRef word : llvm::split(text, ',')) {
    double number = 0;
    if (word.getAsDouble(number)) {
      error = "'" + word.str() +
              "' is not a number; expected numbers joined by ',' or a .json "
              "file with a list of them";
      return failure();
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Integers in the same proportions: of integers, their own; else millionths.
static FailureOr<std::vector<int64_t>> scale(ArrayRef<double> numbers,
                                             std::string &error) {
  constexpr double kLargest = 1e9;
  bool areIntegers = llvm::all_of(
      numbers, [](double number) { return number == std::floor(number); });
  std::vector<int64_t> loads;
  int64_t common = 0;
  for (double number : numbers) {
    if (!(number >= 0 && number <= kLargest)) {
      error = "loads are numbers from 0 to 1e9";
      return failure();
    }
    loads.push_back(std::llround(areIntegers ? number : number * 1e6));
    common = std::gcd(common, loads.back());
  }
  if (common == 0) {
    error = "all loads are zero, expected one above";
    return failure();
  }
  for (int64_t &load : loads)
    load /= common;
  return loads;
}

FailureOr<std::vector<int64_t>>
stg::readExpertLoads(const CompileRequest &request, const SymbolValues &values,
                     std::string &error) {
  StringRef text = request.expertHistogram;
  if (text.empty())
    return std::vector<int64_t>();
  auto fail = [&](const std::string &reason) {
    error = "--expert-histogram " + text.str() + ": " + reason;
    return failure();
  };
  auto experts = values.find("X");
  if (experts == values.end())
    return fail("the model has no symbol 'X', the number of experts");
  std::string reason;
  FailureOr<std::vector<double>> numbers = text.ends_with(".json")
                                               ? readList(text, reason)
                                               : parseList(text, reason);
  if (failed(numbers))
    return fail(reason);
  int64_t count = numbers->size();
  if (count != experts->second.value)
    return fail("has " + std::to_string(count) + " loads, expected X = " +
                std::to_string(experts->second.value) + ", from " +
                experts->second.source);
  FailureOr<std::vector<int64_t>> loads = scale(*numbers, reason);
  if (failed(loads))
    return fail(reason);
  return loads;
}

bool stg::hasExpertCapacity(const SymbolValues &values) {
  auto numerator = values.find("CN"), denominator = values.find("CD");
  return numerator != values.end() && denominator != values.end() &&
         numerator->second.value != denominator->second.value;
}
