//===- SymExpr.h - Exact symbolic expressions -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algebra behind every shape, byte count and operation count: sums of
// products of symbols with integer exponents and rational coefficients, with
// ceildiv, min, max and hits as opaque factors. An expression is an attribute,
// so it is uniqued by the context; it is brought into its one canonical form
// when it is built, so two expressions are equal exactly if they are the same
// pointer.
//
// Canonical form: like terms are merged, zero terms dropped, factors within a
// term and terms within a sum are sorted by name (never by address), and a
// constant term comes last. All arithmetic is exact and of arbitrary size.
//
// An expression beyond all use (thousands of terms or of factors, a coefficient
// of thousands of bits) is not built: the result is null, as is the result of
// any arithmetic on a null operand, so a chain needs one check at its end.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_SYMEXPR_H
#define STG_DIALECT_SYM_IR_SYMEXPR_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace stg {

/// An exact rational number in lowest terms with a positive denominator.
struct Rational {
  llvm::DynamicAPInt num, den;

  Rational(int64_t value = 0) : num(value), den(1) {}
  Rational(llvm::DynamicAPInt num, llvm::DynamicAPInt den);

  bool isInteger() const { return den == 1; }
  bool isZero() const { return num == 0; }
  bool isOne() const { return num == 1 && den == 1; }

  Rational operator+(const Rational &rhs) const;
  Rational operator-(const Rational &rhs) const;
  Rational operator*(const Rational &rhs) const;
  /// Asserts that `rhs` is not zero.
  Rational operator/(const Rational &rhs) const;
  bool operator==(const Rational &rhs) const;
  bool operator!=(const Rational &rhs) const { return !(*this == rhs); }
  bool operator<(const Rational &rhs) const;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Rational &value);

namespace detail {
struct SymExprStorage;
} // namespace detail

class SymExpr;

/// The functions that stay opaque in the algebra until their operands are
/// numbers. `ceildiv` takes exactly two operands; `min` and `max` take two or
/// more and are flattened, deduplicated and sorted. Operands stand for
/// integers: a fraction such as `3/2` is not folded, and evaluation reports it.
///
/// `hits(amount, buckets, chosen, draws)` is what is expected of a random
/// choice: the amount is spread evenly over the buckets, each draw takes so
/// many of them, all equally likely, and what is in those that any draw has
/// taken is counted, rounded to the nearest integer, and up from halves:
/// `amount * (1 - (1 - chosen/buckets)^draws)`.
enum class SymFunc { CeilDiv, Min, Max, Hits };

/// What replaces each symbol in `SymExpr::substitute`.
using SymBinding = llvm::DenseMap<mlir::StringAttr, SymExpr>;

/// An exact symbolic expression, printed as `#sym.expr<B*S/(dp*cp)>`.
class SymExpr : public mlir::Attribute::AttrBase<SymExpr, mlir::Attribute,
                                                 detail::SymExprStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "sym.expr";
  static constexpr llvm::StringLiteral dialectName = "sym";

  /// A symbol, or an opaque function application, raised to a power.
  struct Factor {
    /// A StringAttr (symbol) or a SymExpr that `isFunction()`.
    mlir::Attribute atom;
    int64_t exponent;
  };
  /// `coefficient` times the product of `factors`.
  struct Term {
    Rational coefficient;
    llvm::SmallVector<Factor, 4> factors;
  };

  //===--- Building ---------------------------------------------------------//

  static SymExpr get(mlir::MLIRContext *context, int64_t value);
  static SymExpr get(mlir::MLIRContext *context, const Rational &value);
  static SymExpr getSymbol(mlir::MLIRContext *context, llvm::StringRef name);
  static SymExpr getSymbol(mlir::StringAttr name);
  /// Folds where the operands are constants or the result is evident:
  /// `ceildiv(a, b)` becomes `a/b` only if that is an integer constant,
  /// `ceildiv(a, 1)` is `a`, and `min(a, a)` is `a`. `ceildiv` by a constant
  /// zero stays opaque, and so do `hits` of no buckets.
  static SymExpr getFunction(SymFunc function,
                             llvm::ArrayRef<SymExpr> operands);
  /// Canonicalizes an arbitrary sum of products.
  static SymExpr getSum(mlir::MLIRContext *context, llvm::ArrayRef<Term> terms);

  SymExpr operator+(SymExpr rhs) const;
  SymExpr operator-(SymExpr rhs) const;
  SymExpr operator*(SymExpr rhs) const;
  SymExpr operator+(int64_t rhs) const;
  SymExpr operator-(int64_t rhs) const;
  SymExpr operator*(int64_t rhs) const;
  /// Exact division. Fails (null) unless `rhs` is one nonzero term, or divides
  /// this expression as a whole: `a*(b+c) / (b+c)` is found by polynomial
  /// division, `1/(b+c)` is not an expression.
  SymExpr exactDiv(SymExpr rhs) const;
  SymExpr exactDiv(int64_t rhs) const;

  //===--- Reading ----------------------------------------------------------//

  /// True if this is one opaque function application and nothing else (the
  /// storage of a function atom).
  bool isFunction() const;
  /// Only if `isFunction()`.
  SymFunc getFunctionKind() const;
  llvm::ArrayRef<SymExpr> getFunctionOperands() const;

  llvm::ArrayRef<Term> getTerms() const;

  bool isConstant() const;
  bool isZero() const;
  bool isOne() const;
  /// The value if this is a constant, also where it is not an integer.
  std::optional<Rational> getConstant() const;
  /// False for constants other than positive integers.
  bool canBeExtent() const;
  /// The value if this is an integer constant that fits 64 bits.
  std::optional<int64_t> getInt64() const;
  /// The symbol's name if this is one symbol and nothing else, else null.
  mlir::StringAttr getAsSymbol() const;

  /// Calls `callback` once for each distinct symbol, sorted by name, symbols
  /// inside opaque functions included.
  void walkSymbols(llvm::function_ref<void(mlir::StringAttr)> callback) const;
  bool usesSymbol(mlir::StringAttr name) const;

  /// Replaces symbols, all at once, and re-canonicalizes. A symbol with a
  /// negative exponent may be replaced by a sum if the division of the whole is
  /// exact; replacing it by zero or by a sum that does not divide returns null.
  SymExpr substitute(const SymBinding &binding) const;

  //===--- Text -------------------------------------------------------------//

  /// Parses `B*S/(dp*cp) + ceildiv(H, 2)`. `-`, parentheses and integers of any
  /// size are accepted; a division that is not exact is an error at the slash.
  static mlir::FailureOr<SymExpr> parse(mlir::AsmParser &parser);
  /// The tokens of an expression that have been read already: a parenthesis,
  /// then a symbol, as far as they are there, and where they stand.
  struct Beginning {
    mlir::SMLoc location = {};
    bool opens = false;
    mlir::StringAttr symbol = {};
  };
  static mlir::FailureOr<SymExpr> parse(mlir::AsmParser &parser,
                                        const Beginning &beginning);
  /// As above, from text that is not part of a file (flags); the error says
  /// what is wrong and where.
  static llvm::Expected<SymExpr> parse(mlir::MLIRContext *context,
                                       llvm::StringRef text);
  /// Prints the expression alone, such as `(H + 2*K)/tp`, so that `parse` reads
  /// back the identical expression. A power prints as a repeated factor; a
  /// denominator that all terms share is printed once.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, SymExpr expr);
mlir::Diagnostic &operator<<(mlir::Diagnostic &diag, SymExpr expr);

/// The directive `custom<Expr>` of declarative assembly formats: an expression
/// without the `#sym.expr<...>` around it.
mlir::ParseResult parseExpr(mlir::AsmParser &parser, SymExpr &expr);
void printExpr(mlir::OpAsmPrinter &printer, mlir::Operation *op, SymExpr expr);
void printExpr(mlir::AsmPrinter &printer, SymExpr expr);

/// Several expressions compiled for repeated evaluation under different values
/// of the same symbols. Values are exact: intermediate results have 128 bits,
/// and overflow and non-integral results are reported, never wrapped or
/// rounded.
class CompiledExprs {
public:
  /// `symbols` fixes the order of the values passed to `evaluate`; every symbol
  /// used by `exprs` must be among them (asserted).
  CompiledExprs(llvm::ArrayRef<SymExpr> exprs,
                llvm::ArrayRef<mlir::StringAttr> symbols);

  enum class Status { Ok, Overflow, NotIntegral, DivisionByZero };

  struct Result {
    Status status;
    __int128 value;
  };
  /// The value of expression `index` for `values`, parallel to the symbols.
  Result evaluate(size_t index, llvm::ArrayRef<int64_t> values) const;

private:
  struct Factor {
    unsigned slot; ///< A symbol if < numSymbols, else a function.
    int64_t exponent;
  };
  struct Term {
    __int128 num, den;
    llvm::SmallVector<Factor, 4> factors;
  };
  struct Function {
    SymFunc kind;
    llvm::SmallVector<unsigned, 2> operands; ///< Indices into `sums`.
  };
  struct Sum {
    bool representable = true; ///< False if a coefficient exceeds 128 bits.
    llvm::SmallVector<Term, 1> terms;
  };
  unsigned compile(SymExpr expr);
  unsigned compileAtom(mlir::Attribute atom);
  Result evaluateSum(unsigned index, llvm::ArrayRef<int64_t> values) const;
  Result evaluateSlot(unsigned slot, llvm::ArrayRef<int64_t> values) const;
  Result evaluateHits(const Function &function,
                      llvm::ArrayRef<int64_t> values) const;

  unsigned numSymbols;
  llvm::DenseMap<mlir::Attribute, unsigned> slots;
  llvm::SmallVector<Sum, 0> sums;
  llvm::SmallVector<Function> functions;
  llvm::SmallVector<unsigned> roots;
};

} // namespace stg

MLIR_DECLARE_EXPLICIT_TYPE_ID(stg::SymExpr)

#endif // STG_DIALECT_SYM_IR_SYMEXPR_H
