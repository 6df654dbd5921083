//===- SymbolUses.h - Which symbols a program mentions ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_SYMBOLUSES_H
#define STG_DIALECT_STG_IR_SYMBOLUSES_H

#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/DenseSet.h"

namespace stg {

/// The symbols that ops and types use, and those that their values follow from.
class SymbolUses {
public:
  explicit SymbolUses(mlir::ModuleOp module);
  SymbolUses(const SymbolUses &) = delete;
  SymbolUses &operator=(const SymbolUses &) = delete;

  /// What an op and all in it have: attributes, types, arguments.
  void addAll(mlir::Operation *root);
  void add(mlir::Type type) { walker.walk(type); }
  bool contains(mlir::StringAttr name) const { return symbols.contains(name); }
  const llvm::DenseSet<mlir::StringAttr> &getSymbols() const { return symbols; }

private:
  void add(mlir::StringAttr name);

  mlir::ModuleOp module;
  mlir::AttrTypeWalker walker;
  llvm::DenseSet<mlir::StringAttr> symbols;
};

} // namespace stg

#endif // STG_DIALECT_STG_IR_SYMBOLUSES_H
