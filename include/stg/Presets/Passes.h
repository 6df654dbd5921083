//===- Passes.h - Passes that apply presets ---------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_PRESETS_PASSES_H
#define STG_PRESETS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Presets/Passes.h.inc"

} // namespace stg

#endif // STG_PRESETS_PASSES_H
