//===- Unroll.cpp - From a graph to the nodes of a rank -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/ChakraTrace/Unroll.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Allocator.h"
#include <map>

using namespace mlir;
using namespace stg::chakra;

NodeSink::~NodeSink() = default;

namespace stg::chakra {
/// One run of a program.
class GraphRunner {
public:
  GraphRunner(const GraphProgram &program, NodeSink &sink,
              std::vector<TensorInstance> &instances)
      : program(program), sink(sink), instances(instances),
        slots(program.numSlots, nullptr), messages(program.channels.size(), 0) {
  }

  void runBody(uint32_t body);

private:
  /// What a value stands for at run time: a tensor, and the last node that has
  /// changed it in place. A token has no tensor, only a node.
  struct Reference {
    uint32_t tensor;
    uint32_t changer;
  };

  void runState(const GraphProgram::State &state);
  void runNode(uint32_t index);
  void runCall(const GraphProgram::Call &call);
  void runRepeat(const GraphProgram::Repeat &repeat);
  void runAhead(const GraphProgram::Repeat &repeat, int64_t turn, size_t outer);
  void takeAhead(const GraphProgram::Repeat &repeat, int64_t turn);
  void enterIteration(const GraphProgram::Repeat &repeat, int64_t turn,
                      size_t outer);
  void setSlices(const GraphProgram::Repeat &repeat, int64_t index);
  void runIteration(const GraphProgram::Repeat &repeat, int64_t index,
                    MutableArrayRef<Reference *> stacks);

  /// References are made once and never changed, so that values can share them;
  /// they are freed with the run.
  Reference *allocate(size_t count) {
    return allocator.Allocate<Reference>(count);
  }
  uint32_t addTensor(uint32_t tensorTemplate, uint32_t writer) {
    instances.push_back({tensorTemplate, writer});
    lastReader.push_back(kNone);
    return instances.size() - 1;
  }
  void read(GraphProgram::Slot slot);
  void depend(const Reference &reference);
  void makeOutput(const GraphProgram::Output &output);
  void addControl(const NodeTemplate &node);

  const GraphProgram &program;
  NodeSink &sink;
  std::vector<TensorInstance> &instances;
  std::vector<const Reference *> slots;
  llvm::BumpPtrAllocator allocator;
  std::string prefix;

  uint32_t nextId = 0;
  /// The last compute node, and the last that occupies the network.
  uint32_t lastComp = kNone, lastComm = kNone;
  std::vector<uint32_t> messages; ///< Of each channel so far.
  /// What nodes that run ahead have made, by node and turn.
  std::map<std::pair<uint32_t, int64_t>, SmallVector<const Reference *, 8>>
      aheadOutputs;
  /// By tensor, the last node that reads it: finds repeated operands.
  std::vector<uint32_t> lastReader;

  // Scratch of runNode and runIteration, kept to save allocations.
  std::vector<uint32_t> deps, ctrlDeps, inputs;
  SmallVector<const Reference *> carried;
};
} // namespace stg::chakra

void GraphRunner::runState(const GraphProgram::State &state) {
  Reference *reference = allocate(1);
  *reference = {addTensor(state.tensorTemplate, kNone), kNone};
  slots[state.slot] = reference;
  sink.handleState(reference->tensor, prefix);
}

/// A tensor that was changed in place is ready after both, the node that wrote
/// it and the one that changed it last.
void GraphRunner::depend(const Reference &reference) {
  if (reference.changer != kNone)
    deps.push_back(reference.changer);
  if (reference.tensor == kNone)
    return;
  uint32_t writer = instances[reference.tensor].writer;
  if (writer != kNone)
    deps.push_back(writer);
}

void GraphRunner::read(GraphProgram::Slot slot) {
  for (const Reference &reference : ArrayRef(slots[slot.index], slot.count)) {
    depend(reference);
    uint32_t &reader = lastReader[reference.tensor];
    if (reader != nextId)
      inputs.push_back(reference.tensor);
    reader = nextId;
  }
}

void GraphRunner::makeOutput(const GraphProgram::Output &output) {
  Reference *references = allocate(output.slot.count);
  for (uint32_t i = 0; i < output.slot.count; ++i) {
    switch (output.kind) {
    case GraphProgram::Output::New:
      references[i] = {addTensor(output.tensorTemplate, nextId), kNone};
      break;
    case GraphProgram::Output::InPlace:
      references[i] = {slots[output.source][i].tensor, nextId};
      break;
    case GraphProgram::Output::Token:
      references[i] = {kNone, nextId};
      break;
    }
  }
  slots[output.slot.index] = references;
}

void GraphRunner::runNode(uint32_t index) {
  const NodeTemplate &node = program.nodes[index];
  const GraphProgram::NodeWiring &wiring = program.wiring[index];
  deps.clear();
  inputs.clear();
  for (GraphProgram::Slot slot : wiring.reads)
    read(slot);
  for (GraphProgram::Slot slot : wiring.after)
    for (const Reference &reference : ArrayRef(slots[slot.index], slot.count))
      depend(reference);
  llvm::sort(deps);
  deps.erase(llvm::unique(deps), deps.end());
  uint32_t firstOutput = instances.size();
  for (const GraphProgram::Output &output : wiring.outputs)
    makeOutput(output);
  addControl(node);
  uint32_t tag = 0;
  if (node.isMessage())
    tag = program.channels[node.channel].firstTag + messages[node.channel]++;
  sink.handleNode({nextId, &node, prefix, deps, ctrlDeps, inputs, firstOutput,
                   static_cast<uint32_t>(instances.size()) - firstOutput, tag});
  if (node.isComp())
    lastComp = nextId;
  else if (node.kind != NodeKind::Recv)
    lastComm = nextId;
  ++nextId;
}

/// Compute nodes are a stream, and so are collectives and sends together. A
/// receive, and a collective that waits for no node, is issued when the compute
/// stream has come to its place: what it makes takes memory from then on.
void GraphRunner::addControl(const NodeTemplate &node) {
  ctrlDeps.clear();
  auto add = [&](uint32_t id) {
    if (id != kNone)
      ctrlDeps.push_back(id);
  };
  if (node.isComp())
    return add(lastComp);
  if (node.kind != NodeKind::Recv)
    add(lastComm);
  if (deps.empty() && node.kind != NodeKind::Send)
    add(lastComp);
  llvm::sort(ctrlDeps);
}

void GraphRunner::setSlices(const GraphProgram::Repeat &repeat, int64_t index) {
  for (const GraphProgram::Stack &slice : repeat.slices)
    slots[slice.inner] = slots[slice.outer] + index * slice.count;
}

void GraphRunner::runIteration(const GraphProgram::Repeat &repeat,
                               int64_t index,
                               MutableArrayRef<Reference *> stacks) {
  runBody(repeat.body);
  for (auto [stack, references] : llvm::zip_equal(repeat.stacks, stacks))
    llvm::copy(ArrayRef(slots[stack.inner], stack.count),
               references + index * stack.count);
  // All are read before any is set: a body may yield its arguments swapped.
  carried.clear();
  for (const GraphProgram::Carry &carry : repeat.carries)
    carried.push_back(slots[carry.yielded]);
  for (auto [carry, reference] : llvm::zip_equal(repeat.carries, carried))
    slots[carry.arg] = reference;
}

/// Sets names and slices for a turn.
void GraphRunner::enterIteration(const GraphProgram::Repeat &repeat,
                                 int64_t turn, size_t outer) {
  prefix.resize(outer);
  prefix.append(repeat.name);
  prefix.push_back('.');
  prefix.append(llvm::utostr(repeat.getNumber(turn)));
  prefix.push_back('.');
  setSlices(repeat, repeat.getIndex(turn));
}

/// Runs the nodes of later turns that are due at the start of this one.
void GraphRunner::runAhead(const GraphProgram::Repeat &repeat, int64_t turn,
                           size_t outer) {
  repeat.forEachAhead(turn, [&](uint32_t node, int64_t target) {
    enterIteration(repeat, target, outer);
    runNode(node);
    auto &made = aheadOutputs[{node, target}];
    made.clear();
    for (const GraphProgram::Output &output : program.wiring[node].outputs)
      made.push_back(slots[output.slot.index]);
  });
}

/// Makes the results visible in their turn.
void GraphRunner::takeAhead(const GraphProgram::Repeat &repeat, int64_t turn) {
  for (const GraphProgram::Ahead &entry : repeat.ahead) {
    auto it = aheadOutputs.find({entry.node, turn});
    for (auto [output, reference] :
         llvm::zip_equal(program.wiring[entry.node].outputs, it->second))
      slots[output.slot.index] = reference;
    aheadOutputs.erase(it);
  }
}

void GraphRunner::runCall(const GraphProgram::Call &call) {
  for (GraphProgram::Alias alias : call.args)
    slots[alias.to] = slots[alias.from];
  size_t outer = prefix.size();
  if (!call.scope.empty()) {
    prefix.append(call.scope);
    prefix.push_back('.');
  }
  runBody(call.body);
  prefix.resize(outer);
  for (GraphProgram::Alias alias : call.results)
    slots[alias.to] = slots[alias.from];
}

void GraphRunner::runRepeat(const GraphProgram::Repeat &repeat) {
  SmallVector<Reference *, 4> stacks;
  for (const GraphProgram::Stack &stack : repeat.stacks)
    stacks.push_back(allocate(repeat.count * stack.count));
  for (const GraphProgram::Carry &carry : repeat.carries)
    slots[carry.arg] = slots[carry.init];
  size_t outer = prefix.size();
  for (int64_t turn = 0; turn < repeat.count; ++turn) {
    if (!repeat.ahead.empty())
      runAhead(repeat, turn, outer);
    enterIteration(repeat, turn, outer);
    if (!repeat.ahead.empty())
      takeAhead(repeat, turn);
    runIteration(repeat, repeat.getIndex(turn), stacks);
  }
  prefix.resize(outer);
  for (const GraphProgram::Carry &carry : repeat.carries)
    slots[carry.result] = slots[carry.arg];
  for (auto [stack, references] : llvm::zip_equal(repeat.stacks, stacks))
    slots[stack.outer] = references;
}

void GraphRunner::runBody(uint32_t body) {
  for (GraphProgram::Step step : program.bodies[body].steps) {
    switch (step.kind) {
    case GraphProgram::Step::State:
      runState(program.states[step.index]);
      break;
    case GraphProgram::Step::Node:
      runNode(step.index);
      break;
    case GraphProgram::Step::Alias: {
      GraphProgram::Alias alias = program.aliases[step.index];
      slots[alias.to] = slots[alias.from];
      break;
    }
    case GraphProgram::Step::Repeat:
      runRepeat(program.repeats[step.index]);
      break;
    case GraphProgram::Step::Call:
      runCall(program.calls[step.index]);
      break;
    }
  }
}

void GraphProgram::run(NodeSink &sink,
                       std::vector<TensorInstance> &instances) const {
  instances.clear();
  instances.reserve(bodies.front().numTensors);
  GraphRunner(*this, sink, instances).runBody(0);
}

/// Follows `position`, counted in nodes, into a body; leaves what remains.
bool GraphProgram::findInRepeat(const Repeat &repeat, uint64_t &position,
                                std::string &path) const {
  uint64_t own = bodies[repeat.body].numNodes - repeat.ahead.size();
  auto enter = [&](int64_t turn) {
    path +=
        (repeat.name + "." + llvm::Twine(repeat.getNumber(turn)) + ".").str();
  };
  for (int64_t turn = 0; turn < repeat.count; ++turn) {
    bool found = false;
    repeat.forEachAhead(turn, [&](uint32_t node, int64_t target) {
      if (!found && position-- == 0) {
        enter(target);
        path += nodes[node].name.str();
        found = true;
      }
    });
    if (found)
      return true;
    if (position < own) {
      enter(turn);
      return find(repeat.body, position, path);
    }
    position -= own;
  }
  return false;
}

/// Appends the path of the node at `position` of a body, or subtracts the nodes
/// of the body from it.
bool GraphProgram::find(uint32_t body, uint64_t &position,
                        std::string &path) const {
  for (Step step : bodies[body].steps) {
    switch (step.kind) {
    case Step::Node:
      if (position-- == 0) {
        path += nodes[step.index].name.str();
        return true;
      }
      break;
    case Step::Repeat: {
      const Repeat &repeat = repeats[step.index];
      uint64_t all = bodies[repeat.body].numNodes * repeat.count;
      if (position < all)
        return findInRepeat(repeat, position, path);
      position -= all;
      break;
    }
    case Step::Call: {
      const Call &call = calls[step.index];
      uint64_t all = bodies[call.body].numNodes;
      if (position < all) {
        if (!call.scope.empty())
          path += (call.scope + ".").str();
        return find(call.body, position, path);
      }
      position -= all;
      break;
    }
    case Step::State:
    case Step::Alias:
      break;
    }
  }
  return false;
}

std::string GraphProgram::getPath(uint32_t id) const {
  std::string path;
  uint64_t position = id;
  find(0, position, path);
  return path;
}
