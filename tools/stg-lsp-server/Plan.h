//===- Plan.h - What becomes of the ops of a program ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that has a mesh is taken through the passes, as a copy, so that an
// op of the text can be told how it is sharded and which collectives it needs.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_LSP_SERVER_PLAN_H
#define STG_TOOLS_LSP_SERVER_PLAN_H

#include "mlir/IR/BuiltinOps.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"
#include <string>
#include <vector>

namespace stg {

class Plan {
public:
  /// What one device does for an op.
  struct Entry {
    SymExpr operations, bytes;
    /// The factors over mesh axes.
    std::string sharding;
    /// Of the results.
    std::vector<std::string> types;
    std::vector<std::string> collectives;
  };

  /// Has no entries if there is no mesh, if the ops are those of one device
  /// already, or if a pass fails.
  explicit Plan(mlir::ModuleOp module);

  /// Of an op of the module; null if nothing is known.
  const Entry *find(mlir::Operation *op) const {
    auto it = entries.find(op);
    return it == entries.end() ? nullptr : &it->second;
  }

private:
  void add(mlir::Operation *op, Entry &entry);

  llvm::DenseMap<mlir::Operation *, Entry> entries;
};

} // namespace stg

#endif // STG_TOOLS_LSP_SERVER_PLAN_H
