//===- ShardingRules.h - Rules over named dimensions ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a user says about sharding: `DIM:AXIS` or `DIM:AXIS@stream`, where DIM
// is a name of dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SHARDINGRULES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SHARDINGRULES_H

#include "stg/Dialect/STG/IR/DimensionRule.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// What kind of value a rule looks at.
enum class ShardedValue { Parameter, Argument, Stream };

/// The rules of a mesh, most important first.
class DimensionRules {
public:
  explicit DimensionRules(llvm::SmallVector<DimensionRule> rules)
      : rules(std::move(rules)) {}
  /// Those recorded on the mesh; they have been checked when they were
  /// recorded.
  static DimensionRules get(MeshOp mesh);

  llvm::ArrayRef<DimensionRule> getRules() const { return rules; }

  /// True if rule `index` shards the dimension: it has the rule's name, and
  /// each of its other names has a rule for the same axis, too.
  bool matches(unsigned index, DimAttr dim, ShardedValue kind) const;

  /// The type of the value with the dimensions sharded that the rules name; an
  /// axis goes to the first rule that claims it. It is an error if this rule
  /// names two dimensions.
  mlir::FailureOr<SymTensorType> apply(mlir::Value value,
                                       ShardedValue kind) const;

private:
  mlir::FailureOr<std::optional<unsigned>>
  findDim(unsigned index, mlir::Value value, ShardedValue kind) const;
  bool hasRule(mlir::StringAttr dim, mlir::StringAttr axis,
               ShardedValue kind) const;

  llvm::SmallVector<DimensionRule> rules;
};

/// The names of all dimensions of values, sorted.
llvm::SmallVector<mlir::StringAttr>
collectDimensionNames(mlir::ModuleOp module);

/// Mesh axes, major to minor.
using AxisNames = llvm::SmallVector<mlir::StringAttr, 2>;

/// The axes over which an op computes each factor of its rule, from
/// `stg.factors`.
llvm::SmallVector<AxisNames> getFactorAxes(mlir::Operation *op,
                                           const ShardingRule &rule);

/// The axes over which an op makes a result partial: those of the sharded
/// factors that the result does not run over. The shards of a factor that
/// decomposes combine by more than that; its op is decomposed first.
AxisNames getPartialAxes(const ShardingRule &rule, unsigned result,
                         llvm::ArrayRef<AxisNames> factorAxes);

/// Makes the function's type that of its body, after types of values changed.
void updateFunctionType(mlir::func::FuncOp function);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SHARDINGRULES_H
