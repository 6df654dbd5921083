//===- Import.h - Graphs from Chakra execution traces -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TARGET_CHAKRA_IMPORT_H
#define STG_TARGET_CHAKRA_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <optional>
#include <string>

namespace stg::chakra {

struct ImportOptions {
  /// The rank whose trace it is. Default: from a file name like `x.<rank>.et`.
  std::optional<int64_t> rank;
  /// The file with the communication groups. Default: the one beside the trace,
  /// if there is one.
  std::string groupsFile;
  /// The manifest of an export, for the mesh. Default: likewise.
  std::string manifestFile;
};

/// Reads the trace of one rank, of any producer, as a chakra.graph:
///
/// - Nodes are in the order of their ids, or the nearest order in which every
///   node comes after those it depends on.
/// - A tensor that is read but never written becomes a state, of the category
///   that its name begins with (`parameter/...`), else `input`.
/// - A collective without outputs becomes one in place, unless a later reader
///   of its inputs does not depend on it.
/// - The tag of a message becomes its channel.
/// - A dependency that comes with no tensor becomes an `after` operand. Control
///   dependencies that the two streams of a rank do not imply become such.
/// - With a manifest the mesh is the exported one, a communication group
/// becomes
///   a set of axes, and the peer of a message a shift along one. Without, every
///   group becomes an axis of its own, and messages go along one of all ranks.
///
/// Exporting the graphs of traces that stg has written, one of each class,
/// gives the same traces; tags of others are numbered anew. Emits an error and
/// returns null for a trace that is broken or has something that the dialect
/// cannot express, such as transfers to and from memory.
mlir::OwningOpRef<mlir::ModuleOp> importTrace(llvm::MemoryBufferRef buffer,
                                              const ImportOptions &options,
                                              mlir::MLIRContext *context);

} // namespace stg::chakra

#endif // STG_TARGET_CHAKRA_IMPORT_H
