//===- Blocks.h - What passes over blocks share -------------------*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_MODEL_BLOCKS_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_MODEL_BLOCKS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// The parameter that an op is called by if it has no name of its own: the only
/// one that it reads. Null if it reads none or several.
ParamOp getNamingParameter(mlir::Operation *op);

/// Gives options of the module values: those of the configuration, if it is not
/// empty, then those of assignments `NAME=VALUE`. What is no option of the
/// module is skipped.
llvm::LogicalResult bindOptions(mlir::ModuleOp module, llvm::StringRef config,
                                llvm::ArrayRef<std::string> values);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_MODEL_BLOCKS_H
