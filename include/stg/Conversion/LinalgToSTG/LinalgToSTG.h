//===- LinalgToSTG.h - Models that come as linalg on tensors ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_CONVERSION_LINALGTOSTG_LINALGTOSTG_H
#define STG_CONVERSION_LINALGTOSTG_LINALGTOSTG_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Conversion/LinalgToSTG/Passes.h.inc"

/// Those that a program in linalg has ops of.
void registerLinalgDialects(mlir::DialectRegistry &registry);

/// What makes a model of a program: functions in the place of calls, the
/// conversion, kernels and layers.
void buildImportLinalgPipeline(mlir::OpPassManager &pm,
                               const ConvertLinalgToSTGOptions &options);

/// Registers the conversion and that pipeline, `--stg-import-linalg`.
void registerLinalgPasses();

} // namespace stg

#endif // STG_CONVERSION_LINALGTOSTG_LINALGTOSTG_H
