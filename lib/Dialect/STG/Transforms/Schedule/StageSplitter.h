//===- StageSplitter.h - Tasks of pipeline stages ---------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts the local program of one micro-batch into tasks: the forward and the
// backward pass of each virtual stage, and what each device does once per step.
//
// A stage is a range of the layers: of each repeat of the forward pass, and of
// the repeats of the same name. What stands beside the repeats goes where its
// operands are. Values that cross from one stage to the next are sent; values
// that cross from forward to backward are saved; values that the optimizer
// reads are gradients.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGESPLITTER_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGESPLITTER_H

#include "mlir/IR/PatternMatch.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace stg {

/// One task as a private function. Arguments and results are named by the
/// values of the program that they stand for.
struct Task {
  /// Where an argument comes from.
  enum Source {
    Input,    ///< An argument of the program.
    Received, ///< From the stage before (forward) or after (backward).
    Saved,    ///< A result of another task of the same stage.
  };
  struct Arg {
    Source source;
    unsigned stage; ///< Of the task whose result it is.
    mlir::Value value;
    /// Received: among what the other task sends; Saved: among its results.
    unsigned number = 0;
  };

  mlir::func::FuncOp function;
  llvm::SmallVector<Arg> args;
  llvm::SetVector<mlir::Value> sends;   ///< The first results.
  llvm::SetVector<mlir::Value> results; ///< The others: saved, or gradients.
};

/// The layers of a program, in order, and the virtual stage of each.
class StageSplitter {
public:
  /// `layers` is the number of layers of each virtual stage; empty: as many in
  /// each. `deviceOf` gives the device of each.
  StageSplitter(mlir::func::FuncOp program, llvm::ArrayRef<int64_t> layers,
                llvm::ArrayRef<unsigned> deviceOf);
  ~StageSplitter();

  /// Makes the tasks; what is left of the program is of no use.
  mlir::LogicalResult run();

  unsigned getNumStages() const { return deviceOf.size(); }
  Task &getForward(unsigned stage) { return forward[stage]; }
  Task &getBackward(unsigned stage) { return backward[stage]; }
  /// What a device does once, after its last micro-batch.
  Task &getStep(unsigned device) { return steps[device]; }

private:
  class TaskBuilder;
  enum class Section { Forward, Backward, Step };

  mlir::LogicalResult assignLayers();
  mlir::LogicalResult checkLayerCount(int64_t total);
  mlir::LogicalResult assignStages();
  mlir::LogicalResult assignOp(mlir::Operation *op);
  mlir::LogicalResult assignForward(mlir::Operation *op);
  mlir::LogicalResult assignBackward(mlir::Operation *op);
  mlir::LogicalResult placeBackward(mlir::Operation *op);
  mlir::LogicalResult assignGradientSum(AddOp sum);
  mlir::LogicalResult
  sumTermsOfStages(llvm::ArrayRef<AddOp> sums,
                   llvm::SmallVectorImpl<mlir::Value> &terms);
  mlir::LogicalResult assignStep(mlir::Operation *op);
  void assignFloating(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> getParameterUsers(mlir::Value value);
  llvm::BitVector getUserStages(llvm::ArrayRef<mlir::Operation *> users);
  mlir::LogicalResult assignRepeat(RepeatOp repeat);
  /// Checks that `op`, which is in the stages `readers`, has all layers there.
  mlir::LogicalResult checkStack(mlir::Operation *op, mlir::Value stack,
                                 const llvm::BitVector &readers);
  bool isGradient(mlir::Value value);
  bool isGradientSum(mlir::Operation *op);
  void collectTerms(AddOp sum, llvm::SmallVectorImpl<AddOp> &sums,
                    llvm::SmallVectorImpl<mlir::Value> &terms);
  void reduceTerms(AddOp sum, llvm::ArrayRef<mlir::Value> terms,
                   mlir::OpOperand &use);
  Section getSection(mlir::Operation *op);

  /// The stages that hold a value; none if every task makes it again.
  const llvm::BitVector &getStages(mlir::Value value);
  std::optional<unsigned> getStage(mlir::Value value);
  void setStages(mlir::Operation *op, const llvm::BitVector &set);
  void setStage(mlir::Operation *op, unsigned stage);
  bool holds(unsigned stage, mlir::Value value) {
    return getStages(value).test(stage);
  }

  /// The ops of a section, in order, that each stage or device executes.
  using OpLists = std::vector<std::vector<mlir::Operation *>>;
  void dealOps();
  void buildStep(unsigned device, llvm::ArrayRef<unsigned> own);
  void numberArgs();
  mlir::LogicalResult checkWork();

  mlir::func::FuncOp program;
  llvm::ArrayRef<int64_t> layers;
  llvm::ArrayRef<unsigned> deviceOf;
  mlir::OpBuilder builder;
  mlir::LogicalResult status = mlir::success();

  struct Range {
    SymExpr first, count; ///< A null count: none.
    bool isFirst = false, isLast = false;
  };
  /// By name of the repeat and virtual stage.
  std::map<std::string, std::vector<Range>> ranges;
  /// By name of the repeat, the stage that makes what it starts with.
  llvm::StringMap<unsigned> madeIn;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> stagesOf;
  llvm::DenseMap<mlir::Value, llvm::BitVector> valueStages;
  /// Values whose leading dimension is the layers of a repeat.
  llvm::DenseMap<mlir::Value, std::string> stackOf;
  /// Sums of what several stages contribute to the gradient of a parameter, and
  /// their terms: one for each stage.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>>
      sharedGradients;
  llvm::SmallVector<mlir::Operation *> replacedSums;
  llvm::BitVector none;
  OpLists forwardOps, backwardOps; ///< By stage.
  OpLists stepOps;                 ///< By device.

  std::vector<Task> forward, backward, steps;
  std::vector<std::unique_ptr<TaskBuilder>> forwardBuilders, backwardBuilders,
      stepBuilders;
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGESPLITTER_H
