//===- RankGraph.h - Dependency graph of one rank ---------------*- C++ -*-===//
//
// What remains of a rank after it has been read: ids, dependencies by index in
// file order, and the communication nodes. A node costs some 30 bytes, so that
// a thousand ranks of ten thousand nodes fit in memory; names are decoded again
// from the file where a message needs them.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_RANKGRAPH_H
#define STG_LIB_TRACE_RANKGRAPH_H

#include "stg/Trace/TraceNode.h"
#include "llvm/ADT/BitVector.h"
#include <vector>

namespace stg::trace {

/// A COMM_COLL, COMM_SEND or COMM_RECV node.
struct CommOp {
  uint32_t node = 0;
  NodeType type = NodeType::Coll;
  /// Collectives: index in RankGraph::groupNames.
  uint32_t group = 0;
  /// Collectives: `comm_type`, -1 if absent.
  int64_t collective = -1;
  /// Messages: the other rank and the tag, -1 if absent.
  int64_t peer = -1;
  int64_t tag = -1;
  Int128 size = 0;
};

/// The nodes of a rank by their index in file order.
struct RankGraph {
  std::vector<uint64_t> ids;
  std::vector<int32_t> types;
  /// Where the node's message is in the file.
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> sizes;
  /// The dependencies of node i are deps[depBegin[i]] ... deps[depBegin[i + 1]]
  /// (data and control, each node once, only nodes that exist); the first
  /// numDataDeps[i] of them are data dependencies.
  std::vector<uint32_t> depBegin = {0};
  std::vector<uint32_t> deps;
  std::vector<uint32_t> numDataDeps;
  /// In file order.
  std::vector<CommOp> ops;
  std::vector<std::string> groupNames;

  uint32_t getNumNodes() const { return static_cast<uint32_t>(ids.size()); }
  llvm::ArrayRef<uint32_t> getDeps(uint32_t node) const {
    return llvm::ArrayRef<uint32_t>(deps).slice(
        depBegin[node], depBegin[node + 1] - depBegin[node]);
  }
  llvm::ArrayRef<uint32_t> getDataDeps(uint32_t node) const {
    return getDeps(node).take_front(numDataDeps[node]);
  }

  /// The communication operation at `node`, or null.
  const CommOp *findOp(uint32_t node) const;
};

/// Edges from each node to those that depend on it.
struct Successors {
  explicit Successors(const RankGraph &graph);
  llvm::ArrayRef<uint32_t> get(uint32_t node) const {
    return llvm::ArrayRef<uint32_t>(nodes).slice(begin[node],
                                                 begin[node + 1] - begin[node]);
  }

  std::vector<uint32_t> begin;
  std::vector<uint32_t> nodes;
};

/// Nodes with each after its dependencies; in file order as far as possible.
/// Nodes on a cycle, and those behind one, are missing.
std::vector<uint32_t> sortTopologically(const RankGraph &graph);

/// One cycle among the nodes that `sorted` misses, each node depending on the
/// next and the last on the first.
std::vector<uint32_t> findCycle(const RankGraph &graph,
                                llvm::ArrayRef<uint32_t> sorted);

/// "Is `ancestor` upstream of `descendant`?"
struct AncestorQuery {
  uint32_t ancestor = 0;
  uint32_t descendant = 0;
};

/// Answers all queries. `order` is a topological order of the whole graph; with
/// `dataOnly` paths of data dependencies alone count. The cost is one sweep
/// over the graph for each 256 different ancestors.
llvm::BitVector areAncestors(const RankGraph &graph,
                             llvm::ArrayRef<uint32_t> order, bool dataOnly,
                             llvm::ArrayRef<AncestorQuery> queries);

} // namespace stg::trace

#endif // STG_LIB_TRACE_RANKGRAPH_H
