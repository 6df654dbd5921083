//===- ParameterPatterns.h - Parameters by patterns of names ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Support/NamePatterns.h"

namespace stg {

/// Says at the op what is wrong, if anything is.
inline llvm::LogicalResult emitIfFailed(mlir::Operation *op,
                                        llvm::Error error) {
  if (error)
    return op->emitError(llvm::toString(std::move(error)));
  return llvm::success();
}

/// Patterns of names of parameters.
class ParameterPatterns : public NamePatterns {
public:
  bool match(ParamOp param) {
    return NamePatterns::match(param.getParamName());
  }
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H
