//===- Speculation.cpp - Rounds of drafts and verification ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/Speculation.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <numeric>

using namespace llvm;
using namespace stg;

/// With as many steps as there may be, products with numerators are far below
/// 2^63: a round has at most 65 times as many tokens as this.
static constexpr int64_t kMostDenominator = int64_t(1) << 31;

static TokenRate reduce(int64_t numerator, int64_t denominator) {
  int64_t common = std::gcd(numerator, denominator);
  return {numerator / common, denominator / common, /*begun=*/0};
}

/// `0.85` as 17/20; false for what is none, or has more digits than 9.
static bool readProbability(StringRef text, TokenRate &value) {
  auto [whole, digits] = text.split('.');
  if (whole.size() != 1 || digits.size() > 9 ||
      (text.contains('.') && digits.empty()) || !llvm::all_of(whole, isDigit) ||
      !llvm::all_of(digits, isDigit))
    return false;
  int64_t numerator = whole[0] - '0', denominator = 1;
  for (char digit : digits) {
    numerator = numerator * 10 + (digit - '0');
    denominator *= 10;
  }
  value = reduce(numerator, denominator);
  return numerator <= denominator;
}

std::string TokenRate::str() const {
  return std::to_string(numerator) +
         (denominator == 1 ? "" : "/" + std::to_string(denominator)) +
         (begun == 0 ? "" : "+" + std::to_string(begun));
}

Expected<TokenRate> stg::getExpectedTokens(StringRef acceptance,
                                           int64_t drafts) {
  TokenRate chance;
  if (!readProbability(acceptance, chance))
    return makeError("expected a decimal number from 0 to 1, such as 0.8, with "
                     "at most 9 digits behind the point");
  // Horner's rule: each draft counts if all before it are accepted.
  int64_t numerator = 1, denominator = 1;
  for (int64_t i = 0; i < drafts; ++i) {
    if (denominator > kMostDenominator / chance.denominator)
      return makeError("the tokens that are expected of a round with " +
                       Twine(drafts) +
                       " drafts are a fraction of too many digits; use fewer "
                       "drafts, or fewer digits");
    denominator *= chance.denominator;
    numerator = denominator + numerator * chance.numerator;
  }
  return reduce(numerator, denominator);
}

Expected<TokenRate> stg::readTokenRate(StringRef text) {
  auto [fraction, begun] = text.split('+');
  auto [numerator, denominator] = fraction.split('/');
  TokenRate rate;
  if (numerator.getAsInteger(10, rate.numerator) ||
      (text.contains('/') && denominator.getAsInteger(10, rate.denominator)) ||
      (text.contains('+') && begun.getAsInteger(10, rate.begun)) ||
      rate.begun < 0 || rate.begun >= rate.denominator || rate.numerator < 0 ||
      rate.denominator < 1 || rate.denominator > kMostDenominator ||
      rate.numerator / rate.denominator > INT32_MAX)
    return makeError("is '" + text +
                     "', expected tokens of a step such as 4 or 2101/625");
  return rate;
}
