//===- ChakraOps.cpp - Operations of the chakra dialect -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/Sym/IR/Schedules.h"
#include "stg/Support/Names.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;
using namespace stg::chakra;
using stg::MeshAttr;
using stg::Rational;
using stg::SymExpr;
using stg::chakra::detail::haveSameSize;
using stg::chakra::detail::verifyName;

//===----------------------------------------------------------------------===//
// Shared by several ops
//===----------------------------------------------------------------------===//

static ParseResult parseCoordinates(OpAsmParser &parser,
                                    DictionaryAttr &coordinates) {
  NamedAttrList entries;
  auto parseEntry = [&]() -> ParseResult {
    std::string axis;
    int64_t value = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&axis) || parser.parseEqual() ||
        parser.parseInteger(value))
      return failure();
    if (entries.get(axis))
      return parser.emitError(loc, "axis '") << axis << "' is listed twice";
    entries.set(axis, parser.getBuilder().getI64IntegerAttr(value));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return failure();
  coordinates = entries.getDictionary(parser.getContext());
  return success();
}

static void printCoordinates(OpAsmPrinter &printer, Operation *,
                             DictionaryAttr coordinates) {
  printer << '{';
  llvm::interleaveComma(coordinates, printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    printer << " = " << cast<IntegerAttr>(entry.getValue()).getInt();
  });
  printer << '}';
}

/// In ops the kind is a bare keyword.
static ParseResult parseCollKind(OpAsmParser &parser, CollKindAttr &kind) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<CollKind> value = symbolizeCollKind(keyword);
  if (!value)
    return parser.emitError(loc, "unknown collective '")
           << keyword << "', expected one of all_reduce, all_gather, "
           << "reduce_scatter, all_to_all";
  kind = CollKindAttr::get(parser.getContext(), *value);
  return success();
}

static void printCollKind(OpAsmPrinter &printer, Operation *,
                          CollKindAttr kind) {
  printer << stringifyCollKind(kind.getValue());
}

#include "stg/Dialect/Chakra/IR/ChakraInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "stg/Dialect/Chakra/IR/ChakraOps.cpp.inc"

LogicalResult stg::chakra::detail::verifyName(Operation *op, StringRef name) {
  if (std::string flaw = findFlawOfName(name); !flaw.empty())
    return op->emitOpError("expects ") << flaw;
  return success();
}

/// Fails if `expr` is a constant that is negative or not an integer.
static LogicalResult verifyCount(Operation *op, SymExpr expr, StringRef what) {
  std::optional<Rational> value = expr.getConstant();
  if (!value || (value->isInteger() && value->num >= 0))
    return success();
  return op->emitOpError("expects ")
         << what << " to be a non-negative integer, found '" << expr << "'";
}

//===----------------------------------------------------------------------===//
// GraphOp (its region is verified in ChakraGraphVerifier.cpp)
//===----------------------------------------------------------------------===//

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    MeshAttr mesh, DictionaryAttr coordinates) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getMeshAttrName(state.name), mesh);
  if (coordinates && !coordinates.empty())
    state.addAttribute(getCoordinatesAttrName(state.name), coordinates);
  state.addRegion()->emplaceBlock();
}

LogicalResult GraphOp::verify() {
  DictionaryAttr coordinates = getCoordinatesAttr();
  if (!coordinates)
    return success();
  for (NamedAttribute entry : coordinates) { // C1
    SymExpr size = getMesh().getAxisSize(entry.getName());
    if (!size)
      return emitOpError("has a coordinate on axis '")
             << entry.getName().strref() << "', which the mesh does not have";
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    if (!value || !value.getType().isInteger(64))
      return emitOpError("expects an integer as coordinate on axis '")
             << entry.getName().strref() << "'";
    std::optional<int64_t> bound = size.getInt64();
    if (value.getInt() < 0 || (bound && value.getInt() >= *bound))
      return emitOpError("has coordinate ")
             << value.getInt() << " on axis '" << entry.getName().strref()
             << "', which has size " << size;
  }
  return success();
}

static std::optional<int64_t> findCoordinate(DictionaryAttr coordinates,
                                             StringRef axis) {
  auto value =
      coordinates ? coordinates.getAs<IntegerAttr>(axis) : IntegerAttr();
  return value ? std::optional(value.getInt()) : std::nullopt;
}

std::optional<int64_t> GraphOp::getCoordinate(StringRef axis) {
  return findCoordinate(getCoordinatesAttr(), axis);
}

//===----------------------------------------------------------------------===//
// CompOp
//===----------------------------------------------------------------------===//

void CompOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   ValueRange inputs, SymExpr ops, SymExpr bytes,
                   TypeRange newTypes, StringRef phase, ValueRange updates,
                   ValueRange after) {
  SmallVector<Type> types(newTypes);
  llvm::append_range(types, updates.getTypes());
  StringAttr phaseAttr =
      phase.empty() ? StringAttr() : builder.getStringAttr(phase);
  build(builder, state, types, builder.getStringAttr(name), inputs, updates,
        after, ops, bytes, /*matrix=*/UnitAttr(), phaseAttr,
        /*kernel=*/KernelAttr());
}

ResultRange CompOp::getNewResults() {
  return getResults().drop_back(getUpdates().size());
}

ResultRange CompOp::getUpdatedResults() {
  return getResults().take_back(getUpdates().size());
}

LogicalResult CompOp::verify() {
  size_t numUpdates = getUpdates().size();
  if (getNumResults() < numUpdates) // C1
    return emitOpError("updates ") << numUpdates << " operands, but has only "
                                   << getNumResults() << " results";
  for (auto [operand, result] :
       llvm::zip_equal(getUpdates(), getUpdatedResults()))
    if (operand.getType() != result.getType())
      return emitOpError("updates a value of type ")
             << operand.getType() << ", but has the result type "
             << result.getType();
  if (failed(verifyCount(*this, getOps(), "ops"))) // C3
    return failure();
  return verifyCount(*this, getBytes(), "bytes");
}

Value CompOp::getChangedBuffer(unsigned result) {
  size_t numNew = getNumResults() - getUpdates().size();
  return result < numNew ? Value() : getUpdates()[result - numNew];
}

//===----------------------------------------------------------------------===//
// CollOp
//===----------------------------------------------------------------------===//

void CollOp::build(OpBuilder &builder, OperationState &state, CollKind kind,
                   StringRef name, ValueRange inputs, ArrayAttr over,
                   TypeRange resultTypes, bool inPlace, StringRef phase,
                   ValueRange after, SymExpr payload) {
  StringAttr phaseAttr =
      phase.empty() ? StringAttr() : builder.getStringAttr(phase);
  build(builder, state, resultTypes,
        CollKindAttr::get(builder.getContext(), kind),
        builder.getStringAttr(name), inputs, after, over,
        /*among=*/DenseI64ArrayAttr(),
        inPlace ? builder.getUnitAttr() : UnitAttr(), payload,
        /*padded=*/SymExpr(),
        /*ahead=*/IntegerAttr(), phaseAttr);
}

/// True if both are tensors, or stacks of the same counts.
static bool haveSameStructure(Type lhs, Type rhs) {
  if (isa<TokenType>(lhs) || isa<TokenType>(rhs))
    return false;
  while (auto lhsStack = dyn_cast<StackType>(lhs)) {
    auto rhsStack = dyn_cast<StackType>(rhs);
    if (!rhsStack || lhsStack.getCount() != rhsStack.getCount())
      return false;
    lhs = lhsStack.getElementType();
    rhs = rhsStack.getElementType();
  }
  return !isa<StackType>(rhs);
}

/// The results correspond to the operands (C1, C3).
static LogicalResult verifyCollResults(CollOp op) {
  if (op.getInputs().empty() || op.getInputs().size() != op.getNumResults())
    return op.emitOpError("expects as many results as operands, and at least "
                          "one, found ")
           << op.getInputs().size() << " operands and " << op.getNumResults()
           << " results";
  for (auto [operand, result] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    if (!haveSameStructure(operand.getType(), result.getType()))
      return op.emitOpError(
                 "expects a result of the operand's structure, found ")
             << operand.getType() << " and " << result.getType();
    if (op.getInPlace() && operand.getType() != result.getType())
      return op.emitOpError("is in place, but an operand has type ")
             << operand.getType() << " and its result " << result.getType();
  }
  return success();
}

/// How many iterations the node that makes a value is issued ahead.
static uint64_t getAheadOf(Value value) {
  Operation *producer = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadOp>(producer))
    return load.getAhead().value_or(0);
  auto coll = dyn_cast_or_null<CollOp>(producer);
  return coll ? coll.getAhead().value_or(0) : 0;
}

/// What is issued in an earlier iteration cannot read what its own one makes,
/// but for what is issued as early.
static LogicalResult verifyAhead(Operation *op,
                                 std::optional<uint64_t> distance) {
  if (!distance || *distance == 0)
    return success();
  auto ahead = static_cast<int64_t>(*distance);
  if (ahead < 0)
    return op->emitOpError("is ")
           << ahead << " iterations ahead, expected at least 0";
  auto repeat = dyn_cast<RepeatOp>(op->getParentOp());
  if (!repeat)
    return op->emitOpError("is ahead, but not in the body of a repeat");
  for (Value operand : op->getOperands()) {
    auto arg = dyn_cast<BlockArgument>(operand);
    bool isSlice = arg && arg.getOwner()->getParentOp() == repeat &&
                   arg.getArgNumber() >= repeat.getInits().size();
    if (!isSlice && getAheadOf(operand) < *distance &&
        repeat.getBody().isAncestor(operand.getParentRegion()))
      return op->emitOpError("is ahead, but reads a value that its own "
                             "iteration makes or gets");
  }
  return success();
}

LogicalResult CollOp::verify() {
  if (getOver().empty()) // C2
    return emitOpError("expects at least one axis");
  llvm::SmallDenseSet<Attribute, 8> seen;
  for (Attribute axis : getOver())
    if (!seen.insert(axis).second)
      return emitOpError("names axis ") << axis << " twice";
  bool changesSize = (getKind() == CollKind::ReduceScatter ||
                      getKind() == CollKind::AllGather) &&
                     !getPayloadAttr();
  if (getInPlace() && changesSize) // C5
    return emitOpError("cannot be in place: ")
           << stringifyCollKind(getKind()) << " changes the size";
  if (getAmong() && failed(stg::detail::verifyAmong(*this, *getAmong(), // C7
                                                    getOver().size())))
    return failure();
  if (failed(verifyAhead(*this, getAhead()))) // C8
    return failure();
  if (SymExpr payload = getPayloadAttr()) // C6
    if (failed(verifyCount(*this, payload, "payload")))
      return failure();
  if (SymExpr padded = getPaddedAttr()) { // C9
    if (!getPayloadAttr())
      return emitOpError("is padded, but has no payload");
    std::optional<int64_t> own = getPayloadAttr().getInt64(),
                           all = padded.getInt64();
    if (own && all && *own > *all)
      return emitOpError("has a payload of ")
             << *own << " bytes, which is more than it is padded to, " << *all;
  }
  if (!getPayloadAttr() || getInPlace())
    return verifyCollResults(*this);
  return success();
}

Value CollOp::getChangedBuffer(unsigned result) {
  return getInPlace() ? getInputs()[result] : Value();
}

/// True if two different canonical forms may still have equal values, because
/// something in `expr` stays opaque until symbols are bound.
static bool hasOpaqueTerms(SymExpr expr) {
  return llvm::any_of(expr.getTerms(), [](const SymExpr::Term &term) {
    return llvm::any_of(term.factors, [](const SymExpr::Factor &factor) {
      return isa<SymExpr>(factor.atom);
    });
  });
}

static SymExpr getTensorBytes(Type type) {
  if (auto stack = dyn_cast<StackType>(type))
    return stack.getTensorType().getBytes();
  return cast<stg::chakra::TensorType>(type).getBytes();
}

static LogicalResult verifyCollSizes(CollOp op, SymExpr groupSize) {
  if (op.getKind() == CollKind::AllToAll || op.getPayloadAttr() ||
      op.getAmong())
    return success();
  for (auto [operand, result] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    SymExpr in = getTensorBytes(operand.getType());
    SymExpr out = getTensorBytes(result.getType());
    if (hasOpaqueTerms(in) || hasOpaqueTerms(out) || hasOpaqueTerms(groupSize))
      continue;
    SymExpr large = op.getKind() == CollKind::AllGather ? in * groupSize : in;
    SymExpr small =
        op.getKind() == CollKind::ReduceScatter ? out * groupSize : out;
    if (large == small)
      continue;
    return op.emitOpError("over ")
           << op.getOver() << ", a group of " << groupSize
           << " ranks, cannot make " << out << " bytes of " << in;
  }
  return success();
}

/// Constraints of `chakra.graph` (C2, C3) and that the ranks are among their
/// own group (C7).
LogicalResult CollOp::verifyInGraph(MeshAttr mesh, DictionaryAttr coordinates) {
  for (auto axis : getOver().getAsRange<StringAttr>())
    if (!mesh.getAxisIndex(axis))
      return emitOpError("is over axis ")
             << axis << ", which the mesh does not have";
  if (std::optional<ArrayRef<int64_t>> among = getAmong()) {
    StringRef axis = cast<StringAttr>(getOver()[0]);
    std::optional<int64_t> own = findCoordinate(coordinates, axis);
    if (own && !llvm::is_contained(*among, *own))
      return emitOpError("is not among its own ranks, which have coordinate ")
             << *own << " on axis '" << axis << "'";
  }
  return verifyCollSizes(*this, mesh.getGroupSize(getOver()));
}

//===----------------------------------------------------------------------===//
// SendOp, RecvOp
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyMessage(OpTy op) {
  if (op.getMessageTypes().empty()) // C2
    return op.emitOpError("expects at least one buffer");
  auto channel = static_cast<int64_t>(op.getChannel());
  if (channel < 0) // C3
    return op.emitOpError("has the channel ")
           << channel << ", expected at least 0";
  if (SymExpr payload = op.getPayloadAttr()) // C6
    if (failed(verifyCount(op, payload, "payload")))
      return failure();
  auto schedule = dyn_cast<ScheduleOp>(op->getParentOp());
  return stg::detail::verifyStride( // C5
      op, channel, op.getStrideAttr(),
      schedule ? std::optional(schedule.getCount()) : std::nullopt);
}

template <typename OpTy>
static LogicalResult verifyMessageAxis(OpTy op, MeshAttr mesh) {
  if (mesh.getAxisIndex(op.getAxis())) // C1
    return success();
  return op.emitOpError("is along axis '")
         << op.getAxis() << "', which the mesh does not have";
}

bool SendOp::isSend() { return true; }
TypeRange SendOp::getMessageTypes() { return getInputs().getTypes(); }
LogicalResult SendOp::verify() { return verifyMessage(*this); }
LogicalResult SendOp::verifyInGraph(MeshAttr mesh, DictionaryAttr) {
  return verifyMessageAxis(*this, mesh);
}

bool RecvOp::isSend() { return false; }
TypeRange RecvOp::getMessageTypes() { return getResultTypes(); }
Value RecvOp::getChangedBuffer(unsigned) { return getInto(); }

LogicalResult RecvOp::verify() {
  if (static_cast<bool>(getInto()) != static_cast<bool>(getPayloadAttr()))
    return emitOpError("expects a payload with what it receives into, and only "
                       "with it"); // C6
  if (getInto() &&
      (getNumResults() != 1 || getInto().getType() != getResult(0).getType()))
    return emitOpError("receives into a buffer of type ")
           << getInto().getType() << ", which is not that of its only result";
  return verifyMessage(*this);
}

LogicalResult RecvOp::verifyInGraph(MeshAttr mesh, DictionaryAttr) {
  return verifyMessageAxis(*this, mesh);
}

//===----------------------------------------------------------------------===//
// LoadOp, StoreOp
//===----------------------------------------------------------------------===//

/// One end of a transfer is in the host's memory, the other is not (C1).
static LogicalResult verifyTransfer(Operation *op, stg::chakra::TensorType host,
                                    stg::chakra::TensorType device,
                                    StringRef what) {
  if (!isOnHost(host))
    return op->emitOpError("expects ")
           << what << " of category host, found " << host;
  if (isOnHost(device))
    return op->emitOpError("copies from one buffer of the host to another");
  if (host.getBytes() == device.getBytes())
    return success();
  return op->emitOpError("copies a buffer of type ")
         << op->getOperand(0).getType() << " into one of type "
         << op->getResult(0).getType();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAhead(*this, getAhead()))) // C2
    return failure();
  return verifyTransfer(*this, getInput().getType(), getResult().getType(),
                        "an operand");
}

LogicalResult StoreOp::verify() {
  if (getInto() && getInto().getType() != getResult().getType()) // C2
    return emitOpError("copies into a buffer of type ")
           << getInto().getType() << ", but has the result type "
           << getResult().getType();
  return verifyTransfer(*this, getResult().getType(), getInput().getType(),
                        "a result");
}

Value StoreOp::getChangedBuffer(unsigned) { return getInto(); }

//===----------------------------------------------------------------------===//
// FuncOp, CallOp
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   TypeRange argTypes, TypeRange resultTypes) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setSymName(builder.getStringAttr(name));
  properties.setFunctionType(
      TypeAttr::get(builder.getFunctionType(argTypes, resultTypes)));
  Block &body = state.addRegion()->emplaceBlock();
  for (Type type : argTypes)
    body.addArgument(type, state.location);
}

ReturnOp FuncOp::getReturn() {
  return cast<ReturnOp>(getBody().front().getTerminator());
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Type> types;
  if (parser.parseSymbolName(properties.sym_name) ||
      parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalArrowTypeList(types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), args))
    return failure();
  auto argTypes = llvm::map_to_vector(
      args, [](const OpAsmParser::Argument &arg) { return arg.type; });
  properties.setFunctionType(
      TypeAttr::get(parser.getBuilder().getFunctionType(argTypes, types)));
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument arg) { printer << arg << " : " << arg.getType(); });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getFunctionTypeAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/getReturn()->getNumOperands());
}

//===----------------------------------------------------------------------===//
// RepeatOp
//===----------------------------------------------------------------------===//

void RepeatOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     SymExpr count, ValueRange inits, ValueRange slices,
                     TypeRange stackedTypes, bool reverse, SymExpr first) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.setName(builder.getStringAttr(name));
  properties.setCount(count);
  if (first)
    properties.setFirst(first);
  if (reverse)
    properties.setReverse(builder.getUnitAttr());
  properties.operandSegmentSizes = {static_cast<int32_t>(inits.size()),
                                    static_cast<int32_t>(slices.size())};
  state.addOperands(inits);
  state.addOperands(slices);
  state.addTypes(inits.getTypes());
  state.addTypes(stackedTypes);
  Block &body = state.addRegion()->emplaceBlock();
  for (Value init : inits)
    body.addArgument(init.getType(), init.getLoc());
  for (Value slice : slices)
    body.addArgument(cast<StackType>(slice.getType()).getElementType(),
                     slice.getLoc());
}

Block::BlockArgListType RepeatOp::getCarryArgs() {
  return getBody().getArguments().take_front(getInits().size());
}

Block::BlockArgListType RepeatOp::getSliceArgs() {
  return getBody().getArguments().drop_front(getInits().size());
}

ResultRange RepeatOp::getCarryResults() {
  return getResults().take_front(getInits().size());
}

ResultRange RepeatOp::getStackResults() {
  return getResults().drop_front(getInits().size());
}

YieldOp RepeatOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Parses `(%arg = %operand : type, ...)`; the argument of a slice has the
/// element type of the stack.
static ParseResult
parseBindings(OpAsmParser &parser, bool slices,
              SmallVectorImpl<OpAsmParser::Argument> &args,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
              SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        OpAsmParser::Argument arg;
        OpAsmParser::UnresolvedOperand operand;
        SMLoc loc;
        if (parser.parseArgument(arg) || parser.parseEqual() ||
            parser.parseOperand(operand) || parser.parseColon() ||
            parser.getCurrentLocation(&loc) ||
            parser.parseType(types.emplace_back()))
          return failure();
        arg.type = types.back();
        if (slices) {
          auto stack = dyn_cast<StackType>(types.back());
          if (!stack)
            return parser.emitError(loc, "expected a stack to slice, found ")
                   << types.back();
          arg.type = stack.getElementType();
        }
        args.push_back(arg);
        operands.push_back(operand);
        return success();
      });
}

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  auto &properties = result.getOrAddProperties<Properties>();
  if (parser.parseAttribute(properties.name) || parser.parseStar() ||
      parseExpr(parser, properties.count))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("from")) &&
      parseExpr(parser, properties.first))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("index")) &&
      parser.parseAttribute(properties.index))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.setReverse(parser.getBuilder().getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("carry")) &&
      parseBindings(parser, /*slices=*/false, args, operands, types))
    return failure();
  size_t numCarries = operands.size();
  if (succeeded(parser.parseOptionalKeyword("slices")) &&
      parseBindings(parser, /*slices=*/true, args, operands, types))
    return failure();
  properties.operandSegmentSizes = {
      static_cast<int32_t>(numCarries),
      static_cast<int32_t>(operands.size() - numCarries)};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), args))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return parser.resolveOperands(operands, types, loc, result.operands);
}

void RepeatOp::print(OpAsmPrinter &printer) {
  auto printBindings = [&](StringRef keyword, auto args, auto operands) {
    if (operands.empty())
      return;
    printer << ' ' << keyword << '(';
    llvm::interleaveComma(
        llvm::zip_equal(args, operands), printer, [&](auto pair) {
          auto [arg, operand] = pair;
          printer << arg << " = " << operand << " : " << operand.getType();
        });
    printer << ')';
  };
  printer << ' ' << getNameAttr() << " * ";
  printExpr(printer, *this, getCount());
  if (getFirst()) {
    printer << " from ";
    printExpr(printer, *this, *getFirst());
  }
  if (getIndexAttr())
    printer << " index " << getIndexAttr();
  if (getReverse())
    printer << " reverse";
  printBindings("carry", getCarryArgs(), getInits());
  printBindings("slices", getSliceArgs(), getSlices());
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getNameAttrName(), getCountAttrName(), getFirstAttrName(),
       getIndexAttrName(), getReverseAttrName(), "operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/getYield()->getNumOperands());
}

bool stg::chakra::isOnHost(Type type) {
  if (auto stack = dyn_cast<StackType>(type))
    type = stack.getTensorType();
  auto tensor = dyn_cast<stg::chakra::TensorType>(type);
  return tensor && tensor.getCategory() == Category::Host;
}

/// True if the types agree in everything but what buffers of the rank are for:
/// what one iteration hands to the next may be for something else than what the
/// first one got.
bool stg::chakra::detail::haveSameSize(Type lhs, Type rhs) {
  auto lhsStack = dyn_cast<StackType>(lhs), rhsStack = dyn_cast<StackType>(rhs);
  if (lhsStack && rhsStack)
    return lhsStack.getCount() == rhsStack.getCount() &&
           haveSameSize(lhsStack.getElementType(), rhsStack.getElementType());
  auto lhsTensor = dyn_cast<stg::chakra::TensorType>(lhs);
  auto rhsTensor = dyn_cast<stg::chakra::TensorType>(rhs);
  if (lhsTensor && rhsTensor)
    return lhsTensor.getBytes() == rhsTensor.getBytes() &&
           isOnHost(lhsTensor) == isOnHost(rhsTensor);
  return lhs == rhs;
}

LogicalResult RepeatOp::verify() {
  if (failed(verifyCount(*this, getCount(), "the count"))) // C4
    return failure();
  if (getFirst() && failed(verifyCount(*this, *getFirst(), "the first index")))
    return failure();
  if (getIndexAttr() && (!isa<GraphOp>((*this)->getParentOp()) ||
                         getNumOperands() || getNumResults() || getReverse()))
    return emitOpError(
        "has an index, so that its iterations are steps; these " // C6
        "stand in a graph, in order, and hand nothing on");
  size_t numCarries = getInits().size();
  size_t numArgs = getBody().getNumArguments();
  if (numArgs != getNumOperands())
    return emitOpError("expects one argument of the body per carry and slice, "
                       "found ")
           << numArgs << " for " << getNumOperands();
  if (getNumResults() < numCarries)
    return emitOpError("expects a result for each of its ")
           << numCarries << " carries, found " << getNumResults();
  for (auto [init, arg, result] :
       llvm::zip_equal(getInits(), getCarryArgs(), getCarryResults()))
    if (init.getType() != arg.getType() || // C1
        arg.getType() != result.getType())
      return emitOpError("carries a value of type ")
             << init.getType() << " as argument of type " << arg.getType()
             << " and result of type " << result.getType();
  for (auto [slice, arg] : llvm::zip_equal(getSlices(), getSliceArgs())) {
    auto stack = cast<StackType>(slice.getType()); // C2
    if (stack.getCount() != getCount())
      return emitOpError("repeats ")
             << getCount() << " times, but slices a stack of "
             << stack.getCount();
    if (stack.getElementType() != arg.getType())
      return emitOpError("slices ")
             << stack << " into an argument of type " << arg.getType();
  }
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  YieldOp yield = getYield();
  if (yield.getCarries().size() != getInits().size())
    return yield.emitOpError("yields ")
           << yield.getCarries().size() << " carries, but the repeat has "
           << getInits().size();
  for (auto [value, init] : llvm::zip_equal(yield.getCarries(), getInits()))
    if (!haveSameSize(value.getType(), init.getType())) // C1
      return yield.emitOpError("carries a value of type ")
             << value.getType() << ", but the repeat carries "
             << init.getType();
  if (yield.getStacks().size() != getStackResults().size())
    return yield.emitOpError("yields ")
           << yield.getStacks().size() << " values to stack, but the repeat "
           << "has " << getStackResults().size() << " stacked results";
  for (auto [value, result] :
       llvm::zip_equal(yield.getStacks(), getStackResults())) {
    auto stack = dyn_cast<StackType>(result.getType()); // C3
    if (!stack || stack.getElementType() != value.getType() ||
        stack.getCount() != getCount())
      return yield.emitOpError("stacks ")
             << getCount() << " values of type " << value.getType()
             << ", but the result has type " << result.getType();
  }
  return success();
}

/// What a repeat without iterations carries is what it got; stacks of no
/// elements stay.
LogicalResult RepeatOp::canonicalize(RepeatOp repeat,
                                     PatternRewriter &rewriter) {
  if (!repeat.getCount().isZero() || !repeat.getStackResults().empty())
    return failure();
  rewriter.replaceOp(repeat, repeat.getInits());
  return success();
}

LogicalResult FuncOp::verifyRegions() { // C1
  ReturnOp op = getReturn();
  if (op->getNumOperands() != getResultTypes().size())
    return op.emitOpError("returns ")
           << op->getNumOperands() << " values, but the function has "
           << getResultTypes().size() << " results";
  for (auto [value, type] : llvm::zip_equal(op.getValues(), getResultTypes()))
    if (!haveSameSize(value.getType(), type))
      return op.emitOpError("returns a value of type ")
             << value.getType() << ", but the function has the result type "
             << type;
  return success();
}

LogicalResult stg::chakra::detail::verifyInSteps(Operation *op) {
  auto repeat = dyn_cast<RepeatOp>(op->getParentOp());
  if (!repeat || repeat.getIndexAttr())
    return success();
  return op->emitOpError("is in a repeat without an index, expected one whose "
                         "iterations are steps");
}

bool stg::chakra::detail::isBeforeCall(Operation *function, Operation *call) {
  Operation *beside = function->getBlock()->findAncestorOpInBlock(*call);
  return beside && function->isBeforeInBlock(beside);
}

LogicalResult CallOp::verify() {            // C3
  if (failed(detail::verifyInSteps(*this))) // C4
    return failure();
  if (!getScope().empty() && isa<ScheduleOp>((*this)->getParentOp()))
    return emitOpError("has the scope '")
           << getScope() << "' in a schedule, which has those of its turns";
  return getScope().empty() ? success() : verifyName(*this, getScope());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = symbolTable.lookupNearestSymbolFrom<FuncOp>(
      (*this)->getParentOp(), getCalleeAttr());
  if (!callee || !detail::isBeforeCall(callee, *this)) // C1
    return emitOpError("calls '")
           << getCallee() << "', which is no function before it in the graph";
  auto verifyTypes = [&](TypeRange have, TypeRange expected,
                         StringRef what) -> LogicalResult { // C2
    if (have.size() != expected.size())
      return emitOpError("has ") << have.size() << ' ' << what << "s, but '"
                                 << getCallee() << "' has " << expected.size();
    for (auto [number, pair] :
         llvm::enumerate(llvm::zip_equal(have, expected))) {
      auto [type, other] = pair;
      if (!haveSameSize(type, other))
        return emitOpError(what)
               << " #" << number << " has type " << type << ", but in '"
               << getCallee() << "' " << other;
    }
    return success();
  };
  return failure(
      failed(verifyTypes(getOperandTypes(), callee.getArgumentTypes(),
                         "operand")) ||
      failed(verifyTypes(getResultTypes(), callee.getResultTypes(), "result")));
}
