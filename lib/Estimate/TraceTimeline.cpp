//===- TraceTimeline.cpp - Executed traces as a file for viewers ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/TraceTimeline.h"
#include "stg/Estimate/ChromeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// Numbers of threads; those of receives follow the last.
static constexpr int64_t kCompute = 7, kCommunication = 20, kReceives = 21;

namespace {
class TraceTimelineWriter {
public:
  TraceTimelineWriter(const TraceGraphs &graphs, const TraceTimes &times,
                      ArrayRef<size_t> positions, raw_ostream &os)
      : graphs(graphs), times(times), positions(positions),
        trace(os, graphs.ranks[positions.front()].rank, graphs.numRanks) {}

  void write();

private:
  /// Sender, receiver, tag and size, and which of these messages it is.
  using MessageKey = std::tuple<int64_t, int64_t, int64_t, int64_t, size_t>;

  void writeRank(size_t position);
  void placeReceives(size_t position);
  void writeNode(size_t position, uint32_t node);
  void writeMemory(size_t position);
  MessageKey getKey(size_t position, uint32_t node);
  void findMessages();

  const TraceGraphs &graphs;
  const TraceTimes &times;
  ArrayRef<size_t> positions;
  ChromeTrace trace;
  /// Of each message with both ends among what is shown, its number.
  std::map<MessageKey, std::pair<int, uint64_t>> messages;
  std::map<std::pair<size_t, uint32_t>, MessageKey> keys;
  std::vector<int64_t> threads; ///< Of the rank that is written, by node.
};
} // namespace

/// Messages of the same ends, tag and size are matched in the order in which
/// they are issued.
void TraceTimelineWriter::findMessages() {
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, bool>,
           std::vector<std::tuple<Ticks, size_t, uint32_t>>>
      ends;
  for (size_t position : positions) {
    const TraceGraph &graph = graphs.ranks[position];
    auto own = static_cast<int64_t>(graph.rank);
    for (auto [i, node] : enumerate(graph.nodes)) {
      if (node.type != NodeType::Send && node.type != NodeType::Recv)
        continue;
      bool isSend = node.type == NodeType::Send;
      int64_t from = isSend ? own : node.place, to = isSend ? node.place : own;
      ends[{from, to, node.tag, node.bytes, isSend}].push_back(
          {times.ranks[position][i].issue, position, i});
    }
  }
  uint64_t number = 0;
  for (auto &[common, list] : ends) {
    llvm::sort(list);
    auto [from, to, tag, bytes, isSend] = common;
    for (auto [i, end] : enumerate(list)) {
      MessageKey key = {from, to, tag, bytes, i};
      keys[{std::get<1>(end), std::get<2>(end)}] = key;
      auto [it, isNew] = messages.try_emplace(key, 0, number);
      number += isNew;
      ++it->second.first;
    }
  }
}

/// Receives that wait together are on threads of their own.
void TraceTimelineWriter::placeReceives(size_t position) {
  const TraceGraph &graph = graphs.ranks[position];
  threads.assign(graph.nodes.size(), 0);
  std::vector<std::tuple<Ticks, Ticks, uint32_t>> order;
  for (auto [i, node] : enumerate(graph.nodes)) {
    if (node.type == NodeType::Recv)
      order.push_back(
          {times.ranks[position][i].issue, times.ranks[position][i].end, i});
    else
      threads[i] = node.type == NodeType::Comp ? kCompute : kCommunication;
  }
  llvm::sort(order);
  std::vector<Ticks> busy;
  auto rank = static_cast<int64_t>(graph.rank);
  for (auto [issue, end, node] : order) {
    size_t lane = 0;
    while (lane < busy.size() && busy[lane] > issue)
      ++lane;
    if (lane == busy.size()) {
      busy.push_back(0);
      trace.nameThread(rank, kReceives + int64_t(lane),
                       "stream " + itostr(kReceives + int64_t(lane)) +
                           " receives");
    }
    busy[lane] = end;
    threads[node] = kReceives + int64_t(lane);
  }
}

void TraceTimelineWriter::writeNode(size_t position, uint32_t number) {
  const TraceGraph &graph = graphs.ranks[position];
  const TracedNode &node = graph.nodes[number];
  const TraceTimes::Span &span = times.ranks[position][number];
  auto rank = static_cast<int64_t>(graph.rank);
  const bool isColl = node.type == NodeType::Coll;
  StringRef name = graph.names[number];
  if (node.type != NodeType::Comp)
    name = isColl              ? getProfilerNames(node.collective).second
           : node.isTransfer() ? getProfilerName(node.type == NodeType::MemLoad)
                               : "ncclDevKernel_SendRecv";
  trace.addSpan(
      rank, threads[number], node.isTransfer() ? "gpu_memcpy" : "kernel", name,
      span.issue, span.end, [&](json::OStream &args) {
        args.attribute("stream", threads[number]);
        args.attribute("device", rank);
        args.attribute("correlation", int64_t(number) + 1);
        args.attribute("node", escapeText(graph.names[number]));
        args.attribute("id", static_cast<int64_t>(node.id));
        if (node.type == NodeType::Comp) {
          args.attribute("operations", node.operations);
          args.attribute("bytes", node.bytes);
          return;
        }
        if (node.isTransfer()) {
          args.attribute("bytes", node.bytes);
          return;
        }
        args.attribute("dtype", "Byte");
        args.attribute("In msg nelems", node.bytes);
        if (isColl) {
          const TraceGraphs::Group &group = graphs.groups[node.place];
          args.attribute("Collective name",
                         getProfilerNames(node.collective).first);
          args.attribute("Process Group Name", escapeText(group.name));
          args.attribute("Group size",
                         static_cast<int64_t>(group.members.size()));
          args.attribute("waited us", double(span.begin - span.issue) / 1e6);
          return;
        }
        bool isSend = node.type == NodeType::Send;
        int64_t peer = node.place;
        args.attribute("Collective name", isSend ? "send" : "recv");
        args.attribute("Src Rank", isSend ? rank : peer);
        args.attribute("Dst Rank", isSend ? peer : rank);
        args.attribute("tag", node.tag);
      });
  auto key = keys.find({position, number});
  if (key == keys.end() || messages[key->second].first < 2)
    return;
  bool isSend = node.type == NodeType::Send;
  trace.addFlow(isSend, rank, threads[number], messages[key->second].second,
                isSend ? span.issue : span.end - (span.end > span.issue));
}

/// A tensor lives from when its writer is issued until its last reader ends.
void TraceTimelineWriter::writeMemory(size_t position) {
  const TraceGraph &graph = graphs.ranks[position];
  if (graph.tensors.empty())
    return;
  const auto &spans = times.ranks[position];
  std::map<Ticks, int64_t> changes;
  int64_t live = 0;
  for (const TracedTensor &tensor : graph.tensors) {
    if (tensor.writer == kNone) {
      live += tensor.bytes;
      continue;
    }
    changes[spans[tensor.writer].issue] += tensor.bytes;
    changes[spans[tensor.last].end] -= tensor.bytes;
  }
  changes.try_emplace(0, 0);
  for (auto [time, change] : changes) {
    live += change;
    trace.addCounter(graph.rank, "memory", time, [&](json::OStream &args) {
      args.attribute("bytes", live);
    });
  }
}

void TraceTimelineWriter::writeRank(size_t position) {
  const TraceGraph &graph = graphs.ranks[position];
  auto rank = static_cast<int64_t>(graph.rank);
  trace.nameProcess(rank, "rank " + itostr(rank), rank);
  trace.nameThread(rank, kCompute, "stream 7 compute");
  trace.nameThread(rank, kCommunication,
                   "stream 20 collectives, sends and transfers");
  placeReceives(position);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    writeNode(position, i);
  writeMemory(position);
}

void TraceTimelineWriter::write() {
  findMessages();
  for (size_t position : positions)
    writeRank(position);
}

void stg::writeTraceTimeline(const TraceGraphs &graphs, const TraceTimes &times,
                             ArrayRef<size_t> positions, raw_ostream &os) {
  TraceTimelineWriter(graphs, times, positions, os).write();
}
