//===- CrossRankChecks.h - Rules across ranks -------------------*- C++ -*-===//
//
// Rules 6 and 7: whether the ranks of a trace fit together.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_CROSSRANKCHECKS_H
#define STG_LIB_TRACE_CROSSRANKCHECKS_H

#include "RankChecks.h"

namespace stg::trace {

/// An operation of a trace: which of the results, which of its CommOps.
struct OpRef {
  uint32_t rank = UINT32_MAX;
  uint32_t op = UINT32_MAX;

  bool isValid() const { return rank != UINT32_MAX; }
};

/// Which send and which receive belong together. Both are indexed like the
/// results and their CommOps.
struct MessageMatching {
  /// For a COMM_RECV its send, for a COMM_SEND its receive.
  std::vector<std::vector<OpRef>> partner;
};

/// Checks the definitions of all groups.
void checkGroupDefinitions(const CommGroups &groups,
                           std::optional<uint64_t> numNpus,
                           ViolationList &violations);

/// Checks that the members of each group run the same collectives.
void checkSequences(llvm::ArrayRef<RankResult> ranks, const CommGroups &groups,
                    ViolationList &violations);

/// Pairs sends and receives and checks that each has a partner.
MessageMatching checkMessages(llvm::ArrayRef<RankResult> ranks,
                              ViolationList &violations);

/// Runs all ranks against each other and reports each deadlock, with eager
/// sends and, if `withRendezvous`, with sends that wait for their receive.
/// Needs complete and acyclic ranks.
void checkDeadlock(llvm::ArrayRef<RankResult> ranks,
                   const MessageMatching &matching, bool withRendezvous,
                   ViolationList &violations);

} // namespace stg::trace

#endif // STG_LIB_TRACE_CROSSRANKCHECKS_H
