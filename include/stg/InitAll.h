//===- InitAll.h - Registers everything that the tools offer ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only list of our dialects, passes and pipelines; every tool uses it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_INITALL_H
#define STG_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace stg {

/// Registers the stg and chakra dialects and the upstream ones they build on.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers our passes and pipelines and the general upstream passes that a
/// user of `stg-opt` expects (canonicalize, cse, inline, symbol-dce, ...).
void registerAllPasses();

} // namespace stg

#endif // STG_INITALL_H
