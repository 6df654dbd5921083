//===- CrossRankChecks.h - Rules across ranks -------------------*- C++ -*-===//
//
// Rules 6 and 7: whether the ranks of a trace fit together. They are decided on
// one rank of each class (RankClasses.h).
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_CROSSRANKCHECKS_H
#define STG_LIB_TRACE_VALIDATE_CROSSRANKCHECKS_H

#include "NodeNames.h"
#include "RankClasses.h"

namespace stg::trace {

/// The operations of a graph by their slots, as indices in its CommOps.
struct SlotOps {
  explicit SlotOps(const RankGraph &graph);

  /// Messages of one direction with the peer of a slot, by tag, then in file
  /// order.
  llvm::ArrayRef<uint32_t> getMessages(NodeType type, uint32_t slot) const;

  /// The collectives on the group of each slot, in file order.
  std::vector<std::vector<uint32_t>> collectives;
  std::vector<std::vector<uint32_t>> sends, recvs;
};

/// An operation of a class: which of its CommOps.
struct OpRef {
  uint32_t rankClass = UINT32_MAX;
  uint32_t op = UINT32_MAX;

  bool isValid() const { return rankClass != UINT32_MAX; }
};

/// Which send and which receive belong together. Both are indexed like the
/// classes and their CommOps.
struct MessageMatching {
  /// For a COMM_RECV its send, for a COMM_SEND its receive.
  std::vector<std::vector<OpRef>> partner;
};

/// What the checks across ranks work on.
class CrossRankContext {
public:
  CrossRankContext(const RankClasses &classes, ViolationList &violations);

  const RankTable &getRanks() const { return classes.getRanks(); }
  const SlotOps &getOps(uint32_t rankClass) const {
    return ops[getRanks().getGraphNumber(classes.getFirst(rankClass))];
  }
  /// The collectives of a class on the group of a slot.
  llvm::ArrayRef<uint32_t> getCollectives(uint32_t rankClass,
                                          uint32_t slot) const;
  /// The number of a rank.
  uint64_t getNumber(uint32_t rank) const {
    return getRanks().getSource().getRank(rank);
  }

  /// The node of a rank in words, e.g. "node 3 'x'", for a violation of `rule`;
  /// empty if that would not be shown anyway.
  std::string describe(Rule rule, uint32_t rank, uint32_t node) {
    return violations.isFull(rule) ? "" : names.describe(rank, node);
  }
  /// Adds a violation at a node of a rank, which the others of its class have,
  /// too.
  void report(Rule rule, uint32_t rank, uint32_t node,
              const llvm::Twine &message);
  /// Likewise a violation of a rank as a whole.
  void report(Rule rule, uint32_t rank, const llvm::Twine &message);

  const RankClasses &classes;
  const GroupClasses groups;

private:
  std::string describeOthers(uint32_t rank) const;

  ViolationList &violations;
  /// By number of graph.
  std::vector<SlotOps> ops;
  AllNodeNames names;
};

/// " (also on 3 more ranks)" for what is true of `numRanks` ranks and told of
/// one of them; empty if that is the only one.
std::string describeOthers(uint64_t numRanks);

/// Checks the definitions of all groups.
void checkGroupDefinitions(const CommGroups &groups,
                           std::optional<uint64_t> numNpus,
                           ViolationList &violations);

/// Checks that the members of each group run the same collectives.
void checkSequences(CrossRankContext &context);

/// Pairs sends and receives and checks that each has a partner.
MessageMatching checkMessages(CrossRankContext &context);

/// Runs all ranks against each other and reports each deadlock, with eager
/// sends and, if `withRendezvous`, with sends that wait for their receive.
/// Needs complete and acyclic ranks.
void checkDeadlock(CrossRankContext &context, const MessageMatching &matching,
                   bool withRendezvous);

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_CROSSRANKCHECKS_H
