//===- DimensionRule.cpp - One sharding rule of a mesh --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/DimensionRule.h"

using namespace mlir;
using namespace stg;

FailureOr<DimensionRule>
DimensionRule::parse(MLIRContext *context, StringRef text, std::string &error) {
  auto [dim, rest] = text.trim().split(':');
  auto [axis, scope] = rest.split('@');
  if (!text.contains(':') || dim.empty() ||
      (rest.contains('@') && (scope != "stream" || axis.empty()))) {
    error = ("'" + text +
             "' is not a sharding rule, expected 'DIM:AXIS' or "
             "'DIM:AXIS@stream'")
                .str();
    return failure();
  }
  DimensionRule rule;
  rule.dim = StringAttr::get(context, dim);
  if (!axis.empty())
    rule.axis = StringAttr::get(context, axis);
  rule.streamOnly = scope == "stream";
  return rule;
}

std::string DimensionRule::str() const {
  return (dim.getValue() + ":" + (axis ? axis.getValue() : "") +
          (streamOnly ? "@stream" : ""))
      .str();
}
