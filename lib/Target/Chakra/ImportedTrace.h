//===- ImportedTrace.h - A trace, read and put in order ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_IMPORTEDTRACE_H
#define STG_LIB_TARGET_CHAKRA_IMPORTEDTRACE_H

#include "mlir/IR/Diagnostics.h"
#include "stg/Dialect/Chakra/IR/ChakraTypes.h"
#include "stg/Trace/Program/TraceProgram.h"
#include "stg/Trace/Reader/TraceNode.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <optional>
#include <string>
#include <vector>

namespace stg::chakra {

/// A tensor as a node names it.
struct ImportedTensor {
  llvm::StringRef name;
  int64_t bytes;
  bool isHost = false; ///< It is in the memory of the host.
};

/// A node of a trace. Strings point into the file.
struct ImportedNode {
  uint64_t id = 0;
  llvm::StringRef name;
  trace::NodeKind kind = trace::NodeKind::Comp;
  int64_t operations = 0; ///< Compute nodes.
  /// Compute nodes: bytes read and written; collectives: the payload; messages
  /// and transfers: their size.
  int64_t bytes = 0;
  int64_t durationMicros = 0;
  CollKind collKind = CollKind::AllReduce;
  std::string group; ///< Empty for the group of all ranks.
  /// Messages: the rank at the other end, the own rank if it is given, the tag.
  int64_t peer = 0;
  std::optional<int64_t> rank;
  int64_t tag = 0;
  /// A store into a buffer of the host has that as its second input, and no
  /// output.
  llvm::SmallVector<ImportedTensor, 2> inputs, outputs;
  /// What it depends on: first ids, after sorting positions.
  llvm::SmallVector<uint64_t, 4> dataDeps, ctrlDeps;

  bool isComp() const { return kind == trace::NodeKind::Comp; }
  bool isColl() const { return kind == trace::NodeKind::Coll; }
  bool isSend() const { return kind == trace::NodeKind::Send; }
  bool isRecv() const { return kind == trace::NodeKind::Recv; }
  bool isMessage() const { return isSend() || isRecv(); }
  bool isLoad() const { return kind == trace::NodeKind::Load; }
  bool isStore() const { return kind == trace::NodeKind::Store; }
  bool isTransfer() const { return isLoad() || isStore(); }
};

/// An error that begins with which node it is about.
mlir::InFlightDiagnostic emitNodeError(mlir::Location loc, uint64_t id,
                                       llvm::StringRef name);
inline mlir::InFlightDiagnostic emitNodeError(mlir::Location loc,
                                              const ImportedNode &node) {
  return emitNodeError(loc, node.id, node.name);
}

/// Reads the nodes of `buffer` and puts them in an order that respects all
/// dependencies and else follows the ids. Emits an error if that is impossible.
mlir::FailureOr<std::vector<ImportedNode>>
readTrace(llvm::MemoryBufferRef buffer, mlir::Location loc);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_IMPORTEDTRACE_H
