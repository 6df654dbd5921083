//===- RankGraph.cpp - Dependency graph of one rank -----------------------===//
//
// Order, cycles and reachability on plain index arrays.
//
//===----------------------------------------------------------------------===//

#include "RankGraph.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <array>
#include <optional>
#include <queue>

using namespace llvm;

namespace stg::trace {

const CommOp *RankGraph::findOp(uint32_t node) const {
  auto it = llvm::lower_bound(ops, node, [](const CommOp &op, uint32_t value) {
    return op.node < value;
  });
  return it != ops.end() && it->node == node ? &*it : nullptr;
}

bool RankGraph::operator==(const RankGraph &other) const {
  return ids == other.ids && types == other.types &&
         depBegin == other.depBegin && deps == other.deps &&
         numDataDeps == other.numDataDeps && ops == other.ops &&
         numGroups == other.numGroups && numPeers == other.numPeers &&
         isComplete == other.isComplete && isAcyclic == other.isAcyclic;
}

template <typename T> static uint64_t hashArray(const std::vector<T> &array) {
  return xxh3_64bits(
      ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(array.data()),
                        array.size() * sizeof(T)));
}

uint64_t RankGraph::getHash() const {
  hash_code hash = hash_combine(
      hashArray(ids), hashArray(types), hashArray(depBegin), hashArray(deps),
      hashArray(numDataDeps), numGroups, numPeers, isComplete, isAcyclic);
  for (const CommOp &op : ops)
    hash = hash_combine(hash, op.node, op.type, op.slot, op.collective, op.tag,
                        static_cast<uint64_t>(op.size));
  return hash;
}

void RankGraph::shrinkToFit() {
  ids.shrink_to_fit();
  types.shrink_to_fit();
  depBegin.shrink_to_fit();
  deps.shrink_to_fit();
  numDataDeps.shrink_to_fit();
  ops.shrink_to_fit();
}

Successors::Successors(const RankGraph &graph) {
  uint32_t numNodes = graph.getNumNodes();
  begin.assign(numNodes + 1, 0);
  for (uint32_t dep : graph.deps)
    ++begin[dep + 1];
  for (uint32_t i = 0; i < numNodes; ++i)
    begin[i + 1] += begin[i];
  nodes.resize(graph.deps.size());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t i = 0; i < numNodes; ++i)
    for (uint32_t dep : graph.getDeps(i))
      nodes[next[dep]++] = i;
}

/// True if the file itself is a topological order.
static bool isSorted(const RankGraph &graph) {
  for (uint32_t i = 0; i < graph.getNumNodes(); ++i)
    for (uint32_t dep : graph.getDeps(i))
      if (dep >= i)
        return false;
  return true;
}

std::vector<uint32_t> sortTopologically(const RankGraph &graph) {
  uint32_t numNodes = graph.getNumNodes();
  std::vector<uint32_t> order;
  order.reserve(numNodes);
  if (isSorted(graph)) {
    for (uint32_t i = 0; i < numNodes; ++i)
      order.push_back(i);
    return order;
  }
  Successors successors(graph);
  std::vector<uint32_t> missing(numNodes);
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>>
      ready;
  for (uint32_t i = 0; i < numNodes; ++i) {
    missing[i] = static_cast<uint32_t>(graph.getDeps(i).size());
    if (missing[i] == 0)
      ready.push(i);
  }
  while (!ready.empty()) {
    uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (uint32_t successor : successors.get(node))
      if (--missing[successor] == 0)
        ready.push(successor);
  }
  return order;
}

std::vector<uint32_t> findCycle(const RankGraph &graph,
                                ArrayRef<uint32_t> sorted) {
  BitVector inOrder(graph.getNumNodes());
  for (uint32_t node : sorted)
    inOrder.set(node);
  int first = inOrder.find_first_unset();
  if (first < 0)
    return {};

  // Every node that is not in the order has a dependency that is not.
  std::vector<uint32_t> path;
  std::vector<uint32_t> position(graph.getNumNodes(), UINT32_MAX);
  uint32_t node = static_cast<uint32_t>(first);
  while (position[node] == UINT32_MAX) {
    position[node] = static_cast<uint32_t>(path.size());
    path.push_back(node);
    node = *llvm::find_if(graph.getDeps(node),
                          [&](uint32_t dep) { return !inOrder.test(dep); });
  }
  path.erase(path.begin(), path.begin() + position[node]);
  return path;
}

namespace {

/// Finds most ancestors without a look at the whole graph. Traces have a spine:
/// follow the last dependency of each node, and of its last one, and so on, and
/// what a step began with is not far off. So it is enough to look around the
/// ancestor for a node from which the spine leads to the descendant.
class SpineSearch {
public:
  SpineSearch(const RankGraph &graph, ArrayRef<uint32_t> order, bool dataOnly);

  /// Nothing where it would take long to say.
  std::optional<bool> isAncestor(const AncestorQuery &query);

private:
  ArrayRef<uint32_t> getDeps(uint32_t node) const {
    return dataOnly ? graph.getDataDeps(node) : graph.getDeps(node);
  }
  void addUsers();
  /// True if the last dependencies lead from `node` to `other`.
  bool isOnSpine(uint32_t other, uint32_t node) const {
    return first[node] - first[other] < count[other];
  }

  const RankGraph &graph;
  bool dataOnly;
  /// Where nodes stand in the order.
  std::vector<uint32_t> position;
  /// The last dependencies are a forest: its nodes in preorder, and the sizes
  /// of their trees.
  std::vector<uint32_t> first, count;
  std::vector<uint32_t> userBegin, users;
  std::vector<uint32_t> reached;
};

SpineSearch::SpineSearch(const RankGraph &graph, ArrayRef<uint32_t> order,
                         bool dataOnly)
    : graph(graph), dataOnly(dataOnly), position(order.size()),
      first(order.size()), count(order.size(), 1) {
  for (auto [i, node] : llvm::enumerate(order))
    position[node] = static_cast<uint32_t>(i);
  auto getLast = [&](uint32_t node) -> std::optional<uint32_t> {
    std::optional<uint32_t> last;
    for (uint32_t dep : getDeps(node))
      if (!last || position[dep] > position[*last])
        last = dep;
    return last;
  };
  for (uint32_t node : llvm::reverse(order))
    if (std::optional<uint32_t> last = getLast(node))
      count[*last] += count[node];
  // The place for the next tree below each node.
  std::vector<uint32_t> next(order.size());
  uint32_t nextRoot = 0;
  for (uint32_t node : order) {
    std::optional<uint32_t> last = getLast(node);
    uint32_t &place = last ? next[*last] : nextRoot;
    first[node] = place;
    next[node] = place + 1;
    place += count[node];
  }
  addUsers();
}

/// The edges from each node to those that depend on it.
void SpineSearch::addUsers() {
  uint32_t numNodes = graph.getNumNodes();
  userBegin.assign(numNodes + 1, 0);
  for (uint32_t node = 0; node < numNodes; ++node)
    for (uint32_t dep : getDeps(node))
      ++userBegin[dep + 1];
  for (uint32_t node = 0; node < numNodes; ++node)
    userBegin[node + 1] += userBegin[node];
  users.resize(userBegin.back());
  std::vector<uint32_t> next(userBegin.begin(), userBegin.end() - 1);
  for (uint32_t node = 0; node < numNodes; ++node)
    for (uint32_t dep : getDeps(node))
      users[next[dep]++] = node;
}

std::optional<bool> SpineSearch::isAncestor(const AncestorQuery &query) {
  constexpr size_t kMaxReached = 64, kMaxUsers = 1024;
  size_t numUsers = 0;
  reached.assign(1, query.ancestor);
  for (size_t i = 0; i < reached.size(); ++i) {
    uint32_t node = reached[i];
    if (isOnSpine(node, query.descendant))
      return true;
    for (uint32_t at = userBegin[node]; at < userBegin[node + 1]; ++at) {
      uint32_t user = users[at];
      if (++numUsers > kMaxUsers)
        return std::nullopt;
      if (position[user] > position[query.descendant] ||
          llvm::is_contained(reached, user))
        continue;
      if (reached.size() == kMaxReached)
        return std::nullopt;
      reached.push_back(user);
    }
  }
  return false;
}

constexpr unsigned wordsPerBlock = 4;
constexpr unsigned blockSize = 64 * wordsPerBlock;
using Block = std::array<uint64_t, wordsPerBlock>;

/// A sweep over the graph for one block of ancestors.
class Sweep {
public:
  Sweep(const RankGraph &graph, ArrayRef<uint32_t> order, bool dataOnly)
      : graph(graph), order(order), dataOnly(dataOnly),
        reached(graph.getNumNodes()) {}

  /// Marks for every node which of `ancestors` are upstream of it.
  void run(ArrayRef<uint32_t> ancestors) {
    llvm::fill(reached, Block{});
    for (uint32_t node : order) {
      Block &bits = reached[node];
      for (uint32_t dep :
           dataOnly ? graph.getDataDeps(node) : graph.getDeps(node)) {
        const Block &other = reached[dep];
        for (unsigned w = 0; w < wordsPerBlock; ++w)
          bits[w] |= other[w];
        auto it = llvm::lower_bound(ancestors, dep);
        if (it != ancestors.end() && *it == dep)
          set(bits, static_cast<unsigned>(it - ancestors.begin()));
      }
    }
  }

  bool isReached(uint32_t node, unsigned ancestor) const {
    return (reached[node][ancestor / 64] >> (ancestor % 64)) & 1;
  }

private:
  static void set(Block &bits, unsigned i) {
    bits[i / 64] |= uint64_t(1) << (i % 64);
  }

  const RankGraph &graph;
  ArrayRef<uint32_t> order;
  bool dataOnly;
  std::vector<Block> reached;
};

} // namespace

BitVector areAncestors(const RankGraph &graph, ArrayRef<uint32_t> order,
                       bool dataOnly, ArrayRef<AncestorQuery> queries) {
  BitVector answers(queries.size());
  std::vector<uint32_t> pending;
  std::optional<SpineSearch> spine;
  for (size_t i = 0; i < queries.size(); ++i) {
    ArrayRef<uint32_t> deps = dataOnly
                                  ? graph.getDataDeps(queries[i].descendant)
                                  : graph.getDeps(queries[i].descendant);
    if (llvm::is_contained(deps, queries[i].ancestor)) {
      answers.set(i);
      continue;
    }
    if (!spine)
      spine.emplace(graph, order, dataOnly);
    std::optional<bool> answer = spine->isAncestor(queries[i]);
    if (!answer)
      pending.push_back(static_cast<uint32_t>(i));
    else if (*answer)
      answers.set(i);
  }
  spine.reset();
  if (pending.empty())
    return answers;
  llvm::sort(pending, [&](uint32_t lhs, uint32_t rhs) {
    return queries[lhs].ancestor < queries[rhs].ancestor;
  });

  Sweep sweep(graph, order, dataOnly);
  std::vector<uint32_t> ancestors;
  for (size_t next = 0; next < pending.size();) {
    size_t first = next;
    ancestors.clear();
    for (; next < pending.size(); ++next) {
      uint32_t ancestor = queries[pending[next]].ancestor;
      if (!ancestors.empty() && ancestors.back() == ancestor)
        continue;
      if (ancestors.size() == blockSize)
        break;
      ancestors.push_back(ancestor);
    }
    sweep.run(ancestors);
    for (unsigned column = 0; first < next; ++first) {
      while (ancestors[column] != queries[pending[first]].ancestor)
        ++column;
      if (sweep.isReached(queries[pending[first]].descendant, column))
        answers.set(pending[first]);
    }
  }
  return answers;
}

} // namespace stg::trace
