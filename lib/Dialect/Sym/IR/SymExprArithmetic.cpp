//===- SymExprArithmetic.cpp - Sums of products ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic works on lists of terms that are kept in one order: compare
// the factors from the left, the smaller atom first, then the higher exponent,
// then the longer list. Where no exponent is negative this is the lexicographic
// monomial order, so the first term is the leading one in polynomial division.
//
//===----------------------------------------------------------------------===//

#include "SymExprDetail.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace stg;
using namespace stg::detail;
using llvm::DynamicAPInt;

//===----------------------------------------------------------------------===//
// Rational
//===----------------------------------------------------------------------===//

std::optional<int64_t> stg::detail::toInt64(const DynamicAPInt &value) {
  if (value < std::numeric_limits<int64_t>::min() ||
      value > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return int64_t(value);
}

DynamicAPInt stg::detail::shrink(const DynamicAPInt &value) {
  if (std::optional<int64_t> small = toInt64(value))
    return DynamicAPInt(*small);
  return value;
}

Rational::Rational(DynamicAPInt numerator, DynamicAPInt denominator)
    : num(std::move(numerator)), den(std::move(denominator)) {
  assert(den != 0 && "the denominator of a rational is not zero");
  if (den < 0) {
    num = -num;
    den = -den;
  }
  if (den != 1) {
    DynamicAPInt divisor = gcd(abs(num), den);
    num /= divisor;
    den /= divisor;
  }
  num = shrink(num);
  den = shrink(den);
}

Rational Rational::operator+(const Rational &rhs) const {
  return Rational(num * rhs.den + rhs.num * den, den * rhs.den);
}

Rational Rational::operator-(const Rational &rhs) const {
  return Rational(num * rhs.den - rhs.num * den, den * rhs.den);
}

Rational Rational::operator*(const Rational &rhs) const {
  return Rational(num * rhs.num, den * rhs.den);
}

Rational Rational::operator/(const Rational &rhs) const {
  assert(!rhs.isZero() && "division by zero");
  return Rational(num * rhs.den, den * rhs.num);
}

bool Rational::operator==(const Rational &rhs) const {
  return num == rhs.num && den == rhs.den;
}

bool Rational::operator<(const Rational &rhs) const {
  return num * rhs.den < rhs.num * den;
}

llvm::raw_ostream &stg::operator<<(llvm::raw_ostream &os,
                                   const Rational &value) {
  os << value.num;
  if (!value.isInteger())
    os << '/' << value.den;
  return os;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static bool isWithinLimits(const DynamicAPInt &value) {
  if (toInt64(value))
    return true;
  return abs(value) < DynamicAPInt(llvm::APInt::getOneBitSet(
                          maxCoefficientBits + 2, maxCoefficientBits));
}

static bool isWithinLimits(const Rational &value) {
  return isWithinLimits(value.num) && isWithinLimits(value.den);
}

static uint64_t getAtomSize(Attribute atom) {
  auto function = dyn_cast<SymExpr>(atom);
  return function ? function.getImpl()->size : 1;
}

/// The exponents are within the limits, so this cannot overflow.
uint64_t stg::detail::getSize(ArrayRef<Term> terms) {
  uint64_t size = 0;
  for (const Term &term : terms) {
    ++size;
    for (const Factor &factor : term.factors)
      size += std::abs(factor.exponent) * getAtomSize(factor.atom);
  }
  return size;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

int stg::detail::compareAtoms(Attribute lhs, Attribute rhs) {
  if (lhs == rhs)
    return 0;
  auto lhsSymbol = dyn_cast<StringAttr>(lhs);
  auto rhsSymbol = dyn_cast<StringAttr>(rhs);
  if (lhsSymbol && rhsSymbol)
    return lhsSymbol.getValue().compare(rhsSymbol.getValue());
  if (lhsSymbol || rhsSymbol)
    return lhsSymbol ? -1 : 1;
  return compareExprs(cast<SymExpr>(lhs), cast<SymExpr>(rhs));
}

bool stg::detail::isSameFactor(const Factor &lhs, const Factor &rhs) {
  return lhs.atom == rhs.atom && lhs.exponent == rhs.exponent;
}

/// Negative if `lhs` comes first. The empty product comes last.
static int compareProducts(ArrayRef<Factor> lhs, ArrayRef<Factor> rhs) {
  for (auto [left, right] : llvm::zip(lhs, rhs)) {
    if (int order = compareAtoms(left.atom, right.atom))
      return order;
    if (left.exponent != right.exponent)
      return left.exponent > right.exponent ? -1 : 1;
  }
  if (lhs.size() == rhs.size())
    return 0;
  return lhs.size() > rhs.size() ? -1 : 1;
}

static int compareTerms(const Term &lhs, const Term &rhs) {
  if (int order = compareProducts(lhs.factors, rhs.factors))
    return order;
  if (lhs.coefficient == rhs.coefficient)
    return 0;
  return lhs.coefficient < rhs.coefficient ? -1 : 1;
}

/// Compares element by element; of two lists that agree as far as both go, the
/// shorter one comes first.
template <typename T>
static int compareLists(ArrayRef<T> lhs, ArrayRef<T> rhs,
                        llvm::function_ref<int(const T &, const T &)> compare) {
  for (auto [left, right] : llvm::zip(lhs, rhs))
    if (int order = compare(left, right))
      return order;
  if (lhs.size() == rhs.size())
    return 0;
  return lhs.size() < rhs.size() ? -1 : 1;
}

int stg::detail::compareExprs(SymExpr lhs, SymExpr rhs) {
  if (lhs == rhs)
    return 0;
  // As a constant, zero comes last, though it is the empty sum.
  if (lhs.isZero() || rhs.isZero())
    return lhs.isZero() ? 1 : -1;
  if (!lhs.isFunction() || !rhs.isFunction())
    return compareLists<Term>(lhs.getTerms(), rhs.getTerms(), compareTerms);
  if (lhs.getFunctionKind() != rhs.getFunctionKind())
    return lhs.getFunctionKind() < rhs.getFunctionKind() ? -1 : 1;
  return compareLists<SymExpr>(lhs.getFunctionOperands(),
                               rhs.getFunctionOperands(),
                               [](const SymExpr &lhs, const SymExpr &rhs) {
                                 return compareExprs(lhs, rhs);
                               });
}

//===----------------------------------------------------------------------===//
// Arithmetic on lists of terms
//===----------------------------------------------------------------------===//

static int64_t addExponents(int64_t lhs, int64_t rhs) {
  int64_t sum;
  if (!llvm::AddOverflow(lhs, rhs, sum))
    return sum;
  // Exceeds the limits either way.
  return std::numeric_limits<int64_t>::max();
}

/// Multiplies a sorted product by one more factor.
static void multiplyBy(SmallVectorImpl<Factor> &product, Factor factor) {
  if (factor.exponent == 0)
    return;
  auto *position = llvm::lower_bound(
      product, factor, [](const Factor &lhs, const Factor &rhs) {
        return compareAtoms(lhs.atom, rhs.atom) < 0;
      });
  if (position == product.end() || position->atom != factor.atom) {
    product.insert(position, factor);
    return;
  }
  position->exponent = addExponents(position->exponent, factor.exponent);
  if (position->exponent == 0)
    product.erase(position);
}

static Term multiplyTerms(const Term &lhs, const Term &rhs) {
  const Term &larger = lhs.factors.size() < rhs.factors.size() ? rhs : lhs;
  const Term &smaller = &larger == &lhs ? rhs : lhs;
  Term product = larger;
  product.coefficient = lhs.coefficient * rhs.coefficient;
  for (const Factor &factor : smaller.factors)
    multiplyBy(product.factors, factor);
  return product;
}

static Term invert(Term term) {
  term.coefficient = Rational(1) / term.coefficient;
  for (Factor &factor : term.factors)
    factor.exponent = -factor.exponent;
  return term;
}

static void sortFactors(Term &term) {
  auto isBefore = [](const Factor &lhs, const Factor &rhs) {
    return compareAtoms(lhs.atom, rhs.atom) < 0;
  };
  bool isSorted = llvm::none_of(
      term.factors, [](const Factor &factor) { return factor.exponent == 0; });
  for (size_t i = 1, e = term.factors.size(); isSorted && i < e; ++i)
    isSorted = isBefore(term.factors[i - 1], term.factors[i]);
  if (isSorted)
    return;
  llvm::sort(term.factors, isBefore);
  llvm::SmallVector<Factor, 4> merged;
  for (const Factor &factor : term.factors)
    multiplyBy(merged, factor);
  term.factors = std::move(merged);
}

/// Adds up neighbours with equal factors and drops zeros.
[[nodiscard]] static bool mergeTerms(Terms &terms) {
  size_t size = 0;
  for (size_t i = 0, e = terms.size(); i < e;) {
    Term term = std::move(terms[i]);
    for (++i; i < e && !compareProducts(term.factors, terms[i].factors); ++i) {
      term.coefficient = term.coefficient + terms[i].coefficient;
      if (!isWithinLimits(term.coefficient))
        return false;
    }
    if (!term.coefficient.isZero())
      terms[size++] = std::move(term);
  }
  terms.truncate(size);
  return true;
}

static bool isWithinLimits(const Term &term) {
  return isWithinLimits(term.coefficient) &&
         llvm::all_of(term.factors, [](const Factor &factor) {
           return factor.exponent >= -int64_t(maxSize) &&
                  factor.exponent <= int64_t(maxSize);
         });
}

/// Terms are sorted and merged.
static bool areWithinLimits(ArrayRef<Term> terms) {
  return terms.size() <= maxTerms &&
         llvm::all_of(terms,
                      [](const Term &term) { return isWithinLimits(term); }) &&
         getSize(terms) <= maxSize;
}

bool stg::detail::canonicalize(Terms &terms) {
  llvm::for_each(terms, sortFactors);
  llvm::sort(terms, [](const Term &lhs, const Term &rhs) {
    return compareProducts(lhs.factors, rhs.factors) < 0;
  });
  return mergeTerms(terms) && areWithinLimits(terms);
}

std::optional<Terms> stg::detail::multiply(ArrayRef<Term> lhs,
                                           ArrayRef<Term> rhs) {
  if (lhs.size() * rhs.size() > maxProducts)
    return std::nullopt;
  Terms product;
  product.reserve(lhs.size() * rhs.size());
  for (const Term &left : lhs)
    for (const Term &right : rhs)
      product.push_back(multiplyTerms(left, right));
  // Of one term, whose factors are sorted and not zero, nothing is left to do.
  if (product.size() == 1 ? !areWithinLimits(product) : !canonicalize(product))
    return std::nullopt;
  return product;
}

/// The largest product of atoms that divides every term, negative exponents
/// counting as such.
static Term getContent(ArrayRef<Term> terms) {
  llvm::MapVector<Attribute, std::pair<int64_t, size_t>> lowest;
  for (const Term &term : terms) {
    for (const Factor &factor : term.factors) {
      auto &[exponent, count] =
          lowest.try_emplace(factor.atom, factor.exponent, 0).first->second;
      exponent = std::min(exponent, factor.exponent);
      ++count;
    }
  }
  Term content{Rational(1), {}};
  for (auto &[atom, lowestOfAtom] : lowest) {
    auto [exponent, count] = lowestOfAtom;
    if (count < terms.size())
      exponent = std::min<int64_t>(exponent, 0);
    multiplyBy(content.factors, Factor{atom, exponent});
  }
  return content;
}

namespace {
struct ComesFirst {
  bool operator()(ArrayRef<Factor> lhs, ArrayRef<Factor> rhs) const {
    return compareProducts(lhs, rhs) < 0;
  }
};

/// Long division of polynomials: no exponent is negative.
class PolynomialDivision {
public:
  PolynomialDivision(ArrayRef<Term> dividend, ArrayRef<Term> divisor)
      : divisor(divisor), leadingInverse(invert(divisor.front())) {
    for (const Term &term : dividend)
      remainder.emplace(term.factors, term.coefficient);
  }

  Quotient run();

private:
  void subtractMultiple(const Term &multiple);

  using Product = llvm::SmallVector<Factor, 4>;
  ArrayRef<Term> divisor;
  Term leadingInverse;
  std::map<Product, Rational, ComesFirst> remainder;
};
} // namespace

void PolynomialDivision::subtractMultiple(const Term &multiple) {
  for (const Term &term : divisor) {
    Term product = multiplyTerms(multiple, term);
    auto [position, isNew] =
        remainder.try_emplace(std::move(product.factors), Rational(0));
    position->second = position->second - product.coefficient;
    if (position->second.isZero())
      remainder.erase(position);
  }
}

Quotient PolynomialDivision::run() {
  Quotient quotient{Quotient::Status::Exact, {}};
  for (size_t work = 0; !remainder.empty(); work += divisor.size()) {
    auto leading = remainder.begin();
    Term multiple =
        multiplyTerms(Term{leading->second, leading->first}, leadingInverse);
    if (llvm::any_of(multiple.factors,
                     [](const Factor &factor) { return factor.exponent < 0; }))
      return {Quotient::Status::NotExact, {}};
    if (work > maxProducts || !isWithinLimits(multiple))
      return {Quotient::Status::TooLarge, {}};
    subtractMultiple(multiple);
    quotient.terms.push_back(std::move(multiple));
  }
  return quotient;
}

/// The product, or a quotient that says that it is too large.
static Quotient multiplyQuotient(ArrayRef<Term> lhs, const Term &rhs) {
  if (std::optional<Terms> product = stg::detail::multiply(lhs, rhs))
    return {Quotient::Status::Exact, std::move(*product)};
  return {Quotient::Status::TooLarge, {}};
}

Quotient stg::detail::divide(ArrayRef<Term> lhs, ArrayRef<Term> rhs) {
  assert(!rhs.empty() && "division by zero");
  if (lhs.empty() || rhs.size() == 1)
    return multiplyQuotient(lhs, invert(rhs.front()));

  // Common factors are units here, since exponents may be negative. Without
  // them both sides are polynomials and the divisor has no atom as a factor, so
  // their quotient is a polynomial if there is one at all.
  Term lhsContent = getContent(lhs), rhsContent = getContent(rhs);
  Quotient dividend = multiplyQuotient(lhs, invert(lhsContent));
  Quotient divisor = multiplyQuotient(rhs, invert(rhsContent));
  for (const Quotient *side : {&dividend, &divisor})
    if (side->status != Quotient::Status::Exact)
      return *side;
  Quotient quotient = PolynomialDivision(dividend.terms, divisor.terms).run();
  if (quotient.status != Quotient::Status::Exact)
    return quotient;
  return multiplyQuotient(quotient.terms,
                          multiplyTerms(lhsContent, invert(rhsContent)));
}

std::optional<Terms> stg::detail::power(ArrayRef<Term> base, int64_t exponent) {
  if (exponent < 0) {
    if (base.size() != 1)
      return std::nullopt;
    return power(invert(base.front()), -exponent);
  }
  std::optional<Terms> result = Terms{Term{Rational(1), {}}};
  std::optional<Terms> square = Terms(base.begin(), base.end());
  while (exponent != 0) {
    if (exponent % 2 != 0 && !(result = multiply(*result, *square)))
      return std::nullopt;
    exponent /= 2;
    if (exponent != 0 && !(square = multiply(*square, *square)))
      return std::nullopt;
  }
  return result;
}
