//===- GraphCompiler.cpp - Compiles a graph for unrolling -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphCompiler.h"
#include "Evaluate.h"
#include "stg/Dialect/Sym/IR/Schedules.h"
#include "stg/Support/Phases.h"
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
class ScheduleCompiler;

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
  LogicalResult describe(NodeOpInterface op, NodeTemplate &node);
  LogicalResult describe(CompOp op, NodeTemplate &node);
  FailureOr<Kernel> makeKernel(CompOp op, KernelAttr kernel);
  FailureOr<uint32_t> addKernel(CompOp op, KernelAttr kernel);
  LogicalResult describe(CollOp op, NodeTemplate &node);
  LogicalResult describe(MessageOpInterface op, NodeTemplate &node);
  LogicalResult describe(LoadOp op, NodeTemplate &node);
  LogicalResult describe(StoreOp op, NodeTemplate &node);
  LogicalResult describeTransfer(Operation *op, NodeTemplate &node);
  FailureOr<AxisMask> getGroupAxes(CollOp op);
  LogicalResult compileLoneColl(CollOp op, uint32_t body);
  FailureOr<uint32_t> addMessages(MessageOpInterface op,
                                  const NodeTemplate &node, int64_t direction);
  struct Function {
    FuncOp op;
    uint32_t body; ///< kNone before the first call.
  };
  LogicalResult compileFunc(FuncOp op);
  FailureOr<Function> getFunction(FlatSymbolRefAttr name);
  LogicalResult compileCall(CallOp op, uint32_t body);
  LogicalResult compileCall(Operation *op, FlatSymbolRefAttr callee,
                            ArrayRef<Slot> args, ArrayRef<Slot> results,
                            StringRef scope, uint32_t body);
  LogicalResult compileSchedule(ScheduleOp op, uint32_t body,
                                uint64_t executions);
  void countCalls(Block &block, uint64_t executions);
  void countCalls(ScheduleOp schedule, uint64_t executions);
  friend class ScheduleCompiler;
  FailureOr<int64_t> getBytes(Operation *op, TypeRange types, StringRef what);
  FailureOr<int64_t> getNumber(Operation *op, stg::SymExpr expr,
                               StringRef what);
  FailureOr<int64_t> getKernelSize(CompOp op, stg::SymExpr expr);
  bool mentionsIndex(Operation *op);
  LogicalResult compileSeries(NodeOpInterface op, NodeTemplate node,
                              TraceProgram::NodeWiring wiring, uint32_t body);
  LogicalResult finishSeries();
  LogicalResult compileRepeat(RepeatOp op, uint32_t body, uint64_t executions);
  LogicalResult wireRepeat(RepeatOp op, TraceProgram::Repeat &repeat);
  bool canBeLinked(uint32_t repeat, uint32_t firstSlot, DenseSet<uint32_t> own,
                   StringRef &phase);
  bool makesAhead(uint32_t repeat);
  void linkInner(uint32_t repeat);
  void linkRepeats(uint32_t body);

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
  LogicalResult padPayload(Operation *op, int64_t bytes, NodeTemplate &node);
  LogicalResult checkLimits(Operation *op, uint32_t body);
  uint64_t getNumTensors(Step step) const;

  GraphOp graph;
  TraceProgram &program;
  RankSpace &space;
  unsigned splits;
  DenseMap<Value, Slot> slots;
  /// The functions of the graph, which stand before their calls.
  DenseMap<StringAttr, Function> functions;
  DenseMap<StringAttr, uint64_t> numCalls; ///< Of each function.
  /// The nodes of a body that are emitted ahead.
  DenseMap<uint32_t, SmallVector<TraceProgram::Ahead, 0>> aheadOf;
  std::vector<uint32_t> firstSlots; ///< By repeat, the first that it may set.
  std::map<std::pair<bool, ChannelKey>, uint32_t> channels;
  DenseMap<KernelAttr, uint32_t> kernels; ///< Numbers in the program.
  uint32_t numTurns = 0;  ///< Of the schedule that is being compiled.
  uint64_t numRounds = 0; ///< How often it is executed.

  /// The loop over steps around what is being compiled.
  struct Index {
    StringAttr name; ///< Null: there is none.
    int64_t count = 0;
    int64_t value = 0; ///< That numbers are evaluated for.
  } index;
  DenseMap<stg::SymExpr, std::unique_ptr<stg::CompiledExprs>> compiledExprs;
  /// What a series has in the iterations after the first. It is put behind all
  /// other nodes, tensors and kernels in the end.
  struct PendingSeries {
    SmallVector<NodeTemplate, 0> nodes;
    /// By iteration; empty where all have that of the first.
    SmallVector<Kernel, 0> kernels;
    /// By output that differs, the bytes of its tensor in each iteration.
    SmallVector<std::pair<size_t, SmallVector<int64_t, 0>>, 1> outputs;
  };
  std::vector<PendingSeries> pending; ///< Parallel to the program's series.
  uint64_t numSeriesNodes = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Tensors in a value of `type`; a token counts like a tensor.
FailureOr<uint32_t> GraphCompiler::countReferences(Operation *op, Type type) {
  uint64_t count = 1;
  while (auto stack = dyn_cast<StackType>(type)) {
    FailureOr<int64_t> length = getNumber(op, stack.getCount(), "stack count");
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
  FailureOr<int64_t> bytes = getNumber(op, tensor.getBytes(), "tensor size");
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
  FailureOr<int64_t> ops = getNumber(op, op.getOps(), "operation count");
  if (failed(ops))
    return failure();
  FailureOr<int64_t> bytes = getNumber(op, op.getBytes(), "byte count");
  if (failed(bytes))
    return failure();
  node.isMatrix = op.getMatrix();
  node.isDelayed = op.isDelayed();
  node.operations = *ops;
  node.bytes = *bytes;
  if (index.value > 0)
    return success(); // Kernels of series are made by themselves.
  if (KernelAttr attr = op.getKernelAttr()) {
    FailureOr<uint32_t> kernel = addKernel(op, attr);
    if (failed(kernel))
      return failure();
    node.kernel = *kernel;
  }
  return success();
}

/// Experts may have fractions of tokens.
static stg::SymExpr roundUp(stg::SymExpr expr) {
  std::optional<stg::Rational> value = expr.getConstant();
  if (!value || value->isInteger())
    return expr;
  return stg::SymExpr::get(
      expr.getContext(),
      stg::Rational(value->num / value->den + 1, llvm::DynamicAPInt(1)));
}

FailureOr<int64_t> GraphCompiler::getKernelSize(CompOp op, stg::SymExpr expr) {
  if (index.name && expr.usesSymbol(index.name)) {
    stg::SymBinding binding;
    binding[index.name] = stg::SymExpr::get(expr.getContext(), index.value);
    if (stg::SymExpr value = expr.substitute(binding))
      expr = value;
  }
  return evaluate(op, roundUp(expr), "size of a kernel");
}

FailureOr<Kernel> GraphCompiler::makeKernel(CompOp op, KernelAttr attr) {
  Kernel kernel;
  kernel.op = attr.getOp();
  kernel.operandType = attr.getOperandType();
  kernel.resultType = attr.getResultType();
  kernel.accumulates = attr.getAccumulates();
  for (stg::SymExpr expr : attr.getSizes()) {
    FailureOr<int64_t> size = getKernelSize(op, expr);
    if (failed(size))
      return failure();
    kernel.sizes.push_back(*size);
  }
  return kernel;
}

/// The number of the kernel, which is added where it is new.
FailureOr<uint32_t> GraphCompiler::addKernel(CompOp op, KernelAttr attr) {
  auto [it, isNew] = kernels.try_emplace(attr, program.kernels.size());
  if (!isNew)
    return it->second;
  FailureOr<Kernel> kernel = makeKernel(op, attr);
  if (failed(kernel))
    return failure();
  program.kernels.push_back(std::move(*kernel));
  return it->second;
}

LogicalResult GraphCompiler::describe(NodeOpInterface op, NodeTemplate &node) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<CompOp, CollOp, MessageOpInterface, LoadOp, StoreOp>(
          [&](auto op) { return describe(op, node); });
}

/// What nodes of all kinds have: a name, a phase, what they read and make.
LogicalResult GraphCompiler::compileNode(NodeOpInterface op, uint32_t body,
                                         uint64_t executions) {
  NodeTemplate node;
  node.name = op.getNameAttr();
  if (StringAttr phase = op.getPhaseAttr())
    node.phase = phase;
  bool isSeries = mentionsIndex(op);
  node.executions = isSeries ? executions / index.count : executions;
  auto coll = dyn_cast<CollOp>(*op);
  if (failed(describe(op, node)))
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
  std::optional<uint64_t> ahead;
  if (coll)
    ahead = coll.getAhead();
  else if (auto load = dyn_cast<LoadOp>(*op))
    ahead = load.getAhead();
  if (isSeries && ahead.value_or(0) == 0)
    return compileSeries(op, node, std::move(wiring), body);
  if (isSeries)
    return emitShortOpError(op) << "is ahead of its iteration, and has another "
                                   "size in each";
  return addNode(op, node, std::move(wiring), body,
                 static_cast<int64_t>(ahead.value_or(0)));
}

/// Both ends of a transfer have its size.
LogicalResult GraphCompiler::describeTransfer(Operation *op,
                                              NodeTemplate &node) {
  FailureOr<int64_t> bytes =
      getBytes(op, op->getResultTypes(), "size of a transfer");
  if (failed(bytes))
    return failure();
  node.bytes = *bytes;
  if (*bytes < 1)
    return emitShortOpError(op) << "transfers a buffer without bytes";
  return success();
}

LogicalResult GraphCompiler::describe(LoadOp op, NodeTemplate &node) {
  node.kind = NodeKind::Load;
  return describeTransfer(op, node);
}

LogicalResult GraphCompiler::describe(StoreOp op, NodeTemplate &node) {
  node.kind = NodeKind::Store;
  return describeTransfer(op, node);
}

FailureOr<int64_t> GraphCompiler::getPayload(CollOp op) {
  if (op.getPayloadAttr())
    return getNumber(op, op.getPayloadAttr(), "payload");
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
        getNumber(op, cast<stg::chakra::TensorType>(type).getBytes(), what);
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
LogicalResult GraphCompiler::padPayload(Operation *op, int64_t bytes,
                                        NodeTemplate &node) {
  int64_t unit, least, units;
  if (llvm::MulOverflow<int64_t>(splits, space.getGroupSize(node.axes), unit) ||
      llvm::MulOverflow<int64_t>(splits, space.getNumRanks(), least))
    return emitShortOpError(op)
           << "cannot be split into " << splits << " chunks";
  units = llvm::divideCeil(std::max(bytes, least), unit);
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
  int64_t all = node.bytes;
  if (stg::SymExpr padded = op.getPaddedAttr()) {
    FailureOr<int64_t> most = getNumber(op, padded, "padded payload");
    if (failed(most))
      return failure();
    all = node.mostBytes = std::max(all, *most);
  }
  return padPayload(op, all, node);
}

//===----------------------------------------------------------------------===//
// Series
//===----------------------------------------------------------------------===//

/// A number, in a loop over steps that of the iteration at hand.
FailureOr<int64_t> GraphCompiler::getNumber(Operation *op, stg::SymExpr expr,
                                            StringRef what) {
  if (!index.name || !expr.usesSymbol(index.name))
    return evaluate(op, expr, what);
  bool isOnly = true;
  expr.walkSymbols([&](StringAttr name) { isOnly &= name == index.name; });
  if (!isOnly)
    return evaluate(op, expr, what);
  std::unique_ptr<stg::CompiledExprs> &compiled = compiledExprs[expr];
  if (!compiled)
    compiled = std::make_unique<stg::CompiledExprs>(expr, index.name);
  stg::CompiledExprs::Result result = compiled->evaluate(0, index.value);
  if (result.status == stg::CompiledExprs::Status::Ok && result.value >= 0 &&
      result.value <= INT64_MAX)
    return static_cast<int64_t>(result.value);
  // Says what is wrong with it.
  stg::SymBinding binding;
  binding[index.name] = stg::SymExpr::get(expr.getContext(), index.value);
  stg::SymExpr value = expr.substitute(binding);
  return evaluate(op, value ? value : expr, what);
}

/// True if something of the node differs between the iterations of the loop
/// over steps around it.
bool GraphCompiler::mentionsIndex(Operation *op) {
  if (!index.name)
    return false;
  bool found = false;
  AttrTypeWalker walker;
  walker.addWalk([&](stg::SymExpr expr) {
    found |= expr.usesSymbol(index.name);
    return WalkResult::skip();
  });
  walker.walk(op->getAttrDictionary());
  for (Type type : op->getOperandTypes())
    walker.walk(type);
  for (Type type : op->getResultTypes())
    walker.walk(type);
  return found;
}

/// A template for each iteration.
LogicalResult GraphCompiler::compileSeries(NodeOpInterface op,
                                           NodeTemplate node,
                                           TraceProgram::NodeWiring wiring,
                                           uint32_t body) {
  numSeriesNodes += index.count;
  if (numSeriesNodes > kMaxSeries)
    return emitShortOpError(op)
           << "has another size in each of " << index.count
           << " steps, and brings all such nodes to more than " << kMaxSeries
           << "; use fewer steps";
  PendingSeries &own = pending.emplace_back();
  SmallVector<std::pair<size_t, SmallVector<int64_t, 0>>, 1> outputs;
  for (auto [number, output] : llvm::enumerate(wiring.outputs))
    if (output.kind == Output::New)
      outputs.push_back({number, {}});
  SmallVector<Kernel, 0> kernels;
  auto comp = dyn_cast<CompOp>(*op);
  KernelAttr kernel = comp ? comp.getKernelAttr() : KernelAttr();
  for (index.value = 0; index.value < index.count; ++index.value) {
    NodeTemplate other = node;
    if (index.value > 0) {
      if (failed(describe(op, other)))
        return failure();
      own.nodes.push_back(other);
    }
    for (auto &[number, bytes] : outputs) {
      Type type = op->getResult(number).getType();
      if (auto stack = dyn_cast<StackType>(type))
        type = stack.getTensorType();
      FailureOr<int64_t> size = getNumber(
          op, cast<stg::chakra::TensorType>(type).getBytes(), "tensor size");
      if (failed(size))
        return failure();
      bytes.push_back(*size);
    }
    if (!kernel)
      continue;
    FailureOr<Kernel> made = makeKernel(comp, kernel);
    if (failed(made))
      return failure();
    kernels.push_back(std::move(*made));
  }
  index.value = 0;
  for (auto &output : outputs)
    if (!llvm::all_equal(output.second))
      own.outputs.push_back(std::move(output));
  if (!llvm::all_equal(kernels))
    own.kernels = std::move(kernels);
  addStep(body, Step::Series, program.series.size());
  program.series.push_back(
      {kNone, static_cast<uint32_t>(program.nodes.size()), kNone});
  ++program.bodies[body].numNodes;
  program.nodes.push_back(node);
  program.wiring.push_back(std::move(wiring));
  return checkLimits(op, body);
}

/// Templates of further iterations stand behind all others, those of one
/// iteration together.
LogicalResult GraphCompiler::finishSeries() {
  for (auto [series, own] : llvm::zip_equal(program.series, pending)) {
    series.rest = program.nodes.size();
    for (auto [i, node] : llvm::enumerate(own.nodes)) {
      TraceProgram::NodeWiring wiring = program.wiring[series.node];
      for (auto &[number, bytes] : own.outputs) {
        Output &output = wiring.outputs[number];
        TensorTemplate tensor = program.tensors[output.tensorTemplate];
        tensor.bytes = bytes[i + 1];
        output.tensorTemplate = program.tensors.size();
        program.tensors.push_back(tensor);
      }
      node.kernel = program.nodes[series.node].kernel;
      if (!own.kernels.empty()) {
        node.kernel = program.kernels.size();
        program.kernels.push_back(own.kernels[i + 1]);
      }
      program.nodes.push_back(node);
      program.wiring.push_back(std::move(wiring));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Consumers count the bytes of a message in 31 bits.
static constexpr int64_t kMaxMessage = INT32_MAX;

/// Counts the messages of a node in their channel, whose number is returned.
FailureOr<uint32_t> GraphCompiler::addMessages(MessageOpInterface op,
                                               const NodeTemplate &node,
                                               int64_t direction) {
  ChannelKey key = {node.axis, direction,
                    static_cast<int64_t>(op.getChannel())};
  int64_t stride = op.getStrideAttr() ? op.getStrideAttr().getInt() : 0;
  auto [it, isNew] =
      channels.try_emplace({op.isSend(), key}, program.channels.size());
  if (isNew) {
    Channel &channel = program.channels.emplace_back();
    channel.key = key;
    channel.isSend = op.isSend();
    channel.messageBytes = node.bytes;
    channel.turns = stride ? numTurns : 0;
    channel.stride = stride;
  } else if (program.channels[it->second].stride != stride) {
    return emitShortOpError(op) << "has a channel of a turn that another "
                                   "message has with other turns";
  }
  Channel &channel = program.channels[it->second];
  channel.hasOneSize &= channel.messageBytes == node.bytes;
  channel.executions += node.executions;
  if (stride)
    channel.rounds += numRounds;
  channel.bytes += static_cast<__int128>(node.bytes) * node.executions;
  return it->second;
}

LogicalResult GraphCompiler::describe(MessageOpInterface op,
                                      NodeTemplate &node) {
  auto send = dyn_cast<SendOp>(op.getOperation());
  stg::SymExpr payload =
      send ? send.getPayloadAttr() : cast<RecvOp>(op).getPayloadAttr();
  FailureOr<int64_t> bytes =
      payload ? getNumber(op, payload, "payload")
              : getBytes(op, op.getMessageTypes(), "message size");
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
  FailureOr<uint32_t> channel = addMessages(op, node, direction);
  if (failed(channel))
    return failure();
  node.channel = *channel;
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A function is compiled for its first call, so that nodes are in the order in
/// which they are first executed; further calls execute the same body.
LogicalResult GraphCompiler::compileFunc(FuncOp op) {
  functions[op.getSymNameAttr()] = {op, kNone};
  return success();
}

FailureOr<GraphCompiler::Function>
GraphCompiler::getFunction(FlatSymbolRefAttr name) {
  Function function = functions.at(name.getAttr());
  if (function.body != kNone)
    return function;
  for (BlockArgument arg : function.op.getBody().getArguments())
    if (failed(define(function.op, arg)))
      return failure();
  function.body = program.bodies.size();
  program.bodies.emplace_back();
  functions[name.getAttr()] = function;
  if (failed(compileBody(function.op.getBody().front(), function.body,
                         numCalls.lookup(name.getAttr()))))
    return failure();
  linkRepeats(function.body);
  return function;
}

/// `results` have been defined.
LogicalResult GraphCompiler::compileCall(Operation *op, FlatSymbolRefAttr name,
                                         ArrayRef<Slot> args,
                                         ArrayRef<Slot> results,
                                         StringRef scope, uint32_t body) {
  FailureOr<Function> function = getFunction(name);
  if (failed(function))
    return failure();
  FuncOp callee = function->op;
  TraceProgram::Call call = {scope, function->body, {}, {}};
  for (auto [own, arg] :
       llvm::zip_equal(args, callee.getBody().getArguments())) {
    if (own.count != getSlot(arg).count)
      return emitShortOpError(op) << "passes a stack of another size";
    call.args.push_back({own.index, getSlot(arg).index});
  }
  for (auto [own, value] :
       llvm::zip_equal(results, callee.getReturn().getValues()))
    call.results.push_back({getSlot(value).index, own.index});
  TraceProgram::Body &outer = program.bodies[body];
  const TraceProgram::Body &inner = program.bodies[call.body];
  outer.numNodes += inner.numNodes;
  outer.numTensors += inner.numTensors;
  addStep(body, Step::Call, program.calls.size());
  program.calls.push_back(std::move(call));
  return checkLimits(op, body);
}

LogicalResult GraphCompiler::compileCall(CallOp op, uint32_t body) {
  SmallVector<Slot> args, results;
  for (Value operand : op.getOperands())
    args.push_back(getSlot(operand));
  for (Value result : op.getResults()) {
    if (failed(define(op, result)))
      return failure();
    results.push_back(getSlot(result));
  }
  return compileCall(op, op.getCalleeAttr(), args, results, op.getScope(),
                     body);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {
/// Compiles one schedule. What adds up is a step for what comes first, one for
/// what comes last and one for what is in between, which pass a slot on.
class ScheduleCompiler {
public:
  ScheduleCompiler(GraphCompiler &graph, ScheduleOp schedule, uint32_t body,
                   uint64_t rounds)
      : graph(graph), program(graph.program), schedule(schedule), body(body),
        rounds(rounds) {}

  LogicalResult compile(uint32_t outer);

private:
  using Slot = TraceProgram::Slot;
  using Step = TraceProgram::Step;
  using Execution = stg::detail::Execution<TurnCallOp>;
  /// The steps of an op; of others than adders there is one.
  struct Steps {
    uint32_t first = kNone, next = kNone, last = kNone;
  };

  void countExecutions();
  LogicalResult defineInputs();
  LogicalResult compileOp(Execution &execution);
  LogicalResult compileAdder(Execution &execution);
  LogicalResult defineAll(Operation *op, ValueRange values);
  void addLane(Slot slot) { lanes.push_back({slot.index, {}}); }
  uint32_t &getStep(Execution &execution) {
    Steps &own = steps[execution.number];
    return !execution.adder || execution.isFirst ? own.first
           : execution.isLast                    ? own.last
                                                 : own.next;
  }
  LogicalResult checkMessages();
  LogicalResult finish(uint32_t outer);

  GraphCompiler &graph;
  TraceProgram &program;
  ScheduleOp schedule;
  uint32_t body;
  uint64_t rounds; ///< How often the schedule is executed.
  std::vector<TraceProgram::Lane> lanes;
  SmallVector<Steps> steps;           ///< By op of the body.
  SmallVector<uint64_t> executionsOf; ///< Likewise.
  std::map<uint64_t, SmallVector<Slot>> totals;
  std::vector<stg::OrderEntry> order;
};
} // namespace

/// Inputs are set before the first step.
LogicalResult ScheduleCompiler::defineInputs() {
  for (BlockArgument arg : schedule.getBody().getArguments()) {
    if (failed(graph.define(schedule, arg)))
      return failure();
    TraceProgram::Lane &lane = lanes.emplace_back();
    lane.slot = graph.getSlot(arg).index;
    for (uint64_t turn = 0; turn < schedule.getCount(); ++turn) {
      Slot input = graph.getSlot(schedule.getInput(arg.getArgNumber(), turn));
      if (input.count != graph.getSlot(arg).count)
        return emitShortOpError(schedule) << "has an input of another size";
      lane.inits.push_back(input.index);
    }
  }
  return success();
}

LogicalResult ScheduleCompiler::defineAll(Operation *op, ValueRange values) {
  for (Value value : values) {
    if (failed(graph.define(op, value)))
      return failure();
    addLane(graph.getSlot(value));
  }
  return success();
}

/// The call of one of the functions of an adder.
LogicalResult ScheduleCompiler::compileAdder(Execution &execution) {
  TurnCallOp op = execution.adder;
  auto function = graph.getFunction(execution.getCallee());
  if (failed(function))
    return failure();
  SmallVector<Slot> args, results;
  for (Value operand : op.getOperands())
    args.push_back(graph.getSlot(operand));
  SmallVector<Slot> &total = totals[op.getTotal()];
  if (!execution.isFirst)
    llvm::append_range(args, total);
  for (Value result : op.getResults())
    results.push_back(graph.getSlot(result));
  OperandRange sums =
      function->op.getReturn().getValues().drop_front(op.getNumResults());
  // Where tensors differ in number, what is added up is another slot.
  for (auto [number, sum] : llvm::enumerate(sums)) {
    Slot own = graph.getSlot(sum);
    if (number < total.size() && total[number].count == own.count)
      continue;
    if (number == total.size())
      total.emplace_back();
    total[number] = {program.numSlots++, own.count};
    program.slotCounts.push_back(own.count);
  }
  llvm::append_range(results, total);
  return graph.compileCall(op, execution.getCallee(), args, results, "", body);
}

LogicalResult ScheduleCompiler::compileOp(Execution &execution) {
  bool isNew = steps[execution.number].first == kNone &&
               steps[execution.number].next == kNone &&
               steps[execution.number].last == kNone;
  Operation *op = execution.op;
  getStep(execution) = program.bodies[body].steps.size();
  if (execution.adder) {
    if (isNew && failed(defineAll(op, op->getResults())))
      return failure();
    return compileAdder(execution);
  }
  uint64_t executions = executionsOf[execution.number] * rounds;
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](CallOp call) { return graph.compileCall(call, body); })
          .Case([&](NodeOpInterface node) {
            return graph.compileNode(node, body, executions);
          })
          .Default([](Operation *other) {
            return emitShortOpError(other) << "cannot be in a schedule";
          });
  if (failed(result))
    return failure();
  for (Value value : op->getResults())
    addLane(graph.getSlot(value));
  return success();
}

/// A channel has one message in a turn, as its tag is told by the turn.
LogicalResult ScheduleCompiler::checkMessages() {
  ArrayRef<Step> own = program.bodies[body].steps;
  auto getChannel = [&](uint32_t step) {
    bool isNode =
        own[step].kind == Step::Node || own[step].kind == Step::Series;
    const NodeTemplate *node =
        isNode ? &program.nodes[program.getNode(own[step])] : nullptr;
    return node && node->isMessage() ? node->channel : kNone;
  };
  SmallVector<unsigned> users(program.channels.size());
  for (size_t step = 0; step < own.size(); ++step)
    if (uint32_t channel = getChannel(step); channel != kNone)
      ++users[channel];
  if (llvm::all_of(users, [](unsigned count) { return count <= 1; }))
    return success();
  DenseSet<std::pair<uint32_t, uint32_t>> seen; // By channel and turn.
  for (const stg::OrderEntry &entry : order) {
    uint32_t channel = getChannel(entry.step);
    if (channel == kNone || users[channel] <= 1 ||
        seen.insert({channel, entry.turn}).second)
      continue;
    return emitShortOpError(schedule) << "has more than one message of channel "
                                      << program.channels[channel].key.channel
                                      << " in turn " << entry.turn;
  }
  return success();
}

LogicalResult ScheduleCompiler::finish(uint32_t outer) {
  if (failed(checkMessages()))
    return failure();
  SmallVector<Slot> results;
  for (auto &[number, slots] : totals)
    llvm::append_range(results, slots);
  for (auto [value, slot] : llvm::zip_equal(schedule.getResults(), results))
    graph.slots[value] = slot;
  TraceProgram::Body &own = program.bodies[body];
  own.numNodes = own.numTensors = 0;
  for (const stg::OrderEntry &entry : order) {
    Step step = own.steps[entry.step];
    own.numNodes += program.getNumNodes(step);
    own.numTensors += graph.getNumTensors(step);
  }
  program.bodies[outer].numNodes += own.numNodes;
  program.bodies[outer].numTensors += own.numTensors;
  graph.addStep(outer, Step::Schedule, program.schedules.size());
  program.schedules.push_back(
      {schedule.getName(), static_cast<uint32_t>(schedule.getCount()), body,
       std::move(lanes), stg::ExecutionOrder::compress(order),
       schedule.getSwitchAxes()
           ? std::optional(getMask(graph.space, *schedule.getSwitchAxes()))
           : std::nullopt});
  return graph.checkLimits(schedule, outer);
}

LogicalResult ScheduleCompiler::compile(uint32_t outer) {
  size_t numOps = schedule.getBody().front().getOperations().size();
  steps.resize(numOps);
  executionsOf.resize(numOps);
  stg::ExecutionOrder given = schedule.getOrder().getOrder();
  for (const stg::ExecutionOrder::Run &run : given.runs)
    for (const stg::ExecutionOrder::Item &item : run.items)
      executionsOf[item.step] += run.times;
  order.reserve(given.size());
  if (failed(defineInputs()))
    return failure();
  graph.numTurns = schedule.getCount();
  graph.numRounds = rounds;
  LogicalResult compiled = stg::detail::walkSchedule<TurnCallOp>(
      schedule,
      [&](Execution &execution) {
        if (getStep(execution) == kNone && failed(compileOp(execution)))
          return failure();
        order.push_back(
            {getStep(execution), execution.turn, execution.isBeside});
        return success();
      },
      /*allTurns=*/true);
  graph.numTurns = 0;
  return failed(compiled) ? failure() : finish(outer);
}

LogicalResult GraphCompiler::compileSchedule(ScheduleOp op, uint32_t body,
                                             uint64_t executions) {
  uint32_t inner = program.bodies.size();
  program.bodies.emplace_back();
  return ScheduleCompiler(*this, op, inner, executions).compile(body);
}

/// The tensors that one execution of a step of a schedule makes.
uint64_t GraphCompiler::getNumTensors(Step step) const {
  if (step.kind == Step::Call)
    return program.bodies[program.calls[step.index].body].numTensors;
  uint64_t count = 0;
  if (step.kind == Step::Node || step.kind == Step::Series)
    for (const Output &output : program.wiring[program.getNode(step)].outputs)
      if (output.kind == Output::New)
        count += output.slot.count;
  return count;
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

/// True if what the repeat makes ahead, or what those in its body do, reads
/// only what was there before slot `firstSlot` and slices of that, `own` among
/// them, so that turns of others can make it. Sets the phase of what it makes.
bool GraphCompiler::canBeLinked(uint32_t repeat, uint32_t firstSlot,
                                DenseSet<uint32_t> own, StringRef &phase) {
  const TraceProgram::Repeat &entry = program.repeats[repeat];
  if (entry.count == 0)
    return false;
  auto isThere = [&](uint32_t slot) {
    return slot < firstSlot || own.contains(slot);
  };
  for (const TraceProgram::Stack &slice : entry.slices)
    if (isThere(slice.outer))
      own.insert(slice.inner);
  for (const TraceProgram::Ahead &ahead : entry.ahead) {
    const TraceProgram::NodeWiring &wiring = program.wiring[ahead.node];
    for (Slot slot : llvm::concat<const Slot>(wiring.reads, wiring.after))
      if (!isThere(slot.index))
        return false;
    for (const Output &output : wiring.outputs)
      own.insert(output.slot.index);
    StringRef made = program.nodes[ahead.node].phase;
    // What is replayed is in the backward pass.
    if (made == stg::kRecomputePhase)
      made = stg::kBackwardPhase;
    if (made.empty() || (!phase.empty() && made != phase))
      return false;
    phase = made;
  }
  bool hasInner = false;
  for (Step step : program.bodies[entry.body].steps) {
    if (step.kind != Step::Repeat || !makesAhead(step.index))
      continue;
    hasInner = true;
    if (!canBeLinked(step.index, firstSlot, own, phase))
      return false;
  }
  return hasInner == entry.ahead.empty();
}

bool GraphCompiler::makesAhead(uint32_t repeat) {
  return !program.repeats[repeat].ahead.empty() ||
         llvm::any_of(program.bodies[program.repeats[repeat].body].steps,
                      [&](Step step) {
                        return step.kind == Step::Repeat &&
                               makesAhead(step.index);
                      });
}

/// Links what is in the body of a repeat that is linked.
void GraphCompiler::linkInner(uint32_t repeat) {
  for (Step step : program.bodies[program.repeats[repeat].body].steps) {
    if (step.kind != Step::Repeat || !makesAhead(step.index))
      continue;
    program.repeats[step.index].group = 1;
    linkInner(step.index);
  }
}

/// Links the repeats of a body that make nodes of one phase ahead, one behind
/// the other: layers that differ are several repeats.
void GraphCompiler::linkRepeats(uint32_t body) {
  SmallVector<uint32_t> linked;
  StringRef phase;
  uint32_t group = 0;
  auto close = [&] {
    // One repeat by itself has no other.
    if (linked.size() > 1 ||
        (linked.size() == 1 && program.repeats[linked.front()].ahead.empty())) {
      ++group;
      for (uint32_t repeat : linked) {
        program.repeats[repeat].group = group;
        linkInner(repeat);
      }
    }
    linked.clear();
  };
  for (Step step : program.bodies[body].steps) {
    if (step.kind != Step::Repeat || !makesAhead(step.index))
      continue;
    auto canFollow = [&] {
      StringRef own = linked.empty() ? StringRef() : phase;
      uint32_t first = linked.empty() ? step.index : linked.front();
      bool isLinked = canBeLinked(step.index, firstSlots[first], {}, own);
      if (isLinked)
        phase = own;
      return isLinked;
    };
    bool isLinked = canFollow();
    if (!isLinked && !linked.empty()) {
      close();
      isLinked = canFollow();
    }
    if (isLinked)
      linked.push_back(step.index);
  }
  close();
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
  uint32_t slotsBefore = program.numSlots;
  for (BlockArgument arg : op.getBody().getArguments())
    if (failed(define(op, arg)))
      return failure();
  uint32_t inner = program.bodies.size();
  program.bodies.emplace_back();
  StringAttr stepIndex = op.getIndexAttr();
  const size_t firstSeries = program.series.size();
  if (stepIndex && *count > 0)
    index = {stepIndex, *count, 0};
  if (failed(compileBody(op.getBody().front(), inner, executions)))
    return failure();
  if (stepIndex) {
    // The repeat is the next one that is added.
    for (size_t i = firstSeries; i < program.series.size(); ++i)
      program.series[i].repeat = program.repeats.size();
    index = {};
  }
  FailureOr<int64_t> first = 0;
  if (op.getFirst())
    first = evaluate(op, *op.getFirst(), "first index");
  if (failed(first))
    return failure();
  TraceProgram::Repeat repeat = {op.getName(),
                                 *count,
                                 *first,
                                 op.getReverse(),
                                 inner,
                                 {},
                                 {},
                                 {},
                                 std::move(aheadOf[inner]),
                                 /*isStep=*/stepIndex != nullptr};
  if (failed(wireRepeat(op, repeat)))
    return failure();
  TraceProgram::Body &outer = program.bodies[body];
  outer.numNodes = llvm::SaturatingMultiplyAdd<uint64_t>(
      program.bodies[inner].numNodes, *count, outer.numNodes);
  outer.numTensors = llvm::SaturatingMultiplyAdd<uint64_t>(
      program.bodies[inner].numTensors, *count, outer.numTensors);
  addStep(body, Step::Repeat, program.repeats.size());
  firstSlots.push_back(slotsBefore);
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
            .Case([&](ScheduleOp op) {
              return compileSchedule(op, body, executions);
            })
            .Default([](Operation *op) {
              return emitShortOpError(op) << "cannot be written to a trace";
            });
    if (failed(result))
      return failure();
  }
  return success();
}

void GraphCompiler::countCalls(ScheduleOp schedule, uint64_t executions) {
  (void)stg::detail::walkSchedule<TurnCallOp>(
      schedule,
      [&](stg::detail::Execution<TurnCallOp> &execution) {
        if (execution.adder)
          numCalls[execution.getCallee().getAttr()] += executions;
        else if (auto call = dyn_cast<CallOp>(execution.op))
          numCalls[call.getCalleeAttr().getAttr()] += executions;
        return success();
      },
      /*allTurns=*/true);
}

/// Those of loops over steps are executed in each step.
void GraphCompiler::countCalls(Block &block, uint64_t executions) {
  for (Operation &op : block) {
    if (auto call = dyn_cast<CallOp>(op))
      numCalls[call.getCalleeAttr().getAttr()] += executions;
    else if (auto schedule = dyn_cast<ScheduleOp>(op))
      countCalls(schedule, executions);
    else if (auto repeat = dyn_cast<RepeatOp>(op);
             repeat && repeat.getIndexAttr())
      countCalls(repeat.getBody().front(),
                 executions * repeat.getCount().getInt64().value_or(0));
  }
}

LogicalResult GraphCompiler::compile() {
  program.bodies.emplace_back();
  countCalls(graph.getBody().front(), /*executions=*/1);
  if (failed(compileBody(graph.getBody().front(), 0, /*executions=*/1)))
    return failure();
  linkRepeats(0);
  program.linkRepeats();
  return finishSeries();
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
