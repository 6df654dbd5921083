//===- Steps.cpp - Several steps of inference in one program --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/IR/OperationSupport.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace stg;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool stg::isOneLoop(const StrategyInput &input) {
  const Strategy &values = input.values;
  return values.chunk == 0 && values.tokenBudget == 0 &&
         !values.requests.change();
}

/// A row as a request.
static Expected<Requests> getRow(const StrategyInput &input) {
  const Strategy &values = input.values;
  bool isDecode = input.getMode() == Mode::Decode;
  if (!values.seq && !isDecode)
    return makeStrategyError(
        input.spell(getField(values.chunk ? FieldId::chunk : FieldId::steps)) +
        ": needs the new tokens of a request; give them with --seq");
  Request row;
  row.newTokens = values.seq.value_or(1);
  row.cachedTokens = values.kvLen.value_or(0);
  return Requests{{row}};
}

/// What is wrong with a list is told with what it comes from.
static llvm::Error spellProblem(const StrategyInput &input, llvm::Error error) {
  FieldId source =
      input.values.requests.empty() ? FieldId::chunk : FieldId::requests;
  return makeStrategyError(input.spell(getField(source)) + ": " +
                           llvm::toString(std::move(error)));
}

Expected<std::vector<StepLoop>> stg::planSteps(const StrategyInput &input) {
  const Strategy &values = input.values;
  if (!values.inference)
    return std::vector<StepLoop>();
  if (isOneLoop(input) && values.steps == 1)
    return std::vector<StepLoop>();
  Requests requests = values.requests;
  if (requests.empty() && values.tokenBudget)
    return makeStrategyError(input.spell(getField(FieldId::tokenBudget)) +
                             ": needs a list of requests; give it with "
                             "--requests");
  if (requests.empty()) {
    Expected<Requests> row = getRow(input);
    if (!row)
      return row.takeError();
    requests = std::move(*row);
  }
  std::optional<int64_t> steps;
  if (input.isGiven(FieldId::steps))
    steps = values.steps;
  bool isScheduled = values.chunk || values.tokenBudget;
  Expected<std::vector<StepLoop>> loops =
      isScheduled
          ? scheduleSteps(requests, {values.tokenBudget, values.chunk}, steps)
          : repeatSteps(requests, values.steps);
  if (!loops)
    return spellProblem(input, loops.takeError());
  return loops;
}

/// Contexts are empty before the first of several steps, and not after it.
static bool beginsAndGoesOn(const StepLoop &loop) {
  return loop.count > 1 &&
         llvm::any_of(loop.requests.list, [](const Request &request) {
           return request.cachedTokens == 0;
         });
}

bool stg::beginAndGoOn(ArrayRef<StepLoop> loops) {
  return llvm::any_of(loops, beginsAndGoesOn);
}

void stg::beginApart(std::vector<StepLoop> &loops) {
  std::vector<StepLoop> apart;
  for (StepLoop &loop : loops) {
    bool isCut = beginsAndGoesOn(loop);
    StepLoop &first = apart.emplace_back(std::move(loop));
    if (!isCut)
      continue;
    StepLoop rest = first;
    first.count = 1;
    --rest.count;
    for (Request &request : rest.requests.list)
      request.cachedTokens += request.newTokens;
    apart.push_back(std::move(rest));
  }
  loops = std::move(apart);
}

std::vector<StrategyInput> stg::splitSteps(const StrategyInput &input,
                                           ArrayRef<StepLoop> loops) {
  bool areRows = input.values.requests.empty();
  std::set<std::string> kept;
  for (const StepLoop &loop : loops) {
    Requests last = loop.getLast();
    for (Request &request : last.list)
      request.logits.reset();
    kept.insert(last.str());
  }
  std::vector<StrategyInput> split;
  int64_t first = 0;
  for (const StepLoop &loop : loops) {
    StrategyInput &own = split.emplace_back(input);
    Strategy &values = own.values;
    values.steps = loop.count;
    values.firstStep = first;
    values.reserve = llvm::join(kept, ";");
    values.chunk = values.tokenBudget = 0;
    if (areRows) {
      const Request &row = loop.requests.list.front();
      values.seq = row.newTokens;
      values.kvLen = row.cachedTokens;
    } else {
      values.requests = loop.requests;
    }
    first += loop.count;
  }
  return split;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {
/// Appends the steps of one graph to another one of the same ranks.
class StepAppender {
public:
  StepAppender(chakra::GraphOp first, chakra::GraphOp more)
      : body(first.getBody().front()), more(more) {}

  LogicalResult run();

private:
  Operation *find(Operation &op);
  LogicalResult mapStates(Operation &op);

  Block &body;
  chakra::GraphOp more;
  llvm::SmallPtrSet<Operation *, 16> found;
};
} // namespace

static bool isStepLoop(Operation &op) {
  auto repeat = dyn_cast<chakra::RepeatOp>(op);
  return repeat && repeat.getIndexAttr();
}

/// The states of the first graph with that name.
Operation *StepAppender::find(Operation &op) {
  auto name = cast<chakra::NamedOpInterface>(op).getNameAttr();
  for (Operation &other : body)
    if (other.getName() == op.getName() && !isStepLoop(other) &&
        cast<chakra::NamedOpInterface>(other).getNameAttr() == name &&
        !found.contains(&other))
      return &other;
  return nullptr;
}

/// What is there for all steps is the same in all of them; an input has room
/// for the largest.
LogicalResult StepAppender::mapStates(Operation &op) {
  Operation *other = find(op);
  if (!other) {
    op.moveBefore(&body, body.begin());
    return success();
  }
  found.insert(other);
  auto state = dyn_cast<chakra::StateOp>(op);
  if (state && state.getResult().getType() != other->getResult(0).getType()) {
    auto own = cast<chakra::TensorType>(state.getResult().getType());
    auto known = cast<chakra::TensorType>(other->getResult(0).getType());
    if (own.getCategory() != chakra::Category::Input ||
        known.getCategory() != chakra::Category::Input)
      return state.emitOpError("has ")
             << own.getBytes() << " bytes in some steps, and "
             << known.getBytes() << " in others; give all steps equally many "
             << "requests, or compile them one by one";
    if (known.getBytes().getInt64().value_or(0) <
        own.getBytes().getInt64().value_or(0))
      other->getResult(0).setType(own);
  } else if (!OperationEquivalence::isEquivalentTo(
                 &op, other, OperationEquivalence::IgnoreLocations)) {
    return op.emitOpError("keeps states of other sizes in some steps than in "
                          "others; give all steps equally many requests, or "
                          "compile them one by one");
  }
  op.replaceAllUsesWith(other->getResults());
  return success();
}

LogicalResult StepAppender::run() {
  Block &own = more.getBody().front();
  SmallVector<Operation *> loops;
  for (Operation &op : llvm::make_early_inc_range(own)) {
    if (isStepLoop(op))
      loops.push_back(&op);
    else if (failed(mapStates(op)))
      return failure();
  }
  for (Operation *loop : loops)
    loop->moveBefore(&body, body.end());
  return success();
}

LogicalResult stg::appendSteps(ModuleOp first, ModuleOp more) {
  SymbolTable graphs(first);
  for (auto graph : more.getOps<chakra::GraphOp>()) {
    auto other = graphs.lookup<chakra::GraphOp>(graph.getSymNameAttr());
    if (!other || other.getMesh() != graph.getMesh() ||
        other.getCoordinatesAttr() != graph.getCoordinatesAttr())
      return graph.emitOpError(
          "is that of other ranks than the graphs of the steps before; "
          "compile these steps by themselves");
    if (failed(StepAppender(other, graph).run()))
      return failure();
  }
  auto count = [](ModuleOp module) {
    return llvm::range_size(module.getOps<chakra::GraphOp>());
  };
  if (count(first) != count(more))
    return first.emitError("has graphs of ranks that some steps have none for; "
                           "compile these steps by themselves");
  return success();
}
