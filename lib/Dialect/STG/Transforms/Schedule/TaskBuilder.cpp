//===- TaskBuilder.cpp - Builds the task of a stage -----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskBuilder.h"

using namespace mlir;
using namespace stg;

static bool isFree(Value value) {
  return isa_and_nonnull<ParamOp, SplatOp>(value.getDefiningOp());
}

TaskBuilder::TaskBuilder(const StageAssignment &stages, TaskBuilders &others,
                         Task &task, Section section, const Twine &name)
    : stages(stages), others(others), task(task), section(section),
      builder(stages.getProgram()) {
  Location loc = stages.getProgram().getLoc();
  task.function = func::FuncOp::create(builder, loc, name.str(),
                                       builder.getFunctionType({}, {}));
  task.function.setPrivate();
  copyProgram(stages.getProgram(), task.function);
  body = task.function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The type of a value of the program in a stage: a stack has only the stage's
/// layers.
SymTensorType TaskBuilder::getType(unsigned stage, Value value) {
  auto type = cast<SymTensorType>(value.getType());
  const StageAssignment::Range *range = stages.getStackRange(value, stage);
  if (!range)
    return type;
  return type.getSlice().getStacked(type.getDim(0).withExtent(range->count));
}

Value TaskBuilder::addArg(unsigned stage, Task::Source source, Value value) {
  task.args.push_back({source, stage, value, /*number=*/0});
  return values[{value, stage}] =
             body->addArgument(getType(stage, value), value.getLoc());
}

LogicalResult TaskBuilder::addSend(unsigned stage, Value value) {
  if (failed(getSoFar(stage, value)))
    return failure();
  task.sends.insert(value);
  return success();
}

LogicalResult TaskBuilder::addResult(unsigned stage, Value value) {
  if (failed(get(stage, value)))
    return failure();
  task.results.insert(value);
  return success();
}

FailureOr<Value> TaskBuilder::get(unsigned stage, Value value) {
  const BitVector &holders = stages.getStages(value);
  Operation *source = value.getDefiningOp();
  if (source && holders.any()) {
    Section made = stages.getSection(source);
    auto reader = static_cast<int>(stage);
    bool isEarly = made == Section::Forward && reader < holders.find_first();
    bool isLate = made == Section::Backward && reader > holders.find_last();
    if (isEarly || isLate)
      return source->emitOpError("makes a value that ")
             << (isEarly ? "an earlier" : "a later") << " pipeline stage reads";
  }
  return getSoFar(stage, value);
}

FailureOr<Value> TaskBuilder::getSoFar(unsigned stage, Value value) {
  auto it = values.find({value, stage});
  if (it != values.end())
    return it->second;
  Operation *source = value.getDefiningOp();
  if (!source)
    return addArg(stage, Task::Input, value);
  if (isFree(value)) {
    Value &copy = freeValues[value];
    if (!copy)
      copy = builder.clone(*source)->getResult(0);
    return copy;
  }
  Section made = stages.getSection(source);
  if (made == section && section != Section::Step) {
    bool isForward = section == Section::Forward;
    if (isForward ? stage == 0 : stage + 1 == stages.getNumStages())
      return source->emitOpError("makes a value that no pipeline stage holds");
    if (isa<CacheOp>(source))
      return source->emitOpError(
          "is read by layers of another pipeline stage, which would be sent "
          "all of it in each step; put layers that share keys into one stage "
          "with layers-per-stage");
    LogicalResult sent =
        isForward ? others.forward[stage - 1]->addSend(stage - 1, value)
                  : others.backward[stage + 1]->addSend(stage + 1, value);
    if (failed(sent))
      return failure();
    return addArg(stage, Task::Received, value);
  }
  LogicalResult saved = success();
  if (made == Section::Forward && section == Section::Backward)
    saved = others.forward[stage]->addResult(stage, value);
  else if (made == Section::Backward && section == Section::Step)
    saved = others.backward[stage]->addResult(stage, value);
  else
    saved = source->emitOpError("makes a value that is read before the part of "
                                "the step that makes it, or by the optimizer");
  if (failed(saved))
    return failure();
  return addArg(stage, Task::Saved, value);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What the regions of an op read from outside.
LogicalResult TaskBuilder::mapCaptured(unsigned stage, Operation *op,
                                       IRMapping &mapping) {
  for (Region &region : op->getRegions()) {
    WalkResult result = region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (op->isAncestor(operand.getParentBlock()->getParentOp()))
          continue;
        FailureOr<Value> here = get(stage, operand);
        if (failed(here))
          return WalkResult::interrupt();
        mapping.map(operand, *here);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

void TaskBuilder::mapResults(unsigned stage, Operation *op, Operation *copy) {
  for (auto [original, result] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    result.setType(getType(stage, original));
    values[{original, stage}] = result;
  }
}

LogicalResult TaskBuilder::cloneScan(unsigned stage, ScanOpInterface scan) {
  const StageAssignment::Range &range = stages.getRange(scan, stage);
  bool begins = scan.getReverse() ? range.isLast : range.isFirst;
  SmallVector<Value> operands;
  auto add = [&](FailureOr<Value> operand) {
    operands.push_back(operand.value_or(Value()));
    return operand;
  };
  for (auto [init, result] :
       llvm::zip_equal(scan.getCarriedInits(), scan.getCarriedResults()))
    if (failed(add(begins || stages.isParameterSum(result)
                       ? get(stage, init)
                       : getSoFar(stage, result))))
      return failure();
  for (Value stack : scan.getStacks())
    if (failed(add(get(stage, stack))))
      return failure();
  IRMapping mapping;
  if (failed(mapCaptured(stage, scan, mapping)))
    return failure();
  auto copy = cast<ScanOpInterface>(builder.clone(*scan, mapping));
  copy->setOperands(operands);
  copy.setRange(range.first, range.count);
  mapResults(stage, scan, copy);
  return success();
}

/// Adds the terms that the stage holds.
LogicalResult TaskBuilder::addHeld(unsigned stage, Operation *sum) {
  SmallVector<Value> terms;
  for (Value operand : sum->getOperands()) {
    if (!stages.holds(stage, operand))
      continue;
    FailureOr<Value> term = get(stage, operand);
    if (failed(term))
      return failure();
    terms.push_back(*term);
  }
  Value &result = values[{sum->getResult(0), stage}];
  result = terms.front();
  if (terms.size() == 1)
    return success();
  Operation *copy = builder.clone(*sum);
  copy->setOperands(terms);
  result = copy->getResult(0);
  return success();
}

LogicalResult TaskBuilder::clone(unsigned stage, Operation *op) {
  if (auto scan = dyn_cast<ScanOpInterface>(op))
    return cloneScan(stage, scan);
  if (isCoalesced(op))
    return cloneCoalesced(stage, op);
  if (stages.isStageSum(op))
    return addHeld(stage, op);
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> here = get(stage, operand);
    if (failed(here))
      return failure();
    mapping.map(operand, *here);
  }
  if (failed(mapCaptured(stage, op, mapping)))
    return failure();
  mapResults(stage, op, builder.clone(*op, mapping));
  return success();
}

LogicalResult TaskBuilder::cloneOnce(ArrayRef<unsigned> own, Operation *op) {
  SmallVector<std::pair<SmallVector<Value>, unsigned>> done;
  bool isLoop = isa<LoopLikeOpInterface>(op);
  for (unsigned stage : own) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isLoop)
        continue;
      FailureOr<Value> here = get(stage, operand);
      if (failed(here))
        return failure();
      operands.push_back(*here);
    }
    auto same = llvm::find_if(
        done, [&](const auto &other) { return other.first == operands; });
    if (isLoop || same == done.end()) {
      if (failed(clone(stage, op)))
        return failure();
      done.emplace_back(std::move(operands), stage);
      continue;
    }
    for (Value result : op->getResults()) {
      Value made = values.lookup({result, same->second});
      values[{result, stage}] = made;
    }
  }
  return success();
}

/// Several stages of a device may execute their parts one after the other.
void TaskBuilder::nameCoalesced(ArrayRef<unsigned> own, Operation *op,
                                Operation *copy) {
  StringAttr name = getOrigin(op).name;
  unsigned device = stages.getDevice(own.front());
  bool isAlone =
      section == Section::Step ||
      llvm::all_of(stages.getStages(op)->set_bits(), [&](unsigned stage) {
        return stage == own.front() || stages.getDevice(stage) != device;
      });
  if (name && !isAlone)
    setName(copy, builder.getStringAttr("stage" + Twine(own.front()) + "." +
                                        name.getValue()));
}

LogicalResult TaskBuilder::cloneCoalesced(ArrayRef<unsigned> own,
                                          Operation *op) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<std::pair<Value, unsigned>> keys;
  SmallVector<OpOperand *> origins;
  // What several stages hold together is there once.
  DenseMap<Value, unsigned> resultOf;
  SmallVector<unsigned> resultNumbers;
  for (unsigned stage : own)
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      bool hasResult = op->getNumResults() > 0;
      Value result = hasResult ? Value(op->getResult(number)) : Value();
      if (!stages.holds(stage, hasResult ? result : operand))
        continue;
      FailureOr<Value> here = get(stage, operand);
      if (failed(here))
        return failure();
      auto [it, isNew] = resultOf.try_emplace(*here, operands.size());
      if (hasResult) {
        keys.emplace_back(result, stage);
        resultNumbers.push_back(it->second);
      }
      if (!isNew)
        continue;
      operands.push_back(*here);
      origins.push_back(&op->getOpOperand(number));
      if (hasResult)
        types.push_back(getType(stage, result));
    }
  if (operands.empty())
    return success();
  Operation *copy = createCoalesced(builder, cast<CollectiveOpInterface>(op),
                                    origins, operands, types);
  for (auto [key, number] : llvm::zip_equal(keys, resultNumbers))
    values[key] = copy->getResult(number);
  nameCoalesced(own, op, copy);
  return success();
}

LogicalResult TaskBuilder::reduceShared(ArrayRef<unsigned> own, Operation *op) {
  BitVector isReader(others.steps.size());
  for (unsigned stage : stages.getStages(op->getResult(0)).set_bits())
    isReader.set(stages.getDevice(stage));
  auto devices = llvm::to_vector_of<int64_t>(isReader.set_bits());
  Value sum;
  for (unsigned stage : own) {
    FailureOr<Value> term = get(stage, stages.getSharedTerm(op));
    if (failed(term))
      return failure();
    if (sum) {
      // Nobody else reads what a stage has added up.
      auto add = AccumulateOp::create(builder, op->getLoc(), sum, *term);
      copyOrigin(op, add);
      sum = add;
    } else {
      sum = *term;
    }
  }
  if (!sum)
    return success();
  if (devices.size() > 1) {
    Attribute axis = MeshOp::lookup(op).getMesh().getPipelineAxis();
    auto reduce = AllReduceOp::create(
        builder, op->getLoc(), TypeRange(sum.getType()), ValueRange(sum),
        ReduceKind::Sum, builder.getArrayAttr(axis));
    reduce.setAmongAttr(builder.getDenseI64ArrayAttr(devices));
    if (StringAttr name = getOrigin(op).name)
      setName(reduce, name);
    setPhase(reduce, Phase::GradSync);
    setRole(reduce, Role::Shared);
    sum = reduce.getResult(0);
  }
  for (unsigned stage : own)
    values[{op->getResult(0), stage}] = sum;
  return success();
}

void TaskBuilder::finish(unsigned stage) {
  SmallVector<Value> results;
  for (Value value : task.sends)
    results.push_back(values.at({value, stage}));
  for (Value value : task.results)
    results.push_back(values.at({value, stage}));
  func::ReturnOp::create(builder, stages.getProgram().getLoc(), results);
  TaskKind kind = section == Section::Forward    ? TaskKind::Forward
                  : section == Section::Backward ? TaskKind::Backward
                                                 : TaskKind::Step;
  task.function->setAttr(STGDialect::kTaskAttr,
                         TaskAttr::get(builder.getContext(), kind,
                                       task.sends.size(),
                                       section == Section::Forward, false));
  task.function.setType(builder.getFunctionType(
      body->getArgumentTypes(), ValueRange(results).getTypes()));
  if (others.layouts)
    setArgLayouts(task.function, 0,
                  llvm::map_to_vector(task.args, [&](const Task::Arg &arg) {
                    return others.layouts->getAttr(arg.value);
                  }));
}
