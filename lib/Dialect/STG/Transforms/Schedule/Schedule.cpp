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
#include "SplitBackward.h"
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
struct Schedule : stg::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;
  void runOnOperation() override;

private:
  LogicalResult schedule(func::FuncOp program);
  FailureOr<PipelineSchedule> makePipeline(func::FuncOp program);
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
/// has been accumulated as further arguments; one that is not the last leaves
/// out the reductions.
static func::FuncOp makeTurn(func::FuncOp task, unsigned stage,
                             unsigned firstGradient, Turn turn) {
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
  return copy;
}

//===----------------------------------------------------------------------===//
// Programs of devices
//===----------------------------------------------------------------------===//

/// Builds the program of each device.
class Scheduler {
public:
  Scheduler(func::FuncOp program, const PipelineSchedule &schedule,
            StageSplitter &splitter, unsigned receiveAhead)
      : program(program), schedule(schedule), splitter(splitter),
        builder(program), microBatches(schedule.numMicroBatches),
        receiveAhead(receiveAhead) {
    if (MeshOp mesh = MeshOp::lookup(program))
      axis = mesh.getMesh().getPipelineAxis();
    if (axis)
      firstChannel =
          Channels(program->getParentOfType<ModuleOp>())
              .take(axis, int64_t(schedule.deviceOf.size()) * microBatches * 2);
  }

  void run();
  /// True for a task or a variant of one that some device executes.
  bool isCalled(func::FuncOp task) const { return called.contains(task); }

private:
  /// What a stage has of one micro-batch on its device.
  struct InFlight {
    SmallVector<Value> sent, saved;  ///< Results of forward.
    SmallVector<Value> received;     ///< By forward.
    SmallVector<Value> receivedBack; ///< By backward.
    SmallVector<Value> sentBack;     ///< Sends of backward.
    SmallVector<Value> fromInput;    ///< For the weight half of a backward.
  };
  struct StageState {
    SmallVector<Value> gradients;
    unsigned done = 0; ///< Micro-batches that have made gradients.
    /// Of the whole backward, and of its weight half.
    std::map<std::pair<Operation *, Turn>, func::FuncOp> turns;
    std::optional<BackwardHalves> halves;
  };

  void buildDevice(unsigned device);
  void receive(const PipelineAction &action);
  void runForward(const PipelineAction &action);
  void runBackward(const PipelineAction &action);
  void runBackwardInput(const PipelineAction &action);
  void runBackwardWeight(const PipelineAction &action);
  void runStep(unsigned device);

  Value getInput(Value arg, unsigned microBatch);
  SmallVector<Value> getArgs(Task &task, const PipelineAction &action,
                             bool isForward);
  SmallVector<Value> accumulateOn(unsigned stage, func::FuncOp &task,
                                  unsigned firstGradient);
  SmallVector<Value> call(func::FuncOp task, ArrayRef<Value> args,
                          std::optional<unsigned> microBatch);
  void send(ArrayRef<Value> values, const PipelineAction &action, int shift);
  bool isHere(unsigned stage) const {
    return schedule.deviceOf[stage] == device;
  }
  uint64_t getChannel(unsigned stage, unsigned microBatch, bool isForward) {
    return firstChannel + (uint64_t(stage) * microBatches + microBatch) * 2 +
           (isForward ? 0 : 1);
  }
  int64_t getShift(unsigned from, unsigned to) const {
    return static_cast<int64_t>(schedule.deviceOf[to]) -
           static_cast<int64_t>(schedule.deviceOf[from]);
  }
  void name(Operation *op, const PipelineAction &action, Phase phase);
  void forget(const PipelineAction &action);
  void nameInputs();

  func::FuncOp program;
  const PipelineSchedule &schedule;
  StageSplitter &splitter;
  OpBuilder builder;
  StringAttr axis; ///< Where stages live; null if there is one device.
  unsigned microBatches;
  unsigned receiveAhead;     ///< Actions that messages are posted ahead.
  uint64_t firstChannel = 0; ///< Of the messages between stages.

  unsigned device = 0;
  func::FuncOp function;
  /// By stage and micro-batch; only of those that are under way.
  std::map<std::pair<unsigned, unsigned>, InFlight> inFlight;
  DenseMap<std::pair<Value, unsigned>, Value> inputs;
  SmallVector<Attribute> inputNames; ///< Dictionaries of arguments.
  std::map<unsigned, StageState> stages;
  DenseSet<Operation *> called;
};
} // namespace

static bool runsForward(const PipelineAction &action) {
  return action.kind == PipelineAction::Forward;
}

/// An argument of the program for one micro-batch; each has its own.
Value Scheduler::getInput(Value arg, unsigned microBatch) {
  Value &value = inputs[{arg, microBatch}];
  if (value)
    return value;
  unsigned number = cast<BlockArgument>(arg).getArgNumber();
  value = function.getBody().front().addArgument(arg.getType(), arg.getLoc());
  auto own =
      program.getArgAttrOfType<StringAttr>(number, STGDialect::kNameAttr);
  std::string text = own ? own.str() : "arg" + std::to_string(number);
  if (microBatches > 1)
    text = "mb" + std::to_string(microBatch) + "." + text;
  inputNames.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
      STGDialect::kNameAttr, builder.getStringAttr(text))));
  return value;
}

/// `mb3.stage2`, the phase of the action.
void Scheduler::name(Operation *op, const PipelineAction &action, Phase phase) {
  std::string text = "stage" + std::to_string(action.stage);
  if (microBatches > 1)
    text = "mb" + std::to_string(action.microBatch) + "." + text;
  setName(op, builder.getStringAttr(text));
  setPhase(op, phase);
}

/// Posts the message that an action needs, if it comes from another device.
void Scheduler::receive(const PipelineAction &action) {
  if (action.kind == PipelineAction::BackwardWeight)
    return;
  bool isForward = runsForward(action);
  Task &task = isForward ? splitter.getForward(action.stage)
                         : splitter.getBackward(action.stage);
  SmallVector<Type> types;
  for (auto [arg, type] :
       llvm::zip_equal(task.args, task.function.getArgumentTypes()))
    if (arg.source == Task::Received)
      types.push_back(type);
  unsigned source = isForward ? action.stage - 1 : action.stage + 1;
  if (types.empty() || isHere(source))
    return;
  auto recv = RecvOp::create(
      builder, program.getLoc(), types, axis, getShift(action.stage, source),
      getChannel(action.stage, action.microBatch, isForward));
  name(recv, action, isForward ? Phase::Forward : Phase::Backward);
  InFlight &own = inFlight[{action.stage, action.microBatch}];
  (isForward ? own.received : own.receivedBack)
      .assign(recv.result_begin(), recv.result_end());
}

void Scheduler::send(ArrayRef<Value> values, const PipelineAction &action,
                     int step) {
  unsigned target = action.stage + step;
  if (values.empty() || isHere(target))
    return;
  auto send = SendOp::create(builder, program.getLoc(), values, axis,
                             getShift(action.stage, target),
                             getChannel(target, action.microBatch, step > 0));
  PipelineAction receiver = action;
  receiver.stage = target;
  name(send, receiver, step > 0 ? Phase::Forward : Phase::Backward);
}

SmallVector<Value> Scheduler::call(func::FuncOp task, ArrayRef<Value> args,
                                   std::optional<unsigned> microBatch) {
  called.insert(task);
  auto call = func::CallOp::create(builder, program.getLoc(), task, args);
  if (microBatch && microBatches > 1)
    call->setAttr(STGDialect::kScopeAttr,
                  builder.getStringAttr("mb" + std::to_string(*microBatch)));
  return llvm::to_vector_of<Value>(call.getResults());
}

/// The arguments of a forward or backward task: inputs, what was received or
/// made by the neighbouring stage on this device, and what was saved.
SmallVector<Value> Scheduler::getArgs(Task &task, const PipelineAction &action,
                                      bool isForward) {
  InFlight &own = inFlight[{action.stage, action.microBatch}];
  SmallVector<Value> args;
  unsigned received = 0;
  for (const Task::Arg &arg : task.args) {
    switch (arg.source) {
    case Task::Input:
      args.push_back(getInput(arg.value, action.microBatch));
      break;
    case Task::Received: {
      unsigned source = isForward ? action.stage - 1 : action.stage + 1;
      if (!isHere(source)) {
        args.push_back(
            (isForward ? own.received : own.receivedBack)[received++]);
        break;
      }
      InFlight &other = inFlight[{source, action.microBatch}];
      args.push_back((isForward ? other.sent : other.sentBack)[arg.number]);
      break;
    }
    case Task::Saved:
      args.push_back(own.saved[arg.number]);
      break;
    }
  }
  return args;
}

void Scheduler::runForward(const PipelineAction &action) {
  Task &task = splitter.getForward(action.stage);
  SmallVector<Value> results =
      call(task.function, getArgs(task, action, /*isForward=*/true),
           action.microBatch);
  InFlight &own = inFlight[{action.stage, action.microBatch}];
  ArrayRef<Value> all(results);
  own.sent = llvm::to_vector(all.take_front(task.sends.size()));
  own.saved = llvm::to_vector(all.drop_front(task.sends.size()));
  send(own.sent, action, 1);
}

/// Replaces `task` by its variant for the micro-batch that comes next in the
/// stage; returns the further arguments that the variant takes.
SmallVector<Value> Scheduler::accumulateOn(unsigned stage, func::FuncOp &task,
                                           unsigned firstGradient) {
  StageState &state = stages[stage];
  Turn turn{state.done == 0, state.done + 1 == microBatches};
  ++state.done;
  if (microBatches == 1)
    return {};
  func::FuncOp &variant = state.turns[{task, turn}];
  if (!variant)
    variant = makeTurn(task, stage, firstGradient, turn);
  task = variant;
  return state.gradients;
}

void Scheduler::runBackward(const PipelineAction &action) {
  Task &task = splitter.getBackward(action.stage);
  SmallVector<Value> args = getArgs(task, action, /*isForward=*/false);
  func::FuncOp function = task.function;
  llvm::append_range(args,
                     accumulateOn(action.stage, function, task.sends.size()));
  SmallVector<Value> results = call(function, args, action.microBatch);
  ArrayRef<Value> all(results);
  InFlight &own = inFlight[{action.stage, action.microBatch}];
  own.sentBack = llvm::to_vector(all.take_front(task.sends.size()));
  stages[action.stage].gradients =
      llvm::to_vector(all.drop_front(task.sends.size()));
  send(own.sentBack, action, -1);
}

void Scheduler::runBackwardInput(const PipelineAction &action) {
  Task &task = splitter.getBackward(action.stage);
  StageState &state = stages[action.stage];
  if (!state.halves)
    state.halves = splitBackward(task.function, task.sends.size());
  SmallVector<Value> args = getArgs(task, action, /*isForward=*/false);
  SmallVector<Value> inputArgs;
  for (unsigned number : state.halves->inputArgs)
    inputArgs.push_back(args[number]);
  SmallVector<Value> results =
      call(state.halves->input, inputArgs, action.microBatch);
  InFlight &own = inFlight[{action.stage, action.microBatch}];
  own.sentBack =
      llvm::to_vector(ArrayRef(results).take_front(task.sends.size()));
  ArrayRef<Value> passed = ArrayRef(results).drop_front(task.sends.size());
  for (BackwardHalves::WeightArg arg : state.halves->weightArgs)
    own.fromInput.push_back(arg.fromInput ? passed[arg.number]
                                          : args[arg.number]);
  send(own.sentBack, action, -1);
}

void Scheduler::runBackwardWeight(const PipelineAction &action) {
  StageState &state = stages[action.stage];
  func::FuncOp function = state.halves->weight;
  SmallVector<Value> args =
      inFlight[{action.stage, action.microBatch}].fromInput;
  llvm::append_range(args, accumulateOn(action.stage, function, 0));
  state.gradients = call(function, args, action.microBatch);
}

void Scheduler::runStep(unsigned device) {
  Task &task = splitter.getStep(device);
  SmallVector<Value> args;
  for (const Task::Arg &arg : task.args) {
    if (arg.source == Task::Input) {
      args.push_back(getInput(arg.value, 0));
      continue;
    }
    args.push_back(stages[arg.stage].gradients[arg.number]);
  }
  call(task.function, args, std::nullopt);
}

/// Forgets what nobody will read: all that there was of a micro-batch whose
/// backward pass is done in a stage, but what the stage before takes from it on
/// this device.
void Scheduler::forget(const PipelineAction &action) {
  auto it = inFlight.find({action.stage, action.microBatch});
  if (action.stage > 0 && isHere(action.stage - 1)) {
    SmallVector<Value> sentBack = std::move(it->second.sentBack);
    it->second = InFlight();
    it->second.sentBack = std::move(sentBack);
  } else {
    inFlight.erase(it);
  }
}

/// All at once: the names are one attribute of the function.
void Scheduler::nameInputs() {
  Block &body = function.getBody().front();
  function.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
  if (!inputNames.empty())
    function.setArgAttrsAttr(builder.getArrayAttr(inputNames));
}

void Scheduler::buildDevice(unsigned number) {
  OpBuilder::InsertionGuard guard(builder);
  device = number;
  inFlight.clear();
  inputs.clear();
  inputNames.clear();
  stages.clear();
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
  builder.setInsertionPointToEnd(function.addEntryBlock());
  ArrayRef<PipelineAction> actions = schedule.actions[device];
  for (auto [position, action] : llvm::enumerate(actions)) {
    // A message is posted ahead, so that it arrives while others are computed.
    size_t posted = position == 0 ? 0 : position + receiveAhead;
    for (; posted <= position + receiveAhead && posted < actions.size();
         ++posted)
      receive(actions[posted]);
    switch (action.kind) {
    case PipelineAction::Forward:
      runForward(action);
      break;
    case PipelineAction::Backward:
      runBackward(action);
      forget(action);
      break;
    case PipelineAction::BackwardInput:
      runBackwardInput(action);
      break;
    case PipelineAction::BackwardWeight:
      runBackwardWeight(action);
      forget(action);
      break;
    }
  }
  runStep(device);
  func::ReturnOp::create(builder, program.getLoc());
  nameInputs();
}

void Scheduler::run() {
  for (unsigned device = 0; device < schedule.numDevices; ++device)
    buildDevice(device);
  program.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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
  llvm::Expected<PipelineSchedule> schedule =
      makeSchedule(scheduleName, request);
  if (!schedule)
    return getOperation().emitError(llvm::toString(schedule.takeError()));
  return std::move(*schedule);
}

LogicalResult Schedule::schedule(func::FuncOp program) {
  FailureOr<PipelineSchedule> pipeline = makePipeline(program);
  if (failed(pipeline))
    return failure();
  DenseSet<Operation *> given;
  for (auto function : getOperation().getOps<func::FuncOp>())
    given.insert(function);
  StageSplitter splitter(program, layersPerStage, pipeline->deviceOf,
                         getChildAnalysis<GradientFlow>(program));
  if (failed(splitter.run()))
    return failure();
  unsigned ahead =
      receiveAhead ? receiveAhead.getValue() : getReceiveAhead(*pipeline);
  Scheduler scheduler(program, *pipeline, splitter, ahead);
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
