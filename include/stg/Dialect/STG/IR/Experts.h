//===- Experts.h - What tokens choose ---------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_EXPERTS_H
#define STG_DIALECT_STG_IR_EXPERTS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {
/// The experts of each token. The indices of a dispatch may be these under
/// another shape, where a token has a row of its own for each expert.
mlir::Value getChoices(DispatchOp dispatch);
} // namespace stg

#endif // STG_DIALECT_STG_IR_EXPERTS_H
