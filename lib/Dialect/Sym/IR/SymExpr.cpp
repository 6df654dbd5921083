//===- SymExpr.cpp - Exact symbolic expressions ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymExprDetail.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;
using llvm::DynamicAPInt;

MLIR_DEFINE_EXPLICIT_TYPE_ID(stg::SymExpr)

//===----------------------------------------------------------------------===//
// SymExprStorage
//===----------------------------------------------------------------------===//

/// Independent of how the number is represented, unlike its own hash.
static llvm::hash_code hashNumber(const DynamicAPInt &value) {
  constexpr int64_t prime = (int64_t(1) << 61) - 1;
  return llvm::hash_value(int64_t(shrink(value % prime)));
}

static unsigned getAtomDepth(Attribute atom) {
  auto function = dyn_cast<SymExpr>(atom);
  return function ? function.getImpl()->depth : 0;
}

SymExprStorage::SymExprStorage(const KeyTy &key)
    : integer(key.integer), function(key.function),
      operands(key.operands.begin(), key.operands.end()),
      terms(key.terms.begin(), key.terms.end()) {
  if (integer && *integer != 0)
    terms.push_back(Term{Rational(*integer), {}});
  if (!function) {
    size = getSize(terms);
    for (const Term &term : terms)
      for (const Factor &factor : term.factors)
        depth = std::max(depth, getAtomDepth(factor.atom));
    return;
  }
  size = 1;
  for (SymExpr operand : operands) {
    size += operand.getImpl()->size;
    depth = std::max(depth, operand.getImpl()->depth + 1);
  }
  terms.push_back(Term{Rational(1), {Factor{SymExpr(this), 1}}});
}

SymExprStorage *SymExprStorage::construct(AttributeStorageAllocator &allocator,
                                          const KeyTy &key) {
  return new (allocator.allocate<SymExprStorage>()) SymExprStorage(key);
}

static bool isSameTerm(const Term &lhs, const Term &rhs) {
  return lhs.coefficient == rhs.coefficient &&
         llvm::equal(lhs.factors, rhs.factors, isSameFactor);
}

bool SymExprStorage::operator==(const KeyTy &key) const {
  if (integer || key.integer)
    return integer == key.integer;
  if (function || key.function)
    return function == key.function && ArrayRef(operands) == key.operands;
  return llvm::equal(terms, key.terms, isSameTerm);
}

llvm::hash_code SymExprStorage::hashKey(const KeyTy &key) {
  if (key.integer)
    return llvm::hash_value(*key.integer);
  if (key.function)
    return llvm::hash_combine(*key.function,
                              llvm::hash_combine_range(key.operands));
  llvm::hash_code hash = llvm::hash_value(key.terms.size());
  for (const Term &term : key.terms) {
    hash = llvm::hash_combine(hash, hashNumber(term.coefficient.num),
                              hashNumber(term.coefficient.den));
    for (const Factor &factor : term.factors)
      hash = llvm::hash_combine(hash, factor.atom, factor.exponent);
  }
  return hash;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// The value of canonical terms that are an integer of 64 bits.
static std::optional<int64_t> getInteger64(ArrayRef<Term> terms) {
  if (terms.empty())
    return 0;
  const Term &term = terms.front();
  if (terms.size() != 1 || !term.factors.empty() ||
      !term.coefficient.isInteger())
    return std::nullopt;
  return toInt64(term.coefficient.num);
}

SymExpr stg::detail::intern(MLIRContext *context, ArrayRef<Term> terms) {
  if (std::optional<int64_t> integer = getInteger64(terms))
    return SymExpr::get(context, *integer);
  if (terms.size() == 1 && terms.front().coefficient.isOne() &&
      terms.front().factors.size() == 1) {
    auto [atom, exponent] = terms.front().factors.front();
    if (auto function = dyn_cast<SymExpr>(atom); function && exponent == 1)
      return function;
  }
  SymExprStorage::KeyTy key{std::nullopt, std::nullopt, {}, terms};
  return SymExpr::Base::get(context, key);
}

SymExpr SymExpr::getSum(MLIRContext *context, ArrayRef<Term> terms) {
  Terms sum(terms.begin(), terms.end());
  if (!canonicalize(sum))
    return {};
  return intern(context, sum);
}

SymExpr SymExpr::get(MLIRContext *context, int64_t value) {
  SymExprStorage::KeyTy key{value, std::nullopt, {}, {}};
  return Base::get(context, key);
}

SymExpr SymExpr::get(MLIRContext *context, const Rational &value) {
  return getSum(context, Term{value, {}});
}

SymExpr SymExpr::getSymbol(MLIRContext *context, StringRef name) {
  return getSymbol(StringAttr::get(context, name));
}

SymExpr SymExpr::getSymbol(StringAttr name) {
  return intern(name.getContext(), Term{Rational(1), {Factor{name, 1}}});
}

SymExpr SymExpr::operator+(SymExpr rhs) const {
  if (!*this || !rhs)
    return {};
  const std::optional<int64_t> &left = getImpl()->integer;
  const std::optional<int64_t> &right = rhs.getImpl()->integer;
  if (left == 0)
    return rhs;
  if (right == 0)
    return *this;
  if (int64_t sum; left && right && !llvm::AddOverflow(*left, *right, sum))
    return get(getContext(), sum);
  Terms sum(getTerms().begin(), getTerms().end());
  llvm::append_range(sum, rhs.getTerms());
  if (!canonicalize(sum))
    return {};
  return intern(getContext(), sum);
}

SymExpr SymExpr::operator-(SymExpr rhs) const { return *this + rhs * -1; }

SymExpr SymExpr::operator*(SymExpr rhs) const {
  if (!*this || !rhs)
    return {};
  const std::optional<int64_t> &left = getImpl()->integer;
  const std::optional<int64_t> &right = rhs.getImpl()->integer;
  if (left == 1 || right == 0)
    return rhs;
  if (right == 1 || left == 0)
    return *this;
  if (int64_t product;
      left && right && !llvm::MulOverflow(*left, *right, product))
    return get(getContext(), product);
  std::optional<Terms> product =
      stg::detail::multiply(getTerms(), rhs.getTerms());
  return product ? intern(getContext(), *product) : SymExpr();
}

SymExpr SymExpr::operator+(int64_t rhs) const {
  if (!*this || rhs == 0)
    return *this;
  // A number is interned only if it is what is left.
  const std::optional<int64_t> &left = getImpl()->integer;
  if (int64_t sum; left && !llvm::AddOverflow(*left, rhs, sum))
    return get(getContext(), sum);
  return *this + get(getContext(), rhs);
}

SymExpr SymExpr::operator-(int64_t rhs) const {
  return *this ? *this - get(getContext(), rhs) : *this;
}

SymExpr SymExpr::operator*(int64_t rhs) const {
  if (!*this || rhs == 1)
    return *this;
  const std::optional<int64_t> &left = getImpl()->integer;
  if (int64_t product; left && !llvm::MulOverflow(*left, rhs, product))
    return get(getContext(), product);
  return *this * get(getContext(), rhs);
}

SymExpr SymExpr::exactDiv(SymExpr rhs) const {
  if (!*this || !rhs || rhs.isZero())
    return {};
  const std::optional<int64_t> &left = getImpl()->integer;
  const std::optional<int64_t> &right = rhs.getImpl()->integer;
  if (right == 1)
    return *this;
  // The quotient of the smallest number by -1 has 65 bits.
  if (left && right && *right != -1 && *left % *right == 0)
    return get(getContext(), *left / *right);
  Quotient quotient = divide(getTerms(), rhs.getTerms());
  if (quotient.status != Quotient::Status::Exact)
    return {};
  return intern(getContext(), quotient.terms);
}

SymExpr SymExpr::exactDiv(int64_t rhs) const {
  return *this && rhs != 1 ? exactDiv(get(getContext(), rhs)) : *this;
}

//===----------------------------------------------------------------------===//
// Building functions
//===----------------------------------------------------------------------===//

StringRef stg::detail::getFunctionName(SymFunc function) {
  switch (function) {
  case SymFunc::CeilDiv:
    return "ceildiv";
  case SymFunc::Min:
    return "min";
  case SymFunc::Max:
    return "max";
  case SymFunc::Hits:
    return "hits";
  }
  llvm_unreachable("all functions are named");
}

unsigned stg::detail::getNumOperands(SymFunc function) {
  return function == SymFunc::Hits ? 4 : 2;
}

bool stg::detail::takesMoreOperands(SymFunc function) {
  return function == SymFunc::Min || function == SymFunc::Max;
}

/// The value if this is an integer constant of any size.
static std::optional<DynamicAPInt> getInteger(SymExpr expr) {
  std::optional<Rational> value = expr.getConstant();
  if (!value || !value->isInteger())
    return std::nullopt;
  return value->num;
}

static SymExpr getOpaque(SymFunc function, ArrayRef<SymExpr> operands) {
  uint64_t size = 1;
  unsigned depth = 1;
  for (SymExpr operand : operands) {
    size += operand.getImpl()->size;
    depth = std::max(depth, operand.getImpl()->depth + 1);
  }
  if (size > maxSize || depth > maxFunctionDepth)
    return {};
  SymExprStorage::KeyTy key{std::nullopt, function, operands, {}};
  return SymExpr::Base::get(operands.front().getContext(), key);
}

/// The constant `lhs / rhs`, or none if the quotient has symbols.
static std::optional<Rational> getConstantRatio(SymExpr lhs, SymExpr rhs) {
  if (rhs.isZero())
    return std::nullopt;
  if (lhs.isZero())
    return Rational(0);
  auto getLeading = [](SymExpr expr) {
    return expr.getTerms().front().coefficient;
  };
  Rational ratio = getLeading(lhs) / getLeading(rhs);
  bool isProportional = llvm::equal(
      lhs.getTerms(), rhs.getTerms(), [&](const Term &left, const Term &right) {
        return left.coefficient == right.coefficient * ratio &&
               llvm::equal(left.factors, right.factors, isSameFactor);
      });
  return isProportional ? std::optional(ratio) : std::nullopt;
}

static SymExpr getCeilDiv(SymExpr lhs, SymExpr rhs) {
  if (rhs.isOne())
    return lhs;
  MLIRContext *context = lhs.getContext();
  std::optional<DynamicAPInt> left = getInteger(lhs), right = getInteger(rhs);
  if (left && right && *right != 0)
    return SymExpr::get(context,
                        Rational(ceilDiv(*left, *right), DynamicAPInt(1)));
  std::optional<Rational> ratio = getConstantRatio(lhs, rhs);
  if (ratio && ratio->isInteger())
    return SymExpr::get(context, *ratio);
  return getOpaque(SymFunc::CeilDiv, {lhs, rhs});
}

static SymExpr getHits(ArrayRef<SymExpr> operands) {
  SmallVector<DynamicAPInt, 4> numbers;
  for (SymExpr operand : operands)
    if (std::optional<DynamicAPInt> number = getInteger(operand))
      numbers.push_back(*number);
  if (numbers.size() != operands.size() || numbers[1] <= 0)
    return getOpaque(SymFunc::Hits, operands);
  return SymExpr::get(
      operands.front().getContext(),
      Rational(countHits(numbers[0], numbers[1], numbers[2], numbers[3]),
               DynamicAPInt(1)));
}

/// Replaces all integer constants by the smallest or largest of them.
static void foldConstants(bool isMin, SmallVectorImpl<SymExpr> &operands) {
  SymExpr best;
  for (SymExpr operand : operands) {
    std::optional<DynamicAPInt> value = getInteger(operand);
    if (value && (!best || (*value < *getInteger(best)) == isMin))
      best = operand;
  }
  llvm::erase_if(operands, [&](SymExpr operand) {
    return operand != best && getInteger(operand);
  });
}

static SymExpr getMinMax(SymFunc function, ArrayRef<SymExpr> operands) {
  SmallVector<SymExpr> flat;
  for (SymExpr operand : operands) {
    if (operand.isFunction() && operand.getFunctionKind() == function)
      llvm::append_range(flat, operand.getFunctionOperands());
    else
      flat.push_back(operand);
  }
  foldConstants(function == SymFunc::Min, flat);
  llvm::sort(flat, [](SymExpr lhs, SymExpr rhs) {
    return compareExprs(lhs, rhs) < 0;
  });
  flat.erase(llvm::unique(flat), flat.end());
  return flat.size() == 1 ? flat.front() : getOpaque(function, flat);
}

SymExpr SymExpr::getFunction(SymFunc function, ArrayRef<SymExpr> operands) {
  assert(!operands.empty() && "a function has operands");
  if (!llvm::all_of(operands, [](SymExpr operand) { return bool(operand); }))
    return {};
  if (takesMoreOperands(function))
    return getMinMax(function, operands);
  assert(operands.size() == getNumOperands(function) && "as many as it takes");
  return function == SymFunc::Hits ? getHits(operands)
                                   : getCeilDiv(operands[0], operands[1]);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool SymExpr::isFunction() const { return getImpl()->function.has_value(); }

SymFunc SymExpr::getFunctionKind() const { return *getImpl()->function; }

ArrayRef<SymExpr> SymExpr::getFunctionOperands() const {
  return getImpl()->operands;
}

ArrayRef<SymExpr::Term> SymExpr::getTerms() const { return getImpl()->terms; }

bool SymExpr::isConstant() const {
  return getImpl()->integer ||
         (getTerms().size() == 1 && getTerms().front().factors.empty());
}

bool SymExpr::isZero() const { return getImpl()->integer == 0; }

bool SymExpr::isOne() const { return getImpl()->integer == 1; }

std::optional<Rational> SymExpr::getConstant() const {
  if (!isConstant())
    return std::nullopt;
  return isZero() ? Rational(0) : getTerms().front().coefficient;
}

bool SymExpr::canBeExtent() const {
  if (const std::optional<int64_t> &integer = getImpl()->integer)
    return *integer > 0;
  std::optional<Rational> value = getConstant();
  return !value || (value->isInteger() && Rational(0) < *value);
}

std::optional<int64_t> SymExpr::getInt64() const { return getImpl()->integer; }

StringAttr SymExpr::getAsSymbol() const {
  if (getTerms().size() != 1)
    return {};
  const Term &term = getTerms().front();
  if (!term.coefficient.isOne() || term.factors.size() != 1 ||
      term.factors.front().exponent != 1)
    return {};
  return dyn_cast<StringAttr>(term.factors.front().atom);
}

static void collectSymbols(SymExpr expr,
                           llvm::SmallPtrSetImpl<Attribute> &symbols) {
  if (expr.isFunction()) {
    for (SymExpr operand : expr.getFunctionOperands())
      collectSymbols(operand, symbols);
    return;
  }
  for (const Term &term : expr.getTerms()) {
    for (const Factor &factor : term.factors) {
      if (auto function = dyn_cast<SymExpr>(factor.atom))
        collectSymbols(function, symbols);
      else
        symbols.insert(factor.atom);
    }
  }
}

void SymExpr::walkSymbols(llvm::function_ref<void(StringAttr)> callback) const {
  llvm::SmallPtrSet<Attribute, 8> symbols;
  collectSymbols(*this, symbols);
  SmallVector<Attribute, 8> sorted(symbols.begin(), symbols.end());
  llvm::sort(sorted, [](Attribute lhs, Attribute rhs) {
    return compareAtoms(lhs, rhs) < 0;
  });
  for (Attribute symbol : sorted)
    callback(cast<StringAttr>(symbol));
}

bool SymExpr::usesSymbol(StringAttr name) const {
  llvm::SmallPtrSet<Attribute, 8> symbols;
  collectSymbols(*this, symbols);
  return symbols.contains(name);
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

namespace {
/// Substitutes in one sum. A replacement of several terms cannot be inverted,
/// so all terms are brought to a common denominator of such replacements, by
/// which the whole is divided in the end.
class Substitution {
public:
  Substitution(SymExpr expr, const SymBinding &binding)
      : expr(expr), binding(binding) {}

  SymExpr run();

private:
  SymExpr replaceAtom(Attribute atom) const;
  LogicalResult replaceAtoms();
  LogicalResult appendNumerator(const Term &term, Terms &numerator) const;
  SymExpr divideByDenominator(SymExpr numerator) const;

  SymExpr expr;
  const SymBinding &binding;
  llvm::DenseMap<Attribute, SymExpr> replacements;
  /// The exponents of the atoms in the common denominator.
  llvm::MapVector<Attribute, int64_t> denominator;
};
} // namespace

SymExpr Substitution::replaceAtom(Attribute atom) const {
  if (auto symbol = dyn_cast<StringAttr>(atom)) {
    auto bound = binding.find(symbol);
    return bound == binding.end() ? SymExpr::getSymbol(symbol) : bound->second;
  }
  auto function = cast<SymExpr>(atom);
  SmallVector<SymExpr, 2> operands;
  for (SymExpr operand : function.getFunctionOperands())
    operands.push_back(operand.substitute(binding));
  return SymExpr::getFunction(function.getFunctionKind(), operands);
}

LogicalResult Substitution::replaceAtoms() {
  for (const Term &term : expr.getTerms()) {
    for (auto [atom, exponent] : term.factors) {
      SymExpr &replacement = replacements[atom];
      if (!replacement && !(replacement = replaceAtom(atom)))
        return failure();
      if (exponent > 0 || replacement.getTerms().size() == 1)
        continue;
      if (replacement.isZero())
        return failure();
      int64_t &common = denominator[atom];
      common = std::max(common, -exponent);
    }
  }
  return success();
}

/// Appends `term` times the common denominator, its atoms replaced.
LogicalResult Substitution::appendNumerator(const Term &term,
                                            Terms &numerator) const {
  llvm::MapVector<Attribute, int64_t> exponents = denominator;
  for (auto [atom, exponent] : term.factors)
    exponents[atom] += exponent;
  Terms product{Term{term.coefficient, {}}};
  for (auto [atom, exponent] : exponents) {
    ArrayRef<Term> base = replacements.lookup(atom).getTerms();
    std::optional<Terms> factor = power(base, exponent);
    std::optional<Terms> next =
        factor ? stg::detail::multiply(product, *factor) : std::nullopt;
    if (!next)
      return failure();
    product = std::move(*next);
  }
  llvm::append_range(numerator, product);
  return success(numerator.size() <= maxProducts);
}

SymExpr Substitution::divideByDenominator(SymExpr numerator) const {
  for (auto [atom, exponent] : denominator)
    for (int64_t i = 0; numerator && i < exponent; ++i)
      numerator = numerator.exactDiv(replacements.lookup(atom));
  return numerator;
}

SymExpr Substitution::run() {
  if (failed(replaceAtoms()))
    return {};
  Terms numerator;
  for (const Term &term : expr.getTerms())
    if (failed(appendNumerator(term, numerator)))
      return {};
  if (!canonicalize(numerator))
    return {};
  return divideByDenominator(intern(expr.getContext(), numerator));
}

SymExpr SymExpr::substitute(const SymBinding &binding) const {
  return Substitution(*this, binding).run();
}
