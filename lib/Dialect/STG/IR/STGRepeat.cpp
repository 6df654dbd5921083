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
#include "stg/Dialect/STG/IR/STGOpBase.h"

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

void RepeatOp::dropUnusedStacked(RewriterBase &rewriter) {
  SmallVector<Type> types(getCarriedResults().getTypes());
  SmallVector<Value> yielded(
      getYield().getValues().take_front(getNumCarried()));
  SmallVector<Value> kept(getCarriedResults());
  for (auto [result, value] :
       llvm::zip_equal(getStackedResults(),
                       getYield().getValues().drop_front(getNumCarried())))
    if (!result.use_empty()) {
      types.push_back(result.getType());
      yielded.push_back(value);
      kept.push_back(result);
    }
  RepeatOp repeat = recreate(rewriter, *this, types);
  rewriter.modifyOpInPlace(repeat.getYield(), [&] {
    repeat.getYield().getValuesMutable().assign(yielded);
  });
  for (auto [from, to] : llvm::zip_equal(kept, repeat.getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(*this);
}

RepeatOp RepeatOp::withStacked(RewriterBase &rewriter, ValueRange values) {
  SmallVector<Type> types(getResultTypes());
  for (Value value : values)
    types.push_back(tensorOf(value).getStacked(getStackDim()));
  RepeatOp repeat = recreate(rewriter, *this, types);
  repeat.getYield().getValuesMutable().append(values);
  rewriter.replaceOp(*this, repeat.getResults().take_front(getNumResults()));
  return repeat;
}

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
  printBindings("carry", getCarriedArgs(), getInits(), /*sliced=*/false);
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

/// repeat_c2; what the leading dimension is called does not matter, as a repeat
/// may read what another one has stacked.
static LogicalResult verifyStack(RepeatOp repeat, StringRef kind, Value stack) {
  SymTensorType type = tensorOf(stack);
  if (type.getRank() > 0 && type.getShape().front() == repeat.getCount())
    return success();
  return repeat.emitOpError("has a stacked ")
         << kind << " of type " << type << ", expected leading extent "
         << repeat.getCount().str();
}

LogicalResult RepeatOp::verify() {
  if (getRepeatName().empty())
    return emitOpError("expects a name");
  if (!isCount(getCount())) // repeat_c3
    return emitOpError("repeats ")
           << getCount().str() << " times, expected an integer of at least 1";
  for (Value stack : getStacks())
    if (failed(verifyStack(*this, "operand", stack)))
      return failure();
  if (getNumResults() < getNumCarried())
    return emitOpError("carries ") << getNumCarried() << " values, but has "
                                   << getNumResults() << " results";
  for (Value result : getStackedResults())
    if (failed(verifyStack(*this, "result", result)))
      return failure();
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().size() != getNumResults())
    return emitOpError("has ")
           << getNumResults() << " results, its body yields "
           << (yield ? yield.getValues().size() : 0) << " values";
  for (auto [number, pair] :
       llvm::enumerate(llvm::zip_equal(yield.getValues(), getResults()))) {
    auto [yielded, result] = pair;
    Type expected = number < getNumCarried() ? result.getType()
                                             : tensorOf(result).getSlice();
    if (!SymTensorType::equalUpToSharding(yielded.getType(),
                                          expected)) // repeat_c1
      return yield.emitOpError("value #")
             << number << " has type " << yielded.getType() << ", expected "
             << expected;
  }
  if (getBody().front().getNumArguments() != getNumOperands())
    return emitOpError("has ")
           << getNumOperands() << " operands, its body has "
           << getBody().front().getNumArguments() << " arguments";
  // repeat_c4
  for (auto [arg, init, result] :
       llvm::zip_equal(getCarriedArgs(), getInits(), getCarriedResults()))
    if (!SymTensorType::equalUpToSharding(arg.getType(), init.getType()) ||
        arg.getType() != result.getType())
      return emitOpError("carries a value of type ")
             << init.getType() << " as " << arg.getType()
             << " into a result of type " << result.getType();
  for (auto [arg, stack] : llvm::zip_equal(getSliceArgs(), getStacks()))
    if (!SymTensorType::equalUpToSharding(arg.getType(),
                                          tensorOf(stack).getSlice()))
      return emitOpError("reads a slice of ")
             << stack.getType() << " as " << arg.getType() << ", expected "
             << tensorOf(stack).getSlice();
  return success();
}
