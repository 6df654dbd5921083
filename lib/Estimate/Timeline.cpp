//===- Timeline.cpp - A step as a file for viewers ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/Timeline.h"
#include "stg/Estimate/ChromeTrace.h"
#include "stg/Trace/Program/LiveTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <tuple>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Tools tell communication from kernels by these names.
static std::string getName(const RecordedEvent &event,
                           const TraceProgram &program,
                           ArrayRef<std::string> groups) {
  switch (event.kind) {
  case RecordedEvent::Kernel:
    return program.nodes[event.index].name.str();
  case RecordedEvent::Collective:
    return getProfilerNames(program.nodes[event.index].collective).second.str();
  case RecordedEvent::Send:
  case RecordedEvent::Receive:
    return "ncclDevKernel_SendRecv";
  case RecordedEvent::Transfer:
    return getProfilerName(program.nodes[event.index].kind == NodeKind::Load)
        .str();
  case RecordedEvent::Exposed:
    return "waits for " + groups[event.group];
  case RecordedEvent::Bubble:
    return "bubble";
  case RecordedEvent::Slowed:
    return "slowed by communication";
  case RecordedEvent::Host:
    return "waits for launches";
  case RecordedEvent::Body:
    return program.calls[event.index].scope.str();
  case RecordedEvent::Turn: {
    const TraceProgram::Repeat &repeat = program.repeats[event.index];
    return (repeat.name + "." + Twine(repeat.getNumber(event.turn))).str();
  }
  case RecordedEvent::Task:
    return "";
  }
  llvm_unreachable("unknown event");
}

std::string stg::describePart(const CriticalPath::Part &part,
                              const TraceBundle &programs,
                              const StepTimes &step,
                              const StepRecording &recording) {
  if (part.event == kNone)
    return "host";
  const RecordedEvent &event =
      recording.classes[part.classIndex].events[part.event];
  const TraceProgram &program = programs.getClasses()[part.classIndex].program;
  switch (event.kind) {
  case RecordedEvent::Kernel: {
    const NodeTemplate &node = program.nodes[event.index];
    if (node.kernel != kNone &&
        program.kernels[node.kernel].op.starts_with("attention"))
      return "attention";
    return node.isMatrix ? "products" : "other kernels";
  }
  case RecordedEvent::Collective:
    return "collectives " + step.groups[event.group];
  case RecordedEvent::Send:
  case RecordedEvent::Receive:
    return "messages " + step.groups[event.group];
  case RecordedEvent::Transfer:
    return "transfers " + step.groups[event.group];
  case RecordedEvent::Slowed:
    return "interference";
  case RecordedEvent::Host:
    return "host";
  default:
    return "waiting";
  }
}

//===----------------------------------------------------------------------===//
// A rank
//===----------------------------------------------------------------------===//

namespace {
/// Numbers of threads; streams of communication follow the last.
constexpr int64_t kTasks = 1, kWaits = 2, kBeside = 3, kCompute = 7,
                  kStreams = 20;

class RankWriter {
public:
  RankWriter(const Timeline &timeline, int64_t rank, ChromeTrace &trace);

  /// Arrows are drawn from and to ranks of `shown`, sorted.
  void write(ArrayRef<int64_t> shown);

private:
  void placeCommunication();
  void nameThreads();
  void writeTasks();
  void writeWaits();
  void writeNodes(ArrayRef<int64_t> shown);
  void writeNode(const RecordedEvent &event, uint32_t number,
                 const FlatNode &node);
  void describeCommunication(const NodeTemplate &node, json::OStream &args);
  void writeFlow(const RecordedEvent &event, uint32_t number,
                 ArrayRef<int64_t> shown);
  std::string getTaskName(const RecordedEvent &task) const;
  std::string getStream(const RecordedEvent &event) const;

  const Timeline &timeline;
  ChromeTrace &trace;
  const int64_t rank;
  const RankSpace &space;
  const uint32_t classIndex;
  const TraceProgram &program;
  ArrayRef<RecordedEvent> events;
  std::vector<int64_t> threads; ///< Of communication, by event.
  std::vector<std::string> streams;
  std::vector<bool> isCritical; ///< By event.
};
} // namespace

RankWriter::RankWriter(const Timeline &timeline, int64_t rank,
                       ChromeTrace &trace)
    : timeline(timeline), trace(trace), rank(rank),
      space(timeline.programs.getSpace()),
      classIndex(timeline.programs.getPartition().getClass(rank)),
      program(timeline.programs.getClasses()[classIndex].program),
      events(timeline.recording.classes[classIndex].events),
      threads(events.size()), isCritical(events.size()) {
  for (const CriticalPath::Part &part : timeline.path.parts)
    if (part.classIndex == classIndex && part.event != kNone)
      isCritical[part.event] = true;
}

std::string RankWriter::getStream(const RecordedEvent &event) const {
  std::string name = timeline.step.groups[event.group];
  switch (event.kind) {
  case RecordedEvent::Send:
    return name + " send";
  case RecordedEvent::Receive:
    return name + " receive";
  case RecordedEvent::Transfer:
    return name + (program.nodes[event.index].kind == NodeKind::Load
                       ? " load"
                       : " store");
  default:
    return name;
  }
}

/// Messages that are under way at a time are on streams of their own.
void RankWriter::placeCommunication() {
  std::vector<std::tuple<std::string, Ticks, Ticks, uint32_t>> order;
  for (auto [i, event] : enumerate(events))
    if (event.isCommunication())
      order.emplace_back(getStream(event), event.start, event.end, i);
  llvm::sort(order);
  StringRef last;
  SmallVector<Ticks> busy; // By stream of that name, until when.
  for (const auto &[name, start, end, event] : order) {
    if (name != last)
      busy.clear();
    last = name;
    size_t lane = 0;
    while (lane < busy.size() && busy[lane] > start)
      ++lane;
    if (lane == busy.size()) {
      busy.push_back(0);
      streams.push_back(lane ? name + " " + utostr(lane + 1) : name);
    }
    busy[lane] = end;
    threads[event] =
        kStreams + int64_t(streams.size()) - int64_t(busy.size()) + lane;
  }
}

void RankWriter::nameThreads() {
  const TraceBundle::Class &own = timeline.programs.getClasses()[classIndex];
  trace.nameProcess(rank,
                    "rank " + itostr(rank) + " (" + space.describe(rank) +
                        "), " + own.name.str(),
                    rank);
  trace.nameThread(rank, kTasks, "tasks and layers");
  trace.nameThread(rank, kWaits, "waits");
  if (program.hasPairs())
    trace.nameThread(rank, kBeside, "tasks and layers beside them");
  trace.nameThread(rank, kCompute, "stream 7 compute");
  for (auto [i, name] : enumerate(streams))
    trace.nameThread(rank, kStreams + i,
                     "stream " + itostr(kStreams + i) + " " + name);
}

/// `fwd mb3`: the phase of its first kernel, and the turn of the schedule.
std::string RankWriter::getTaskName(const RecordedEvent &task) const {
  std::string name;
  if (std::optional<TaskBody> body = TaskBody::get(program, task))
    name = body->phase.str();
  for (uint32_t i = task.link; name.empty() && i < events.size(); ++i)
    if (events[i].kind == RecordedEvent::Kernel) {
      name = program.nodes[events[i].index].phase.str();
      break;
    }
  if (task.index != kNone)
    name += (" " + program.schedules.front().name + Twine(task.turn)).str();
  return name;
}

/// Longer ones come before those in them.
void RankWriter::writeTasks() {
  std::vector<uint32_t> order;
  for (auto [i, event] : enumerate(events))
    if (event.kind >= RecordedEvent::Body)
      order.push_back(i);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    const RecordedEvent &left = events[a], &right = events[b];
    return std::tuple(left.start, right.end, b) <
           std::tuple(right.start, left.end, a);
  });
  trace.addSpan(rank, kTasks, "user_annotation", "ProfilerStep#0", 0,
                timeline.step.total, [](json::OStream &) {});
  for (uint32_t i : order) {
    const RecordedEvent &event = events[i];
    std::string name = event.kind == RecordedEvent::Task
                           ? getTaskName(event)
                           : getName(event, program, timeline.step.groups);
    if (!name.empty() && event.end > event.start)
      trace.addSpan(rank, event.isBeside ? kBeside : kTasks, "user_annotation",
                    name, event.start, event.end, [](json::OStream &) {});
  }
}

void RankWriter::writeWaits() {
  auto add = [&](StringRef name, Ticks start, Ticks end) {
    if (end > start)
      trace.addSpan(rank, kWaits, "user_annotation", name, start, end,
                    [](json::OStream &) {});
  };
  for (const RecordedEvent &event : events)
    if (event.kind == RecordedEvent::Exposed ||
        event.kind == RecordedEvent::Bubble ||
        event.kind == RecordedEvent::Host)
      add(getName(event, program, timeline.step.groups), event.start,
          event.end);
  Ticks last = timeline.step.total - timeline.step.fixed;
  add("bubble", timeline.step.classes[classIndex].end, last);
  add("host, once for a step", last, timeline.step.total);
}

/// Units of PyTorch are elements; a trace has bytes.
void RankWriter::describeCommunication(const NodeTemplate &node,
                                       json::OStream &args) {
  args.attribute("dtype", "Byte");
  args.attribute("In msg nelems", node.bytes);
  args.attribute("Rank", rank);
  if (!node.isColl()) {
    int64_t peer = space.getNeighbour(rank, node.axis, node.shift);
    bool isSend = node.kind == NodeKind::Send;
    args.attribute("Collective name", isSend ? "send" : "recv");
    args.attribute("Out msg nelems", node.bytes);
    args.attribute("Group size", 2);
    args.attribute("Process Group Description",
                   space.getAxes()[node.axis].name);
    args.attribute("Src Rank", isSend ? rank : peer);
    args.attribute("Dst Rank", isSend ? peer : rank);
    return;
  }
  int64_t size = space.getGroupSize(node.axes);
  int64_t out = node.bytes;
  if (node.collective == CollectiveType::AllGather)
    out *= size;
  else if (node.collective == CollectiveType::ReduceScatter)
    out /= size;
  args.attribute("Collective name", getProfilerNames(node.collective).first);
  args.attribute("Out msg nelems", out);
  args.attribute("Group size", size);
  args.attribute("Process Group Name",
                 itostr(timeline.programs.getGroups().getId(node.axes, rank)));
  args.attribute("Process Group Description",
                 join(space.getNames(node.axes), "+"));
  constexpr int64_t kMostListed = 64;
  if (size <= kMostListed) {
    std::string list;
    for (int64_t member : space.getMembers(node.axes, rank))
      list += (list.empty() ? "" : ", ") + itostr(member);
    args.attribute("Process Group Ranks", "[" + list + "]");
  }
}

void RankWriter::writeNode(const RecordedEvent &event, uint32_t number,
                           const FlatNode &node) {
  const NodeTemplate &common = *node.common;
  int64_t thread = event.isCommunication() ? threads[number] : kCompute;
  trace.addSpan(rank, thread,
                event.kind == RecordedEvent::Transfer ? "gpu_memcpy" : "kernel",
                getName(event, program, timeline.step.groups), event.start,
                event.end, [&](json::OStream &args) {
                  args.attribute("stream", thread);
                  args.attribute("device", rank);
                  args.attribute("correlation", int64_t(node.id) + 1);
                  args.attribute("node", (node.prefix + common.name).str());
                  if (!common.phase.empty())
                    args.attribute("phase", common.phase);
                  if (common.isComp()) {
                    args.attribute("operations", common.operations);
                    args.attribute("bytes", common.bytes);
                  } else if (common.isTransfer()) {
                    args.attribute("bytes", common.bytes);
                  } else {
                    describeCommunication(common, args);
                  }
                  if (isCritical[number])
                    args.attribute("critical", true);
                });
}

/// An arrow begins in the send of its event and ends in the receive. Its number
/// is that of the rank that sends and of the event there.
void RankWriter::writeFlow(const RecordedEvent &event, uint32_t number,
                           ArrayRef<int64_t> shown) {
  bool isSend = event.kind == RecordedEvent::Send;
  if (!isSend && (event.kind != RecordedEvent::Receive || event.link == kNone))
    return;
  const NodeTemplate &node = program.nodes[event.index];
  int64_t peer = space.getNeighbour(rank, node.axis, node.shift);
  if (!llvm::binary_search(shown, peer))
    return;
  uint64_t sender = isSend ? rank : peer;
  uint64_t id = sender << 32 | (isSend ? number : event.link);
  Ticks middle = event.start + (event.end - event.start) / 2;
  trace.addFlow(isSend, rank, threads[number], id,
                isSend ? event.start : middle);
}

/// The program is run twice: who reads a tensor last is known in the end.
void RankWriter::writeNodes(ArrayRef<int64_t> shown) {
  ProgramRunner finished(program), runner(program);
  FlatNode node;
  while (finished.next(node))
    ;
  LiveTensors tensors(program, finished);
  __int128 lastTotal = -1;
  for (auto [i, event] : enumerate(events)) {
    if (event.kind == RecordedEvent::Slowed) {
      trace.addSpan(rank, kCompute, "kernel",
                    getName(event, program, timeline.step.groups), event.start,
                    event.end, [&](json::OStream &args) {
                      args.attribute("stream", kCompute);
                      args.attribute("device", rank);
                      args.attribute("correlation", 0);
                    });
      continue;
    }
    if (!event.isNode())
      continue;
    [[maybe_unused]] bool isThere = runner.next(node);
    assert(isThere && node.common == &program.nodes[event.index] &&
           "nodes are executed in the order of the program");
    const LiveTensors::Bytes &live = tensors.next();
    if (tensors.getTotal() != lastTotal) {
      lastTotal = tensors.getTotal();
      Ticks time =
          event.kind == RecordedEvent::Kernel ? event.start : event.issue;
      trace.addCounter(rank, "memory", time, [&](json::OStream &args) {
        for (unsigned category = 0; category < kNumTensorCategories; ++category)
          args.attribute(getCategoryName(static_cast<TensorCategory>(category)),
                         static_cast<int64_t>(live[category]));
      });
    }
    writeNode(event, i, node);
    writeFlow(event, i, shown);
  }
}

void RankWriter::write(ArrayRef<int64_t> shown) {
  placeCommunication();
  nameThreads();
  writeTasks();
  writeWaits();
  writeNodes(shown);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::vector<int64_t> Timeline::getFirstRanks() const {
  std::vector<int64_t> ranks;
  for (const TraceBundle::Class &entry : programs.getClasses())
    ranks.push_back(entry.ranks[0]);
  llvm::sort(ranks);
  return ranks;
}

/// A process behind all ranks, which is shown first.
static void writePath(const Timeline &timeline, ChromeTrace &trace) {
  const int64_t process = timeline.programs.getSpace().getNumRanks();
  trace.nameProcess(process, "critical path", -1);
  trace.nameThread(process, kTasks, "critical path");
  for (const CriticalPath::Part &part : timeline.path.parts) {
    const TraceBundle::Class &own =
        timeline.programs.getClasses()[part.classIndex];
    std::string name = "host, once for a step";
    if (part.event != kNone)
      name = getName(
          timeline.recording.classes[part.classIndex].events[part.event],
          own.program, timeline.step.groups);
    trace.addSpan(process, kTasks, "user_annotation", name, part.start,
                  part.end, [&](json::OStream &args) {
                    args.attribute("class", own.name);
                    args.attribute("kind", describePart(part, timeline.programs,
                                                        timeline.step,
                                                        timeline.recording));
                  });
  }
}

void Timeline::write(ArrayRef<int64_t> ranks, raw_ostream &os) const {
  ChromeTrace trace(os, ranks.front(), programs.getSpace().getNumRanks());
  writePath(*this, trace);
  for (int64_t rank : ranks)
    RankWriter(*this, rank, trace).write(ranks);
}

void Timeline::writeAlone(int64_t rank, raw_ostream &os) const {
  ChromeTrace trace(os, rank, programs.getSpace().getNumRanks());
  RankWriter(*this, rank, trace).write({});
}
