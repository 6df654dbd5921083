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
        slots(program.numSlots, nullptr) {}

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
  void runRepeat(const GraphProgram::Repeat &repeat);
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

  const GraphProgram &program;
  NodeSink &sink;
  std::vector<TensorInstance> &instances;
  std::vector<const Reference *> slots;
  llvm::BumpPtrAllocator allocator;
  std::string prefix;

  uint32_t nextId = 0;
  uint32_t lastComp = kNone, lastColl = kNone;
  /// By tensor, the last node that reads it: finds repeated operands.
  std::vector<uint32_t> lastReader;

  // Scratch of runNode and runIteration, kept to save allocations.
  std::vector<uint32_t> deps, inputs;
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
  uint32_t &last = node.isColl ? lastColl : lastComp;
  sink.handleNode({nextId, &node, prefix, deps, last, inputs, firstOutput,
                   static_cast<uint32_t>(instances.size()) - firstOutput});
  last = nextId++;
}

void GraphRunner::runIteration(const GraphProgram::Repeat &repeat,
                               int64_t index,
                               MutableArrayRef<Reference *> stacks) {
  for (const GraphProgram::Stack &slice : repeat.slices)
    slots[slice.inner] = slots[slice.outer] + index * slice.count;
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

void GraphRunner::runRepeat(const GraphProgram::Repeat &repeat) {
  SmallVector<Reference *, 4> stacks;
  for (const GraphProgram::Stack &stack : repeat.stacks)
    stacks.push_back(allocate(repeat.count * stack.count));
  for (const GraphProgram::Carry &carry : repeat.carries)
    slots[carry.arg] = slots[carry.init];
  size_t outer = prefix.size();
  for (int64_t k = 0; k < repeat.count; ++k) {
    int64_t index = repeat.reverse ? repeat.count - 1 - k : k;
    prefix.append(repeat.name);
    prefix.push_back('.');
    prefix.append(llvm::utostr(index));
    prefix.push_back('.');
    runIteration(repeat, index, stacks);
    prefix.resize(outer);
  }
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
    }
  }
}

void GraphProgram::run(NodeSink &sink,
                       std::vector<TensorInstance> &instances) const {
  instances.clear();
  instances.reserve(bodies.front().numTensors);
  GraphRunner(*this, sink, instances).runBody(0);
}

std::string GraphProgram::getPath(uint32_t id) const {
  std::string path;
  uint64_t position = id;
  uint32_t body = 0;
  for (;;) {
    for (Step step : bodies[body].steps) {
      if (step.kind == Step::Node) {
        if (position == 0)
          return path + nodes[step.index].name.str();
        --position;
      } else if (step.kind == Step::Repeat) {
        const Repeat &repeat = repeats[step.index];
        uint64_t each = bodies[repeat.body].numNodes;
        if (position >= each * repeat.count) {
          position -= each * repeat.count;
          continue;
        }
        int64_t index = position / each;
        if (repeat.reverse)
          index = repeat.count - 1 - index;
        path += (repeat.name + "." + llvm::Twine(index) + ".").str();
        position %= each;
        body = repeat.body;
        break;
      }
    }
  }
}
