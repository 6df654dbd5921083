//===- CrossRankChecks.cpp - Rules across ranks ---------------------------===//
//
// Groups, collective sequences and messages. Ranks that could not be read in
// full are left out: what they lack is reported already.
//
//===----------------------------------------------------------------------===//

#include "CrossRankChecks.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace stg::trace {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void checkGroupDefinitions(const CommGroups &groups,
                           std::optional<uint64_t> numNpus,
                           ViolationList &violations) {
  for (const auto &[name, members] : groups.members) {
    std::vector<int64_t> sorted = members;
    llvm::sort(sorted);
    auto repeated = std::adjacent_find(sorted.begin(), sorted.end());
    if (repeated != sorted.end())
      violations.add(Rule::MembersDistinct, groups.file,
                     "group '" + escapeText(name) + "' lists rank " +
                         Twine(*repeated) + " more than once");
    for (int64_t member : sorted)
      if (member < 0 || (numNpus && static_cast<uint64_t>(member) >= *numNpus))
        violations.add(Rule::MembersInRange, groups.file,
                       "group '" + escapeText(name) + "' lists rank " +
                           Twine(member) +
                           ", which is not a rank of the trace");
  }
}

//===----------------------------------------------------------------------===//
// Sequences of collectives
//===----------------------------------------------------------------------===//

namespace {

/// The collectives of one rank on one group, in file order.
struct Sequence {
  const RankResult *rank = nullptr;
  std::vector<const CommOp *> ops;
};

using Sequences = std::map<std::string, std::vector<Sequence>, GroupNameLess>;

} // namespace

static Sequences collectSequences(ArrayRef<RankResult> ranks) {
  Sequences result;
  for (const RankResult &rank : ranks) {
    if (!rank.isComplete)
      continue;
    std::vector<Sequence> byGroup(rank.graph.groupNames.size());
    for (const CommOp &op : rank.graph.ops)
      if (op.type == NodeType::Coll)
        byGroup[op.group].ops.push_back(&op);
    for (size_t i = 0; i < byGroup.size(); ++i) {
      byGroup[i].rank = &rank;
      result[rank.graph.groupNames[i]].push_back(std::move(byGroup[i]));
    }
  }
  return result;
}

static std::string describeCollective(const CommOp &op) {
  return (op.collective < 0 ? "collective" : getCollectiveName(op.collective)) +
         " of " + toString(op.size) + " bytes";
}

static std::string describeGroup(StringRef group) {
  return group.empty() ? "the group of all ranks"
                       : "group '" + escapeText(group) + "'";
}

/// Reports the first difference between two members' collectives.
static void compareSequences(StringRef group, const Sequence &expected,
                             const Sequence &found, ViolationList &violations) {
  size_t common = std::min(expected.ops.size(), found.ops.size());
  for (size_t i = 0; i < common; ++i) {
    const CommOp &lhs = *expected.ops[i], &rhs = *found.ops[i];
    if (lhs.collective == rhs.collective && lhs.size == rhs.size)
      continue;
    return found.rank->report(
        violations, Rule::SameSequence, rhs.node,
        describeCollective(rhs) + " is number " + Twine(i) + " on " +
            describeGroup(group) + ", but on rank " +
            Twine(expected.rank->rank) + " that is " + describeCollective(lhs) +
            " (" + expected.rank->describe(lhs.node) + ")");
  }
  if (expected.ops.size() == found.ops.size())
    return;
  violations.add(Rule::SameSequence, found.rank->file,
                 "rank has " + Twine(found.ops.size()) + " collectives on " +
                     describeGroup(group) + ", but rank " +
                     Twine(expected.rank->rank) + " has " +
                     Twine(expected.ops.size()));
}

/// Members that run nothing on `group` although another one does.
static void checkAbsentMembers(ArrayRef<RankResult> ranks,
                               ArrayRef<int64_t> members, StringRef group,
                               ArrayRef<Sequence> present,
                               ViolationList &violations) {
  DenseSet<uint64_t> seen;
  for (const Sequence &sequence : present)
    seen.insert(sequence.rank->rank);
  for (int64_t member : members) {
    auto rank = llvm::find_if(ranks, [&](const RankResult &result) {
      return static_cast<int64_t>(result.rank) == member;
    });
    if (rank == ranks.end() || !rank->isComplete || seen.contains(rank->rank))
      continue;
    Sequence none;
    none.rank = &*rank;
    compareSequences(group, present.front(), none, violations);
  }
}

void checkSequences(ArrayRef<RankResult> ranks, const CommGroups &groups,
                    ViolationList &violations) {
  std::vector<int64_t> all;
  for (const RankResult &rank : ranks)
    all.push_back(static_cast<int64_t>(rank.rank));
  for (const auto &[group, sequences] : collectSequences(ranks)) {
    for (const Sequence &sequence : ArrayRef(sequences).drop_front())
      compareSequences(group, sequences.front(), sequence, violations);
    const std::vector<int64_t> *members =
        group.empty() ? &all : groups.find(group);
    if (members)
      checkAbsentMembers(ranks, *members, group, sequences, violations);
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {

/// One side of a message.
struct Endpoint {
  int64_t source = 0;
  int64_t target = 0;
  int64_t tag = 0;
  OpRef ref;

  auto getKey() const { return std::make_tuple(source, target, tag); }
  bool operator<(const Endpoint &other) const {
    return std::tuple_cat(getKey(), std::make_tuple(ref.rank, ref.op)) <
           std::tuple_cat(other.getKey(),
                          std::make_tuple(other.ref.rank, other.ref.op));
  }
};

/// Pairs the two sides of messages.
class MessageMatcher {
public:
  MessageMatcher(ArrayRef<RankResult> ranks, ViolationList &violations)
      : ranks(ranks), violations(violations) {}

  MessageMatching run();

private:
  void collect();
  void match(const Endpoint &send, const Endpoint &recv);
  void reportAlone(const Endpoint &endpoint, bool isSend);
  const CommOp &getOp(OpRef ref) const {
    return ranks[ref.rank].graph.ops[ref.op];
  }

  ArrayRef<RankResult> ranks;
  ViolationList &violations;
  MessageMatching matching;
  std::vector<Endpoint> sends;
  std::vector<Endpoint> recvs;
  /// Ranks whose files could be read.
  DenseSet<int64_t> known;
};

} // namespace

void MessageMatcher::collect() {
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const RankGraph &graph = ranks[r].graph;
    matching.partner.emplace_back(graph.ops.size());
    int64_t own = static_cast<int64_t>(ranks[r].rank);
    if (ranks[r].isComplete)
      known.insert(own);
    for (uint32_t i = 0; i < graph.ops.size(); ++i) {
      const CommOp &op = graph.ops[i];
      if (op.peer < 0 || op.tag < 0)
        continue;
      if (op.type == NodeType::Send)
        sends.push_back({own, op.peer, op.tag, {r, i}});
      else if (op.type == NodeType::Recv)
        recvs.push_back({op.peer, own, op.tag, {r, i}});
    }
  }
  llvm::sort(sends);
  llvm::sort(recvs);
}

void MessageMatcher::match(const Endpoint &send, const Endpoint &recv) {
  matching.partner[send.ref.rank][send.ref.op] = recv.ref;
  matching.partner[recv.ref.rank][recv.ref.op] = send.ref;
  const CommOp &sendOp = getOp(send.ref), &recvOp = getOp(recv.ref);
  if (sendOp.size == recvOp.size)
    return;
  const RankResult &sender = ranks[send.ref.rank];
  ranks[recv.ref.rank].report(
      violations, Rule::EqualSizes, recvOp.node,
      "receives " + toString(recvOp.size) + " bytes, but " +
          sender.describe(sendOp.node) + " of rank " + Twine(sender.rank) +
          " sends " + toString(sendOp.size));
}

void MessageMatcher::reportAlone(const Endpoint &endpoint, bool isSend) {
  int64_t peer = isSend ? endpoint.target : endpoint.source;
  // If that rank is missing or incomplete, this is not news.
  if (!known.contains(peer))
    return;
  ranks[endpoint.ref.rank].report(
      violations, isSend ? Rule::SendMatched : Rule::RecvMatched,
      getOp(endpoint.ref).node,
      "rank " + Twine(peer) +
          (isSend ? " has no COMM_RECV for this message"
                  : " has no COMM_SEND for this message") +
          ": comm_src " + Twine(endpoint.source) + ", comm_dst " +
          Twine(endpoint.target) + ", comm_tag " + Twine(endpoint.tag));
}

MessageMatching MessageMatcher::run() {
  collect();
  size_t s = 0, r = 0;
  while (s < sends.size() || r < recvs.size()) {
    bool sendFirst =
        r == recvs.size() ||
        (s < sends.size() && sends[s].getKey() < recvs[r].getKey());
    bool recvFirst =
        s == sends.size() ||
        (r < recvs.size() && recvs[r].getKey() < sends[s].getKey());
    if (sendFirst)
      reportAlone(sends[s++], /*isSend=*/true);
    else if (recvFirst)
      reportAlone(recvs[r++], /*isSend=*/false);
    else
      match(sends[s++], recvs[r++]);
  }
  return std::move(matching);
}

MessageMatching checkMessages(ArrayRef<RankResult> ranks,
                              ViolationList &violations) {
  return MessageMatcher(ranks, violations).run();
}

} // namespace stg::trace
