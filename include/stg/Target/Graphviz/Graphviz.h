//===- Graphviz.h - Pictures of any level -----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module as a graph in the DOT language. What is drawn is the data flow of
// its functions and graphs; declarations (symbols, configurations, meshes) are
// not. A loop or function is a box around what is in it. Ops are asked through
// interfaces, see Describe.h, so that other dialects are drawn as well.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TARGET_GRAPHVIZ_GRAPHVIZ_H
#define STG_TARGET_GRAPHVIZ_GRAPHVIZ_H

namespace llvm {
class raw_ostream;
} // namespace llvm
namespace mlir {
class ModuleOp;
} // namespace mlir

namespace stg {

/// Writes the module for `dot`.
void writeGraphviz(mlir::ModuleOp module, llvm::raw_ostream &os);

/// Registers `stg-translate --to-graphviz`.
void registerGraphvizTranslation();

} // namespace stg

#endif // STG_TARGET_GRAPHVIZ_GRAPHVIZ_H
