//===- SymExprHits.cpp - What random draws are expected to hit ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The value is a fraction whose denominator has as many digits as there are
// draws. Only its nearest integer is wanted, which follows from bounds of as
// few digits as tell it from its neighbours.
//
//===----------------------------------------------------------------------===//

#include "SymExprDetail.h"

using namespace stg;
using namespace stg::detail;
using llvm::DynamicAPInt;

/// Digits of a number in base 2.
static unsigned countBits(DynamicAPInt value) {
  const DynamicAPInt base(int64_t(1) << 32);
  unsigned bits = 0;
  for (; value >= base; value = floorDiv(value, base))
    bits += 32;
  for (; value > 0; value = floorDiv(value, DynamicAPInt(2)))
    ++bits;
  return bits;
}

static DynamicAPInt raise(DynamicAPInt base, DynamicAPInt exponent) {
  DynamicAPInt result(1);
  for (; exponent > 0; exponent = floorDiv(exponent, DynamicAPInt(2))) {
    if (mod(exponent, DynamicAPInt(2)) == 1)
      result = result * base;
    base = base * base;
  }
  return result;
}

namespace {
/// Two numbers, in units of 1/unit, between which a part of one is.
struct Bounds {
  DynamicAPInt low, high;

  void multiply(const Bounds &by, const DynamicAPInt &unit) {
    low = floorDiv(low * by.low, unit);
    high = ceilDiv(high * by.high, unit);
  }
};
} // namespace

/// A fraction of at most one to a power.
static Bounds boundPower(const Rational &base, DynamicAPInt exponent,
                         const DynamicAPInt &unit) {
  Bounds factor{floorDiv(base.num * unit, base.den),
                ceilDiv(base.num * unit, base.den)};
  Bounds result{unit, unit};
  for (; exponent > 0; exponent = floorDiv(exponent, DynamicAPInt(2))) {
    if (mod(exponent, DynamicAPInt(2)) == 1)
      result.multiply(factor, unit);
    factor.multiply(factor, unit);
  }
  return result;
}

/// The nearest integer of `amount * missed / unit`, down from halves.
static DynamicAPInt roundPart(const DynamicAPInt &amount,
                              const DynamicAPInt &missed,
                              const DynamicAPInt &unit) {
  return ceilDiv(amount * missed * 2 - unit, unit * 2);
}

DynamicAPInt stg::detail::countHits(const DynamicAPInt &amount,
                                    const DynamicAPInt &buckets,
                                    const DynamicAPInt &chosen,
                                    const DynamicAPInt &draws) {
  if (amount < 0)
    return -countHits(-amount, buckets, chosen, draws);
  if (chosen <= 0 || draws <= 0)
    return DynamicAPInt(0);
  // What is missed of an amount of so many bits is less than a half where its
  // part is below e^-(bits + 1).
  unsigned bits = countBits(amount);
  if (chosen >= buckets || chosen * draws >= buckets * int64_t(bits + 1))
    return amount;
  Rational missed(buckets - chosen, buckets);
  // A half is possible only where the denominator divides twice the amount.
  if (draws * int64_t(countBits(missed.den) - 1) <= int64_t(bits + 1))
    return amount - roundPart(amount, raise(missed.num, draws),
                              raise(missed.den, draws));
  for (unsigned digits = bits + 64;; digits *= 2) {
    DynamicAPInt unit = raise(DynamicAPInt(2), DynamicAPInt(digits));
    Bounds part = boundPower(missed, draws, unit);
    DynamicAPInt most = roundPart(amount, part.high, unit);
    if (roundPart(amount, part.low, unit) == most)
      return amount - most;
  }
}
