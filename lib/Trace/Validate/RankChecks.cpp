//===- RankChecks.cpp - Rules within one rank -----------------------------===//
//
// One pass over the file checks nodes on their own and collects the graph;
// dependencies, order and memory are checked on the graph.
//
//===----------------------------------------------------------------------===//

#include "RankChecks.h"

#include "MemoryChecks.h"
#include "NodeChecks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include <map>

using namespace llvm;

namespace stg::trace {

namespace {

/// After so many nodes there is a guess of how many there are.
constexpr uint32_t kSampleSize = 4096;

/// The work on one rank.
class RankChecker {
public:
  RankChecker(RankResult &result, TraceReader reader, RankSource &source,
              const RankContext &context)
      : result(result), graph(result.graph), source(source), file(context.file),
        names(std::move(reader)), nodes(context, result.violations),
        memory(context, result.graph, result.violations) {}

  void checkPermissions(StringRef path);
  void run();

private:
  /// Dependencies as they are in the file, of nodes one after the other, from
  /// the first on that cannot be resolved while the file is read.
  struct RawDeps {
    std::vector<uint64_t> ids;
    struct Count {
      uint32_t data;
      uint32_t ctrl;
    };
    std::vector<Count> counts;
  };

  void report(Rule rule, const Twine &message) {
    result.violations.add(rule, file, message);
  }
  void report(Rule rule, uint32_t node, const Twine &message) {
    names.report(result.violations, rule, file, node, message);
  }
  bool readMetadata();
  void readNodes();
  void handle(Error error);
  void addNode(const Node &node);
  void addOp(const Node &node, uint32_t index);
  void reserve(uint64_t numBytesRead);
  bool resolveNow(const Node &node, uint32_t index);
  void addDep(uint32_t node, uint32_t dep);
  uint32_t getGroupSlot(std::string name);
  uint32_t getPeerSlot(int64_t peer);
  void checkIds();
  std::optional<uint32_t> findNode(uint64_t id) const;
  void resolveDeps();
  void resolveList(uint32_t node, ArrayRef<uint64_t> list, StringRef name);
  void checkOrder();
  void reportCycle(ArrayRef<uint32_t> order);
  void checkChain(ArrayRef<uint32_t> order);
  void checkTags();

  RankResult &result;
  RankGraph &graph;
  RankSource &source;
  StringRef file;
  NodeNames names;
  NodeChecker nodes;
  MemoryChecker memory;
  RawDeps raw;
  StringMap<uint32_t> groupSlots;
  std::map<int64_t, uint32_t> peerSlots;
  /// The ids so far do.
  bool ascends = true;
  /// Indices of nodes by id; empty if ids ascend, then the ids themselves do.
  std::vector<std::pair<uint64_t, uint32_t>> nodesById;
  /// The last node that each node became a dependency of.
  std::vector<uint32_t> lastUser;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void RankChecker::checkPermissions(StringRef path) {
  ErrorOr<sys::fs::perms> permissions = sys::fs::getPermissions(path);
  if (!permissions)
    return;
  // The superuser may write to anything, so that access() is not enough.
  bool hasWriteBit = *permissions & sys::fs::all_write;
  if (!hasWriteBit || sys::fs::access(path, sys::fs::AccessMode::Write))
    report(Rule::Writable, "file is not writable, the simulator opens traces "
                           "for writing");
}

/// Turns an error of the reader into a violation.
void RankChecker::handle(Error error) {
  graph.isComplete = false;
  handleAllErrors(
      std::move(error),
      [&](const TraceError &trace) {
        Rule rule = Rule::Framing;
        if (trace.getKind() == TraceError::Kind::NoMetadata)
          rule = Rule::MetadataFirst;
        else if (trace.getKind() == TraceError::Kind::EmptyMessage)
          rule = Rule::ZeroLength;
        else if (trace.getKind() == TraceError::Kind::Malformed)
          rule = Rule::Schema;
        report(rule, trace.getMessage());
      },
      [&](const ErrorInfoBase &other) {
        report(Rule::Framing, other.message());
      });
}

bool RankChecker::readMetadata() {
  Metadata metadata;
  if (Error error = names.getReader().readMetadata(metadata)) {
    handle(std::move(error));
    return false;
  }
  if (metadata.size == 0)
    report(Rule::ZeroLength, "GlobalMetadata has zero length");
  if (metadata.version.empty())
    report(Rule::MetadataFirst, "GlobalMetadata has no version");
  if (metadata.invalidText)
    report(Rule::Utf8, "field '" + *metadata.invalidText +
                           "' of GlobalMetadata is not valid UTF-8");
  memory.addMetadata(metadata);
  nodes.addMetadata(metadata);
  return true;
}

/// Makes room for as many nodes as there will be if the others are like those
/// that were read.
void RankChecker::reserve(uint64_t numBytesRead) {
  double scale = 1.02 * names.getReader().getNumBytes() / numBytesRead;
  auto grow = [&](auto &array) {
    array.reserve(static_cast<size_t>(array.size() * scale));
  };
  grow(graph.ids);
  grow(graph.types);
  grow(graph.depBegin);
  grow(graph.deps);
  grow(graph.numDataDeps);
  grow(lastUser);
  size_t numNodes = static_cast<size_t>(kSampleSize * scale);
  names.reserve(numNodes);
  memory.reserve(numNodes);
}

void RankChecker::readNodes() {
  Node node;
  while (true) {
    Expected<bool> more = names.getReader().readNode(node);
    if (!more) {
      handle(more.takeError());
      continue;
    }
    if (!*more)
      break;
    addNode(node);
    if (graph.getNumNodes() == kSampleSize)
      reserve(node.offset + node.size);
  }
  if (names.getReader().getNumNodes() == 0 && graph.isComplete)
    report(Rule::HasNodes, "file has no node");
}

uint32_t RankChecker::getGroupSlot(std::string name) {
  auto [it, isNew] = groupSlots.try_emplace(name, graph.numGroups);
  if (isNew) {
    result.bindings.groups.push_back(source.getGroup(name));
    ++graph.numGroups;
  }
  return it->second;
}

uint32_t RankChecker::getPeerSlot(int64_t peer) {
  if (peer < 0)
    return CommOp::noSlot;
  auto [it, isNew] = peerSlots.try_emplace(peer, graph.numPeers);
  if (isNew) {
    result.bindings.peers.push_back(peer);
    ++graph.numPeers;
  }
  return it->second;
}

void RankChecker::addOp(const Node &node, uint32_t index) {
  CommOp op;
  op.node = index;
  op.type = static_cast<NodeType>(node.type);
  auto getValue = [&](StringRef name) {
    return clampToInt64(node.attrs.getInteger(name).value_or(-1));
  };
  op.size = node.attrs.getInteger("comm_size").value_or(0);
  if (op.isColl()) {
    op.collective = getValue("comm_type");
    op.slot = getGroupSlot(getGroupName(node));
  } else {
    op.slot = getPeerSlot(
        getValue(op.type == NodeType::Send ? "comm_dst" : "comm_src"));
    op.tag = getValue("comm_tag");
  }
  graph.ops.push_back(op);
}

void RankChecker::addNode(const Node &node) {
  uint32_t index = graph.getNumNodes();
  names.add(node);
  nodes.check(node);
  ascends &= index == 0 || graph.ids.back() < node.id;
  memory.addNode(node, index, ascends);
  if (!raw.counts.empty() || !resolveNow(node, index)) {
    llvm::append_range(raw.ids, node.dataDeps);
    llvm::append_range(raw.ids, node.ctrlDeps);
    raw.counts.push_back({static_cast<uint32_t>(node.dataDeps.size()),
                          static_cast<uint32_t>(node.ctrlDeps.size())});
  }
  graph.ids.push_back(node.id);
  graph.types.push_back(node.type);
  if (node.is(NodeType::Coll) || node.is(NodeType::Send) ||
      node.is(NodeType::Recv))
    addOp(node, index);
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

void RankChecker::checkIds() {
  if (ascends)
    return;
  for (uint32_t i = 0; i < graph.getNumNodes(); ++i)
    nodesById.push_back({graph.ids[i], i});
  llvm::sort(nodesById);

  for (uint32_t i = 1; i < graph.getNumNodes(); ++i) {
    uint32_t first = *findNode(graph.ids[i]);
    if (first != i)
      report(Rule::UniqueIds, i,
             "id is already used by " + names.describe(first));
    else if (graph.ids[i] < graph.ids[i - 1])
      report(Rule::AscendingIds, i,
             "id is less than the previous node's, " + Twine(graph.ids[i - 1]));
  }
}

/// The first node with that id.
std::optional<uint32_t> RankChecker::findNode(uint64_t id) const {
  if (nodesById.empty()) {
    // Most traces count their nodes.
    uint64_t guess = graph.ids.empty() ? 0 : id - graph.ids.front();
    if (guess < graph.ids.size() && graph.ids[guess] == id)
      return static_cast<uint32_t>(guess);
    auto it = llvm::lower_bound(graph.ids, id);
    if (it == graph.ids.end() || *it != id)
      return std::nullopt;
    return static_cast<uint32_t>(it - graph.ids.begin());
  }
  auto it = llvm::lower_bound(nodesById, std::make_pair(id, uint32_t(0)));
  if (it == nodesById.end() || it->first != id)
    return std::nullopt;
  return it->second;
}

/// Appends to the graph the nodes that `list` names. What is appended for the
/// same node already is left out.
void RankChecker::resolveList(uint32_t node, ArrayRef<uint64_t> list,
                              StringRef name) {
  SmallVector<uint64_t> sorted(list);
  llvm::sort(sorted);
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] == sorted[i - 1] && (i < 2 || sorted[i] != sorted[i - 2]))
      report(Rule::DepsDistinct, node,
             name + " lists node " + Twine(sorted[i]) + " more than once");
  sorted.erase(llvm::unique(sorted), sorted.end());

  for (uint64_t id : sorted) {
    std::optional<uint32_t> dep = findNode(id);
    if (!dep) {
      // It may be one of those that could not be read.
      if (graph.isComplete)
        report(Rule::DepsExist, node,
               name + " names node " + Twine(id) + ", which does not exist");
      continue;
    }
    if (*dep > node)
      report(Rule::DepsEarlier, node,
             name + " names " + names.describe(*dep) +
                 ", which stands later in the file");
    addDep(node, *dep);
  }
}

/// A node may be a data and a control dependency; it counts once.
void RankChecker::addDep(uint32_t node, uint32_t dep) {
  if (lastUser[dep] == node)
    return;
  lastUser[dep] = node;
  graph.deps.push_back(dep);
}

/// Adds the dependencies of the next node if there is nothing to say about
/// them: each is an earlier node and listed once.
bool RankChecker::resolveNow(const Node &node, uint32_t index) {
  lastUser.push_back(UINT32_MAX);
  if (!ascends)
    return false;
  SmallVector<uint32_t> found;
  for (ArrayRef<uint64_t> list :
       {ArrayRef<uint64_t>(node.dataDeps), ArrayRef<uint64_t>(node.ctrlDeps)}) {
    size_t begin = found.size();
    for (uint64_t id : list) {
      std::optional<uint32_t> dep = findNode(id);
      if (!dep)
        return false;
      found.push_back(*dep);
    }
    auto own = MutableArrayRef(found).drop_front(begin);
    llvm::sort(own);
    if (std::adjacent_find(own.begin(), own.end()) != own.end())
      return false;
  }
  for (auto [i, dep] : llvm::enumerate(found)) {
    addDep(index, dep);
    if (i + 1 == node.dataDeps.size())
      graph.numDataDeps.push_back(
          static_cast<uint32_t>(graph.deps.size() - graph.depBegin.back()));
  }
  if (node.dataDeps.empty())
    graph.numDataDeps.push_back(0);
  graph.depBegin.push_back(static_cast<uint32_t>(graph.deps.size()));
  return true;
}

void RankChecker::resolveDeps() {
  lastUser.resize(graph.getNumNodes(), UINT32_MAX);
  size_t next = 0;
  auto first = static_cast<uint32_t>(graph.numDataDeps.size());
  for (uint32_t i = first; i < graph.getNumNodes(); ++i) {
    auto [numData, numCtrl] = raw.counts[i - first];
    ArrayRef<uint64_t> ids = ArrayRef(raw.ids).slice(next, numData + numCtrl);
    next += numData + numCtrl;
    resolveList(i, ids.take_front(numData), "data_deps");
    graph.numDataDeps.push_back(
        static_cast<uint32_t>(graph.deps.size() - graph.depBegin.back()));
    resolveList(i, ids.drop_front(numData), "ctrl_deps");
    graph.depBegin.push_back(static_cast<uint32_t>(graph.deps.size()));
  }
  raw = RawDeps();
  lastUser = {};
}

void RankChecker::reportCycle(ArrayRef<uint32_t> order) {
  std::vector<uint32_t> cycle = findCycle(graph, order);
  constexpr size_t maxShown = 8;
  std::string text;
  for (size_t i = 1; i < cycle.size() && i < maxShown; ++i)
    text += std::to_string(graph.ids[cycle[i]]) + ", which depends on ";
  if (cycle.size() > maxShown)
    text += std::to_string(cycle.size() - maxShown) +
            " more nodes, which depend on ";
  report(Rule::DepsAcyclic, cycle.front(),
         "node depends on itself: it depends on " + text + "it");
}

/// Each collective or send must be downstream of the one before it: then it
/// does not depend on timing which of them takes the rank's one slot first.
void RankChecker::checkChain(ArrayRef<uint32_t> order) {
  std::vector<int32_t> slot(graph.getNumNodes(), -1);
  std::vector<uint32_t> slotNodes;
  for (const CommOp &op : graph.ops) {
    if (op.type == NodeType::Recv)
      continue;
    slot[op.node] = static_cast<int32_t>(slotNodes.size());
    slotNodes.push_back(op.node);
  }
  // Last of the slot's users that is upstream of each node.
  std::vector<int32_t> last(graph.getNumNodes(), -1);
  for (uint32_t node : order)
    for (uint32_t dep : graph.getDeps(node))
      last[node] = std::max({last[node], last[dep], slot[dep]});
  for (size_t i = 1; i < slotNodes.size(); ++i)
    if (last[slotNodes[i]] < static_cast<int32_t>(i) - 1)
      report(Rule::Chained, slotNodes[i],
             "node is not downstream of the previous COMM_COLL or COMM_SEND, " +
                 names.describe(slotNodes[i - 1]));
}

void RankChecker::checkOrder() {
  std::vector<uint32_t> order = sortTopologically(graph);
  graph.isAcyclic = order.size() == graph.ids.size();
  if (!graph.isAcyclic)
    return reportCycle(order);
  checkChain(order);
  memory.finish(
      order, graph.isComplete,
      [&](uint32_t node, Node &decoded) { names.read(node, decoded); },
      [&](Rule rule, uint32_t node, const Twine &message) {
        report(rule, node, message);
      });
}

void RankChecker::checkTags() {
  std::map<std::tuple<NodeType, uint32_t, int64_t>, uint32_t> seen;
  for (const CommOp &op : graph.ops) {
    if (!op.isMessage())
      continue;
    auto [it, isNew] = seen.try_emplace({op.type, op.slot, op.tag}, op.node);
    if (!isNew)
      report(Rule::TagOnce, op.node,
             "comm_tag " + Twine(op.tag) +
                 (op.type == NodeType::Send ? " to rank " : " from rank ") +
                 Twine(result.bindings.peers[op.slot]) +
                 " is already used by " + names.describe(it->second));
  }
}

void RankChecker::run() {
  graph.isComplete = true;
  if (!readMetadata())
    return;
  readNodes();
  checkIds();
  resolveDeps();
  checkTags();
  checkOrder();
}

RankResult checkRank(RankSource &source, uint32_t position,
                     std::optional<uint64_t> numNpus,
                     const ValidatorOptions &options) {
  RankResult result;
  result.violations = ViolationList(options.maxErrors);
  std::string file = source.getFile(position);
  Expected<TraceReader> reader = source.open(position);
  if (!reader) {
    handleAllErrors(
        reader.takeError(),
        [&](const TraceError &error) {
          result.violations.add(Rule::Framing, file, error.getMessage());
        },
        [&](const ErrorInfoBase &error) {
          result.violations.add(Rule::Framing, file, error.message());
        });
    return result;
  }
  RankContext context{source.getRank(position), file, source.getDefinitions(),
                      numNpus, options};
  RankChecker checker(result, std::move(*reader), source, context);
  if (std::optional<std::string> path = source.getPath(position))
    checker.checkPermissions(*path);
  checker.run();
  return result;
}

} // namespace stg::trace
