//===- CutRepeats.h - Parts of repeats --------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_TRANSFORMS_CUTREPEATS_H
#define STG_DIALECT_STG_TRANSFORMS_CUTREPEATS_H

#include "mlir/IR/BuiltinOps.h"

namespace stg {

/// Cuts each repeat at the top of a function of `module` where one of `other`
/// with the same name begins or ends, so that all iterations of a part are in
/// one of those. A repeat that reads slices, stacks what it makes, or goes
/// backwards, stays whole.
void cutRepeatsLike(mlir::ModuleOp module, mlir::ModuleOp other);

} // namespace stg

#endif // STG_DIALECT_STG_TRANSFORMS_CUTREPEATS_H
