//===- Steps.cpp - Several steps of inference in one program --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "GraphEdits.h"
#include "mlir/IR/OperationSupport.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace stg;
using llvm::Error;
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
    return makeError(
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
  return makeError(input.spell(getField(source)) + ": " +
                   llvm::toString(std::move(error)));
}

bool stg::hasSeveralSteps(const StrategyInput &input) {
  const Strategy &values = input.values;
  return values.inference && !(isOneLoop(input) && values.steps == 1);
}

Expected<std::vector<StepLoop>> stg::planSteps(const StrategyInput &input,
                                               bool hasStages) {
  const Strategy &values = input.values;
  if (!hasSeveralSteps(input))
    return std::vector<StepLoop>();
  Requests requests = values.requests;
  if (requests.empty() && values.tokenBudget)
    return makeError(input.spell(getField(FieldId::tokenBudget)) +
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
          ? scheduleSteps(requests,
                          {values.tokenBudget, values.chunk, hasStages}, steps)
          : repeatSteps(requests, values.steps);
  if (!loops)
    return spellProblem(input, loops.takeError());
  return loops;
}

bool stg::hasBeginning(ArrayRef<StepLoop> loops) {
  int64_t steps = 0;
  bool begins = false;
  for (const StepLoop &loop : loops) {
    steps += loop.count;
    begins |= llvm::any_of(loop.requests.list, [](const Request &request) {
      return request.cachedTokens == 0;
    });
  }
  return begins && steps > 1;
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

std::string stg::spellSteps(const StrategyInput &input) {
  std::string words;
  unsigned number = 0;
  for (FieldId id : {FieldId::seq, FieldId::kvLen, FieldId::requests,
                     FieldId::chunk, FieldId::tokenBudget, FieldId::steps}) {
    if (!input.isGiven(id))
      continue;
    words += number == 0 ? "" : number == 1 ? " with " : " and ";
    words += input.spell(getField(id));
    ++number;
  }
  return words;
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
  const std::string words = spellSteps(input);
  std::vector<StrategyInput> split;
  int64_t first = 0;
  for (const StepLoop &loop : loops) {
    StrategyInput &own = split.emplace_back(input);
    Strategy &values = own.values;
    for (FieldId id : {FieldId::seq, FieldId::kvLen, FieldId::requests})
      own.setWords(id, words);
    values.steps = loop.count;
    values.firstStep = first;
    values.receivedTokens = loop.received;
    values.sentTokens = loop.sent;
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
// Rounds
//===----------------------------------------------------------------------===//

/// Tokens and requests are those of the rounds.
static Error checkRoundSymbols(const StrategyInput &input) {
  const Strategy &values = input.values;
  const std::string draft = input.spell(getField(FieldId::draft));
  std::string tokens = kTokenDim.str();
  if (values.set.count(tokens))
    return makeError(draft + " with " + input.spellSetting(tokens) +
                     ": a round verifies the drafts and adds a token; "
                     "give --drafts");
  const Field &settings = getField(FieldId::draftSet);
  for (const auto &[name, setting] : values.draftSet)
    if (llvm::any_of(getFields(), [&, &name = name](const Field &field) {
          return field.symbolName == name;
        }))
      return makeError(
          input.spell(settings, name + "=" + setting.str(),
                      input.getGivenBy(settings.id)) +
          ": drafts are of the requests of the model, a token of each in a "
          "step; leave '" +
          name + "' out");
  return Error::success();
}

/// What is verified: as many drafts as are said, and the token behind them.
Expected<StepLoop> stg::planRounds(const StrategyInput &input) {
  const Strategy &values = input.values;
  const Field &draft = getField(FieldId::draft);
  if (!values.drafts)
    return makeError(input.spell(draft) +
                     ": needs the number of drafts of a round; give it "
                     "with --drafts");
  if (!values.acceptance)
    return makeError(input.spell(draft) +
                     ": needs the probability that a draft is "
                     "accepted; give it with --acceptance");
  Expected<TokenRate> rate =
      getExpectedTokens(*values.acceptance, *values.drafts);
  if (!rate)
    return makeError(input.spell(getField(FieldId::acceptance)) + ": " +
                     llvm::toString(rate.takeError()));
  if (Error error = checkRoundSymbols(input))
    return std::move(error);
  StepLoop loop;
  loop.count = values.steps;
  loop.advance = *rate;
  loop.requests = values.requests;
  if (loop.requests.empty()) {
    if (input.getMode() == Mode::Prefill || !values.kvLen)
      return makeError(input.spell(draft) +
                       ": drafts go on from tokens that are cached; "
                       "give them with --kv-len or --requests");
    Request row;
    row.cachedTokens = *values.kvLen;
    loop.requests.list = {row};
  }
  std::string together =
      input.spell(getField(FieldId::requests)) + " with " + input.spell(draft);
  if (loop.requests.areOfRanks())
    return makeError(
        together + ": lists of data-parallel ranks are those of one step, and "
                   "a round has several; use one list for all ranks");
  for (Request &request : loop.requests.list) {
    if (request.newTokens != 1 || request.logits || request.generate ||
        request.arrival)
      return makeError(
          together +
          ": a round has the drafts of requests that generate, which do not "
          "come or leave; give each as (1,CACHED)");
    request.newTokens = *values.drafts + 1;
    request.logits = request.newTokens;
    loop.tokens += request.count;
  }
  return loop;
}

/// The part of a loop of rounds with these requests, whose caches have room for
/// those of `last`.
static StrategyInput makePart(const StrategyInput &input, const StepLoop &loop,
                              int64_t firstRound, Requests requests,
                              Requests last) {
  StrategyInput own = input;
  // What is taken back follows from the drafts.
  for (FieldId id : {FieldId::draft, FieldId::drafts, FieldId::acceptance,
                     FieldId::rollback})
    own.reset(id);
  Strategy &values = own.values;
  for (Request &request : last.list)
    request.logits.reset();
  values.reserve = last.str();
  values.advance = loop.advance->str();
  values.steps = loop.count;
  values.firstStep = firstRound;
  values.mode = Mode::Decode;
  if (!values.requests.empty()) {
    values.requests = std::move(requests);
    return own;
  }
  const Request &row = requests.list.front();
  values.seq = row.newTokens;
  own.setDerived(FieldId::seq);
  own.setWords(FieldId::seq, input.spell(getField(FieldId::draft)));
  values.kvLen = row.cachedTokens;
  if (row.logits)
    values.logits = LogitRows::All;
  return own;
}

/// The parts of the rounds of one loop. Each draft reads the token that the
/// step before has sampled; if stages hand tokens on, each gets it from there.
/// Modules of the model are where it has been sampled: they send all drafts,
/// and the token before them, to what is verified.
static RoundParts splitLoop(const StrategyInput &input, const StepLoop &loop,
                            int64_t firstRound, const Requests &last,
                            bool handsOn) {
  // Each has a token, behind those of the drafts before it.
  auto getDraft = [](Requests requests, int64_t number) {
    for (Request &request : requests.list) {
      request.newTokens = 1;
      request.cachedTokens += number;
      request.logits.reset();
    }
    return requests;
  };
  int64_t drafts = *input.values.drafts;
  int64_t tokens = handsOn ? loop.tokens : 0;
  const bool isOwn = input.values.draft == kOwnDraft;
  const int64_t verified = isOwn ? drafts * tokens + loop.received : tokens;
  RoundParts parts;
  for (int64_t number = 0; number < drafts; ++number) {
    StrategyInput &own = parts.drafts.emplace_back(
        makePart(input, loop, firstRound, getDraft(loop.requests, number),
                 getDraft(last, drafts - 1)));
    own.values.receivedTokens = number == 0 ? loop.received : tokens;
    own.values.sentTokens = tokens;
    own.values.set = input.values.draftSet;
    // One of the drafts is the last that is accepted. The state that the first
    // draft reads is that of a token that stays, and its place that of the last
    // draft's.
    own.values.rollback = drafts - 1;
    own.values.keepIfThere = true;
    if (isOwn) {
      own.values.receivedTokens = 0;
      own.values.sentTokens = number + 1 == drafts ? verified : 0;
      // It is what drafts, whatever was said of training.
      own.reset(FieldId::mtp);
      own.values.mtp = 1;
      own.values.predictOnly = true;
      own.values.set = input.values.set;
      for (const auto &[name, setting] : input.values.draftSet)
        own.values.set[name] = setting;
    } else {
      // These are layers of the model; those of the other one are divided
      // evenly.
      own.reset(FieldId::layersPerStage);
    }
  }
  parts.verification = makePart(input, loop, firstRound, loop.requests, last);
  parts.verification.reset(FieldId::draftSet);
  parts.verification.values.rollback = drafts;
  parts.verification.values.receivedTokens = verified;
  parts.verification.values.sentTokens = isOwn ? 0 : loop.sent;
  return parts;
}

std::vector<RoundParts> stg::splitRounds(const StrategyInput &input,
                                         ArrayRef<StepLoop> loops,
                                         bool handsOn) {
  std::vector<RoundParts> split;
  Requests last = loops.back().getLast();
  int64_t first = 0;
  for (const StepLoop &loop : loops) {
    split.push_back(splitLoop(input, loop, first, last, handsOn));
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
      : body(first.getBody().front()), more(more), place(body.begin()) {}

  LogicalResult run();

private:
  Operation *find(Operation &op);
  LogicalResult mapStates(Operation &op);

  Block &body;
  chakra::GraphOp more;
  Block::iterator place; ///< Of states that the first graph has not.
  llvm::SmallPtrSet<Operation *, 16> found;
};
} // namespace

/// The only loop of steps of a graph.
static chakra::RepeatOp getStepLoop(chakra::GraphOp graph) {
  for (Operation &op : graph.getBody().front())
    if (isStepLoop(op))
      return cast<chakra::RepeatOp>(op);
  return nullptr;
}

/// The states of the first graph with that name.
Operation *StepAppender::find(Operation &op) {
  return findStates(body, op,
                    [&](Operation &other) { return !found.contains(&other); });
}

/// Caches that are not of tokens have room for the most requests of a step: the
/// smaller of two states gets the size of the other. Nothing else differs.
static void matchCaches(Operation &op, Operation &other) {
  SmallVector<chakra::StateOp> own = getStates(op), known = getStates(other);
  if (own.size() != known.size())
    return;
  auto getType = [](chakra::StateOp state) {
    return cast<chakra::TensorType>(state.getResult().getType());
  };
  for (auto [left, right] : llvm::zip_equal(own, known)) {
    chakra::TensorType here = getType(left), there = getType(right);
    if (here.getCategory() != chakra::Category::KVCache ||
        there.getCategory() != chakra::Category::KVCache)
      continue;
    bool isLarger = there.getBytes().getInt64().value_or(0) <
                    here.getBytes().getInt64().value_or(0);
    setBufferType(isLarger ? right.getResult() : left.getResult(),
                  isLarger ? here : there);
  }
}

/// What is there for all steps is the same in all of them; an input has room
/// for the largest.
LogicalResult StepAppender::mapStates(Operation &op) {
  Operation *other = find(op);
  if (!other) {
    // States of one name, as stages have of a repeat, stay in order.
    op.moveBefore(&body, place);
    found.insert(&op);
    return success();
  }
  found.insert(other);
  matchCaches(op, *other);
  auto state = dyn_cast<chakra::StateOp>(op);
  if (state && state.getResult().getType() != other->getResult(0).getType()) {
    auto own = cast<chakra::TensorType>(state.getResult().getType());
    auto known = cast<chakra::TensorType>(other->getResult(0).getType());
    if (own.getCategory() != chakra::Category::Input ||
        known.getCategory() != chakra::Category::Input)
      return state.emitOpError("has ")
             << own.getBytes() << " bytes in some steps, and "
             << known.getBytes()
             << " in others; compile these steps one by one";
    bool isLarger = known.getBytes().getInt64().value_or(0) <
                    own.getBytes().getInt64().value_or(0);
    setBufferType(isLarger ? Value(other->getResult(0))
                           : Value(state.getResult()),
                  isLarger ? own : known);
  } else if (!OperationEquivalence::isEquivalentTo(
                 &op, other, OperationEquivalence::IgnoreLocations)) {
    return op.emitOpError("keeps other states in some steps than in others; "
                          "compile these steps one by one");
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
    else if (auto function = dyn_cast<chakra::FuncOp>(op))
      moveFunction(function, body, more, ".loop");
    else if (failed(mapStates(op)))
      return failure();
  }
  for (Operation *loop : loops)
    loop->moveBefore(&body, body.end());
  return success();
}

static LogicalResult appendGraphs(ModuleOp first, ModuleOp more,
                                  bool isOfSomeRanks) {
  for (auto graph : more.getOps<chakra::GraphOp>()) {
    chakra::GraphOp other = findGraph(first, graph);
    if (!other)
      return graph.emitOpError(
          "is that of other ranks than the graphs of the steps before; "
          "compile these steps by themselves");
    if (failed(StepAppender(other, graph).run()))
      return failure();
  }
  auto count = [](ModuleOp module) {
    return llvm::range_size(module.getOps<chakra::GraphOp>());
  };
  if (!isOfSomeRanks && count(first) != count(more))
    return first.emitError("has graphs of ranks that some steps have none for; "
                           "compile these steps by themselves");
  return success();
}

/// Appends, and drops what is left if that fails: what has been moved and what
/// has not may use values of each other.
static LogicalResult append(ModuleOp first, ModuleOp more, bool isOfSomeRanks) {
  LogicalResult appended = appendGraphs(first, more, isOfSomeRanks);
  if (succeeded(appended))
    return success();
  for (ModuleOp module : {first, more})
    module->dropAllReferences();
  return failure();
}

LogicalResult stg::appendSteps(ModuleOp first, ModuleOp more) {
  return append(first, more, /*isOfSomeRanks=*/false);
}

/// What a task of a stage executes has its scope in front of its names.
static void addPrefix(Operation &op, const Twine &prefix) {
  if (auto call = dyn_cast<chakra::CallOp>(op)) {
    std::string scope = (prefix + call.getScope()).str();
    call.setScope(StringRef(scope).rtrim('.'));
    return;
  }
  auto name = op.getAttrOfType<StringAttr>("name");
  op.setAttr("name",
             StringAttr::get(op.getContext(), prefix + name.getValue()));
}

/// Names in the steps, of which there are several in one round.
static void prefixSteps(ModuleOp module, const Twine &prefix) {
  for (auto graph : module.getOps<chakra::GraphOp>())
    for (Operation &op :
         getStepLoop(graph).getBody().front().without_terminator())
      addPrefix(op, prefix);
}

/// True for the parameters of a state, or of a stack of states.
static bool isParameter(Operation &op) {
  return !op.walk([](chakra::StateOp state) {
              auto type = cast<chakra::TensorType>(state.getResult().getType());
              return type.getCategory() == chakra::Category::Parameter
                         ? WalkResult::advance()
                         : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Names of states are those of a model.
static void prefixStates(ModuleOp rounds, ModuleOp drafts,
                         bool sharesParameters) {
  for (auto graph : drafts.getOps<chakra::GraphOp>()) {
    chakra::GraphOp known = findGraph(rounds, graph);
    auto isShared = [&](Operation &op) {
      auto name = cast<chakra::NamedOpInterface>(op).getNameAttr();
      return sharesParameters && known && isParameter(op) &&
             llvm::any_of(known.getBody().front(), [&](Operation &other) {
               return other.getName() == op.getName() &&
                      cast<chakra::NamedOpInterface>(other).getNameAttr() ==
                          name;
             });
    };
    for (Operation &op : graph.getBody().front())
      if (!isStepLoop(op) && !isa<chakra::FuncOp>(op) && !isShared(op))
        addPrefix(op, "draft.");
  }
}

/// What changes a state in place makes the value that it is from then on. Steps
/// that were apart each start from the state.
static void threadStates(Block &block) {
  llvm::DenseMap<Value, Value> roots, latest;
  for (Operation &op : block) {
    for (OpOperand &use : op.getOpOperands())
      if (Value last = latest.lookup(use.get()))
        use.set(last);
    auto node = dyn_cast<chakra::NodeOpInterface>(op);
    if (!node)
      continue;
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      Value changed = node.getChangedBuffer(i);
      if (!changed)
        continue;
      Value root = roots.lookup(changed);
      if (!root && !changed.getDefiningOp<chakra::StateOp>())
        continue;
      root = root ? root : changed;
      roots[op.getResult(i)] = root;
      latest[root] = op.getResult(i);
    }
  }
}

/// Puts the steps of the second loop of each graph behind those of the first,
/// one by one, or before them.
static void fuseLoops(ModuleOp module, bool before) {
  for (auto graph : module.getOps<chakra::GraphOp>()) {
    SmallVector<chakra::RepeatOp> loops;
    for (Operation &op : graph.getBody().front())
      if (isStepLoop(op))
        loops.push_back(cast<chakra::RepeatOp>(op));
    // Modules of the model are on the ranks of its last stage.
    if (loops.size() < 2)
      continue;
    Block &first = loops[0].getBody().front();
    Block &second = loops[1].getBody().front();
    auto place = before ? first.begin() : first.getTerminator()->getIterator();
    for (Operation &op :
         llvm::make_early_inc_range(second.without_terminator()))
      op.moveBefore(&first, place);
    loops[1].erase();
    threadStates(first);
  }
}

LogicalResult stg::joinRounds(ModuleOp rounds,
                              llvm::MutableArrayRef<ModuleOp> drafts,
                              bool sharesParameters) {
  ModuleOp all = drafts.front();
  for (auto [number, own] : llvm::enumerate(drafts))
    prefixSteps(own, "draft." + Twine(number) + ".");
  for (ModuleOp own : drafts.drop_front()) {
    if (failed(appendSteps(all, own)))
      return failure();
    fuseLoops(all, /*before=*/false);
  }
  prefixStates(rounds, all, sharesParameters);
  if (failed(append(rounds, all, /*isOfSomeRanks=*/sharesParameters)))
    return failure();
  fuseLoops(rounds, /*before=*/true);
  return success();
}
