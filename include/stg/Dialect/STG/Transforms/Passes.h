//===- Passes.h - Passes over the stg dialect -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_TRANSFORMS_PASSES_H
#define STG_DIALECT_STG_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Strategy/PassOption.h"

namespace stg {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "stg/Dialect/STG/Transforms/Passes.h.inc"

/// `dp=4 preset=p tp=2` as `preset=p values=dp=4,tp=2`: an option of a pass
/// that is not declared stands for an element of its list `values`.
std::string gatherValues(llvm::StringRef options,
                         llvm::function_ref<bool(llvm::StringRef)> isDeclared);

/// Reads the files that the module imports, looking for them beside the file
/// that does and in these folders, and takes their blocks.
llvm::LogicalResult resolveImports(mlir::ModuleOp module,
                                   llvm::ArrayRef<std::string> path);

/// True for an op that puts tokens behind one another, such as those of images
/// and of a text: each row that it makes is one that it reads.
bool joinsTokens(mlir::Operation *op, mlir::StringAttr tokens);

/// True if attention keeps latents in place of the keys and values that are
/// products of them.
bool hasLatents(mlir::ModuleOp module, mlir::StringAttr tokens);

/// The symbol for experts with their replicas.
constexpr llvm::StringLiteral kPhysicalExperts = "physical_experts";

/// The names of all dimensions of values, sorted.
llvm::SmallVector<mlir::StringAttr>
collectDimensionNames(mlir::Operation *root);

} // namespace stg

#endif // STG_DIALECT_STG_TRANSFORMS_PASSES_H
