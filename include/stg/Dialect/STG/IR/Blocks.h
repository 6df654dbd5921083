//===- Blocks.h - What calls make of blocks ---------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is written in its own symbols and options. What stands for them in
// one place is a `BlockBinding`, which a call makes of the one around it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_BLOCKS_H
#define STG_DIALECT_STG_IR_BLOCKS_H

#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// What stands for the symbols and options of a block, or of a function, where
/// everything stands for itself.
class BlockBinding {
public:
  BlockBinding() = default;

  /// True if all symbols stand for themselves.
  bool isIdentity() const { return symbols.empty(); }

  /// What stands for a symbol: an extent, and the names of dimensions that are
  /// named after it. Null if nothing does.
  DimAttr lookup(mlir::StringAttr symbol) const;
  void set(mlir::StringAttr symbol, DimAttr dim);
  /// Dimensions of that name are called otherwise.
  void rename(mlir::StringAttr from, mlir::StringAttr to);

  /// The value of an option that is not of the module, or null.
  mlir::StringAttr lookupOption(mlir::StringAttr option) const {
    return options.lookup(option);
  }
  void setOption(mlir::StringAttr option, mlir::StringAttr value) {
    options[option] = value;
  }
  /// What a call says of options holds in all that is called from there.
  void inheritOptions(const BlockBinding &caller) { options = caller.options; }

  /// Null, with the reason in `problem`, if a symbol has no value or a division
  /// is not exact.
  SymExpr substitute(SymExpr expr, std::string &problem) const;
  DimAttr substitute(DimAttr dim, std::string &problem) const;
  mlir::Type substitute(mlir::Type type, std::string &problem) const;
  /// Replaces symbols in the types and attributes of an op, not of its regions.
  /// The problem is reported at `place`.
  llvm::LogicalResult substitute(mlir::Operation *op,
                                 mlir::Operation *place) const;

  /// What stands for the symbols that a type mentions: `D = Dv, H = 12`.
  std::string print(mlir::Type type) const;

  llvm::iterator_range<
      llvm::DenseMap<mlir::StringAttr, DimAttr>::const_iterator>
  getSymbols() const {
    return llvm::make_range(symbols.begin(), symbols.end());
  }

private:
  void addReplacements(mlir::AttrTypeReplacer &replacer,
                       std::string &problem) const;

  /// Those that do not stand for themselves; null: nothing does.
  llvm::DenseMap<mlir::StringAttr, DimAttr> symbols;
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> names;
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> options;
};

/// Where the declarations stand that an op sees: in the block around it, if
/// there is one, and in the module.
struct DeclarationScope {
  explicit DeclarationScope(mlir::Operation *op);

  /// The declaration of that name; that of the block comes first.
  template <typename OpTy>
  OpTy lookup(mlir::StringAttr name,
              mlir::SymbolTableCollection &symbolTable) const {
    if (block)
      if (auto own = symbolTable.lookupSymbolIn<OpTy>(block, name))
        return own;
    return module ? symbolTable.lookupSymbolIn<OpTy>(module, name) : OpTy();
  }

  BlockOp block;
  mlir::ModuleOp module;
};

/// The declaration that an op sees by that name.
template <typename OpTy>
OpTy lookupDeclared(mlir::Operation *op, mlir::StringAttr name,
                    mlir::SymbolTableCollection &symbolTable) {
  return DeclarationScope(op).lookup<OpTy>(name, symbolTable);
}

/// The block of a call; null if it is not there.
BlockOp getBlock(BlockCallOp call, mlir::SymbolTableCollection &symbolTable);

/// What stands for the symbols of `block` at a call in a place where `caller`
/// holds, with operands of these types. Reports at the call what does not fit.
llvm::FailureOr<BlockBinding>
bindSymbols(BlockCallOp call, BlockOp block, const BlockBinding &caller,
            mlir::TypeRange operandTypes,
            mlir::SymbolTableCollection &symbolTable);

/// Reports results of a call whose number or types, in the terms of what is
/// around it, are not those that `block` says, with what `binding` makes of it.
llvm::LogicalResult checkResults(BlockCallOp call, BlockOp block,
                                 const BlockBinding &binding,
                                 mlir::TypeRange types);

/// The text of an attribute of `stg.config` as the value of an option: `true`,
/// `false` or a text. Null for another attribute.
mlir::StringAttr getOptionValue(mlir::Attribute attr);

/// Says that `value` is none of the option's, as in "expected true or false".
llvm::LogicalResult
checkOptionValue(OptionOp option, llvm::StringRef value,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace stg

#endif // STG_DIALECT_STG_IR_BLOCKS_H
