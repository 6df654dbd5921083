//===- Inference.cpp - Derives a step of inference ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forward program on new tokens only. Ops say themselves what they keep of
// earlier ones; this pass makes the caches, checks that all others treat tokens
// one by one, and replaces losses by tokens that are sampled.
//
//===----------------------------------------------------------------------===//

#include "Explained.h"
#include "InferenceStep.h"
#include "RequestLists.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "stg/Dialect/STG/IR/KeptParameters.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Strategy/Speculation.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_INFERENCE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Evaluates for one step.
static SymExpr evaluateFor(SymExpr expr, StringAttr index, int64_t number) {
  SymBinding binding;
  binding[index] = SymExpr::get(expr.getContext(), number);
  // Numbers of requests divide nothing.
  return expr.substitute(binding);
}

/// What is kept of values, by what it is for and how far it is seen: a window
/// or a chunk.
using KeptValues =
    DenseMap<std::tuple<Value, StringAttr, SymExpr, SymExpr>, Value>;

/// The increment builder of one op.
class OpIncrementBuilder : public IncrementBuilder {
public:
  OpIncrementBuilder(const InferenceStep &step, Operation *op, KeptValues &kept)
      : step(step), op(op), kept(kept) {}

  bool isTokens(DimAttr dim) override { return step.isTokens(dim); }
  SymExpr getCached() override { return step.cached; }
  RequestsAttr getRequests() override { return step.requests; }
  Value keep(Value value, StringRef suffix, TokenSpan span) override;
  LogicalResult countBlocks(Value result, SymExpr size) override;
  StringAttr nameState(StringRef suffix) override {
    return extendName(op, suffix);
  }
  int64_t getRollback() override { return step.rollback; }

private:
  const InferenceStep &step;
  Operation *op;
  KeptValues &kept;
};

/// Makes a program that of a step.
class StepBuilder {
public:
  StepBuilder(func::FuncOp function, const InferenceStep &step)
      : function(function), step(step) {}

  LogicalResult run();

private:
  bool areRowsWhole();
  FailureOr<bool> doRequestsBegin(ConcatOp op);
  LogicalResult continueRows();
  LogicalResult checkRows();
  LogicalResult replaceLosses();
  SmallVector<Operation *> findLosses();
  FailureOr<Value> buildTokens(Operation *loss);
  FailureOr<Value> selectRows(Operation *loss, Value logits);
  SmallVector<OpOperand *> findPath(Value logits);
  DenseSet<unsigned> getTokenFactors(Operation *op, const ShardingRule &rule);
  LogicalResult checkRowwise(Operation *op);
  FailureOr<bool> isFirstStep(AttentionOp op);
  void keepEncoded(AttentionOp op, bool isFirst);
  LogicalResult extendBias(AttentionOp op);
  FailureOr<bool> keepAllEncoded(DenseSet<Operation *> &done);
  void releaseEncoded();
  void eraseDeadOps(Block &block);
  void eraseUnusedArguments(const BitVector &wereUsed);
  std::optional<unsigned> findTokens(SymTensorType type);

  func::FuncOp function;
  const InferenceStep &step;
  KeptValues kept;
};

struct Inference : stg::impl::InferenceBase<Inference> {
  using InferenceBase::InferenceBase;
  void runOnOperation() override;

private:
  FailureOr<InferenceStep> readOptions();
  LogicalResult readRequests(InferenceStep &step);
  LogicalResult readLists(StringRef text, SmallVectorImpl<RequestsAttr> &lists);
  LogicalResult readSteps(InferenceStep &step);
  FailureOr<SymExpr> getAdvance(SymExpr index);
  LogicalResult declareSymbols(const InferenceStep &step);
};
} // namespace

/// What several ops read is kept once, where it is made: layers that read the
/// keys of another one have no cache of their own.
Value OpIncrementBuilder::keep(Value value, StringRef suffix, TokenSpan span) {
  Value &cache = kept[{value, StringAttr::get(op->getContext(), suffix),
                       span.window, span.chunk}];
  if (!cache) {
    OpBuilder builder(value.getParentBlock()->findAncestorOpInBlock(*op));
    cache = keepTokens(builder, step, op->getLoc(), value,
                       extendName(op, suffix), span);
  }
  return cache;
}

/// `get` of so many new tokens of a row and of those that are cached, or the
/// sum over its requests.
static SymExpr getOfRow(const InferenceStep &step, SymExpr fresh,
                        function_ref<SymExpr(SymExpr, SymExpr)> get) {
  return step.requests ? step.requests.getSum(get) : get(fresh, step.cached);
}

/// The dimensions of an op's results that run over the same as this one.
static LogicalResult forEachSame(OpOperand &use, unsigned dim,
                                 function_ref<void(OpResult, unsigned)> run) {
  Operation *op = use.getOwner();
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  if (!shardable)
    return op->emitOpError("reads blocks of tokens, whose number is another "
                           "one in each step, and does not say what is made "
                           "of each; implement ShardableOpInterface, or give "
                           "whole sequences, cached=0");
  ShardingRule rule = shardable.getShardingRule();
  const auto &own = rule.operands[use.getOperandNumber()][dim];
  for (auto [result, factors] : llvm::zip_equal(op->getResults(), rule.results))
    for (auto [number, other] : llvm::enumerate(factors))
      if (other == own)
        run(result, number);
  return success();
}

/// The last block of a request is one before it is whole, so none of them is
/// empty.
LogicalResult OpIncrementBuilder::countBlocks(Value result, SymExpr size) {
  auto countInRequest = [&](SymExpr fresh, SymExpr cached) {
    return SymExpr::getFunction(SymFunc::CeilDiv, {cached + fresh, size}) -
           getWholeBlocks(cached, size);
  };
  SymExpr blocks =
      getOfRow(step, SymExpr::getSymbol(step.tokens), countInRequest);
  SmallVector<std::pair<Value, unsigned>> pending = {{result, 1}};
  while (!pending.empty()) {
    auto [value, dim] = pending.pop_back_val();
    auto type = cast<SymTensorType>(value.getType());
    SmallVector<DimAttr> dims(type.getDims());
    dims[dim] = dims[dim].withExtent(blocks);
    value.setType(type.withDims(dims));
    for (OpOperand &use : value.getUses())
      if (failed(forEachSame(use, dim, [&](OpResult made, unsigned number) {
            pending.emplace_back(made, number);
          })))
        return failure();
  }
  return success();
}

StringRef stg::getOwnName(Operation *op) {
  StringAttr own = getOrigin(op).name;
  return own ? own.getValue() : op->getName().stripDialect();
}

StringAttr stg::extendName(Operation *op, StringRef suffix) {
  return StringAttr::get(op->getContext(), getOwnName(op) + "." + suffix);
}

void stg::setForward(Operation *op, StringAttr name) {
  setName(op, name);
  setPhase(op, Phase::Forward);
}

/// So many tokens in whole blocks.
static SymExpr fillBlocks(const InferenceStep &step, SymExpr tokens) {
  if (step.kvBlockSize == 1)
    return tokens;
  SymExpr size = SymExpr::get(tokens.getContext(), step.kvBlockSize);
  return SymExpr::getFunction(SymFunc::CeilDiv, {tokens, size}) * size;
}

/// The tokens that a request with so many has room for.
static SymExpr getRoom(const InferenceStep &step, TokenSpan span,
                       SymExpr tokens) {
  // Pages are of so many tokens.
  if (span.block)
    return SymExpr::getFunction(SymFunc::CeilDiv,
                                {fillBlocks(step, tokens), span.block});
  const int64_t reserved = span.window ? step.kvWindowRoom : 0;
  SymExpr most = span.getKept(tokens);
  // Where tokens are taken back, what they have taken the place of is seen
  // again.
  if (SymExpr seen = span.getMost())
    if (int64_t more = std::max(step.rollback, reserved))
      most = SymExpr::getFunction(SymFunc::Min, {tokens, seen - 1 + more});
  // Only tokens are in pages.
  if (span.isState)
    return most;
  // A window begins anywhere in a block.
  bool isOneMore = reserved > 0 && step.kvBlockSize > 1;
  return fillBlocks(step, most) + (isOneMore ? step.kvBlockSize : 0);
}

Value stg::keepTokens(OpBuilder &builder, const InferenceStep &step,
                      Location loc, Value value, StringAttr name,
                      TokenSpan span) {
  // What is replicated for an exchange is kept once.
  if (auto op = value.getDefiningOp<ReplicateOp>(); op && op.getTogether()) {
    Value kept = keepTokens(builder, step, loc, op.getInput(), name, span);
    auto type = cast<SymTensorType>(kept.getType());
    SmallVector<DimAttr> dims(type.getDims());
    dims[op.getDim()] = op.getType().getDim(op.getDim());
    auto replicated = ReplicateOp::create(builder, loc, type.withDims(dims),
                                          kept, op.getDim(), true);
    copyOrigin(op, replicated);
    return replicated;
  }
  auto type = cast<SymTensorType>(value.getType());
  SmallVector<DimAttr> dims(type.getDims());
  std::optional<unsigned> number;
  SymExpr capacity;
  RequestsAttr requests = step.requests;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (span.block ? i != 1 : !step.isTokens(dim))
      continue;
    SymExpr fresh =
        span.block ? SymExpr::getSymbol(step.tokens) : dim.getExtent();
    auto getSum = [&](function_ref<SymExpr(SymExpr, SymExpr)> get) {
      return getOfRow(step, fresh, get);
    };
    // Of tokens of no request nothing is kept.
    SymExpr own = requests && step.isPadded && !span.block
                      ? requests.getNumNew()
                      : dim.getExtent();
    dim = dim.withExtent(own + getSum([&](SymExpr, SymExpr cached) {
                           return span.getVisible(cached, step.tokenParts);
                         }));
    if (step.kvBlockSize == 1 && !span.window && !span.chunk &&
        step.reserve.empty())
      continue;
    number = i;
    auto getOwnRoom = [&](SymExpr own, SymExpr cached) {
      return getRoom(step, span, own + cached);
    };
    if (step.reserve.empty()) {
      capacity = getSum(getOwnRoom);
    } else {
      SmallVector<SymExpr> rooms;
      for (RequestsAttr held : step.reserve)
        rooms.push_back(held.getSum(getOwnRoom));
      capacity = rooms.size() == 1 ? rooms.front()
                                   : SymExpr::getFunction(SymFunc::Max, rooms);
    }
    if (capacity == dim.getExtent())
      number.reset();
  }
  Type elementType = span.isState
                         ? type.getElementType()
                         : step.getKeptType(name, type.getElementType());
  auto cache = CacheOp::create(builder, loc,
                               type.withDims(dims).withElementType(elementType),
                               value, name);
  if (number) {
    cache.setDim(*number);
    cache.setCapacityAttr(capacity);
  }
  setForward(cache, name);
  return cache;
}

//===----------------------------------------------------------------------===//
// What requests begin with
//===----------------------------------------------------------------------===//

bool stg::joinsTokens(Operation *op, StringAttr tokens) {
  auto concat = dyn_cast<ConcatOp>(op);
  return concat && llvm::all_of(concat->getOperandTypes(), [&](Type type) {
           return cast<SymTensorType>(type)
               .getDim(concat.getDim())
               .hasName(tokens);
         });
}

/// True if each row has a whole sequence, as in the forward pass of training.
bool StepBuilder::areRowsWhole() {
  return !step.requests && !step.index && step.evaluate(step.cached) == 0;
}

/// Whether the requests of a step are all new, or all go on; fails if it has
/// both.
FailureOr<bool> StepBuilder::doRequestsBegin(ConcatOp op) {
  SmallVector<SymExpr> cached = {step.cached};
  if (step.requests)
    cached.assign(step.requests.getCachedTokens().begin(),
                  step.requests.getCachedTokens().end());
  auto begins = [&](SymExpr tokens) { return step.evaluate(tokens) == 0; };
  if (llvm::all_of(cached, begins))
    return true;
  if (llvm::none_of(cached, begins))
    return false;
  return op.emitOpError("joins what requests begin with and the tokens that "
                        "follow; a step has requests without cached tokens or "
                        "requests with some, not both");
}

/// All ops of the block that the value is made with; also of one in a layer,
/// but for what layers carry.
static DenseSet<Operation *> collectMakers(Value value, Block &body) {
  DenseSet<Operation *> makers, inside;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !(op->getBlock() == &body ? makers : inside).insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(pending, inner->getOperands());
    });
  }
  return makers;
}

/// Images are where requests begin: those that go on have tokens of the last
/// operand only, and the step executes nothing that makes the others, nor what
/// is made of them and kept from being erased.
LogicalResult StepBuilder::continueRows() {
  SmallVector<ConcatOp> joins;
  function.walk([&](ConcatOp op) {
    if (joinsTokens(op, step.tokens))
      joins.push_back(op);
  });
  Block &body = function.getBody().front();
  DenseMap<Attribute, Attribute> extended;
  DenseSet<Operation *> dropped;
  for (ConcatOp op : joins) {
    FailureOr<bool> begin = doRequestsBegin(op);
    if (failed(begin))
      return failure();
    if (*begin)
      continue;
    Value last = op.getInputs().back();
    extended[cast<SymTensorType>(last.getType()).getDim(op.getDim())] =
        op.getResult().getType().getDim(op.getDim());
    for (Value first : op.getInputs().drop_back())
      for (Operation *maker : collectMakers(first, body))
        if (!isa<ParamOp>(maker))
          dropped.insert(maker);
    op.getResult().replaceAllUsesWith(last);
    op.erase();
  }
  if (extended.empty())
    return success();
  for (auto keep : llvm::make_early_inc_range(body.getOps<KeepOp>()))
    if (llvm::any_of(collectMakers(keep->getOperand(0), body),
                     [&](Operation *op) { return dropped.contains(op); }))
      keep.erase();
  eraseDeadOps(body);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DimAttr dim) -> std::optional<Attribute> {
    auto it = extended.find(dim);
    return it == extended.end() ? std::nullopt : std::optional(it->second);
  });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return success();
}

/// What is there for a row is there for its only request.
LogicalResult StepBuilder::checkRows() {
  if (!step.requests)
    return success();
  SymExpr one = SymExpr::get(function.getContext(), 1);
  SymExpr count = step.requests.getSum([&](SymExpr, SymExpr) { return one; });
  if (step.evaluate(count) == 1)
    return success();
  auto isOfTokens = [&](BlockArgument arg) {
    auto type = dyn_cast<SymTensorType>(arg.getType());
    return type && llvm::any_of(type.getDims(), [&](DimAttr dim) {
             return step.isTokens(dim);
           });
  };
  if (llvm::none_of(function.getArguments(), isOfTokens))
    return success();
  for (BlockArgument arg : function.getArguments())
    if (!isOfTokens(arg) && !arg.use_empty())
      return emitError(arg.getLoc(), "an input of type ")
             << arg.getType()
             << " is that of a row, which has several requests; give a row to "
                "each request (batch and sequence), not a list";
  return success();
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// The dimension of tokens; none if there is not exactly one.
std::optional<unsigned> StepBuilder::findTokens(SymTensorType type) {
  std::optional<unsigned> found;
  for (auto [number, dim] : llvm::enumerate(type.getDims()))
    if (dim.hasName(step.tokens)) {
      if (found)
        return std::nullopt;
      found = number;
    }
  return found;
}

/// The losses that the program's first result is made of, in program order.
SmallVector<Operation *> StepBuilder::findLosses() {
  Operation *terminator = function.getBody().front().getTerminator();
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      reached.insert(op);
  };
  if (terminator->getNumOperands() > 0)
    reach(terminator->getOperand(0));
  SmallVector<Operation *> losses;
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i];
    if (isa<LossOpInterface>(op))
      losses.push_back(op);
    else if (!isa<ScanOpInterface>(op))
      llvm::for_each(op->getOperands(), reach);
  }
  llvm::sort(losses, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return losses;
}

/// The operand that has the tokens of an op's only result one by one; null if
/// there is not exactly one, or it has other tokens. A constant is that of any
/// tokens.
static OpOperand *getTokenOperand(Operation *op, StringAttr tokens) {
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  if (!shardable || op->getNumResults() != 1)
    return nullptr;
  ShardingRule rule = shardable.getShardingRule();
  OpOperand *found = nullptr;
  for (OpOperand &use : op->getOpOperands()) {
    auto type = dyn_cast<SymTensorType>(use.get().getType());
    if (!type)
      return nullptr;
    if (use.get().getDefiningOp<SplatOp>())
      continue;
    for (auto [dim, factors] : llvm::zip_equal(
             type.getDims(), rule.operands[use.getOperandNumber()])) {
      if (!dim.hasName(tokens))
        continue;
      if (found || factors.size() != 1 ||
          !runsOver(rule.results[0], factors[0]))
        return nullptr;
      found = &use;
    }
  }
  return found;
}

/// The operands through which logits are made of their rows, the last one
/// first, up to the matrix product. Empty if there is no such product.
SmallVector<OpOperand *> StepBuilder::findPath(Value logits) {
  SmallVector<OpOperand *> path;
  for (Value value = logits;;) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse() || isa<IncrementalOpInterface>(op))
      return {};
    OpOperand *operand = getTokenOperand(op, step.tokens);
    if (!operand)
      return {};
    path.push_back(operand);
    auto cost = dyn_cast<CostOpInterface>(op);
    if (cost && cost.getCost().isMatrix)
      return path;
    value = operand->get();
  }
}

/// Logits of the rows that are asked for. They are selected before the product.
FailureOr<Value> StepBuilder::selectRows(Operation *loss, Value logits) {
  auto type = cast<SymTensorType>(logits.getType());
  std::optional<unsigned> tokens = findTokens(type);
  // Classes of a whole sequence or image.
  bool hasNone = llvm::none_of(type.getDims(),
                               [&](DimAttr dim) { return step.isTokens(dim); });
  if (hasNone && areRowsWhole())
    return logits;
  if (!tokens)
    return loss->emitOpError("has predictions of type ")
           << type << ", expected one dimension '" << step.tokens.getValue()
           << "', the tokens; name it with tokens=NAME, or give whole "
              "sequences, cached=0";
  if (step.allLogits && !step.requests)
    return logits;
  SymExpr rows = step.requests ? step.requests.getNumLogits()
                               : SymExpr::get(function.getContext(), 1);
  auto select = [&](SymTensorType type) {
    SmallVector<DimAttr> dims(type.getDims());
    for (DimAttr &dim : dims)
      if (dim.hasName(step.tokens))
        dim = dim.withExtent(rows);
    return type.withDims(dims);
  };
  SmallVector<OpOperand *> path = findPath(logits);
  Value source = path.empty() ? logits : path.back()->get();
  auto sourceType = cast<SymTensorType>(source.getType());
  if (select(sourceType) == sourceType)
    return logits;
  OpBuilder builder(path.empty() ? loss : path.back()->getOwner());
  auto selected =
      SelectRowsOp::create(builder, loss->getLoc(), select(sourceType), source,
                           *findTokens(sourceType));
  setForward(selected, extendName(loss, "rows"));
  if (path.empty())
    return selected.getResult();
  path.back()->set(selected);
  for (OpOperand *operand : path) {
    Operation *op = operand->getOwner();
    Value result = op->getResult(0);
    result.setType(select(cast<SymTensorType>(result.getType())));
    for (OpOperand &other : op->getOpOperands()) {
      auto constant = other.get().getDefiningOp<SplatOp>();
      if (!constant)
        continue;
      builder.setInsertionPoint(op);
      Value ofRows = builder.clone(*constant)->getResult(0);
      ofRows.setType(select(constant.getType()));
      other.set(ofRows);
      if (constant->use_empty())
        constant.erase();
    }
  }
  return logits;
}

/// The tokens that take the place of a loss; without a row of logits what these
/// would be made of.
FailureOr<Value> StepBuilder::buildTokens(Operation *loss) {
  Value predictions = cast<LossOpInterface>(loss).getPredictions();
  if (step.requests && step.requests.getNumLogits().isZero()) {
    SmallVector<OpOperand *> path = findPath(predictions);
    return path.empty() ? predictions : path.back()->get();
  }
  FailureOr<Value> logits = selectRows(loss, predictions);
  if (failed(logits))
    return failure();
  OpBuilder builder(loss);
  auto sample = SampleOp::create(builder, loss->getLoc(), *logits);
  setForward(sample, extendName(loss, "sample"));
  return sample.getTokens();
}

/// Tokens are the results; without a loss, results stay what they are.
LogicalResult StepBuilder::replaceLosses() {
  SmallVector<Value> results;
  for (Operation *loss : findLosses()) {
    FailureOr<Value> tokens = buildTokens(loss);
    if (failed(tokens))
      return failure();
    results.push_back(*tokens);
  }
  if (results.empty())
    return success();
  BitVector all(function.getNumResults(), true);
  if (failed(function.eraseResults(all)))
    return failure();
  function.getBody().front().getTerminator()->setOperands(results);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     TypeRange(ValueRange(results))));
  return success();
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

/// The factors that run over the tokens of operands. Of a compound dimension,
/// such as the rows of experts, it is what other dimensions say.
DenseSet<unsigned> StepBuilder::getTokenFactors(Operation *op,
                                                const ShardingRule &rule) {
  DenseSet<unsigned> found;
  auto forEach = [&](function_ref<void(const SmallVector<unsigned, 1> &)> add) {
    for (auto [operand, factors] :
         llvm::zip_equal(op->getOperands(), rule.operands))
      for (auto [dim, own] : llvm::zip_equal(
               cast<SymTensorType>(operand.getType()).getDims(), factors))
        if (dim.hasName(step.tokens))
          add(own);
  };
  forEach([&](const SmallVector<unsigned, 1> &own) {
    if (own.size() == 1)
      found.insert(own.front());
  });
  forEach([&](const SmallVector<unsigned, 1> &own) {
    if (llvm::none_of(own, [&](unsigned f) { return found.contains(f); }))
      found.insert(own.begin(), own.end());
  });
  return found;
}

/// What reads or makes several tokens at once has to say what it keeps.
LogicalResult StepBuilder::checkRowwise(Operation *op) {
  // Rows that are selected here are those of tokens. Whoever sees all tokens of
  // a sequence misses nothing.
  if (isa<IncrementalOpInterface, SelectRowsOp>(op) ||
      joinsTokens(op, step.tokens) || areRowsWhole())
    return success();
  if (auto param = dyn_cast<ParamOp>(op)) {
    if (llvm::none_of(param.getType().getDims(),
                      [&](DimAttr dim) { return dim.hasName(step.tokens); }))
      return success();
    return op->emitOpError("has a row for each of the tokens '")
           << step.tokens.getValue()
           << "', which are others in each step; look its rows up by position";
  }
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  if (!shardable)
    return success();
  ShardingRule rule = shardable.getShardingRule();
  DenseSet<unsigned> factors = getTokenFactors(op, rule);
  auto isOneByOne = [&](unsigned factor) {
    return rule.factors[factor].kind == FactorKind::Shardable &&
           llvm::all_of(rule.results, [&](const TensorFactors &result) {
             return runsOver(result, factor);
           });
  };
  if (llvm::all_of(factors, isOneByOne))
    return success();
  return op->emitOpError("looks at several of the tokens '")
         << step.tokens.getValue()
         << "' at once, but does not say what it keeps of earlier ones; "
            "implement IncrementalOpInterface, or give whole sequences, "
            "cached=0";
}

/// What nobody reads any more, from the end.
void StepBuilder::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDeadOps(inner);
  }
}

/// Labels were there for the loss only.
void StepBuilder::eraseUnusedArguments(const BitVector &wereUsed) {
  BitVector unused(function.getNumArguments());
  for (BlockArgument arg : function.getArguments())
    if (arg.use_empty() && wereUsed[arg.getArgNumber()])
      unused.set(arg.getArgNumber());
  // Nothing is left that could fail.
  (void)function.eraseArguments(unused);
}

/// What only training does.
static void removeTraining(func::FuncOp function) {
  function.walk([](AuxiliaryLossOp op) { op.erase(); });
  function.walk([](DropoutOp op) {
    if (!op.getMask().use_empty())
      return;
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
  });
}

//===----------------------------------------------------------------------===//
// Cross attention
//===----------------------------------------------------------------------===//

/// True if an encoder is executed with the step: nothing of the request is
/// there yet.
FailureOr<bool> StepBuilder::isFirstStep(AttentionOp op) {
  if (step.requests)
    return op.emitOpError(
        "sees tokens that are not those of the step, of which a row has those "
        "of one request; give rows, not a list of requests");
  if (!step.index)
    return step.cached.isZero();
  if (!evaluateFor(step.cached, step.index, 0).isZero())
    return false;
  return op.emitOpError("sees what an encoder makes in the first of several "
                        "steps alone; compile that by itself, and the others "
                        "with the tokens that are cached");
}

/// Keys and values of an encoder's tokens are written once. From then on they
/// are there, like a parameter, and nobody needs the encoder.
void StepBuilder::keepEncoded(AttentionOp op, bool isFirst) {
  OpBuilder builder(op);
  auto keep = [&](OpOperand &operand, StringRef suffix) {
    auto type = cast<SymTensorType>(operand.get().getType());
    StringAttr name = extendName(op, suffix);
    type = type.withElementType(step.getKeptType(name, type.getElementType()));
    if (isFirst) {
      auto cache =
          CacheOp::create(builder, op.getLoc(), type, operand.get(), name);
      setForward(cache, name);
      operand.set(cache);
      return;
    }
    auto kept = ParamOp::create(builder, op.getLoc(), type, name);
    setKept(kept);
    operand.set(kept);
  };
  keep(op.getKeyMutable(), "k");
  keep(op.getValueMutable(), "v");
}

/// True if there is no encoder any more.
FailureOr<bool> StepBuilder::keepAllEncoded(DenseSet<Operation *> &done) {
  SmallVector<AttentionOp> ops;
  function.walk([&](AttentionOp op) {
    if (step.isTokens(op.getQuery().getType().getDim(1)) &&
        !step.isTokens(op.getKey().getType().getDim(1)))
      ops.push_back(op);
  });
  bool isFirst = true;
  for (AttentionOp op : ops) {
    FailureOr<bool> first = isFirstStep(op);
    if (failed(first))
      return failure();
    keepEncoded(op, *first);
    isFirst = *first;
    done.insert(op);
  }
  return !isFirst;
}

/// What an encoder makes and nobody reads, such as a pooled row or what a layer
/// has for later ones, is kept in the step that executes it, and not in those
/// that go on from there.
void StepBuilder::releaseEncoded() {
  DenseSet<Value> ofStep;
  for (BlockArgument arg : function.getArguments())
    if (auto type = dyn_cast<SymTensorType>(arg.getType());
        type && llvm::any_of(type.getDims(),
                             [&](DimAttr dim) { return step.isTokens(dim); }))
      ofStep.insert(arg);
  SmallVector<KeepOp> kept;
  for (Operation &op : function.getBody().front()) {
    bool isOfStep = op.walk([&](Operation *inner) {
                        return llvm::any_of(inner->getOperands(),
                                            [&](Value value) {
                                              return ofStep.contains(value);
                                            })
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      }).wasInterrupted();
    if (isOfStep)
      ofStep.insert(op.result_begin(), op.result_end());
    else
      op.walk([&](KeepOp keep) { kept.push_back(keep); });
  }
  for (KeepOp keep : kept)
    keep.erase();
}

/// A bias by position is looked up for the keys of earlier steps, too.
LogicalResult StepBuilder::extendBias(AttentionOp op) {
  SymTensorType key = op.getKey().getType();
  if (!op.getBias() || step.cached.isZero() || !step.isTokens(key.getDim(1)))
    return success();
  auto bias = op.getBias().getDefiningOp<RelativeBiasOp>();
  if (!bias || op.getWindowAttr() || op.getChunkAttr())
    return op.emitOpError("has a bias for each two of the new tokens, and "
                          "none for those that are cached; needs one that is "
                          "looked up by position and no window, or whole "
                          "sequences, cached=0");
  if (step.requests)
    return op.emitOpError("has a bias by the positions of the tokens of a row, "
                          "which is one request; give rows, not a list of "
                          "requests");
  SymTensorType type = bias.getType();
  SmallVector<DimAttr> dims(type.getDims());
  dims[2] = dims[2].withExtent(key.getShape()[1] + step.cached);
  bias.getResult().setType(type.withDims(dims));
  return success();
}

LogicalResult StepBuilder::run() {
  removeTraining(function);
  Block &body = function.getBody().front();
  BitVector used(function.getNumArguments());
  for (BlockArgument arg : function.getArguments())
    used[arg.getArgNumber()] = !arg.use_empty();
  if (failed(continueRows()) || failed(replaceLosses()))
    return failure();
  // Before caches are made: what only the loss needs keeps nothing.
  eraseDeadOps(body);
  eraseUnusedArguments(used);
  WalkResult checked = function.walk([&](Operation *op) {
    return failed(checkRowwise(op)) ? WalkResult::interrupt()
                                    : WalkResult::advance();
  });
  if (checked.wasInterrupted())
    return failure();
  DenseSet<Operation *> done;
  FailureOr<bool> hasEncoded = keepAllEncoded(done);
  if (failed(hasEncoded))
    return failure();
  if (*hasEncoded) {
    releaseEncoded();
    used.resize(function.getNumArguments());
    used.set();
    for (BlockArgument arg : function.getArguments())
      if (arg.use_empty())
        used.reset(arg.getArgNumber());
    eraseDeadOps(body);
    eraseUnusedArguments(used);
  }
  if (failed(checkRows()) || failed(keepLatents(function, step, done)))
    return failure();
  SmallVector<IncrementalOpInterface> ops;
  function.walk([&](IncrementalOpInterface op) {
    if (!done.contains(op))
      ops.push_back(op);
  });
  for (IncrementalOpInterface op : ops) {
    auto attention = dyn_cast<AttentionOp>(op.getOperation());
    if (attention && failed(extendBias(attention)))
      return failure();
    OpIncrementBuilder builder(step, op, kept);
    if (failed(callExplained(op, "buildIncrement",
                             [&] { return op.buildIncrement(builder); })))
      return failure();
  }
  markForward(function);
  return success();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult Inference::readRequests(InferenceStep &step) {
  if (requests.empty())
    return success();
  if (StringRef(requests).contains(';')) {
    if (steps > 1)
      return getOperation().emitError(
          "requests are several lists, which are those of one step");
    FailureOr<RequestLists> lists = parseRequestLists(getOperation(), requests);
    if (failed(lists))
      return failure();
    step.requests = lists->kinds;
  } else {
    FailureOr<RequestsAttr> list = parseRequestList(getOperation(), requests);
    if (failed(list))
      return failure();
    step.requests = *list;
  }
  step.cached = step.requests.getNumCached();
  return success();
}

/// Reads lists of requests that are separated by ';'.
LogicalResult Inference::readLists(StringRef text,
                                   SmallVectorImpl<RequestsAttr> &lists) {
  SmallVector<StringRef> texts;
  text.split(texts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef own : texts) {
    FailureOr<RequestsAttr> list = parseRequestList(getOperation(), own);
    if (failed(list))
      return failure();
    lists.push_back(*list);
  }
  return success();
}

/// What the steps before have added where a step adds a part of its tokens:
/// whole tokens of `index` times a fraction. No step adds a negative number, so
/// that rounding down is rounding the next one up.
FailureOr<SymExpr> Inference::getAdvance(SymExpr index) {
  if (advance.empty())
    return SymExpr();
  llvm::Expected<TokenRate> rate = readTokenRate(advance);
  if (!rate)
    return getOperation().emitError("advance ")
           << llvm::toString(rate.takeError());
  SymExpr next = index * rate->numerator + (rate->begun + 1);
  SymExpr by = SymExpr::get(&getContext(), rate->denominator);
  return SymExpr::getFunction(SymFunc::CeilDiv, {next, by}) - 1;
}

/// In each step contexts are longer by what the one before has added. The last
/// one keeps most.
LogicalResult Inference::readSteps(InferenceStep &step) {
  if (steps < 1)
    return getOperation().emitError("steps is ")
           << steps.getValue() << ", expected at least 1";
  if (failed(readLists(reserve, step.reserve)) ||
      failed(readLists(beside, step.beside)))
    return failure();
  if (steps == 1)
    return success();
  MLIRContext *context = &getContext();
  step.index = StringAttr::get(context, "step");
  if (Operation *known = SymbolTable(getOperation()).lookup(step.index))
    return known->emitOpError("is named 'step', which is the symbol for the "
                              "number of a step; give it another name");
  SymExpr index = SymExpr::getSymbol(step.index);
  // The rows of a step are requests of one kind.
  RequestsAttr list = step.requests;
  SymExpr one = SymExpr::get(context, 1);
  if (!list)
    list = RequestsAttr::get(context, {one}, {SymExpr::getSymbol(step.tokens)},
                             {step.cached}, {one});
  FailureOr<SymExpr> added = getAdvance(index);
  if (failed(added))
    return failure();
  SmallVector<SymExpr> growing, last;
  for (auto [fresh, cached] :
       llvm::zip_equal(list.getNewTokens(), list.getCachedTokens())) {
    growing.push_back(cached + (advance.empty() ? fresh * index : *added));
    last.push_back(evaluateFor(growing.back(), step.index, steps - 1));
  }
  auto withCached = [&](ArrayRef<SymExpr> cached) {
    return RequestsAttr::get(context, list.getCounts(), list.getNewTokens(),
                             cached, list.getLogits());
  };
  if (step.reserve.empty())
    step.reserve.push_back(withCached(last));
  step.cached = growing.front();
  if (step.requests) {
    step.requests = withCached(growing);
    step.cached = step.requests.getNumCached();
  }
  // What is chosen by cost is chosen for all steps, by the one in the middle.
  step.binding[step.index] = SymExpr::get(context, (steps - 1) / 2);
  return success();
}

FailureOr<InferenceStep> Inference::readOptions() {
  ModuleOp module = getOperation();
  InferenceStep step;
  step.tokens = StringAttr::get(&getContext(), tokens);
  step.allLogits = logits == LogitRows::All;
  llvm::Expected<SymExpr> number = SymExpr::parse(&getContext(), cached);
  if (!number)
    return module.emitError("cached is '")
           << cached << "': " << llvm::toString(number.takeError());
  step.cached = *number;
  if (std::optional<Rational> value = step.cached.getConstant();
      value && (!value->isInteger() || *value < Rational(0)))
    return module.emitError("cached is ")
           << step.cached.str() << ", expected an integer of at least 0";
  if (!kvType.empty()) {
    step.kvType = getFloatType(&getContext(), kvType);
    if (!step.kvType)
      return module.emitError("kv-type '")
             << kvType << "' is not a float type such as bf16 or f8E4M3FN";
  }
  if (kvScaleBlock > 0) {
    if (!step.kvType || step.kvType.getIntOrFloatBitWidth() != 8)
      return module.emitError("kv-scale-block is ")
             << kvScaleBlock.getValue()
             << ", but only elements of 8 bits have scales; give kv-type";
    step.kvType = ScaledType::get(&getContext(), step.kvType,
                                  Float32Type::get(&getContext()),
                                  {kvScaleBlock.getValue()});
  }
  if (!kvKeep.empty() && kvType.empty())
    return module.emitError("kv-keep names caches that keep their type, but "
                            "all do; give kv-type");
  if (failed(emitIfFailed(module, step.kvKeep.read(*kvKeep))))
    return failure();
  step.isPadded = padded;
  if (kvBlockSize < 1)
    return module.emitError("kv-block-size is ")
           << kvBlockSize.getValue() << ", expected at least 1";
  step.kvBlockSize = kvBlockSize;
  if (kvWindowRoom < 0)
    return module.emitError("kv-window-room is ")
           << kvWindowRoom.getValue() << ", expected at least 0";
  step.kvWindowRoom = kvWindowRoom;
  if (rollback < 0)
    return module.emitError("rollback is ")
           << rollback.getValue() << ", expected at least 0";
  step.rollback = rollback;
  if (tokenParts < 1)
    return module.emitError("token-parts is ")
           << tokenParts.getValue() << ", expected at least 1";
  step.tokenParts = tokenParts;
  step.mlaForm = mlaForm;
  FailureOr<SymBinding> known = collectSymbolValues(module, config, *values);
  if (failed(known) || failed(readRequests(step)))
    return failure();
  step.binding = std::move(*known);
  if (failed(readSteps(step)))
    return failure();
  return step;
}

/// Symbols that only the step has.
LogicalResult Inference::declareSymbols(const InferenceStep &step) {
  ModuleOp module = getOperation();
  SymbolTable table(module);
  llvm::SetVector<StringAttr> names;
  auto collect = [&](SymExpr expr) {
    expr.walkSymbols([&](StringAttr name) { names.insert(name); });
  };
  collect(step.cached);
  if (step.requests)
    for (ArrayRef<SymExpr> numbers :
         {step.requests.getCounts(), step.requests.getNewTokens(),
          step.requests.getLogits()})
      llvm::for_each(numbers, collect);
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  for (StringAttr name : names) {
    Operation *known = table.lookup(name);
    if (known && !isa<SymbolOp>(known))
      return known->emitOpError("is named '")
             << name.getValue() << "' like a symbol of the step; name that "
             << "otherwise with cached=SYMBOL";
    if (!known)
      SymbolOp::create(builder, module.getLoc(), name, SymExpr(), StringAttr(),
                       builder.getStringAttr(name == step.index
                                                 ? "the number of the step"
                                                 : "tokens of a request"));
  }
  return success();
}

void Inference::runOnOperation() {
  FailureOr<InferenceStep> step = readOptions();
  if (failed(step) || failed(declareSymbols(*step)))
    return signalPassFailure();
  func::FuncOp last;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      continue;
    last = function;
    if (failed(StepBuilder(function, *step).run()))
      return signalPassFailure();
  }
  if (last && !kvKeepIfThere &&
      failed(emitIfFailed(last, step->kvKeep.checkUsed("caches"))))
    signalPassFailure();
}
