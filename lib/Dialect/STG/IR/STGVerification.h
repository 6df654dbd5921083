//===- STGVerification.h - Checks that verifiers share ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_IR_STGVERIFICATION_H
#define STG_LIB_DIALECT_STG_IR_STGVERIFICATION_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {
/// Operations for each element.
int64_t getActivationOperations(Activation function);
int64_t getActivationGradOperations(Activation function);
/// Of `stg.elementwise_grad` with respect to operand `of`.
int64_t getElementwiseGradOperations(ElementwiseKind kind, uint64_t of);
/// How many dimensions a row of a norm has: those of the weight, or one if
/// there is none.
unsigned getNormWidth(SymTensorType input, mlir::Value weight);
/// The dimensions of the input that a bias has: `dims`, or the last ones.
llvm::SmallVector<unsigned> getBiasDims(SymTensorType input, SymTensorType bias,
                                        mlir::DenseI64ArrayAttr dims);
} // namespace stg

namespace stg::detail {

inline SymTensorType tensorOf(mlir::Value value) {
  return llvm::cast<SymTensorType>(value.getType());
}

inline SymExpr elements(mlir::Value value) {
  return tensorOf(value).getNumElements();
}

inline SymExpr constant(mlir::Operation *op, int64_t value) {
  return SymExpr::get(op->getContext(), value);
}

/// Of an op that touches each operand and result once.
inline OpCost makeCost(mlir::Operation *op, SymExpr operations,
                       bool isMatrix = false) {
  return {operations, getOperandAndResultBytes(op), isMatrix};
}

/// True of a number that is not an integer of at least 1; a symbolic expression
/// may be one.
inline bool isNoCount(SymExpr expr) {
  std::optional<Rational> number = expr.getConstant();
  return number && (!number->isInteger() || *number < 1);
}

/// Fails with a message that tells the first dimension that differs, by its
/// extent or its names; where both values are given, notes say what has which
/// names. Without a location nothing is printed.
llvm::LogicalResult
checkSameShape(std::optional<mlir::Location> loc, llvm::StringRef what,
               llvm::ArrayRef<DimAttr> expected, llvm::ArrayRef<DimAttr> found,
               mlir::Value expectedOf = {}, mlir::Value foundOf = {});
/// Notes where values whose dimensions do not go together come from.
void noteNames(mlir::Diagnostic &diag, DimAttr dim, mlir::Value value);
llvm::LogicalResult checkMinRank(std::optional<mlir::Location> loc,
                                 llvm::StringRef what, SymTensorType type,
                                 int64_t rank);
llvm::LogicalResult checkIntegers(std::optional<mlir::Location> loc,
                                  llvm::StringRef what, SymTensorType type);

//===----------------------------------------------------------------------===//
// Assembly of blocks
//===----------------------------------------------------------------------===//

mlir::ParseResult parseCases(mlir::OpAsmParser &parser, mlir::ArrayAttr &cases);
void printCases(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::ArrayAttr cases);
mlir::ParseResult parseOptionType(mlir::OpAsmParser &parser,
                                  mlir::ArrayAttr &cases);
void printOptionType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::ArrayAttr cases);
mlir::ParseResult parseOptionValue(mlir::OpAsmParser &parser,
                                   mlir::StringAttr &value);
void printOptionValue(mlir::OpAsmPrinter &printer, OptionOp option,
                      mlir::StringAttr value);
mlir::ParseResult parseCallValues(mlir::OpAsmParser &parser,
                                  mlir::DictionaryAttr &values);
void printCallValues(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::DictionaryAttr values);

/// Checks that there is a sink for each head of the queries, if there are any.
llvm::LogicalResult checkSinks(std::optional<mlir::Location> loc,
                               mlir::Value query, mlir::Value sinks);
/// The tokens that `stg.compress` keeps: of the unfinished block, and of the
/// one before if blocks overlap.
TokenSpan getKeptSpan(SymExpr size, bool isOverlapping);
/// Checks window and chunk of an attention op.
llvm::LogicalResult verifySpan(AttentionOpInterface op);

} // namespace stg::detail

#endif // STG_LIB_DIALECT_STG_IR_STGVERIFICATION_H
