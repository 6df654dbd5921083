//===- Bytecode.h - Versions of dialects in bytecode ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytecode says which version of a dialect wrote it. A reader takes all
// versions up to its own, and brings what older ones wrote to the present form;
// what a newer one wrote is refused, as it may mean something else.
//
// A dialect has this interface:
//
//   addInterface<VersionedBytecode>(2, {{1, renameOldOps}});
//
// The version is counted up with every change after which ops or attributes of
// before would not be read, or would mean something else, together with an
// upgrade of them. Upgrades work on ops as they were read and before they are
// verified. Attributes are written as text.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_BYTECODE_H
#define STG_DIALECT_SYM_IR_BYTECODE_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include <functional>

namespace stg {

class VersionedBytecode : public mlir::BytecodeDialectInterface {
public:
  /// Brings what version `from` wrote to the form of the next one.
  struct Upgrade {
    uint64_t from;
    std::function<llvm::LogicalResult(mlir::Operation *top)> apply;
  };

  /// `upgrades` are ascending.
  VersionedBytecode(mlir::Dialect *dialect, uint64_t version,
                    std::vector<Upgrade> upgrades = {})
      : BytecodeDialectInterface(dialect), version(version),
        upgrades(std::move(upgrades)) {}

  void writeVersion(mlir::DialectBytecodeWriter &writer) const override;
  std::unique_ptr<mlir::DialectVersion>
  readVersion(mlir::DialectBytecodeReader &reader) const override;
  llvm::LogicalResult
  upgradeFromVersion(mlir::Operation *top,
                     const mlir::DialectVersion &from) const override;

private:
  uint64_t version;
  std::vector<Upgrade> upgrades;
};

/// The version of the dialect `name`, which has a VersionedBytecode, that wrote
/// what is read: for `readProperties` of its ops.
uint64_t getBytecodeVersion(const mlir::DialectBytecodeReader &reader,
                            llvm::StringRef name);
template <typename DialectT>
uint64_t getBytecodeVersion(const mlir::DialectBytecodeReader &reader) {
  return getBytecodeVersion(reader, DialectT::getDialectNamespace());
}

} // namespace stg

#endif // STG_DIALECT_SYM_IR_BYTECODE_H
