//===- ShardingRules.h - Rules over named dimensions ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sharding rules of a mesh, applied to values by the names of their
// dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SHARDINGRULES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SHARDINGRULES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// The rules of a mesh, most important first.
class DimensionRules {
public:
  explicit DimensionRules(llvm::SmallVector<RuleAttr> rules)
      : rules(std::move(rules)) {}

  llvm::ArrayRef<RuleAttr> getRules() const { return rules; }

  /// True if rule `index` shards the dimension: it has the rule's name, and
  /// each of its other names has a rule for the same axis, too.
  bool matches(unsigned index, DimAttr dim, RuleScope kind) const;

  /// The type of the value with the dimensions sharded that the rules name; an
  /// axis goes to the first rule that claims it. It is an error if this rule
  /// names two dimensions.
  mlir::FailureOr<SymTensorType> apply(mlir::Value value, RuleScope kind) const;

private:
  mlir::FailureOr<std::optional<unsigned>>
  findDim(unsigned index, mlir::Value value, RuleScope kind) const;
  bool hasRule(mlir::StringAttr dim, mlir::StringAttr axis,
               RuleScope kind) const;

  llvm::SmallVector<RuleAttr> rules;
};

/// Calls `visit` for each value that rules are for, with what it is:
/// parameters, arguments of functions, and what repeats carry.
void forEachRuledValue(mlir::Operation *root,
                       llvm::function_ref<void(mlir::Value, RuleScope)> visit);

/// In `#stg.factors` of a plan: over these axes an op computes none of its
/// factors in shares, whatever its operands and results are.
constexpr llvm::StringLiteral kNoFactor = "none";

/// What a scope covers, for messages.
llvm::StringRef describeScope(RuleScope scope);

/// Mesh axes, major to minor.
using AxisNames = llvm::SmallVector<mlir::StringAttr, 2>;

/// The axes over which an op computes each factor of its rule, from its
/// `#stg.factors`.
llvm::SmallVector<AxisNames> getFactorAxes(ShardableOpInterface op,
                                           const ShardingRule &rule);

/// The number of the factor in the rule of the op, or an error that lists those
/// that it has.
mlir::FailureOr<unsigned> findFactor(mlir::Operation *op,
                                     const ShardingRule &rule,
                                     mlir::StringAttr name);

/// The axes over which an op makes a result partial: those of the sharded
/// factors that the result does not run over. The shards of a factor that
/// decomposes combine by more than that; its op is decomposed first.
AxisNames getPartialAxes(const ShardingRule &rule, unsigned result,
                         llvm::ArrayRef<AxisNames> factorAxes);

/// Calls `run` for each function with a body, with the mesh of its program. It
/// is an error if there is none, or if one of several meshes is not named.
llvm::LogicalResult forEachProgram(
    mlir::ModuleOp module,
    llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp, MeshOp)> run);

/// Makes the function's type that of its body, after types of values changed.
void updateFunctionType(mlir::func::FuncOp function);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SHARDINGRULES_H
