//===- StageAssignment.cpp - Which stage does what ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageAssignment.h"
#include "stg/Dialect/STG/Analysis/ParameterValues.h"
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

bool stg::isCoalesced(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.isCoalescable();
}

StageAssignment::StageAssignment(func::FuncOp program, ArrayRef<int64_t> layers,
                                 ArrayRef<unsigned> deviceOf,
                                 const GradientFlow &gradients)
    : program(program), layers(layers), deviceOf(deviceOf), builder(program),
      none(deviceOf.size()) {
  keepResults();
  moveToBackward();
  collectGradientSums(gradients);
}

LogicalResult StageAssignment::run() {
  return success(succeeded(assignLayers()) && succeeded(assignStages()));
}

//===----------------------------------------------------------------------===//
// Who holds what
//===----------------------------------------------------------------------===//

/// What the program gives, such as a loss, no task does: without a reader it
/// would be removed.
void StageAssignment::keepResults() {
  Operation *terminator = program.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (Value result : terminator->getOperands())
    if (Operation *op = result.getDefiningOp(); op && isMade(result)) {
      auto keep = KeepOp::create(builder, op->getLoc(), result, Value());
      copyOrigin(op, keep);
    }
  builder.setInsertionPointToStart(&program.getBody().front());
}

/// A gradient that is exchanged before backward does more with it, such as to
/// shard it, is exchanged in each micro-batch.
void StageAssignment::moveToBackward() {
  for (Operation &op : llvm::reverse(program.getBody().front()))
    if (getPhase(&op) == Phase::GradSync &&
        llvm::any_of(op.getUsers(), [](Operation *user) {
          return getPhase(user) == Phase::Backward;
        }))
      setPhase(&op, Phase::Backward);
}

StageAssignment::Section StageAssignment::getSection(Operation *op) const {
  Phase phase = getPhase(op);
  if (sharedGradients.contains(op) || phase == Phase::GradSync ||
      phase == Phase::Optimizer)
    return Section::Step;
  return phase == Phase::Backward || phase == Phase::Recompute
             ? Section::Backward
             : Section::Forward;
}

const BitVector *StageAssignment::getStages(Operation *op) const {
  auto it = stagesOf.find(op);
  return it == stagesOf.end() ? nullptr : &it->second;
}

const BitVector &StageAssignment::getStages(Value value) const {
  auto it = valueStages.find(value);
  return it == valueStages.end() ? none : it->second;
}

const StageAssignment::Range &StageAssignment::getRange(ScanOpInterface scan,
                                                        unsigned stage) const {
  return ranges.at(scan.getScopeName())[stage];
}

const StageAssignment::Range *
StageAssignment::getStackRange(Value value, unsigned stage) const {
  auto it = stackOf.find(value);
  return it == stackOf.end() ? nullptr : &ranges.at(it->second)[stage];
}

void StageAssignment::setStages(Operation *op, const BitVector &set) {
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
        StringAttr name = it->second;
        stackOf[result] = name;
        break;
      }
    }
  }
}

void StageAssignment::setStage(Operation *op, unsigned stage) {
  BitVector set(getNumStages());
  set.set(stage);
  setStages(op, set);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult StageAssignment::checkLayerCount(int64_t total) {
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

/// The layers of one iteration: one, or those of the scans inside.
static std::optional<int64_t> countLayers(ScanOpInterface scan) {
  int64_t layers = 0;
  for (auto inner : scan.getLoopBlock().getOps<ScanOpInterface>()) {
    std::optional<int64_t> count = inner.getCount().getInt64();
    std::optional<int64_t> each = countLayers(inner);
    if (!count || !each)
      return std::nullopt;
    layers += *count * *each;
  }
  return layers ? layers : 1;
}

/// The layers are the iterations of the forward scans, in order.
LogicalResult StageAssignment::assignLayers() {
  SmallVector<ScanOpInterface> scans;
  int64_t total = 0;
  for (auto scan : program.getBody().front().getOps<ScanOpInterface>()) {
    if (getSection(scan) != Section::Forward)
      continue;
    scans.push_back(scan);
    std::optional<int64_t> count = scan.getCount().getInt64();
    std::optional<int64_t> each = countLayers(scan);
    if (count && each)
      total += *count * *each;
    else if (getNumStages() > 1)
      return scan->emitOpError("repeats ")
             << scan.getCount().str()
             << " times; pipeline stages need a number, bind its symbols "
                "first";
  }
  if (getNumStages() == 1) {
    for (ScanOpInterface scan : scans)
      ranges[scan.getScopeName()] = {
          {scan.getFirst().value_or(SymExpr()), scan.getCount(), true, true}};
    return success();
  }
  if (scans.empty())
    return program.emitError("has no stg.repeat whose iterations could be "
                             "divided among pipeline stages; use one stage");
  if (failed(checkLayerCount(total)))
    return failure();
  collectEnds(scans.front(), scans.back());
  return dealLayers(scans, total);
}

/// True for what each stage that reads it makes: what is made of parameters
/// alone, also by collectives. What is gathered though nobody reads it is
/// gathered once.
static bool isMadeByReaders(Operation *op) {
  return !isa<KeepOp>(op) &&
         (!isa<ShardableOpInterface, CollectiveOpInterface>(op) ||
          llvm::all_of(op->getOperands(), isMadeOfParameters));
}

/// What ends of the model are made of, where their stages have no layers, from
/// which it would follow.
void StageAssignment::collectEnds(ScanOpInterface first, ScanOpInterface last) {
  if (layers.empty())
    return;
  if (layers.back() == 0)
    for (Value result : last->getResults())
      behindLayers.insert(result);
  if (layers.front() > 0)
    return;
  SmallVector<Value> values(first.getCarriedInits());
  while (!values.empty()) {
    Value value = values.pop_back_val();
    Operation *op = value.getDefiningOp();
    // Parameters, and what is made of them alone, are where they are read.
    if (op && !isa<ParamOp, SplatOp>(op) &&
        !llvm::all_of(op->getOperands(), isOfParameter) &&
        beforeLayers.insert(op).second)
      llvm::append_range(values, op->getOperands());
  }
}

/// Deals the layers out to the stages.
LogicalResult StageAssignment::dealLayers(ArrayRef<ScanOpInterface> scans,
                                          int64_t total) {
  unsigned stage = 0;
  auto getSize = [&](unsigned s) {
    return layers.empty() ? total / getNumStages() : layers[s];
  };
  int64_t left = getSize(0);
  MLIRContext *context = program.getContext();
  for (ScanOpInterface scan : scans) {
    SymExpr start = scan.getFirst().value_or(SymExpr::get(context, 0));
    int64_t count = *scan.getCount().getInt64();
    int64_t each = *countLayers(scan);
    std::vector<Range> &own = ranges[scan.getScopeName()];
    own.resize(getNumStages());
    for (int64_t first = 0; first < count;) {
      while (left == 0)
        left = getSize(++stage);
      int64_t taken = std::min(left / each, count - first);
      if (taken == 0)
        return scan->emitOpError("has ")
               << each << " layers in an iteration; pipeline stage " << stage
               << " of " << getSize(stage) << " layers would end inside of one";
      own[stage] = {start + first, SymExpr::get(context, taken), first == 0,
                    first + taken == count};
      first += taken;
      left -= taken * each;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult StageAssignment::checkStack(Operation *op, Value stack,
                                          const BitVector &readers) {
  auto it = stackOf.find(stack);
  if (it == stackOf.end() ||
      (readers.count() == 1 && getStages(stack) == readers))
    return success();
  return op->emitOpError("reads a stack of all layers of '")
         << it->second.getValue()
         << "', which are in different pipeline stages";
}

LogicalResult StageAssignment::assignScan(ScanOpInterface scan) {
  StringAttr name = scan.getScopeName();
  const std::vector<Range> &own = ranges[name];
  BitVector set(getNumStages()), last(getNumStages());
  for (auto [stage, range] : llvm::enumerate(own)) {
    if (!range.count)
      continue;
    set.set(stage);
    if (scan.getReverse() ? range.isFirst : range.isLast)
      last.set(stage);
  }
  // Layers of one name are cut at the same places.
  for (Value stack : scan.getStacks())
    if (stackOf.lookup(stack) != name && failed(checkStack(scan, stack, set)))
      return failure();
  stagesOf[scan] = set;
  for (Value result : scan.getCarriedResults())
    valueStages[result] = last;
  if (getSection(scan) == Section::Backward)
    assignSums(scan, set);
  for (Value result : scan.getStackedResults()) {
    valueStages[result] = set;
    stackOf[result] = name;
  }
  return success();
}

/// The gradients of what layers read from outside of them. That of a parameter
/// is added up by each stage by itself, and over stages once per step; that of
/// another value goes through the stages to the one that makes the value.
void StageAssignment::assignSums(ScanOpInterface scan, const BitVector &set) {
  for (const CarriedValue &sum : getCarriedValues(scan)) {
    if (!parameterSums.contains(sum.result)) {
      SmallVector<Operation *> summands = getSummands(sum);
      if (summands.empty())
        continue;
      if (isFromEarlier(scan, sum, set))
        addInitBehind(scan, sum, summands.back());
      // The sum of other layers may go on from it.
      if (llvm::any_of(sum.result.getUsers(), [](Operation *user) {
            return isa<ScanOpInterface>(user);
          }))
        continue;
      auto made = makers.find(getOrigin(summands.back()).name);
      if (made != makers.end() && getStages(made->second).any())
        valueStages[sum.result] = getStages(made->second);
      continue;
    }
    valueStages[sum.result] = set;
    if (set.count() == 1)
      continue;
    addPart(sum.result, getSummands(sum).back());
  }
}

/// True if a sum begins with what a stage has that executes none of the first
/// layers of backward, but comes later: the gradient of another reader of a
/// value, such as a second loss of what an encoder makes.
bool StageAssignment::isFromEarlier(ScanOpInterface scan,
                                    const CarriedValue &sum,
                                    const BitVector &set) const {
  const BitVector &own = getStages(sum.init->get());
  return scan.getReverse() && isSum(sum) && own.any() &&
         own.find_first() < set.find_last();
}

/// Adds it behind the layers instead, which begin with zero.
void StageAssignment::addInitBehind(ScanOpInterface scan,
                                    const CarriedValue &sum, Operation *like) {
  OpBuilder::InsertionGuard guard(builder);
  Value init = sum.init->get(), rest = sum.result;
  builder.setInsertionPoint(scan);
  sum.init->set(makeZero(init));
  builder.setInsertionPointAfter(scan);
  auto total = AddOp::create(builder, like->getLoc(), rest, init);
  copyOrigin(like, total);
  setRole(total, Role::Add);
  rest.replaceAllUsesExcept(total, total);
}

/// Immediates are held by all stages.
Value StageAssignment::makeZero(Value like) {
  return SplatOp::create(builder, like.getLoc(),
                         cast<SymTensorType>(like.getType()),
                         SymExpr::get(like.getContext(), 0));
}

LogicalResult StageAssignment::assignForward(Operation *op) {
  std::optional<unsigned> stage;
  for (Value operand : op->getOperands())
    if (getStages(operand).any())
      stage =
          std::max<unsigned>(stage.value_or(0), getStages(operand).find_last());
  if (beforeLayers.contains(op))
    stage = 0;
  if (llvm::any_of(op->getOperands(), [&](Value operand) {
        return behindLayers.contains(operand);
      })) {
    stage = getNumStages() - 1;
    behindLayers.insert_range(op->getResults());
  }
  // One stage has all of a program without layers; what is gathered together is
  // where it is read.
  if (!stage && getNumStages() == 1 && ranges.empty() && !isCoalesced(op))
    stage = 0;
  if (!stage)
    return success();
  setStage(op, *stage);
  if (StringAttr name = getOrigin(op).name) {
    unsigned &known = forwardStage[name];
    known = std::max(known, *stage);
  }
  for (Value operand : op->getOperands())
    if (failed(checkStack(op, operand, stagesOf[op])))
      return failure();
  return success();
}

LogicalResult StageAssignment::assignBackward(Operation *op) {
  if (assignStageParts(op))
    return success();
  auto sum = dyn_cast<AddOp>(op);
  bool isOfParts = llvm::any_of(op->getOperands(), [&](Value operand) {
    return stageParts.contains(operand);
  });
  if (sum && (isOfParts || gradientSums.contains(op)))
    return assignGradientSum(sum);
  if (isOfParts && !isCoalesced(op))
    return op->emitOpError(
        "reads a gradient of which several pipeline stages "
        "have a part each, and a value that one of them has");
  return placeBackward(op);
}

/// The sum over a stack whose layers are in several stages, and what backward
/// makes of it with nothing but parameters: each stage has its part of a
/// gradient. False if the op is none of these.
bool StageAssignment::assignStageParts(Operation *op) {
  auto sum = dyn_cast<SumOp>(op);
  BitVector set(getNumStages());
  for (Value operand : op->getOperands()) {
    const BitVector &own = getStages(operand);
    bool isStack = sum && sum.getDim() == 0 && stackOf.contains(operand);
    if (own.none() && !isStack)
      continue;
    if (own.count() < 2 || !(isStack || stageParts.contains(operand)) ||
        (set.any() && set != own))
      return false;
    set = own;
  }
  if (set.none() || isa<AddOp>(op) || isCoalesced(op))
    return false;
  setStages(op, set);
  for (Value result : op->getResults())
    addPart(result, op);
  return true;
}

/// A backward op belongs where its gradient comes from, the earliest stage of
/// those, or where its forward op is if that is earlier; one without a
/// gradient, where its forward op is, or else its forward value.
LogicalResult StageAssignment::placeBackward(Operation *op) {
  if (isCoalesced(op)) {
    BitVector set(getNumStages());
    for (Value operand : op->getOperands())
      set |= getStages(operand);
    if (set.any())
      setStages(op, set);
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getResults()))
      if (Operation *like = stageParts.lookup(operand))
        addPart(result, like);
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
  auto forward = forwardStage.find(getOrigin(op).name);
  if (fromGradient && forward != forwardStage.end())
    fromGradient = std::min(*fromGradient, forward->second);
  if (fromGradient)
    setStage(op, *fromGradient);
  else if (forward != forwardStage.end() && !isMadeByReaders(op))
    // The gradient of what nothing but the loss's mean is behind is a constant.
    setStage(op, forward->second);
  else if (fromForward)
    setStage(op, *fromForward);
  else if (getNumStages() == 1 && ranges.empty())
    setStage(op, 0);
  return success();
}

LogicalResult StageAssignment::assignStep(Operation *op) {
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

LogicalResult StageAssignment::assignOp(Operation *op) {
  if (isa<ParamOp, SplatOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (op->getNumResults() > 0 && getSection(op) == Section::Forward) {
    auto scan = dyn_cast<ScanOpInterface>(op);
    makers[scan ? scan.getScopeName() : getOrigin(op).name] = op->getResult(0);
  }
  if (auto scan = dyn_cast<ScanOpInterface>(op)) {
    if (!ranges.contains(scan.getScopeName()))
      return scan->emitOpError("has no counterpart in the forward pass, so its "
                               "iterations belong to no pipeline stage");
    return assignScan(scan);
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
SmallVector<Operation *> StageAssignment::getParameterUsers(Value value) {
  SmallVector<Operation *> users;
  if (auto gather = value.getDefiningOp<CollectiveOpInterface>())
    value = gather->getOperand(cast<OpResult>(value).getResultNumber());
  auto param = value.getDefiningOp<ParamOp>();
  for (auto other : program.getBody().front().getOps<ParamOp>())
    if (param && other.getParamName() == param.getParamName())
      llvm::append_range(users, other->getUsers());
  return users;
}

/// An op of the forward pass that reads only inputs and parameters, where
/// forward first reads what it makes, or in the first stage if that is a result
/// of the program: its backward is there, too.
void StageAssignment::assignFloatingForward(Operation *op) {
  if (getSection(op) != Section::Forward || isMadeByReaders(op))
    return;
  int first = getUserStages(llvm::to_vector(op->getUsers())).find_first();
  if (first < 0 && llvm::any_of(
                       op->getUsers(),
                       [](Operation *user) {
                         return user->hasTrait<OpTrait::IsTerminator>();
                       }))
    first = 0;
  if (first < 0)
    return;
  setStage(op, first);
  for (Value result : op->getResults())
    valueStages[result] = stagesOf[op];
  if (StringAttr name = getOrigin(op).name)
    forwardStage.try_emplace(name, first);
}

/// Ops that read only inputs and parameters go where their results are read;
/// collectives and what is made of parameters alone to every such stage, other
/// ops to the first; if there is none, to the first stage.
void StageAssignment::assignFloating(Operation *op) {
  if (isCoalesced(op) && op->getNumResults() > 0) {
    BitVector all(getNumStages());
    for (Value result : op->getResults()) {
      BitVector &own = valueStages[result] =
          getUserStages(llvm::to_vector(result.getUsers()));
      if (own.none())
        own.set(0);
      all |= own;
    }
    stagesOf[op] = all;
    return;
  }
  BitVector set =
      getUserStages(isa<KeepOp>(op) ? getParameterUsers(op->getOperand(0))
                                    : llvm::to_vector(op->getUsers()));
  if (set.none())
    set.set(0);
  if (isMadeByReaders(op))
    setStages(op, set);
  else
    setStage(op, set.find_first());
}

/// The stages in which any of the users is.
BitVector StageAssignment::getUserStages(ArrayRef<Operation *> users) {
  BitVector set(getNumStages());
  for (Operation *user : users) {
    Operation *top = program.getBody().front().findAncestorOpInBlock(*user);
    auto it = stagesOf.find(top);
    if (it == stagesOf.end())
      continue;
    auto scan = dyn_cast<ScanOpInterface>(top);
    if (scan && user == top) {
      // The init of a scan is read by its first iteration.
      for (auto [stage, range] :
           llvm::enumerate(ranges.at(scan.getScopeName())))
        if (range.count && (scan.getReverse() ? range.isLast : range.isFirst))
          set.set(stage);
    } else {
      set |= it->second;
    }
  }
  return set;
}

LogicalResult StageAssignment::assignStages() {
  Block &body = program.getBody().front();
  auto isFloating = [&](Operation &op) {
    return !stagesOf.contains(&op) && !isa<ParamOp, SplatOp>(op) &&
           !op.hasTrait<OpTrait::IsTerminator>();
  };
  for (bool isForward : {true, false}) {
    for (Operation &op : body)
      if ((getSection(&op) == Section::Forward) == isForward &&
          failed(assignOp(&op)))
        return failure();
    for (Operation &op : llvm::reverse(body))
      if (isFloating(op))
        isForward ? assignFloatingForward(&op) : assignFloating(&op);
  }
  return success();
}
