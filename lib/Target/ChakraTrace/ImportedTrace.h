//===- ImportedTrace.h - A trace, read and put in order ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRATRACE_IMPORTEDTRACE_H
#define STG_LIB_TARGET_CHAKRATRACE_IMPORTEDTRACE_H

#include "mlir/IR/Diagnostics.h"
#include "stg/Dialect/Chakra/IR/ChakraTypes.h"
#include "stg/Trace/TraceNode.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <vector>

namespace stg::chakra {

/// A tensor as a node names it.
struct ImportedTensor {
  llvm::StringRef name;
  int64_t bytes;
};

/// A node of a trace. Strings point into the file.
struct ImportedNode {
  uint64_t id = 0;
  llvm::StringRef name;
  bool isColl = false;
  int64_t operations = 0; ///< Compute nodes.
  /// Compute nodes: bytes read and written; collectives: the payload.
  int64_t bytes = 0;
  int64_t durationMicros = 0;
  CollKind collKind = CollKind::AllReduce;
  std::string group; ///< Empty for the group of all ranks.
  llvm::SmallVector<ImportedTensor, 2> inputs, outputs;
  /// What it depends on: first ids, after sorting positions.
  llvm::SmallVector<uint64_t, 4> dataDeps, ctrlDeps;
};

/// Reads the nodes of `buffer` and puts them in an order that respects all
/// dependencies and else follows the ids. Emits an error if that is impossible.
mlir::FailureOr<std::vector<ImportedNode>>
readTrace(llvm::MemoryBufferRef buffer, mlir::Location loc);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRATRACE_IMPORTEDTRACE_H
