//===- OverlapBatches.cpp - Parts of a batch, executed by turns -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of a part of the batch becomes that of all parts. Each has ops of
// its own. A part is executed up to its next collective, then the next part is:
// what one part sends is behind the kernels of the others.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/Sequence.h"

namespace stg {
#define GEN_PASS_DEF_OVERLAPBATCHES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

/// True for what other parts are executed beside.
static bool isCollective(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.communicates();
}

namespace {
struct OverlapBatches : stg::impl::OverlapBatchesBase<OverlapBatches> {
  using OverlapBatchesBase::OverlapBatchesBase;
  void runOnOperation() override;
};

/// Finds what depends on the rows of a batch: parts have their own of that, and
/// share everything else.
class BatchValues {
public:
  explicit BatchValues(StringAttr batch) : batch(batch) {}

  void add(func::FuncOp function);
  /// Another value takes the place of one.
  void replace(Value value, Value by);
  bool contains(Value value) const { return values.contains(value); }
  bool contains(Operation *op) const { return ops.contains(op); }
  /// True if parts communicate.
  bool haveCollectives() const { return llvm::any_of(ops, isCollective); }

private:
  bool hasBatch(Type type) const;
  void add(Block &block);
  bool add(RepeatOp repeat);

  StringAttr batch;
  llvm::DenseSet<Value> values;
  llvm::DenseSet<Operation *> ops;
};

/// Makes a program that of several parts. What the first one has is what was
/// there.
class PartBuilder {
public:
  PartBuilder(BatchValues &own, unsigned parts)
      : own(own), mappings(parts - 1) {}

  void run(func::FuncOp function);

private:
  /// What is executed before another part is.
  using Segment = SmallVector<Operation *>;

  void run(Block &block);
  SmallVector<Segment> cut(Block &block) const;
  void place(Segment &segment, Operation *end);
  SmallVector<unsigned> findOwn(ValueRange all) const;
  void append(SmallVectorImpl<Value> &list, ArrayRef<unsigned> which) const;
  void map(ValueRange first, ValueRange others, ArrayRef<unsigned> which);
  void widen(RepeatOp repeat);

  BatchValues &own;
  SmallVector<IRMapping> mappings; ///< Of the parts behind the first.
};
} // namespace

//===----------------------------------------------------------------------===//
// What parts have of their own
//===----------------------------------------------------------------------===//

bool BatchValues::hasBatch(Type type) const {
  auto tensor = dyn_cast<SymTensorType>(type);
  return tensor && llvm::any_of(tensor.getDims(), [&](DimAttr dim) {
           return dim.hasName(batch);
         });
}

/// True if that is more than was known.
bool BatchValues::add(RepeatOp repeat) {
  const size_t before = values.size();
  Block &body = repeat.getBody().front();
  for (const CarriedValue &carried : getCarriedValues(repeat))
    if (contains(carried.init->get()) || contains(carried.yielded->get())) {
      values.insert(carried.arg);
      values.insert(carried.result);
    }
  const unsigned carried = repeat.getNumCarried();
  for (auto [stack, slice] : llvm::zip_equal(
           repeat.getStacks(), body.getArguments().drop_front(carried)))
    if (contains(stack))
      values.insert(slice);
  add(body);
  for (auto [yielded, result] :
       llvm::zip_equal(repeat.getYield().getValues().drop_front(carried),
                       repeat.getResults().drop_front(carried)))
    if (contains(yielded))
      values.insert(result);
  return values.size() != before;
}

void BatchValues::add(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      // What an iteration hands on, the next one has.
      while (add(repeat)) {
      }
      if (llvm::any_of(repeat.getBody().front(),
                       [&](Operation &inner) { return contains(&inner); }))
        ops.insert(repeat);
      continue;
    }
    auto isOwn = [&](Value value) { return contains(value); };
    if (!llvm::any_of(op.getOperands(), isOwn) &&
        !llvm::any_of(op.getResultTypes(),
                      [&](Type type) { return hasBatch(type); }))
      continue;
    ops.insert(&op);
    values.insert(op.result_begin(), op.result_end());
  }
}

void BatchValues::replace(Value value, Value by) {
  if (contains(value))
    values.insert(by);
  value.replaceAllUsesWith(by);
}

void BatchValues::add(func::FuncOp function) {
  for (BlockArgument arg : function.getArguments())
    if (hasBatch(arg.getType()))
      values.insert(arg);
  add(function.getBody().front());
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && cost.isView();
}

/// A segment ends before the first kernel behind a collective, and around
/// loops, in which parts are executed by turns, too.
SmallVector<PartBuilder::Segment> PartBuilder::cut(Block &block) const {
  SmallVector<Segment> segments(1);
  bool hasCollective = false;
  for (Operation &op : block.without_terminator()) {
    const bool isLoop = isa<RepeatOp>(op) && own.contains(&op);
    if (isLoop || (hasCollective && own.contains(&op) && !isCollective(&op) &&
                   !isView(&op))) {
      segments.emplace_back();
      hasCollective = false;
    }
    segments.back().push_back(&op);
    hasCollective |= own.contains(&op) && isCollective(&op);
    if (isLoop)
      segments.emplace_back();
  }
  return segments;
}

static std::string getPrefix(size_t part) {
  return "part" + std::to_string(part) + ".";
}

/// Names of ops are unique in a scope, and each part has states of its own.
static void setPart(Operation *op, size_t part) {
  const std::string prefix = getPrefix(part);
  if (StringAttr name = getOrigin(op).name)
    setName(op, StringAttr::get(op->getContext(), prefix + name.getValue()));
  if (auto cost = dyn_cast<CostOpInterface>(op))
    cost.prefixStates(prefix);
}

/// Puts the ops of a segment in front of `end`, those of all parts.
void PartBuilder::place(Segment &segment, Operation *end) {
  for (Operation *op : segment)
    op->moveBefore(end);
  OpBuilder builder(end);
  for (auto [number, mapping] : llvm::enumerate(mappings))
    for (Operation *op : segment)
      if (own.contains(op))
        setPart(builder.clone(*op, mapping), number + 1);
  for (Operation *op : segment)
    if (own.contains(op))
      setPart(op, 0);
}

/// The numbers of those of which each part has its own.
SmallVector<unsigned> PartBuilder::findOwn(ValueRange all) const {
  return llvm::to_vector(llvm::make_filter_range(
      llvm::seq<unsigned>(0, all.size()),
      [&](unsigned number) { return own.contains(all[number]); }));
}

/// Adds what further parts have in place of some of a list.
void PartBuilder::append(SmallVectorImpl<Value> &list,
                         ArrayRef<unsigned> which) const {
  for (const IRMapping &mapping : mappings)
    for (unsigned number : which)
      list.push_back(mapping.lookupOrDefault(list[number]));
}

/// What further parts have in place of some of `first` is `others`, in the
/// order of `append`.
void PartBuilder::map(ValueRange first, ValueRange others,
                      ArrayRef<unsigned> which) {
  for (IRMapping &mapping : mappings)
    for (unsigned number : which) {
      mapping.map(first[number], others.front());
      others = others.drop_front();
    }
}

/// A loop carries, reads and stacks what each part has of that.
void PartBuilder::widen(RepeatOp repeat) {
  Block &before = repeat.getBody().front();
  YieldOp yield = repeat.getYield();
  const unsigned carried = repeat.getNumCarried(),
                 stacked = repeat.getNumResults() - carried;
  ValueRange args = before.getArguments();
  const SmallVector<unsigned> ownCarried = findOwn(args.take_front(carried)),
                              ownSlices = findOwn(args.drop_front(carried)),
                              ownStacked = findOwn(
                                  repeat.getResults().drop_front(carried));
  SmallVector<Value> inits(repeat.getCarriedInits()),
      stacks(repeat.getStacks());
  append(inits, ownCarried);
  append(stacks, ownSlices);
  SmallVector<Type> types(
      ValueRange(yield.getValues().drop_front(carried)).getTypes());
  for (size_t part = 0; part < mappings.size(); ++part)
    for (unsigned number : ownStacked)
      types.push_back(types[number]);
  OpBuilder builder(repeat);
  auto wide = RepeatOp::create(builder, repeat.getLoc(), repeat.getRepeatName(),
                               repeat.getCount(), repeat.getReverse(), inits,
                               stacks, types);
  wide.setFirstAttr(repeat.getFirstAttr());
  wide.setRecomputeAttr(repeat.getRecomputeAttr());
  wide.setOriginAttr(repeat.getOriginAttr());
  wide->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  Block &body = wide.getBody().front();
  body.getOperations().splice(body.end(), before.getOperations());
  ValueRange wideCarried = body.getArguments().take_front(inits.size()),
             wideSlices = body.getArguments().drop_front(inits.size());
  for (unsigned number = 0; number < args.size(); ++number)
    own.replace(args[number], number < carried ? wideCarried[number]
                                               : wideSlices[number - carried]);
  map(wideCarried, wideCarried.drop_front(carried), ownCarried);
  map(wideSlices, wideSlices.drop_front(repeat.getStacks().size()), ownSlices);
  run(body);
  SmallVector<Value> handedOn(yield.getValues().take_front(carried)),
      kept(yield.getValues().drop_front(carried));
  append(handedOn, ownCarried);
  append(kept, ownStacked);
  llvm::append_range(handedOn, kept);
  yield.getValuesMutable().assign(handedOn);
  ValueRange results = wide.getResults().take_front(inits.size()),
             made = wide.getResults().drop_front(inits.size());
  for (unsigned number = 0; number < repeat.getNumResults(); ++number)
    own.replace(repeat.getResult(number),
                number < carried ? results[number] : made[number - carried]);
  map(results, results.drop_front(carried), ownCarried);
  map(made, made.drop_front(stacked), ownStacked);
  repeat.erase();
}

void PartBuilder::run(Block &block) {
  Operation *end = block.getTerminator();
  for (Segment &segment : cut(block)) {
    auto repeat =
        segment.empty() ? RepeatOp() : dyn_cast<RepeatOp>(segment.front());
    if (!repeat || !own.contains(repeat)) {
      place(segment, end);
      continue;
    }
    repeat->moveBefore(end);
    widen(repeat);
  }
}

void PartBuilder::run(func::FuncOp function) {
  auto result =
      cast<func::ReturnOp>(function.getBody().front().getTerminator());
  const SmallVector<unsigned> ownArgs = findOwn(function.getArguments()),
                              ownResults = findOwn(result.getOperands());
  auto setName = [&](unsigned arg, unsigned first, size_t part) {
    if (auto name =
            function.getArgAttrOfType<StringAttr>(first, STGDialect::kNameAttr))
      function.setArgAttr(arg, STGDialect::kNameAttr,
                          StringAttr::get(function.getContext(),
                                          getPrefix(part) + name.getValue()));
  };
  for (auto [part, mapping] : llvm::enumerate(mappings))
    for (unsigned number : ownArgs) {
      const unsigned last = function.getNumArguments();
      BlockArgument first = function.getArgument(number);
      (void)function.insertArgument(last, first.getType(),
                                    function.getArgAttrDict(number),
                                    first.getLoc());
      mapping.map(first, function.getArgument(last));
      setName(last, number, part + 1);
    }
  for (unsigned number : ownArgs)
    setName(number, number, 0);
  run(function.getBody().front());
  SmallVector<Value> values(result.getOperands());
  append(values, ownResults);
  for (size_t part = 0; part < mappings.size(); ++part)
    for (unsigned number : ownResults)
      (void)function.insertResult(function.getNumResults(),
                                  result.getOperand(number).getType(),
                                  function.getResultAttrDict(number));
  result.getOperandsMutable().assign(values);
}

void OverlapBatches::runOnOperation() {
  if (parts <= 1)
    return;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    WalkResult trained = function.walk([](OptimizerOpInterface op) {
      op->emitOpError("is a step of training, whose gradients are those of all "
                      "rows; parts of batches are executed by turns in steps "
                      "of inference");
      return WalkResult::interrupt();
    });
    if (trained.wasInterrupted())
      return signalPassFailure();
    BatchValues own(StringAttr::get(&getContext(), batch));
    own.add(function);
    if (!own.haveCollectives()) {
      emitError(function.getLoc(),
                "nothing that is made of a batch is sent, so that its parts "
                "would be beside nothing; divide experts, heads or tokens over "
                "devices, or leave the batch whole");
      return signalPassFailure();
    }
    PartBuilder(own, parts).run(function);
  }
}
