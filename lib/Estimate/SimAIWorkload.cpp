//===- SimAIWorkload.cpp - A step as a workload of SimAI ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/SimAIWorkload.h"
#include "stg/Estimate/NodeTimes.h"
#include "stg/Support/Phases.h"
#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg;
using namespace stg::trace;

namespace {
/// The groups of ranks that SimAI knows.
enum class Group { Tensor, Expert, Data, ExpertData };

struct Collective {
  std::string kind = "NONE";
  uint64_t bytes = 0;
};

/// A line: what is computed, and what is communicated after it.
struct Layer {
  std::string name;
  Ticks compute = 0;
  Collective blocking;   ///< Of forward, or of the gradient of the input.
  Collective background; ///< Of the gradient of weights.
};

class WorkloadWriter {
public:
  WorkloadWriter(const TraceBundle &programs, NodeTimes &times)
      : programs(programs), times(times) {}

  Error collect();
  void write(raw_ostream &os) const;

private:
  Error checkProgram() const;
  Expected<Group> getGroup(const FlatNode &node) const;
  Error addCollective(const FlatNode &node);
  int64_t getSize(StringRef axis) const;

  const TraceBundle &programs;
  NodeTimes &times;
  std::vector<Layer> forward, backward; ///< In the order of execution.
  Layer current;
};
} // namespace

int64_t WorkloadWriter::getSize(StringRef axis) const {
  for (const RankSpace::Axis &entry : programs.getSpace().getAxes())
    if (entry.name == axis)
      return entry.size;
  return 1;
}

Error WorkloadWriter::checkProgram() const {
  for (const RankSpace::Axis &axis : programs.getSpace().getAxes())
    if (axis.size > 1 && axis.name != "tp" && axis.name != "ep" &&
        axis.name != "dp" && axis.name != "edp")
      return createStringError("SimAI has groups for tp, ep and dp, none for "
                               "the axis '" +
                               axis.name + "'");
  if (programs.getClasses().size() > 1)
    return createStringError(
        "SimAI executes one workload on all ranks, but ranks of this step "
        "execute " +
        std::to_string(programs.getClasses().size()));
  return Error::success();
}

/// With experts, edp is what is left of data parallelism beside ep.
Expected<Group> WorkloadWriter::getGroup(const FlatNode &node) const {
  SmallVector<std::string> axes =
      programs.getSpace().getNames(node.common->axes);
  llvm::sort(axes);
  if (axes == SmallVector<std::string>{"tp"})
    return Group::Tensor;
  if (axes == SmallVector<std::string>{"ep"})
    return getSize("edp") > 1 ? Group::Expert : Group::Data;
  if (axes == SmallVector<std::string>{"edp"})
    return Group::ExpertData;
  if (axes == SmallVector<std::string>{"dp"} ||
      axes == SmallVector<std::string>{"edp", "ep"})
    return Group::Data;
  return createStringError("SimAI has no group over " + join(axes, "+") +
                           ", as '" + (node.prefix + node.common->name).str() +
                           "' has");
}

/// SimAI counts the whole of what is gathered.
Error WorkloadWriter::addCollective(const FlatNode &node) {
  Expected<Group> group = getGroup(node);
  if (!group)
    return group.takeError();
  const NodeTemplate &common = *node.common;
  Collective collective;
  collective.bytes = common.bytes;
  switch (common.collective) {
  case CollectiveType::AllReduce:
    collective.kind = "ALLREDUCE";
    break;
  case CollectiveType::AllGather:
    collective.kind = "ALLGATHER";
    collective.bytes *= programs.getSpace().getGroupSize(common.axes);
    break;
  case CollectiveType::ReduceScatter:
    collective.kind = "REDUCESCATTER";
    break;
  default:
    collective.kind = "ALLTOALL";
  }
  if (*group == Group::Expert)
    collective.kind += "_EP";
  if (*group == Group::ExpertData)
    collective.kind += "_DP_EP";
  current.name = (node.prefix + common.name).str();
  bool isForward = common.phase == kForwardPhase;
  bool isData = *group == Group::Data || *group == Group::ExpertData;
  // An exchange with all data-parallel ranks is one of experts.
  if (isData && common.collective == CollectiveType::AllToAll) {
    collective.kind = "ALLTOALL_EP";
    isData = false;
  }
  if (isForward && isData)
    return createStringError("SimAI has no collective over dp in forward, as "
                             "'" +
                             current.name + "' is");
  (isData ? current.background : current.blocking) = collective;
  (isForward ? forward : backward).push_back(std::move(current));
  current = {};
  return Error::success();
}

Error WorkloadWriter::collect() {
  if (Error error = checkProgram())
    return error;
  const TraceProgram &program = programs.getClasses().front().program;
  std::vector<NodeTime> nodeTimes = times.getTimes(program);
  ProgramRunner runner(program);
  FlatNode node;
  bool wasForward = true;
  while (runner.next(node)) {
    const NodeTemplate &common = *node.common;
    std::string name = (node.prefix + common.name).str();
    if (!common.isComp() && !common.isColl())
      return createStringError("SimAI has neither messages nor transfers, as "
                               "'" +
                               name + "' is");
    bool isForward = common.phase == kForwardPhase;
    if (isForward != wasForward && current.compute > 0) {
      (wasForward ? forward : backward).push_back(std::move(current));
      current = {};
    }
    wasForward = isForward;
    if (common.isColl()) {
      if (Error error = addCollective(node))
        return error;
      continue;
    }
    current.name = std::move(name);
    current.compute += nodeTimes[&common - program.nodes.data()].time;
  }
  if (current.compute > 0)
    (wasForward ? forward : backward).push_back(std::move(current));
  return Error::success();
}

void WorkloadWriter::write(raw_ostream &os) const {
  os << "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: "
     << getSize("tp") << " ep: " << getSize("ep")
     << " pp: 1 vpp: 1 ga: 1 all_gpus: " << programs.getSpace().getNumRanks()
     << " checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n"
     << forward.size() + backward.size() << '\n';
  // Nanoseconds; what is cut off counts in the next line.
  constexpr Ticks kTicks = 1000;
  Ticks rest = 0;
  auto round = [&](Ticks compute) {
    compute += rest;
    rest = compute % kTicks;
    return compute / kTicks;
  };
  auto print = [&](const Collective &collective) {
    os << '\t' << collective.kind << '\t' << collective.bytes;
  };
  // Times are rounded in the order of execution.
  std::vector<Ticks> forwardTimes, backwardTimes;
  for (const Layer &layer : forward)
    forwardTimes.push_back(round(layer.compute));
  for (const Layer &layer : backward)
    backwardTimes.push_back(round(layer.compute));
  for (auto [layer, time] :
       llvm::reverse(llvm::zip_equal(backward, backwardTimes))) {
    os << layer.name << "\t-1\t0\tNONE\t0\t" << time;
    print(layer.blocking);
    os << "\t0";
    print(layer.background);
    os << "\t0\n";
  }
  for (auto [layer, time] : llvm::zip_equal(forward, forwardTimes)) {
    os << layer.name << "\t-1\t" << time;
    print(layer.blocking);
    os << "\t0\tNONE\t0\t0\tNONE\t0\t0\n";
  }
}

Error stg::writeSimAIWorkload(const TraceBundle &programs,
                              const Machine &machine,
                              const Execution &execution, raw_ostream &os) {
  Expected<NodeTimes> times = NodeTimes::get(machine, execution, programs);
  if (!times)
    return times.takeError();
  WorkloadWriter writer(programs, *times);
  if (Error error = writer.collect())
    return error;
  writer.write(os);
  return Error::success();
}
