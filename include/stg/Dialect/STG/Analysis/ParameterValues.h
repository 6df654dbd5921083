//===- ParameterValues.h - What is made of parameters -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model computes of its parameters alone, such as a weight of a
// direction and a length, is the same for all samples and micro-batches. Who
// needs it can make it again.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_ANALYSIS_PARAMETERVALUES_H
#define STG_DIALECT_STG_ANALYSIS_PARAMETERVALUES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// True for a parameter, or what is gathered of it.
bool isOfParameter(mlir::Value value);

/// True for these, and for what ops make of them alone where the value is.
/// `GradientFlow` asks for more, as a gradient goes through a product with any
/// of it: constants, and what scans have stacked.
bool isMadeOfParameters(mlir::Value value);

} // namespace stg

#endif // STG_DIALECT_STG_ANALYSIS_PARAMETERVALUES_H
