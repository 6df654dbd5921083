//===- TensorMemory.h - Memory that the tensors of a rank take --*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The string lists `inputs` and `outputs` of nodes name tensors and their
// bytes. Nodes run one after the other in the order of the file. A tensor lives
// from the node that writes it to the last node that reads it; one that no node
// writes lives throughout.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_STATS_TENSORMEMORY_H
#define STG_TRACE_STATS_TENSORMEMORY_H

#include "stg/Trace/Reader/TraceNode.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>
#include <vector>

namespace stg::trace {

/// Bytes of a rank.
struct MemoryStats {
  Int128 persistent = 0; ///< Of tensors that live throughout.
  Int128 peak = 0;
  std::string peakNode; ///< The first node at which they are there.
};

/// Finds the peak of a rank, whose nodes are added in the order of the file.
class TensorMemory {
public:
  void addNode(const Node &node);

  /// Nothing if no node names a tensor. `getName` has the names of nodes, by
  /// their frames.
  std::optional<MemoryStats>
  finish(llvm::function_ref<std::string(uint64_t)> getName) const;

private:
  struct Tensor {
    uint64_t bytes = 0;
    uint32_t first = 0, last = 0;
    bool isWritten = false;
  };
  using Key = std::pair<uint64_t, uint64_t>;

  void addList(const Node &node, llvm::StringRef attribute, bool isWrite);

  llvm::DenseMap<Key, Tensor> tensors;
  std::vector<uint64_t> frames; ///< Of all nodes.
};

} // namespace stg::trace

#endif // STG_TRACE_STATS_TENSORMEMORY_H
