//===- RankGraph.h - Dependency graph of one rank ---------------*- C++ -*-===//
//
// What the rules across ranks look at in a rank: ids, dependencies by index in
// file order, and the communication nodes. Nothing in it says which rank it is:
// groups and peers are *slots*, numbered in the order of their first use, and
// which group or rank each slot stands for is told elsewhere (RankTable.h). So
// ranks that do the same work have equal graphs and share one.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_RANKGRAPH_H
#define STG_LIB_TRACE_VALIDATE_RANKGRAPH_H

#include "stg/Trace/Reader/TraceNode.h"
#include "llvm/ADT/BitVector.h"
#include <tuple>
#include <vector>

namespace stg::trace {

/// A COMM_COLL, COMM_SEND or COMM_RECV node.
struct CommOp {
  static constexpr uint32_t noSlot = UINT32_MAX;

  uint32_t node = 0;
  NodeType type = NodeType::Coll;
  /// Collectives: a slot of groups. Messages: a slot of peers, noSlot if the
  /// node does not name the other rank.
  uint32_t slot = noSlot;
  /// Collectives: `comm_type`, -1 if absent.
  int64_t collective = -1;
  /// Messages: the tag, -1 if absent.
  int64_t tag = -1;
  Int128 size = 0;

  bool isColl() const { return type == NodeType::Coll; }
  /// True if there is enough to look for the other side.
  bool isMessage() const { return !isColl() && slot != noSlot && tag >= 0; }

  auto getFields() const {
    return std::make_tuple(node, type, slot, collective, tag, size);
  }
  bool operator==(const CommOp &other) const {
    return getFields() == other.getFields();
  }
};

/// The nodes of a rank by their index in file order.
struct RankGraph {
  std::vector<uint64_t> ids;
  std::vector<int32_t> types;
  /// The dependencies of node i are deps[depBegin[i]] ... deps[depBegin[i + 1]]
  /// (data and control, each node once, only nodes that exist); the first
  /// numDataDeps[i] of them are data dependencies.
  std::vector<uint32_t> depBegin = {0};
  std::vector<uint32_t> deps;
  std::vector<uint32_t> numDataDeps;
  /// In file order.
  std::vector<CommOp> ops;
  uint32_t numGroups = 0;
  uint32_t numPeers = 0;
  /// All of the file was read and understood.
  bool isComplete = false;
  bool isAcyclic = false;

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

  bool operator==(const RankGraph &other) const;
  /// Equal for equal graphs.
  uint64_t getHash() const;
  /// Gives back memory that was reserved for more nodes.
  void shrinkToFit();
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
/// `dataOnly` paths of data dependencies alone count. What a short search does
/// not answer costs a sweep over the graph for each 256 different ancestors.
llvm::BitVector areAncestors(const RankGraph &graph,
                             llvm::ArrayRef<uint32_t> order, bool dataOnly,
                             llvm::ArrayRef<AncestorQuery> queries);

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_RANKGRAPH_H
