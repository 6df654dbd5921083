//===- TaskBuilder.h - Builds the task of a stage ---------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task is what a stage does of a micro-batch in forward or in backward, or
// what a device does once per step. Values that cross from one stage to the
// next are sent; values that cross from forward to backward are saved; values
// that the optimizer reads are gradients.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_TASKBUILDER_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_TASKBUILDER_H

#include "Local/LocalLayouts.h"
#include "StageAssignment.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

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

class TaskBuilder;

/// The builders of all tasks, which ask each other for what they read.
struct TaskBuilders {
  std::vector<std::unique_ptr<TaskBuilder>> forward, backward; ///< By stage.
  std::vector<std::unique_ptr<TaskBuilder>> steps;             ///< By device.
  std::unique_ptr<LocalLayouts> layouts; ///< Of the values of the program.
};

/// Builds one task as a function before the program.
class TaskBuilder {
public:
  using Section = StageAssignment::Section;

  TaskBuilder(const StageAssignment &stages, TaskBuilders &others, Task &task,
              Section section, const llvm::Twine &name);

  /// Makes a copy of an op for a stage.
  llvm::LogicalResult clone(unsigned stage, mlir::Operation *op);
  /// What stages of a device do with the same values, as with a parameter that
  /// several of them read, is done once.
  llvm::LogicalResult cloneOnce(llvm::ArrayRef<unsigned> stages,
                                mlir::Operation *op);
  /// One collective for what all stages of the device hold of its operands.
  llvm::LogicalResult cloneCoalesced(llvm::ArrayRef<unsigned> stages,
                                     mlir::Operation *op);
  /// The gradient of a parameter that several stages read: each has a copy of
  /// the parameter, and their contributions are summed over the devices.
  llvm::LogicalResult reduceShared(llvm::ArrayRef<unsigned> stages,
                                   mlir::Operation *op);
  /// Makes a value of the program a result.
  llvm::LogicalResult addResult(unsigned stage, mlir::Value value);
  /// Ends the function; all tasks have asked for what they read.
  void finish(unsigned stage);

private:
  /// The value of the program, complete, as the task sees it in a stage.
  mlir::FailureOr<mlir::Value> get(unsigned stage, mlir::Value value);
  /// Also what a scan carries from the stage to the next one.
  mlir::FailureOr<mlir::Value> getSoFar(unsigned stage, mlir::Value value);
  mlir::Value addArg(unsigned stage, Task::Source source, mlir::Value value);
  llvm::LogicalResult addSend(unsigned stage, mlir::Value value);
  llvm::LogicalResult cloneScan(unsigned stage, ScanOpInterface scan);
  llvm::LogicalResult addHeld(unsigned stage, mlir::Operation *sum);
  llvm::LogicalResult mapCaptured(unsigned stage, mlir::Operation *op,
                                  mlir::IRMapping &mapping);
  void mapResults(unsigned stage, mlir::Operation *op, mlir::Operation *copy);
  void nameCoalesced(llvm::ArrayRef<unsigned> stages, mlir::Operation *op,
                     mlir::Operation *copy);
  SymTensorType getType(unsigned stage, mlir::Value value);

  const StageAssignment &stages;
  TaskBuilders &others;
  Task &task;
  Section section;
  mlir::OpBuilder builder;
  mlir::Block *body;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value>
      values;                                          ///< By stage.
  llvm::DenseMap<mlir::Value, mlir::Value> freeValues; ///< In all stages.
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_TASKBUILDER_H
