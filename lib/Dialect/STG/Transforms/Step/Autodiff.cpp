//===- Autodiff.cpp - Derives the backward pass ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reverse-mode differentiation over blocks. Ops build their own backward ops;
// this pass decides for which values, adds up contributions, and turns a repeat
// around.
//
// Invariant: when an op is visited in reverse order, the gradients of its
// results are complete, because all their users came later in the block.
//
//===----------------------------------------------------------------------===//

#include "Explained.h"
#include "mlir/Transforms/RegionUtils.h"
#include "stg/Dialect/STG/Analysis/Activity.h"
#include "stg/Dialect/STG/Analysis/ParameterValues.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_AUTODIFF
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Gradients of parameters by name, in the order of the forward pass.
struct ParamGradient {
  SmallVector<std::string> path; ///< Enclosing repeats, then the name.
  Value value;
};

/// What is known while one block is differentiated.
struct BlockGradients {
  DenseMap<Value, Value> values;
  llvm::MapVector<StringRef, Value> params;
  SmallVector<ParamGradient> nested;
  /// In the body of a repeat, the values from outside of it whose gradients it
  /// adds up over its iterations.
  llvm::SetVector<Value> captured;
};

//===----------------------------------------------------------------------===//
// Differentiator
//===----------------------------------------------------------------------===//

class Differentiator {
public:
  Differentiator(MLIRContext *context, Type paramGradientType, bool replayed)
      : rewriter(context), paramGradientType(paramGradientType),
        activity(replayed) {}

  /// Appends the backward pass to the function and its gradients to its
  /// results.
  LogicalResult run(func::FuncOp function);

private:
  friend class OpGradientBuilder;

  LogicalResult differentiateBlock(Block &forward, BlockGradients &gradients);
  LogicalResult differentiateOp(Operation *op, BlockGradients &gradients);
  LogicalResult addAuxiliaryLoss(AuxiliaryLossOp op, BlockGradients &gradients);
  bool hasAuxiliaryLoss(Operation *op);
  LogicalResult differentiateScan(ScanOpInterface forward,
                                  BlockGradients &gradients);
  RepeatOp buildBackwardRepeat(ScanOpInterface forward,
                               BlockGradients &gradients,
                               BlockGradients &inner);
  LogicalResult yieldGradients(ScanOpInterface forward, RepeatOp &backward,
                               BlockGradients &gradients,
                               BlockGradients &inner);
  Value startSum(Value captured, const BlockGradients &gradients);
  void dropUnusedSums(RepeatOp &backward, BlockGradients &inner);
  Value addStacked(Value captured, Value stack);
  void saveCaptured(ScanOpInterface forward, RepeatOp backward);

  /// Gradient element type for a value: parameters have their own.
  SymTensorType getGradientType(Value value) {
    bool isParam = static_cast<bool>(getReadParameter(value));
    if (auto cast = value.getDefiningOp<CastOp>(); cast && cast.isNarrowing())
      value = cast.getInput();
    auto type = cast<SymTensorType>(value.getType());
    return isParam ? type.withElementType(paramGradientType) : type;
  }
  Value makeZero(Value value) {
    return SplatOp::create(rewriter, value.getLoc(), getGradientType(value),
                           SymExpr::get(value.getContext(), 0));
  }

  IRRewriter rewriter;
  Type paramGradientType;
  Activity activity;
};

/// The gradient builder of one op.
class OpGradientBuilder : public GradientBuilder {
public:
  OpGradientBuilder(Differentiator &parent, Operation *forward,
                    BlockGradients &gradients)
      : GradientBuilder(parent.rewriter, forward), parent(parent),
        gradients(gradients) {}

  Value getResultGradient(unsigned result) override {
    return gradients.values.lookup(forward->getResult(result));
  }
  bool needsGradient(unsigned operand) override {
    return parent.activity.contains(forward->getOperand(operand));
  }
  SymTensorType getGradientType(unsigned operand) override {
    return parent.getGradientType(forward->getOperand(operand));
  }
  void addGradient(unsigned operand, Value gradient) override {
    addTo(forward->getOperand(operand), gradient);
  }
  void addTo(Value value, Value gradient) {
    gradient =
        convert(gradient, parent.getGradientType(value).getElementType());
    Value &total = gradients.values[value];
    if (!total)
      total = gradient;
    else if (gradients.captured.contains(value))
      total = addToSum(value, total, gradient);
    else
      total = create<AddOp>(Role::Add, total, gradient);
  }

private:
  /// Adds to what iterations add up. A parameter's buffer is added to in place,
  /// as over micro-batches. The op is called like what makes the captured
  /// value, since that is what it is the gradient of.
  Value addToSum(Value captured, Value total, Value gradient) {
    if (getReadParameter(captured))
      return create<AccumulateOp>(Role::Accumulate, total, gradient);
    auto sum = create<AddOp>(Role::Add, total, gradient);
    if (Operation *maker = captured.getDefiningOp()) {
      auto scan = dyn_cast<ScanOpInterface>(maker);
      if (StringAttr name = scan ? scan.getScopeName() : getOrigin(maker).name)
        setName(sum, name);
    }
    return sum;
  }

  /// A pointwise op gives the gradient of a parameter in the type of the
  /// parameter.
  Value convert(Value gradient, Type elementType) {
    auto type = cast<SymTensorType>(gradient.getType());
    if (type.getElementType() == elementType)
      return gradient;
    return create<CastOp>(Role::Cast,
                          type.withoutSharding().withElementType(elementType),
                          gradient);
  }

  Differentiator &parent;
  BlockGradients &gradients;
};
} // namespace

LogicalResult Differentiator::differentiateBlock(Block &forward,
                                                 BlockGradients &gradients) {
  // Collected first: the backward ops may go into the same block, and a repeat
  // is replaced when its saved values are added.
  SmallVector<Operation *> ops;
  for (Operation &op : forward.without_terminator())
    ops.push_back(&op);
  SmallVector<ParamOp> params;
  for (Operation *op : llvm::reverse(ops)) {
    if (auto param = dyn_cast<ParamOp>(op)) {
      params.push_back(param);
      continue;
    }
    if (failed(differentiateOp(op, gradients)))
      return failure();
  }
  for (ParamOp param : llvm::reverse(params)) {
    Value gradient = gradients.values.lookup(param);
    if (!gradient)
      continue;
    // A second read of the same parameter: weights are tied.
    Value &total = gradients.params[param.getParamName()];
    if (total) {
      auto add = AddOp::create(rewriter, param.getLoc(), total, gradient);
      setName(add, param.getParamNameAttr());
      setPhase(add, Phase::Backward);
      setRole(add, Role::Add);
      total = add;
    } else {
      total = gradient;
    }
  }
  return success();
}

LogicalResult Differentiator::differentiateOp(Operation *op,
                                              BlockGradients &gradients) {
  bool hasGradient = llvm::any_of(op->getResults(), [&](Value result) {
    return gradients.values.contains(result);
  });
  bool isActive = llvm::any_of(op->getOperands(), [&](Value operand) {
    return activity.contains(operand);
  });
  if (auto loss = dyn_cast<AuxiliaryLossOp>(op))
    return addAuxiliaryLoss(loss, gradients);
  hasGradient |= isa<ScanOpInterface>(op) && hasAuxiliaryLoss(op);
  if (!hasGradient || !(isActive || isa<ScanOpInterface>(op)))
    return success();
  if (auto scan = dyn_cast<ScanOpInterface>(op))
    return differentiateScan(scan, gradients);
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable && isa<CallOpInterface>(op))
    return op->emitOpError("is a call; run --inline first");
  if (!differentiable)
    return op->emitOpError("lies between a parameter and the loss, but has no "
                           "gradient; implement DifferentiableOpInterface");
  OpGradientBuilder builder(*this, op, gradients);
  return callExplained(op, "buildGradient",
                       [&] { return differentiable.buildGradient(builder); });
}

/// The value's part of the objective, where something that is trained made it.
/// It is computed in any case.
LogicalResult Differentiator::addAuxiliaryLoss(AuxiliaryLossOp op,
                                               BlockGradients &gradients) {
  Value loss = op.getValue();
  if (activity.contains(loss)) {
    auto type = cast<SymTensorType>(loss.getType());
    SymExpr mean = op.getWeight().exactDiv(type.getNumElements());
    if (!mean)
      return op.emitOpError("has a loss of ")
             << type.getNumElements().str()
             << " elements, whose mean has no exact expression";
    Value seed = SplatOp::create(rewriter, op.getLoc(), type, mean);
    OpGradientBuilder(*this, op, gradients).addTo(loss, seed);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  KeepOp::create(rewriter, op.getLoc(), loss, /*like=*/Value());
  rewriter.eraseOp(op);
  return success();
}

bool Differentiator::hasAuxiliaryLoss(Operation *op) {
  return op
      ->walk([&](AuxiliaryLossOp loss) {
        return activity.contains(loss.getValue()) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Gradients of values from outside of a repeat are carried and added to in
/// each iteration. That of one which is made of parameters, but is none, is a
/// sum over the whole batch: it is stacked, and the stack is added up behind
/// the repeat, so that devices reduce only the sum.
static bool isAddedUpBehind(Value captured) {
  return isMadeOfParameters(captured) && !getReadParameter(captured);
}

/// What iterations add the gradients of a captured value to. Where its gradient
/// so far is known, that is a part of the sum: what is cut between iterations,
/// as stages of a pipeline are, then has one gradient of it and not two. The
/// gradient of a parameter is reduced by itself behind the iterations.
Value Differentiator::startSum(Value captured,
                               const BlockGradients &gradients) {
  if (Value gradient = gradients.values.lookup(captured))
    if (!getReadParameter(captured))
      return gradient;
  return makeZero(captured);
}

/// Creates the backward repeat with an empty body: it carries the gradients of
/// the active carried values and sums of those of captured values, and reads
/// slices of the gradients of stacked results. `inner` receives the gradients
/// that are known at the end of the forward body.
RepeatOp Differentiator::buildBackwardRepeat(ScanOpInterface forward,
                                             BlockGradients &gradients,
                                             BlockGradients &inner) {
  SmallVector<Value> inits, stacks, initTargets, stackTargets;
  SmallVector<std::pair<Value, Value>> read; ///< Targets and their gradients.
  OperandRange yielded = forward.getYielded();
  for (auto [number, result] : llvm::enumerate(forward->getResults())) {
    Value gradient = gradients.values.lookup(result);
    if (number >= forward.getNumCarried()) {
      if (gradient) {
        stacks.push_back(gradient);
        stackTargets.push_back(yielded[number]);
      }
      continue;
    }
    if (!activity.contains(forward.getCarriedArgs()[number])) {
      // Of one iteration: nothing goes on to another one.
      if (gradient && activity.contains(yielded[number]))
        read.emplace_back(yielded[number], gradient);
      continue;
    }
    inits.push_back(gradient ? gradient : makeZero(result));
    initTargets.push_back(yielded[number]);
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(forward->getRegions(), captured);
  for (Value value : captured)
    if (activity.contains(value) && !isAddedUpBehind(value)) {
      inner.captured.insert(value);
      inits.push_back(startSum(value, gradients));
    }
  auto backward = RepeatOp::create(
      rewriter, forward.getLoc(), forward.getScopeName(), forward.getCount(),
      !forward.getReverse(), inits, stacks, TypeRange());
  if (std::optional<SymExpr> first = forward.getFirst())
    backward.setFirstAttr(*first);
  setPhase(backward, Phase::Backward);
  OpGradientBuilder add(*this, forward, inner);
  rewriter.setInsertionPointToEnd(&backward.getBody().front());
  for (auto [target, gradient] : read)
    add.addTo(target, gradient);
  unsigned numTargets = initTargets.size();
  for (auto [target, arg] : llvm::zip(initTargets, backward.getCarriedArgs()))
    add.addTo(target, arg);
  for (auto [value, sum] : llvm::zip_equal(
           inner.captured, backward.getCarriedArgs().drop_front(numTargets)))
    inner.values[value] = sum;
  for (auto [target, arg] :
       llvm::zip_equal(stackTargets, backward.getSliceArgs()))
    add.addTo(target, arg);
  return backward;
}

/// Drops the sums to which no iteration adds: of what the loss does not depend
/// on. The body is not finished, and nobody has read a result yet.
void Differentiator::dropUnusedSums(RepeatOp &backward, BlockGradients &inner) {
  unsigned carried = backward.getNumCarried();
  unsigned first = carried - inner.captured.size();
  llvm::BitVector dropped(carried + backward.getStacks().size());
  llvm::SetVector<Value> used;
  for (auto [number, value] : llvm::enumerate(inner.captured)) {
    if (inner.values.lookup(value) == backward.getCarriedArgs()[first + number])
      dropped.set(first + number);
    else
      used.insert(value);
  }
  if (dropped.none())
    return;
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(backward.getCarriedInits()))
    if (!dropped.test(number))
      inits.push_back(init);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(backward);
  auto copy =
      RepeatOp::create(rewriter, backward.getLoc(), backward.getRepeatName(),
                       backward.getCount(), backward.getReverse(), inits,
                       backward.getStacks(), TypeRange());
  copy.setFirstAttr(backward.getFirstAttr());
  copyOrigin(backward, copy);
  // The same block: its values are known.
  copy.getBody().takeBody(backward.getBody());
  copy.getBody().front().eraseArguments(dropped);
  rewriter.eraseOp(backward);
  backward = copy;
  inner.captured = std::move(used);
}

/// The sum over all iterations of the gradient of a captured value.
Value Differentiator::addStacked(Value captured, Value stack) {
  auto sum = SumOp::create(rewriter, captured.getLoc(), stack, /*dim=*/0);
  setOrigin(sum, {getOrigin(captured.getDefiningOp()).name, Phase::Backward,
                  Role::Add});
  return sum;
}

/// Ends the backward body: yields the gradients of the carried arguments and of
/// captured values, and stacks those of parameters and of slices. Hands all of
/// them to `gradients`.
LogicalResult Differentiator::yieldGradients(ScanOpInterface forward,
                                             RepeatOp &backward,
                                             BlockGradients &gradients,
                                             BlockGradients &inner) {
  dropUnusedSums(backward, inner);
  SmallVector<Value> carried, stacked;
  for (BlockArgument arg : forward.getCarriedArgs()) {
    if (!activity.contains(arg))
      continue;
    Value gradient = inner.values.lookup(arg);
    carried.push_back(gradient ? gradient : makeZero(arg));
  }
  for (Value value : inner.captured)
    carried.push_back(inner.values.lookup(value));
  YieldOp::create(rewriter, forward.getLoc(), carried);
  for (auto &[name, value] : inner.params)
    stacked.push_back(value);
  for (ParamGradient &nested : inner.nested)
    stacked.push_back(nested.value);
  SmallVector<Value> sliceTargets;
  for (auto [arg, stack] :
       llvm::zip_equal(forward.getSliceArgs(), forward.getStacks()))
    if (Value gradient = inner.values.lookup(arg)) {
      stacked.push_back(gradient);
      sliceTargets.push_back(stack);
    }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(forward->getRegions(), captured);
  SmallVector<Value> summed;
  for (Value value : captured)
    if (isAddedUpBehind(value))
      if (Value gradient = inner.values.lookup(value)) {
        stacked.push_back(gradient);
        summed.push_back(value);
      }
  backward = backward.withStacked(rewriter, stacked);
  auto results = backward.getStackedResults().begin();
  std::string scope = forward.getScopeName().str();
  for (auto &[name, value] : inner.params)
    gradients.nested.push_back({{scope, name.str()}, *results++});
  for (ParamGradient &nested : inner.nested) {
    SmallVector<std::string> path{scope};
    llvm::append_range(path, nested.path);
    gradients.nested.push_back({path, *results++});
  }
  rewriter.setInsertionPointAfter(backward);
  OpGradientBuilder add(*this, forward, gradients);
  // Before anything else is added: sums that began with the gradient so far
  // have it in them.
  unsigned first = backward.getNumCarried() - inner.captured.size();
  for (auto [number, value] : llvm::enumerate(inner.captured)) {
    Value sum = backward->getResult(first + number);
    Value &total = gradients.values[value];
    if (total && backward.getCarriedInits()[first + number] == total)
      total = sum;
    else
      add.addTo(value, sum);
  }
  for (Value target : sliceTargets) {
    // Another repeat may have made the stack, whose gradient is called alike.
    Value gradient = *results++;
    DimAttr leading = cast<SymTensorType>(target.getType()).getDim(0);
    gradient.setType(
        cast<SymTensorType>(gradient.getType()).getSlice().getStacked(leading));
    add.addTo(target, gradient);
  }
  for (Value value : summed)
    add.addTo(value, addStacked(value, *results++));
  auto backwardCarried = backward.getCarriedResults().begin();
  for (auto [arg, init] :
       llvm::zip_equal(forward.getCarriedArgs(), forward.getCarriedInits())) {
    if (!activity.contains(arg))
      continue;
    if (activity.contains(init))
      add.addTo(init, *backwardCarried);
    ++backwardCarried;
  }
  return success();
}

/// Values of the forward body that the backward body uses: parameters and
/// immediates are read again, everything else is stacked by the forward repeat.
void Differentiator::saveCaptured(ScanOpInterface forward, RepeatOp backward) {
  Block &forwardBody = forward.getLoopBlock();
  llvm::SetVector<Value> captured;
  backward.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentBlock() == &forwardBody)
        captured.insert(operand);
  });
  SmallVector<Value> saved;
  auto replaceInBackward = [&](Value from, Value to) {
    from.replaceUsesWithIf(to, [&](OpOperand &use) {
      return backward.getBody().isAncestor(use.getOwner()->getParentRegion());
    });
  };
  rewriter.setInsertionPointToStart(&backward.getBody().front());
  for (Value value : captured) {
    auto arg = dyn_cast<BlockArgument>(value);
    if (arg && arg.getArgNumber() >= forward.getNumCarried())
      // What forward read from a stack is still there.
      replaceInBackward(
          value, backward.addSlice(forward->getOperand(arg.getArgNumber())));
    else if (getReadParameter(value) || value.getDefiningOp<SplatOp>())
      replaceInBackward(value, readAgain(rewriter, value, Phase::Backward));
    else
      saved.push_back(value);
  }
  unsigned first = forward->getNumResults();
  ScanOpInterface saving = forward.withStacked(rewriter, saved);
  for (auto [number, value] : llvm::enumerate(saved))
    replaceInBackward(value,
                      backward.addSlice(saving->getResult(first + number)));
}

LogicalResult Differentiator::differentiateScan(ScanOpInterface forward,
                                                BlockGradients &gradients) {
  OpBuilder::InsertionGuard guard(rewriter);
  BlockGradients inner;
  RepeatOp backward = buildBackwardRepeat(forward, gradients, inner);
  if (failed(differentiateBlock(forward.getLoopBlock(), inner)) ||
      failed(yieldGradients(forward, backward, gradients, inner)))
    return failure();
  saveCaptured(forward, backward);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// True if any parameter of the function is frozen.
static bool hasFrozen(func::FuncOp function) {
  return function
      .walk([](ParamOp param) {
        return param.getFrozen() ? WalkResult::interrupt()
                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// A result of the program whose mean is part of the objective.
struct Loss {
  Value value;
  SymExpr weight;
};
} // namespace

static LogicalResult checkLoss(func::FuncOp function, Value loss,
                               const Activity &activity, StringRef which) {
  if (!isFloatTensor(loss))
    return function.emitOpError("has a ")
           << which << "result of type " << loss.getType()
           << ", expected a float tensor: the loss";
  if (!activity.contains(loss))
    return function.emitOpError("has a loss that depends on no parameter")
           << (hasFrozen(function) ? " that is trained: all that it depends on "
                                     "are frozen"
                                   : "");
  return success();
}

/// The values that are differentiated: results that say so with their weight,
/// or the first result.
static FailureOr<SmallVector<Loss>> getLosses(func::FuncOp function,
                                              const Activity &activity) {
  Operation *terminator = function.getBody().front().getTerminator();
  if (terminator->getNumOperands() == 0)
    return function.emitOpError(
        "has no result to differentiate; return the loss "
        "as the first result");
  SmallVector<Loss> losses;
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    auto weight =
        function.getResultAttrOfType<SymExpr>(number, STGDialect::kLossAttr);
    if (!weight)
      continue;
    if (failed(checkLoss(function, value, activity, "")))
      return failure();
    losses.push_back({value, weight});
  }
  if (!losses.empty())
    return losses;
  Value first = terminator->getOperand(0);
  if (failed(checkLoss(function, first, activity, "first ")))
    return failure();
  losses.push_back({first, SymExpr::get(function.getContext(), 1)});
  return losses;
}

/// What `block` casts of parameters is cast again for backward, not saved.
static void castAgain(Block &block) {
  SmallVector<CastOp> casts;
  for (auto cast : block.getOps<CastOp>())
    if (getPhase(cast) == Phase::Forward && getReadParameter(cast))
      casts.push_back(cast);
  for (CastOp cast : casts) {
    Operation *first = nullptr;
    auto isRead = [&](OpOperand &use) {
      return getPhase(use.getOwner()) == Phase::Backward;
    };
    for (OpOperand &use : cast->getUses()) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      if (isRead(use) && (!first || user->isBeforeInBlock(first)))
        first = user;
    }
    if (!first)
      continue;
    OpBuilder builder(first);
    Operation *again = builder.clone(*cast);
    setPhase(again, Phase::Backward);
    cast.getResult().replaceUsesWithIf(again->getResult(0), isRead);
  }
}

LogicalResult Differentiator::run(func::FuncOp function) {
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
    if (function.getResultAttr(i, STGDialect::kGradientAttr))
      return function.emitOpError("returns gradients already, as result ")
             << i << "; a step is differentiated once";
  Block &body = function.getBody().front();
  activity.addBlock(body);
  FailureOr<SmallVector<Loss>> losses = getLosses(function, activity);
  if (failed(losses))
    return failure();
  markForward(function);
  Operation *terminator = body.getTerminator();
  rewriter.setInsertionPoint(terminator);

  // The objective is the weighted sum of the means of losses over their
  // elements.
  BlockGradients gradients;
  for (const Loss &loss : *losses) {
    auto type = cast<SymTensorType>(loss.value.getType());
    SymExpr mean = loss.weight.exactDiv(type.getNumElements());
    if (!mean)
      return function.emitOpError("has a loss of ")
             << type.getNumElements().str()
             << " elements, whose mean has no exact expression";
    Value seed = SplatOp::create(rewriter, loss.value.getLoc(), type, mean);
    Value &total = gradients.values[loss.value];
    if (total)
      return function.emitOpError("returns one value as two losses");
    total = seed;
  }
  if (failed(differentiateBlock(body, gradients)))
    return failure();
  castAgain(body);

  SmallVector<ParamGradient> all;
  for (auto &[name, value] : gradients.params)
    all.push_back({{name.str()}, value});
  llvm::append_range(all, gradients.nested);
  SmallVector<Type> types(function.getResultTypes());
  for (ParamGradient &gradient : all) {
    terminator->insertOperands(terminator->getNumOperands(), gradient.value);
    types.push_back(gradient.value.getType());
  }
  unsigned firstGradient = function.getNumResults();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), types));
  // All at once: the list of all results is interned each time it is set.
  SmallVector<DictionaryAttr> attrs;
  function.getAllResultAttrs(attrs);
  attrs.truncate(firstGradient);
  for (ParamGradient &gradient : all) {
    SmallVector<StringAttr> path;
    for (StringRef name : gradient.path)
      path.push_back(rewriter.getStringAttr(name));
    attrs.push_back(rewriter.getDictionaryAttr(
        rewriter.getNamedAttr(STGDialect::kGradientAttr,
                              GradientAttr::get(rewriter.getContext(), path))));
  }
  function.setAllResultAttrs(attrs);
  return success();
}

namespace {
struct Autodiff : stg::impl::AutodiffBase<Autodiff> {
  using AutodiffBase::AutodiffBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    FloatType type = getFloatType(&getContext(), gradientType);
    if (!type) {
      function.emitError("gradient-type '")
          << gradientType << "' is not a float type such as f32 or bf16";
      return signalPassFailure();
    }
    if (failed(Differentiator(&getContext(), type, replayed).run(function)))
      signalPassFailure();
  }
};
} // namespace
