//===- DeadlockSimulation.cpp - Deadlocks across ranks --------------------===//
//
// Runs all ranks against each other without a clock, by the simulator's rules:
// ready nodes are taken by ascending id, a rank has one slot for collectives
// and sends, a collective holds it until all members have arrived, receives
// never hold anything. An eager send ends at once and needs no receive; one by
// rendezvous holds the slot until its receive is posted, which is when the
// receive's dependencies are done. Where rule 6.3 holds, the order of the
// slot's users is fixed and the outcome is that of any timing; otherwise it is
// that of one possible timing, with compute taking no time.
//
// An eager run gets at least as far as one by rendezvous. So the second is
// tried only where the first ends, and a deadlock is told once.
//
// What other rules have reported must not look like a deadlock: a receive
// without a send is taken as arrived, a send without a receive waits for none,
// and a collective waits only for members that have as many collectives on its
// group. So whatever is left in the end waits in a circle.
//
//===----------------------------------------------------------------------===//

#include "CrossRankChecks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <functional>
#include <optional>
#include <queue>

using namespace llvm;

namespace stg::trace {

namespace {

/// When a send ends.
enum class SendMode { Eager, Rendezvous };

/// A node of a trace: which of the results, which of its nodes.
struct NodeRef {
  uint32_t rank = 0;
  uint32_t node = 0;
};

/// The order in which one group's collectives are matched.
struct GroupState {
  /// Ranks with collectives on the group, and for each how many it has and how
  /// many it has started.
  struct Member {
    uint32_t rank = 0;
    uint32_t total = 0;
    uint32_t started = 0;
  };
  std::vector<Member> members;
  /// The members' totals in ascending order.
  std::vector<uint32_t> totals;
  /// Collectives that have started and not ended, by their number.
  DenseMap<uint32_t, std::vector<NodeRef>> waiting;

  Member &getMember(uint32_t rank) {
    return *llvm::lower_bound(members, rank,
                              [](const Member &member, uint32_t value) {
                                return member.rank < value;
                              });
  }
  /// How many members take part in collective `number`.
  size_t getNumParticipants(uint32_t number) const {
    return static_cast<size_t>(totals.end() -
                               llvm::upper_bound(totals, number));
  }
};

/// The state of one rank.
struct RankState {
  explicit RankState(const RankGraph &graph)
      : successors(graph), missing(graph.getNumNodes()),
        started(graph.getNumNodes()), done(graph.getNumNodes()) {}

  Successors successors;
  /// Number of dependencies that are not done.
  std::vector<uint32_t> missing;
  BitVector started;
  BitVector done;
  /// Ready users of the slot, by ascending id.
  using Entry = std::pair<uint64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  /// The node that holds the slot, or UINT32_MAX.
  uint32_t slot = UINT32_MAX;
};

/// The run and its analysis.
class Simulation {
public:
  Simulation(SendMode mode, ArrayRef<RankResult> ranks,
             const MessageMatching &matching);
  void run();
  /// Reports each circle of nodes that wait. Returns false if there is none.
  bool reportDeadlocks(ViolationList &violations);

private:
  void start(uint32_t rank, ArrayRef<uint32_t> nodes);
  void startNode(uint32_t rank, uint32_t node);
  void fillSlot(uint32_t rank);
  void startCollective(uint32_t rank, uint32_t node, const CommOp &op);
  void startSend(NodeRef send);
  void startRecv(NodeRef recv);
  void complete(NodeRef ref);
  void deliver(NodeRef send);

  NodeRef getBlocker(NodeRef ref);
  NodeRef getLateMember(NodeRef ref, const CommOp &op);
  std::optional<NodeRef> getPartner(NodeRef ref) const;
  bool hasStarted(NodeRef ref) const {
    return states[ref.rank].started.test(ref.node);
  }
  bool isSlotUser(NodeRef ref) const;
  void reportCycle(ArrayRef<NodeRef> cycle, ViolationList &violations) const;
  std::string describe(NodeRef ref) const;

  GroupState &getGroup(uint32_t rank, const CommOp &op) {
    return groups[groupOfRank[rank][op.group]];
  }

  SendMode mode;
  ArrayRef<RankResult> ranks;
  const MessageMatching &matching;
  std::vector<RankState> states;
  std::vector<GroupState> groups;
  /// Index in `groups` for each rank and each of its group names.
  std::vector<std::vector<uint32_t>> groupOfRank;
  /// Nodes that end next, in order.
  std::deque<NodeRef> ending;
};

} // namespace

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

Simulation::Simulation(SendMode mode, ArrayRef<RankResult> ranks,
                       const MessageMatching &matching)
    : mode(mode), ranks(ranks), matching(matching) {
  StringMap<uint32_t> indices;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const RankGraph &graph = ranks[r].graph;
    states.emplace_back(graph);
    std::vector<uint32_t> &own = groupOfRank.emplace_back();
    for (const std::string &name : graph.groupNames) {
      auto [it, isNew] =
          indices.try_emplace(name, static_cast<uint32_t>(groups.size()));
      if (isNew)
        groups.emplace_back();
      own.push_back(it->second);
      groups[it->second].members.push_back({r, 0, 0});
    }
    for (const CommOp &op : graph.ops)
      if (op.type == NodeType::Coll)
        ++getGroup(r, op).members.back().total;
  }
  for (GroupState &group : groups) {
    for (const GroupState::Member &member : group.members)
      group.totals.push_back(member.total);
    llvm::sort(group.totals);
  }
}

/// The other side of a message, if there is one.
std::optional<NodeRef> Simulation::getPartner(NodeRef ref) const {
  const RankGraph &graph = ranks[ref.rank].graph;
  size_t op = static_cast<size_t>(graph.findOp(ref.node) - graph.ops.data());
  OpRef partner = matching.partner[ref.rank][op];
  if (!partner.isValid())
    return std::nullopt;
  return NodeRef{partner.rank, ranks[partner.rank].graph.ops[partner.op].node};
}

bool Simulation::isSlotUser(NodeRef ref) const {
  int32_t type = ranks[ref.rank].graph.types[ref.node];
  return type != static_cast<int32_t>(NodeType::Comp) &&
         type != static_cast<int32_t>(NodeType::Recv);
}

void Simulation::startCollective(uint32_t rank, uint32_t node,
                                 const CommOp &op) {
  GroupState &group = getGroup(rank, op);
  uint32_t number = group.getMember(rank).started++;
  std::vector<NodeRef> &arrived = group.waiting[number];
  arrived.push_back({rank, node});
  if (arrived.size() < group.getNumParticipants(number))
    return;
  llvm::append_range(ending, arrived);
  group.waiting.erase(number);
}

void Simulation::startSend(NodeRef send) {
  std::optional<NodeRef> recv = getPartner(send);
  if (mode == SendMode::Eager || !recv)
    return ending.push_back(send);
  if (!hasStarted(*recv))
    return;
  ending.push_back(send);
  ending.push_back(*recv);
}

void Simulation::startRecv(NodeRef recv) {
  std::optional<NodeRef> send = getPartner(recv);
  if (!send)
    return ending.push_back(recv);
  if (mode == SendMode::Eager) {
    if (states[send->rank].done.test(send->node))
      ending.push_back(recv);
    return;
  }
  if (!hasStarted(*send))
    return;
  ending.push_back(*send);
  ending.push_back(recv);
}

void Simulation::startNode(uint32_t rank, uint32_t node) {
  RankState &state = states[rank];
  state.started.set(node);
  const CommOp *op = ranks[rank].graph.findOp(node);
  if (op && op->type == NodeType::Coll)
    return startCollective(rank, node, *op);
  if (op && op->type == NodeType::Send)
    return startSend({rank, node});
  if (op && op->type == NodeType::Recv)
    return startRecv({rank, node});
  ending.push_back({rank, node});
}

void Simulation::fillSlot(uint32_t rank) {
  RankState &state = states[rank];
  if (state.slot != UINT32_MAX || state.ready.empty())
    return;
  state.slot = state.ready.top().second;
  state.ready.pop();
  startNode(rank, state.slot);
}

/// Takes up nodes that have become ready.
void Simulation::start(uint32_t rank, ArrayRef<uint32_t> nodes) {
  for (uint32_t node : nodes) {
    if (isSlotUser({rank, node}))
      states[rank].ready.push({ranks[rank].graph.ids[node], node});
    else
      startNode(rank, node);
  }
  fillSlot(rank);
}

/// Ends the receive of an eager message that has arrived, if it is waiting.
void Simulation::deliver(NodeRef send) {
  std::optional<NodeRef> recv = getPartner(send);
  if (recv && hasStarted(*recv))
    ending.push_back(*recv);
}

void Simulation::complete(NodeRef ref) {
  RankState &state = states[ref.rank];
  state.done.set(ref.node);
  if (state.slot == ref.node)
    state.slot = UINT32_MAX;
  const CommOp *op = ranks[ref.rank].graph.findOp(ref.node);
  if (op && op->type == NodeType::Send && mode == SendMode::Eager)
    deliver(ref);
  SmallVector<uint32_t> ready;
  for (uint32_t successor : state.successors.get(ref.node))
    if (--state.missing[successor] == 0)
      ready.push_back(successor);
  start(ref.rank, ready);
}

void Simulation::run() {
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const RankGraph &graph = ranks[r].graph;
    std::vector<uint32_t> ready;
    for (uint32_t i = 0; i < graph.getNumNodes(); ++i) {
      states[r].missing[i] = static_cast<uint32_t>(graph.getDeps(i).size());
      if (states[r].missing[i] == 0)
        ready.push_back(i);
    }
    start(r, ready);
  }
  while (!ending.empty()) {
    NodeRef ref = ending.front();
    ending.pop_front();
    complete(ref);
  }
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

std::string Simulation::describe(NodeRef ref) const {
  const RankResult &rank = ranks[ref.rank];
  std::string text =
      rank.describe(ref.node) + " of rank " + std::to_string(rank.rank);
  const CommOp *op = rank.graph.findOp(ref.node);
  if (!op || op->type != NodeType::Coll)
    return text + " (" + getNodeTypeName(rank.graph.types[ref.node]) + ")";
  const std::string &group = rank.graph.groupNames[op->group];
  return text + " (" +
         (op->collective < 0 ? "COMM_COLL"
                             : getCollectiveName(op->collective)) +
         " on " + (group.empty() ? "all ranks" : "group " + escapeText(group)) +
         ")";
}

/// The next collective of a member that has not arrived at the one that `ref`
/// waits in.
NodeRef Simulation::getLateMember(NodeRef ref, const CommOp &op) {
  GroupState &group = getGroup(ref.rank, op);
  uint32_t number = group.getMember(ref.rank).started - 1;
  auto late = llvm::find_if(group.members, [&](const GroupState::Member &m) {
    return m.started <= number && m.total > number;
  });
  const RankGraph &graph = ranks[late->rank].graph;
  uint32_t wanted = groupOfRank[ref.rank][op.group];
  auto next = llvm::find_if(graph.ops, [&](const CommOp &other) {
    return other.type == NodeType::Coll &&
           groupOfRank[late->rank][other.group] == wanted &&
           !states[late->rank].started.test(other.node);
  });
  return {late->rank, next->node};
}

/// A node that is not done and that `ref`, which is not done either, waits for.
NodeRef Simulation::getBlocker(NodeRef ref) {
  RankState &state = states[ref.rank];
  const RankGraph &graph = ranks[ref.rank].graph;
  if (state.missing[ref.node] != 0)
    for (uint32_t dep : graph.getDeps(ref.node))
      if (!state.done.test(dep))
        return {ref.rank, dep};
  if (!state.started.test(ref.node))
    return {ref.rank, state.slot};
  const CommOp &op = *graph.findOp(ref.node);
  return op.type == NodeType::Coll ? getLateMember(ref, op) : *getPartner(ref);
}

void Simulation::reportCycle(ArrayRef<NodeRef> cycle,
                             ViolationList &violations) const {
  // Compute nodes only pass on the waiting.
  SmallVector<NodeRef> shown;
  llvm::copy_if(cycle, std::back_inserter(shown), [&](NodeRef ref) {
    return ranks[ref.rank].graph.findOp(ref.node) != nullptr;
  });
  auto first = std::min_element(
      shown.begin(), shown.end(), [](NodeRef lhs, NodeRef rhs) {
        return std::tie(lhs.rank, lhs.node) < std::tie(rhs.rank, rhs.node);
      });
  std::rotate(shown.begin(), first, shown.end());
  constexpr size_t maxShown = 8;
  bool isEager = mode == SendMode::Eager;
  std::string text = isEager ? "deadlock: this "
                             : "deadlock if sends wait for receives: this ";
  const CommOp *op = ranks[shown[0].rank].graph.findOp(shown[0].node);
  text += op->type == NodeType::Coll
              ? getCollectiveName(op->collective)
              : getNodeTypeName(static_cast<int64_t>(op->type));
  text += " of rank " + std::to_string(ranks[shown[0].rank].rank);
  for (size_t i = 1; i < shown.size() && i < maxShown; ++i)
    text +=
        (i == 1 ? " waits for " : ", which waits for ") + describe(shown[i]);
  if (shown.size() > maxShown)
    text += ", and so on over " + std::to_string(shown.size() - maxShown) +
            " more nodes";
  text += ", which waits for the first";
  ranks[shown[0].rank].report(
      violations, isEager ? Rule::NoDeadlock : Rule::NoRendezvousDeadlock,
      shown[0].node, text);
}

bool Simulation::reportDeadlocks(ViolationList &violations) {
  // 0: not seen, otherwise the number of the walk that saw the node.
  std::vector<std::vector<uint32_t>> seen;
  for (const RankState &state : states)
    seen.emplace_back(state.done.size());
  uint32_t walk = 0;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    int stuck = states[r].done.find_first_unset();
    if (stuck < 0)
      continue;
    ++walk;
    std::vector<NodeRef> path;
    NodeRef ref{r, static_cast<uint32_t>(stuck)};
    while (seen[ref.rank][ref.node] == 0) {
      seen[ref.rank][ref.node] = walk;
      path.push_back(ref);
      ref = getBlocker(ref);
    }
    if (seen[ref.rank][ref.node] != walk)
      continue;
    auto begin = llvm::find_if(path, [&](NodeRef other) {
      return other.rank == ref.rank && other.node == ref.node;
    });
    reportCycle(
        ArrayRef(path).drop_front(static_cast<size_t>(begin - path.begin())),
        violations);
  }
  return walk != 0;
}

void checkDeadlock(ArrayRef<RankResult> ranks, const MessageMatching &matching,
                   bool withRendezvous, ViolationList &violations) {
  bool canRun = llvm::all_of(ranks, [](const RankResult &rank) {
    return rank.isComplete && rank.isAcyclic;
  });
  if (!canRun)
    return;
  bool hasMessages =
      llvm::any_of(matching.partner, [](const std::vector<OpRef> &partners) {
        return llvm::any_of(partners, std::mem_fn(&OpRef::isValid));
      });
  for (SendMode mode : {SendMode::Eager, SendMode::Rendezvous}) {
    if (mode == SendMode::Rendezvous && !(withRendezvous && hasMessages))
      return;
    Simulation simulation(mode, ranks, matching);
    simulation.run();
    if (simulation.reportDeadlocks(violations))
      return;
  }
}

} // namespace stg::trace
