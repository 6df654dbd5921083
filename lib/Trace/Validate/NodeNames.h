//===- NodeNames.h - Names of a rank's nodes --------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages name nodes, but graphs do not keep the names. They are decoded again
// from where the node stands in the trace.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_NODENAMES_H
#define STG_LIB_TRACE_VALIDATE_NODENAMES_H

#include "stg/Trace/Reader/RankSource.h"
#include "stg/Trace/Validate/TraceValidator.h"
#include <map>

namespace stg::trace {

/// The nodes of one rank that could be read, by their index in its graph.
class NodeNames {
public:
  explicit NodeNames(TraceReader reader) : reader(std::move(reader)) {}

  TraceReader &getReader() { return reader; }

  /// Notes where the next node stands.
  void add(const Node &node) { frames.push_back(node.frame); }
  /// Makes room for so many nodes.
  void reserve(size_t count) { frames.reserve(count); }
  /// Reads and notes all nodes.
  void readAll();

  bool has(uint32_t node) const { return node < frames.size(); }

  /// Reads a node again.
  void read(uint32_t node, Node &decoded) const {
    (void)reader.readNodeAt(frames[node], decoded);
  }

  /// The node in words, e.g. "node 3 'x'".
  std::string describe(uint32_t node) const;

  /// Adds a violation at a node to `list`.
  void report(ViolationList &list, Rule rule, llvm::StringRef file,
              uint32_t node, const llvm::Twine &message) const;

private:
  TraceReader reader;
  std::vector<uint64_t> frames;
};

/// The nodes of all ranks. Traces are opened as they are asked for, and only
/// the last ones stay open.
class AllNodeNames {
public:
  explicit AllNodeNames(const RankSource &source) : source(source) {}

  /// The node in words, e.g. "node 3 'x'".
  std::string describe(uint32_t position, uint32_t node);

  /// Adds a violation at a node to `list`.
  void report(ViolationList &list, Rule rule, uint32_t position, uint32_t node,
              const llvm::Twine &message);

private:
  const NodeNames *get(uint32_t position, uint32_t node);

  const RankSource &source;
  std::map<uint32_t, std::optional<NodeNames>> open;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_NODENAMES_H
