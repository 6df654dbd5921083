//===- SymExprDetail.h - Inside the symbolic expressions --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The storage of `SymExpr`, which the dialect needs to register the attribute,
// and the arithmetic on plain lists of terms, which the parser needs so that it
// does not intern every intermediate result.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_SYM_IR_SYMEXPRDETAIL_H
#define STG_LIB_DIALECT_SYM_IR_SYMEXPRDETAIL_H

#include "stg/Dialect/Sym/IR/SymExpr.h"

namespace stg::detail {

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

// No model comes near these. They keep an input that squares its own result
// over and over from exhausting memory or the stack: what exceeds them is null.

/// Terms of one sum.
constexpr size_t maxTerms = 4096;
/// Products of two terms formed by one multiplication or division.
constexpr size_t maxProducts = 1 << 16;
/// Symbols that the printed expression has, repeated ones included.
constexpr uint64_t maxSize = 1 << 14;
/// Bits of a coefficient's numerator and denominator.
constexpr unsigned maxCoefficientBits = 4096;
/// Function applications inside each other.
constexpr unsigned maxFunctionDepth = 100;
/// Parentheses inside each other in parsed text. A printed function has at most
/// two per level, so whatever was printed can be parsed.
constexpr unsigned maxNesting = 256;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Holds either a canonical sum or one function application. The latter has
/// itself as its only term, so readers of terms need not tell the two apart.
///
/// Most expressions of a program whose symbols are bound are integers that fit
/// 64 bits. Their key is the number, so that to look one up costs no term.
struct SymExprStorage : public mlir::AttributeStorage {
  struct KeyTy {
    std::optional<int64_t> integer;
    std::optional<SymFunc> function;
    llvm::ArrayRef<SymExpr> operands;
    /// Empty for a function and for an integer.
    llvm::ArrayRef<SymExpr::Term> terms;
  };

  explicit SymExprStorage(const KeyTy &key);
  static SymExprStorage *construct(mlir::AttributeStorageAllocator &allocator,
                                   const KeyTy &key);
  bool operator==(const KeyTy &key) const;
  static llvm::hash_code hashKey(const KeyTy &key);

  std::optional<int64_t> integer;
  std::optional<SymFunc> function;
  llvm::SmallVector<SymExpr, 2> operands;
  llvm::SmallVector<SymExpr::Term, 1> terms;
  /// See `maxSize`.
  uint64_t size = 0;
  /// See `maxFunctionDepth`.
  unsigned depth = 0;
};

//===----------------------------------------------------------------------===//
// Arithmetic on lists of terms
//===----------------------------------------------------------------------===//

using Factor = SymExpr::Factor;
using Term = SymExpr::Term;
using Terms = llvm::SmallVector<Term, 1>;

/// The value if it fits 64 bits.
std::optional<int64_t> toInt64(const llvm::DynamicAPInt &value);

/// A large representation survives arithmetic that makes the value small again;
/// the small one is faster, and hashes alike.
llvm::DynamicAPInt shrink(const llvm::DynamicAPInt &value);

/// The spelling in text.
llvm::StringRef getFunctionName(SymFunc function);

/// How many operands a function takes; of one that takes more, the fewest.
unsigned getNumOperands(SymFunc function);
bool takesMoreOperands(SymFunc function);

/// `SymFunc::Hits` of numbers. There must be buckets.
llvm::DynamicAPInt countHits(const llvm::DynamicAPInt &amount,
                             const llvm::DynamicAPInt &buckets,
                             const llvm::DynamicAPInt &chosen,
                             const llvm::DynamicAPInt &draws);

/// Negative if `lhs` comes first: symbols by name, then functions by structure.
int compareAtoms(mlir::Attribute lhs, mlir::Attribute rhs);
/// The same for whole expressions.
int compareExprs(SymExpr lhs, SymExpr rhs);
bool isSameFactor(const Factor &lhs, const Factor &rhs);

/// See `maxSize`.
uint64_t getSize(llvm::ArrayRef<Term> terms);

/// Brings `terms` into canonical form; false if they exceed the limits.
[[nodiscard]] bool canonicalize(Terms &terms);

/// The expression of terms that are canonical already.
SymExpr intern(mlir::MLIRContext *context, llvm::ArrayRef<Term> terms);

/// The product of two canonical sums, or none if it exceeds the limits.
std::optional<Terms> multiply(llvm::ArrayRef<Term> lhs,
                              llvm::ArrayRef<Term> rhs);

/// A canonical sum to the power of `exponent`. None if that exceeds the limits,
/// or if the exponent is negative and `base` is not one term.
std::optional<Terms> power(llvm::ArrayRef<Term> base, int64_t exponent);

struct Quotient {
  enum class Status { Exact, NotExact, TooLarge };
  Status status;
  Terms terms;
};

/// The quotient of two canonical sums, of which `rhs` must not be zero.
Quotient divide(llvm::ArrayRef<Term> lhs, llvm::ArrayRef<Term> rhs);

} // namespace stg::detail

#endif // STG_LIB_DIALECT_SYM_IR_SYMEXPRDETAIL_H
