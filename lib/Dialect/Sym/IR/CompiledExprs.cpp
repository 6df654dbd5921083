//===- CompiledExprs.cpp - Evaluation of symbolic expressions -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Terms are evaluated as fractions, since a sum of fractions may be an integer.
// The operands of functions and the result must be integers.
//
//===----------------------------------------------------------------------===//

#include "SymExprDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stg;
using llvm::DynamicAPInt;

using Status = CompiledExprs::Status;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Returns false if the value exceeds 128 bits.
static bool toInt128(DynamicAPInt value, __int128 &result) {
  const DynamicAPInt base(int64_t(1) << 32);
  int64_t digits[3];
  for (int64_t &digit : digits) {
    digit = int64_t(mod(value, base));
    value = floorDiv(value, base);
  }
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max())
    return false;
  result = int64_t(value);
  for (int64_t digit : llvm::reverse(digits))
    result = result * (int64_t(1) << 32) + digit;
  return true;
}

static DynamicAPInt fromInt128(__int128 value) {
  const DynamicAPInt base(int64_t(1) << 32);
  DynamicAPInt result(static_cast<int64_t>(value >> 64));
  auto low = static_cast<uint64_t>(value);
  return (result * base + DynamicAPInt(static_cast<int64_t>(low >> 32))) *
             base +
         DynamicAPInt(static_cast<int64_t>(low & 0xffffffff));
}

CompiledExprs::CompiledExprs(ArrayRef<SymExpr> exprs,
                             ArrayRef<StringAttr> symbols)
    : numSymbols(symbols.size()) {
  for (const auto &[slot, symbol] : llvm::enumerate(symbols))
    slots[symbol] = slot;
  for (SymExpr expr : exprs)
    roots.push_back(compile(expr));
}

/// Appends a sum and, before it, the functions that it needs; returns its
/// index.
unsigned CompiledExprs::compile(SymExpr expr) {
  Sum sum;
  for (const SymExpr::Term &term : expr.getTerms()) {
    Term &compiled = sum.terms.emplace_back();
    sum.representable &= toInt128(term.coefficient.num, compiled.num) &&
                         toInt128(term.coefficient.den, compiled.den);
    for (auto [atom, exponent] : term.factors)
      compiled.factors.push_back(Factor{compileAtom(atom), exponent});
  }
  sums.push_back(std::move(sum));
  return sums.size() - 1;
}

unsigned CompiledExprs::compileAtom(Attribute atom) {
  if (auto slot = slots.find(atom); slot != slots.end())
    return slot->second;
  assert(isa<SymExpr>(atom) && "every symbol has a value");
  auto application = cast<SymExpr>(atom);
  Function function{application.getFunctionKind(), {}};
  for (SymExpr operand : application.getFunctionOperands())
    function.operands.push_back(compile(operand));
  functions.push_back(std::move(function));
  return slots[atom] = numSymbols + functions.size() - 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static unsigned __int128 magnitude(__int128 value) {
  return value < 0 ? -static_cast<unsigned __int128>(value) : value;
}

static unsigned __int128 greatestCommonDivisor(unsigned __int128 lhs,
                                               unsigned __int128 rhs) {
  while (rhs != 0) {
    unsigned __int128 remainder = lhs % rhs;
    lhs = rhs;
    rhs = remainder;
  }
  return lhs;
}

/// Multiplies `result` by a power; false if that overflows.
static bool multiplyByPower(__int128 &result, __int128 base,
                            uint64_t exponent) {
  while (true) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(result, base, &result))
      return false;
    exponent /= 2;
    if (exponent == 0)
      return true;
    if (__builtin_mul_overflow(base, base, &base))
      return false;
  }
}

namespace {
/// A fraction in lowest terms with a positive denominator.
struct Fraction {
  __int128 num = 0, den = 1;

  Status reduce();
  Status add(Fraction rhs);
};
} // namespace

Status Fraction::reduce() {
  if (den == 1)
    return Status::Ok;
  if (den == 0)
    return Status::DivisionByZero;
  if (den < 0 && (__builtin_sub_overflow(0, num, &num) ||
                  __builtin_sub_overflow(0, den, &den)))
    return Status::Overflow;
  // Common, and much cheaper than the general case.
  if (num % den == 0) {
    num /= den;
    den = 1;
    return Status::Ok;
  }
  // At most the denominator, which is positive, so this fits.
  __int128 divisor = greatestCommonDivisor(magnitude(num), den);
  num /= divisor;
  den /= divisor;
  return Status::Ok;
}

Status Fraction::add(Fraction rhs) {
  if (den != rhs.den) {
    __int128 divisor = greatestCommonDivisor(den, rhs.den);
    __int128 scale = rhs.den / divisor;
    if (__builtin_mul_overflow(num, scale, &num) ||
        __builtin_mul_overflow(rhs.num, den / divisor, &rhs.num) ||
        __builtin_mul_overflow(den, scale, &den))
      return Status::Overflow;
  }
  if (__builtin_add_overflow(num, rhs.num, &num))
    return Status::Overflow;
  return reduce();
}

static CompiledExprs::Result divideCeil(__int128 lhs, __int128 rhs) {
  if (rhs == 0)
    return {Status::DivisionByZero, 0};
  if (rhs == -1) {
    // The one quotient that may overflow.
    __int128 negated;
    if (__builtin_sub_overflow(0, lhs, &negated))
      return {Status::Overflow, 0};
    return {Status::Ok, negated};
  }
  bool roundsUp = lhs % rhs != 0 && (lhs < 0) == (rhs < 0);
  return {Status::Ok, lhs / rhs + (roundsUp ? 1 : 0)};
}

/// No more than the amount, so it fits.
static CompiledExprs::Result getHits(ArrayRef<__int128> operands) {
  if (operands[1] <= 0)
    return {Status::DivisionByZero, 0};
  __int128 value = 0;
  bool fits = toInt128(
      stg::detail::countHits(fromInt128(operands[0]), fromInt128(operands[1]),
                             fromInt128(operands[2]), fromInt128(operands[3])),
      value);
  return {fits ? Status::Ok : Status::Overflow, value};
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

CompiledExprs::Result
CompiledExprs::evaluateHits(const Function &function,
                            ArrayRef<int64_t> values) const {
  SmallVector<__int128, 4> operands;
  for (unsigned operand : function.operands) {
    Result result = evaluateSum(operand, values);
    if (result.status != Status::Ok)
      return result;
    operands.push_back(result.value);
  }
  return getHits(operands);
}

CompiledExprs::Result
CompiledExprs::evaluateSlot(unsigned slot, ArrayRef<int64_t> values) const {
  if (slot < numSymbols)
    return {Status::Ok, values[slot]};
  const Function &function = functions[slot - numSymbols];
  if (function.kind == SymFunc::Hits)
    return evaluateHits(function, values);
  Result result = evaluateSum(function.operands.front(), values);
  for (unsigned operand : llvm::drop_begin(function.operands)) {
    if (result.status != Status::Ok)
      return result;
    Result next = evaluateSum(operand, values);
    if (next.status != Status::Ok)
      return next;
    if (function.kind == SymFunc::CeilDiv)
      result = divideCeil(result.value, next.value);
    else if ((next.value < result.value) == (function.kind == SymFunc::Min))
      result = next;
  }
  return result;
}

CompiledExprs::Result
CompiledExprs::evaluateSum(unsigned index, ArrayRef<int64_t> values) const {
  const Sum &sum = sums[index];
  if (!sum.representable)
    return {Status::Overflow, 0};
  Fraction total;
  for (const Term &term : sum.terms) {
    Fraction fraction{term.num, term.den};
    for (const Factor &factor : term.factors) {
      Result base = evaluateSlot(factor.slot, values);
      if (base.status != Status::Ok)
        return base;
      __int128 &side = factor.exponent < 0 ? fraction.den : fraction.num;
      if (!multiplyByPower(side, base.value, std::abs(factor.exponent)))
        return {Status::Overflow, 0};
    }
    Status status = fraction.reduce();
    if (status == Status::Ok)
      status = total.add(fraction);
    if (status != Status::Ok)
      return {status, 0};
  }
  if (total.den != 1)
    return {Status::NotIntegral, 0};
  return {Status::Ok, total.num};
}

CompiledExprs::Result CompiledExprs::evaluate(size_t index,
                                              ArrayRef<int64_t> values) const {
  assert(values.size() == numSymbols && "one value for each symbol");
  return evaluateSum(roots[index], values);
}
