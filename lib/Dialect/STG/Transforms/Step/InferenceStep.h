//===- InferenceStep.h - What a step of inference is ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of `--stg-inference` share: the step, the caches of its
// tokens, and attention that keeps latents.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_STEP_INFERENCESTEP_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_STEP_INFERENCESTEP_H

#include "ParameterPatterns.h"
#include "SymbolValues.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {

/// What a step is, for all ops.
struct InferenceStep {
  mlir::StringAttr tokens; ///< The dimension.
  SymExpr cached;          ///< Tokens of a row.
  RequestsAttr requests;   ///< Null: each row is one.
  mlir::Type kvType;       ///< Null: that of what is kept.
  /// Caches that are not of that type; it learns which there are.
  mutable NamePatterns kvKeep;
  bool isPadded = false; ///< Rows may have tokens of no request.
  bool allLogits = false;
  /// The number of the step that the numbers above mention; null: there is one
  /// step.
  mlir::StringAttr index;
  /// The requests of steps that caches have room for; empty: those of the step.
  llvm::SmallVector<RequestsAttr> reserve;
  /// Requests of other programs that read the same parameters.
  llvm::SmallVector<RequestsAttr> beside;
  int64_t kvBlockSize = 1; ///< Tokens that are kept or not together.
  /// New tokens that a window has room for beside those that are seen; 0: it
  /// has room for the window alone.
  int64_t kvWindowRoom = 0;
  int64_t rollback = 0; ///< New tokens that may be taken back.
  /// A window of what is kept is as long as a multiple of so many tokens, where
  /// as much is kept.
  int64_t tokenParts = 1;
  MlaForm mlaForm = MlaForm::Auto;
  SymBinding binding; ///< Values of symbols, as far as they are known.

  bool isTokens(DimAttr dim) const { return dim.hasName(tokens); }
  /// The element type of a cache of that name.
  mlir::Type getKeptType(mlir::StringAttr name, mlir::Type made) const {
    return kvType && !kvKeep.match(name.getValue()) ? kvType : made;
  }
  /// The number that an expression is, if its symbols have values.
  std::optional<int64_t> evaluate(SymExpr expr) const {
    return stg::evaluate(expr, binding);
  }
};

/// The name of an op, or of what it does.
llvm::StringRef getOwnName(mlir::Operation *op);
/// The name of an op and what it is for: `attention.k`.
mlir::StringAttr extendName(mlir::Operation *op, llvm::StringRef suffix);
void setForward(mlir::Operation *op, mlir::StringAttr name);

/// Keeps what is made of the new tokens of the step for later steps; gives what
/// these see of it.
mlir::Value keepTokens(mlir::OpBuilder &builder, const InferenceStep &step,
                       mlir::Location loc, mlir::Value value,
                       mlir::StringAttr name, TokenSpan span);

/// Attention whose keys and values are products with latents keeps these;
/// `done` gets the ops that it becomes. Where the step asks for a form that
/// there is not, this is an error.
llvm::LogicalResult keepLatents(mlir::func::FuncOp function,
                                const InferenceStep &step,
                                llvm::DenseSet<mlir::Operation *> &done);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_STEP_INFERENCESTEP_H
