//===- States.cpp - Persistent buffers of a program -----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Persistent buffers are declared first, per scope: a repeat without nodes
// yields the states of its iterations as stacks, and every repeat of that name
// reads slices.
//
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "stg/Dialect/STG/IR/KeptParameters.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

/// The name of an op's own buffer: its parameter's name, or its own, and the
/// suffix. A cache has a name.
StringAttr GraphBuilder::getStateName(Operation *op, const StateBuffer &state) {
  if (state.kind == StateBuffer::Cache)
    return builder.getStringAttr(state.suffix);
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
  auto [it, isNew] = scope.states.insert({interned, {tensor, op->getLoc()}});
  if (isNew || it->second.type == tensor)
    return success();
  return op->emitOpError("needs the persistent buffer '")
         << name << "' with " << tensor.getBytes().str()
         << " bytes, elsewhere it has " << it->second.type.getBytes().str();
}

LogicalResult GraphBuilder::collectStates(Block &block, StateScope &scope) {
  for (Operation &op : block) {
    if (auto scan = dyn_cast<ScanOpInterface>(op)) {
      auto &inner = scope.repeats[getScopeKey(scan)];
      if (!inner)
        inner = std::make_unique<StateScope>();
      inner->name = scan.getScopeName();
      inner->first = scan.getFirst().value_or(SymExpr());
      if (inner->count && inner->count != scan.getCount())
        return scan->emitOpError("repeats ")
               << scan.getCount().str() << " times, another repeat named '"
               << inner->name << "' " << inner->count.str();
      inner->count = scan.getCount();
      if (failed(collectStates(scan.getLoopBlock(), *inner)))
        return failure();
    } else if (isa<LoopLikeOpInterface>(op)) {
      // No scope: all iterations have the same states.
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (failed(collectStates(inner, scope)))
            return failure();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      if (failed(collectStates(call, call.getCalleeAttr(), scope)))
        return failure();
    } else if (auto schedule = dyn_cast<ScheduleOp>(op)) {
      if (failed(collectStates(schedule, scope)))
        return failure();
    } else if (auto param = dyn_cast<ParamOp>(op)) {
      if (failed(addState(&op, scope, param.getParamName(), param.getType(),
                          isKept(param) ? Category::KVCache
                                        : Category::Parameter)))
        return failure();
    } else if (auto cost = dyn_cast<CostOpInterface>(op)) {
      for (const StateBuffer &state : cost.getStateBuffers())
        if (failed(addState(&op, scope, getStateName(&op, state), state.type,
                            state.kind == StateBuffer::Cache
                                ? Category::KVCache
                                : Category::Optimizer)))
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
    auto scan = dyn_cast<ScanOpInterface>(op);
    std::string inner =
        scan ? (path + getScopeKey(scan).getValue() + "/").str() : path;
    for (Region &region : op.getRegions())
      for (Block &body : region)
        collectUsedStates(body, inner, used);
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
  for (auto &[name, state] : scope.states)
    env[builder.getStringAttr(name)] =
        chakra::StateOp::create(builder, state.loc, state.type, name);
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
