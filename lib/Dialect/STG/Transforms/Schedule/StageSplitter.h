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
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGESPLITTER_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGESPLITTER_H

#include "TaskBuilder.h"

namespace stg {

/// The tasks of a program.
class StageSplitter {
public:
  /// As of a `StageAssignment`.
  StageSplitter(mlir::func::FuncOp program, llvm::ArrayRef<int64_t> layers,
                llvm::ArrayRef<unsigned> deviceOf,
                const GradientFlow &gradients);

  /// Makes the tasks; what is left of the program is of no use. `kept`, if
  /// there is one, is a result of the forward task of the last stage.
  llvm::LogicalResult run(mlir::Value kept = {});

  unsigned getNumStages() const { return deviceOf.size(); }
  Task &getForward(unsigned stage) { return forward[stage]; }
  Task &getBackward(unsigned stage) { return backward[stage]; }
  /// What a device does once, after its last micro-batch.
  Task &getStep(unsigned device) { return steps[device]; }

private:
  using Section = StageAssignment::Section;
  /// The ops of a section, in order, that each stage or device executes.
  using OpLists = std::vector<std::vector<mlir::Operation *>>;

  void dealOps();
  void makeBuilders();
  llvm::LogicalResult buildTasks(mlir::Value kept);
  llvm::LogicalResult buildStep(unsigned device, llvm::ArrayRef<unsigned> own);
  void numberArgs();
  llvm::LogicalResult checkWork();

  mlir::func::FuncOp program;
  llvm::ArrayRef<unsigned> deviceOf;
  StageAssignment stages;
  OpLists forwardOps, backwardOps; ///< By stage.
  OpLists stepOps;                 ///< By device.
  std::vector<Task> forward, backward, steps;
  TaskBuilders builders;
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGESPLITTER_H
