//===- ProgramFacts.cpp - What the nodes of a program are for -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramFacts.h"
#include "stg/Estimate/NodeTimes.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// The op of the node; empty if it has no kernel.
static StringRef getOp(const TraceProgram &program, uint32_t node) {
  uint32_t kernel = program.nodes[node].kernel;
  return kernel == kNone ? StringRef() : StringRef(program.kernels[kernel].op);
}

static bool isStateCategory(TensorCategory category) {
  return category == TensorCategory::Parameter ||
         category == TensorCategory::Gradient ||
         category == TensorCategory::Optimizer;
}

static bool isAccumulate(const TraceProgram &program, uint32_t node) {
  return getOp(program, node) == "accumulate";
}

static bool isAttention(const TraceProgram &program, uint32_t node) {
  return getOp(program, node).starts_with("attention");
}

ProgramFacts::ProgramFacts(const TraceProgram &program)
    : program(program), categories(program.numSlots), bytes(program.numSlots),
      isKept(program.numSlots), growing(program.numSlots),
      isVisited(program.bodies.size()), readers(program.numSlots),
      gradientReaders(program.numSlots), addingReaders(program.numSlots),
      attentionReaders(program.numSlots), isReduced(program.numSlots),
      isCombined(program.numSlots), isConvolved(program.numSlots),
      isConvolvedGradient(program.numSlots), isForGradient(program.numSlots),
      isOfParameter(program.numSlots) {
  visitBody(0);
  findParameterSized();
  // What grows is known only when these are.
  growing.assign(program.numSlots, 0);
  isVisited.assign(program.bodies.size(), false);
  visitBody(0);
  links.clear();
  findCombinedRows();
  for (uint32_t i = 0; i < program.nodes.size(); ++i)
    for (Program::Slot slot : program.wiring[i].reads) {
      ++readers[slot.index];
      gradientReaders[slot.index] += makesGradient(i);
      addingReaders[slot.index] += isAccumulate(program, i);
      attentionReaders[slot.index] += isAttention(program, i);
    }
  findRowAxes();
  findConvolutions();
  for (uint32_t i = 0; i < program.nodes.size(); ++i)
    if (reducesGradients(i))
      for (const Program::Output &output : program.wiring[i].outputs)
        isReduced[output.slot.index] = true;
}

/// From parameters, their states and what the optimizer reads back to what
/// these are sums, copies or reductions of: parts of gradients that are no
/// gradients by themselves.
void ProgramFacts::findParameterSized() {
  for (auto [slot, category] : llvm::enumerate(categories))
    isOfParameter[slot] = category && isStateCategory(*category);
  auto keepsSize = [&](uint32_t node) {
    StringRef op = getOp(program, node);
    return program.nodes[node].isColl() || op == "add" || op == "accumulate" ||
           op == "cast" || op == "moment" || op == "orthogonalize" ||
           isOptimizerStep(op);
  };
  SmallVector<uint32_t> nodes;
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    const Program::NodeWiring &wiring = program.wiring[i];
    if (keepsSize(i))
      nodes.push_back(i);
    if (isOptimizerStep(getOp(program, i)))
      for (Program::Slot slot : wiring.reads)
        isOfParameter[slot.index] = true;
    for (const Program::Output &output : wiring.outputs)
      if (output.kind == Program::Output::InPlace)
        links.push_back({output.source, output.slot.index});
  }
  for (bool changes = true; changes;) {
    changes = false;
    auto mark = [&](uint32_t slot) {
      changes |= !isOfParameter[slot];
      isOfParameter[slot] = true;
    };
    for (auto [from, to] : llvm::reverse(links))
      if (isOfParameter[to])
        mark(from);
    for (uint32_t node : llvm::reverse(nodes)) {
      const Program::NodeWiring &wiring = program.wiring[node];
      if (llvm::any_of(wiring.outputs, [&](const Program::Output &output) {
            return isOfParameter[output.slot.index];
          }))
        for (Program::Slot slot : wiring.reads)
          mark(slot.index);
    }
  }
}

/// Of what goes to experts and comes back from them, and of its gradients, some
/// is sent as it is made, or read as it comes.
void ProgramFacts::findRowAxes() {
  std::vector<bool> isRows(program.numSlots);
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    const Program::NodeWiring &wiring = program.wiring[i];
    StringRef op = getOp(program, i);
    if (op == "dispatch" || op == "combine_grad" || op == "encode_rows")
      isRows[wiring.outputs.front().slot.index] = true;
    if (op == "combine" || op == "dispatch_grad" || op == "encode_rows")
      isRows[wiring.reads.front().index] = true;
  }
  for (auto [node, wiring] : llvm::zip_equal(program.nodes, program.wiring)) {
    if (!node.isColl() || node.collective != CollectiveType::AllToAll ||
        llvm::is_contained(rowAxes, node.axes))
      continue;
    if (llvm::any_of(wiring.reads,
                     [&](Program::Slot slot) { return isRows[slot.index]; }) ||
        llvm::any_of(wiring.outputs, [&](const Program::Output &output) {
          return isRows[output.slot.index];
        }))
      rowAxes.push_back(node.axes);
  }
}

/// From what is combined back to where it was made, and on from where its
/// gradient is: through collectives, of which there is one for each group of
/// axes.
void ProgramFacts::findCombinedRows() {
  auto mark = [&](uint32_t slot) {
    bool isNew = !isCombined[slot];
    isCombined[slot] = true;
    return isNew;
  };
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    const Program::NodeWiring &wiring = program.wiring[i];
    if (getOp(program, i) == "combine")
      mark(wiring.reads.front().index);
    else if (getOp(program, i) == "combine_grad")
      mark(wiring.outputs.front().slot.index);
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = 0; i < program.nodes.size(); ++i) {
      const Program::NodeWiring &wiring = program.wiring[i];
      if (!program.nodes[i].isColl() || wiring.reads.size() != 1 ||
          wiring.outputs.size() != 1)
        continue;
      uint32_t from = wiring.reads[0].index, to = wiring.outputs[0].slot.index;
      if (isCombined[from] != isCombined[to])
        changes |= mark(isCombined[from] ? to : from);
    }
  }
}

/// A bias may be between a convolution and its activation.
void ProgramFacts::findConvolutions() {
  SmallVector<uint32_t> biases;
  std::vector<uint32_t> gradients(program.numSlots);
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    StringRef op = getOp(program, i);
    const Program::NodeWiring &wiring = program.wiring[i];
    if (op == "bias_add")
      biases.push_back(i);
    else if (op == "activation_grad")
      ++gradients[wiring.reads.front().index];
    else if (op == "causal_conv" && program.nodes[i].phase == kBackwardPhase)
      isConvolvedGradient[wiring.reads.front().index] = true;
    else if (op == "causal_conv")
      isConvolved[wiring.outputs.front().slot.index] = true;
  }
  for (uint32_t i = 0; i < program.numSlots; ++i)
    isForGradient[i] = readers[i] > 0 && readers[i] == gradients[i];
  for (uint32_t i : biases) {
    uint32_t from = program.wiring[i].reads.front().index;
    uint32_t to = program.wiring[i].outputs.front().slot.index;
    if (!isConvolved[from])
      continue;
    isConvolved[to] = true;
    isForGradient[from] = readers[from] == 1 && isForGradient[to];
  }
}

bool ProgramFacts::isOfConvolution(uint32_t node) const {
  StringRef op = getOp(program, node);
  const Program::NodeWiring &wiring = program.wiring[node];
  if (op == "activation")
    return isConvolved[wiring.reads.front().index];
  if (wiring.outputs.empty())
    return false;
  uint32_t made = wiring.outputs.front().slot.index;
  if (op == "activation_grad")
    return isConvolvedGradient[made];
  return op == "causal_conv" && program.nodes[node].phase == kRecomputePhase &&
         isForGradient[made];
}

void ProgramFacts::visitBody(uint32_t body) {
  if (isVisited[body])
    return;
  isVisited[body] = true;
  for (Program::Step step : program.bodies[body].steps)
    visitStep(step);
}

void ProgramFacts::visitNode(uint32_t node) {
  const bool isGrowing = grows(node);
  for (const Program::Output &output : program.wiring[node].outputs) {
    if (output.kind == Program::Output::New) {
      const TensorTemplate &tensor = program.tensors[output.tensorTemplate];
      categories[output.slot.index] = tensor.category;
      bytes[output.slot.index] = tensor.bytes;
      // What comes from the host is a state there.
      if (program.nodes[node].kind == NodeKind::Load)
        isKept[output.slot.index] = isStateCategory(tensor.category);
      if (isGrowing && !isOfParameter[output.slot.index])
        growing[output.slot.index] = tensor.bytes * output.slot.count;
    } else if (output.kind == Program::Output::InPlace)
      copy(output.source, output.slot.index);
  }
}

void ProgramFacts::visitRepeat(const Program::Repeat &repeat) {
  for (Program::Carry carry : repeat.carries)
    copy(carry.init, carry.arg);
  for (Program::Stack slice : repeat.slices)
    copy(slice.outer, slice.inner);
  for (Program::Ahead ahead : repeat.ahead)
    visitNode(ahead.node);
  visitBody(repeat.body);
  for (Program::Stack stack : repeat.stacks)
    copy(stack.inner, stack.outer);
  for (Program::Carry carry : repeat.carries)
    copy(carry.yielded, carry.result);
}

void ProgramFacts::visitCall(const Program::Call &call) {
  for (Program::Alias alias : call.args)
    copy(alias.from, alias.to);
  visitBody(call.body);
  for (Program::Alias alias : call.results)
    copy(alias.from, alias.to);
}

void ProgramFacts::visitStep(Program::Step step) {
  switch (step.kind) {
  case Program::Step::State: {
    const Program::State &state = program.states[step.index];
    const TensorTemplate &tensor = program.tensors[state.tensorTemplate];
    categories[state.slot] = tensor.category;
    bytes[state.slot] = tensor.bytes;
    isKept[state.slot] = tensor.category == Category::Parameter ||
                         tensor.category == Category::KVCache;
    if (tensor.category == Category::Input)
      growing[state.slot] = tensor.bytes;
    return;
  }
  case Program::Step::Node:
  case Program::Step::Series:
    return visitNode(program.getNode(step));
  case Program::Step::Alias:
    return copy(program.aliases[step.index].from,
                program.aliases[step.index].to);
  case Program::Step::Repeat:
    return visitRepeat(program.repeats[step.index]);
  case Program::Step::Call:
    return visitCall(program.calls[step.index]);
  case Program::Step::Schedule: {
    const Program::Schedule &schedule = program.schedules[step.index];
    for (const Program::Lane &lane : schedule.lanes)
      if (!lane.inits.empty())
        growing[lane.slot] = growing[lane.inits.front()];
    return visitBody(schedule.body);
  }
  }
}

bool ProgramFacts::makesGradient(uint32_t node) const {
  const NodeTemplate &common = program.nodes[node];
  const auto &outputs = program.wiring[node].outputs;
  return common.isComp() && common.phase != kForwardPhase && !outputs.empty() &&
         categories[outputs[0].slot.index] == Category::Gradient;
}

bool ProgramFacts::castsParameter(uint32_t node) const {
  uint32_t kernel = program.nodes[node].kernel;
  const auto &reads = program.wiring[node].reads;
  return kernel != kNone && program.kernels[kernel].op == "cast" &&
         !reads.empty() && categories[reads[0].index] == Category::Parameter;
}

bool ProgramFacts::isOfState(uint32_t node) const {
  const auto &reads = program.wiring[node].reads;
  if (reads.empty())
    return false;
  std::optional<Category> category = categories[reads[0].index];
  return category && isStateCategory(*category);
}

/// What is reduced once for a step are gradients, whatever their buffers count
/// as. Of a micro-batch that is reduced by itself, gradients are in buffers of
/// its own; the sum of all is that of the parameter.
bool ProgramFacts::reducesGradients(uint32_t node) const {
  const NodeTemplate &common = program.nodes[node];
  const auto &outputs = program.wiring[node].outputs;
  bool isReduction =
      common.isColl() && (common.collective == CollectiveType::AllReduce ||
                          common.collective == CollectiveType::ReduceScatter);
  return isReduction && !outputs.empty() &&
         (common.phase == kGradSyncPhase ||
          llvm::all_of(outputs, [&](const Program::Output &output) {
            uint32_t slot = output.slot.index;
            return categories[slot] == Category::Gradient ||
                   (readers[slot] > 0 && readers[slot] == addingReaders[slot]);
          }));
}

bool ProgramFacts::addsReduced(uint32_t node) const {
  return isAccumulate(program, node) &&
         llvm::any_of(program.wiring[node].reads, [&](Program::Slot slot) {
           return isReduced[slot.index];
         });
}

bool ProgramFacts::addsToRows(uint32_t node) const {
  StringRef op = getOp(program, node);
  const Program::NodeWiring &wiring = program.wiring[node];
  return (op == "bias_add" && isCombined[wiring.outputs[0].slot.index]) ||
         (op == "bias_grad" && isCombined[wiring.reads[0].index]);
}

bool ProgramFacts::grows(uint32_t node) const {
  return llvm::any_of(program.wiring[node].reads, [&](Program::Slot slot) {
    return growing[slot.index] > 0;
  });
}

int64_t ProgramFacts::getGrowingBytes(uint32_t node) const {
  int64_t bytes = 0;
  for (Program::Slot slot : program.wiring[node].reads)
    bytes += growing[slot.index];
  for (const Program::Output &output : program.wiring[node].outputs)
    if (output.kind == Program::Output::New)
      bytes += growing[output.slot.index];
  return std::min(bytes, program.nodes[node].bytes);
}

/// True if the readers of all results of the node are some of these.
bool ProgramFacts::feedsOnly(uint32_t node,
                             const std::vector<uint32_t> &of) const {
  bool isRead = false;
  for (const Program::Output &output : program.wiring[node].outputs) {
    uint32_t slot = output.slot.index;
    if (readers[slot] != of[slot])
      return false;
    isRead |= readers[slot] > 0;
  }
  return isRead;
}

bool ProgramFacts::feedsGradients(uint32_t node) const {
  return feedsOnly(node, gradientReaders);
}

bool ProgramFacts::feedsAttention(uint32_t node) const {
  return feedsOnly(node, attentionReaders);
}

bool ProgramFacts::exchangesRows(uint32_t node) const {
  const NodeTemplate &common = program.nodes[node];
  return common.isColl() && common.collective == CollectiveType::AllToAll &&
         llvm::is_contained(rowAxes, common.axes);
}

int64_t ProgramFacts::getStateBytes(uint32_t node) const {
  const NodeTemplate &common = program.nodes[node];
  if (!common.isComp() || common.kernel == kNone)
    return 0;
  StringRef op = program.kernels[common.kernel].op;
  if (op == "embedding" || op == "cache")
    return 0;
  int64_t states = 0, others = 0;
  for (Program::Slot slot : program.wiring[node].reads)
    (isKept[slot.index] ? states : others) += bytes[slot.index] * slot.count;
  for (const Program::Output &output : program.wiring[node].outputs)
    if (output.kind == Program::Output::New)
      others +=
          program.tensors[output.tensorTemplate].bytes * output.slot.count;
  // A cache has room for what later steps keep.
  return std::min(states, std::max<int64_t>(common.bytes - others, 0));
}
