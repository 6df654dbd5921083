//===- TraceTimes.cpp - Executes traces -----------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/TraceTimes.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <tuple>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Where members are: a regular block of ranks, or some distance apart.
static GroupPlace getPlace(ArrayRef<int64_t> members) {
  std::vector<int64_t> sorted = members.vec();
  llvm::sort(sorted);
  RankSet set(sorted);
  set.finish();
  GroupPlace place;
  if (set.getBlocks().size() == 1) {
    for (RankSet::Dimension dimension : set.getBlocks().front().dimensions)
      place.add(dimension.count, dimension.stride);
    return place;
  }
  int64_t count = static_cast<int64_t>(sorted.size());
  place.add(count, (sorted.back() - sorted.front()) / (count - 1));
  return place;
}

/// Bytes of elements, which traces do not say.
static constexpr int64_t kElement = 2;

namespace {
/// Times of nodes on a machine.
struct MachineCosts {
  KernelTimes kernels;
  ProductRates rates;
  CollectiveCosts collectives;
  double peak, bandwidth;
  bool isRoofline;

  Ticks getCompute(const TracedNode &node) const;
  Ticks getCollective(const TracedNode &node, ArrayRef<int64_t> members) const;
};
} // namespace

/// A node whose operations are those of a product of its first two operands is
/// taken for one. Elements have 16 bits.
Ticks MachineCosts::getCompute(const TracedNode &node) const {
  if (isRoofline)
    return toTicks(std::max(double(node.operations) / peak,
                            double(node.bytes) / bandwidth));
  const auto &[left, right, result] = node.tensors;
  if (left > 0 && right > 0 && result > 0)
    if (std::optional<ProductShape> shape =
            deriveProduct(node.operations, left / kElement, right / kElement,
                          result / kElement))
      return toTicks(kernels.getProduct(rates, *shape) + kernels.getFixed());
  return toTicks(std::max(double(node.operations) / peak,
                          kernels.getElementwise(double(node.bytes))));
}

Ticks MachineCosts::getCollective(const TracedNode &node,
                                  ArrayRef<int64_t> members) const {
  if (members.size() < 2)
    return 0;
  StringRef name = getMachineName(node.collective);
  double whole =
      double(node.bytes) * (name == "all_gather" ? double(members.size()) : 1.);
  return toTicks(collectives.getCollective(name, getPlace(members), whole));
}

Expected<TraceCosts> stg::getMachineCosts(const Machine &machine,
                                          bool isRoofline, int64_t ranks) {
  Expected<KernelTimes> kernels = KernelTimes::get(machine, "flash");
  if (!kernels)
    return kernels.takeError();
  const ProductRates *found = kernels->findRates("bf16");
  ProductRates rates = found ? *found : kernels->getOtherRates(kElement);
  auto costs = std::make_shared<MachineCosts>(MachineCosts{
      std::move(*kernels), rates,
      CollectiveCosts(machine, /*hasDirect=*/false, ranks), rates.peak,
      machine.get("device.memory.bandwidth").value_or(0), isRoofline});
  // Many collectives are alike.
  using Key = std::tuple<CollectiveType, uint32_t, int64_t>;
  auto known = std::make_shared<std::map<Key, Ticks>>();
  TraceCosts result;
  result.compute = [costs](const TracedNode &node) {
    return costs->getCompute(node);
  };
  result.collective = [costs, known](const TracedNode &node,
                                     ArrayRef<int64_t> members) {
    auto [it, isNew] =
        known->try_emplace({node.collective, node.place, node.bytes});
    if (isNew)
      it->second = costs->getCollective(node, members);
    return std::vector<Ticks>{it->second};
  };
  result.message = [costs](int64_t from, int64_t to, int64_t bytes) {
    return toTicks(costs->collectives.getMessage(from, to, double(bytes)));
  };
  if (Error error = checkHostLink(machine))
    result.missingLink = toString(std::move(error));
  else
    result.transfer = [&machine](int64_t bytes) {
      return toTicks(getTransferSeconds(machine, double(bytes)));
    };
  return result;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// A node that ends.
struct Ending {
  Ticks time;
  uint32_t rank, node; ///< The position of the rank.

  bool operator>(const Ending &other) const {
    return std::tie(time, rank, node) >
           std::tie(other.time, other.rank, other.node);
  }
};

using Queue = std::priority_queue<std::pair<uint64_t, uint32_t>,
                                  std::vector<std::pair<uint64_t, uint32_t>>,
                                  std::greater<>>;

struct RankRun {
  std::vector<uint32_t> missing;          ///< By node, dependencies.
  std::vector<uint32_t> begin, following; ///< Who depends on a node.
  Queue compute, communication;           ///< Ready, by id.
  bool isComputing = false, isCommunicating = false;
  uint32_t numDone = 0;
  DenseMap<uint32_t, uint32_t> numMet; ///< By group, collectives so far.
};

struct Meeting {
  Ticks last = 0;
  std::vector<std::pair<uint32_t, uint32_t>> nodes; ///< Rank and node.
};

/// Messages of one sender, receiver, tag and size.
struct Pipe {
  std::vector<Ticks> arrived;
  std::vector<std::pair<uint32_t, uint32_t>> waiting; ///< Receives.
  size_t numTaken = 0;
};

class TraceExecution {
public:
  TraceExecution(const TraceGraphs &graphs, const TraceCosts &costs)
      : graphs(graphs), costs(costs), runs(graphs.ranks.size()) {}

  Expected<TraceTimes> run();

private:
  using PipeKey = std::tuple<int64_t, int64_t, int64_t, int64_t>;

  void prepare(uint32_t rank);
  void makeReady(uint32_t rank, uint32_t node);
  void start(uint32_t rank);
  void startCommunication(uint32_t rank, uint32_t node);
  void startCollective(uint32_t rank, uint32_t node);
  void startReceive(uint32_t rank, uint32_t node);
  void finish(const Ending &ending);
  void deliver(uint32_t rank, const TracedNode &send);
  void endAt(uint32_t rank, uint32_t node, Ticks time) {
    times.ranks[rank][node].end = time;
    endings.push({time, rank, node});
  }
  const TracedNode &get(uint32_t rank, uint32_t node) const {
    return graphs.ranks[rank].nodes[node];
  }
  size_t countPresent(uint32_t group);
  Error describeStop() const;

  const TraceGraphs &graphs;
  const TraceCosts &costs;
  std::vector<RankRun> runs;
  TraceTimes times;
  Ticks now = 0;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  std::map<std::pair<uint32_t, uint32_t>, Meeting> meetings;
  DenseMap<uint32_t, size_t> numPresent; ///< By group.
  std::map<PipeKey, Pipe> pipes;
};
} // namespace

void TraceExecution::prepare(uint32_t rank) {
  const TraceGraph &graph = graphs.ranks[rank];
  RankRun &run = runs[rank];
  const size_t count = graph.nodes.size();
  times.ranks.emplace_back(count);
  run.begin.assign(count + 1, 0);
  for (uint32_t dep : graph.deps)
    ++run.begin[dep + 1];
  for (size_t i = 0; i < count; ++i)
    run.begin[i + 1] += run.begin[i];
  run.following.resize(graph.deps.size());
  std::vector<uint32_t> next(run.begin.begin(), run.begin.end() - 1);
  for (uint32_t i = 0; i < count; ++i) {
    run.missing.push_back(static_cast<uint32_t>(graph.getDeps(i).size()));
    for (uint32_t dep : graph.getDeps(i))
      run.following[next[dep]++] = i;
  }
}

size_t TraceExecution::countPresent(uint32_t group) {
  auto [it, isNew] = numPresent.try_emplace(group, 0);
  if (isNew)
    for (int64_t member : graphs.groups[group].members)
      it->second += graphs.find(member).has_value();
  return it->second;
}

void TraceExecution::makeReady(uint32_t rank, uint32_t node) {
  const TracedNode &ready = get(rank, node);
  if (ready.type == NodeType::Recv)
    return startReceive(rank, node);
  (ready.type == NodeType::Comp ? runs[rank].compute : runs[rank].communication)
      .push({ready.id, node});
}

void TraceExecution::startCollective(uint32_t rank, uint32_t node) {
  const TracedNode &common = get(rank, node);
  uint32_t number = runs[rank].numMet[common.place]++;
  Meeting &meeting = meetings[{common.place, number}];
  meeting.last = now;
  meeting.nodes.push_back({rank, node});
  if (meeting.nodes.size() < countPresent(common.place))
    return;
  ArrayRef<int64_t> members = graphs.groups[common.place].members;
  std::vector<Ticks> durations = costs.collective(common, members);
  for (auto [other, place] : meeting.nodes) {
    size_t member = llvm::find(members, int64_t(graphs.ranks[other].rank)) -
                    members.begin();
    times.ranks[other][place].begin = meeting.last;
    endAt(other, place,
          meeting.last + durations[durations.size() == 1 ? 0 : member]);
  }
  meetings.erase({common.place, number});
}

void TraceExecution::startCommunication(uint32_t rank, uint32_t node) {
  const TracedNode &common = get(rank, node);
  runs[rank].isCommunicating = true;
  if (common.type == NodeType::Coll)
    return startCollective(rank, node);
  if (common.isTransfer())
    return endAt(rank, node, now + costs.transfer(common.bytes));
  endAt(rank, node,
        now +
            costs.message(graphs.ranks[rank].rank, common.place, common.bytes));
}

void TraceExecution::startReceive(uint32_t rank, uint32_t node) {
  const TracedNode &common = get(rank, node);
  TraceTimes::Span &span = times.ranks[rank][node];
  span.issue = span.begin = now;
  int64_t own = graphs.ranks[rank].rank;
  if (!graphs.find(common.place))
    return endAt(rank, node,
                 now + costs.message(common.place, own, common.bytes));
  Pipe &pipe = pipes[{common.place, own, common.tag, common.bytes}];
  size_t number = pipe.numTaken++;
  if (number < pipe.arrived.size())
    return endAt(rank, node, now);
  pipe.waiting.push_back({rank, node});
}

/// Gives a message to the receive that has waited longest.
void TraceExecution::deliver(uint32_t rank, const TracedNode &send) {
  Pipe &pipe = pipes[{static_cast<int64_t>(graphs.ranks[rank].rank), send.place,
                      send.tag, send.bytes}];
  pipe.arrived.push_back(now);
  if (pipe.waiting.empty())
    return;
  auto [receiver, node] = pipe.waiting.front();
  pipe.waiting.erase(pipe.waiting.begin());
  endAt(receiver, node, now);
}

void TraceExecution::start(uint32_t rank) {
  RankRun &run = runs[rank];
  while (!run.isComputing && !run.compute.empty()) {
    uint32_t node = run.compute.top().second;
    run.compute.pop();
    run.isComputing = true;
    times.ranks[rank][node].issue = times.ranks[rank][node].begin = now;
    endAt(rank, node, now + costs.compute(get(rank, node)));
  }
  while (!run.isCommunicating && !run.communication.empty()) {
    uint32_t node = run.communication.top().second;
    run.communication.pop();
    times.ranks[rank][node].issue = times.ranks[rank][node].begin = now;
    startCommunication(rank, node);
  }
}

void TraceExecution::finish(const Ending &ending) {
  RankRun &run = runs[ending.rank];
  const TracedNode &node = get(ending.rank, ending.node);
  ++run.numDone;
  if (node.type == NodeType::Comp)
    run.isComputing = false;
  else if (node.type != NodeType::Recv)
    run.isCommunicating = false;
  if (node.type == NodeType::Send)
    deliver(ending.rank, node);
  for (uint32_t i = run.begin[ending.node]; i < run.begin[ending.node + 1]; ++i)
    if (--run.missing[run.following[i]] == 0)
      makeReady(ending.rank, run.following[i]);
  start(ending.rank);
}

/// Names one node that has not ended.
Error TraceExecution::describeStop() const {
  for (auto [rank, run] : enumerate(runs)) {
    const TraceGraph &graph = graphs.ranks[rank];
    if (run.numDone == graph.nodes.size())
      continue;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (run.missing[i] == 0 && times.ranks[rank][i].end == 0 &&
          times.ranks[rank][i].issue >= 0)
        return createStringError(
            "rank " + Twine(graph.rank) + " waits at node " +
            Twine(graph.nodes[i].id) +
            " for ranks that do not come: 'stg-trace validate' says why");
    return createStringError("rank " + Twine(graph.rank) +
                             " has nodes that depend on each other in a "
                             "circle, or wait for a place that is taken");
  }
  return Error::success();
}

Expected<TraceTimes> TraceExecution::run() {
  if (!costs.transfer)
    for (const TraceGraph &graph : graphs.ranks)
      for (const TracedNode &node : graph.nodes)
        if (node.isTransfer())
          return createStringError("node " + Twine(node.id) + " of rank " +
                                   Twine(graph.rank) +
                                   " is a transfer: " + costs.missingLink);
  for (uint32_t rank = 0; rank < runs.size(); ++rank)
    prepare(rank);
  for (uint32_t rank = 0; rank < runs.size(); ++rank) {
    for (uint32_t i = 0; i < runs[rank].missing.size(); ++i)
      if (runs[rank].missing[i] == 0)
        makeReady(rank, i);
    start(rank);
  }
  while (!endings.empty()) {
    Ending ending = endings.top();
    endings.pop();
    now = ending.time;
    finish(ending);
  }
  if (Error error = describeStop())
    return std::move(error);
  for (ArrayRef<TraceTimes::Span> spans : times.ranks) {
    Ticks end = 0;
    for (const TraceTimes::Span &span : spans)
      end = std::max(end, span.end);
    times.ends.push_back(end);
    times.total = std::max(times.total, end);
  }
  return std::move(times);
}

Expected<TraceTimes> stg::executeTraces(const TraceGraphs &graphs,
                                        const TraceCosts &costs) {
  return TraceExecution(graphs, costs).run();
}

//===----------------------------------------------------------------------===//
// Spending
//===----------------------------------------------------------------------===//

/// Sorted, and joined where they touch.
static std::vector<std::pair<Ticks, Ticks>>
join(std::vector<std::pair<Ticks, Ticks>> spans) {
  llvm::sort(spans);
  std::vector<std::pair<Ticks, Ticks>> result;
  for (auto [begin, end] : spans) {
    if (result.empty() || begin > result.back().second)
      result.push_back({begin, end});
    result.back().second = std::max(result.back().second, end);
  }
  return result;
}

static Ticks getLength(ArrayRef<std::pair<Ticks, Ticks>> spans) {
  Ticks sum = 0;
  for (auto [begin, end] : spans)
    sum += end - begin;
  return sum;
}

TraceSpending stg::getSpending(const TraceGraph &graph, const TraceTimes &times,
                               size_t position) {
  std::vector<std::pair<Ticks, Ticks>> compute, communication, all;
  for (auto [node, span] : zip_equal(graph.nodes, times.ranks[position]))
    (node.type == NodeType::Comp ? compute : communication)
        .push_back({span.issue, span.end});
  compute = join(std::move(compute));
  communication = join(std::move(communication));
  all = compute;
  all.insert(all.end(), communication.begin(), communication.end());
  Ticks either = getLength(join(std::move(all)));
  TraceSpending spending;
  spending.compute = getLength(compute);
  spending.exposed = either - spending.compute;
  spending.overlapped = getLength(communication) - spending.exposed;
  spending.idle = times.total - either;
  return spending;
}
