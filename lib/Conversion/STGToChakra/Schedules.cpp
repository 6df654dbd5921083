//===- Schedules.cpp - Calls of tasks, once and for each micro-batch ------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function is converted for its first call. What a schedule executes is
// converted in the order in which it is first executed, so that functions and
// nodes have the order that they would have without loops.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Sym/IR/Schedules.h"
#include "GraphBuilder.h"

using namespace mlir;
using namespace stg;

/// Converts a function for its first call, with arguments of the pieces that
/// are passed.
LogicalResult GraphBuilder::convertCallee(func::FuncOp callee,
                                          ArrayRef<SmallVector<Type>> operands,
                                          const StateEnv &env) {
  Block &body = callee.getBody().front();
  SmallVector<Type> argTypes;
  for (ArrayRef<Type> types : operands)
    llvm::append_range(argTypes, types);
  OpBuilder::InsertionGuard guard(builder);
  // Before the first call, behind the states.
  auto function = chakra::FuncOp::create(
      builder, callee.getLoc(), callee.getSymName(), argTypes, TypeRange());
  Block &entry = function.getBody().front();
  auto next = entry.args_begin();
  for (auto [types, arg] : llvm::zip_equal(operands, body.getArguments())) {
    Pieces pieces;
    for (size_t i = 0, e = types.size(); i < e; ++i)
      pieces.push_back(*next++);
    map[arg] = pieces;
  }
  builder.setInsertionPointToEnd(&entry);
  std::string outerPath = scopePath;
  std::optional<Variant> outerVariant = variant;
  auto task = callee->getAttrOfType<TaskAttr>(STGDialect::kTaskAttr);
  if (task && task.getVariant()) {
    scopePath += ("@" + callee.getSymName() + "/").str();
    StringRef name = callee.getSymName().rsplit('.').first;
    variant = {outerPath, scopePath, &numbersOfTasks[(outerPath + name).str()]};
  }
  categories.push_back(
      std::make_unique<MemoryCategories>(callee, tables.owners));
  LogicalResult converted = convertBlock(body, env);
  categories.pop_back();
  variant = outerVariant;
  scopePath = outerPath;
  if (failed(converted))
    return failure();
  SmallVector<Value> results;
  Callee &own = callees[callee];
  for (Value value : body.getTerminator()->getOperands()) {
    SmallVector<Type> &types = own.results.emplace_back();
    for (Value piece : map[value])
      types.push_back(piece.getType());
    appendPieces(value, results);
  }
  chakra::ReturnOp::create(builder, callee.getLoc(), results);
  function.setType(
      builder.getFunctionType(argTypes, ValueRange(results).getTypes()));
  return success();
}

/// The function that an op calls.
func::FuncOp GraphBuilder::getCallee(Operation *call, FlatSymbolRefAttr name) {
  auto callee =
      tables.symbols.lookupNearestSymbolFrom<func::FuncOp>(call, name);
  if (callee && !callee.isExternal() && callee.isPrivate())
    return callee;
  call->emitOpError("calls '")
      << name.getValue() << "', which is not a private function with a body";
  return {};
}

SmallVector<SmallVector<Type>> GraphBuilder::getPieceTypes(ValueRange values) {
  SmallVector<SmallVector<Type>> types;
  for (Value value : values)
    types.push_back(
        llvm::map_to_vector(map[value], [](Value v) { return v.getType(); }));
  return types;
}

/// Gives pieces to values: as many of the next results as there are types.
static ResultRange::iterator mapResults(DenseMap<Value, Pieces> &map,
                                        ValueRange values,
                                        ArrayRef<SmallVector<Type>> types,
                                        ResultRange::iterator next) {
  for (auto [value, own] : llvm::zip_equal(values, types)) {
    Pieces pieces;
    for (size_t i = 0, e = own.size(); i < e; ++i)
      pieces.push_back(*next++);
    map[value] = pieces;
  }
  return next;
}

static SmallVector<Type> flatten(ArrayRef<SmallVector<Type>> types) {
  SmallVector<Type> all;
  for (ArrayRef<Type> own : types)
    llvm::append_range(all, own);
  return all;
}

LogicalResult GraphBuilder::convertCall(func::CallOp call,
                                        const StateEnv &env) {
  func::FuncOp callee = getCallee(call, call.getCalleeAttr());
  if (!callee)
    return failure();
  if (!callees.contains(callee) &&
      failed(convertCallee(callee, getPieceTypes(call.getOperands()), env)))
    return failure();
  createCall(call, callee);
  return success();
}

/// A call of a function that has been converted.
void GraphBuilder::createCall(func::CallOp call, func::FuncOp callee) {
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    appendPieces(operand, operands);
  const Callee &converted = callees[callee];
  auto scope = call->getAttrOfType<StringAttr>(STGDialect::kScopeAttr);
  auto op = chakra::CallOp::create(
      builder, call.getLoc(), flatten(converted.results),
      FlatSymbolRefAttr::get(callee.getSymNameAttr()), operands,
      scope ? scope : builder.getStringAttr(""));
  mapResults(map, call.getResults(), converted.results,
             op.getResults().begin());
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace stg {
/// Converts one schedule.
class GraphBuilder::ScheduleConverter {
public:
  ScheduleConverter(GraphBuilder &graph, ScheduleOp schedule,
                    const StateEnv &env)
      : graph(graph), builder(graph.builder), schedule(schedule), env(env) {}

  LogicalResult convert();

private:
  using Execution = detail::Execution<TurnCallOp>;
  using Types = SmallVector<SmallVector<Type>>;
  /// What an op has become: so many from the first on.
  struct Converted {
    bool isMade = false;
    uint32_t first = 0, count = 0;
    chakra::TurnCallOp adder;
  };

  LogicalResult convertInputs();
  LogicalResult execute(Execution &execution);
  LogicalResult convertCalleeOf(Execution &execution, func::FuncOp &callee);
  LogicalResult convertFirst(Execution &execution, func::FuncOp callee);
  void createTurnCall(TurnCallOp call, func::FuncOp callee, Converted &own);
  void createSchedule();
  OrderAttr getOrder();

  GraphBuilder &graph;
  OpBuilder &builder;
  ScheduleOp schedule;
  const StateEnv &env;
  Block body;
  SmallVector<Value> inputs;
  SmallVector<Converted> converted; ///< By op of the body.
  std::map<uint64_t, Types> totals; ///< By number: what is passed on.
};
} // namespace stg

/// Inputs are buffers, the same in all turns.
LogicalResult GraphBuilder::ScheduleConverter::convertInputs() {
  for (BlockArgument arg : schedule.getBody().getArguments()) {
    Type type;
    for (uint64_t turn = 0; turn < schedule.getCount(); ++turn) {
      const Pieces &pieces =
          graph.map[schedule.getInput(arg.getArgNumber(), turn)];
      if (pieces.size() != 1 || (type && pieces[0].getType() != type))
        return schedule.emitOpError("has an input that is not one buffer, of "
                                    "one size and category in all turns");
      type = pieces[0].getType();
      inputs.push_back(pieces[0]);
    }
    graph.map[arg] = {body.addArgument(type, arg.getLoc())};
  }
  return success();
}

/// Converts the function that is called, if this is its first call.
LogicalResult
GraphBuilder::ScheduleConverter::convertCalleeOf(Execution &execution,
                                                 func::FuncOp &callee) {
  auto call = dyn_cast<func::CallOp>(execution.op);
  if (!call && !execution.adder)
    return success();
  callee = graph.getCallee(execution.op,
                           call ? call.getCalleeAttr() : execution.getCallee());
  if (!callee)
    return failure();
  if (!graph.callees.contains(callee)) {
    Types operands = graph.getPieceTypes(execution.op->getOperands());
    if (execution.adder && !execution.isFirst)
      llvm::append_range(operands, totals[execution.adder.getTotal()]);
    if (failed(graph.convertCallee(callee, operands, env)))
      return failure();
  }
  if (execution.adder)
    totals[execution.adder.getTotal()] =
        llvm::to_vector(ArrayRef(graph.callees[callee].results)
                            .drop_front(execution.op->getNumResults()));
  return success();
}

void GraphBuilder::ScheduleConverter::createTurnCall(TurnCallOp call,
                                                     func::FuncOp callee,
                                                     Converted &own) {
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    graph.appendPieces(operand, operands);
  auto results =
      ArrayRef(graph.callees[callee].results).take_front(call.getNumResults());
  auto op = chakra::TurnCallOp::create(
      builder, call.getLoc(), flatten(results), call.getTotalAttr(),
      FlatSymbolRefAttr(), FlatSymbolRefAttr(), FlatSymbolRefAttr(), operands);
  mapResults(graph.map, call.getResults(), results, op.getResults().begin());
  own.adder = op;
}

LogicalResult
GraphBuilder::ScheduleConverter::convertFirst(Execution &execution,
                                              func::FuncOp callee) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&body);
  Converted &own = converted[execution.number];
  own.isMade = true;
  own.first = body.getOperations().size();
  if (execution.adder) {
    createTurnCall(execution.adder, callee, own);
  } else if (auto call = dyn_cast<func::CallOp>(execution.op)) {
    graph.createCall(call, callee);
  } else {
    // Ops of one name are in different turns.
    std::string outerPath = graph.scopePath;
    graph.scopePath += "#" + std::to_string(execution.number) + "/";
    LogicalResult isConverted = graph.convertOp(execution.op, env);
    graph.scopePath = outerPath;
    if (failed(isConverted))
      return failure();
  }
  own.count = body.getOperations().size() - own.first;
  return success();
}

LogicalResult GraphBuilder::ScheduleConverter::execute(Execution &execution) {
  Converted &own = converted[execution.number];
  bool isNew = !own.isMade;
  // Which function is called is known but for what adds up.
  func::FuncOp callee;
  if (!isNew && !execution.adder)
    return success();
  if (!isNew && (execution.isFirst  ? own.adder.getFirstAttr()
                 : execution.isLast ? own.adder.getLastAttr()
                                    : own.adder.getNextAttr()))
    return success();
  if (failed(convertCalleeOf(execution, callee)) ||
      (isNew && failed(convertFirst(execution, callee))))
    return failure();
  if (!execution.adder)
    return success();
  chakra::TurnCallOp op = own.adder;
  auto name = FlatSymbolRefAttr::get(callee.getSymNameAttr());
  if (execution.isFirst)
    op.setFirstAttr(name);
  else if (execution.isLast)
    op.setLastAttr(name);
  else
    op.setNextAttr(name);
  return success();
}

/// The order of the ops that have become others: most are one, too.
OrderAttr GraphBuilder::ScheduleConverter::getOrder() {
  std::vector<OrderEntry> entries;
  bool isSame = true;
  for (auto [number, own] : llvm::enumerate(converted))
    isSame &= own.first == number && own.count == 1;
  if (isSame)
    return schedule.getOrder();
  schedule.getOrder().getOrder().forEach([&](OrderEntry entry) {
    const Converted &own = converted[entry.step];
    for (uint32_t i = 0; i < own.count; ++i)
      entries.push_back({own.first + i, entry.turn, entry.isBeside});
  });
  return OrderAttr::get(builder.getContext(),
                        ExecutionOrder::compress(entries));
}

void GraphBuilder::ScheduleConverter::createSchedule() {
  Types results;
  for (auto &[number, types] : totals)
    llvm::append_range(results, types);
  auto op = chakra::ScheduleOp::create(
      builder, schedule.getLoc(), flatten(results), schedule.getNameAttr(),
      schedule.getCountAttr(), inputs, getOrder(),
      schedule.getSwitchAxesAttr());
  op.getBody().push_back(new Block);
  Block &target = op.getBody().front();
  for (BlockArgument arg : body.getArguments())
    arg.replaceAllUsesWith(target.addArgument(arg.getType(), arg.getLoc()));
  target.getOperations().splice(target.end(), body.getOperations());
  mapResults(graph.map, schedule.getResults(), results,
             op.getResults().begin());
}

LogicalResult GraphBuilder::ScheduleConverter::convert() {
  converted.resize(schedule.getBody().front().getOperations().size());
  if (failed(convertInputs()) ||
      failed(detail::walkSchedule<TurnCallOp>(
          schedule, [&](Execution &execution) { return execute(execution); })))
    return failure();
  createSchedule();
  return success();
}

LogicalResult GraphBuilder::convertSchedule(ScheduleOp schedule,
                                            const StateEnv &env) {
  return ScheduleConverter(*this, schedule, env).convert();
}

LogicalResult GraphBuilder::collectStates(ScheduleOp schedule,
                                          StateScope &scope) {
  DenseSet<Attribute> seen;
  return detail::walkSchedule<TurnCallOp>(
      schedule, [&](detail::Execution<TurnCallOp> &execution) {
        FlatSymbolRefAttr name;
        if (auto call = dyn_cast<func::CallOp>(execution.op))
          name = call.getCalleeAttr();
        else if (execution.adder)
          name = execution.getCallee();
        return name && seen.insert(name).second
                   ? collectStates(execution.op, name, scope)
                   : success();
      });
}

/// The states of a function, when it is called for the first time.
LogicalResult GraphBuilder::collectStates(Operation *call,
                                          FlatSymbolRefAttr name,
                                          StateScope &scope) {
  auto callee =
      tables.symbols.lookupNearestSymbolFrom<func::FuncOp>(call, name);
  if (!callee || callee.isExternal() || !statesOf.insert(callee).second)
    return success();
  return collectStates(callee.getBody().front(), scope);
}
