//===- Offload.cpp - Buffers in the memory of the host --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is to be on the host becomes a value of that category, which goes where
// the buffer went: into stacks, through functions, to the turns of schedules.
// Nodes that read such a value read what a load makes of it. So the pass needs
// to know nothing of layers, stages or micro-batches.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Chakra/Transforms/Passes.h"
#include "stg/Support/NamePatterns.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace stg::chakra {
#define GEN_PASS_DEF_OFFLOAD
#include "stg/Dialect/Chakra/Transforms/Passes.h.inc"
} // namespace stg::chakra

using namespace mlir;
using namespace stg;
using namespace stg::chakra;

namespace {
/// The nodes of a block and a phase, or of repeats in it, that read one buffer
/// of the host.
struct Readers {
  Block *block;
  Value host;
  SmallVector<NodeOpInterface> nodes; ///< In order.
  size_t number = 0;                  ///< The operand of the first one.
};

enum class Offloaded { Activations, Optimizer, Parameters };

/// Moves buffers of one graph.
class Offloader {
public:
  Offloader(GraphOp graph, unsigned percent, unsigned ahead,
            NamePatterns &saved)
      : graph(graph), builder(graph.getContext()), percent(percent),
        ahead(ahead), saved(saved) {}

  /// How many buffers are moved.
  FailureOr<size_t> move(Offloaded kind);
  /// Loads and stores what has been moved where nodes use it.
  LogicalResult connect();

private:
  FailureOr<size_t> moveStates(Category category);
  FailureOr<size_t> moveActivations();
  FailureOr<SmallVector<Value>> choose(ArrayRef<Value> candidates);
  void collectNames();
  std::string makeName(const Twine &name);
  void moveSaved(RepeatOp repeat, unsigned stack);

  LogicalResult move(Value value, StringRef name);
  LogicalResult follow(Value value);
  LogicalResult follow(OpOperand &use, StringRef name);
  LogicalResult moveArguments(FlatSymbolRefAttr callee, unsigned number,
                              StringRef name);
  LogicalResult moveReturned(FuncOp function, unsigned number, StringRef name);
  bool loadInit(OpOperand &use, StringRef name);
  void setFunctionTypes();

  FuncOp lookUp(FlatSymbolRefAttr callee);
  SmallVector<CallOpInterface> getCalls(FuncOp function);
  bool areSame(ValueRange values, unsigned left, unsigned right);
  bool areSame(Value left, Value right);
  void mergeSame();
  SmallVector<Readers> collectReaders();
  LogicalResult connect(Readers readers);
  LoadOp createLoad(Readers readers);
  LogicalResult storeBack(Readers readers, Value current);

  GraphOp graph;
  OpBuilder builder;
  unsigned percent, ahead;
  NamePatterns &saved; ///< Of ops whose results are moved; empty: of all.
  /// By value that is on the host: what it was before, and what loads and
  /// stores of it are called.
  llvm::MapVector<Value, std::pair<Type, std::string>> moved;
  SmallVector<Value> pending; ///< Moved, and not yet followed.
  llvm::StringSet<> names;    ///< Of the nodes of the graph.
};

struct Offload : chakra::impl::OffloadBase<Offload> {
  using OffloadBase::OffloadBase;
  void runOnOperation() override;
};
} // namespace

static chakra::TensorType getTensor(Type type) {
  if (auto stack = dyn_cast<StackType>(type))
    return stack.getTensorType();
  return dyn_cast<chakra::TensorType>(type);
}

/// The same with its tensors on the host.
static Type onHost(Type type) {
  if (auto stack = dyn_cast<StackType>(type))
    return StackType::get(onHost(stack.getElementType()), stack.getCount());
  return chakra::TensorType::get(type.getContext(),
                                 cast<chakra::TensorType>(type).getBytes(),
                                 Category::Host);
}

//===----------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------===//

/// The largest first, as long as they are within the share of all bytes.
FailureOr<SmallVector<Value>> Offloader::choose(ArrayRef<Value> candidates) {
  SmallVector<Value> chosen(candidates);
  llvm::erase_if(chosen, [](Value value) {
    return getTensor(value.getType()).getBytes().isZero();
  });
  if (percent == 100)
    return chosen;
  // By size, then in order.
  SmallVector<std::tuple<int64_t, size_t, Value>> sizes;
  __int128 total = 0, taken = 0;
  for (Value value : chosen) {
    std::optional<int64_t> bytes =
        getTensor(value.getType()).getBytes().getInt64();
    if (!bytes) {
      emitError(value.getLoc())
          << "the buffer has " << getTensor(value.getType()).getBytes().str()
          << " bytes: which part of all buffers is on the host can be said "
             "where sizes are numbers";
      return failure();
    }
    sizes.emplace_back(-*bytes, sizes.size(), value);
    total += *bytes;
  }
  llvm::sort(sizes, [](const auto &lhs, const auto &rhs) {
    return std::pair(std::get<0>(lhs), std::get<1>(lhs)) <
           std::pair(std::get<0>(rhs), std::get<1>(rhs));
  });
  chosen.clear();
  for (auto [negative, number, value] : sizes) {
    if ((taken - negative) * 100 > total * percent)
      continue;
    taken -= negative;
    chosen.push_back(value);
  }
  return chosen;
}

FailureOr<size_t> Offloader::moveStates(Category category) {
  llvm::MapVector<Block *, SmallVector<Value>> scopes;
  graph.walk([&](StateOp state) {
    if (getTensor(state.getType()).getCategory() == category)
      scopes[state->getBlock()].push_back(state);
  });
  size_t count = 0;
  for (auto &[block, states] : scopes) {
    FailureOr<SmallVector<Value>> chosen = choose(states);
    if (failed(chosen))
      return failure();
    count += chosen->size();
    for (Value state : *chosen)
      if (failed(move(state, cast<StateOp>(state.getDefiningOp()).getName())))
        return failure();
  }
  return count;
}

/// That of the first node that has one; null if none has.
static StringAttr getPhase(RepeatOp repeat) {
  StringAttr phase;
  repeat.walk([&](NodeOpInterface node) {
    phase = node.getPhaseAttr();
    return phase ? WalkResult::interrupt() : WalkResult::advance();
  });
  return phase;
}

static bool isForward(RepeatOp repeat) {
  StringAttr phase = getPhase(repeat);
  return phase && phase.getValue() == kForwardPhase;
}

/// True for what a body makes, or gets from the iteration before.
static bool isOwn(RepeatOp repeat, Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner()->getParentOp() == repeat &&
           arg.getArgNumber() < repeat.getInits().size();
  return value.getParentBlock() == &repeat.getBody().front() &&
         isa<NodeOpInterface>(value.getDefiningOp());
}

/// What an op is called whose node, or whose collective, makes the value; what
/// a layer begins with is its input.
static StringRef getMakerName(Value value) {
  auto node = value.getDefiningOp<NodeOpInterface>();
  if (!node)
    return "input";
  StringRef name = node.getNameAttr();
  return name.take_front(name.find(".fwd"));
}

/// A value that is stacked twice is one buffer.
FailureOr<size_t> Offloader::moveActivations() {
  size_t count = 0;
  SmallVector<RepeatOp> repeats;
  graph.walk([&](RepeatOp repeat) {
    if (isForward(repeat))
      repeats.push_back(repeat);
  });
  for (RepeatOp repeat : repeats) {
    llvm::SetVector<Value> candidates;
    for (Value value : repeat.getYield().getStacks()) {
      auto tensor = dyn_cast<chakra::TensorType>(value.getType());
      if (tensor && tensor.getCategory() == Category::Activation &&
          isOwn(repeat, value) &&
          (saved.isEmpty() || saved.match(getMakerName(value))))
        candidates.insert(value);
    }
    FailureOr<SmallVector<Value>> chosen = choose(candidates.getArrayRef());
    if (failed(chosen))
      return failure();
    count += chosen->size();
    for (auto [number, use] :
         llvm::enumerate(repeat.getYield().getStacksMutable()))
      if (llvm::is_contained(*chosen, use.get()))
        moveSaved(repeat, number);
  }
  return count;
}

/// Stores what a layer saves as soon as it is there.
void Offloader::moveSaved(RepeatOp repeat, unsigned stack) {
  OpOperand &use = repeat.getYield().getStacksMutable()[stack];
  Value value = use.get();
  Type type = value.getType();
  std::string name;
  StringAttr phase = builder.getStringAttr(kForwardPhase);
  if (auto result = dyn_cast<OpResult>(value)) {
    auto node = cast<NodeOpInterface>(result.getOwner());
    name = node.getNameAttr().str();
    if (node->getNumResults() > 1)
      name += "." + std::to_string(result.getResultNumber());
    if (node.getPhaseAttr())
      phase = node.getPhaseAttr();
    builder.setInsertionPointAfter(node);
  } else {
    name = "input" + std::to_string(cast<BlockArgument>(value).getArgNumber());
    builder.setInsertionPointToStart(value.getParentBlock());
  }
  StoreOp store;
  for (Operation *user : value.getUsers())
    if (auto known = dyn_cast<StoreOp>(user);
        known && known.getInput() == value && !known.getInto())
      store = known;
  if (!store) {
    store =
        StoreOp::create(builder, value.getLoc(), onHost(type),
                        builder.getStringAttr(makeName(name + ".store")), value,
                        /*into=*/Value(), /*after=*/ValueRange(), phase);
    moved[store.getResult()] = {type, name};
  }
  use.set(store.getResult());
  // As if the value itself had been moved: it goes into the stack only.
  pending.push_back(store.getResult());
}

void Offloader::collectNames() {
  graph.walk([&](NodeOpInterface node) { names.insert(node.getNameAttr()); });
}

std::string Offloader::makeName(const Twine &name) {
  if (names.empty())
    collectNames();
  std::string unique = name.str();
  for (unsigned number = 2; !names.insert(unique).second; ++number)
    unique = name.str() + "." + std::to_string(number);
  return unique;
}

//===----------------------------------------------------------------------===//
// Where it goes
//===----------------------------------------------------------------------===//

LogicalResult Offloader::move(Value value, StringRef name) {
  if (moved.contains(value))
    return success();
  moved[value] = {value.getType(), name.str()};
  value.setType(onHost(value.getType()));
  pending.push_back(value);
  return success();
}

static SmallVector<FlatSymbolRefAttr> getCallees(CallOpInterface call) {
  if (auto turn = dyn_cast<TurnCallOp>(*call))
    return llvm::to_vector(turn.getCallees());
  return {cast<CallOp>(*call).getCalleeAttr()};
}

SmallVector<CallOpInterface> Offloader::getCalls(FuncOp function) {
  SmallVector<CallOpInterface> calls;
  graph.walk([&](CallOpInterface call) {
    if (llvm::is_contained(getCallees(call),
                           FlatSymbolRefAttr::get(function.getSymNameAttr())))
      calls.push_back(call);
  });
  return calls;
}

FuncOp Offloader::lookUp(FlatSymbolRefAttr callee) {
  return SymbolTable::lookupNearestSymbolFrom<FuncOp>(
      graph.getBody().front().empty() ? graph.getOperation()
                                      : &graph.getBody().front().front(),
      callee);
}

LogicalResult Offloader::moveArguments(FlatSymbolRefAttr callee,
                                       unsigned number, StringRef name) {
  return move(lookUp(callee).getBody().getArgument(number), name);
}

/// What a function returns is what its calls give.
LogicalResult Offloader::moveReturned(FuncOp function, unsigned number,
                                      StringRef name) {
  for (CallOpInterface call : getCalls(function)) {
    if (number >= call->getNumResults())
      return call->emitOpError("adds up '")
             << name << "', which is on the host, over turns";
    if (failed(move(call->getResult(number), name)))
      return failure();
  }
  return success();
}

/// What a repeat starts with is on the device, as what it hands on is: an
/// activation is loaded before it, as where layers are loops in a loop that
/// saves what these start with. False if it is none.
bool Offloader::loadInit(OpOperand &use, StringRef name) {
  auto repeat = cast<RepeatOp>(use.getOwner());
  auto type = dyn_cast<chakra::TensorType>(moved[use.get()].first);
  if (!type || type.getCategory() != Category::Activation)
    return false;
  builder.setInsertionPoint(repeat);
  StringAttr phase = getPhase(repeat);
  std::string suffix = phase ? "." + phase.str() + ".load" : ".load";
  use.set(LoadOp::create(builder, repeat.getLoc(), type,
                         builder.getStringAttr(makeName(name + suffix)),
                         use.get(), /*after=*/ValueRange(),
                         /*ahead=*/IntegerAttr(), phase));
  return true;
}

LogicalResult Offloader::follow(OpOperand &use, StringRef name) {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  auto refuse = [&]() -> LogicalResult {
    return user->emitOpError("hands on '")
           << name
           << "' from iteration to iteration, which cannot be on the "
              "host";
  };
  if (auto yield = dyn_cast<YieldOp>(user)) {
    unsigned numCarries = yield.getCarries().size();
    auto repeat = cast<RepeatOp>(yield->getParentOp());
    return number < numCarries ? refuse()
                               : move(repeat.getResult(number), name);
  }
  if (auto repeat = dyn_cast<RepeatOp>(user)) {
    if (number >= repeat.getInits().size())
      return move(repeat.getBody().getArgument(number), name);
    return loadInit(use, name) ? success() : refuse();
  }
  if (auto returned = dyn_cast<ReturnOp>(user))
    return moveReturned(cast<FuncOp>(returned->getParentOp()), number, name);
  if (auto call = dyn_cast<CallOpInterface>(user)) {
    for (FlatSymbolRefAttr callee : getCallees(call))
      if (failed(moveArguments(callee, number, name)))
        return failure();
    return success();
  }
  if (auto schedule = dyn_cast<ScheduleOp>(user))
    return move(schedule.getBody().getArgument(
                    number / static_cast<unsigned>(schedule.getCount())),
                name);
  return success(); // A node, which gets a load.
}

/// All values that are the buffers of this one.
LogicalResult Offloader::follow(Value value) {
  std::string name = moved[value].second;
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
    if (failed(follow(use, name)))
      return failure();
  return success();
}

void Offloader::setFunctionTypes() {
  graph.walk([&](FuncOp function) {
    SmallVector<Type> results(function.getResultTypes());
    for (auto [type, value] :
         llvm::zip_equal(results, function.getReturn().getValues()))
      if (isOnHost(value.getType()))
        type = value.getType();
    function.setType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), results));
  });
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

bool Offloader::areSame(ValueRange values, unsigned left, unsigned right) {
  return areSame(values[left], values[right]);
}

/// True for two ways that one buffer went, such as two stacks in which loops
/// save it.
bool Offloader::areSame(Value left, Value right) {
  if (left == right)
    return true;
  auto leftArg = dyn_cast<BlockArgument>(left);
  auto rightArg = dyn_cast<BlockArgument>(right);
  if (!leftArg || !rightArg) {
    Operation *op = left.getDefiningOp();
    if (!op || op != right.getDefiningOp())
      return false;
    unsigned own = cast<OpResult>(left).getResultNumber();
    unsigned other = cast<OpResult>(right).getResultNumber();
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return std::min(own, other) >= repeat.getInits().size() &&
             areSame(repeat.getYield()->getOperands(), own, other);
    auto call = dyn_cast<CallOpInterface>(op);
    return call &&
           llvm::all_of(getCallees(call), [&](FlatSymbolRefAttr callee) {
             return areSame(lookUp(callee).getReturn().getValues(), own, other);
           });
  }
  if (leftArg.getOwner() != rightArg.getOwner())
    return false;
  unsigned own = leftArg.getArgNumber(), other = rightArg.getArgNumber();
  Operation *parent = leftArg.getOwner()->getParentOp();
  if (auto repeat = dyn_cast<RepeatOp>(parent))
    return std::min(own, other) >= repeat.getInits().size() &&
           areSame(repeat->getOperands(), own, other);
  if (auto schedule = dyn_cast<ScheduleOp>(parent)) {
    auto count = static_cast<unsigned>(schedule.getCount());
    return llvm::all_of(llvm::seq(count), [&](unsigned turn) {
      return areSame(schedule->getOperands(), own * count + turn,
                     other * count + turn);
    });
  }
  auto function = dyn_cast<FuncOp>(parent);
  return function && llvm::all_of(getCalls(function), [&](Operation *call) {
           return areSame(call->getOperands(), own, other);
         });
}

/// A buffer that comes in two ways is loaded once.
void Offloader::mergeSame() {
  DenseMap<std::pair<Block *, StringRef>, SmallVector<Value, 1>> known;
  for (auto &[value, origin] : moved) {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg)
      continue;
    SmallVector<Value, 1> &others = known[{arg.getOwner(), origin.second}];
    auto same =
        llvm::find_if(others, [&](Value other) { return areSame(other, arg); });
    if (same != others.end())
      arg.replaceAllUsesWith(*same);
    else
      others.push_back(arg);
  }
}

/// The result that is the buffer after the node has changed it, or null.
static Value getChanged(NodeOpInterface node, Value buffer) {
  for (OpResult result : node->getResults())
    if (node.getChangedBuffer(result.getResultNumber()) == buffer)
      return result;
  return {};
}

/// The block that a node reads a buffer for. What an iteration has is loaded in
/// it, once, for repeats inside of it, too, such as those of rings: how often
/// these iterate, if at all, may differ from rank to rank. What a node changes
/// is loaded and stored where it stands.
static Block *getReadingBlock(NodeOpInterface node, Value host) {
  Block *scope = host.getParentBlock();
  bool isOfIteration = isa<RepeatOp>(scope->getParentOp());
  return isOfIteration && !getChanged(node, host) ? scope : node->getBlock();
}

/// True if `lhs` stands before `rhs`, both in the block or in repeats in it.
static bool isBefore(Operation *lhs, Operation *rhs, Block *block) {
  while (lhs != rhs) {
    Operation *left = block->findAncestorOpInBlock(*lhs);
    Operation *right = block->findAncestorOpInBlock(*rhs);
    if (left != right)
      return left->isBeforeInBlock(right);
    block = &left->getRegion(0).front();
  }
  return false;
}

/// In the order of what reads first.
SmallVector<Readers> Offloader::collectReaders() {
  llvm::MapVector<Block *, SmallVector<Readers>> blocks;
  for (auto &[value, origin] : moved) {
    llvm::MapVector<std::pair<Block *, Attribute>, Readers> groups;
    llvm::SmallSetVector<Operation *, 4> users;
    for (OpOperand &use : value.getUses()) {
      auto node = dyn_cast<NodeOpInterface>(use.getOwner());
      if (node && !isa<LoadOp, StoreOp>(*node) &&
          use.getOperandNumber() < node.getBuffers().size())
        users.insert(node);
    }
    for (Operation *user : users) {
      auto node = cast<NodeOpInterface>(user);
      // The body of a repeat is of one pass, also where that replays.
      Block *block = getReadingBlock(node, value);
      bool isInRepeat = isa<RepeatOp>(block->getParentOp());
      Readers &readers = groups[{
          block, isInRepeat ? Attribute() : Attribute(node.getPhaseAttr())}];
      readers.block = block;
      readers.host = value;
      readers.nodes.push_back(node);
    }
    for (auto &[key, readers] : groups) {
      Block *block = key.first;
      llvm::sort(readers.nodes, [&](NodeOpInterface lhs, NodeOpInterface rhs) {
        return isBefore(lhs, rhs, block);
      });
      OperandRange operands = readers.nodes.front()->getOperands();
      readers.number = llvm::find(operands, value) - operands.begin();
      blocks[key.first].push_back(std::move(readers));
    }
  }
  SmallVector<Readers> all;
  for (auto &entry : blocks) {
    SmallVector<Readers> &groups = entry.second;
    llvm::sort(groups, [&](const Readers &lhs, const Readers &rhs) {
      Operation *left = lhs.nodes.front(), *right = rhs.nodes.front();
      return left == right ? lhs.number < rhs.number
                           : isBefore(left, right, entry.first);
    });
    llvm::append_range(all, groups);
  }
  return all;
}

/// How many iterations a node is issued ahead.
static unsigned getAhead(NodeOpInterface node) {
  auto coll = dyn_cast<CollOp>(*node);
  return coll ? coll.getAhead().value_or(0) : 0;
}

/// In a repeat the load is issued ahead; elsewhere at its first reader.
LoadOp Offloader::createLoad(Readers readers) {
  auto repeat = dyn_cast<RepeatOp>(readers.block->getParentOp());
  auto arg = dyn_cast<BlockArgument>(readers.host);
  bool isSlice = repeat && arg && arg.getOwner() == readers.block;
  bool isChanged = llvm::any_of(readers.nodes, [&](NodeOpInterface node) {
    return static_cast<bool>(getChanged(node, readers.host));
  });
  // What the iteration before changes cannot be loaded before that.
  bool isOutside = repeat && !isChanged &&
                   !repeat.getBody().isAncestor(readers.host.getParentRegion());
  unsigned distance = 0;
  for (NodeOpInterface node : readers.nodes)
    if (node->getBlock() == readers.block)
      distance = std::max(distance, getAhead(node));
  bool isAhead = (isSlice || isOutside) && ahead + distance > 0;
  if (isAhead) {
    // Behind the loads that are there, which are read earlier.
    auto place = readers.block->begin();
    while (isa<LoadOp>(*place))
      ++place;
    builder.setInsertionPoint(readers.block, place);
  } else {
    builder.setInsertionPoint(
        readers.block->findAncestorOpInBlock(*readers.nodes.front()));
  }
  const auto &[type, name] = moved[readers.host];
  StringAttr phase = readers.nodes.front().getPhaseAttr();
  std::string suffix = phase && !StringRef(name).contains("." + phase.str())
                           ? "." + phase.str() + ".load"
                           : ".load";
  return LoadOp::create(
      builder, readers.nodes.front().getLoc(), type,
      builder.getStringAttr(makeName(name + suffix)), readers.host,
      /*after=*/ValueRange(),
      isAhead ? builder.getI64IntegerAttr(ahead + distance) : IntegerAttr(),
      phase);
}

/// What has been changed on the device goes back, once nobody changes it
/// further.
LogicalResult Offloader::storeBack(Readers readers, Value current) {
  std::string name = moved[readers.host].second;
  NodeOpInterface last;
  for (bool isDone = false; !isDone;) {
    last = cast<NodeOpInterface>(current.getDefiningOp());
    isDone = true;
    for (Operation *user : current.getUsers()) {
      auto node = dyn_cast<NodeOpInterface>(user);
      if (!node || user->getBlock() != readers.block) {
        InFlightDiagnostic diag =
            last.emitOpError("changes '")
            << name
            << "', which is then used elsewhere: it cannot be on the "
               "host";
        diag.attachNote(user->getLoc()) << "used here";
        return diag;
      }
      if (Value changed = getChanged(node, current)) {
        current = changed;
        isDone = false;
        break;
      }
    }
  }
  builder.setInsertionPointAfter(last);
  StoreOp::create(builder, last.getLoc(), readers.host.getType(),
                  builder.getStringAttr(makeName(name + ".store")), current,
                  readers.host, /*after=*/ValueRange(), last.getPhaseAttr());
  return success();
}

LogicalResult Offloader::connect(Readers readers) {
  const auto &[type, name] = moved[readers.host];
  if (!isa<chakra::TensorType>(type))
    return readers.nodes.front()->emitOpError("reads all of '")
           << name << "' at once, of all iterations: it cannot be on the host";
  LoadOp load = createLoad(readers);
  Value current = load.getResult();
  for (NodeOpInterface node : readers.nodes) {
    Value changed = getChanged(node, readers.host);
    for (OpOperand &operand : node->getOpOperands())
      if (operand.get() == readers.host &&
          operand.getOperandNumber() < node.getBuffers().size())
        operand.set(current);
    if (changed)
      current = changed;
  }
  return current == load.getResult() ? success() : storeBack(readers, current);
}

LogicalResult Offloader::connect() {
  while (!pending.empty())
    if (failed(follow(pending.pop_back_val())))
      return failure();
  setFunctionTypes();
  mergeSame();
  for (const Readers &readers : collectReaders())
    if (failed(connect(readers)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// A simulator has one place for messages and transfers. A send of what has
/// long been there, as of saved keys in a ring, would hold it until the peer
/// receives, whose kernels may wait for a transfer. So it waits for its turn.
static void delaySends(GraphOp graph) {
  if (graph.walk([](LoadOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    graph.walk([](SendOp send) {
      Operation *before = send->getPrevNode();
      while (before && !isa<CompOp>(before))
        before = before->getPrevNode();
      if (before && before->getNumResults() != 0 &&
          !llvm::is_contained(send->getOperands(), before->getResult(0)))
        send.getAfterMutable().append(before->getResult(0));
    });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

FailureOr<size_t> Offloader::move(Offloaded kind) {
  switch (kind) {
  case Offloaded::Activations:
    return moveActivations();
  case Offloaded::Optimizer:
    return moveStates(Category::Optimizer);
  case Offloaded::Parameters:
    return moveStates(Category::Parameter);
  }
  llvm_unreachable("all kinds are above");
}

static std::optional<Offloaded> parseOffloaded(StringRef word) {
  return llvm::StringSwitch<std::optional<Offloaded>>(word)
      .Case("activations", Offloaded::Activations)
      .Case("optimizer", Offloaded::Optimizer)
      .Case("parameters", Offloaded::Parameters)
      .Default(std::nullopt);
}

static StringRef describe(Offloaded kind) {
  switch (kind) {
  case Offloaded::Activations:
    return "activations that layers save";
  case Offloaded::Optimizer:
    return "optimizer states";
  case Offloaded::Parameters:
    return "parameters";
  }
  llvm_unreachable("all kinds are above");
}

void Offload::runOnOperation() {
  ModuleOp module = getOperation();
  if (percent < 1 || percent > 100) {
    module.emitError("'percent' is from 1 to 100, found ")
        << percent.getValue();
    return signalPassFailure();
  }
  NamePatterns patterns("moves");
  if (llvm::Error error = patterns.read(saved)) {
    module.emitError(llvm::toString(std::move(error)));
    return signalPassFailure();
  }
  llvm::MapVector<Offloaded, size_t> counts;
  for (const std::string &word : what) {
    std::optional<Offloaded> kind = parseOffloaded(word);
    if (!kind) {
      module.emitError("cannot offload '")
          << word << "', expected activations, optimizer or parameters";
      return signalPassFailure();
    }
    counts[*kind] = 0;
  }
  for (auto graph : module.getOps<GraphOp>()) {
    Offloader offloader(graph, percent, ahead, patterns);
    for (auto &[kind, count] : counts) {
      FailureOr<size_t> number = offloader.move(kind);
      if (failed(number))
        return signalPassFailure();
      count += *number;
    }
    if (failed(offloader.connect()))
      return signalPassFailure();
    delaySends(graph);
  }
  if (llvm::Error error = patterns.checkUsed("layers' saved activations")) {
    module.emitError(llvm::toString(std::move(error)));
    return signalPassFailure();
  }
  for (auto [kind, count] : counts)
    if (count == 0) {
      module.emitError("nothing to offload: there are no ")
          << describe(kind) << (percent < 100 ? " as small as the part" : "");
      return signalPassFailure();
    }
}
