//===- LocalLayouts.h - What devices have of each value ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of every value of a local program, derived from those of its
// parameters and arguments, from its collectives, and from the sharding rules
// of its ops. What cannot be derived is unknown, and proves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_LOCAL_LOCALLAYOUTS_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_LOCAL_LOCALLAYOUTS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// What the devices along each axis of a mesh have of a value. Axes are
/// numbered as in the mesh; those of pipelines are not among them.
using AxisStates = llvm::SmallVector<AxisState, 4>;

/// What is known of an op but for what its operands are.
struct OpFacts {
  ShardingRule rule;
  bool isLinear;
  bool isElementwise; ///< All tensors have one shape and run over one rule.
  /// Linear in these operands, while all others are what they are.
  llvm::SmallVector<unsigned, 2> linearOperands = {};
  /// Of results: each device has all of them.
  llvm::SmallVector<unsigned, 2> wholeFactors = {};
};

/// What an op makes of what its operands are along one axis: one state for each
/// result.
llvm::SmallVector<AxisState, 2>
transferAxis(const OpFacts &op, llvm::ArrayRef<AxisState> operands);

/// What a value is along an axis if it may be either.
AxisState joinStates(AxisState lhs, AxisState rhs);

class LocalLayouts {
public:
  /// Derives the layouts of all values of `function`.
  LocalLayouts(mlir::func::FuncOp function, MeshAttr mesh);

  AxisState get(mlir::Value value, mlir::StringAttr axis) const;
  /// True if all devices of the group have the same.
  bool isWhole(mlir::Value value, mlir::ArrayAttr axes) const;
  llvm::ArrayRef<mlir::StringAttr> getAxes() const { return axes; }
  /// The layout as leaves carry it; null if it is not known along any axis.
  LayoutAttr getAttr(mlir::Value value) const;
  /// A value that no longer exists: another one may get its place in memory.
  void forget(mlir::Value value) { layouts.erase(value); }

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitScan(ScanOpInterface scan);
  void visitCompute(ShardableOpInterface op);
  void visitCollective(CollectiveOpInterface op);
  AxisStates getLeaf(LayoutAttr layout) const;
  AxisStates getStates(mlir::Value value) const;
  void setStates(mlir::Value value, AxisStates states);
  bool mentionsCoordinate(SymExpr expr) const;

  llvm::SmallVector<mlir::StringAttr> axes;
  mlir::ModuleOp module; ///< Declares symbols; null if there is none.
  /// Values of which something is known.
  llvm::DenseMap<mlir::Value, AxisStates> layouts;
};

/// Refuses collectives that cannot do what they say with what their operands
/// are known to be, and optimizer steps on partial gradients.
llvm::LogicalResult checkLayouts(mlir::func::FuncOp function,
                                 const LocalLayouts &layouts);

/// What `function` returns is; null where that is not known.
llvm::SmallVector<LayoutAttr> getResultLayouts(mlir::func::FuncOp function);

/// Says what the arguments from the first one on are, where that is known.
void setArgLayouts(mlir::func::FuncOp function, unsigned first,
                   llvm::ArrayRef<LayoutAttr> layouts);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_LOCAL_LOCALLAYOUTS_H
