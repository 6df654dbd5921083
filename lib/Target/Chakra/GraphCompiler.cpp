//===- GraphCompiler.cpp - Compiles a graph for unrolling -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphCompiler.h"
#include "Evaluate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace stg::chakra;
using namespace stg::trace;
using stg::MeshAttr;

/// Consumers keep node ids in 31 bits; tensors are limited alike.
static constexpr uint64_t kMaxUnrolled = INT32_MAX;

namespace {
/// Fills a TraceProgram from the ops of a graph.
class GraphCompiler {
public:
  GraphCompiler(GraphOp graph, TraceProgram &program, RankSpace &space,
                unsigned splits)
      : graph(graph), program(program), space(space), splits(splits) {}

  LogicalResult compile();

private:
  using Slot = TraceProgram::Slot;
  using Output = TraceProgram::Output;
  using Step = TraceProgram::Step;

  LogicalResult compileBody(Block &block, uint32_t body, uint64_t executions);
  LogicalResult compileState(StateOp op, uint32_t body);
  LogicalResult compileNode(NodeOpInterface op, uint32_t body,
                            uint64_t executions);
  LogicalResult describe(CompOp op, NodeTemplate &node);
  LogicalResult describe(CollOp op, NodeTemplate &node);
  LogicalResult describe(MessageOpInterface op, NodeTemplate &node);
  FailureOr<AxisMask> getGroupAxes(CollOp op);
  LogicalResult compileLoneColl(CollOp op, uint32_t body);
  uint32_t addMessages(MessageOpInterface op, const NodeTemplate &node,
                       int64_t direction);
  LogicalResult compileFunc(FuncOp op);
  LogicalResult compileCall(CallOp op, uint32_t body);
  FailureOr<int64_t> getBytes(Operation *op, TypeRange types, StringRef what);
  LogicalResult compileRepeat(RepeatOp op, uint32_t body, uint64_t executions);
  LogicalResult wireRepeat(RepeatOp op, TraceProgram::Repeat &repeat);

  FailureOr<uint32_t> countReferences(Operation *op, Type type);
  FailureOr<uint32_t> addTensorTemplate(Operation *op, Type type,
                                        StringRef stateName = {});
  LogicalResult define(Operation *op, Value value);
  Slot getSlot(Value value) { return slots.lookup(value); }
  LogicalResult addOutput(NodeOpInterface op, OpResult result, uint32_t body,
                          TraceProgram::NodeWiring &wiring);
  void addStep(uint32_t body, Step::Kind kind, size_t index);
  LogicalResult addNode(Operation *op, NodeTemplate node,
                        TraceProgram::NodeWiring wiring, uint32_t body,
                        int64_t ahead = 0);
  FailureOr<int64_t> getPayload(CollOp op);
  LogicalResult padPayload(Operation *op, NodeTemplate &node);
  LogicalResult checkLimits(Operation *op, uint32_t body);

  GraphOp graph;
  TraceProgram &program;
  RankSpace &space;
  unsigned splits;
  DenseMap<Value, Slot> slots;
  /// The functions of the graph, which stand before their calls.
  struct Function {
    FuncOp op;
    uint32_t body;
  };
  DenseMap<StringAttr, Function> functions;
  DenseMap<StringAttr, uint64_t> numCalls; ///< Of each function.
  /// The nodes of a body that are emitted ahead.
  DenseMap<uint32_t, SmallVector<TraceProgram::Ahead, 0>> aheadOf;
  std::map<std::pair<bool, ChannelKey>, uint32_t> channels;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Tensors in a value of `type`; a token counts like a tensor.
FailureOr<uint32_t> GraphCompiler::countReferences(Operation *op, Type type) {
  uint64_t count = 1;
  while (auto stack = dyn_cast<StackType>(type)) {
    FailureOr<int64_t> length = evaluate(op, stack.getCount(), "stack count");
    if (failed(length))
      return failure();
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(*length));
    type = stack.getElementType();
  }
  if (count > kMaxUnrolled)
    return emitShortOpError(op)
           << "has a stack of more than " << kMaxUnrolled << " tensors";
  return static_cast<uint32_t>(count);
}

/// Gives `value` a slot.
LogicalResult GraphCompiler::define(Operation *op, Value value) {
  FailureOr<uint32_t> count = countReferences(op, value.getType());
  if (failed(count))
    return failure();
  slots[value] = {program.numSlots++, *count};
  program.slotCounts.push_back(*count);
  return success();
}

FailureOr<uint32_t> GraphCompiler::addTensorTemplate(Operation *op, Type type,
                                                     StringRef stateName) {
  if (auto stack = dyn_cast<StackType>(type))
    type = stack.getTensorType();
  auto tensor = cast<stg::chakra::TensorType>(type);
  FailureOr<int64_t> bytes = evaluate(op, tensor.getBytes(), "tensor size");
  if (failed(bytes))
    return failure();
  program.tensors.push_back(
      {*bytes, static_cast<TensorCategory>(tensor.getCategory()), stateName});
  return static_cast<uint32_t>(program.tensors.size() - 1);
}

/// Describes a result: a buffer after a change in place, a new one or a token.
LogicalResult GraphCompiler::addOutput(NodeOpInterface op, OpResult result,
                                       uint32_t body,
                                       TraceProgram::NodeWiring &wiring) {
  if (failed(define(op, result)))
    return failure();
  Output output = {Output::Token, getSlot(result), 0, 0};
  if (Value changed = op.getChangedBuffer(result.getResultNumber())) {
    output.kind = Output::InPlace;
    output.source = getSlot(changed).index;
  } else if (!isa<TokenType>(result.getType())) {
    FailureOr<uint32_t> tensor = addTensorTemplate(op, result.getType());
    if (failed(tensor))
      return failure();
    output.kind = Output::New;
    output.tensorTemplate = *tensor;
    program.bodies[body].numTensors += output.slot.count;
  }
  wiring.outputs.push_back(output);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void GraphCompiler::addStep(uint32_t body, Step::Kind kind, size_t index) {
  program.bodies[body].steps.push_back({kind, static_cast<uint32_t>(index)});
}

LogicalResult GraphCompiler::checkLimits(Operation *op, uint32_t body) {
  const TraceProgram::Body &counts = program.bodies[body];
  if (counts.numNodes <= kMaxUnrolled && counts.numTensors <= kMaxUnrolled)
    return success();
  return emitShortOpError(op) << "brings the graph to more than "
                              << kMaxUnrolled << " nodes or tensors per rank";
}

LogicalResult GraphCompiler::addNode(Operation *op, NodeTemplate node,
                                     TraceProgram::NodeWiring wiring,
                                     uint32_t body, int64_t ahead) {
  if (ahead > 0)
    aheadOf[body].push_back(
        {static_cast<uint32_t>(program.nodes.size()), ahead});
  else
    addStep(body, Step::Node, program.nodes.size());
  ++program.bodies[body].numNodes;
  program.nodes.push_back(node);
  program.wiring.push_back(std::move(wiring));
  return checkLimits(op, body);
}

LogicalResult GraphCompiler::compileState(StateOp op, uint32_t body) {
  if (failed(define(op, op.getResult())))
    return failure();
  FailureOr<uint32_t> tensor =
      addTensorTemplate(op, op.getResult().getType(), op.getName());
  if (failed(tensor))
    return failure();
  addStep(body, Step::State, program.states.size());
  program.states.push_back({*tensor, getSlot(op.getResult()).index});
  ++program.bodies[body].numTensors;
  return checkLimits(op, body);
}

LogicalResult GraphCompiler::describe(CompOp op, NodeTemplate &node) {
  FailureOr<int64_t> ops = evaluate(op, op.getOps(), "operation count");
  if (failed(ops))
    return failure();
  FailureOr<int64_t> bytes = evaluate(op, op.getBytes(), "byte count");
  if (failed(bytes))
    return failure();
  node.isMatrix = op.getMatrix();
  node.operations = *ops;
  node.bytes = *bytes;
  return success();
}

/// What nodes of all kinds have: a name, a phase, what they read and make.
LogicalResult GraphCompiler::compileNode(NodeOpInterface op, uint32_t body,
                                         uint64_t executions) {
  NodeTemplate node;
  node.name = op.getNameAttr();
  if (StringAttr phase = op.getPhaseAttr())
    node.phase = phase;
  node.executions = executions;
  auto coll = dyn_cast<CollOp>(*op);
  LogicalResult described =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case<CompOp, CollOp, MessageOpInterface>(
              [&](auto op) { return describe(op, node); });
  if (failed(described))
    return failure();
  if (coll && !node.axes)
    return compileLoneColl(coll, body);
  TraceProgram::NodeWiring wiring;
  for (Value buffer : op.getBuffers())
    wiring.reads.push_back(getSlot(buffer));
  for (Value value : op.getAfter())
    wiring.after.push_back(getSlot(value));
  for (OpResult result : op->getResults())
    if (failed(addOutput(op, result, body, wiring)))
      return failure();
  return addNode(op, node, std::move(wiring), body,
                 coll ? coll.getAhead().value_or(0) : 0);
}

FailureOr<int64_t> GraphCompiler::getPayload(CollOp op) {
  if (op.getPayloadAttr())
    return evaluate(op, op.getPayloadAttr(), "payload");
  return getBytes(op, op.getInputs().getTypes(), "operand size");
}

/// Bytes of all tensors of these types.
FailureOr<int64_t> GraphCompiler::getBytes(Operation *op, TypeRange types,
                                           StringRef what) {
  int64_t total = 0;
  for (Type type : types) {
    FailureOr<uint32_t> count = countReferences(op, type);
    if (auto stack = dyn_cast<StackType>(type))
      type = stack.getTensorType();
    FailureOr<int64_t> bytes =
        evaluate(op, cast<stg::chakra::TensorType>(type).getBytes(), what);
    if (failed(count) || failed(bytes))
      return failure();
    int64_t all;
    if (llvm::MulOverflow<int64_t>(*bytes, *count, all) ||
        llvm::AddOverflow(total, all, total))
      return emitShortOpError(op)
             << "has a payload that does not fit in 64 bits";
  }
  return total;
}

/// Simulators divide a payload into `splits` chunks and each chunk by the ranks
/// of the group, dropping remainders; less than one byte per chunk and rank of
/// the whole machine is raised, or never completes.
LogicalResult GraphCompiler::padPayload(Operation *op, NodeTemplate &node) {
  int64_t unit, least, units;
  if (llvm::MulOverflow<int64_t>(splits, space.getGroupSize(node.axes), unit) ||
      llvm::MulOverflow<int64_t>(splits, space.getNumRanks(), least))
    return emitShortOpError(op)
           << "cannot be split into " << splits << " chunks";
  units = llvm::divideCeil(std::max(node.bytes, least), unit);
  if (llvm::MulOverflow(units, unit, node.commSize))
    return emitShortOpError(op) << "has a payload that does not fit in 64 bits "
                                   "when it is padded to a multiple of "
                                << unit;
  return success();
}

/// A group of one rank: nothing is sent, and the results are the operands.
LogicalResult GraphCompiler::compileLoneColl(CollOp op, uint32_t body) {
  if (op.getInputs().size() != op.getNumResults())
    return emitShortOpError(op)
           << "is over a group of one rank, but its results are not its "
              "operands";
  for (auto [input, result] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    if (failed(define(op, result)))
      return failure();
    if (getSlot(input).count != getSlot(result).count)
      return emitShortOpError(op)
             << "is over a group of one rank, but result "
             << result.getResultNumber() << " is not its operand";
    addStep(body, Step::Alias, program.aliases.size());
    program.aliases.push_back({getSlot(input).index, getSlot(result).index});
  }
  return success();
}

/// The axes of the group. All ranks of the graph must be among those of it: a
/// rank that is in none has nobody to communicate with.
FailureOr<AxisMask> GraphCompiler::getGroupAxes(CollOp op) {
  AxisMask axes = getMask(space, op.getOver());
  if (!op.getAmong())
    return axes;
  int64_t size = space.getGroupSize(axes);
  ArrayRef<int64_t> among = *op.getAmong();
  StringRef axis = cast<StringAttr>(op.getOver()[0]);
  for (int64_t coordinate : among)
    if (coordinate >= size)
      return emitShortOpError(op) << "is among coordinate " << coordinate
                                  << " of an axis of size " << size;
  if (!graph.getCoordinate(axis) && among.size() < static_cast<size_t>(size))
    return emitShortOpError(op)
           << "is among some ranks of axis '" << axis
           << "', but its graph is executed by all of them; give the graph a "
              "coordinate on the axis";
  return space.restrict(axes, among);
}

/// Without axes nobody else is in the group, and there is no node.
LogicalResult GraphCompiler::describe(CollOp op, NodeTemplate &node) {
  FailureOr<AxisMask> axes = getGroupAxes(op);
  if (failed(axes))
    return failure();
  node.kind = NodeKind::Coll;
  node.collective = static_cast<CollectiveType>(op.getKind());
  node.axes = *axes;
  if (!node.axes)
    return success();
  FailureOr<int64_t> payload = getPayload(op);
  if (failed(payload))
    return failure();
  node.bytes = *payload;
  return padPayload(op, node);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Consumers count the bytes of a message in 31 bits.
static constexpr int64_t kMaxMessage = INT32_MAX;

/// Counts the messages of a node in their channel, whose number is returned.
uint32_t GraphCompiler::addMessages(MessageOpInterface op,
                                    const NodeTemplate &node,
                                    int64_t direction) {
  ChannelKey key = {node.axis, direction,
                    static_cast<int64_t>(op.getChannel())};
  auto [it, isNew] =
      channels.try_emplace({op.isSend(), key}, program.channels.size());
  if (isNew) {
    Channel &channel = program.channels.emplace_back();
    channel.key = key;
    channel.isSend = op.isSend();
    channel.messageBytes = node.bytes;
  }
  Channel &channel = program.channels[it->second];
  channel.hasOneSize &= channel.messageBytes == node.bytes;
  channel.executions += node.executions;
  channel.bytes += static_cast<__int128>(node.bytes) * node.executions;
  return it->second;
}

LogicalResult GraphCompiler::describe(MessageOpInterface op,
                                      NodeTemplate &node) {
  FailureOr<int64_t> bytes = getBytes(op, op.getMessageTypes(), "message size");
  if (failed(bytes))
    return failure();
  if (*bytes < 1 || *bytes > kMaxMessage)
    return emitShortOpError(op)
           << "is a message of " << *bytes
           << " bytes; consumers take 1 byte to 2 GiB - 1 in one message, use "
              "smaller micro-batches or more parallelism";
  node.kind = op.isSend() ? NodeKind::Send : NodeKind::Recv;
  node.bytes = node.commSize = *bytes;
  node.axis = *space.findAxis(op.getAxis());
  node.shift = static_cast<int64_t>(op.getShift());
  int64_t size = space.getAxes()[node.axis].size;
  int64_t direction =
      (((op.isSend() ? node.shift : -node.shift) % size) + size) % size;
  if (direction == 0)
    return emitShortOpError(op)
           << "has shift " << node.shift << " along axis '" << op.getAxis()
           << "', which has size " << size << ": the peer is the rank itself";
  node.channel = addMessages(op, node, direction);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The body is compiled once; calls execute it.
LogicalResult GraphCompiler::compileFunc(FuncOp op) {
  uint64_t executions = numCalls.lookup(op.getSymNameAttr());
  if (executions == 0)
    return success();
  for (BlockArgument arg : op.getBody().getArguments())
    if (failed(define(op, arg)))
      return failure();
  uint32_t body = program.bodies.size();
  program.bodies.emplace_back();
  functions[op.getSymNameAttr()] = {op, body};
  return compileBody(op.getBody().front(), body, executions);
}

LogicalResult GraphCompiler::compileCall(CallOp op, uint32_t body) {
  auto [callee, calleeBody] = functions.at(op.getCalleeAttr().getAttr());
  TraceProgram::Call call = {op.getScope(), calleeBody, {}, {}};
  for (auto [operand, arg] :
       llvm::zip_equal(op.getOperands(), callee.getBody().getArguments())) {
    if (getSlot(operand).count != getSlot(arg).count)
      return emitShortOpError(op) << "passes a stack of another size";
    call.args.push_back({getSlot(operand).index, getSlot(arg).index});
  }
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), callee.getReturn().getValues())) {
    if (failed(define(op, result)))
      return failure();
    call.results.push_back({getSlot(value).index, getSlot(result).index});
  }
  TraceProgram::Body &outer = program.bodies[body];
  const TraceProgram::Body &inner = program.bodies[call.body];
  outer.numNodes += inner.numNodes;
  outer.numTensors += inner.numTensors;
  addStep(body, Step::Call, program.calls.size());
  program.calls.push_back(std::move(call));
  return checkLimits(op, body);
}

LogicalResult GraphCompiler::wireRepeat(RepeatOp op,
                                        TraceProgram::Repeat &repeat) {
  for (Value result : op.getResults())
    if (failed(define(op, result)))
      return failure();
  YieldOp yield = op.getYield();
  for (auto [init, arg, yielded, result] :
       llvm::zip_equal(op.getInits(), op.getCarryArgs(), yield.getCarries(),
                       op.getCarryResults()))
    repeat.carries.push_back({getSlot(init).index, getSlot(arg).index,
                              getSlot(yielded).index, getSlot(result).index});
  for (auto [slice, arg] : llvm::zip_equal(op.getSlices(), op.getSliceArgs()))
    repeat.slices.push_back(
        {getSlot(arg).index, getSlot(slice).index, getSlot(arg).count});
  for (auto [yielded, result] :
       llvm::zip_equal(yield.getStacks(), op.getStackResults()))
    repeat.stacks.push_back({getSlot(yielded).index, getSlot(result).index,
                             getSlot(yielded).count});
  return success();
}

LogicalResult GraphCompiler::compileRepeat(RepeatOp op, uint32_t body,
                                           uint64_t executions) {
  FailureOr<int64_t> count = evaluate(op, op.getCount(), "repeat count");
  if (failed(count))
    return failure();
  executions =
      llvm::SaturatingMultiply(executions, static_cast<uint64_t>(*count));
  if (executions > kMaxUnrolled)
    return emitShortOpError(op) << "executes its body more than "
                                << kMaxUnrolled << " times per rank";
  for (BlockArgument arg : op.getBody().getArguments())
    if (failed(define(op, arg)))
      return failure();
  uint32_t inner = program.bodies.size();
  program.bodies.emplace_back();
  if (failed(compileBody(op.getBody().front(), inner, executions)))
    return failure();
  FailureOr<int64_t> first = 0;
  if (op.getFirst())
    first = evaluate(op, *op.getFirst(), "first index");
  if (failed(first))
    return failure();
  TraceProgram::Repeat repeat = {
      op.getName(), *count, *first, op.getReverse(),          inner,
      {},           {},     {},     std::move(aheadOf[inner])};
  if (failed(wireRepeat(op, repeat)))
    return failure();
  TraceProgram::Body &outer = program.bodies[body];
  outer.numNodes = llvm::SaturatingMultiplyAdd<uint64_t>(
      program.bodies[inner].numNodes, *count, outer.numNodes);
  outer.numTensors = llvm::SaturatingMultiplyAdd<uint64_t>(
      program.bodies[inner].numTensors, *count, outer.numTensors);
  addStep(body, Step::Repeat, program.repeats.size());
  program.repeats.push_back(std::move(repeat));
  return checkLimits(op, body);
}

LogicalResult GraphCompiler::compileBody(Block &block, uint32_t body,
                                         uint64_t executions) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](NodeOpInterface op) {
              return compileNode(op, body, executions);
            })
            .Case([&](StateOp op) { return compileState(op, body); })
            .Case([&](RepeatOp op) {
              return compileRepeat(op, body, executions);
            })
            .Case([&](FuncOp op) { return compileFunc(op); })
            .Case([&](CallOp op) { return compileCall(op, body); })
            .Default([](Operation *op) {
              return emitShortOpError(op) << "cannot be written to a trace";
            });
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult GraphCompiler::compile() {
  program.bodies.emplace_back();
  for (auto call : graph.getBody().getOps<CallOp>())
    ++numCalls[call.getCalleeAttr().getAttr()];
  return compileBody(graph.getBody().front(), 0, /*executions=*/1);
}

FailureOr<TraceProgram>
stg::chakra::compileGraph(GraphOp graph, RankSpace &space, unsigned splits) {
  TraceProgram program;
  if (failed(GraphCompiler(graph, program, space, splits).compile()))
    return failure();
  if (program.getNumNodes() == 0)
    return emitShortOpError(graph)
           << "has no nodes; a trace needs at least one";
  return program;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// The axes of these names that have more than one rank. The names exist.
AxisMask stg::chakra::getMask(const RankSpace &space, ArrayAttr names) {
  AxisMask mask = 0;
  for (auto name : names.getAsRange<StringAttr>())
    for (auto [i, axis] : llvm::enumerate(space.getAxes()))
      if (axis.size > 1 && axis.name == name.strref())
        mask |= AxisMask(1) << i;
  return mask;
}

FailureOr<RankSpace> stg::chakra::getRankSpace(GraphOp graph) {
  SmallVector<std::pair<std::string, int64_t>> axes;
  MeshAttr mesh = graph.getMesh();
  for (auto [name, size] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    std::string what = ("size of axis '" + name.strref() + "'").str();
    FailureOr<int64_t> value = evaluate(graph, size, what);
    if (failed(value))
      return failure();
    axes.push_back({name.str(), *value});
  }
  if (std::optional<RankSpace> space = RankSpace::create(axes))
    return *space;
  return emitShortOpError(graph)
         << "has a mesh that is not of 1 to " << INT32_MAX
         << " ranks along at most " << kMaxAxes << " axes";
}

FailureOr<RankClass> stg::chakra::getRankClass(GraphOp graph,
                                               const RankSpace &space) {
  SmallVector<RankClass::Coordinate> coordinates;
  for (auto [i, axis] : llvm::enumerate(space.getAxes())) {
    std::optional<int64_t> coordinate = graph.getCoordinate(axis.name);
    if (!coordinate)
      continue;
    if (*coordinate >= axis.size)
      return emitShortOpError(graph)
             << "has coordinate " << *coordinate << " on axis '" << axis.name
             << "', which has size " << axis.size;
    coordinates.push_back({static_cast<unsigned>(i), *coordinate});
  }
  return RankClass(space, coordinates);
}
