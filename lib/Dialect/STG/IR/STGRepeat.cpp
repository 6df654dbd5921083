//===- STGRepeat.cpp - The repeat op --------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "stg/Support/Names.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

void RepeatOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     SymExpr count, bool reverse, ValueRange inits,
                     ValueRange stacks, TypeRange stackedTypes) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setRepeatName(builder.getStringAttr(name));
  properties.setCount(count);
  if (reverse)
    properties.setReverse(builder.getUnitAttr());
  properties.setOperandSegmentSizes({static_cast<int32_t>(inits.size()),
                                     static_cast<int32_t>(stacks.size())});
  state.addOperands(inits);
  state.addOperands(stacks);
  state.addTypes(inits.getTypes());
  DimAttr leading = DimAttr::get(builder.getStringAttr(name), count);
  for (Type type : stackedTypes)
    state.addTypes(cast<SymTensorType>(type).getStacked(leading));
  Block &block = state.addRegion()->emplaceBlock();
  for (Value init : inits)
    block.addArgument(init.getType(), init.getLoc());
  for (Value stack : stacks)
    block.addArgument(tensorOf(stack).getSlice(), stack.getLoc());
}

YieldOp RepeatOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

BlockArgument RepeatOp::addSlice(Value stack) {
  getStacksMutable().append(stack);
  return getBody().front().addArgument(tensorOf(stack).getSlice(),
                                       stack.getLoc());
}

/// Creates a repeat that is `op` but for its result types and takes its body.
static RepeatOp recreate(RewriterBase &rewriter, RepeatOp op, TypeRange types) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  OperationState state(op.getLoc(), RepeatOp::getOperationName());
  state.addOperands(op.getOperands());
  state.addTypes(types);
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.getOrAddProperties<RepeatOp::Properties>() = op.getProperties();
  state.addRegion();
  auto repeat = cast<RepeatOp>(rewriter.create(state));
  rewriter.inlineRegionBefore(op.getBody(), repeat.getBody(),
                              repeat.getBody().end());
  return repeat;
}

/// Drops the slices that nobody reads; true if there are any.
static bool dropUnreadSlices(RewriterBase &rewriter, RepeatOp repeat) {
  bool changed = false;
  for (unsigned i = repeat.getStacks().size(); i-- > 0;) {
    BlockArgument slice = repeat.getSliceArgs()[i];
    if (!slice.use_empty())
      continue;
    rewriter.modifyOpInPlace(repeat, [&] {
      repeat.getBody().front().eraseArgument(slice.getArgNumber());
      repeat.getStacksMutable().erase(i);
    });
    changed = true;
  }
  return changed;
}

/// True for a carried value that is handed on for nobody: no iteration makes
/// anything of it but a sum that nobody reads.
static bool isUnusedSum(const CarriedValue &carried) {
  if (!carried.result.use_empty())
    return false;
  bool isHandedOn =
      carried.yielded->get() == carried.arg && carried.arg.hasOneUse();
  return isHandedOn || isSum(carried);
}

/// What reads a sum, and what reads that, last first.
static SmallVector<Operation *> getSummandsOf(Value sum) {
  SmallVector<Operation *> ops;
  while (!sum.use_empty()) {
    ops.push_back(*sum.user_begin());
    sum = ops.back()->getResult(0);
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

LogicalResult RepeatOp::dropUnusedStacks(RewriterBase &rewriter) {
  bool changed = dropUnreadSlices(rewriter, *this);
  llvm::BitVector dropped(getNumResults());
  for (auto [number, carried] : llvm::enumerate(getCarriedValues(*this)))
    dropped[number] = isUnusedSum(carried);
  for (OpResult result : getStackedResults())
    dropped[result.getResultNumber()] = result.use_empty();
  if (dropped.none())
    return success(changed);
  SmallVector<Type> types;
  SmallVector<Value> yielded, kept;
  for (auto [result, value] :
       llvm::zip_equal(getResults(), getYield().getValues()))
    if (!dropped.test(result.getResultNumber())) {
      types.push_back(result.getType());
      yielded.push_back(value);
      kept.push_back(result);
    }
  llvm::BitVector droppedArgs(getNumOperands());
  for (unsigned i = 0, e = getNumCarried(); i != e; ++i)
    droppedArgs[i] = dropped[i];
  RepeatOp repeat = recreate(rewriter, *this, types);
  YieldOp yield = repeat.getYield();
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValuesMutable().assign(yielded); });
  rewriter.modifyOpInPlace(repeat, [&] {
    // What adds to a sum that is not there any more.
    for (int i = droppedArgs.find_last(); i >= 0;
         i = droppedArgs.find_prev(i)) {
      for (Operation *op : getSummandsOf(repeat.getBody().getArgument(i)))
        rewriter.eraseOp(op);
      repeat->eraseOperand(i);
      --repeat.getProperties().operandSegmentSizes[0];
    }
    repeat.getBody().front().eraseArguments([&](BlockArgument arg) {
      return arg.getArgNumber() < droppedArgs.size() &&
             droppedArgs.test(arg.getArgNumber());
    });
  });
  for (auto [from, to] : llvm::zip_equal(kept, repeat.getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(*this);
  return success();
}

RepeatOp RepeatOp::withStacked(RewriterBase &rewriter, ValueRange values) {
  SmallVector<Type> types(getResultTypes());
  for (Value value : values)
    types.push_back(tensorOf(value).getStacked(getStackDim()));
  RepeatOp repeat = recreate(rewriter, *this, types);
  YieldOp yield = repeat.getYield();
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValuesMutable().append(values); });
  rewriter.replaceOp(*this, repeat.getResults().take_front(getNumResults()));
  return repeat;
}

void RepeatOp::setRange(SymExpr first, SymExpr count) {
  setCountAttr(count);
  setFirstAttr(first && !first.isZero() ? first : SymExpr());
}

//===----------------------------------------------------------------------===//
// As a loop of MLIR
//===----------------------------------------------------------------------===//

SmallVector<Region *> RepeatOp::getLoopRegions() { return {&getBody()}; }

/// True if each carried value has one type, also what it starts with and what
/// is yielded for it: not where a plan reshards it.
static bool carriesOneType(RepeatOp repeat) {
  ValueRange yielded = repeat.getYielded();
  return llvm::all_of(llvm::zip_first(repeat.getCarriedArgs(),
                                      repeat.getCarriedInits(), yielded),
                      [](auto values) {
                        auto [arg, init, value] = values;
                        return arg.getType() == init.getType() &&
                               arg.getType() == value.getType();
                      });
}

MutableArrayRef<OpOperand> RepeatOp::getInitsMutable() {
  if (!carriesOneType(*this))
    return {};
  return (*this)->getOpOperands().take_front(getNumCarried());
}

Block::BlockArgListType RepeatOp::getRegionIterArgs() {
  return carriesOneType(*this) ? getCarriedArgs() : Block::BlockArgListType();
}

std::optional<MutableArrayRef<OpOperand>> RepeatOp::getYieldedValuesMutable() {
  if (!carriesOneType(*this))
    return MutableArrayRef<OpOperand>();
  return getYieldedOperands().take_front(getNumCarried());
}

std::optional<ResultRange> RepeatOp::getLoopResults() {
  return getResults().take_front(carriesOneType(*this) ? getNumCarried() : 0);
}

std::optional<APInt> RepeatOp::getStaticTripCount() {
  if (std::optional<int64_t> count = getCount().getInt64())
    return APInt(64, *count);
  return std::nullopt;
}

/// Slices and stacks are made by the op itself, of the operands that it does
/// not forward.
OperandRange RepeatOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getCarriedInits();
}

/// Whether some rank may have no iteration. Symbols are positive, and so is a
/// sum of products of them, which a count that passes compute need not be.
static bool mayBeZero(SymExpr count) {
  return llvm::any_of(count.getTerms(), [](const SymExpr::Term &term) {
    return !(Rational(0) < term.coefficient) ||
           llvm::any_of(term.factors, [](const SymExpr::Factor &factor) {
             return !isa<StringAttr>(factor.atom);
           });
  });
}

void RepeatOp::getSuccessorRegions(RegionBranchPoint point,
                                   SmallVectorImpl<RegionSuccessor> &regions) {
  bool isOnce = getCount().isOne();
  if (point.isParent() || !isOnce)
    regions.emplace_back(&getBody(), getCarriedArgs());
  if (!point.isParent() || mayBeZero(getCount()))
    regions.emplace_back(getOperation(), getCarriedResults());
}

void RepeatOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  std::optional<int64_t> count = getCount().getInt64();
  if (count && *count <= std::numeric_limits<unsigned>::max())
    bounds.emplace_back(*count, *count);
  else
    bounds.emplace_back(mayBeZero(getCount()) ? 0 : 1, std::nullopt);
}

bool RepeatOp::areTypesCompatible(Type lhs, Type rhs) {
  return SymTensorType::equalUpToSharding(lhs, rhs);
}

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  auto repeat = dyn_cast<RepeatOp>((*this)->getParentOp());
  return {*this, 0,
          repeat ? repeat.getNumCarried() : (*this)->getNumOperands()};
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

void RepeatOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn setName) {
  for (BlockArgument arg : getCarriedArgs())
    setName(arg, "carry");
  for (BlockArgument arg : getSliceArgs())
    setName(arg, "slice");
}

/// False for constants other than positive integers.
static bool isCount(SymExpr count) {
  std::optional<Rational> value = count.getConstant();
  return !value || (value->isInteger() && Rational(0) < *value);
}

/// `KEYWORD(%arg = %value : type [as type], ...)`. The argument's type is the
/// value's, or one slice of it; `as` gives one that is sharded differently.
static ParseResult parseBindings(OpAsmParser &parser, OperationState &result,
                                 StringRef keyword, bool sliced,
                                 SmallVectorImpl<OpAsmParser::Argument> &args,
                                 int32_t &count) {
  count = 0;
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  auto parseBinding = [&]() -> ParseResult {
    OpAsmParser::Argument arg;
    OpAsmParser::UnresolvedOperand operand;
    SMLoc typeLoc;
    Type type;
    if (parser.parseArgument(arg) || parser.parseEqual() ||
        parser.parseOperand(operand) || parser.parseColon() ||
        parser.getCurrentLocation(&typeLoc) || parser.parseType(type) ||
        parser.resolveOperand(operand, type, result.operands))
      return failure();
    auto tensor = dyn_cast<SymTensorType>(type);
    if (!tensor || (sliced && tensor.getRank() == 0))
      return parser.emitError(typeLoc)
             << "expected "
             << (sliced ? "a stack, a tensor with a leading "
                          "dimension"
                        : "a tensor")
             << ", found " << type;
    arg.type = sliced ? tensor.getSlice() : tensor;
    if (succeeded(parser.parseOptionalKeyword("as"))) {
      if (parser.getCurrentLocation(&typeLoc) || parser.parseType(arg.type))
        return failure();
      if (!isa<SymTensorType>(arg.type))
        return parser.emitError(typeLoc)
               << "expected a tensor, found " << arg.type;
    }
    args.push_back(arg);
    ++count;
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        parseBinding);
}

/// The result types that follow from what the body yields.
static ParseResult inferRepeatResults(OpAsmParser &parser, SMLoc loc,
                                      DimAttr leading, YieldOp yield,
                                      ArrayRef<OpAsmParser::Argument> carried,
                                      SmallVectorImpl<Type> &types) {
  if (yield.getValues().size() < carried.size())
    return parser.emitError(loc)
           << "carries " << carried.size() << " values, its body yields "
           << yield.getValues().size();
  for (auto [number, value] : llvm::enumerate(yield.getValues())) {
    auto tensor = dyn_cast<SymTensorType>(value.getType());
    if (!tensor)
      return parser.emitError(loc) << "yields a value of type "
                                   << value.getType() << ", expected a tensor";
    types.push_back(number < carried.size() ? carried[number].type
                                            : tensor.getStacked(leading));
  }
  return success();
}

/// `<fwd> recompute full`
static ParseResult parseOriginAndPolicy(OpAsmParser &parser,
                                        RepeatOp::Properties &properties) {
  OriginAttr origin;
  if (parseOrigin(parser, origin))
    return failure();
  properties.setOrigin(origin);
  if (failed(parser.parseOptionalKeyword("recompute")))
    return success();
  NamedAttrList attrs;
  if (parseEnumLeading<RecomputePolicyAttr>(parser, attrs, "recompute",
                                            symbolizeRecomputePolicy))
    return failure();
  properties.setRecompute(cast<RecomputePolicyAttr>(attrs.get("recompute")));
  return success();
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  StringAttr name;
  SMLoc nameLoc = parser.getCurrentLocation();
  if (parser.parseAttribute(name, parser.getBuilder().getType<NoneType>()) ||
      parser.parseStar())
    return failure();
  SMLoc countLoc = parser.getCurrentLocation();
  FailureOr<SymExpr> count = SymExpr::parse(parser);
  if (failed(count))
    return failure();
  if (name.getValue().empty())
    return parser.emitError(nameLoc) << "expected a name for the repeat";
  if (!isCount(*count))
    return parser.emitError(countLoc)
           << "repeats " << *count
           << " times, expected an integer of at least 1";
  properties.setRepeatName(name);
  properties.setCount(*count);
  if (succeeded(parser.parseOptionalKeyword("from"))) {
    FailureOr<SymExpr> first = SymExpr::parse(parser);
    if (failed(first))
      return failure();
    properties.setFirst(*first);
  }
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.setReverse(parser.getBuilder().getUnitAttr());
  SmallVector<OpAsmParser::Argument> args;
  int32_t numInits, numStacks;
  if (parseBindings(parser, result, "carry", false, args, numInits) ||
      parseBindings(parser, result, "slices", true, args, numStacks))
    return failure();
  properties.setOperandSegmentSizes({numInits, numStacks});
  Region *body = result.addRegion();
  SmallVector<Type> written;
  if (parser.parseOptionalArrowTypeList(written) ||
      parseOriginAndPolicy(parser, properties) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, args))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  auto yield = dyn_cast<YieldOp>(body->back().back());
  if (!yield || !body->hasOneBlock())
    return parser.emitError(nameLoc)
           << "expects a body of one block with 'stg.yield' at its end";
  if (written.empty() &&
      inferRepeatResults(parser, nameLoc, DimAttr::get(name, *count), yield,
                         ArrayRef(args).take_front(numInits), written))
    return failure();
  result.addTypes(written);
  return success();
}

void RepeatOp::print(OpAsmPrinter &p) {
  p << ' ' << getRepeatNameAttr() << " * ";
  getCount().print(p.getStream());
  if (getFirst()) {
    p << " from ";
    getFirst()->print(p.getStream());
  }
  if (getReverse())
    p << " reverse";
  auto printBindings = [&](StringRef keyword, auto args, OperandRange values,
                           bool sliced) {
    if (values.empty())
      return;
    p << ' ' << keyword << '(';
    llvm::interleaveComma(llvm::zip_equal(args, values), p, [&](auto pair) {
      auto [arg, value] = pair;
      p << arg << " = " << value << " : " << value.getType();
      if (arg.getType() !=
          (sliced ? tensorOf(value).getSlice() : value.getType()))
        p << " as " << arg.getType();
    });
    p << ')';
  };
  printBindings("carry", getCarriedArgs(), getCarriedInits(), /*sliced=*/false);
  printBindings("slices", getSliceArgs(), getStacks(), /*sliced=*/true);
  bool inferred = llvm::all_of_zip(
      getYield().getValues().drop_front(getNumCarried()), getStackedResults(),
      [&](Value value, Value result) {
        return tensorOf(value).getStacked(getStackDim()) == result.getType();
      });
  if (!inferred)
    p.printArrowTypeList(getResultTypes());
  printOrigin(p, *this, getOriginAttr());
  if (std::optional<RecomputePolicy> policy = getRecompute())
    p << " recompute " << stringifyRecomputePolicy(*policy);
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {"repeat_name", "count", "first",
                                      "reverse", "operandSegmentSizes",
                                      "recompute", STGDialect::kOriginName});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult RepeatOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return stg::detail::verifyDeclaredSymbols(*this, symbolTable);
}

LogicalResult RepeatOp::verify() {
  if (getRepeatName().empty())
    return emitOpError("expects a name");
  if (std::string flaw = findFlawOfName(getRepeatName()); !flaw.empty())
    return emitOpError("expects ") << flaw;
  if (!isCount(getCount())) // repeat_c3
    return emitOpError("repeats ")
           << getCount().str() << " times, expected an integer of at least 1";
  return success();
}
