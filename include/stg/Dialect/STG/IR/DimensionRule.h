//===- DimensionRule.h - One sharding rule of a mesh ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_DIMENSIONRULE_H
#define STG_DIALECT_STG_IR_DIMENSIONRULE_H

#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace stg {

/// `DIM:AXIS` or `DIM:AXIS@stream`: what a user says about the sharding of the
/// dimensions that a symbol names.
struct DimensionRule {
  mlir::StringAttr dim;
  mlir::StringAttr axis; ///< Null for `DIM:`, which only drops default rules.
  bool streamOnly = false;

  /// Fails, with `error` set, if `text` is not a rule.
  static mlir::FailureOr<DimensionRule>
  parse(mlir::MLIRContext *context, llvm::StringRef text, std::string &error);
  std::string str() const;
};

} // namespace stg

#endif // STG_DIALECT_STG_IR_DIMENSIONRULE_H
