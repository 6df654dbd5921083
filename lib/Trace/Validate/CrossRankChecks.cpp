//===- CrossRankChecks.cpp - Rules across ranks ---------------------------===//
//
// Groups, collective sequences and messages. Ranks that could not be read in
// full are left out: what they lack is reported already.
//
//===----------------------------------------------------------------------===//

#include "CrossRankChecks.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace stg::trace {

//===----------------------------------------------------------------------===//
// SlotOps
//===----------------------------------------------------------------------===//

SlotOps::SlotOps(const RankGraph &graph)
    : collectives(graph.numGroups), sends(graph.numPeers),
      recvs(graph.numPeers) {
  for (uint32_t i = 0; i < graph.ops.size(); ++i) {
    const CommOp &op = graph.ops[i];
    if (op.isColl())
      collectives[op.slot].push_back(i);
    else if (op.isMessage())
      (op.type == NodeType::Send ? sends : recvs)[op.slot].push_back(i);
  }
  for (std::vector<std::vector<uint32_t>> *bySlot : {&sends, &recvs})
    for (std::vector<uint32_t> &messages : *bySlot)
      llvm::sort(messages, [&](uint32_t lhs, uint32_t rhs) {
        return std::tie(graph.ops[lhs].tag, lhs) <
               std::tie(graph.ops[rhs].tag, rhs);
      });
}

ArrayRef<uint32_t> SlotOps::getMessages(NodeType type, uint32_t slot) const {
  return (type == NodeType::Send ? sends : recvs)[slot];
}

//===----------------------------------------------------------------------===//
// CrossRankContext
//===----------------------------------------------------------------------===//

CrossRankContext::CrossRankContext(const RankClasses &classes,
                                   ViolationList &violations)
    : classes(classes), groups(classes), violations(violations),
      names(classes.getRanks().getSource()) {
  const GraphTable &graphs = getRanks().getGraphs();
  for (uint32_t graph = 0; graph < graphs.size(); ++graph)
    ops.emplace_back(graphs[graph]);
}

ArrayRef<uint32_t> CrossRankContext::getCollectives(uint32_t rankClass,
                                                    uint32_t slot) const {
  const SlotOps &own = getOps(rankClass);
  // A group on which the rank runs nothing has a slot beyond those.
  if (slot >= own.collectives.size())
    return {};
  return own.collectives[slot];
}

std::string describeOthers(uint64_t numRanks) {
  if (numRanks <= 1)
    return "";
  return " (also on " + std::to_string(numRanks - 1) +
         (numRanks == 2 ? " more rank)" : " more ranks)");
}

std::string CrossRankContext::describeOthers(uint32_t rank) const {
  return trace::describeOthers(classes.getNumRanks(classes.getClass(rank)));
}

void CrossRankContext::report(Rule rule, uint32_t rank, uint32_t node,
                              const Twine &message) {
  names.report(violations, rule, rank, node, message + describeOthers(rank));
}

void CrossRankContext::report(Rule rule, uint32_t rank, const Twine &message) {
  violations.add(rule, getRanks().getSource().getFile(rank),
                 message + describeOthers(rank));
}

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
                     "group '" + shortenText(name) + "' lists rank " +
                         Twine(*repeated) + " more than once");
    for (int64_t member : sorted)
      if (member < 0 || (numNpus && static_cast<uint64_t>(member) >= *numNpus))
        violations.add(Rule::MembersInRange, groups.file,
                       "group '" + shortenText(name) + "' lists rank " +
                           Twine(member) +
                           ", which is not a rank of the trace");
  }
}

//===----------------------------------------------------------------------===//
// Sequences of collectives
//===----------------------------------------------------------------------===//

static std::string describeCollective(const CommOp &op) {
  return (op.collective < 0 ? "collective" : getCollectiveName(op.collective)) +
         " of " + toString(op.size) + " bytes";
}

static std::string describeGroup(StringRef group) {
  return group.empty() ? "the group of all ranks"
                       : "group '" + shortenText(group) + "'";
}

/// Reports the first difference between the collectives of two users of a
/// group.
static void compareSequences(CrossRankContext &context, StringRef group,
                             const GroupUser &expected,
                             const GroupUser &found) {
  ArrayRef<uint32_t> lhsOps =
      context.getCollectives(expected.rankClass, expected.slot);
  ArrayRef<uint32_t> rhsOps =
      context.getCollectives(found.rankClass, found.slot);
  const RankGraph &lhsGraph = context.classes.getGraph(expected.rankClass);
  const RankGraph &rhsGraph = context.classes.getGraph(found.rankClass);
  uint64_t other = context.getNumber(expected.firstRank);
  for (size_t i = 0; i < std::min(lhsOps.size(), rhsOps.size()); ++i) {
    const CommOp &lhs = lhsGraph.ops[lhsOps[i]], &rhs = rhsGraph.ops[rhsOps[i]];
    if (lhs.collective == rhs.collective && lhs.size == rhs.size)
      continue;
    return context.report(
        Rule::SameSequence, found.firstRank, rhs.node,
        describeCollective(rhs) + " is number " + Twine(i) + " on " +
            describeGroup(group) + ", but on rank " + Twine(other) +
            " that is " + describeCollective(lhs) + " (" +
            context.describe(Rule::SameSequence, expected.firstRank, lhs.node) +
            ")");
  }
  if (lhsOps.size() != rhsOps.size())
    context.report(Rule::SameSequence, found.firstRank,
                   "rank has " + Twine(rhsOps.size()) + " collectives on " +
                       describeGroup(group) + ", but rank " + Twine(other) +
                       " has " + Twine(lhsOps.size()));
}

/// Compares the users of a group with the first that runs anything on it.
static void checkGroup(CrossRankContext &context, StringRef name,
                       ArrayRef<GroupUser> users) {
  SmallVector<GroupUser> complete;
  llvm::copy_if(users, std::back_inserter(complete), [&](GroupUser user) {
    return context.classes.getGraph(user.rankClass).isComplete;
  });
  const GroupUser *expected = llvm::find_if(complete, [&](GroupUser user) {
    return !context.getCollectives(user.rankClass, user.slot).empty();
  });
  for (const GroupUser &user : complete)
    if (&user != expected && expected != complete.end())
      compareSequences(context, name, *expected, user);
}

void checkSequences(CrossRankContext &context) {
  const RankSource &source = context.getRanks().getSource();
  std::vector<std::pair<std::string, uint32_t>> byName;
  for (uint32_t i = 0; i < context.groups.size(); ++i)
    byName.push_back({source.getGroupName(context.groups.getGroup(i)), i});
  // Each class has a group of its own.
  llvm::sort(byName, [](const auto &lhs, const auto &rhs) {
    return GroupNameLess()(lhs.first, rhs.first);
  });
  for (const auto &[name, number] : byName)
    checkGroup(context, name, context.groups.getUsers(number));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {

/// Pairs the messages of the classes with those of their peers.
class MessageMatcher {
public:
  explicit MessageMatcher(CrossRankContext &context) : context(context) {}

  MessageMatching run();

private:
  void matchSlot(uint32_t rankClass, uint32_t slot, NodeType type);
  void match(uint32_t rankClass, uint32_t op, uint32_t peer, OpRef partner);
  void reportAlone(uint32_t rankClass, const CommOp &op, uint32_t peer);

  CrossRankContext &context;
  MessageMatching matching;
};

} // namespace

/// Notes the other side of an operation. What both sides can tell is told by
/// the receiver.
void MessageMatcher::match(uint32_t rankClass, uint32_t op, uint32_t peer,
                           OpRef partner) {
  matching.partner[rankClass][op] = partner;
  const CommOp &own = context.classes.getGraph(rankClass).ops[op];
  const CommOp &other =
      context.classes.getGraph(partner.rankClass).ops[partner.op];
  if (own.type == NodeType::Send || own.size == other.size)
    return;
  context.report(
      Rule::EqualSizes, context.classes.getFirst(rankClass), own.node,
      "receives " + toString(own.size) + " bytes, but " +
          context.describe(Rule::EqualSizes, peer, other.node) + " of rank " +
          Twine(context.getNumber(peer)) + " sends " + toString(other.size));
}

void MessageMatcher::reportAlone(uint32_t rankClass, const CommOp &op,
                                 uint32_t peer) {
  uint32_t rank = context.classes.getFirst(rankClass);
  bool isSend = op.type == NodeType::Send;
  uint64_t own = context.getNumber(rank), other = context.getNumber(peer);
  context.report(isSend ? Rule::SendMatched : Rule::RecvMatched, rank, op.node,
                 "rank " + Twine(other) +
                     (isSend ? " has no COMM_RECV for this message"
                             : " has no COMM_SEND for this message") +
                     ": comm_src " + Twine(isSend ? own : other) +
                     ", comm_dst " + Twine(isSend ? other : own) +
                     ", comm_tag " + Twine(op.tag));
}

/// Pairs the messages of one direction between a class and one of its peers.
void MessageMatcher::matchSlot(uint32_t rankClass, uint32_t slot,
                               NodeType type) {
  const RankTable &ranks = context.getRanks();
  uint32_t rank = context.classes.getFirst(rankClass);
  uint32_t peer = ranks.getPeers(rank)[slot];
  // Messages of ranks that are missing or incomplete are not news.
  if (peer == RankTable::none)
    return;
  uint32_t peerClass = context.classes.getClass(peer);
  uint32_t backSlot = ranks.getBackSlots(rank)[slot];
  const RankGraph &graph = ranks.getGraph(rank), &other = ranks.getGraph(peer);
  ArrayRef<uint32_t> theirs;
  if (backSlot != RankTable::none)
    theirs = context.getOps(peerClass).getMessages(
        type == NodeType::Send ? NodeType::Recv : NodeType::Send, backSlot);
  for (uint32_t op : context.getOps(rankClass).getMessages(type, slot)) {
    int64_t tag = graph.ops[op].tag;
    while (!theirs.empty() && other.ops[theirs.front()].tag < tag)
      theirs = theirs.drop_front();
    if (!theirs.empty() && other.ops[theirs.front()].tag == tag) {
      match(rankClass, op, peer, {peerClass, theirs.front()});
      theirs = theirs.drop_front();
    } else if (other.isComplete) {
      reportAlone(rankClass, graph.ops[op], peer);
    }
  }
}

MessageMatching MessageMatcher::run() {
  const RankClasses &classes = context.classes;
  for (uint32_t number = 0; number < classes.size(); ++number) {
    const RankGraph &graph = classes.getGraph(number);
    matching.partner.emplace_back(graph.ops.size());
    for (uint32_t slot = 0; slot < graph.numPeers; ++slot)
      for (NodeType type : {NodeType::Send, NodeType::Recv})
        matchSlot(number, slot, type);
  }
  return std::move(matching);
}

MessageMatching checkMessages(CrossRankContext &context) {
  return MessageMatcher(context).run();
}

} // namespace stg::trace
