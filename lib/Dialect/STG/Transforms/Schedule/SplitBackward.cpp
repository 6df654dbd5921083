//===- SplitBackward.cpp - Halves of a backward task ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitBackward.h"
#include "Local/LocalLayouts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace stg;

namespace {
class BackwardSplitter {
public:
  BackwardSplitter(func::FuncOp task, unsigned numSends)
      : task(task), numSends(numSends), rewriter(task.getContext()) {}

  BackwardHalves run();

private:
  /// Further results of the input half: a value of it, or result `number` of
  /// the copy of a scan, which is made anew each time it stacks one more.
  struct Passed {
    Value value;
    Operation *scan;
    unsigned number;
  };

  /// A loop of the weight half that is being built.
  struct Level {
    Level *parent = nullptr; ///< The loop around it; null: the task.
    ScanOpInterface scan;
    RepeatOp copy;
    DenseMap<Value, Value> values; ///< From the task to the copy.
    DenseSet<Value> made;          ///< What the copy makes, not the other half.
  };

  void markInput();
  void markReplayed(Block &block);
  void markScan(ScanOpInterface scan);
  bool isReturnedGradient(Value value);
  bool isWeightSum(const CarriedValue &carried);
  void mark(Value value);
  bool isInput(Operation *op) const { return inputOps.contains(op); }
  bool isWeight(Operation &op) const;

  void cloneTask();
  void dropKept(ScanOpInterface scan, ScanOpInterface copy);
  Passed getMade(Value value);
  Value getWeightValue(Value value);
  Value getValue(Level *level, Value value);
  Value getPassedValue(Level *level, Passed entry);
  void setValue(Level *level, Value value, Value copy);
  void buildWeightOps(Level *level, Block &block);
  void buildWeightRepeat(Level *parent, ScanOpInterface scan);
  Value passOn(Passed entry);
  void finish();
  void setLayouts();
  func::FuncOp makeFunction(const Twine &suffix);

  func::FuncOp task;
  unsigned numSends;
  IRRewriter rewriter;
  BackwardHalves halves;
  /// What makes the gradients that others wait for.
  DenseSet<Operation *> inputOps;

  IRMapping toInput; ///< From the task to its copy.
  DenseMap<Operation *, ScanOpInterface> inputScans;
  Value getPassed(const Passed &entry) {
    return entry.scan ? inputScans[entry.scan]->getResult(entry.number)
                      : entry.value;
  }
  SmallVector<Passed> passed;
  DenseMap<Value, Value> toWeight;
  Block *weightBody = nullptr;
};
} // namespace

void BackwardSplitter::mark(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    // A slice needs its stack, a carried value what it starts from.
    auto arg = cast<BlockArgument>(value);
    if (auto scan = dyn_cast<ScanOpInterface>(arg.getOwner()->getParentOp()))
      mark(scan->getOperand(arg.getArgNumber()));
    return;
  }
  if (auto scan = dyn_cast<ScanOpInterface>(op)) {
    mark(scan.getYielded()[cast<OpResult>(value).getResultNumber()]);
    return markScan(scan);
  }
  if (!inputOps.insert(op).second)
    return;
  // Any other op with a region is one thing.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        mark(operand);
  });
}

/// True for a gradient that the task returns and does not send, if need be
/// after its reduction, or in the stack of a loop around it.
bool BackwardSplitter::isReturnedGradient(Value value) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isReduction(user))
      return isReturnedGradient(user->getResult(use.getOperandNumber()));
    if (auto scan = dyn_cast<ScanOpInterface>(user->getParentOp()))
      return isa<YieldOp>(user) &&
             use.getOperandNumber() >= scan.getNumCarried() &&
             isReturnedGradient(scan->getResult(use.getOperandNumber()));
    return user == task.getBody().front().getTerminator() &&
           use.getOperandNumber() >= numSends;
  });
}

/// True for the gradient of a parameter that the iterations add up.
bool BackwardSplitter::isWeightSum(const CarriedValue &carried) {
  return isSumFromZero(carried) && isReturnedGradient(carried.result);
}

void BackwardSplitter::markReplayed(Block &block) {
  for (Operation &op : block) {
    if (getPhase(&op) != Phase::Recompute && !isa<KeepOp>(op))
      continue;
    for (Value result : op.getResults())
      mark(result);
    for (Value operand : op.getOperands())
      mark(operand);
    inputOps.insert(&op);
  }
}

/// What its iterations hand to each other, and what they replay.
void BackwardSplitter::markScan(ScanOpInterface scan) {
  if (!inputOps.insert(scan).second)
    return;
  markReplayed(scan.getLoopBlock());
  for (const CarriedValue &carried : getCarriedValues(scan)) {
    if (isWeightSum(carried))
      continue;
    mark(carried.yielded->get());
    mark(carried.init->get());
  }
}

/// Everything that is sent, what layers hand to each other, and what forward
/// passes replay. A loop in a loop, of which nothing of this is, is one thing.
void BackwardSplitter::markInput() {
  Block &body = task.getBody().front();
  for (Value sent : body.getTerminator()->getOperands().take_front(numSends))
    mark(sent);
  markReplayed(body);
  for (auto scan : body.getOps<ScanOpInterface>())
    markScan(scan);
  // What a neighbour sends is received once, and the weight half waits for
  // nobody: it has no op that needs tokens of others.
  task.walk([&](RecurrentOpInterface op) {
    if (op.getAlongAttr() && op.getDeviceParts().tail)
      for (Value result : op->getResults())
        mark(result);
  });
}

func::FuncOp BackwardSplitter::makeFunction(const Twine &suffix) {
  rewriter.setInsertionPointAfter(task);
  auto function = func::FuncOp::create(rewriter, task.getLoc(),
                                       (task.getSymName() + suffix).str(),
                                       rewriter.getFunctionType({}, {}));
  function.setPrivate();
  copyProgram(task, function);
  function.addEntryBlock();
  return function;
}

/// Loops of a layer that only the other half has: nothing is kept for them.
void BackwardSplitter::dropKept(ScanOpInterface scan, ScanOpInterface copy) {
  for (auto [op, own] : llvm::zip_equal(scan.getLoopBlock().getOperations(),
                                        copy.getLoopBlock().getOperations())) {
    auto inner = dyn_cast<ScanOpInterface>(op);
    if (inner && isInput(inner))
      dropKept(inner, cast<ScanOpInterface>(own));
    else if (op.getNumRegions() && !isInput(&op))
      own.walk([](KeepOp keep) { keep.erase(); });
  }
}

/// The input half starts as the whole task; what nobody reads is removed last.
void BackwardSplitter::cloneTask() {
  halves.input = makeFunction(".input");
  Block &body = halves.input.getBody().front();
  for (BlockArgument arg : task.getArguments())
    toInput.map(arg, body.addArgument(arg.getType(), arg.getLoc()));
  rewriter.setInsertionPointToEnd(&body);
  for (Operation &op : task.getBody().front().without_terminator())
    rewriter.clone(op, toInput);
  task.walk([&](ScanOpInterface scan) {
    inputScans[scan] = cast<ScanOpInterface>(toInput.lookup(scan));
  });
  for (auto scan : task.getBody().front().getOps<ScanOpInterface>())
    dropKept(scan, inputScans[scan]);
}

/// Makes a value of the input half an argument of the other.
Value BackwardSplitter::passOn(Passed entry) {
  passed.push_back(entry);
  halves.weightArgs.push_back(
      {/*fromInput=*/true, static_cast<unsigned>(passed.size() - 1)});
  Value value = getPassed(entry);
  return weightBody->addArgument(value.getType(), value.getLoc());
}

/// A value of the task as the input half makes it.
BackwardSplitter::Passed BackwardSplitter::getMade(Value value) {
  if (auto scan = value.getDefiningOp<ScanOpInterface>())
    return {Value(), scan, cast<OpResult>(value).getResultNumber()};
  return {toInput.lookup(value), nullptr, 0};
}

/// A value at the top of the task, for the weight half.
Value BackwardSplitter::getWeightValue(Value value) {
  Value &known = toWeight[value];
  if (known)
    return known;
  Operation *source = value.getDefiningOp();
  if (!source) {
    halves.weightArgs.push_back(
        {/*fromInput=*/false, cast<BlockArgument>(value).getArgNumber()});
    return known = weightBody->addArgument(value.getType(), value.getLoc());
  }
  if (isa<ParamOp, SplatOp>(source))
    return known = rewriter.clone(*source)->getResult(0);
  return known = passOn(getMade(value));
}

/// What the input half makes in a loop, in the same loop of the weight half: it
/// is stacked by all loops around it, and read from the stacks.
Value BackwardSplitter::getPassedValue(Level *level, Passed entry) {
  if (!level)
    return passOn(entry);
  ScanOpInterface &own = inputScans[level->scan];
  own = own.withStacked(rewriter, getPassed(entry));
  Value stack = getPassedValue(
      level->parent, {Value(), level->scan, own->getNumResults() - 1});
  return level->copy.addSlice(stack);
}

/// A value of a body as the loop of the weight half sees it: one from around
/// it, read from the same stack, or stacked by the input half.
Value BackwardSplitter::getValue(Level *level, Value value) {
  if (!level)
    return getWeightValue(value);
  if (Value known = level->values.lookup(value))
    return known;
  auto getOutside = [&](Value outside) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(level->copy);
    return getValue(level->parent, outside);
  };
  ScanOpInterface scan = level->scan;
  auto arg = dyn_cast<BlockArgument>(value);
  Value known;
  if (!scan->getRegion(0).isAncestor(value.getParentRegion()))
    known = getOutside(value);
  else if (isa_and_nonnull<ParamOp, SplatOp>(value.getDefiningOp()))
    known = rewriter.clone(*value.getDefiningOp())->getResult(0);
  else if (arg && arg.getArgNumber() >= scan.getNumCarried())
    known =
        level->copy.addSlice(getOutside(scan->getOperand(arg.getArgNumber())));
  else
    known = getPassedValue(level, getMade(value));
  return level->values[value] = known;
}

void BackwardSplitter::setValue(Level *level, Value value, Value copy) {
  if (!level) {
    toWeight[value] = copy;
    return;
  }
  level->values[value] = copy;
  level->made.insert(value);
}

/// True for what the weight half makes, or some of it.
bool BackwardSplitter::isWeight(Operation &op) const {
  if (!isInput(&op))
    return !isa<ParamOp, SplatOp>(op);
  auto scan = dyn_cast<ScanOpInterface>(op);
  return scan &&
         llvm::any_of(scan.getLoopBlock().without_terminator(),
                      [&](Operation &inner) { return isWeight(inner); });
}

void BackwardSplitter::buildWeightOps(Level *level, Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!isWeight(op))
      continue;
    if (isInput(&op)) {
      buildWeightRepeat(level, cast<ScanOpInterface>(op));
      continue;
    }
    IRMapping mapping;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op.isAncestor(operand.getParentBlock()->getParentOp()))
          mapping.map(operand, getValue(level, operand));
    });
    Operation *copy = rewriter.clone(op, mapping);
    for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
      setValue(level, from, to);
  }
}

void BackwardSplitter::buildWeightRepeat(Level *parent, ScanOpInterface scan) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<CarriedValue> sums;
  SmallVector<Value> inits;
  for (const CarriedValue &carried : getCarriedValues(scan))
    if (isWeightSum(carried)) {
      sums.push_back(carried);
      inits.push_back(getValue(parent, carried.init->get()));
    }
  auto copy = RepeatOp::create(rewriter, scan.getLoc(), scan.getScopeName(),
                               scan.getCount(), scan.getReverse(), inits,
                               ValueRange(), TypeRange());
  if (std::optional<SymExpr> first = scan.getFirst())
    copy.setFirstAttr(*first);
  copy->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  copyOrigin(scan, copy);
  rewriter.setInsertionPointToEnd(&copy.getBody().front());
  Level level;
  level.parent = parent;
  level.scan = scan;
  level.copy = copy;
  for (auto [sum, arg] : llvm::zip_equal(sums, copy.getCarriedArgs()))
    level.values[sum.arg] = arg;
  buildWeightOps(&level, scan.getLoopBlock());
  SmallVector<Value> stacked, summed, results;
  for (const CarriedValue &sum : sums) {
    summed.push_back(getValue(&level, sum.yielded->get()));
    results.push_back(sum.result);
  }
  YieldOp::create(rewriter, scan.getLoc(), summed);
  const unsigned carried = scan.getNumCarried();
  for (auto [number, value] :
       llvm::enumerate(scan.getYielded().drop_front(carried)))
    if (level.made.contains(value)) {
      stacked.push_back(level.values.at(value));
      results.push_back(scan->getResult(carried + number));
    }
  copy = copy.withStacked(rewriter, stacked);
  for (auto [from, to] : llvm::zip_equal(results, copy.getResults()))
    setValue(parent, from, to);
}

/// Ends both halves, and removes from the input half what only the other does.
void BackwardSplitter::finish() {
  Operation *terminator = task.getBody().front().getTerminator();
  SmallVector<Value> gradients;
  for (Value gradient : terminator->getOperands().drop_front(numSends))
    gradients.push_back(getWeightValue(gradient));
  func::ReturnOp::create(rewriter, task.getLoc(), gradients);
  auto setTask = [&](func::FuncOp half, TaskKind kind, int64_t sends,
                     bool saves) {
    half->setAttr(STGDialect::kTaskAttr,
                  TaskAttr::get(task.getContext(), kind, sends, saves, false));
  };
  setTask(halves.weight, TaskKind::BackwardWeight, 0, false);
  setTask(halves.input, TaskKind::BackwardInput, numSends, true);
  halves.weight.setType(rewriter.getFunctionType(
      weightBody->getArgumentTypes(), ValueRange(gradients).getTypes()));

  SmallVector<Value> results;
  // A stage without layers passes on what it gets.
  for (Value sent : terminator->getOperands().take_front(numSends))
    results.push_back(getPassed(getMade(sent)));
  for (const Passed &entry : passed)
    results.push_back(getPassed(entry));
  Block &body = halves.input.getBody().front();
  rewriter.setInsertionPointToEnd(&body);
  func::ReturnOp::create(rewriter, task.getLoc(), results);
  RewritePatternSet patterns(task.getContext());
  populateDropUnusedStacksPatterns(patterns);
  (void)applyPatternsGreedily(halves.input, std::move(patterns));
  for (unsigned number = body.getNumArguments(); number-- > 0;) {
    if (body.getArgument(number).use_empty())
      body.eraseArgument(number);
    else
      halves.inputArgs.insert(halves.inputArgs.begin(), number);
  }
  halves.input.setType(rewriter.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
}

/// Arguments are what they are in the task, or what the input half makes.
void BackwardSplitter::setLayouts() {
  auto getOfTask = [&](unsigned number) {
    return task.getArgAttrOfType<LayoutAttr>(number, STGDialect::kLayoutAttr);
  };
  setArgLayouts(halves.input, 0,
                llvm::map_to_vector(halves.inputArgs, getOfTask));
  SmallVector<LayoutAttr> made = getResultLayouts(halves.input);
  setArgLayouts(halves.weight, 0,
                llvm::map_to_vector(
                    halves.weightArgs, [&](BackwardHalves::WeightArg arg) {
                      return arg.fromInput ? made[numSends + arg.number]
                                           : getOfTask(arg.number);
                    }));
}

BackwardHalves BackwardSplitter::run() {
  markInput();
  cloneTask();
  halves.weight = makeFunction(".weight");
  weightBody = &halves.weight.getBody().front();
  rewriter.setInsertionPointToEnd(weightBody);
  buildWeightOps(/*level=*/nullptr, task.getBody().front());
  finish();
  setLayouts();
  return std::move(halves);
}

BackwardHalves stg::splitBackward(func::FuncOp task, unsigned numSends) {
  return BackwardSplitter(task, numSends).run();
}
