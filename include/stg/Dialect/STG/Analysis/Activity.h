//===- Activity.h - What depends on trained parameters ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value may have a gradient if it is a float that depends on a parameter that
// is trained. All others need none: neither products nor anything saved.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_ANALYSIS_ACTIVITY_H
#define STG_DIALECT_STG_ANALYSIS_ACTIVITY_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// True for a tensor of floats.
bool isFloatTensor(mlir::Value value);

/// Values that depend on a parameter that is trained.
class Activity {
public:
  /// `replayed`: an only iteration is like one of several.
  explicit Activity(bool replayed = false) : replayed(replayed) {}

  /// Adds the values of a block, whose arguments and captured values are known.
  void addBlock(mlir::Block &block);
  bool contains(mlir::Value value) const { return active.contains(value); }

private:
  void addOp(mlir::Operation &op);
  void addFloats(mlir::ValueRange values);
  void addScan(ScanOpInterface scan);

  bool replayed;
  llvm::DenseSet<mlir::Value> active;
};

} // namespace stg

#endif // STG_DIALECT_STG_ANALYSIS_ACTIVITY_H
