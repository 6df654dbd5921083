//===- Describe.h - What an op is, to a reader ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What pictures and editors show of an op beside its text, at any level. It is
// asked through the interfaces, so that it is known of ops of other dialects.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DESCRIBE_DESCRIBE_H
#define STG_DESCRIBE_DESCRIBE_H

#include "mlir/IR/Operation.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"
#include <string>

namespace stg {

struct OpDescription {
  enum class Kind {
    Compute,
    /// Reads a parameter, a state or an input.
    Buffer,
    Collective,
    Message,
    /// Moves nothing: its results are its operands in another shape.
    View,
    /// Anything else, such as a loop or a call.
    Other,
  };
  Kind kind = Kind::Other;
  /// Of its node: `up.bwd.dw`; of a parameter, a loop, a function. May be
  /// empty.
  std::string name;
  /// `fwd`, `recompute`, `bwd`, `grad_sync` or `opt`; empty without a step.
  std::string phase;
  /// Operations and bytes of device memory, on one device; null if it has no
  /// cost of its own.
  SymExpr operations, bytes;
  /// True for matrix products.
  bool isMatrix = false;
  /// The factors that it computes over mesh axes, `b : dp, f : tp`.
  std::string sharding;
  /// What it communicates, `all_reduce over tp, 2*B*S*D bytes`.
  std::string communication;
  /// How often it is executed where that is a loop, `layers * L`.
  std::string loop;
};

OpDescription describe(mlir::Operation *op);

} // namespace stg

#endif // STG_DESCRIBE_DESCRIBE_H
