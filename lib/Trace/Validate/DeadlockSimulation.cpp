//===- DeadlockSimulation.cpp - Deadlocks across ranks --------------------===//
//
// Runs all ranks against each other without a clock, by the simulator's rules:
// ready nodes are taken by ascending id, a rank has one slot for collectives
// and sends, a collective holds it until all members have arrived, receives
// never hold anything. An eager send ends at once and needs no receive; one by
// rendezvous holds the slot until its receive is posted, which is when the
// receive's dependencies are done. Where rule 6.3 holds, the order of the
// slot's users is fixed and the outcome is that of any timing; otherwise it is
// that of one possible timing, in which all that has begun ends at the same
// time, in rounds. So what a rank does in a round follows from its own state
// and the states of those that it communicates with, which is why one rank of
// each class stands for all of them (RankClasses.h).
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
#include <functional>
#include <optional>
#include <queue>

using namespace llvm;

namespace stg::trace {

namespace {

/// When a send ends.
enum class SendMode { Eager, Rendezvous };

/// A node of a class.
struct NodeRef {
  uint32_t rankClass = 0;
  uint32_t node = 0;

  bool operator==(NodeRef other) const {
    return rankClass == other.rankClass && node == other.node;
  }
  bool operator<(NodeRef other) const {
    return std::tie(rankClass, node) < std::tie(other.rankClass, other.node);
  }
};

/// The order in which the collectives of a class of groups are matched.
struct GroupState {
  /// How many collectives the users have, in ascending order.
  std::vector<uint32_t> totals;
  /// Collectives that have started and not ended, by their number.
  DenseMap<uint32_t, std::vector<NodeRef>> waiting;

  /// How many users take part in collective `number`.
  size_t getNumParticipants(uint32_t number) const {
    return static_cast<size_t>(totals.end() -
                               llvm::upper_bound(totals, number));
  }
};

/// The state of the ranks of one class.
struct RankState {
  RankState(const RankGraph &graph, size_t numGroups)
      : missing(graph.getNumNodes()), started(graph.getNumNodes()),
        ending(graph.getNumNodes()), done(graph.getNumNodes()),
        numStarted(numGroups) {}

  /// Number of dependencies that are not done.
  std::vector<uint32_t> missing;
  BitVector started;
  /// Ends in the next round, or is done.
  BitVector ending;
  BitVector done;
  /// How many collectives have started, by slot of groups.
  std::vector<uint32_t> numStarted;
  /// Ready nodes that need the slot for communication, by ascending id.
  using Entry = std::pair<uint64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  /// The node that holds that slot, or UINT32_MAX.
  uint32_t holder = UINT32_MAX;
};

/// The run and its analysis.
class Simulation {
public:
  Simulation(SendMode mode, CrossRankContext &context,
             ArrayRef<Successors> successors, const MessageMatching &matching);
  void run();
  /// Reports each circle of nodes that wait. Returns false if there is none.
  bool reportDeadlocks();

private:
  void begin();
  void runRound();
  void takeUp(NodeRef ref);
  void finish(NodeRef ref);
  void fillSlot(uint32_t rankClass);
  void start(NodeRef ref);
  void startCollective(NodeRef ref, const CommOp &op);
  void startSend(NodeRef send);
  void startRecv(NodeRef recv);
  void deliver(NodeRef ref);
  void end(NodeRef ref);

  NodeRef getBlocker(NodeRef ref) const;
  NodeRef getLateUser(NodeRef ref, const CommOp &op) const;
  std::optional<NodeRef> getPartner(NodeRef ref) const;
  void reportCycle(ArrayRef<NodeRef> cycle);
  std::string describeCycle(NodeRef first, uint32_t firstRank);
  uint32_t getRank(NodeRef blocker, NodeRef ref, uint32_t rank) const;
  std::string describe(NodeRef ref, uint32_t rank);

  const RankGraph &getGraph(NodeRef ref) const {
    return classes.getGraph(ref.rankClass);
  }
  const CommOp *findOp(NodeRef ref) const {
    return getGraph(ref).findOp(ref.node);
  }
  Rule getRule() const {
    return mode == SendMode::Eager ? Rule::NoDeadlock
                                   : Rule::NoRendezvousDeadlock;
  }
  bool needsSlot(NodeRef ref) const;
  bool hasStarted(NodeRef ref) const {
    return states[ref.rankClass].started.test(ref.node);
  }
  bool isDone(NodeRef ref) const {
    return states[ref.rankClass].done.test(ref.node);
  }

  SendMode mode;
  CrossRankContext &context;
  const RankClasses &classes;
  /// By number of graph.
  ArrayRef<Successors> successors;
  const MessageMatching &matching;
  std::vector<RankState> states;
  /// Parallel to the classes of groups.
  std::vector<GroupState> groups;
  /// Nodes that start in this round, and those that end in the next one.
  std::vector<NodeRef> starting, ending;
};

} // namespace

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

Simulation::Simulation(SendMode mode, CrossRankContext &context,
                       ArrayRef<Successors> successors,
                       const MessageMatching &matching)
    : mode(mode), context(context), classes(context.classes),
      successors(successors), matching(matching) {
  for (uint32_t number = 0; number < classes.size(); ++number) {
    const RankGraph &graph = classes.getGraph(number);
    states.emplace_back(graph, graph.numGroups);
  }
  for (uint32_t number = 0; number < context.groups.size(); ++number) {
    GroupState &group = groups.emplace_back();
    for (const GroupUser &user : context.groups.getUsers(number))
      group.totals.push_back(static_cast<uint32_t>(
          context.getCollectives(user.rankClass, user.slot).size()));
    llvm::sort(group.totals);
  }
}

/// The other side of a message, if there is one.
std::optional<NodeRef> Simulation::getPartner(NodeRef ref) const {
  const RankGraph &graph = getGraph(ref);
  size_t op = static_cast<size_t>(graph.findOp(ref.node) - graph.ops.data());
  OpRef partner = matching.partner[ref.rankClass][op];
  if (!partner.isValid())
    return std::nullopt;
  return NodeRef{partner.rankClass,
                 classes.getGraph(partner.rankClass).ops[partner.op].node};
}

bool Simulation::needsSlot(NodeRef ref) const {
  int32_t type = getGraph(ref).types[ref.node];
  return type != static_cast<int32_t>(NodeType::Comp) &&
         type != static_cast<int32_t>(NodeType::Recv);
}

/// Lets a node end in the next round. Both sides of a message may say so.
void Simulation::end(NodeRef ref) {
  BitVector &isEnding = states[ref.rankClass].ending;
  if (isEnding.test(ref.node))
    return;
  isEnding.set(ref.node);
  ending.push_back(ref);
}

void Simulation::startCollective(NodeRef ref, const CommOp &op) {
  GroupState &group = groups[context.groups.find(ref.rankClass, op.slot)];
  uint32_t number = states[ref.rankClass].numStarted[op.slot]++;
  std::vector<NodeRef> &arrived = group.waiting[number];
  arrived.push_back(ref);
  if (arrived.size() < group.getNumParticipants(number))
    return;
  for (NodeRef other : arrived)
    end(other);
  group.waiting.erase(number);
}

void Simulation::startSend(NodeRef send) {
  std::optional<NodeRef> recv = getPartner(send);
  if (mode == SendMode::Eager || !recv)
    return end(send);
  if (!hasStarted(*recv))
    return;
  end(send);
  end(*recv);
}

void Simulation::startRecv(NodeRef recv) {
  std::optional<NodeRef> send = getPartner(recv);
  if (!send)
    return end(recv);
  if (mode == SendMode::Eager) {
    if (isDone(*send))
      end(recv);
    return;
  }
  if (!hasStarted(*send))
    return;
  end(*send);
  end(recv);
}

void Simulation::start(NodeRef ref) {
  const CommOp *op = findOp(ref);
  if (!op)
    return end(ref);
  if (op->isColl())
    return startCollective(ref, *op);
  return op->type == NodeType::Send ? startSend(ref) : startRecv(ref);
}

/// A node whose dependencies are done starts, or stands in line for the slot.
void Simulation::takeUp(NodeRef ref) {
  if (needsSlot(ref))
    states[ref.rankClass].ready.push({getGraph(ref).ids[ref.node], ref.node});
  else
    starting.push_back(ref);
}

void Simulation::fillSlot(uint32_t rankClass) {
  RankState &state = states[rankClass];
  if (state.holder != UINT32_MAX || state.ready.empty())
    return;
  state.holder = state.ready.top().second;
  state.ready.pop();
  starting.push_back({rankClass, state.holder});
}

void Simulation::finish(NodeRef ref) {
  RankState &state = states[ref.rankClass];
  state.done.set(ref.node);
  if (state.holder == ref.node)
    state.holder = UINT32_MAX;
  uint32_t graph =
      classes.getRanks().getGraphNumber(classes.getFirst(ref.rankClass));
  for (uint32_t successor : successors[graph].get(ref.node))
    if (--state.missing[successor] == 0)
      takeUp({ref.rankClass, successor});
}

/// Ends the receive of an eager message that has arrived, if it is waiting.
void Simulation::deliver(NodeRef ref) {
  const CommOp *op = findOp(ref);
  if (!op || op->type != NodeType::Send)
    return;
  std::optional<NodeRef> recv = getPartner(ref);
  if (recv && hasStarted(*recv))
    end(*recv);
}

/// What starts in a round is settled before any of it looks for its other
/// sides, so that the order within a round means nothing.
void Simulation::runRound() {
  std::vector<NodeRef> ended;
  std::swap(ended, ending);
  starting.clear();
  for (NodeRef ref : ended)
    finish(ref);
  for (NodeRef ref : ended)
    fillSlot(ref.rankClass);
  begin();
  if (mode == SendMode::Eager)
    for (NodeRef ref : ended)
      deliver(ref);
}

/// Starts the nodes that start in this round.
void Simulation::begin() {
  for (NodeRef ref : starting)
    states[ref.rankClass].started.set(ref.node);
  for (NodeRef ref : starting)
    start(ref);
}

void Simulation::run() {
  for (uint32_t number = 0; number < classes.size(); ++number) {
    const RankGraph &graph = classes.getGraph(number);
    for (uint32_t i = 0; i < graph.getNumNodes(); ++i) {
      states[number].missing[i] =
          static_cast<uint32_t>(graph.getDeps(i).size());
      if (states[number].missing[i] == 0)
        takeUp({number, i});
    }
    fillSlot(number);
  }
  begin();
  while (!ending.empty())
    runRound();
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// The next collective of a user that has not arrived at the one that `ref`
/// waits in.
NodeRef Simulation::getLateUser(NodeRef ref, const CommOp &op) const {
  uint32_t group = context.groups.find(ref.rankClass, op.slot);
  uint32_t number = states[ref.rankClass].numStarted[op.slot] - 1;
  for (const GroupUser &user : context.groups.getUsers(group)) {
    ArrayRef<uint32_t> collectives =
        context.getCollectives(user.rankClass, user.slot);
    const RankState &state = states[user.rankClass];
    if (number >= collectives.size() || state.numStarted[user.slot] > number)
      continue;
    const RankGraph &graph = classes.getGraph(user.rankClass);
    for (uint32_t next : collectives)
      if (!state.started.test(graph.ops[next].node))
        return {user.rankClass, graph.ops[next].node};
  }
  llvm_unreachable("a collective that all have started has ended");
}

/// A node that is not done and that `ref`, which is not done either, waits for.
NodeRef Simulation::getBlocker(NodeRef ref) const {
  const RankState &state = states[ref.rankClass];
  if (state.missing[ref.node] != 0)
    for (uint32_t dep : getGraph(ref).getDeps(ref.node))
      if (!state.done.test(dep))
        return {ref.rankClass, dep};
  if (!state.started.test(ref.node))
    return {ref.rankClass, state.holder};
  const CommOp &op = *findOp(ref);
  return op.isColl() ? getLateUser(ref, op) : *getPartner(ref);
}

/// The rank of the blocker of a node, when the node is one of `rank`.
uint32_t Simulation::getRank(NodeRef blocker, NodeRef ref,
                             uint32_t rank) const {
  if (!hasStarted(ref))
    return rank;
  const CommOp &op = *findOp(ref);
  const RankTable &ranks = classes.getRanks();
  if (!op.isColl())
    return ranks.getPeers(rank)[op.slot];
  uint32_t group = ranks.getGroups(rank)[op.slot];
  const CommOp &late = *findOp(blocker);
  for (uint32_t other = 0; other < ranks.size(); ++other)
    if (classes.getClass(other) == blocker.rankClass &&
        ranks.getGroups(other)[late.slot] == group)
      return other;
  llvm_unreachable("groups of a class have the same users");
}

std::string Simulation::describe(NodeRef ref, uint32_t rank) {
  std::string text = context.describe(getRule(), rank, ref.node) + " of rank " +
                     std::to_string(context.getNumber(rank));
  const CommOp *op = findOp(ref);
  if (!op || !op->isColl())
    return text + " (" + getNodeTypeName(getGraph(ref).types[ref.node]) + ")";
  const RankTable &ranks = classes.getRanks();
  std::string group =
      ranks.getSource().getGroupName(ranks.getGroups(rank)[op->slot]);
  return text + " (" +
         (op->collective < 0 ? "COMM_COLL"
                             : getCollectiveName(op->collective)) +
         " on " +
         (group.empty() ? "all ranks" : "group " + shortenText(group)) + ")";
}

/// What the first node of a circle waits for, and so on around it. The circle
/// may lead to another rank of the class, from where it goes on in the same
/// way.
std::string Simulation::describeCycle(NodeRef first, uint32_t firstRank) {
  constexpr size_t maxShown = 7;
  size_t numNodes = 0;
  std::string text;
  NodeRef ref = first;
  uint32_t rank = firstRank;
  while (true) {
    NodeRef blocker = getBlocker(ref);
    rank = getRank(blocker, ref, rank);
    ref = blocker;
    if (ref == first)
      break;
    // Compute nodes only pass on the waiting.
    if (findOp(ref) && ++numNodes <= maxShown)
      text += "waits for " + describe(ref, rank) + ", which ";
  }
  if (numNodes > maxShown) {
    text.resize(text.size() - StringRef(", which ").size());
    text += ", and so on over " + std::to_string(numNodes - maxShown) +
            " more nodes, which ";
  }
  if (rank == firstRank)
    return text + "waits for the first";
  return text + "waits for the same of rank " +
         std::to_string(context.getNumber(rank)) + ", and so on";
}

void Simulation::reportCycle(ArrayRef<NodeRef> cycle) {
  std::vector<NodeRef> shown;
  llvm::copy_if(cycle, std::back_inserter(shown),
                [&](NodeRef ref) { return findOp(ref) != nullptr; });
  NodeRef first = *llvm::min_element(shown);
  uint32_t rank = classes.getFirst(first.rankClass);
  const CommOp &op = *findOp(first);
  std::string text = mode == SendMode::Eager
                         ? "deadlock: this "
                         : "deadlock if sends wait for receives: this ";
  text += op.isColl() ? getCollectiveName(op.collective)
                      : getNodeTypeName(static_cast<int64_t>(op.type));
  text += " of rank " + std::to_string(context.getNumber(rank)) + " ";
  context.report(getRule(), rank, first.node,
                 text + describeCycle(first, rank));
}

bool Simulation::reportDeadlocks() {
  // 0: not seen, otherwise the number of the walk that saw the node.
  std::vector<std::vector<uint32_t>> seen;
  for (const RankState &state : states)
    seen.emplace_back(state.done.size());
  uint32_t walk = 0;
  for (uint32_t number = 0; number < classes.size(); ++number) {
    int stuck = states[number].done.find_first_unset();
    if (stuck < 0)
      continue;
    ++walk;
    std::vector<NodeRef> path;
    NodeRef ref{number, static_cast<uint32_t>(stuck)};
    while (seen[ref.rankClass][ref.node] == 0) {
      seen[ref.rankClass][ref.node] = walk;
      path.push_back(ref);
      ref = getBlocker(ref);
    }
    if (seen[ref.rankClass][ref.node] == walk)
      reportCycle(ArrayRef<NodeRef>(path).drop_front(
          static_cast<size_t>(llvm::find(path, ref) - path.begin())));
  }
  return walk != 0;
}

void checkDeadlock(CrossRankContext &context, const MessageMatching &matching,
                   bool withRendezvous) {
  const GraphTable &graphs = context.getRanks().getGraphs();
  std::vector<Successors> successors;
  for (uint32_t number = 0; number < graphs.size(); ++number) {
    const RankGraph &graph = graphs[number];
    if (!graph.isComplete || !graph.isAcyclic)
      return;
    successors.emplace_back(graph);
  }
  bool hasMessages =
      llvm::any_of(matching.partner, [](const std::vector<OpRef> &partners) {
        return llvm::any_of(partners, std::mem_fn(&OpRef::isValid));
      });
  for (SendMode mode : {SendMode::Eager, SendMode::Rendezvous}) {
    if (mode == SendMode::Rendezvous && !(withRendezvous && hasMessages))
      return;
    Simulation simulation(mode, context, successors, matching);
    simulation.run();
    if (simulation.reportDeadlocks())
      return;
  }
}

} // namespace stg::trace
