//===- NodeChecks.h - Rules for one node on its own -------------*- C++ -*-===//
//
// Rules 3 (attributes), 4 (compute), 5 (collectives) and the local part of 7
// (messages): everything that a node shows without looking at other nodes.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_NODECHECKS_H
#define STG_LIB_TRACE_VALIDATE_NODECHECKS_H

#include "stg/Trace/Validate/TraceValidator.h"
#include "llvm/ADT/StringMap.h"

namespace stg::trace {

/// What the checks of a node need to know about its surroundings.
struct RankContext {
  uint64_t rank = 0;
  llvm::StringRef file;
  const CommGroups &groups;
  /// Number of ranks; nothing if it is not known.
  std::optional<uint64_t> numNpus;
  const ValidatorOptions &options;
};

/// Checks nodes of one rank.
class NodeChecker {
public:
  NodeChecker(const RankContext &context, ViolationList &violations)
      : context(context), violations(violations) {}

  void addMetadata(const Metadata &metadata);
  void check(const Node &node);

private:
  unsigned getMask(const Node &node) const;
  void checkTransfer(const Node &node);
  void report(Rule rule, const Node &node, const llvm::Twine &message);
  void checkText(const Node &node);
  void checkAttributes(const Node &node);
  void checkDistinct(const Node &node);
  void checkCompute(const Node &node);
  void checkRoot(const Node &node, Int128 numOps, Int128 tensorSize);
  void checkCollective(const Node &node);
  void checkCollectiveSize(const Node &node, std::optional<uint64_t> groupSize);
  std::optional<uint64_t> checkGroup(const Node &node);
  void checkMessage(const Node &node);
  void checkPeers(const Node &node);

  /// What the rank has to know about a group, looked up once.
  struct GroupInfo {
    const std::vector<int64_t> *members = nullptr;
    bool isMember = false;
  };
  const GroupInfo &getGroup(llvm::StringRef name);

  const RankContext &context;
  ViolationList &violations;
  llvm::StringMap<GroupInfo> groups;
  bool usesHost = false; ///< The trace has transfers.
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_NODECHECKS_H
