//===- Schedule.cpp - Orders the work of pipeline stages ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the program of one micro-batch by one program for each pipeline
// device: calls of the tasks of its stages, in the order of a schedule, with
// the messages between stages, and the optimizer's step at the end.
//
// Gradients of micro-batches add up in the buffers of the first one. What is to
// be reduced once per step is reduced by the last one.
//
//===----------------------------------------------------------------------===//

#include "Channels.h"
#include "ExpertExchanges.h"
#include "Local/LocalLayouts.h"
#include "SplitBackward.h"
#include "StageMessages.h"
#include "StageSplitter.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Schedule/PipelineSchedule.h"

namespace stg {
#define GEN_PASS_DEF_SCHEDULE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// The tokens that go from step to step.
struct ReturnedTokens {
  Value sampled;          ///< By the program, whose last stage makes them.
  BlockArgument read;     ///< By the first stage.
  SymExpr sent, received; ///< Bytes of a micro-batch; null: there are none.
  /// From the device of the last stage to that of the first one.
  unsigned from = 0, to = 0;
  unsigned numStages = 0; ///< Before their channels.
};

struct Schedule : stg::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;
  void runOnOperation() override;

private:
  LogicalResult schedule(func::FuncOp program);
  FailureOr<PipelineSchedule> makePipeline(func::FuncOp program);
  FailureOr<PipelineSchedule> placeOnLast(const PipelineSchedule &pipeline);
  FailureOr<ReturnedTokens> findTokens(func::FuncOp program,
                                       const PipelineSchedule &pipeline);
  LogicalResult findReader(func::FuncOp program, StageSplitter &splitter,
                           ReturnedTokens &tokens);
  LogicalResult formMessages(func::FuncOp program, StageSplitter &splitter,
                             ArrayRef<unsigned> deviceOf);
};

//===----------------------------------------------------------------------===//
// Gradients over micro-batches
//===----------------------------------------------------------------------===//

/// Which micro-batch of a stage a backward task is for.
struct Turn {
  bool isFirst, isLast;
  bool operator<(const Turn &other) const {
    return std::tie(isFirst, isLast) < std::tie(other.isFirst, other.isLast);
  }
};

/// The type of a gradient at the place where micro-batches add up: that of what
/// is reduced, which with ZeRO-1 is larger than what is left.
static SymTensorType getTotalType(Value gradient) {
  auto result = dyn_cast<OpResult>(gradient);
  Operation *source = result ? result.getOwner() : nullptr;
  if (source && isStepReduction(source))
    return getTotalType(source->getOperand(result.getResultNumber()));
  OpOperand *slice = getStackedOperand(gradient);
  if (!slice)
    return cast<SymTensorType>(gradient.getType());
  DimAttr leading = cast<SymTensorType>(result.getType()).getDim(0);
  return getTotalType(slice->get()).getStacked(leading);
}

/// Removes what is reduced once per step from a task that is not the last.
static void removeReductions(func::FuncOp task, RewriterBase &rewriter) {
  task.walk([&](Operation *op) {
    if (isStepReduction(op))
      rewriter.replaceOp(op, op->getOperands());
  });
  task.walk(retypeStacks); // Inner ones first.
}

static bool hasReductions(func::FuncOp task) {
  return task
      .walk([](Operation *op) {
        return isStepReduction(op) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Adds what `use` reads to `total`, at the place where the gradient is made:
/// in the innermost scan that stacks it, and before it is reduced.
static void accumulate(OpOperand &use, Value total, StringAttr name,
                       RewriterBase &rewriter) {
  auto result = dyn_cast<OpResult>(use.get());
  Operation *source = result ? result.getOwner() : nullptr;
  if (source && isStepReduction(source))
    return accumulate(source->getOpOperand(result.getResultNumber()), total,
                      name, rewriter);
  if (getStackedOperand(use.get())) {
    BlockArgument slice = cast<ScanOpInterface>(source).addSlice(total);
    return accumulate(*getStackedOperand(use.get()), slice, name, rewriter);
  }
  std::optional<CarriedValue> carried = getResultingSum(use.get());
  if (carried && isSumFromZero(*carried) && use.get().hasOneUse()) {
    // Iterations go on from what is there.
    carried->init->set(total);
    return;
  }
  if (result)
    rewriter.setInsertionPointAfter(source);
  else
    rewriter.setInsertionPoint(use.getOwner());
  auto sum =
      AccumulateOp::create(rewriter, use.get().getLoc(), total, use.get());
  StringAttr own = source ? getOrigin(source).name : StringAttr();
  setName(sum, own ? own : name);
  setPhase(sum, Phase::Backward);
  setRole(sum, Role::Accumulate);
  use.set(sum);
}

/// A copy of a backward task for one turn. One that is not the first takes what
/// has been accumulated as further arguments, which have these layouts; one
/// that is not the last leaves out the reductions.
static func::FuncOp makeTurn(func::FuncOp task, unsigned stage,
                             unsigned firstGradient, Turn turn,
                             ArrayRef<LayoutAttr> layouts) {
  IRRewriter rewriter(task.getContext());
  rewriter.setInsertionPointAfter(task);
  func::FuncOp copy = task.clone();
  rewriter.insert(copy);
  copy.setSymName((task.getSymName() + (turn.isFirst  ? ".first"
                                        : turn.isLast ? ".last"
                                                      : ".next"))
                      .str());
  auto kind = task->getAttrOfType<TaskAttr>(STGDialect::kTaskAttr);
  copy->setAttr(STGDialect::kTaskAttr,
                TaskAttr::get(task.getContext(), kind.getKind(),
                              kind.getSends(), kind.getSaves(), true));
  Block &body = copy.getBody().front();
  Operation *terminator = body.getTerminator();
  if (!turn.isLast)
    removeReductions(copy, rewriter);
  if (!turn.isFirst)
    for (OpOperand &use :
         terminator->getOpOperands().drop_front(firstGradient)) {
      BlockArgument total =
          body.addArgument(getTotalType(use.get()), use.get().getLoc());
      // For a gradient that another task has made.
      std::string name = "stage" + std::to_string(stage) + ".gradient" +
                         std::to_string(use.getOperandNumber());
      accumulate(use, total, rewriter.getStringAttr(name), rewriter);
    }
  copy.setType(FunctionType::get(copy.getContext(), body.getArgumentTypes(),
                                 terminator->getOperandTypes()));
  if (!turn.isFirst)
    setArgLayouts(copy, task.getNumArguments(), layouts);
  return copy;
}

//===----------------------------------------------------------------------===//
// Programs of devices
//===----------------------------------------------------------------------===//

/// Builds the program of each device: its schedule, of which the body is one
/// micro-batch, and the step. Without micro-batches the body is the program.
class Scheduler {
public:
  Scheduler(func::FuncOp program, const PipelineSchedule &schedule,
            StageSplitter &splitter, unsigned receiveAhead,
            const ReturnedTokens &tokens, StringRef batch)
      : program(program), schedule(schedule), splitter(splitter),
        builder(program), batch(builder.getStringAttr(batch)),
        microBatches(schedule.numMicroBatches), receiveAhead(receiveAhead),
        tokens(tokens) {
    if (MeshOp mesh = MeshOp::lookup(program))
      axis = mesh.getMesh().getPipelineAxis();
    // Those of tokens are behind those of the last stage.
    int64_t ways = int64_t(tokens.numStages) + (tokens.sampled ? 1 : 0);
    if (axis)
      firstChannel = Channels(program->getParentOfType<ModuleOp>())
                         .take(axis, ways * microBatches * kChannelStride);
  }

  void run();
  /// True for a task or a variant of one that some device executes.
  bool isCalled(func::FuncOp task) const { return called.contains(task); }

private:
  /// The ops that execute an action, by number in the body, and what they make.
  /// What reads values of another action knows which of its ops made them.
  struct ActionOps {
    bool isMade = false;
    SmallVector<uint32_t, 2> ops;
    SmallVector<Value> sent;
    SmallVector<Value> passed; ///< For the weight half of a backward.
    TurnCallOp adder;          ///< Its functions are set when they are called.
  };
  struct StageState {
    SmallVector<Value> sent, saved;            ///< Results of forward.
    SmallVector<Value> received, receivedBack; ///< Messages.
    Value tokens; ///< Of the first stage, with those of the step before.
    std::optional<BackwardHalves> halves;
    /// What micro-batches add up: values, or results of the schedule.
    SmallVector<Value> gradients;
    uint64_t total = 0; ///< The number of what is added up.
    unsigned done = 0;  ///< Micro-batches that have made gradients.
    SmallVector<Type> totals;
    SmallVector<LayoutAttr> layouts; ///< Of what is added up.
    /// Of the whole backward, and of its weight half.
    std::map<std::pair<Operation *, Turn>, func::FuncOp> turns;
  };
  using ActionKey = std::tuple<unsigned, PipelineAction::Kind, ActionOps *>;

  void buildDevice(unsigned device);
  void buildActions();
  void insertSchedule(Block &body);
  void post(const PipelineAction &action);
  void postTokens(const PipelineAction &action);
  void execute(const PipelineAction &action);
  void place(const ActionOps &own, const PipelineAction &action);
  ArrayAttr findSwitchAxes();
  template <typename Fn> void makeOps(ActionOps &own, Fn make);
  void makeAction(const PipelineAction &action, ActionOps &own,
                  ActionOps *source);
  void makeReceive(const PipelineAction &action);
  void receiveTokens(const PipelineAction &action);
  void sendTokens(const PipelineAction &action);
  void makeForward(const PipelineAction &action);
  void makeBackward(const PipelineAction &action, ActionOps &own,
                    ActionOps *source);
  void makeBackwardInput(const PipelineAction &action, ActionOps &own,
                         ActionOps *source);
  ActionOps *getSource(const PipelineAction &action);
  void countAdded(const PipelineAction &action, ActionOps &own);
  void makeStep();

  bool hasTurns() const { return microBatches > 1; }
  /// True if devices with several stages wait for each other in a step: tokens
  /// of all micro-batches are sent when it ends, and received when the next one
  /// begins, so that no send waits for a receive behind it.
  bool areTokensTogether() const {
    return schedule.numVirtualStages > schedule.numDevices;
  }
  Value getInput(Value arg, unsigned microBatch);
  Value getTurnInput(Value arg, unsigned microBatch);
  void nameInputs();
  SmallVector<Value> getArgs(Task &task, const PipelineAction &action,
                             ArrayRef<Value> madeHere);
  SmallVector<Value> call(func::FuncOp task, ArrayRef<Value> args);
  void callAdding(unsigned stage, func::FuncOp task, ArrayRef<Value> args,
                  unsigned firstGradient, ActionOps &own);
  void send(ArrayRef<Value> values, const PipelineAction &action, int shift);
  Task &getTask(const PipelineAction &action);
  bool isHere(unsigned stage) const {
    return schedule.deviceOf[stage] == device;
  }
  /// Of the first micro-batch; those of the others are kChannelStride apart.
  uint64_t getChannel(unsigned stage, bool isForward) const {
    return firstChannel + uint64_t(stage) * microBatches * kChannelStride +
           (isForward ? 0 : 1);
  }
  IntegerAttr getStride() {
    return hasTurns() ? builder.getI64IntegerAttr(kChannelStride)
                      : IntegerAttr();
  }
  int64_t getShift(unsigned from, unsigned to) const {
    return static_cast<int64_t>(schedule.deviceOf[to]) -
           static_cast<int64_t>(schedule.deviceOf[from]);
  }
  void name(Operation *op, unsigned stage, Phase phase);

  /// A channel for each direction.
  static constexpr int64_t kChannelStride = 2;

  func::FuncOp program;
  const PipelineSchedule &schedule;
  StageSplitter &splitter;
  OpBuilder builder;
  StringAttr batch; ///< The dimensions that micro-batches divide.
  StringAttr axis;  ///< Where stages live; null if there is one device.
  unsigned microBatches;
  unsigned receiveAhead; ///< Actions that messages are posted ahead.
  ArrayAttr switchAxes;  ///< Of all devices; see `findSwitchAxes`.
  const ReturnedTokens &tokens;
  uint64_t firstChannel = 0; ///< Of the messages between stages.

  unsigned device = 0;
  func::FuncOp function;
  std::map<unsigned, StageState> stages;
  DenseMap<std::pair<Value, unsigned>, Value> inputs;
  SmallVector<Attribute> inputNames; ///< Dictionaries of arguments.

  // The body of the schedule, while it is built.
  Block *body = nullptr;
  llvm::MapVector<Value, BlockArgument> turnInputs;
  std::map<std::pair<unsigned, bool>, ActionOps> receives; ///< Forward or not.
  std::map<ActionKey, ActionOps> actionOps;
  /// By stage and micro-batch, what has executed its backward.
  DenseMap<std::pair<unsigned, unsigned>, ActionOps *> backwards;
  ActionOps tokenSend, tokenReceive;
  std::vector<OrderEntry> order;
  /// Behind what is side by side: what the first of the two sends.
  std::vector<OrderEntry> heldBack;
  bool isFirstOfPair = false;        ///< What is executed.
  std::vector<OrderEntry> lateOrder; ///< Behind all others.
  uint64_t numTotals = 0;

  DenseSet<Operation *> called;
};
} // namespace

static bool runsForward(const PipelineAction &action) {
  return action.kind == PipelineAction::Forward;
}

Task &Scheduler::getTask(const PipelineAction &action) {
  return runsForward(action) ? splitter.getForward(action.stage)
                             : splitter.getBackward(action.stage);
}

/// An argument of the program for one micro-batch. Each has its own of what has
/// a dimension of the batch.
Value Scheduler::getInput(Value arg, unsigned microBatch) {
  const bool isShared =
      llvm::none_of(cast<SymTensorType>(arg.getType()).getDims(),
                    [&](DimAttr dim) { return dim.hasName(batch); });
  if (isShared)
    microBatch = 0;
  Value &value = inputs[{arg, microBatch}];
  if (value)
    return value;
  unsigned number = cast<BlockArgument>(arg).getArgNumber();
  value = function.getBody().front().addArgument(arg.getType(), arg.getLoc());
  auto own =
      program.getArgAttrOfType<StringAttr>(number, STGDialect::kNameAttr);
  std::string text = own ? own.str() : "arg" + std::to_string(number);
  if (hasTurns() && !isShared)
    text = "mb" + std::to_string(microBatch) + "." + text;
  inputNames.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
      STGDialect::kNameAttr, builder.getStringAttr(text))));
  return value;
}

/// The same within the schedule.
Value Scheduler::getTurnInput(Value arg, unsigned microBatch) {
  Value input = getInput(arg, microBatch);
  if (!hasTurns())
    return input;
  BlockArgument &turnInput = turnInputs[arg];
  if (!turnInput)
    turnInput = body->addArgument(arg.getType(), arg.getLoc());
  return turnInput;
}

void Scheduler::name(Operation *op, unsigned stage, Phase phase) {
  setName(op, builder.getStringAttr("stage" + std::to_string(stage)));
  setPhase(op, phase);
}

/// Into the tokens that the first stage reads.
void Scheduler::receiveTokens(const PipelineAction &action) {
  if (!tokens.received || action.stage > 0 || tokens.from == tokens.to)
    return;
  Value into = getTurnInput(tokens.read, action.microBatch);
  auto recv = RecvOp::create(
      builder, program.getLoc(), into.getType(), into, axis,
      builder.getI64IntegerAttr(int64_t(tokens.from) - int64_t(tokens.to)),
      builder.getI64IntegerAttr(
          getChannel(tokens.numStages, /*isForward=*/true)),
      getStride(), tokens.received, OriginAttr());
  name(recv, 0, Phase::Forward);
  stages[0].tokens = recv.getResult(0);
}

/// Behind the last stage, to who executes the first one.
void Scheduler::sendTokens(const PipelineAction &action) {
  unsigned last = schedule.numVirtualStages - 1;
  if (!tokens.sent || action.stage != last || tokens.from == tokens.to)
    return;
  const auto &results = splitter.getForward(last).results;
  const auto *place = llvm::find(results, tokens.sampled);
  auto send = SendOp::create(
      builder, program.getLoc(), stages[last].saved[place - results.begin()],
      axis,
      builder.getI64IntegerAttr(int64_t(tokens.to) - int64_t(tokens.from)),
      builder.getI64IntegerAttr(
          getChannel(tokens.numStages, /*isForward=*/true)),
      getStride(), tokens.sent, OriginAttr());
  name(send, 0, Phase::Forward);
}

/// Posts the message that an action needs, if it comes from another device.
void Scheduler::makeReceive(const PipelineAction &action) {
  if (action.kind == PipelineAction::BackwardWeight)
    return;
  bool isForward = runsForward(action);
  Task &task = getTask(action);
  SmallVector<Type> types;
  for (auto [arg, type] :
       llvm::zip_equal(task.args, task.function.getArgumentTypes()))
    if (arg.source == Task::Received)
      types.push_back(type);
  unsigned source = isForward ? action.stage - 1 : action.stage + 1;
  if (types.empty() || isHere(source))
    return;
  auto recv = RecvOp::create(
      builder, program.getLoc(), types, /*into=*/Value(), axis,
      builder.getI64IntegerAttr(getShift(action.stage, source)),
      builder.getI64IntegerAttr(getChannel(action.stage, isForward)),
      getStride(), /*payload=*/SymExpr(), OriginAttr());
  name(recv, action.stage, isForward ? Phase::Forward : Phase::Backward);
  StageState &own = stages[action.stage];
  (isForward ? own.received : own.receivedBack)
      .assign(recv.result_begin(), recv.result_end());
}

void Scheduler::send(ArrayRef<Value> values, const PipelineAction &action,
                     int step) {
  unsigned target = action.stage + step;
  if (values.empty() || isHere(target))
    return;
  auto send =
      SendOp::create(builder, program.getLoc(), values, axis,
                     builder.getI64IntegerAttr(getShift(action.stage, target)),
                     builder.getI64IntegerAttr(getChannel(target, step > 0)),
                     getStride(), /*payload=*/SymExpr(), OriginAttr());
  name(send, target, step > 0 ? Phase::Forward : Phase::Backward);
}

SmallVector<Value> Scheduler::call(func::FuncOp task, ArrayRef<Value> args) {
  called.insert(task);
  auto call = func::CallOp::create(builder, program.getLoc(), task, args);
  return llvm::to_vector_of<Value>(call.getResults());
}

/// Calls a task that adds to gradients, which are its results from
/// `firstGradient` on; the others are sent.
void Scheduler::callAdding(unsigned stage, func::FuncOp task,
                           ArrayRef<Value> args, unsigned firstGradient,
                           ActionOps &own) {
  StageState &state = stages[stage];
  if (!hasTurns()) {
    own.sent = call(task, args);
    state.gradients =
        llvm::to_vector(ArrayRef(own.sent).drop_front(firstGradient));
    own.sent.truncate(firstGradient);
    return;
  }
  if (state.done == 0)
    state.total = numTotals++;
  own.adder = TurnCallOp::create(
      builder, program.getLoc(),
      task.getResultTypes().take_front(firstGradient),
      builder.getI64IntegerAttr(state.total), FlatSymbolRefAttr(),
      FlatSymbolRefAttr(), FlatSymbolRefAttr(), args);
  own.sent = llvm::to_vector_of<Value>(own.adder.getResults());
}

/// A task that adds to gradients is executed: by its variant for the first, a
/// further or the last micro-batch of the stage.
void Scheduler::countAdded(const PipelineAction &action, ActionOps &own) {
  StageState &state = stages[action.stage];
  Turn turn{state.done == 0, state.done + 1 == microBatches};
  ++state.done;
  bool isWhole = action.kind == PipelineAction::Backward;
  Task &task = splitter.getBackward(action.stage);
  func::FuncOp function = isWhole ? task.function : state.halves->weight;
  unsigned firstGradient = isWhole ? task.sends.size() : 0;
  // What reduces nothing is the same for the last one as for those before.
  auto next = state.turns.find({function, Turn{false, false}});
  func::FuncOp &variant =
      turn.isLast && next != state.turns.end() && !hasReductions(function)
          ? next->second
          : state.turns[{function, turn}];
  if (!variant) {
    variant =
        makeTurn(function, action.stage, firstGradient, turn, state.layouts);
    called.insert(variant);
  }
  if (turn.isFirst)
    state.layouts = llvm::to_vector(
        llvm::drop_begin(getResultLayouts(variant), firstGradient));
  auto name = FlatSymbolRefAttr::get(variant.getSymNameAttr());
  if (turn.isFirst)
    own.adder.setFirstAttr(name);
  else if (turn.isLast)
    own.adder.setLastAttr(name);
  else if (!own.adder.getNextAttr())
    own.adder.setNextAttr(name);
  if (turn.isLast)
    state.totals =
        llvm::to_vector(variant.getResultTypes().drop_front(firstGradient));
}

/// The arguments of a forward or backward task: inputs, what was received or
/// made by the neighbouring stage on this device, and what was saved.
SmallVector<Value> Scheduler::getArgs(Task &task, const PipelineAction &action,
                                      ArrayRef<Value> madeHere) {
  bool isForward = runsForward(action);
  StageState &own = stages[action.stage];
  ArrayRef<Value> messages = isForward ? own.received : own.receivedBack;
  unsigned source = isForward ? action.stage - 1 : action.stage + 1;
  SmallVector<Value> args;
  for (const Task::Arg &arg : task.args) {
    switch (arg.source) {
    case Task::Input:
      args.push_back(own.tokens && arg.value == tokens.read
                         ? own.tokens
                         : getTurnInput(arg.value, action.microBatch));
      break;
    case Task::Received:
      if (isHere(source)) {
        args.push_back(madeHere[arg.number]);
        break;
      }
      args.push_back(messages.front());
      messages = messages.drop_front();
      break;
    case Task::Saved:
      args.push_back(own.saved[arg.number]);
      break;
    }
  }
  return args;
}

void Scheduler::makeForward(const PipelineAction &action) {
  Task &task = splitter.getForward(action.stage);
  ArrayRef<Value> madeHere;
  if (action.stage > 0 && isHere(action.stage - 1))
    madeHere = stages[action.stage - 1].sent;
  SmallVector<Value> results =
      call(task.function, getArgs(task, action, madeHere));
  StageState &own = stages[action.stage];
  ArrayRef<Value> all(results);
  own.sent = llvm::to_vector(all.take_front(task.sends.size()));
  own.saved = llvm::to_vector(all.drop_front(task.sends.size()));
  send(own.sent, action, 1);
}

void Scheduler::makeBackward(const PipelineAction &action, ActionOps &own,
                             ActionOps *source) {
  Task &task = splitter.getBackward(action.stage);
  SmallVector<Value> args =
      getArgs(task, action, source ? source->sent : ArrayRef<Value>());
  callAdding(action.stage, task.function, args, task.sends.size(), own);
  send(own.sent, action, -1);
}

void Scheduler::makeBackwardInput(const PipelineAction &action, ActionOps &own,
                                  ActionOps *source) {
  Task &task = splitter.getBackward(action.stage);
  StageState &state = stages[action.stage];
  if (!state.halves)
    state.halves = splitBackward(task.function, task.sends.size());
  SmallVector<Value> args =
      getArgs(task, action, source ? source->sent : ArrayRef<Value>());
  SmallVector<Value> inputArgs;
  for (unsigned number : state.halves->inputArgs)
    inputArgs.push_back(args[number]);
  SmallVector<Value> results = call(state.halves->input, inputArgs);
  ArrayRef<Value> all(results);
  own.sent = llvm::to_vector(all.take_front(task.sends.size()));
  ArrayRef<Value> passed = all.drop_front(task.sends.size());
  for (BackwardHalves::WeightArg arg : state.halves->weightArgs)
    own.passed.push_back(arg.fromInput ? passed[arg.number] : args[arg.number]);
  send(own.sent, action, -1);
}

void Scheduler::makeAction(const PipelineAction &action, ActionOps &own,
                           ActionOps *source) {
  switch (action.kind) {
  case PipelineAction::Forward:
    return makeForward(action);
  case PipelineAction::Backward:
    return makeBackward(action, own, source);
  case PipelineAction::BackwardInput:
    return makeBackwardInput(action, own, source);
  case PipelineAction::BackwardWeight:
    return callAdding(action.stage, stages[action.stage].halves->weight,
                      source->passed, /*firstGradient=*/0, own);
  }
  llvm_unreachable("an action of no known kind");
}

/// What has made the values on this device that a backward action reads: some
/// backwards of a stage may be split and others not.
Scheduler::ActionOps *Scheduler::getSource(const PipelineAction &action) {
  if (action.kind == PipelineAction::Forward)
    return nullptr;
  if (action.kind == PipelineAction::BackwardWeight)
    return backwards.lookup({action.stage, action.microBatch});
  bool isMadeHere =
      action.stage + 1 < schedule.numVirtualStages && isHere(action.stage + 1);
  return isMadeHere ? backwards.lookup({action.stage + 1, action.microBatch})
                    : nullptr;
}

/// Makes ops if they are not there; so the body is in the order of first
/// executions.
template <typename Fn> void Scheduler::makeOps(ActionOps &own, Fn make) {
  if (std::exchange(own.isMade, true))
    return;
  size_t before = body->getOperations().size();
  make();
  for (size_t i = before, e = body->getOperations().size(); i < e; ++i)
    own.ops.push_back(i);
}

/// Posts the message of the tokens that the first stage reads.
void Scheduler::postTokens(const PipelineAction &action) {
  if (!runsForward(action) || action.stage > 0)
    return;
  makeOps(tokenReceive, [&] { receiveTokens(action); });
  for (uint32_t op : tokenReceive.ops)
    order.push_back({op, action.microBatch});
}

/// Posts the message that an action waits for.
void Scheduler::post(const PipelineAction &action) {
  if (action.kind == PipelineAction::BackwardWeight)
    return;
  if (!areTokensTogether())
    postTokens(action);
  ActionOps &own = receives[{action.stage, runsForward(action)}];
  makeOps(own, [&] { makeReceive(action); });
  for (uint32_t op : own.ops)
    order.push_back({op, action.microBatch});
}

/// Puts the ops of an action into the order: a call, and what is sent of its
/// results. Two calls side by side send when both are done.
void Scheduler::place(const ActionOps &own, const PipelineAction &action) {
  std::vector<OrderEntry> messages = std::exchange(heldBack, {});
  for (auto [number, op] : llvm::enumerate(own.ops))
    if (number == 0)
      order.push_back({op, action.microBatch, action.isBeside});
    else
      messages.push_back({op, action.microBatch});
  if (isFirstOfPair)
    heldBack = std::move(messages);
  else
    llvm::append_range(order, messages);
}

/// Those over which the rows of experts are exchanged; null if there are none,
/// or others in other layers.
ArrayAttr Scheduler::findSwitchAxes() {
  SetVector<ArrayAttr> axes;
  program->getParentOfType<ModuleOp>().walk([&](AllToAllOp op) {
    if (findExpertExchange(op))
      axes.insert(op.getAxes());
  });
  return axes.size() == 1 ? axes.front() : ArrayAttr();
}

/// Executes an action in the turn of its micro-batch.
void Scheduler::execute(const PipelineAction &action) {
  ActionOps *source = getSource(action);
  ActionOps &own = actionOps[{action.stage, action.kind, source}];
  makeOps(own, [&] { makeAction(action, own, source); });
  if (action.kind != PipelineAction::BackwardWeight) {
    // Inputs are in the order in which they are first read.
    for (const Task::Arg &arg : getTask(action).args)
      if (arg.source == Task::Input)
        getInput(arg.value, action.microBatch);
    if (!runsForward(action))
      backwards[{action.stage, action.microBatch}] = &own;
  }
  if (own.adder)
    countAdded(action, own);
  place(own, action);
  if (!runsForward(action))
    return;
  makeOps(tokenSend, [&] { sendTokens(action); });
  tokenSend.isMade = !tokenSend.ops.empty();
  if (action.stage + 1 == schedule.numVirtualStages)
    for (uint32_t op : tokenSend.ops)
      (areTokensTogether() ? lateOrder : order)
          .push_back({op, action.microBatch});
}

void Scheduler::buildActions() {
  ArrayRef<PipelineAction> actions = schedule.actions[device];
  if (areTokensTogether())
    for (const PipelineAction &action : actions)
      postTokens(action);
  size_t posted = 0;
  for (auto [position, action] : llvm::enumerate(actions)) {
    // A message is posted ahead, so that it arrives while others are computed;
    // nothing is between what is side by side, and both are posted together.
    isFirstOfPair = isNextBeside(actions, position);
    size_t last = position + receiveAhead + isFirstOfPair;
    last += isNextBeside(actions, last);
    for (; !action.isBeside && posted <= last && posted < actions.size();
         ++posted)
      post(actions[posted]);
    execute(action);
  }
  llvm::append_range(order, lateOrder);
}

/// Puts the body into a schedule, whose results are the gradients of stages.
void Scheduler::insertSchedule(Block &turn) {
  SmallVector<Value> operands;
  for (auto &[arg, turnInput] : turnInputs)
    for (unsigned number = 0; number < microBatches; ++number)
      operands.push_back(getInput(arg, number));
  std::vector<StageState *> byTotal(numTotals);
  for (auto &[stage, state] : stages)
    if (state.done > 0)
      byTotal[state.total] = &state;
  SmallVector<Type> types;
  for (StageState *state : byTotal)
    llvm::append_range(types, state->totals);
  ExecutionOrder compressed = ExecutionOrder::compress(order);
  auto op = ScheduleOp::create(
      builder, program.getLoc(), types, builder.getStringAttr("mb"),
      builder.getI64IntegerAttr(microBatches), operands,
      OrderAttr::get(builder.getContext(), compressed),
      compressed.hasPairs() ? switchAxes : ArrayAttr());
  op.getBody().push_back(new Block);
  Block &target = op.getBody().front();
  for (BlockArgument arg : turn.getArguments())
    arg.replaceAllUsesWith(target.addArgument(arg.getType(), arg.getLoc()));
  target.getOperations().splice(target.end(), turn.getOperations());
  auto next = op.result_begin();
  for (StageState *state : byTotal)
    for (size_t i = 0, e = state->totals.size(); i < e; ++i)
      state->gradients.push_back(*next++);
}

void Scheduler::makeStep() {
  Task &task = splitter.getStep(device);
  SmallVector<Value> args;
  for (const Task::Arg &arg : task.args)
    args.push_back(arg.source == Task::Input
                       ? getInput(arg.value, 0)
                       : stages[arg.stage].gradients[arg.number]);
  call(task.function, args);
}

/// All at once: the names are one attribute of the function.
void Scheduler::nameInputs() {
  Block &entry = function.getBody().front();
  function.setType(builder.getFunctionType(entry.getArgumentTypes(), {}));
  if (!inputNames.empty())
    function.setArgAttrsAttr(builder.getArrayAttr(inputNames));
}

void Scheduler::buildDevice(unsigned number) {
  OpBuilder::InsertionGuard guard(builder);
  device = number;
  inputs.clear();
  inputNames.clear();
  stages.clear();
  turnInputs.clear();
  receives.clear();
  actionOps.clear();
  backwards.clear();
  order.clear();
  tokenSend = tokenReceive = ActionOps();
  lateOrder.clear();
  numTotals = 0;
  std::string name = program.getSymName().str();
  if (schedule.numDevices > 1)
    name += ".device" + std::to_string(device);
  function = func::FuncOp::create(builder, program.getLoc(), name,
                                  builder.getFunctionType({}, {}));
  copyProgram(program, function);
  if (schedule.numDevices > 1)
    function->setAttr(
        STGDialect::kCoordinatesAttr,
        CoordinatesAttr::get(builder.getContext(), axis, int64_t(device)));
  Block *entry = function.addEntryBlock(), turn;
  body = hasTurns() ? &turn : entry;
  builder.setInsertionPointToEnd(body);
  buildActions();
  builder.setInsertionPointToEnd(entry);
  if (hasTurns())
    insertSchedule(turn);
  makeStep();
  func::ReturnOp::create(builder, program.getLoc());
  nameInputs();
}

void Scheduler::run() {
  if (schedule.hasPairs())
    switchAxes = findSwitchAxes();
  for (unsigned device = 0; device < schedule.numDevices; ++device)
    if (llvm::is_contained(schedule.deviceOf, device))
      buildDevice(device);
  program.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// False for a step of inference.
static bool hasBackward(func::FuncOp program) {
  return program
      .walk([](Operation *op) {
        return getPhase(op) == Phase::Backward ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<PipelineSchedule> Schedule::makePipeline(func::FuncOp program) {
  unsigned devices = 1;
  if (MeshOp mesh = MeshOp::lookup(program))
    if (StringAttr axis = mesh.getMesh().getPipelineAxis()) {
      SymExpr size = mesh.getMesh().getAxisSize(axis);
      std::optional<int64_t> number = size.getInt64();
      if (!number)
        return mesh.emitOpError("has ")
               << size
               << " pipeline stages; a schedule needs a number, bind "
                  "it first";
      devices = *number;
    }
  ScheduleRequest request;
  request.devices = devices;
  request.virtualStagesPerDevice = virtualStages;
  request.microBatches = microBatches;
  request.pairs = pairs && hasBackward(program);
  llvm::Expected<PipelineSchedule> schedule =
      makeSchedule(scheduleName, request);
  if (!schedule)
    return getOperation().emitError(llvm::toString(schedule.takeError()));
  if (!hasBackward(program))
    schedule->dropBackward();
  return std::move(*schedule);
}

/// One stage, on the device of the last one.
FailureOr<PipelineSchedule>
Schedule::placeOnLast(const PipelineSchedule &pipeline) {
  ScheduleRequest request;
  request.microBatches = microBatches;
  llvm::Expected<PipelineSchedule> own = makeSchedule("gpipe", request);
  if (!own)
    return getOperation().emitError(llvm::toString(own.takeError()));
  own->dropBackward();
  own->numDevices = pipeline.numDevices;
  own->deviceOf = {pipeline.deviceOf.back()};
  std::vector<PipelineAction> actions = std::move(own->actions.front());
  own->actions.assign(pipeline.numDevices, {});
  own->actions[pipeline.deviceOf.back()] = std::move(actions);
  return std::move(*own);
}

/// What the program has sampled, if steps hand it on.
FailureOr<ReturnedTokens>
Schedule::findTokens(func::FuncOp program, const PipelineSchedule &pipeline) {
  ReturnedTokens tokens;
  tokens.from = pipeline.deviceOf.back();
  tokens.to = pipeline.deviceOf.front();
  tokens.numStages = pipeline.numVirtualStages;
  if (receivedTokens == 0 && sentTokens == 0)
    return tokens;
  Operation *end = program.getBody().front().getTerminator();
  if (end->getNumOperands() > 0)
    tokens.sampled = end->getOperand(0);
  auto type = tokens.sampled ? dyn_cast<SymTensorType>(tokens.sampled.getType())
                             : SymTensorType();
  std::optional<int64_t> rows;
  if (type && !type.getDims().empty() && type.getElementType().isInteger())
    rows = type.getDims().back().getExtent().getInt64();
  if (!rows || *rows < 1)
    return program.emitError("hands tokens on to the next step, but its first "
                             "result has no number of them");
  auto getBytes = [&](int64_t count) {
    if (count == 0)
      return SymExpr();
    Rational share{llvm::DynamicAPInt(count), llvm::DynamicAPInt(*rows)};
    return type.getNumBytes() * SymExpr::get(program.getContext(), share);
  };
  tokens.sent = getBytes(sentTokens);
  tokens.received = getBytes(receivedTokens);
  return tokens;
}

/// The names of the dimensions of logits that are sampled.
static DenseSet<StringAttr> getVocabulary(func::FuncOp program) {
  DenseSet<StringAttr> names;
  program.walk([&](Operation *op) {
    if (!isa<SampleOp, SamplePartOp>(op))
      return;
    auto type = cast<SymTensorType>(op->getOperand(0).getType());
    names.insert_range(type.getDims().back().getNames());
  });
  return names;
}

/// True for rows of a table of the vocabulary; positions are other rows.
static bool readsTokens(Value arg, const DenseSet<StringAttr> &vocabulary) {
  return llvm::any_of(arg.getUsers(), [&](Operation *user) {
    auto lookup = dyn_cast<EmbeddingOp>(user);
    return lookup &&
           llvm::any_of(
               lookup.getTable().getType().getDim(0).getNames(),
               [&](StringAttr name) { return vocabulary.contains(name); });
  });
}

/// The argument of the first stage that has tokens.
LogicalResult Schedule::findReader(func::FuncOp program,
                                   StageSplitter &splitter,
                                   ReturnedTokens &tokens) {
  if (!tokens.sampled)
    return success();
  Type element = cast<SymTensorType>(tokens.sampled.getType()).getElementType();
  SmallVector<Value> integers, looked;
  DenseSet<StringAttr> vocabulary = getVocabulary(program);
  for (const Task::Arg &arg : splitter.getForward(0).args) {
    auto type = dyn_cast<SymTensorType>(arg.value.getType());
    if (arg.source != Task::Input || !type || type.getElementType() != element)
      continue;
    integers.push_back(arg.value);
    if (readsTokens(arg.value, vocabulary))
      looked.push_back(arg.value);
  }
  for (Value arg : looked.empty() ? integers : looked) {
    if (tokens.read)
      return emitError(
          arg.getLoc(),
          "an input is a second argument of the first stage that can have "
          "the tokens of the step before; use one stage");
    tokens.read = cast<BlockArgument>(arg);
  }
  if (!tokens.read)
    return emitError(
        tokens.sampled.getLoc(),
        "the program makes tokens, which no argument of the first stage can "
        "have in the next step; use one stage");
  return success();
}

/// Says what stages send to each other.
LogicalResult Schedule::formMessages(func::FuncOp program,
                                     StageSplitter &splitter,
                                     ArrayRef<unsigned> deviceOf) {
  if (stageTensors == 1 && !stageSlices)
    return success();
  if (stageTensors < 1 || stageTensors > 2)
    return getOperation().emitError("has ")
           << stageTensors.getValue()
           << " tensors for the residual stream, expected 1 or 2";
  if (hasBackward(program))
    return program.emitError("has a backward pass, for which stages send the "
                             "residual stream as it is");
  if (stageTensors == 2 && failed(sendSummands(splitter, deviceOf)))
    return failure();
  if (MeshOp mesh = MeshOp::lookup(program); mesh && stageSlices)
    sendSlices(splitter, deviceOf, mesh.getMesh());
  return success();
}

LogicalResult Schedule::schedule(func::FuncOp program) {
  FailureOr<PipelineSchedule> pipeline = makePipeline(program);
  if (failed(pipeline))
    return failure();
  FailureOr<ReturnedTokens> tokens = findTokens(program, *pipeline);
  if (failed(tokens))
    return failure();
  if (onLastDevice && hasBackward(program))
    return program.emitError("has a backward pass, so it cannot be on the last "
                             "device alone");
  if (onLastDevice)
    pipeline = placeOnLast(*pipeline);
  if (failed(pipeline))
    return failure();
  DenseSet<Operation *> given;
  for (auto function : getOperation().getOps<func::FuncOp>())
    given.insert(function);
  StageSplitter splitter(program, layersPerStage, pipeline->deviceOf,
                         getChildAnalysis<GradientFlow>(program));
  if (failed(splitter.run(tokens->sampled)) ||
      failed(findReader(program, splitter, *tokens)) ||
      failed(formMessages(program, splitter, pipeline->deviceOf)))
    return failure();
  unsigned ahead =
      receiveAhead ? receiveAhead.getValue() : getReceiveAhead(*pipeline);
  Scheduler scheduler(program, *pipeline, splitter, ahead, *tokens, batch);
  scheduler.run();
  // A task that no program calls has only been a pattern.
  for (auto function :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
    if (function.isPrivate() && !given.contains(function) &&
        !scheduler.isCalled(function))
      function.erase();
  return success();
}

void Schedule::runOnOperation() {
  SmallVector<func::FuncOp> programs = getPrograms(getOperation());
  if (programs.empty())
    return signalPassFailure();
  for (func::FuncOp program : programs)
    if (failed(schedule(program)))
      return signalPassFailure();
}
