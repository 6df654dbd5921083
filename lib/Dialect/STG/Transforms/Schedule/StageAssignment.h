//===- StageAssignment.h - Which stage does what ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage is a range of the layers: of each scan of the forward pass, and of
// the scans of the same name. What stands beside them goes where its operands
// are. What makes the input of the first layer, and what reads the last one,
// are in the first and in the last stage, also if these have no layers.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGEASSIGNMENT_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGEASSIGNMENT_H

#include "mlir/IR/Builders.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

namespace stg {

class GradientFlow;
struct CarriedValue;

/// A collective whose operands have nothing to do with each other: each stage
/// executes it on those that it holds.
bool isCoalesced(mlir::Operation *op);

/// The stages of the ops and values of a program.
class StageAssignment {
public:
  /// The parts of a step that a stage executes one after the other.
  enum class Section { Forward, Backward, Step };

  /// The iterations of a scan that a stage executes; a null count: none.
  struct Range {
    SymExpr first, count;
    bool isFirst = false, isLast = false;
  };

  /// `layers` is the number of layers of each virtual stage; empty: as many in
  /// each. `deviceOf` gives the device of each.
  StageAssignment(mlir::func::FuncOp program, llvm::ArrayRef<int64_t> layers,
                  llvm::ArrayRef<unsigned> deviceOf,
                  const GradientFlow &gradients);

  /// Finds the stages. Of the gradient of a parameter that several share each
  /// adds up its part; sums of the parts are added to the program.
  llvm::LogicalResult run();

  mlir::func::FuncOp getProgram() const { return program; }
  unsigned getNumStages() const { return deviceOf.size(); }
  unsigned getDevice(unsigned stage) const { return deviceOf[stage]; }
  Section getSection(mlir::Operation *op) const;

  /// The stages that execute an op; null if every task that needs it does.
  const llvm::BitVector *getStages(mlir::Operation *op) const;
  /// The stages that hold a value; none if every task makes it again.
  const llvm::BitVector &getStages(mlir::Value value) const;
  bool holds(unsigned stage, mlir::Value value) const {
    return getStages(value).test(stage);
  }
  /// The iterations of a scan that a stage executes.
  const Range &getRange(ScanOpInterface scan, unsigned stage) const;
  /// The layers of a stage that a value has in its leading dimension; null if
  /// that is not the layers of a scan.
  const Range *getStackRange(mlir::Value value, unsigned stage) const;
  /// What stages have a part of each, and the op adds up over them once per
  /// step; null if it is no such sum.
  mlir::Value getSharedTerm(mlir::Operation *sum) const {
    return sharedGradients.lookup(sum);
  }
  /// True for a sum of terms of a parameter's gradient, of which each stage
  /// adds those that it holds.
  bool isStageSum(mlir::Operation *op) const { return stageSums.contains(op); }
  /// True for what iterations add up of the gradient of a parameter: each stage
  /// begins with zero, and its part is that of its own iterations.
  bool isParameterSum(mlir::Value value) const {
    return parameterSums.contains(value);
  }

private:
  // Layers.
  llvm::LogicalResult assignLayers();
  llvm::LogicalResult checkLayerCount(int64_t total);
  llvm::LogicalResult dealLayers(llvm::ArrayRef<ScanOpInterface> scans,
                                 int64_t total);

  // Ops.
  llvm::LogicalResult assignStages();
  void keepResults();
  void moveToBackward();
  void collectEnds(ScanOpInterface first, ScanOpInterface last);
  llvm::LogicalResult assignOp(mlir::Operation *op);
  llvm::LogicalResult assignScan(ScanOpInterface scan);
  void assignSums(ScanOpInterface scan, const llvm::BitVector &set);
  bool isFromEarlier(ScanOpInterface scan, const CarriedValue &sum,
                     const llvm::BitVector &set) const;
  void addInitBehind(ScanOpInterface scan, const CarriedValue &sum,
                     mlir::Operation *like);
  mlir::Value makeZero(mlir::Value like);
  llvm::LogicalResult assignForward(mlir::Operation *op);
  llvm::LogicalResult assignBackward(mlir::Operation *op);
  bool assignStageParts(mlir::Operation *op);
  llvm::LogicalResult placeBackward(mlir::Operation *op);
  llvm::LogicalResult assignStep(mlir::Operation *op);
  void assignFloatingForward(mlir::Operation *op);
  void assignFloating(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> getParameterUsers(mlir::Value value);
  llvm::BitVector getUserStages(llvm::ArrayRef<mlir::Operation *> users);
  /// Checks that `op`, which is in the stages `readers`, has all layers there.
  llvm::LogicalResult checkStack(mlir::Operation *op, mlir::Value stack,
                                 const llvm::BitVector &readers);
  void setStages(mlir::Operation *op, const llvm::BitVector &set);
  void setStage(mlir::Operation *op, unsigned stage);

  // Gradients of shared parameters, in SharedGradients.cpp.
  void collectGradientSums(const GradientFlow &gradients);
  void addPart(mlir::Value part, mlir::Operation *like);
  bool areOfSeveralStages(llvm::ArrayRef<mlir::Value> terms) const;
  llvm::LogicalResult assignGradientSum(AddOp sum);

  mlir::func::FuncOp program;
  llvm::ArrayRef<int64_t> layers;
  llvm::ArrayRef<unsigned> deviceOf;
  mlir::OpBuilder builder;

  /// By name of the scan and virtual stage.
  llvm::DenseMap<mlir::StringAttr, std::vector<Range>> ranges;
  /// What the first layer reads is made by these ops.
  llvm::DenseSet<mlir::Operation *> beforeLayers;
  /// What the last layer makes, and what is made of that.
  llvm::DenseSet<mlir::Value> behindLayers;
  /// Of which each stage has a part, and what a sum of it is called like.
  llvm::DenseMap<mlir::Value, mlir::Operation *> stageParts;
  /// By name of an op outside of scans, the stage of its forward pass.
  llvm::DenseMap<mlir::StringAttr, unsigned> forwardStage;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> stagesOf;
  llvm::DenseMap<mlir::Value, llvm::BitVector> valueStages;
  /// Values whose leading dimension is the layers of a scan.
  llvm::DenseMap<mlir::Value, mlir::StringAttr> stackOf;
  /// What forward makes at the top of the program, by the name of the op or of
  /// the scan.
  llvm::DenseMap<mlir::StringAttr, mlir::Value> makers;
  /// Results of scans that are gradients of parameters.
  llvm::DenseSet<mlir::Value> parameterSums;
  /// Sums of contributions to a gradient, at the top of the program.
  llvm::DenseSet<mlir::Operation *> gradientSums;
  /// Those of which each stage adds its own terms.
  llvm::DenseSet<mlir::Operation *> stageSums;
  /// Those over stages, and what they have a part of each.
  llvm::DenseMap<mlir::Operation *, mlir::Value> sharedGradients;
  llvm::BitVector none;
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGEASSIGNMENT_H
