//===- STGInterfaces.h - What passes ask of an op ---------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGINTERFACES_H
#define STG_DIALECT_STG_IR_STGINTERFACES_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "stg/Analysis/ShardingRule.h"
#include "stg/Dialect/STG/IR/STGAttrs.h"
#include <optional>

namespace stg {

/// What executing an op once costs one device.
struct OpCost {
  /// Operations; a multiply-add is 2.
  SymExpr operations;
  /// Bytes of device memory read plus written.
  SymExpr bytes;
  /// True for matrix products: what model-FLOP formulas count.
  bool isMatrix = false;
};

/// Bytes of all operands and results of `op`: each read or written once.
/// Immediates (`stg.splat`) are not in memory and count nothing.
SymExpr getOperandAndResultBytes(mlir::Operation *op);

/// Whether an extent may be the mean of several, and no integer or below one:
/// it is a fraction or 0, has a divisor, or is what a device looks up by a
/// function of its coordinates.
bool canBeMean(SymExpr extent);

/// Of `amount`, which an operand of a product has, the part that is read: where
/// the other operand has fewer rows than there are slices, such as experts,
/// slices without a row are not.
SymExpr getReadPart(mlir::OpOperand &use, SymExpr amount);

class DrawsAttr;

/// Of an amount in slices that rows of tokens draw, the part that is expected
/// in those that are drawn. A slice has so many rows on average, from which
/// follows how many tokens there are.
SymExpr getDrawnPart(DrawsAttr draws, SymExpr amount, SymExpr rows);

/// False for a result of an op that does not compute it, because nobody reads
/// it; see `CostOpInterface::isMadeIfRead`.
bool isMade(mlir::Value result);

/// A persistent buffer that belongs to an op, such as an optimizer moment.
struct StateBuffer {
  enum Kind { Optimizer, Cache };
  /// Of an optimizer's state appended to the parameter's name ("master",
  /// "exp_avg"); of a cache the whole name.
  std::string suffix;
  SymTensorType type;
  Kind kind = Optimizer;
};

/// Through which an op builds its backward pass; see
/// `DifferentiableOpInterface`. Ops created with it carry the phase and the
/// name of the forward op, so that traces can tell what belongs to what.
class GradientBuilder {
public:
  virtual ~GradientBuilder() = default;

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() { return forward->getLoc(); }

  /// Gradient of the forward op's result, or null where it is zero.
  virtual mlir::Value getResultGradient(unsigned result) = 0;
  /// True if somebody needs the gradient of the operand.
  virtual bool needsGradient(unsigned operand) = 0;
  /// The type that the operand's gradient must have: the operand's own, with
  /// the gradient element type for parameters.
  virtual SymTensorType getGradientType(unsigned operand) = 0;
  /// Contributes to the gradient of the operand; contributions are summed.
  virtual void addGradient(unsigned operand, mlir::Value gradient) = 0;

  /// Creates a backward op. `role` distinguishes several of one forward op;
  /// none if there is one.
  template <typename OpTy, typename... Args>
  OpTy create(std::optional<Role> role, Args &&...args) {
    auto op = OpTy::create(builder, getLoc(), std::forward<Args>(args)...);
    annotate(op, role);
    return op;
  }
  /// That of the gradient of a parameter or of another operand.
  Role getRole(unsigned operand);

protected:
  GradientBuilder(mlir::OpBuilder &builder, mlir::Operation *forward)
      : builder(builder), forward(forward) {}
  void annotate(mlir::Operation *op, std::optional<Role> role);

  mlir::OpBuilder &builder;
  mlir::Operation *forward;
};

/// What a device with some of the tokens of a recurrent op computes.
struct RecurrenceParts {
  SymTensorType state; ///< What it hands on.
  /// True if it hands that to the device with the tokens before, as backward
  /// does.
  bool isBackward = false;
  /// The operand of which tokens are handed on as they are, the last ones or,
  /// backward, the first; none: a state is made.
  std::optional<unsigned> tail;

  // Operations; null: there is no such part.
  SymExpr own;     ///< Of what does not depend on others.
  SymExpr passing; ///< Of what makes the state that is handed on.
  SymExpr rest;    ///< Of what nobody waits for.
  bool isMatrix = false;
  /// True if the own part makes a state, to which the one that is given is
  /// added.
  bool isAdded = false;
};

/// How far the tokens of a request see back. What none of them sees is not
/// kept.
struct TokenSpan {
  SymExpr window; ///< Tokens that one sees, its own too; null: all.
  SymExpr chunk;  ///< Tokens of a chunk, of which one sees its own; null: none.
  /// True if one sees the chunk before its own, too.
  bool seesChunkBefore = false;
  /// True of what an op needs to go on from, whose element type stays.
  bool isState = false;
  /// Tokens of a block that what is kept has a row for, the second dimension;
  /// null: it has one for each token.
  SymExpr block{};

  /// Of so many tokens that are there those that one of the next ones sees.
  /// Devices that divide them into so many parts keep equally many of those
  /// that a window needs.
  SymExpr getVisible(SymExpr tokens, int64_t parts = 1) const;
  /// How many tokens one sees at most; null: there is no bound.
  SymExpr getMost() const;
  /// Of so many tokens those that there is room for.
  SymExpr getKept(SymExpr tokens) const;
};

/// The bytes of a head of a row of attention as devices send it to each other
/// that have some of the keys each; see `stg.pack_partial`.
SymExpr getPartialBytes(SymTensorType output);

/// Through which an op becomes that of a step of inference; see
/// `IncrementalOpInterface`.
class IncrementBuilder {
public:
  virtual ~IncrementBuilder() = default;

  /// True for a dimension that runs over the tokens of a step.
  virtual bool isTokens(DimAttr dim) = 0;
  /// How many tokens of a row are there before the step.
  virtual SymExpr getCached() = 0;
  /// The requests that are packed into a row; null: each row is one.
  virtual RequestsAttr getRequests() = 0;
  /// Keeps what is made of the new tokens for later steps, by the name of the
  /// op and `suffix`, and gives it together with what earlier steps have kept,
  /// as far as the new tokens see.
  virtual mlir::Value keep(mlir::Value value, llvm::StringRef suffix,
                           TokenSpan span = {}) = 0;
  /// Gives the second dimension of a result, which is of blocks of so many
  /// tokens, the blocks that the new tokens are in, and likewise whatever is
  /// made of it.
  virtual llvm::LogicalResult countBlocks(mlir::Value result, SymExpr size) = 0;
  /// What a state is called that the op itself keeps from step to step, whose
  /// size does not depend on how many tokens there have been.
  virtual mlir::StringAttr nameState(llvm::StringRef suffix) = 0;
  /// How many of the new tokens may be taken back, as drafts are that are not
  /// accepted: a state that the op itself keeps is kept before each of them.
  virtual int64_t getRollback() = 0;
};

namespace detail {
template <typename OpTy, typename = void>
struct HasLinearOperands : std::false_type {};
template <typename OpTy>
struct HasLinearOperands<OpTy, std::void_t<decltype(OpTy::kLinearOperands)>>
    : std::true_type {};

/// Whether the trait `LinearIn` of the op names this operand; none if the op
/// does not have it.
template <typename OpTy>
std::optional<bool> isDeclaredLinear(OpTy op, unsigned operand) {
  if constexpr (HasLinearOperands<OpTy>::value) {
    for (unsigned declared : OpTy::kLinearOperands) {
      auto [first, length] = op.getODSOperandIndexAndLength(declared);
      if (operand >= first && operand < first + length)
        return true;
    }
    return false;
  }
  return std::nullopt;
}

/// Checks what a collective says without its mesh.
llvm::LogicalResult verifyCollective(mlir::Operation *op);
/// The discardable attribute `stg.factors`, of an op that does not declare it.
FactorsAttr getFactors(mlir::Operation *op);
void setFactors(mlir::Operation *op, FactorsAttr factors);
/// What `op` and its attributes say but for its origin and those of `without`.
mlir::Attribute getCollectiveIdentity(mlir::Operation *op,
                                      llvm::ArrayRef<llvm::StringRef> without);
/// The numbers and types of what a scan reads, carries and stacks.
llvm::LogicalResult verifyScan(mlir::Operation *op);
} // namespace detail

} // namespace stg

namespace stg::detail {
/// That the message goes to another device.
llvm::LogicalResult verifyMessage(mlir::Operation *op);

/// Verifies `OptimizerOpInterface`: an element of the parameter has one of the
/// gradient, or one of them is a shard.
llvm::LogicalResult verifyOptimizer(mlir::Operation *op);

/// Verifies `ClippedOpInterface`: a norm, if there is one, is one float.
llvm::LogicalResult verifyNorm(mlir::Operation *op);
} // namespace stg::detail

#include "stg/Dialect/STG/IR/STGInterfaces.h.inc"

namespace stg {
/// The pairs of so many queries, which are the last ones of so many keys, that
/// the mask of `op` leaves, whatever is counted. Pairs with keys of blocks are
/// among them.
SymExpr getUnmaskedPairs(AttentionOpInterface op, SymExpr queries,
                         SymExpr keys);
/// Those of a request with so many new tokens behind so many cached ones. A
/// prefix is among the new tokens only where nothing is cached.
SymExpr getUnmaskedPairsOfRequest(AttentionOpInterface op, SymExpr newTokens,
                                  SymExpr cached);

/// How many blocks of so many tokens are whole.
SymExpr getWholeBlocks(SymExpr tokens, SymExpr size);

/// Bytes that a device brings to a collective.
SymExpr getNumBytes(CollectiveOpInterface op);

/// A collective like `like` of these operands, of one or of several such
/// collectives: `values` and `types` are its operands and results, `operands`
/// what they were in the collectives before.
mlir::Operation *createCoalesced(mlir::OpBuilder &builder,
                                 CollectiveOpInterface like,
                                 llvm::ArrayRef<mlir::OpOperand *> operands,
                                 mlir::ValueRange values,
                                 mlir::TypeRange types);
/// One collective with the operands and results of all `ops`, which are alike,
/// before `like`, one of them; it has no role. Whoever reads the others is left
/// to the caller.
mlir::Operation *coalesce(llvm::ArrayRef<CollectiveOpInterface> ops,
                          CollectiveOpInterface like);
} // namespace stg

#endif // STG_DIALECT_STG_IR_STGINTERFACES_H
