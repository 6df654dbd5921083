//===- STGToChakra.cpp - From local programs to graphs --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the local program is one buffer or, where views cut and join it,
// several: each value maps to a list of chakra values, its pieces. The producer
// of a value that is split writes the parts; the readers of a joined value read
// them all. So views cost nothing, and a part can be kept while the rest is
// freed.
//
// Persistent buffers are declared first, per scope: a repeat without nodes
// yields the states of its iterations as stacks, and every repeat of that name
// reads slices.
//
//===----------------------------------------------------------------------===//

#include "stg/Conversion/STGToChakra/STGToChakra.h"
#include "MemoryCategories.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace stg {
#define GEN_PASS_DEF_CONVERTSTGTOCHAKRA
#include "stg/Conversion/STGToChakra/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;
using chakra::Category;

namespace {
using Pieces = SmallVector<Value, 1>;

/// The persistent buffers of a scope and of the repeats in it.
struct StateScope {
  StringRef name; ///< Of the repeat.
  SymExpr count;  ///< Null at the top.
  SymExpr first;  ///< The number of its first iteration; null: 0.
  llvm::MapVector<StringRef, chakra::TensorType> states;
  /// By name and first iteration: the layers of several stages are apart.
  llvm::MapVector<StringAttr, std::unique_ptr<StateScope>> repeats;
};

/// Buffers that are visible in a scope: those of the scope by name, those of a
/// repeat as stacks, by `repeat@first/name`.
using StateEnv = llvm::MapVector<StringAttr, Value>;

/// What the programs of one module share.
struct SharedTables {
  explicit SharedTables(ModuleOp module) : owners(module) {}

  SymbolTableCollection symbols;
  BufferOwners owners;
  /// The buffers of types, whose bytes are products.
  DenseMap<std::pair<SymTensorType, unsigned>, chakra::TensorType> buffers;
};

class GraphBuilder {
public:
  GraphBuilder(func::FuncOp function, MeshAttr mesh, SharedTables &tables)
      : function(function), mesh(mesh), tables(tables),
        builder(function.getContext()) {
    categories.push_back(
        std::make_unique<MemoryCategories>(function, tables.owners));
  }

  LogicalResult run();

private:
  // States.
  LogicalResult collectStates(Block &block, StateScope &scope);
  LogicalResult addState(Operation *op, StateScope &scope, StringRef name,
                         SymTensorType type, Category category);
  StateEnv declareStates(StateScope &scope);
  void collectUsedStates(Block &block, const Twine &prefix,
                         DenseSet<StringAttr> &used);
  SmallVector<std::pair<StringAttr, Value>>
  getUsedStates(Block &block, const Twine &prefix, const StateEnv &env);
  StringAttr getStateName(Operation *op, const StateBuffer &state);

  // Ops.
  LogicalResult convertBlock(Block &block, const StateEnv &env);
  LogicalResult convertOp(Operation *op, const StateEnv &env);
  LogicalResult convertCompute(CostOpInterface op, const StateEnv &env);
  LogicalResult convertView(Operation *op);
  LogicalResult convertCollective(Operation *op, chakra::CollKind kind,
                                  ArrayAttr axes, bool inPlace);
  bool isShardOfBuffer(Value value);
  LogicalResult convertRepeat(RepeatOp repeat, const StateEnv &env);
  LogicalResult convertCall(func::CallOp call, const StateEnv &env);
  FailureOr<chakra::FuncOp>
  convertCallee(func::CallOp call, func::FuncOp callee, const StateEnv &env);
  LogicalResult convertRing(Operation *op);
  LogicalResult convertSend(SendOp op);
  LogicalResult convertRecv(RecvOp op);
  LogicalResult convertFlat(Operation *op, chakra::CollKind kind,
                            ArrayAttr axes);
  LogicalResult convertGatherUpdated(GatherUpdatedOp op);
  bool isFused(AccumulateOp op);
  StringAttr getScopeKey(RepeatOp repeat) {
    std::string key = repeat.getRepeatName().str();
    if (repeat.getFirst())
      key += "@" + repeat.getFirst()->str();
    return builder.getStringAttr(key);
  }
  const MemoryCategories &getCategories() { return *categories.back(); }
  Value toOneBuffer(Operation *op, Value value, Category category);

  SmallVector<Type> getResultTypes(Value result);
  Type getType(Value value, SymTensorType type);
  chakra::TensorType getTensorType(SymTensorType type, Category category) {
    chakra::TensorType &buffer =
        tables.buffers[{type, static_cast<unsigned>(category)}];
    if (!buffer)
      buffer = chakra::TensorType::get(builder.getContext(), type.getNumBytes(),
                                       category);
    return buffer;
  }
  void appendPieces(Value value, SmallVectorImpl<Value> &pieces) {
    llvm::append_range(pieces, map[value]);
  }
  std::string makeName(Operation *op, StringRef suffix);

  func::FuncOp function;
  MeshAttr mesh;
  SharedTables &tables;
  /// Of the function and of the one that is being called.
  SmallVector<std::unique_ptr<MemoryCategories>, 2> categories;
  OpBuilder builder;
  DenseMap<Value, Pieces> map;
  std::string scopePath;
  llvm::StringMap<llvm::StringMap<unsigned>> names; ///< Uses, by scope.

  /// A function that has been converted, and the pieces of each of its results.
  struct Callee {
    chakra::FuncOp function;
    SmallVector<unsigned> results;
  };
  DenseMap<Operation *, Callee> callees;
  DenseSet<Operation *> statesOf; ///< Functions whose states are collected.
};

struct ConvertSTGToChakra
    : stg::impl::ConvertSTGToChakraBase<ConvertSTGToChakra> {
  using ConvertSTGToChakraBase::ConvertSTGToChakraBase;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static StringRef getPhaseName(Operation *op) {
  return stringifyPhase(getPhase(op));
}

/// A part of a decomposed op is told from the others by what it is, and what
/// moves or combines its values by that part.
static StringRef getRoleName(Operation *op, Role role) {
  auto isPart = [](Operation *other) {
    return other && getOrigin(other).role == Role::Part;
  };
  if (role != Role::Part)
    return stringifyRole(role);
  auto next = [](Operation *other, bool isUp) -> Operation * {
    if (isUp)
      return other->getOperand(0).getDefiningOp();
    return other->use_empty() ? nullptr : *other->user_begin();
  };
  for (bool isUp : {true, false}) {
    Operation *part = op;
    while (isPart(part) && !isa<CostOpInterface>(part))
      part = next(part, isUp);
    if (isPart(part))
      return part->getName().stripDialect();
  }
  return op->getName().stripDialect();
}

/// `NAME.PHASE[.ROLE][.SUFFIX]`, unique in its scope.
std::string GraphBuilder::makeName(Operation *op, StringRef suffix) {
  StringAttr own = getOrigin(op).name;
  auto repeat = dyn_cast<RepeatOp>(op);
  std::string name = (own      ? own.getValue()
                      : repeat ? repeat.getRepeatName()
                               : op->getName().stripDialect())
                         .str();
  name += ("." + getPhaseName(op)).str();
  if (std::optional<Role> role = getOrigin(op).role)
    name += ("." + getRoleName(op, *role)).str();
  if (!suffix.empty())
    name += ("." + suffix).str();
  if (unsigned number = names[scopePath][name]++)
    name += "." + std::to_string(number);
  return name;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The name of an op's own buffer: its parameter's name, or its own, and the
/// suffix.
StringAttr GraphBuilder::getStateName(Operation *op, const StateBuffer &state) {
  StringRef name = op->getName().stripDialect();
  if (StringAttr own = getOrigin(op).name)
    name = own.getValue();
  for (Value operand : op->getOperands())
    if (auto param = operand.getDefiningOp<ParamOp>())
      name = param.getParamName();
  return builder.getStringAttr(name + "." + state.suffix);
}

LogicalResult GraphBuilder::addState(Operation *op, StateScope &scope,
                                     StringRef name, SymTensorType type,
                                     Category category) {
  chakra::TensorType tensor = getTensorType(type, category);
  StringRef interned = builder.getStringAttr(name).getValue();
  auto [it, isNew] = scope.states.try_emplace(interned, tensor);
  if (isNew || it->second == tensor)
    return success();
  return op->emitOpError("needs the persistent buffer '")
         << name << "' with " << tensor.getBytes().str()
         << " bytes, elsewhere it has " << it->second.getBytes().str();
}

LogicalResult GraphBuilder::collectStates(Block &block, StateScope &scope) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      auto &inner = scope.repeats[getScopeKey(repeat)];
      if (!inner)
        inner = std::make_unique<StateScope>();
      inner->name = repeat.getRepeatName();
      inner->first = repeat.getFirst().value_or(SymExpr());
      if (inner->count && inner->count != repeat.getCount())
        return repeat.emitOpError("repeats ")
               << repeat.getCount().str() << " times, another repeat named '"
               << repeat.getRepeatName() << "' " << inner->count.str();
      inner->count = repeat.getCount();
      if (failed(collectStates(repeat.getBody().front(), *inner)))
        return failure();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = tables.symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (callee && !callee.isExternal() && statesOf.insert(callee).second &&
          failed(collectStates(callee.getBody().front(), scope)))
        return failure();
    } else if (auto param = dyn_cast<ParamOp>(op)) {
      if (failed(addState(&op, scope, param.getParamName(), param.getType(),
                          Category::Parameter)))
        return failure();
    } else if (auto cost = dyn_cast<CostOpInterface>(op)) {
      for (const StateBuffer &state : cost.getStateBuffers())
        if (failed(addState(&op, scope, getStateName(&op, state), state.type,
                            Category::Optimizer)))
          return failure();
    }
  }
  return success();
}

/// The persistent buffers that the ops of a block read or update, as paths of
/// the scope around it.
void GraphBuilder::collectUsedStates(Block &block, const Twine &prefix,
                                     DenseSet<StringAttr> &used) {
  std::string path = prefix.str();
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op))
      collectUsedStates(repeat.getBody().front(),
                        path + getScopeKey(repeat).getValue() + "/", used);
    if (auto param = dyn_cast<ParamOp>(op))
      used.insert(builder.getStringAttr(path + param.getParamName()));
    if (auto cost = dyn_cast<CostOpInterface>(op))
      for (const StateBuffer &state : cost.getStateBuffers())
        used.insert(
            builder.getStringAttr(path + getStateName(&op, state).getValue()));
  }
}

/// The buffers of `env` that the ops of a block use, few of all, in the order
/// in which they were declared.
SmallVector<std::pair<StringAttr, Value>>
GraphBuilder::getUsedStates(Block &block, const Twine &prefix,
                            const StateEnv &env) {
  DenseSet<StringAttr> used;
  collectUsedStates(block, prefix, used);
  SmallVector<size_t> positions;
  for (StringAttr path : used)
    if (auto it = env.find(path); it != env.end())
      positions.push_back(it - env.begin());
  llvm::sort(positions);
  SmallVector<std::pair<StringAttr, Value>> states;
  for (size_t position : positions)
    states.push_back(env.begin()[position]);
  return states;
}

StateEnv GraphBuilder::declareStates(StateScope &scope) {
  StateEnv env;
  Location loc = function.getLoc();
  for (auto &[name, type] : scope.states)
    env[builder.getStringAttr(name)] =
        chakra::StateOp::create(builder, loc, type, name);
  for (auto &[key, inner] : scope.repeats) {
    Block body;
    StateEnv innerEnv;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&body);
      innerEnv = declareStates(*inner);
      SmallVector<Value> stacks;
      for (auto &[innerName, value] : innerEnv)
        stacks.push_back(value);
      if (stacks.empty())
        continue;
      chakra::YieldOp::create(builder, loc, ValueRange(), stacks);
    }
    SmallVector<Type> types;
    for (auto &[innerName, value] : innerEnv)
      types.push_back(chakra::StackType::get(value.getType(), inner->count));
    auto repeat =
        chakra::RepeatOp::create(builder, loc, inner->name, inner->count,
                                 ValueRange(), ValueRange(), types);
    if (inner->first)
      repeat.setFirstAttr(inner->first);
    Block &target = repeat.getBody().front();
    target.getOperations().clear();
    target.getOperations().splice(target.end(), body.getOperations());
    for (auto [entry, stack] :
         llvm::zip_equal(innerEnv, repeat.getStackResults()))
      env[builder.getStringAttr(key.getValue() + "/" +
                                entry.first.getValue())] = stack;
  }
  return env;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The buffer of a value; a stack for what a repeat stacks.
Type GraphBuilder::getType(Value value, SymTensorType type) {
  return getTensorType(type, getCategories().get(value));
}

/// The buffers that a node writes for a result: one, or its parts where it is
/// split. Splits in different ways cannot both be views.
SmallVector<Type> GraphBuilder::getResultTypes(Value result) {
  for (Operation *user : result.getUsers())
    if (auto split = dyn_cast<SplitOp>(user)) {
      SmallVector<Type> types;
      for (Value part : split.getResults())
        types.push_back(getType(part, cast<SymTensorType>(part.getType())));
      return types;
    }
  return {getType(result, cast<SymTensorType>(result.getType()))};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult GraphBuilder::convertCompute(CostOpInterface op,
                                           const StateEnv &env) {
  // A product that only adds to a gradient does so itself.
  AccumulateOp fused;
  if (op->getNumResults() == 1 && op->getResult(0).hasOneUse())
    fused = dyn_cast<AccumulateOp>(*op->getResult(0).user_begin());
  if (fused && !isFused(fused))
    fused = {};
  if (auto accumulate = dyn_cast<AccumulateOp>(op.getOperation()))
    if (isFused(accumulate)) // Converted with the product.
      return success();
  SmallVector<Value> inputs, updates;
  // Buffers that a result takes over come first among the updates.
  llvm::SmallDenseMap<unsigned, unsigned> overwritten; ///< Operand by result.
  SmallVector<unsigned> overwrittenOperands;
  for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
    if (auto operand = tables.owners.getOverwrittenOperand(op, i);
        operand && map[op->getOperand(*operand)].size() == 1) {
      overwritten[i] = updates.size();
      overwrittenOperands.push_back(*operand);
      appendPieces(op->getOperand(*operand), updates);
    }
  for (OpOperand &use : op->getOpOperands())
    if (!llvm::is_contained(overwrittenOperands, use.getOperandNumber()))
      appendPieces(use.get(), op.updatesOperand(use.getOperandNumber())
                                  ? updates
                                  : inputs);
  for (const StateBuffer &state : op.getStateBuffers())
    updates.push_back(env.lookup(getStateName(op, state)));
  if (fused) {
    overwritten[0] = updates.size();
    appendPieces(fused.getTotal(), updates);
  }
  // What an optimizer step makes is the parameter's buffer.
  if (op->getNumResults() == 1 && op.updatesOperand(0))
    overwritten[0] = 0;
  SmallVector<Type> types;
  SmallVector<unsigned> counts;
  for (OpResult result : op->getResults()) {
    if (overwritten.contains(result.getResultNumber())) {
      counts.push_back(0);
      continue;
    }
    SmallVector<Type> pieces = getResultTypes(result);
    counts.push_back(pieces.size());
    llvm::append_range(types, pieces);
  }
  OpCost cost = op.getCost();
  if (!cost.operations || !cost.bytes)
    return op.emitOpError("has a cost that is too large to be expressed");
  if (fused) {
    // The buffer is read, too; the sum is part of the product.
    cost.bytes =
        cost.bytes + cast<SymTensorType>(fused.getType()).getNumBytes();
  }
  auto comp = chakra::CompOp::create(builder, op.getLoc(), makeName(op, ""),
                                     inputs, cost.operations, cost.bytes, types,
                                     getPhaseName(op), updates);
  comp.setMatrix(cost.isMatrix);
  auto pieces = comp.getNewResults().begin();
  for (auto [result, count] : llvm::zip_equal(op->getResults(), counts))
    for (unsigned i = 0; i < count; ++i)
      map[result].push_back(*pieces++);
  for (auto [result, update] : overwritten)
    map[fused ? fused.getResult() : Value(op->getResult(result))] = {
        comp.getUpdatedResults()[update]};
  return success();
}

/// True if the product that makes the term can add it to the total: nobody else
/// reads it, and the total is there before.
bool GraphBuilder::isFused(AccumulateOp op) {
  Operation *product = op.getTerm().getDefiningOp();
  if (!isa_and_nonnull<EinsumOp, CastOp>(product) ||
      !op.getTerm().hasOneUse() || product->getBlock() != op->getBlock())
    return false;
  Operation *total = op.getTotal().getDefiningOp();
  return map[op.getTotal()].size() == 1 || !total ||
         (total->getBlock() == op->getBlock() &&
          total->isBeforeInBlock(product));
}

/// Parts of a value that its producer wrote as parts; of any other value, a
/// part is the whole of it.
static bool isSplitByProducer(SplitOp split, ArrayRef<Value> pieces) {
  return pieces.size() == split.getNumResults() &&
         llvm::all_of_zip(
             split.getResultTypes(), pieces, [](Type type, Value piece) {
               auto tensor = dyn_cast<chakra::TensorType>(piece.getType());
               return tensor && tensor.getBytes() ==
                                    cast<SymTensorType>(type).getNumBytes();
             });
}

LogicalResult GraphBuilder::convertView(Operation *op) {
  Pieces all;
  for (Value operand : op->getOperands())
    appendPieces(operand, all);
  auto split = dyn_cast<SplitOp>(op);
  bool byParts = split && isSplitByProducer(split, all);
  for (OpResult result : op->getResults())
    map[result] = byParts ? Pieces{all[result.getResultNumber()]} : all;
  return success();
}

/// The buffer that a collective makes of one piece of its operand: scaled like
/// the whole.
static FailureOr<Type> scalePiece(Type piece, SymTensorType from,
                                  SymTensorType to, Category category) {
  if (auto stack = dyn_cast<chakra::StackType>(piece)) {
    FailureOr<Type> element =
        scalePiece(stack.getElementType(), from, to, category);
    if (failed(element))
      return failure();
    return Type(chakra::StackType::get(*element, stack.getCount()));
  }
  SymExpr bytes = cast<chakra::TensorType>(piece).getBytes();
  if (bytes == from.getNumBytes())
    return Type(chakra::TensorType::get(piece.getContext(), to.getNumBytes(),
                                        category));
  SymExpr scaled = (bytes * to.getNumBytes()).exactDiv(from.getNumBytes());
  if (!scaled)
    return failure();
  return Type(chakra::TensorType::get(piece.getContext(), scaled, category));
}

/// `value` as one buffer of its own size, of category `category`, for `op`:
/// constants are filled in, joined values and views of a larger buffer copied.
Value GraphBuilder::toOneBuffer(Operation *op, Value value, Category category) {
  auto type = cast<SymTensorType>(value.getType());
  Pieces pieces = map[value];
  auto tensor = pieces.size() == 1
                    ? dyn_cast<chakra::TensorType>(pieces[0].getType())
                    : chakra::TensorType();
  if (tensor && tensor.getBytes() == type.getNumBytes())
    return pieces[0];
  SymExpr zero = SymExpr::get(builder.getContext(), 0);
  SymExpr bytes = type.getNumBytes() * (pieces.empty() ? 1 : 2);
  auto comp = chakra::CompOp::create(
      builder, op->getLoc(), makeName(op, pieces.empty() ? "fill" : "copy"),
      pieces, zero, bytes, TypeRange(getTensorType(type, category)),
      getPhaseName(op), ValueRange());
  return comp.getNewResults().front();
}

/// True for a shard that is a part, in one piece, of the buffer that it has
/// been scattered in.
bool GraphBuilder::isShardOfBuffer(Value value) {
  auto scatter = value.getDefiningOp<FlatReduceScatterOp>();
  return scatter && tables.owners.isInPlace(scatter);
}

LogicalResult GraphBuilder::convertCollective(Operation *op,
                                              chakra::CollKind kind,
                                              ArrayAttr axes, bool inPlace) {
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<Value> resultOf;
  // Buffers say more than what is exchanged of them.
  SymExpr payload;
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return isShardOfBuffer(operand); }))
    payload = SymExpr::get(builder.getContext(), 0);
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    // What is sent lies in one piece: a slice of a larger buffer is copied out
    // of it.
    Pieces pieces = map[operand];
    if (payload)
      payload = payload + cast<SymTensorType>(operand.getType()).getNumBytes();
    if (!isShardOfBuffer(operand) && pieces.size() == 1 &&
        isa<chakra::TensorType>(pieces[0].getType()))
      pieces = {toOneBuffer(op, operand, Category::Communication)};
    for (Value piece : pieces) {
      FailureOr<Type> type =
          inPlace ? FailureOr<Type>(piece.getType())
                  : scalePiece(piece.getType(),
                               cast<SymTensorType>(operand.getType()),
                               cast<SymTensorType>(result.getType()),
                               getCategories().get(result));
      if (failed(type))
        return op->emitOpError("has an operand of ")
               << cast<SymTensorType>(operand.getType()).getNumBytes().str()
               << " bytes, which cannot be scaled to its result";
      inputs.push_back(piece);
      types.push_back(*type);
      resultOf.push_back(result);
    }
  }
  if (inputs.empty()) {
    for (Value result : op->getResults())
      map[result] = {};
    return success();
  }
  auto coll = chakra::CollOp::create(
      builder, op->getLoc(), kind,
      makeName(op, chakra::stringifyCollKind(kind)), inputs, axes, types,
      inPlace, getPhaseName(op), ValueRange(), payload);
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    coll.setAmongAttr(reduce.getAmongAttr());
  if (auto exchange = dyn_cast<AllToAllOp>(op))
    coll.setPayloadAttr(exchange.getPayloadAttr());
  for (auto [result, piece] : llvm::zip_equal(resultOf, coll.getResults()))
    map[result].push_back(piece);
  return success();
}

/// Flat shards are padded, so the payload is said: that of the shards for a
/// gather, in the type that they are gathered in, of whole padded tensors for a
/// scatter.
LogicalResult GraphBuilder::convertFlat(Operation *op, chakra::CollKind kind,
                                        ArrayAttr axes) {
  SymExpr shards = SymExpr::get(builder.getContext(), 0);
  bool inPlace = tables.owners.isInPlace(op);
  bool isGather = kind == chakra::CollKind::AllGather;
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperandTypes(), op->getResultTypes())) {
    auto made = cast<SymTensorType>(result);
    if (isGather)
      made =
          cast<SymTensorType>(operand).withElementType(made.getElementType());
    shards = shards + made.getNumBytes();
  }
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    Pieces pieces = map[operand];
    if (pieces.size() != 1)
      return op->emitOpError("has an operand that is not one buffer");
    inputs.push_back(pieces.front());
    if (inPlace) {
      types.push_back(pieces.front().getType());
      continue;
    }
    // A stack stays one: its tensors are divided one by one.
    auto stack = dyn_cast<chakra::StackType>(pieces.front().getType());
    auto type = cast<SymTensorType>(result.getType());
    Category category = getCategories().get(result);
    if (!stack) {
      types.push_back(getTensorType(type, category));
      continue;
    }
    SmallVector<SymExpr> counts;
    Type inner = stack;
    while (auto next = dyn_cast<chakra::StackType>(inner)) {
      counts.push_back(next.getCount());
      type = type.getSlice();
      inner = next.getElementType();
    }
    Type made = getTensorType(type, category);
    for (SymExpr count : llvm::reverse(counts))
      made = chakra::StackType::get(made, count);
    types.push_back(made);
  }
  SymExpr payload = isGather ? shards : shards * mesh.getGroupSize(axes);
  auto coll = chakra::CollOp::create(
      builder, op->getLoc(), kind,
      makeName(op, chakra::stringifyCollKind(kind)), inputs, axes, types,
      inPlace, getPhaseName(op), ValueRange(), payload);
  if (auto gather = dyn_cast<FlatAllGatherOp>(op))
    coll.setAheadAttr(gather.getAheadAttr());
  for (auto [result, made] :
       llvm::zip_equal(op->getResults(), coll.getResults()))
    map[result] = {made};
  return success();
}

/// Nothing but the buffers of the parameters is touched.
LogicalResult GraphBuilder::convertGatherUpdated(GatherUpdatedOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    appendPieces(input, inputs);
  chakra::CollOp::create(builder, op.getLoc(), chakra::CollKind::AllGather,
                         makeName(op, "all_gather"), inputs, op.getAxes(),
                         ValueRange(inputs).getTypes(), /*inPlace=*/true,
                         getPhaseName(op), ValueRange(), op.getPayload());
  return success();
}

//===----------------------------------------------------------------------===//
// Ring attention
//===----------------------------------------------------------------------===//

namespace {
/// Ring attention as nodes. In each step keys and values go on to the next
/// device while the block of those that are here is computed. Forward begins
/// with the device's own block and then has those of the devices before it, the
/// nearest first. Backward goes the other way, begins with the block that
/// forward ended with and ends with the own one; the gradients of keys and
/// values follow one step behind.
///
/// Where queries are those of one range, a causal mask hides the blocks of
/// later ranges. They are passed on all the same, but not computed.
class RingBuilder {
public:
  RingBuilder(OpBuilder &builder, Operation *op, StringRef name, StringRef axis,
              SymExpr size, function_ref<Value(Value)> getBuffer)
      : builder(builder), op(op), name(name), axis(axis), size(size),
        range(op->getAttrOfType<SymExpr>("range")) {
    for (Value operand : op->getOperands())
      buffers.push_back(getBuffer(operand));
  }

  /// The buffers of the results.
  SmallVector<Value> build(TypeRange resultTypes) {
    return isBackward() ? buildBackward(resultTypes)
                        : buildForward(resultTypes);
  }

private:
  using Values = SmallVector<Value, 5>;

  SmallVector<Value> buildForward(TypeRange resultTypes);
  SmallVector<Value> buildBackward(TypeRange resultTypes);

  Values pass(ArrayRef<Value> values, StringRef what, int64_t channel);
  Values passKeys(ArrayRef<Value> keys, StringRef what);
  Values passGradients(ArrayRef<Value> made, StringRef what);
  chakra::CompOp compute(ArrayRef<Value> keys, ArrayRef<Value> updates,
                         SymExpr pairs, StringRef suffix, TypeRange newTypes);
  void repeat(StringRef suffix, SymExpr count, Values &keys, Values &made,
              function_ref<void(Values &, Values &)> buildStep);
  void repeatMiddle(bool isHidden, Values &keys, Values &made);

  bool isBackward() const { return isa<AttentionGradOp>(op); }
  SymExpr getBlockPairs(bool isOwn);
  SymExpr getNumVisible();
  SymExpr seesFarthest();

  OpBuilder &builder;
  Operation *op;
  std::string name;
  StringRef axis;
  SymExpr size;
  SymExpr range;  ///< The number of the queries' range; null: none.
  Values buffers; ///< Of the operands: queries, keys, values, others.
};
} // namespace

/// The pairs of the device's queries with one block of keys: its own, half of
/// which a causal mask hides but for the diagonal, or another's, of which
/// balanced queries see half.
SymExpr RingBuilder::getBlockPairs(bool isOwn) {
  SymExpr queries =
      cast<SymTensorType>(op->getOperand(0).getType()).getShape()[1];
  bool isBalanced = op->hasAttr("balanced");
  if (isOwn && (isBalanced || range))
    return (queries * (queries + 1)).exactDiv(2);
  if (isBalanced)
    return (queries * queries).exactDiv(2);
  return queries * queries;
}

/// Of the steps between the first and the last, those whose block is seen: as
/// many as there are ranges before the own one.
SymExpr RingBuilder::getNumVisible() {
  if (!range)
    return size - 2;
  return SymExpr::getFunction(SymFunc::Min, {range, size - 2});
}

/// 1 if the block that goes the longest way is seen, as all are by the last
/// range, else 0.
SymExpr RingBuilder::seesFarthest() {
  SymExpr one = SymExpr::get(op->getContext(), 1);
  if (!range)
    return one;
  return SymExpr::getFunction(SymFunc::Max, {range - size + 2, one - 1});
}

RingBuilder::Values RingBuilder::pass(ArrayRef<Value> values, StringRef what,
                                      int64_t channel) {
  // Backward turns the ring around.
  int64_t shift = isBackward() ? -1 : 1;
  auto attr = [&](StringRef text) { return builder.getStringAttr(text); };
  std::string message = (name + "." + what).str();
  chakra::SendOp::create(
      builder, op->getLoc(), attr(message + ".send"), values, ValueRange(),
      attr(axis), builder.getI64IntegerAttr(shift),
      builder.getI64IntegerAttr(channel), attr(getPhaseName(op)));
  auto recv = chakra::RecvOp::create(
      builder, op->getLoc(), ValueRange(values).getTypes(),
      attr(message + ".recv"), ValueRange(), attr(axis),
      builder.getI64IntegerAttr(-shift), builder.getI64IntegerAttr(channel),
      attr(getPhaseName(op)));
  return Values(recv.getResults());
}

RingBuilder::Values RingBuilder::passKeys(ArrayRef<Value> keys,
                                          StringRef what) {
  // Apart from pipelines' channels, one for each kind of message.
  return pass(keys, what, 1000000 + (isBackward() ? 1 : 0));
}

/// In backward gradients of keys and values travel; those of queries stay.
RingBuilder::Values RingBuilder::passGradients(ArrayRef<Value> made,
                                               StringRef what) {
  Values result(made);
  Values moved = pass(made.drop_front(), what, /*channel=*/1000002);
  llvm::copy(moved, result.begin() + 1);
  return result;
}

chakra::CompOp RingBuilder::compute(ArrayRef<Value> keys,
                                    ArrayRef<Value> updates, SymExpr pairs,
                                    StringRef suffix, TypeRange newTypes) {
  Values inputs{buffers[0]};
  llvm::append_range(inputs, keys);
  llvm::append_range(inputs, ArrayRef<Value>(buffers).drop_front(3));
  auto comp = chakra::CompOp::create(
      builder, op->getLoc(), (name + "." + suffix).str(), inputs,
      getAttentionOperations(op, pairs), getOperandAndResultBytes(op), newTypes,
      getPhaseName(op), updates);
  comp.setMatrix(true);
  return comp;
}

/// So many steps, which replace `keys` and `made`.
void RingBuilder::repeat(StringRef suffix, SymExpr count, Values &keys,
                         Values &made,
                         function_ref<void(Values &, Values &)> buildStep) {
  size_t numKeys = keys.size();
  Values carried(keys);
  llvm::append_range(carried, made);
  auto loop =
      chakra::RepeatOp::create(builder, op->getLoc(), (name + suffix).str(),
                               count, carried, ValueRange(), TypeRange());
  auto split = [&](ValueRange values) {
    keys = Values(values.take_front(numKeys));
    made = Values(values.drop_front(numKeys));
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &body = loop.getBody().front();
    body.getOperations().clear();
    builder.setInsertionPointToStart(&body);
    split(body.getArguments());
    buildStep(keys, made);
    llvm::append_range(keys, made);
    chakra::YieldOp::create(builder, op->getLoc(), keys, ValueRange());
  }
  split(loop.getCarryResults());
}

/// The steps between the first and the last whose block is hidden, or seen.
void RingBuilder::repeatMiddle(bool isHidden, Values &keys, Values &made) {
  SymExpr visible = getNumVisible();
  repeat(isHidden ? ".hidden" : ".ring",
         isHidden ? size - 2 - visible : visible, keys, made,
         [&](Values &keys, Values &made) {
           Values here = keys;
           keys = passKeys(here, "keys");
           if (isBackward())
             made = passGradients(made, "gradients");
           if (!isHidden)
             made = Values(compute(here, made, getBlockPairs(/*isOwn=*/false),
                                   "block", {})
                               .getResults());
         });
}

SmallVector<Value> RingBuilder::buildForward(TypeRange resultTypes) {
  Values here{buffers[1], buffers[2]};
  Values keys = passKeys(here, "first");
  Values made(
      compute(here, {}, getBlockPairs(/*isOwn=*/true), "own", resultTypes)
          .getResults());
  repeatMiddle(/*isHidden=*/false, keys, made);
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  auto computeLast = [&](Values &keys, Values &made) {
    made =
        Values(compute(keys, made, getBlockPairs(/*isOwn=*/false), "last", {})
                   .getResults());
  };
  if (range)
    repeat(".farthest", seesFarthest(), keys, made, computeLast);
  else
    computeLast(keys, made);
  return SmallVector<Value>(made.begin(), made.end());
}

SmallVector<Value> RingBuilder::buildBackward(TypeRange resultTypes) {
  Values here{buffers[1], buffers[2]};
  Values keys = passKeys(here, "first");
  chakra::CompOp first = compute(here, {}, getBlockPairs(/*isOwn=*/false),
                                 "farthest", resultTypes);
  if (range) {
    // Where the block is hidden the gradients are set to zero.
    SymExpr written = SymExpr::get(op->getContext(), 0);
    for (Type type : resultTypes)
      written = written + cast<chakra::TensorType>(type).getBytes();
    SymExpr isSeen = seesFarthest();
    first.setOpsAttr(first.getOps() * isSeen);
    first.setBytesAttr(written + (first.getBytes() - written) * isSeen);
  }
  Values made(first.getResults());
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  repeatMiddle(/*isHidden=*/false, keys, made);
  made = passGradients(made, "last");
  return SmallVector<Value>(
      compute(keys, made, getBlockPairs(/*isOwn=*/true), "own", {})
          .getResults());
}

LogicalResult GraphBuilder::convertRing(Operation *op) {
  auto axes = op->getAttrOfType<ArrayAttr>("ring");
  if (axes.size() != 1)
    return op->emitOpError("goes around more than one axis");
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(getType(result, cast<SymTensorType>(result.getType())));
  RingBuilder ring(builder, op, makeName(op, ""),
                   cast<StringAttr>(axes[0]).getValue(),
                   mesh.getGroupSize(axes), [&](Value operand) {
                     return toOneBuffer(op, operand, Category::Temporary);
                   });
  for (auto [result, made] :
       llvm::zip_equal(op->getResults(), ring.build(types)))
    map[result] = {made};
  return success();
}

LogicalResult GraphBuilder::convertSend(SendOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    Pieces pieces = map[input];
    if (pieces.size() == 1 && isa<chakra::TensorType>(pieces[0].getType()))
      pieces = {toOneBuffer(op, input, Category::Communication)};
    llvm::append_range(inputs, pieces);
  }
  chakra::SendOp::create(
      builder, op.getLoc(), builder.getStringAttr(makeName(op, "send")), inputs,
      ValueRange(), op.getAxisAttr(), op.getShiftAttr(), op.getChannelAttr(),
      builder.getStringAttr(getPhaseName(op)));
  return success();
}

LogicalResult GraphBuilder::convertRecv(RecvOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(getType(result, cast<SymTensorType>(result.getType())));
  auto recv = chakra::RecvOp::create(
      builder, op.getLoc(), types, builder.getStringAttr(makeName(op, "recv")),
      ValueRange(), op.getAxisAttr(), op.getShiftAttr(), op.getChannelAttr(),
      builder.getStringAttr(getPhaseName(op)));
  for (auto [result, made] :
       llvm::zip_equal(op.getResults(), recv.getResults()))
    map[result] = {made};
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Converts a function for its first call; the arguments have the pieces of the
/// operands.
FailureOr<chakra::FuncOp> GraphBuilder::convertCallee(func::CallOp call,
                                                      func::FuncOp callee,
                                                      const StateEnv &env) {
  Block &body = callee.getBody().front();
  SmallVector<Type> argTypes;
  for (Value operand : call.getOperands())
    for (Value piece : map[operand])
      argTypes.push_back(piece.getType());
  OpBuilder::InsertionGuard guard(builder);
  // Before the first call, behind the states.
  auto function = chakra::FuncOp::create(
      builder, callee.getLoc(), callee.getSymName(), argTypes, TypeRange());
  Block &entry = function.getBody().front();
  auto next = entry.args_begin();
  for (auto [operand, arg] :
       llvm::zip_equal(call.getOperands(), body.getArguments())) {
    Pieces pieces;
    for (size_t i = 0, e = map[operand].size(); i < e; ++i)
      pieces.push_back(*next++);
    map[arg] = pieces;
  }
  builder.setInsertionPointToEnd(&entry);
  std::string outerPath = scopePath;
  // The nodes of a variant have the names of those of the others.
  auto task = callee->getAttrOfType<TaskAttr>(STGDialect::kTaskAttr);
  if (task && task.getVariant())
    scopePath += ("@" + callee.getSymName() + "/").str();
  categories.push_back(
      std::make_unique<MemoryCategories>(callee, tables.owners));
  LogicalResult converted = convertBlock(body, env);
  categories.pop_back();
  scopePath = outerPath;
  if (failed(converted))
    return failure();
  SmallVector<Value> results;
  Callee &entryOf = callees[callee];
  for (Value value : body.getTerminator()->getOperands()) {
    entryOf.results.push_back(map[value].size());
    appendPieces(value, results);
  }
  chakra::ReturnOp::create(builder, callee.getLoc(), results);
  function.setResultTypesAttr(
      builder.getTypeArrayAttr(ValueRange(results).getTypes()));
  entryOf.function = function;
  return function;
}

LogicalResult GraphBuilder::convertCall(func::CallOp call,
                                        const StateEnv &env) {
  auto callee = tables.symbols.lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.isPrivate())
    return call.emitOpError("calls '")
           << call.getCallee() << "', which is not a private function with a "
           << "body";
  if (!callees.contains(callee) && failed(convertCallee(call, callee, env)))
    return failure();
  const Callee &converted = callees[callee];
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    appendPieces(operand, operands);
  auto scope = call->getAttrOfType<StringAttr>(STGDialect::kScopeAttr);
  chakra::FuncOp function = converted.function;
  SmallVector<Type> types(
      function.getResultTypes().getAsValueRange<TypeAttr>());
  auto op = chakra::CallOp::create(
      builder, call.getLoc(), types,
      FlatSymbolRefAttr::get(function.getSymNameAttr()), operands,
      scope ? scope : builder.getStringAttr(""));
  auto next = op.getResults().begin();
  for (auto [result, count] :
       llvm::zip_equal(call.getResults(), converted.results)) {
    map[result] = {};
    for (unsigned i = 0; i < count; ++i)
      map[result].push_back(*next++);
  }
  return success();
}

/// Carried values are one buffer each. The body is converted before the op is
/// made, because only then the stacked buffers are known.
LogicalResult GraphBuilder::convertRepeat(RepeatOp repeat,
                                          const StateEnv &env) {
  Location loc = repeat.getLoc();
  std::string prefix = getScopeKey(repeat).str() + "/";
  SmallVector<Value> inits, slices;
  Block body;
  StateEnv inner;
  for (auto [init, arg] :
       llvm::zip_equal(repeat.getInits(), repeat.getCarriedArgs())) {
    inits.push_back(toOneBuffer(repeat, init, getCategories().get(arg)));
    map[arg] = {body.addArgument(inits.back().getType(), loc)};
  }
  auto addSlice = [&](Value stack) {
    slices.push_back(stack);
    return body.addArgument(
        cast<chakra::StackType>(stack.getType()).getElementType(), loc);
  };
  for (auto [stack, arg] :
       llvm::zip_equal(repeat.getStacks(), repeat.getSliceArgs())) {
    Pieces pieces;
    for (Value piece : map[stack]) {
      if (!isa<chakra::StackType>(piece.getType()))
        return repeat.emitOpError("reads slices of a value that no repeat has "
                                  "stacked");
      pieces.push_back(addSlice(piece));
    }
    map[arg] = pieces;
  }
  for (auto [path, value] :
       getUsedStates(repeat.getBody().front(), prefix, env))
    inner[builder.getStringAttr(path.getValue().drop_front(prefix.size()))] =
        addSlice(value);

  SmallVector<Value> carried, stacked;
  SmallVector<std::pair<Value, unsigned>> stackedPieces;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body);
    std::string outerPath = scopePath;
    scopePath += prefix;
    if (failed(convertBlock(repeat.getBody().front(), inner)))
      return failure();
    scopePath = outerPath;
    for (auto [number, value] :
         llvm::enumerate(repeat.getYield().getValues())) {
      if (number >= repeat.getNumCarried()) {
        appendPieces(value, stacked);
        stackedPieces.emplace_back(repeat.getResult(number), map[value].size());
      } else {
        carried.push_back(
            toOneBuffer(repeat, value,
                        getCategories().get(repeat.getCarriedArgs()[number])));
      }
    }
    chakra::YieldOp::create(builder, loc, carried, stacked);
  }
  SmallVector<Type> types;
  for (Value value : stacked)
    types.push_back(chakra::StackType::get(value.getType(), repeat.getCount()));
  auto op = chakra::RepeatOp::create(builder, loc, repeat.getRepeatName(),
                                     repeat.getCount(), inits, slices, types,
                                     repeat.getReverse());
  if (repeat.getFirst())
    op.setFirstAttr(*repeat.getFirst());
  Block &target = op.getBody().front();
  target.getOperations().clear();
  for (auto [from, to] :
       llvm::zip_equal(body.getArguments(), target.getArguments()))
    from.replaceAllUsesWith(to);
  target.getOperations().splice(target.end(), body.getOperations());
  for (auto [result, piece] :
       llvm::zip_equal(repeat.getCarriedResults(), op.getCarryResults()))
    map[result] = {piece};
  auto pieces = op.getStackResults().begin();
  for (auto [result, count] : stackedPieces) {
    map[result] = {};
    for (unsigned i = 0; i < count; ++i)
      map[result].push_back(*pieces++);
  }
  return success();
}

LogicalResult GraphBuilder::convertOp(Operation *op, const StateEnv &env) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return convertRepeat(repeat, env);
  if (auto param = dyn_cast<ParamOp>(op)) {
    map[param] = {env.lookup(param.getParamNameAttr())};
    return success();
  }
  if (isa<SplatOp>(op)) {
    map[op->getResult(0)] = {};
    return success();
  }
  if (isa<LocalSliceOp>(op))
    return convertView(op);
  if (isa<AttentionOp, AttentionGradOp>(op) && op->hasAttr("ring"))
    return convertRing(op);
  if (auto call = dyn_cast<func::CallOp>(op))
    return convertCall(call, env);
  if (auto send = dyn_cast<SendOp>(op))
    return convertSend(send);
  if (auto recv = dyn_cast<RecvOp>(op))
    return convertRecv(recv);
  if (auto gather = dyn_cast<FlatAllGatherOp>(op))
    return convertFlat(op, chakra::CollKind::AllGather, gather.getAxes());
  if (auto scatter = dyn_cast<FlatReduceScatterOp>(op))
    return convertFlat(op, chakra::CollKind::ReduceScatter, scatter.getAxes());
  if (auto gather = dyn_cast<GatherUpdatedOp>(op))
    return convertGatherUpdated(gather);
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return convertCollective(op, chakra::CollKind::AllReduce, reduce.getAxes(),
                             tables.owners.isInPlace(op));
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return convertCollective(op, chakra::CollKind::AllGather, gather.getAxes(),
                             /*inPlace=*/false);
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return convertCollective(op, chakra::CollKind::ReduceScatter,
                             scatter.getAxes(), /*inPlace=*/false);
  if (auto exchange = dyn_cast<AllToAllOp>(op))
    return convertCollective(op, chakra::CollKind::AllToAll, exchange.getAxes(),
                             /*inPlace=*/false);
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.isView() ? convertView(op) : convertCompute(cost, env);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  return op->emitOpError("has no cost; implement CostOpInterface");
}

LogicalResult GraphBuilder::convertBlock(Block &block, const StateEnv &env) {
  for (Operation &op : block)
    if (failed(convertOp(&op, env)))
      return failure();
  return success();
}

/// The program must be that of one device.
static LogicalResult checkLocal(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getResults()),
                             SmallVector<Value>(op->getOperands()))) {
      auto type = dyn_cast<SymTensorType>(value.getType());
      if (type && !type.getSharding())
        continue;
      if (type)
        op->emitOpError("has a sharded value of type ")
            << type << "; run --stg-insert-collectives first";
      else
        op->emitOpError("has a value of type ")
            << value.getType() << ", expected !stg.tensor";
      return WalkResult::interrupt();
    }
    if (isa<func::CallOp>(op) && !isa<func::FuncOp>(op->getParentOp())) {
      op->emitOpError("is a call inside of a repeat; run --inline first");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult GraphBuilder::run() {
  if (failed(checkLocal(function)))
    return failure();
  Block &body = function.getBody().front();
  StateScope states;
  if (failed(collectStates(body, states)))
    return failure();
  builder.setInsertionPoint(function);
  auto coordinates =
      function->getAttrOfType<CoordinatesAttr>(STGDialect::kCoordinatesAttr);
  auto graph = chakra::GraphOp::create(
      builder, function.getLoc(), function.getSymName(), mesh,
      coordinates ? coordinates.getDictionary() : DictionaryAttr());
  builder.setInsertionPointToStart(&graph.getBody().front());
  for (auto [number, arg] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<SymTensorType>(arg.getType());
    if (!type)
      return function.emitOpError("has an argument of type ")
             << arg.getType() << ", expected !stg.tensor";
    if (arg.use_empty())
      continue;
    auto own =
        function.getArgAttrOfType<StringAttr>(number, STGDialect::kNameAttr);
    std::string name = own ? own.str() : "arg" + std::to_string(number);
    map[arg] = {chakra::StateOp::create(
        builder, arg.getLoc(), getTensorType(type, Category::Input), name)};
  }
  StateEnv env = declareStates(states);
  return convertBlock(body, env);
}

void ConvertSTGToChakra::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal() &&
        function->hasAttr(STGDialect::kCoordinatesAttr))
      programs.push_back(function);
  // One program for all ranks, or one for each coordinate.
  if (programs.empty()) {
    func::FuncOp function = getProgram(module);
    if (!function)
      return signalPassFailure();
    programs.push_back(function);
  }
  MeshOp mesh = MeshOp::lookup(module);
  MeshAttr meshAttr =
      mesh ? mesh.getMesh() : MeshAttr::get(&getContext(), {}, {});
  SharedTables tables(module);
  for (func::FuncOp function : programs)
    if (failed(GraphBuilder(function, meshAttr, tables).run()))
      return signalPassFailure();
  // The graphs have the functions' names.
  for (auto other : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    other.erase();
  if (mesh)
    mesh.erase();
}
