//===- StageSplitter.cpp - Tasks of pipeline stages -----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageSplitter.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;

/// A collective whose operands have nothing to do with each other: each stage
/// executes it on those that it holds.
static bool isCoalesced(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.isCoalescable();
}

static bool isFree(Value value) {
  return isa_and_nonnull<ParamOp, SplatOp>(value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Building one task
//===----------------------------------------------------------------------===//

class StageSplitter::TaskBuilder {
public:
  TaskBuilder(StageSplitter &parent, Task &task, Section section,
              const Twine &name)
      : parent(parent), task(task), section(section), builder(parent.builder) {
    Location loc = parent.program.getLoc();
    task.function = func::FuncOp::create(builder, loc, name.str(),
                                         builder.getFunctionType({}, {}));
    task.function.setPrivate();
    body = task.function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
  }

  /// The value of the program, complete, as the task sees it in a stage.
  Value get(unsigned stage, Value value);
  void clone(unsigned stage, Operation *op);
  void cloneOnce(ArrayRef<unsigned> stages, Operation *op);
  void cloneCoalesced(ArrayRef<unsigned> stages, Operation *op);
  void reduceShared(ArrayRef<unsigned> stages, Operation *op);
  void addSend(unsigned stage, Value value) {
    getSoFar(stage, value);
    task.sends.insert(value);
  }
  void addResult(unsigned stage, Value value) {
    get(stage, value);
    task.results.insert(value);
  }
  void finish(unsigned stage);

private:
  /// Also what a repeat carries from the stage to the next one.
  Value getSoFar(unsigned stage, Value value);
  Value addArg(unsigned stage, Task::Source source, Value value);
  void cloneRepeat(unsigned stage, RepeatOp op);
  void mapCaptured(unsigned stage, Operation *op, IRMapping &mapping);
  SymTensorType getType(unsigned stage, Value value);

  StageSplitter &parent;
  Task &task;
  Section section;
  OpBuilder builder;
  Block *body;
  DenseMap<std::pair<Value, unsigned>, Value> values; ///< By stage.
  DenseMap<Value, Value> freeValues; ///< The same in all stages.
};

/// The type of a value of the program in a stage: a stack has only the stage's
/// layers.
SymTensorType StageSplitter::TaskBuilder::getType(unsigned stage, Value value) {
  auto type = cast<SymTensorType>(value.getType());
  auto it = parent.stackOf.find(value);
  if (it == parent.stackOf.end())
    return type;
  return type.getSlice().getStacked(
      type.getDim(0).withExtent(parent.ranges[it->second][stage].count));
}

Value StageSplitter::TaskBuilder::addArg(unsigned stage, Task::Source source,
                                         Value value) {
  task.args.push_back({source, stage, value, /*number=*/0});
  return values[{value, stage}] =
             body->addArgument(getType(stage, value), value.getLoc());
}

Value StageSplitter::TaskBuilder::get(unsigned stage, Value value) {
  const BitVector &holders = parent.getStages(value);
  Operation *source = value.getDefiningOp();
  if (source && holders.any()) {
    Section made = parent.getSection(source);
    auto reader = static_cast<int>(stage);
    bool isEarly = made == Section::Forward && reader < holders.find_first();
    bool isLate = made == Section::Backward && reader > holders.find_last();
    if (isEarly || isLate)
      parent.status = source->emitOpError("makes a value that ")
                      << (isEarly ? "an earlier" : "a later")
                      << " pipeline stage reads";
  }
  return getSoFar(stage, value);
}

Value StageSplitter::TaskBuilder::getSoFar(unsigned stage, Value value) {
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
  Section made = parent.getSection(source);
  if (made == section && section != Section::Step) {
    bool isForward = section == Section::Forward;
    // After an error there may be no stage left to ask.
    bool isEnd = isForward ? stage == 0 : stage + 1 == parent.getNumStages();
    if (isForward && !isEnd)
      parent.forwardBuilders[stage - 1]->addSend(stage - 1, value);
    else if (!isEnd)
      parent.backwardBuilders[stage + 1]->addSend(stage + 1, value);
    return addArg(stage, Task::Received, value);
  }
  if (made == Section::Forward && section == Section::Backward)
    parent.forwardBuilders[stage]->addResult(stage, value);
  else if (made == Section::Backward && section == Section::Step)
    parent.backwardBuilders[stage]->addResult(stage, value);
  else
    parent.status = source->emitOpError("makes a value that is read before the "
                                        "part of the step that makes it, or by "
                                        "the optimizer");
  return addArg(stage, Task::Saved, value);
}

/// What the regions of an op read from outside.
void StageSplitter::TaskBuilder::mapCaptured(unsigned stage, Operation *op,
                                             IRMapping &mapping) {
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          mapping.map(operand, get(stage, operand));
    });
}

void StageSplitter::TaskBuilder::cloneRepeat(unsigned stage, RepeatOp op) {
  const Range &range = parent.ranges[op.getRepeatName().str()][stage];
  bool begins = op.getReverse() ? range.isLast : range.isFirst;
  SmallVector<Value> operands;
  for (auto [init, result] :
       llvm::zip_equal(op.getInits(), op.getCarriedResults()))
    operands.push_back(begins ? get(stage, init) : getSoFar(stage, result));
  for (Value stack : op.getStacks())
    operands.push_back(get(stage, stack));
  IRMapping mapping;
  mapCaptured(stage, op, mapping);
  auto copy = cast<RepeatOp>(builder.clone(*op, mapping));
  copy->setOperands(operands);
  copy.setCountAttr(range.count);
  if (range.first && !range.first.isZero())
    copy.setFirstAttr(range.first);
  for (auto [original, result] :
       llvm::zip_equal(op.getResults(), copy.getResults())) {
    result.setType(getType(stage, original));
    values[{original, stage}] = result;
  }
}

void StageSplitter::TaskBuilder::clone(unsigned stage, Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return cloneRepeat(stage, repeat);
  if (isCoalesced(op))
    return cloneCoalesced(stage, op);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, get(stage, operand));
  mapCaptured(stage, op, mapping);
  Operation *copy = builder.clone(*op, mapping);
  for (auto [original, result] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    result.setType(getType(stage, original));
    values[{original, stage}] = result;
  }
}

/// What stages of a device do with the same values, as with a parameter that
/// several of them read, is done once.
void StageSplitter::TaskBuilder::cloneOnce(ArrayRef<unsigned> stages,
                                           Operation *op) {
  SmallVector<std::pair<SmallVector<Value>, unsigned>> done;
  for (unsigned stage : stages) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RepeatOp>(op) ? Value() : get(stage, operand));
    auto same = llvm::find_if(
        done, [&](const auto &other) { return other.first == operands; });
    if (isa<RepeatOp>(op) || same == done.end()) {
      clone(stage, op);
      done.emplace_back(std::move(operands), stage);
      continue;
    }
    for (Value result : op->getResults()) {
      Value made = values.lookup({result, same->second});
      values[{result, stage}] = made;
    }
  }
}

/// One collective for what all stages of the device hold of its operands.
void StageSplitter::TaskBuilder::cloneCoalesced(ArrayRef<unsigned> stages,
                                                Operation *op) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<std::pair<Value, unsigned>> keys;
  SmallVector<OpOperand *> origins;
  // What several stages hold together is there once.
  DenseMap<Value, unsigned> resultOf;
  SmallVector<unsigned> resultNumbers;
  for (unsigned stage : stages)
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      bool hasResult = op->getNumResults() > 0;
      Value result = hasResult ? Value(op->getResult(number)) : Value();
      if (!parent.holds(stage, hasResult ? result : operand))
        continue;
      Value here = get(stage, operand);
      auto [it, isNew] = resultOf.try_emplace(here, operands.size());
      if (hasResult) {
        keys.emplace_back(result, stage);
        resultNumbers.push_back(it->second);
      }
      if (!isNew)
        continue;
      operands.push_back(here);
      origins.push_back(&op->getOpOperand(number));
      if (hasResult)
        types.push_back(getType(stage, result));
    }
  if (operands.empty())
    return;
  Operation *copy = createCoalesced(builder, cast<CollectiveOpInterface>(op),
                                    origins, operands, types);
  for (auto [key, number] : llvm::zip_equal(keys, resultNumbers))
    values[key] = copy->getResult(number);
  // Several stages of a device may execute their parts one after the other.
  StringAttr name = getOrigin(op).name;
  unsigned device = parent.deviceOf[stages.front()];
  bool isAlone = section == Section::Step ||
                 llvm::all_of(parent.stagesOf[op].set_bits(), [&](unsigned s) {
                   return s == stages.front() || parent.deviceOf[s] != device;
                 });
  if (name && !isAlone)
    setName(copy, builder.getStringAttr("stage" + Twine(stages.front()) + "." +
                                        name.getValue()));
}

/// The gradient of a parameter that several stages read: each has a copy of the
/// parameter, and their contributions are summed over the devices.
void StageSplitter::TaskBuilder::reduceShared(ArrayRef<unsigned> stages,
                                              Operation *op) {
  BitVector isReader(parent.steps.size());
  for (unsigned stage : parent.getStages(op->getResult(0)).set_bits())
    isReader.set(parent.deviceOf[stage]);
  auto devices = llvm::to_vector_of<int64_t>(isReader.set_bits());
  Value sum;
  for (unsigned stage : stages)
    for (Value operand : parent.sharedGradients.lookup(op)) {
      if (!parent.holds(stage, operand))
        continue;
      Value term = get(stage, operand);
      if (sum) {
        auto add = AddOp::create(builder, op->getLoc(), sum, term);
        copyOrigin(op, add);
        sum = add;
      } else {
        sum = term;
      }
    }
  if (!sum)
    return;
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
  for (unsigned stage : stages)
    values[{op->getResult(0), stage}] = sum;
}

void StageSplitter::TaskBuilder::finish(unsigned stage) {
  SmallVector<Value> results;
  for (Value value : task.sends)
    results.push_back(values.at({value, stage}));
  for (Value value : task.results)
    results.push_back(values.at({value, stage}));
  func::ReturnOp::create(builder, parent.program.getLoc(), results);
  TaskKind kind = section == Section::Forward    ? TaskKind::Forward
                  : section == Section::Backward ? TaskKind::Backward
                                                 : TaskKind::Step;
  task.function->setAttr(STGDialect::kTaskAttr,
                         TaskAttr::get(builder.getContext(), kind,
                                       task.sends.size(),
                                       section == Section::Forward, false));
  task.function.setType(builder.getFunctionType(
      body->getArgumentTypes(), ValueRange(results).getTypes()));
}

//===----------------------------------------------------------------------===//
// Who holds what
//===----------------------------------------------------------------------===//

StageSplitter::StageSplitter(func::FuncOp program, ArrayRef<int64_t> layers,
                             ArrayRef<unsigned> deviceOf)
    : program(program), layers(layers), deviceOf(deviceOf), builder(program),
      none(deviceOf.size()) {}

StageSplitter::~StageSplitter() = default;

StageSplitter::Section StageSplitter::getSection(Operation *op) {
  Phase phase = getPhase(op);
  if (sharedGradients.contains(op) || phase == Phase::GradSync ||
      phase == Phase::Optimizer)
    return Section::Step;
  return phase == Phase::Backward || phase == Phase::Recompute
             ? Section::Backward
             : Section::Forward;
}

const BitVector &StageSplitter::getStages(Value value) {
  auto it = valueStages.find(value);
  return it == valueStages.end() ? none : it->second;
}

/// The only stage that holds the value.
std::optional<unsigned> StageSplitter::getStage(Value value) {
  const BitVector &set = getStages(value);
  return set.count() == 1 ? std::optional<unsigned>(set.find_first())
                          : std::nullopt;
}

void StageSplitter::setStages(Operation *op, const BitVector &set) {
  stagesOf[op] = set;
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    BitVector own = isCoalesced(op) ? getStages(op->getOperand(number)) : set;
    valueStages[result] = own;
    // What is made of a stack slice by slice is one, too.
    auto type = cast<SymTensorType>(result.getType());
    auto operands = op->getOperands();
    for (Value operand :
         isCoalesced(op) ? operands.slice(number, 1) : operands) {
      auto it = stackOf.find(operand);
      if (it == stackOf.end() || type.getRank() == 0)
        continue;
      auto source = cast<SymTensorType>(operand.getType());
      if (source.getDim(0).hasSameNames(type.getDim(0))) {
        std::string name = it->second;
        stackOf[result] = name;
        break;
      }
    }
  }
}

void StageSplitter::setStage(Operation *op, unsigned stage) {
  BitVector set(getNumStages());
  set.set(stage);
  setStages(op, set);
}

LogicalResult StageSplitter::checkLayerCount(int64_t total) {
  unsigned stages = getNumStages();
  if (layers.empty()) {
    if (total % stages == 0)
      return success();
    return program.emitError("has ")
           << total << " layers, which " << stages
           << " pipeline stages do not divide; give the layers of each stage "
              "with layers-per-stage";
  }
  if (layers.size() != stages)
    return program.emitError("has ")
           << stages << " pipeline stages, but layers-per-stage lists "
           << layers.size();
  int64_t sum = 0;
  for (int64_t count : layers) {
    if (count < 0)
      return program.emitError("cannot have a pipeline stage of ")
             << count << " layers";
    sum += count;
  }
  if (sum == total)
    return success();
  return program.emitError("has ")
         << total << " layers, but layers-per-stage adds up to " << sum;
}

/// The layers of one iteration: one, or those of the repeats inside.
static std::optional<int64_t> countLayers(RepeatOp repeat) {
  int64_t layers = 0;
  for (auto inner : repeat.getBody().getOps<RepeatOp>()) {
    std::optional<int64_t> count = inner.getCount().getInt64();
    std::optional<int64_t> each = countLayers(inner);
    if (!count || !each)
      return std::nullopt;
    layers += *count * *each;
  }
  return layers ? layers : 1;
}

/// Deals the layers, the iterations of the forward repeats in order, out to the
/// stages.
LogicalResult StageSplitter::assignLayers() {
  SmallVector<RepeatOp> repeats;
  int64_t total = 0;
  for (auto repeat : program.getBody().front().getOps<RepeatOp>()) {
    if (getSection(repeat) != Section::Forward)
      continue;
    repeats.push_back(repeat);
    std::optional<int64_t> count = repeat.getCount().getInt64();
    std::optional<int64_t> each = countLayers(repeat);
    if (count && each)
      total += *count * *each;
    else if (getNumStages() > 1)
      return repeat.emitOpError("repeats ")
             << repeat.getCount().str()
             << " times; pipeline stages need a number, bind its symbols "
                "first";
  }
  if (getNumStages() == 1) {
    for (RepeatOp repeat : repeats)
      ranges[repeat.getRepeatName().str()] = {
          {SymExpr(), repeat.getCount(), true, true}};
    return success();
  }
  if (repeats.empty())
    return program.emitError("has no stg.repeat whose iterations could be "
                             "divided among pipeline stages");
  if (failed(checkLayerCount(total)))
    return failure();
  unsigned stage = 0;
  auto getSize = [&](unsigned s) {
    return layers.empty() ? total / getNumStages() : layers[s];
  };
  int64_t left = getSize(0);
  MLIRContext *context = program.getContext();
  for (RepeatOp repeat : repeats) {
    int64_t count = *repeat.getCount().getInt64();
    int64_t each = *countLayers(repeat);
    std::vector<Range> &own = ranges[repeat.getRepeatName().str()];
    own.resize(getNumStages());
    for (int64_t first = 0; first < count;) {
      while (left == 0)
        left = getSize(++stage);
      int64_t taken = std::min(left / each, count - first);
      if (taken == 0)
        return repeat.emitOpError("has ")
               << each << " layers in an iteration; pipeline stage " << stage
               << " of " << getSize(stage) << " layers would end inside of one";
      own[stage] = {SymExpr::get(context, first), SymExpr::get(context, taken),
                    first == 0, first + taken == count};
      first += taken;
      left -= taken * each;
    }
  }
  return success();
}

LogicalResult StageSplitter::checkStack(Operation *op, Value stack,
                                        const BitVector &readers) {
  auto it = stackOf.find(stack);
  if (it == stackOf.end() ||
      (readers.count() == 1 && getStages(stack) == readers))
    return success();
  return op->emitOpError("reads a stack of all layers of '")
         << it->second << "', which are in different pipeline stages";
}

LogicalResult StageSplitter::assignRepeat(RepeatOp repeat) {
  std::string name = repeat.getRepeatName().str();
  const std::vector<Range> &own = ranges[name];
  BitVector set(getNumStages()), last(getNumStages());
  for (auto [stage, range] : llvm::enumerate(own)) {
    if (!range.count)
      continue;
    set.set(stage);
    if (repeat.getReverse() ? range.isFirst : range.isLast)
      last.set(stage);
  }
  // Layers of one name are cut at the same places.
  for (Value stack : repeat.getStacks())
    if (stackOf.lookup(stack) != name && failed(checkStack(repeat, stack, set)))
      return failure();
  stagesOf[repeat] = set;
  // The gradient of what a forward repeat starts with belongs where that is
  // made, which may be the stage before: backward of it is where forward is.
  if (getSection(repeat) == Section::Forward) {
    for (Value init : repeat.getInits())
      if (int stage = getStages(init).find_last(); stage >= 0)
        madeIn[name] = std::max<unsigned>(stage, madeIn.lookup(name));
  } else if (auto made = madeIn.find(name);
             repeat.getReverse() && made != madeIn.end()) {
    last.reset();
    last.set(made->second);
  }
  for (Value result : repeat.getCarriedResults())
    valueStages[result] = last;
  for (Value result : repeat.getStackedResults()) {
    valueStages[result] = set;
    stackOf[result] = name;
  }
  return success();
}

/// True for a reduction over devices of what backward has made.
static bool isReduction(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.isCoalescableReduction() &&
         collective.getReduction() == ReduceKind::Sum;
}

/// True if only the optimizer reads the value, perhaps after it is added to
/// others or reduced.
bool StageSplitter::isGradient(Value value) {
  if (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    if (isReduction(use.getOwner()))
      return isGradient(use.getOwner()->getResult(use.getOperandNumber()));
    if (isa<AddOp>(use.getOwner()) &&
        use.getOwner()->getBlock() == value.getParentBlock() &&
        getSection(use.getOwner()) == Section::Backward)
      return isGradient(use.getOwner()->getResult(0));
  }
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return getSection(user) == Section::Step ||
           user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// True for a sum of contributions to the gradient of a parameter that several
/// ops read.
bool StageSplitter::isGradientSum(Operation *op) {
  return isa<AddOp>(op) && op->getBlock() == &program.getBody().front() &&
         getSection(op) == Section::Backward && isGradient(op->getResult(0));
}

/// The sums that `sum` consists of, itself the last one, and what they add.
void StageSplitter::collectTerms(AddOp sum, SmallVectorImpl<AddOp> &sums,
                                 SmallVectorImpl<Value> &terms) {
  for (Value operand : sum->getOperands()) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && operand.hasOneUse() && isGradientSum(inner))
      collectTerms(inner, sums, terms);
    else if (!operand.getDefiningOp<SplatOp>())
      terms.push_back(operand);
  }
  sums.push_back(sum);
}

/// Reduces the terms of a sum instead of the sum: each stage its own.
void StageSplitter::reduceTerms(AddOp sum, ArrayRef<Value> sumTerms,
                                OpOperand &use) {
  Operation *reduce = use.getOwner();
  unsigned number = use.getOperandNumber();
  SmallVector<Value> operands(reduce->getOperands());
  SmallVector<Type> types(reduce->getResultTypes());
  auto origins = llvm::map_to_vector(
      reduce->getOpOperands(), [](OpOperand &operand) { return &operand; });
  operands[number] = sumTerms.front();
  llvm::append_range(operands, sumTerms.drop_front());
  types.resize(operands.size(), types[number]);
  origins.resize(operands.size(), origins[number]);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(reduce);
  Operation *terms = createCoalesced(
      builder, cast<CollectiveOpInterface>(reduce), origins, operands, types);
  Value total = terms->getResult(number);
  for (Value term : terms->getResults().drop_front(reduce->getNumResults())) {
    Operation *newSum = builder.clone(*sum);
    newSum->getResult(0).setType(types[number]);
    newSum->setOperands({total, term});
    total = newSum->getResult(0);
  }
  for (auto [index, result] : llvm::enumerate(reduce->getResults()))
    result.replaceAllUsesWith(index == number ? total
                                              : terms->getResult(index));
  reduce->erase();
  replacedSums.push_back(sum);
}

LogicalResult StageSplitter::assignForward(Operation *op) {
  std::optional<unsigned> stage;
  for (Value operand : op->getOperands())
    if (getStages(operand).any())
      stage =
          std::max<unsigned>(stage.value_or(0), getStages(operand).find_last());
  if (!stage)
    return success();
  setStage(op, *stage);
  for (Value operand : op->getOperands())
    if (failed(checkStack(op, operand, stagesOf[op])))
      return failure();
  return success();
}

/// Makes one term of those that are in the same stage, which adds them.
LogicalResult StageSplitter::sumTermsOfStages(ArrayRef<AddOp> sums,
                                              SmallVectorImpl<Value> &terms) {
  SmallVector<Value> result;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(sums.back());
  for (Value term : terms) {
    auto same = llvm::find_if(result, [&](Value other) {
      return getStages(other) == getStages(term);
    });
    if (same == result.end()) {
      result.push_back(term);
      continue;
    }
    // As many are left over of the sums as are needed here.
    Operation *local = builder.clone(*sums.front());
    sums = sums.drop_front();
    local->setOperands({*same, term});
    if (failed(placeBackward(local)))
      return failure();
    *same = local->getResult(0);
  }
  terms = std::move(result);
  return success();
}

/// A sum of contributions to the gradient of a parameter. Stages that hold it
/// add up their own in every micro-batch, and all of them once per step.
LogicalResult StageSplitter::assignGradientSum(AddOp sum) {
  if (sum->hasOneUse() && isGradientSum(*sum->user_begin()))
    return success(); // Assigned with the sum that it is a term of.
  SmallVector<AddOp> sums;
  SmallVector<Value> terms;
  collectTerms(sum, sums, terms);
  bool isShared = llvm::any_of(terms, [&](Value term) {
    return getStages(term) != getStages(terms.front());
  });
  if (!isShared) {
    for (AddOp part : sums)
      if (failed(placeBackward(part)))
        return failure();
    return success();
  }
  if (failed(sumTermsOfStages(sums, terms)))
    return failure();
  sum->setOperands({terms[0], terms[1]});
  for (AddOp part : llvm::reverse(ArrayRef(sums).drop_back()))
    part->erase();
  Operation *reader = sum->hasOneUse() ? *sum->user_begin() : nullptr;
  if (reader && isReduction(reader) &&
      getSection(reader) == Section::Backward) {
    reduceTerms(sum, terms, *sum->use_begin());
    return success();
  }
  BitVector set(getNumStages());
  for (Value term : terms)
    set |= getStages(term);
  sharedGradients[sum] = std::move(terms);
  setStages(sum, set);
  return success();
}

LogicalResult StageSplitter::assignBackward(Operation *op) {
  return isGradientSum(op) ? assignGradientSum(cast<AddOp>(op))
                           : placeBackward(op);
}

/// A backward op belongs where its gradient comes from, the earliest stage of
/// those; one without a gradient, where its forward value is.
LogicalResult StageSplitter::placeBackward(Operation *op) {
  if (isCoalesced(op)) {
    BitVector set(getNumStages());
    for (Value operand : op->getOperands())
      set |= getStages(operand);
    if (set.any())
      setStages(op, set);
    return success();
  }
  std::optional<unsigned> fromGradient, fromForward;
  for (Value operand : op->getOperands()) {
    const BitVector &set = getStages(operand);
    if (set.none())
      continue;
    if (stackOf.contains(operand)) {
      setStages(op, set);
      return success();
    }
    unsigned stage = set.find_first();
    if (getSection(operand.getDefiningOp()) == Section::Forward)
      fromForward = std::max(fromForward.value_or(0), stage);
    else
      fromGradient = std::min(fromGradient.value_or(stage), stage);
  }
  if (fromGradient || fromForward)
    setStage(op, fromGradient ? *fromGradient : *fromForward);
  return success();
}

LogicalResult StageSplitter::assignStep(Operation *op) {
  BitVector set(getNumStages(), !isCoalesced(op));
  bool found = false;
  for (Value operand : op->getOperands()) {
    const BitVector &own = getStages(operand);
    if (own.none())
      continue;
    found = true;
    if (isCoalesced(op))
      set |= own;
    else
      set &= own;
  }
  if (!found || set.none())
    return op->emitOpError("reads gradients of different pipeline stages");
  setStages(op, set);
  return success();
}

LogicalResult StageSplitter::assignOp(Operation *op) {
  if (isa<ParamOp, SplatOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    if (!ranges.count(repeat.getRepeatName().str()))
      return repeat.emitOpError("has no counterpart in the forward pass, so "
                                "its iterations belong to no pipeline stage");
    return assignRepeat(repeat);
  }
  switch (getSection(op)) {
  case Section::Forward:
    return assignForward(op);
  case Section::Backward:
    return assignBackward(op);
  case Section::Step:
    return assignStep(op);
  }
  llvm_unreachable("unknown section");
}

/// What uses the parameter that `value` is gathered from, the optimizer too.
SmallVector<Operation *> StageSplitter::getParameterUsers(Value value) {
  SmallVector<Operation *> users;
  if (auto gather = value.getDefiningOp<CollectiveOpInterface>())
    value = gather->getOperand(cast<OpResult>(value).getResultNumber());
  auto param = value.getDefiningOp<ParamOp>();
  for (auto other : program.getBody().front().getOps<ParamOp>())
    if (param && other.getParamName() == param.getParamName())
      llvm::append_range(users, other->getUsers());
  return users;
}

/// Ops that read only inputs and parameters go where their results are read;
/// collectives and casts of parameters to every such stage, other ops to the
/// first.
void StageSplitter::assignFloating(Operation *op) {
  if (isCoalesced(op) && op->getNumResults() > 0) {
    BitVector all(getNumStages());
    for (Value result : op->getResults())
      all |= valueStages[result] =
          getUserStages(llvm::to_vector(result.getUsers()));
    stagesOf[op] = all;
    return;
  }
  BitVector set =
      getUserStages(isa<KeepOp>(op) ? getParameterUsers(op->getOperand(0))
                                    : llvm::to_vector(op->getUsers()));
  bool isCastParameter =
      op->getNumResults() == 1 && getReadParameter(op->getResult(0));
  if (isa<ShardableOpInterface>(op) && !isCastParameter)
    setStage(op, set.find_first());
  else
    setStages(op, set);
}

/// The stages in which any of the users is; the first if there is none.
BitVector StageSplitter::getUserStages(ArrayRef<Operation *> users) {
  BitVector set(getNumStages());
  for (Operation *user : users) {
    Operation *top = program.getBody().front().findAncestorOpInBlock(*user);
    auto it = stagesOf.find(top);
    if (it == stagesOf.end())
      continue;
    auto repeat = dyn_cast<RepeatOp>(top);
    if (repeat && user == top) {
      // The init of a repeat is read by its first iteration.
      for (auto [stage, range] :
           llvm::enumerate(ranges[repeat.getRepeatName().str()]))
        if (range.count && (repeat.getReverse() ? range.isLast : range.isFirst))
          set.set(stage);
    } else {
      set |= it->second;
    }
  }
  if (set.none())
    set.set(0);
  return set;
}

LogicalResult StageSplitter::assignStages() {
  Block &body = program.getBody().front();
  for (Operation &op : body)
    if (failed(assignOp(&op)))
      return failure();
  // Sums whose terms are reduced instead.
  for (Operation *sum : replacedSums)
    sum->erase();
  for (Operation &op : llvm::reverse(body))
    if (!stagesOf.contains(&op) && !isa<ParamOp, SplatOp>(op) &&
        !op.hasTrait<OpTrait::IsTerminator>())
      assignFloating(&op);
  return success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Deals the ops out once: each list is as long as what is made of it.
void StageSplitter::dealOps() {
  forwardOps.resize(getNumStages());
  backwardOps.resize(getNumStages());
  stepOps.resize(steps.size());
  for (Operation &op : program.getBody().front()) {
    auto it = stagesOf.find(&op);
    if (it == stagesOf.end())
      continue;
    Section section = getSection(&op);
    for (unsigned stage : it->second.set_bits()) {
      auto &list = section == Section::Forward    ? forwardOps[stage]
                   : section == Section::Backward ? backwardOps[stage]
                                                  : stepOps[deviceOf[stage]];
      // A device may have several of the stages.
      if (list.empty() || list.back() != &op)
        list.push_back(&op);
    }
  }
}

void StageSplitter::buildStep(unsigned device, ArrayRef<unsigned> own) {
  TaskBuilder &step = *stepBuilders[device];
  for (Operation *op : stepOps[device]) {
    SmallVector<unsigned> here;
    for (unsigned stage : own)
      if (stagesOf[op].test(stage))
        here.push_back(stage);
    if (sharedGradients.contains(op))
      step.reduceShared(here, op);
    else if (isCoalesced(op))
      step.cloneCoalesced(here, op);
    else
      step.cloneOnce(here, op);
  }
  step.finish(0);
}

/// Where each argument is among what the other task makes.
void StageSplitter::numberArgs() {
  auto number = [](Task &task, Task::Source source,
                   const llvm::SetVector<Value> &made) {
    llvm::SmallDenseMap<Value, unsigned> numbers;
    for (auto [index, value] : llvm::enumerate(made))
      numbers[value] = index;
    for (Task::Arg &arg : task.args)
      if (arg.source == source)
        arg.number = numbers.lookup(arg.value);
  };
  for (unsigned stage = 0, e = getNumStages(); stage < e; ++stage) {
    if (stage > 0)
      number(forward[stage], Task::Received, forward[stage - 1].sends);
    if (stage + 1 < e)
      number(backward[stage], Task::Received, backward[stage + 1].sends);
    number(backward[stage], Task::Saved, forward[stage].results);
  }
  DenseMap<std::pair<Value, unsigned>, unsigned> gradients;
  for (auto [stage, task] : llvm::enumerate(backward))
    for (auto [index, value] : llvm::enumerate(task.results))
      gradients[{value, stage}] = index;
  for (Task &step : steps)
    for (Task::Arg &arg : step.args)
      arg.number = gradients.lookup({arg.value, arg.stage});
}

/// A stage between others at least passes on what they exchange; one at an end
/// may have nothing to do, and a device without nodes has no trace.
LogicalResult StageSplitter::checkWork() {
  auto isEmpty = [](Task &task) {
    return llvm::hasSingleElement(task.function.getBody().front()) &&
           task.args.empty();
  };
  BitVector hasWork(steps.size());
  for (auto [stage, device] : llvm::enumerate(deviceOf))
    if (!isEmpty(forward[stage]) || !isEmpty(backward[stage]))
      hasWork.set(device);
  for (auto [device, step] : llvm::enumerate(steps)) {
    if (!hasWork.test(device) && isEmpty(step))
      return program.emitError("has nothing to do for pipeline device ")
             << device << "; give its stages layers with layers-per-stage";
  }
  return success();
}

LogicalResult StageSplitter::run() {
  if (failed(assignLayers()) || failed(assignStages()))
    return failure();
  unsigned numStages = getNumStages();
  unsigned numDevices = *llvm::max_element(deviceOf) + 1;
  forward.resize(numStages);
  backward.resize(numStages);
  steps.resize(numDevices);
  dealOps();
  std::vector<SmallVector<unsigned>> stagesOn(numDevices);
  for (auto [stage, device] : llvm::enumerate(deviceOf))
    stagesOn[device].push_back(stage);
  builder.setInsertionPoint(program);
  auto make = [&](Task &task, Section section, const Twine &suffix) {
    return std::make_unique<TaskBuilder>(*this, task, section,
                                         program.getSymName() + "." + suffix);
  };
  for (unsigned stage = 0; stage < numStages; ++stage) {
    forwardBuilders.push_back(make(forward[stage], Section::Forward,
                                   "stage" + Twine(stage) + ".forward"));
    for (Operation *op : forwardOps[stage])
      forwardBuilders[stage]->clone(stage, op);
  }
  for (unsigned stage = 0; stage < numStages; ++stage)
    backwardBuilders.push_back(make(backward[stage], Section::Backward,
                                    "stage" + Twine(stage) + ".backward"));
  for (unsigned stage = numStages; stage-- > 0;)
    for (Operation *op : backwardOps[stage])
      backwardBuilders[stage]->clone(stage, op);
  for (unsigned device = 0; device < numDevices; ++device) {
    stepBuilders.push_back(
        make(steps[device], Section::Step, "device" + Twine(device) + ".step"));
    buildStep(device, stagesOn[device]);
  }
  for (unsigned stage = 0; stage < numStages; ++stage) {
    forwardBuilders[stage]->finish(stage);
    backwardBuilders[stage]->finish(stage);
  }
  numberArgs();
  return succeeded(status) ? checkWork() : failure();
}
