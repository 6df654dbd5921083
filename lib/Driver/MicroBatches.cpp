//===- MicroBatches.cpp - Micro-batches with requests of their own --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroBatches.h"
#include "GraphEdits.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// Of each micro-batch its lists of several lists, separated by ';'.
static Expected<std::vector<std::string>> getReserves(StringRef reserve,
                                                      size_t numMicroBatches) {
  SmallVector<StringRef> texts;
  reserve.split(texts, ';', -1, /*KeepEmpty=*/false);
  std::vector<std::string> reserves(numMicroBatches);
  for (StringRef text : texts) {
    Expected<Requests> list = readRequests(text);
    if (!list)
      return list.takeError();
    for (auto [own, part] : llvm::zip_equal(reserves, list->getMicroBatches()))
      own += (own.empty() ? "" : ";") + part.str();
  }
  return reserves;
}

/// Rows of requests that get a token in each step; in rounds all do.
static int64_t countGenerating(const Strategy &values,
                               const Requests &requests) {
  int64_t tokens = 0;
  for (const Request &request : requests.list)
    if (request.newTokens == 1 || !values.advance.empty())
      tokens += request.count;
  return tokens;
}

Expected<MicroBatchParts> stg::splitMicroBatches(const StrategyInput &input) {
  std::vector<Requests> lists = input.values.requests.getMicroBatches();
  MicroBatchParts split;
  std::map<std::string, unsigned> known;
  Expected<std::vector<std::string>> reserves =
      getReserves(input.values.reserve, lists.size());
  if (!reserves)
    return reserves.takeError();
  // Many may have the same.
  std::set<std::string> all(reserves->begin(), reserves->end());
  for (const Requests &list : lists)
    all.insert(list.str());
  const std::string beside = llvm::join(all, ";");
  // Each request hands on equally many.
  int64_t generating = std::max<int64_t>(
      countGenerating(input.values, input.values.requests), 1);
  for (auto [number, list] : llvm::enumerate(lists)) {
    auto [it, isNew] = known.try_emplace(list.str(), split.parts.size());
    split.partOf.push_back(it->second);
    if (!isNew)
      continue;
    StrategyInput &own = split.parts.emplace_back(input);
    Strategy &values = own.values;
    values.reserve = (*reserves)[number];
    values.beside = beside;
    int64_t tokens = countGenerating(values, list);
    for (int64_t *handedOn : {&values.receivedTokens, &values.sentTokens})
      *handedOn = *handedOn / generating * tokens;
    values.requests = std::move(list);
  }
  return split;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {
/// Joins the graphs of one class of ranks.
class TurnJoiner {
public:
  TurnJoiner(ArrayRef<chakra::GraphOp> graphs, ArrayRef<unsigned> partOf)
      : graphs(graphs), partOf(partOf),
        body(chakra::GraphOp(graphs.front()).getBody().front()) {}

  LogicalResult run();

private:
  LogicalResult findSchedules();
  LogicalResult shareCaches(Operation &op);
  LogicalResult mapStates(chakra::GraphOp graph);
  void addTurns(unsigned part);
  void setInputs();
  void setOrder();

  ArrayRef<chakra::GraphOp> graphs;
  ArrayRef<unsigned> partOf;
  Block &body;
  SmallVector<chakra::ScheduleOp> schedules;
  llvm::SmallPtrSet<Operation *, 16> shared; ///< Whose caches are.
  SmallVector<uint32_t> firstOps;            ///< By part, in the joined body.
  SmallVector<std::pair<unsigned, Value>> inputs; ///< Of what part, in order.
};
} // namespace

/// True for a task without a node, such as that behind all micro-batches.
static bool doesNothing(Operation &op) {
  auto call = dyn_cast<chakra::CallOp>(op);
  if (!call || call->getNumResults() != 0)
    return false;
  auto callee = SymbolTable::lookupNearestSymbolFrom<chakra::FuncOp>(
      call, call.getCalleeAttr());
  return !callee
              .walk([](Operation *inner) {
                return isa<chakra::NodeOpInterface, chakra::CallOp>(inner)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// What is executed in the same order can take each other's turns.
LogicalResult TurnJoiner::findSchedules() {
  for (chakra::GraphOp graph : graphs) {
    chakra::ScheduleOp found;
    graph.walk([&](chakra::ScheduleOp schedule) { found = schedule; });
    auto fail = [&] {
      return graph.emitOpError(
          "does not execute the same ops for all micro-batches, whose requests "
          "differ; give them lists that get tokens in the same steps");
    };
    if (!found || found.getCount() != partOf.size())
      return fail();
    // A step is its schedule.
    if (auto steps = dyn_cast<chakra::RepeatOp>(found->getParentOp());
        steps && !llvm::all_of(steps.getBody().front().without_terminator(),
                               [&](Operation &op) {
                                 return &op == found || doesNothing(op);
                               }))
      return fail();
    schedules.push_back(found);
    Block &own = found.getBody().front(),
          &first = schedules.front().getBody().front();
    bool isSame = found.getOrder() == schedules.front().getOrder() &&
                  own.getOperations().size() == first.getOperations().size() &&
                  llvm::all_of(llvm::zip_equal(own, first), [](auto pair) {
                    auto &[lhs, rhs] = pair;
                    return lhs.getName() == rhs.getName() &&
                           !isa<chakra::TurnCallOp>(lhs);
                  });
    if (!isSame)
      return fail();
  }
  return success();
}

/// A cache is that of all turns, of which each part has its own.
LogicalResult TurnJoiner::shareCaches(Operation &op) {
  SmallVector<SmallVector<chakra::StateOp>> all = {getStates(op)};
  for (chakra::GraphOp graph : graphs.drop_front()) {
    Operation *other =
        findStates(graph.getBody().front(), op, [&](Operation &same) {
          return shared.insert(&same).second;
        });
    all.push_back(other ? getStates(*other) : SmallVector<chakra::StateOp>());
    if (all.back().size() != all.front().size())
      return op.emitOpError("is a state that some micro-batches have, and "
                            "others have not");
  }
  auto turns = static_cast<int64_t>(partOf.size());
  for (size_t i = 0; i != all.front().size(); ++i) {
    auto type = cast<chakra::TensorType>(all.front()[i].getResult().getType());
    if (type.getCategory() != chakra::Category::KVCache)
      continue;
    SymExpr bytes = SymExpr::get(op.getContext(), 0);
    for (unsigned part : partOf)
      bytes =
          bytes + cast<chakra::TensorType>(all[part][i].getResult().getType())
                      .getBytes();
    bytes = bytes.exactDiv(turns);
    for (SmallVector<chakra::StateOp> &states : all)
      setBufferType(states[i].getResult(),
                    chakra::TensorType::get(op.getContext(), bytes,
                                            chakra::Category::KVCache));
  }
  return success();
}

static bool isInput(Operation &op) {
  auto state = dyn_cast<chakra::StateOp>(op);
  return state &&
         cast<chakra::TensorType>(state.getResult().getType()).getCategory() ==
             chakra::Category::Input;
}

/// Inputs are those of turns; everything else is there once.
LogicalResult TurnJoiner::mapStates(chakra::GraphOp graph) {
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front()))
    if (doesNothing(op))
      op.erase();
  auto last = body.begin();
  llvm::SmallPtrSet<Operation *, 16> found;
  auto isFree = [&](Operation &other) { return !found.contains(&other); };
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front())) {
    if (auto function = dyn_cast<chakra::FuncOp>(op)) {
      moveFunction(function, body, graph, ".list");
      continue;
    }
    if (isInput(op)) {
      op.moveBefore(&body, last);
      continue;
    }
    if (isa<chakra::ScheduleOp>(op) || isStepLoop(op))
      continue;
    Operation *other = isa<chakra::StateOp, chakra::RepeatOp>(op)
                           ? findStates(body, op, isFree)
                           : nullptr;
    if (!other || !OperationEquivalence::isEquivalentTo(
                      &op, other, OperationEquivalence::IgnoreLocations))
      return op.emitOpError("is not the same for all micro-batches");
    found.insert(other);
    op.replaceAllUsesWith(other->getResults());
  }
  return success();
}

void TurnJoiner::addTurns(unsigned part) {
  chakra::ScheduleOp schedule = schedules[part];
  Block &own = schedule.getBody().front(),
        &joined = schedules.front().getBody().front();
  firstOps.push_back(part == 0 ? 0 : joined.getOperations().size());
  for (Value input : schedule.getInputs())
    inputs.emplace_back(part, input);
  if (part == 0)
    return;
  for (BlockArgument arg : own.getArguments())
    arg.replaceAllUsesWith(joined.addArgument(arg.getType(), arg.getLoc()));
  joined.getOperations().splice(joined.end(), own.getOperations());
}

/// In the turns of other parts an argument has an input that nobody reads.
void TurnJoiner::setInputs() {
  SmallVector<Value> operands;
  size_t turns = partOf.size();
  for (size_t first = 0; first < inputs.size(); first += turns)
    for (size_t turn = 0; turn < turns; ++turn) {
      unsigned part = inputs[first].first;
      size_t own = partOf[turn] == part
                       ? turn
                       : llvm::find(partOf, part) - partOf.begin();
      operands.push_back(inputs[first + own].second);
    }
  schedules.front().getInputsMutable().assign(operands);
}

void TurnJoiner::setOrder() {
  std::vector<OrderEntry> entries;
  schedules.front().getOrder().getOrder().forEach([&](OrderEntry entry) {
    entries.push_back({entry.step + firstOps[partOf[entry.turn]], entry.turn,
                       entry.isBeside});
  });
  schedules.front().setOrderAttr(OrderAttr::get(
      schedules.front().getContext(), ExecutionOrder::compress(entries)));
}

LogicalResult TurnJoiner::run() {
  if (failed(findSchedules()))
    return failure();
  for (Operation &op : body)
    if (isa<chakra::StateOp, chakra::RepeatOp>(op) && !isStepLoop(op) &&
        !isInput(op) && failed(shareCaches(op)))
      return failure();
  for (chakra::GraphOp graph : graphs.drop_front())
    if (failed(mapStates(graph)))
      return failure();
  for (unsigned part = 0; part < graphs.size(); ++part)
    addTurns(part);
  setInputs();
  setOrder();
  for (chakra::ScheduleOp schedule : ArrayRef(schedules).drop_front())
    schedule->erase();
  for (Operation &op : llvm::make_early_inc_range(body))
    if (isInput(op) && op.use_empty())
      op.erase();
  return success();
}

static LogicalResult joinGraphs(ArrayRef<ModuleOp> modules,
                                ArrayRef<unsigned> partOf) {
  for (auto graph : ModuleOp(modules.front()).getOps<chakra::GraphOp>()) {
    SmallVector<chakra::GraphOp> graphs = {graph};
    for (ModuleOp module : modules.drop_front()) {
      chakra::GraphOp other = findGraph(module, graph);
      if (!other)
        return graph.emitOpError("is that of other ranks than for other "
                                 "micro-batches");
      graphs.push_back(other);
    }
    if (failed(TurnJoiner(graphs, partOf).run()))
      return failure();
  }
  return success();
}

LogicalResult stg::joinMicroBatches(ArrayRef<ModuleOp> modules,
                                    ArrayRef<unsigned> partOf) {
  if (modules.size() == 1)
    return success();
  LogicalResult joined = joinGraphs(modules, partOf);
  // What is left of the others reads what is now in the first.
  for (ModuleOp module : succeeded(joined) ? modules.drop_front() : modules)
    module->dropAllReferences();
  return joined;
}
