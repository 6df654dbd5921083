//===- Bytecode.cpp - Versions of dialects in bytecode --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Sym/IR/Bytecode.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;
using namespace stg;

namespace {
struct NumberedVersion : DialectVersion {
  explicit NumberedVersion(uint64_t number) : number(number) {}
  uint64_t number;
};
} // namespace

void VersionedBytecode::writeVersion(DialectBytecodeWriter &writer) const {
  writer.writeVarInt(version);
}

std::unique_ptr<DialectVersion>
VersionedBytecode::readVersion(DialectBytecodeReader &reader) const {
  uint64_t number = 0;
  if (failed(reader.readVarInt(number)))
    return nullptr;
  if (number >= 1 && number <= version)
    return std::make_unique<NumberedVersion>(number);
  reader.emitError("the bytecode is of version ")
      << number << " of dialect '" << getDialect()->getNamespace()
      << "'; this program reads versions 1 to " << version;
  return nullptr;
}

LogicalResult
VersionedBytecode::upgradeFromVersion(Operation *top,
                                      const DialectVersion &from) const {
  uint64_t number = static_cast<const NumberedVersion &>(from).number;
  for (const Upgrade &upgrade : upgrades)
    if (upgrade.from >= number && failed(upgrade.apply(top)))
      return failure();
  return success();
}

uint64_t stg::getBytecodeVersion(const DialectBytecodeReader &reader,
                                 StringRef name) {
  // The version of a dialect is read before any of its ops.
  FailureOr<const DialectVersion *> version = reader.getDialectVersion(name);
  assert(succeeded(version) && "a dialect that writes no version");
  return static_cast<const NumberedVersion *>(*version)->number;
}
