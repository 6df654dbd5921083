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

  void markInput();
  bool isReturnedGradient(Value value);
  bool isWeightSum(const CarriedValue &carried);
  void mark(Value value);
  bool isInput(Operation *op) const { return inputOps.contains(op); }

  void cloneTask();
  void dropKept(ScanOpInterface scan, ScanOpInterface copy);
  Value getWeightValue(Value value);
  void buildWeightOp(Operation *op);
  void buildWeightRepeat(ScanOpInterface scan);
  Value getSlice(ScanOpInterface scan, RepeatOp copy, Value value,
                 DenseMap<Value, Value> &slices);
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
    unsigned number = cast<OpResult>(value).getResultNumber();
    mark(scan.getYielded()[number]);
    if (!inputOps.insert(op).second)
      return;
    for (Value init : scan.getCarriedInits())
      mark(init);
    return;
  }
  if (!inputOps.insert(op).second)
    return;
  // A loop inside of a layer is one thing.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        mark(operand);
  });
}

/// True for a gradient that the task returns and does not send, if need be
/// after its reduction.
bool BackwardSplitter::isReturnedGradient(Value value) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isReduction(user))
      return isReturnedGradient(user->getResult(use.getOperandNumber()));
    return user == task.getBody().front().getTerminator() &&
           use.getOperandNumber() >= numSends;
  });
}

/// True for the gradient of a parameter that the iterations add up.
bool BackwardSplitter::isWeightSum(const CarriedValue &carried) {
  return isSumFromZero(carried) && isReturnedGradient(carried.result);
}

/// Everything that is sent, what layers hand to each other, and what forward
/// passes replay.
void BackwardSplitter::markInput() {
  Operation *terminator = task.getBody().front().getTerminator();
  for (Value sent : terminator->getOperands().take_front(numSends))
    mark(sent);
  auto markReplayed = [&](Block &block) {
    for (Operation &op : block)
      if (getPhase(&op) == Phase::Recompute || isa<KeepOp>(op)) {
        for (Value result : op.getResults())
          mark(result);
        for (Value operand : op.getOperands())
          mark(operand);
        inputOps.insert(&op);
      }
  };
  markReplayed(task.getBody().front());
  for (auto scan : task.getBody().front().getOps<ScanOpInterface>()) {
    markReplayed(scan.getLoopBlock());
    for (const CarriedValue &carried : getCarriedValues(scan)) {
      if (isWeightSum(carried))
        continue;
      mark(carried.yielded->get());
      mark(carried.init->get());
    }
    inputOps.insert(scan);
  }
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
                                        copy.getLoopBlock().getOperations()))
    if (op.getNumRegions() && !isInput(&op))
      own.walk([](KeepOp keep) { keep.erase(); });
}

/// The input half starts as the whole task; what nobody reads is removed last.
void BackwardSplitter::cloneTask() {
  halves.input = makeFunction(".input");
  Block &body = halves.input.getBody().front();
  for (BlockArgument arg : task.getArguments())
    toInput.map(arg, body.addArgument(arg.getType(), arg.getLoc()));
  rewriter.setInsertionPointToEnd(&body);
  for (Operation &op : task.getBody().front().without_terminator()) {
    Operation *copy = rewriter.clone(op, toInput);
    if (auto scan = dyn_cast<ScanOpInterface>(copy)) {
      inputScans[&op] = scan;
      dropKept(cast<ScanOpInterface>(op), scan);
    }
  }
}

/// Makes a value of the input half an argument of the other.
Value BackwardSplitter::passOn(Passed entry) {
  passed.push_back(entry);
  halves.weightArgs.push_back(
      {/*fromInput=*/true, static_cast<unsigned>(passed.size() - 1)});
  Value value = getPassed(entry);
  return weightBody->addArgument(value.getType(), value.getLoc());
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
  bool isScan = isa<ScanOpInterface>(source);
  Value arg = passOn({isScan ? Value() : toInput.lookup(value),
                      isScan ? source : nullptr,
                      cast<OpResult>(value).getResultNumber()});
  return toWeight[value] = arg;
}

void BackwardSplitter::buildWeightOp(Operation *op) {
  IRMapping mapping;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        mapping.map(operand, getWeightValue(operand));
  });
  Operation *copy = rewriter.clone(*op, mapping);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    toWeight[from] = to;
}

/// A value of the body as the weight half's repeat sees it: read from the same
/// stack, or stacked by the input half.
Value BackwardSplitter::getSlice(ScanOpInterface scan, RepeatOp copy,
                                 Value value, DenseMap<Value, Value> &slices) {
  Value &known = slices[value];
  if (known)
    return known;
  if (!scan->getRegion(0).isAncestor(value.getParentRegion()))
    return known = getWeightValue(value);
  if (isa_and_nonnull<ParamOp, SplatOp>(value.getDefiningOp()))
    return known = rewriter.clone(*value.getDefiningOp())->getResult(0);
  auto arg = dyn_cast<BlockArgument>(value);
  Value stack;
  OpBuilder::InsertionGuard guard(rewriter);
  if (arg && arg.getArgNumber() >= scan.getNumCarried()) {
    rewriter.setInsertionPoint(copy);
    stack = getWeightValue(scan->getOperand(arg.getArgNumber()));
  } else {
    ScanOpInterface &inInput = inputScans[scan];
    inInput = inInput.withStacked(rewriter, toInput.lookup(value));
    stack = passOn({Value(), scan, inInput->getNumResults() - 1});
  }
  return slices[value] = copy.addSlice(stack);
}

void BackwardSplitter::buildWeightRepeat(ScanOpInterface scan) {
  SmallVector<Operation *> ops;
  for (Operation &op : scan.getLoopBlock().without_terminator())
    if (!isInput(&op) && !isa<ParamOp, SplatOp>(op))
      ops.push_back(&op);
  if (ops.empty())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<CarriedValue> sums;
  SmallVector<Value> inits;
  for (const CarriedValue &carried : getCarriedValues(scan))
    if (isWeightSum(carried)) {
      sums.push_back(carried);
      inits.push_back(getWeightValue(carried.init->get()));
    }
  auto copy = RepeatOp::create(rewriter, scan.getLoc(), scan.getScopeName(),
                               scan.getCount(), scan.getReverse(), inits,
                               ValueRange(), TypeRange());
  if (std::optional<SymExpr> first = scan.getFirst())
    copy.setFirstAttr(*first);
  copy->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  copyOrigin(scan, copy);
  rewriter.setInsertionPointToEnd(&copy.getBody().front());
  DenseMap<Value, Value> slices;
  for (auto [sum, arg] : llvm::zip_equal(sums, copy.getCarriedArgs()))
    slices[sum.arg] = arg;
  for (Operation *op : ops) {
    IRMapping mapping;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          mapping.map(operand, getSlice(scan, copy, operand, slices));
    });
    Operation *made = rewriter.clone(*op, mapping);
    for (auto [from, to] :
         llvm::zip_equal(op->getResults(), made->getResults()))
      slices[from] = to;
  }
  SmallVector<Value> stacked, summed, results;
  for (const CarriedValue &sum : sums) {
    summed.push_back(slices.at(sum.yielded->get()));
    results.push_back(sum.result);
  }
  YieldOp::create(rewriter, scan.getLoc(), summed);
  unsigned carried = scan.getNumCarried();
  for (auto [number, value] :
       llvm::enumerate(scan.getYielded().drop_front(carried)))
    if (llvm::is_contained(ops, value.getDefiningOp())) {
      stacked.push_back(slices[value]);
      results.push_back(scan->getResult(carried + number));
    }
  copy = copy.withStacked(rewriter, stacked);
  for (auto [from, to] : llvm::zip_equal(results, copy.getResults()))
    toWeight[from] = to;
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
  for (Value sent : terminator->getOperands().take_front(numSends)) {
    // A stage without layers passes on what it gets.
    if (auto scan = sent.getDefiningOp<ScanOpInterface>())
      results.push_back(
          getPassed({Value(), scan, cast<OpResult>(sent).getResultNumber()}));
    else
      results.push_back(toInput.lookup(sent));
  }
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
  for (Operation &op : task.getBody().front().without_terminator()) {
    if (auto scan = dyn_cast<ScanOpInterface>(op))
      buildWeightRepeat(scan);
    else if (!isInput(&op) && !isa<ParamOp, SplatOp>(op))
      buildWeightOp(&op);
  }
  finish();
  setLayouts();
  return std::move(halves);
}

BackwardHalves stg::splitBackward(func::FuncOp task, unsigned numSends) {
  return BackwardSplitter(task, numSends).run();
}
