//===- TraceGraphs.h - Traces in memory, to be executed ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an execution needs of the traces of any producer: files or a bundle.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_TRACEGRAPHS_H
#define STG_ESTIMATE_TRACEGRAPHS_H

#include "stg/Trace/Bundle/TraceInput.h"
#include "stg/Trace/Program/TraceProgram.h"
#include <array>
#include <optional>

namespace stg {

/// A node of a rank.
struct TracedNode {
  uint64_t id = 0; ///< Nodes that are ready start in ascending order of it.
  trace::NodeType type = trace::NodeType::Comp;
  trace::CollectiveType collective = trace::CollectiveType::AllReduce;
  /// Collectives: a number of TraceGraphs::groups. Messages: the other rank.
  uint32_t place = 0;
  int64_t tag = 0;
  int64_t operations = 0;
  /// Compute nodes and transfers: `tensor_size`. Others: `comm_size`.
  int64_t bytes = 0;
  /// As `inputs` and `outputs` list them, 0 where there is none: the first two
  /// that are read, and the first that is written.
  std::array<int64_t, 3> tensors = {};

  bool isTransfer() const {
    return type == trace::NodeType::MemLoad ||
           type == trace::NodeType::MemStore;
  }
};

/// A tensor of a rank that lives from one node to another.
struct TracedTensor {
  int64_t bytes = 0;
  uint32_t writer = trace::kNone; ///< None: it lives throughout.
  uint32_t last = 0;              ///< The last node that reads or writes it.
};

/// The trace of a rank, nodes in the order of the file.
struct TraceGraph {
  uint64_t rank = 0;
  std::vector<TracedNode> nodes;
  /// The dependencies of node i are from depBegin[i] to depBegin[i + 1].
  std::vector<uint32_t> depBegin = {0}, deps;
  /// Only of ranks that are to be shown.
  std::vector<std::string> names;
  std::vector<TracedTensor> tensors;

  llvm::ArrayRef<uint32_t> getDeps(uint32_t node) const {
    return llvm::ArrayRef(deps).slice(depBegin[node],
                                      depBegin[node + 1] - depBegin[node]);
  }
};

struct TraceGraphs {
  struct Group {
    std::string name;
    std::vector<int64_t> members;
  };
  std::vector<TraceGraph> ranks; ///< Ascending.
  std::vector<Group> groups;
  /// Of all ranks of the job: one more than the largest that anything names.
  int64_t numRanks = 0;

  /// The position of a rank; none if the trace does not have it.
  std::optional<size_t> find(int64_t rank) const;

  /// Reads all ranks, with names and tensors of those that `isShown`. What is
  /// wrong with a file, and what cannot be executed, is an error.
  static llvm::Expected<TraceGraphs>
  load(const trace::TraceInput &input,
       llvm::function_ref<bool(uint64_t)> isShown);

  /// Reads one rank, to be drawn: nodes may be of any type, and what they do
  /// not say is -1, or kNone for a place. There is no rank if the trace does
  /// not have it. Without a number, the rank of the trace's only file.
  static llvm::Expected<TraceGraphs> loadDrawn(const trace::TraceInput &input,
                                               std::optional<uint64_t> rank);

private:
  static llvm::Expected<TraceGraphs>
  load(const trace::TraceInput &input,
       llvm::function_ref<bool(uint64_t)> isShown, bool isDrawn);
};

} // namespace stg

#endif // STG_ESTIMATE_TRACEGRAPHS_H
