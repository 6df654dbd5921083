//===- STGOps.cpp - Operations of the stg dialect -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations, views and the optimizer; see STGTypeInference, STGCollectives
// and STGRepeat for the other ops.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "stg/Dialect/Sym/IR/Schedules.h"
#include "stg/Support/Names.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// SymbolOp, ConfigOp, MeshOp, ParamOp
//===----------------------------------------------------------------------===//

LogicalResult ConfigOp::verify() {
  for (NamedAttribute binding : getBindings()) {
    // Whether there is such an option is seen later.
    if (getOptionValue(binding.getValue()))
      continue;
    auto value = dyn_cast<IntegerAttr>(binding.getValue()); // config_c1
    if (!value || !value.getType().isSignlessIntOrIndex() ||
        !value.getValue().isStrictlyPositive() ||
        !value.getValue().isSignedIntN(64))
      return emitOpError("expects an integer of at least 1 for symbol '")
             << binding.getName().getValue() << "', found "
             << binding.getValue();
  }
  return success();
}

/// The value of a symbol or an option that is declared.
static LogicalResult checkSetting(ConfigOp config, NamedAttribute setting,
                                  Operation *declared) {
  StringAttr text = getOptionValue(setting.getValue());
  if (auto option = dyn_cast_or_null<OptionOp>(declared)) // config_c3
    return text ? checkOptionValue(option, text,
                                   [&] { return config.emitOpError(); })
                : config.emitOpError("gives option '")
                      << option.getSymName() << "' the value "
                      << setting.getValue() << ", expected "
                      << option.getExpected();
  if (!isa_and_nonnull<SymbolOp>(declared)) // config_c2
    return config.emitOpError("sets ")
           << (text ? "option" : "symbol") << " '"
           << setting.getName().getValue() << "', which is not declared";
  if (!text)
    return success();
  return config.emitOpError("expects an integer of at least 1 for symbol '")
         << setting.getName().getValue() << "', found " << setting.getValue();
}

LogicalResult ConfigOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  for (NamedAttribute setting : getBindings())
    if (module && failed(checkSetting(
                      *this, setting,
                      symbolTable.lookupSymbolIn(module, setting.getName()))))
      return failure();
  return success();
}

LogicalResult SymbolOp::verify() {
  std::optional<Rational> value =
      getValue() ? getValue()->getConstant() : std::nullopt;
  if (value && (*value < Rational(1) || !value->isInteger())) // symbol_c1
    return emitOpError("has the value ")
           << *getValue() << ", expected an integer of at least 1";
  if (getValue() && getCoordinate()) // symbol_c3
    return emitOpError("is a coordinate and has the value ") << *getValue();
  return success();
}

/// What earlier blocks have made has the types of the results, and is
/// destroyed.
template <typename OpTy> static LogicalResult verifyPartial(OpTy op) {
  if (op.getPartial().empty())
    return success();
  if (isa<AttentionBlockOp>(*op) && op.getPartial().size() == 1)
    return stg::detail::checkSinks(op.getLoc(), op.getQuery(),
                                   op.getPartial().front());
  bool isOfQueries =
      isa<AttentionBlockGradOp>(*op) && op.getPartial().size() == 1;
  if (op.getPartial().size() != op->getNumResults() &&
      !isOfQueries) // attention_block_c4
    return op.emitOpError("has ")
           << op.getPartial().size() << " partial results, expected none"
           << (isa<AttentionBlockGradOp>(*op) ? ", that of the queries," : "")
           << " or " << op->getNumResults();
  for (auto [number, pair] : llvm::enumerate(
           llvm::zip(op.getPartial().getTypes(), op->getResultTypes())))
    if (auto [type, expected] = pair; type != expected)
      return op.emitOpError("has partial result #")
             << number << " of type " << type << ", expected " << expected;
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
    if (op.destroysOperand(i) &&
        failed(stg::detail::verifyDestroyed(op, i))) // attention_block_c4
      return failure();
  return success();
}

LogicalResult AttentionBlockOp::verify() { return verifyPartial(*this); }
LogicalResult AttentionBlockGradOp::verify() { return verifyPartial(*this); }

Operation *AttentionOp::createBlock(OpBuilder &builder, ValueRange operands,
                                    ValueRange partial, SymExpr pairs,
                                    SymExpr seen, TypeAttr into) {
  // Log-sum-exps begin with the sinks.
  ValueRange earlier = partial.empty() ? operands.drop_front(3) : partial;
  return AttentionBlockOp::create(builder, getLoc(), operands[0], operands[1],
                                  operands[2], earlier, pairs, seen, into);
}

Operation *AttentionGradOp::createBlock(OpBuilder &builder, ValueRange operands,
                                        ValueRange partial, SymExpr pairs,
                                        SymExpr seen, TypeAttr into) {
  return AttentionBlockGradOp::create(
      builder, getLoc(), operands[0], operands[1], operands[2], operands[3],
      operands[4], operands[5], partial, pairs, seen, into);
}

SymbolOp SymbolOp::lookupCoordinate(ModuleOp module, StringRef axis) {
  for (auto symbol : module.getOps<SymbolOp>())
    if (symbol.getCoordinate() == axis)
      return symbol;
  return {};
}

SymbolOp SymbolOp::declareCoordinate(ModuleOp module, StringRef axis) {
  if (SymbolOp symbol = lookupCoordinate(module, axis))
    return symbol;
  std::string name = (axis + "_index").str();
  while (module.lookupSymbol(name))
    name += "_";
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  return create(builder, module.getLoc(), builder.getStringAttr(name),
                SymExpr(), builder.getStringAttr(axis), StringAttr());
}

LogicalResult SymbolOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (getValue() && getValue()->usesSymbol(getSymNameAttr())) // symbol_c2
    return emitOpError("is defined by itself");
  return stg::detail::verifyDeclaredSymbols(*this, symbolTable);
}

LogicalResult MeshOp::verify() {
  DenseSet<Attribute> seen; // mesh_op_c4
  ArrayAttr joined = getJoinedAttr();
  for (Attribute list : joined ? joined.getValue() : ArrayRef<Attribute>())
    for (Attribute axis : cast<ArrayAttr>(list)) {
      auto name = cast<StringAttr>(axis);
      if (!getMesh().getAxisIndex(name))
        return emitOpError("joins '")
               << name.getValue() << "', which is no axis of the mesh";
      if (!seen.insert(name).second)
        return emitOpError("joins '") << name.getValue() << "' twice";
    }
  for (RuleAttr rule : getSharding()) // mesh_op_c3
    if (!getMesh().getAxisIndex(rule.getAxis()))
      return emitOpError("has the rule '")
             << rule.str() << "', which names no axis of the mesh";
  return success();
}

SmallVector<RuleAttr> MeshOp::getSharding() {
  if (!getRules())
    return {};
  return llvm::to_vector(getRules()->getAsRange<RuleAttr>());
}

/// By default, ranks that hold the same parameters, and those of one tensor.
static bool areJoinedByRole(AxisRole lhs, AxisRole rhs) {
  return (holdsSameParameters(lhs) && holdsSameParameters(rhs)) ||
         (lhs == AxisRole::Tensor && rhs == AxisRole::Tensor);
}

bool MeshOp::areJoined(StringAttr lhs, StringAttr rhs) {
  if (ArrayAttr joined = getJoinedAttr())
    return llvm::any_of(joined, [&](Attribute list) {
      return llvm::is_contained(cast<ArrayAttr>(list), lhs) &&
             llvm::is_contained(cast<ArrayAttr>(list), rhs);
    });
  return areJoinedByRole(getMesh().getAxisRole(lhs),
                         getMesh().getAxisRole(rhs));
}

/// `[[dp, cp], [rows, columns]]`
static ParseResult parseJoined(OpAsmParser &parser, ArrayAttr &joined) {
  SmallVector<Attribute> lists;
  auto parseList = [&]() -> ParseResult {
    SmallVector<Attribute> axes;
    auto parseAxis = [&]() -> ParseResult {
      std::string name;
      if (parser.parseKeywordOrString(&name))
        return failure();
      axes.push_back(parser.getBuilder().getStringAttr(name));
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
      return failure();
    lists.push_back(parser.getBuilder().getArrayAttr(axes));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseList))
    return failure();
  joined = parser.getBuilder().getArrayAttr(lists);
  return success();
}

static void printJoined(OpAsmPrinter &printer, MeshOp, ArrayAttr joined) {
  printer << '[';
  llvm::interleaveComma(joined, printer, [&](Attribute list) {
    printer << '[';
    llvm::interleaveComma(cast<ArrayAttr>(list), printer, [&](Attribute axis) {
      printer.printKeywordOrString(cast<StringAttr>(axis).getValue());
    });
    printer << ']';
  });
  printer << ']';
}

/// `[B : dp, S : tp @stream]`
static ParseResult parseRules(OpAsmParser &parser, ArrayAttr &rules) {
  SmallVector<Attribute> parsed;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&]() -> ParseResult {
            FailureOr<RuleAttr> rule = RuleAttr::parseBare(parser);
            if (failed(rule))
              return failure();
            parsed.push_back(*rule);
            return success();
          },
          " in sharding rules"))
    return failure();
  rules = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printRules(OpAsmPrinter &printer, MeshOp, ArrayAttr rules) {
  printer << '[';
  llvm::interleaveComma(rules.getAsRange<RuleAttr>(), printer,
                        [&](RuleAttr rule) { rule.printBare(printer); });
  printer << ']';
}

/// True if the op means something only on a mesh.
static bool needsMesh(Operation *op) {
  auto isSharded = [](Type type) {
    auto tensor = dyn_cast<SymTensorType>(type);
    return tensor && tensor.getSharding();
  };
  // Of an op without properties it is an attribute that is null.
  if (op->getInherentAttr("axes").value_or(Attribute()) ||
      llvm::any_of(op->getResultTypes(), isSharded))
    return true;
  if (auto shardable = dyn_cast<ShardableOpInterface>(op);
      shardable && shardable.getFactorsAttr())
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), isSharded))
        return true;
  return false;
}

/// Of several meshes each program names its own. Checked once in a module, at
/// its first mesh.
static LogicalResult verifyPrograms(MeshOp first, ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  if (*meshes.begin() != first || llvm::hasSingleElement(meshes))
    return success();
  DenseMap<StringAttr, ProgramAttr> known;
  for (auto function : module.getOps<func::FuncOp>()) {
    ProgramAttr program = getProgramAttr(function);
    if (program) {
      ProgramAttr other =
          known.try_emplace(program.getProgram(), program).first->second;
      if (other != program)
        return function.emitOpError("is part of program ")
               << program.getProgram() << " on '" << program.getMesh()
               << "', which runs on '" << other.getMesh() << "' elsewhere";
      continue;
    }
    WalkResult walked = function.walk([](Operation *op) {
      return needsMesh(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!walked.wasInterrupted())
      continue;
    InFlightDiagnostic diag = function.emitOpError("names no mesh, but the ")
                              << "module has several; say which one with "
                              << "'stg.program = #stg.program<\"NAME\" on "
                              << "@MESH>'";
    for (MeshOp mesh : meshes)
      diag.attachNote(mesh.getLoc()) << "a mesh is here";
    return diag;
  }
  return success();
}

LogicalResult MeshOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (!module)
    return success();
  if (failed(verifyPrograms(*this, module))) // mesh_op_c1
    return failure();
  LogicalResult result = success();
  auto check = [&](StringAttr name) {
    if (succeeded(result) &&
        !symbolTable.lookupSymbolIn<SymbolOp>(module, name))
      result = emitOpError("uses symbol '")
               << name.getValue()
               << "', which is not declared; declare it with 'stg.symbol @"
               << name.getValue() << "'";
  };
  for (SymExpr size : getMesh().getAxisSizes()) // mesh_op_c2
    size.walkSymbols(check);
  return result;
}

MeshOp MeshOp::lookup(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module)
    return {};
  ProgramAttr program = getProgramAttr(op);
  for (auto mesh : module.getOps<MeshOp>())
    if (!program || program.getMesh().getAttr() == mesh.getSymNameAttr())
      return mesh;
  return {};
}

MeshOp MeshOp::lookup(Operation *op, SymbolTableCollection &symbolTable) {
  ProgramAttr program = getProgramAttr(op);
  return program ? symbolTable.lookupNearestSymbolFrom<MeshOp>(
                       op, program.getMesh().getAttr())
                 : lookup(op);
}

LogicalResult ParamOp::verify() { // param_c1
  if (getParamName().empty())
    return emitOpError("expects a name for the parameter");
  if (getParamName().find_first_of(",=/") != StringRef::npos)
    return emitOpError("has the name '")
           << getParamName() << "', which may not contain ',', '=' or '/'";
  if (std::string flaw = findFlawOfName(getParamName()); !flaw.empty())
    return emitOpError("expects ") << flaw;
  return stg::detail::verifyLayout(*this, getLayout(), getType()); // param_c2
}

//===----------------------------------------------------------------------===//
// SendOp, RecvOp, ExchangeOp
//===----------------------------------------------------------------------===//

LogicalResult stg::detail::verifyMessage(Operation *op) {
  auto message = cast<MessageOpInterface>(op);
  if (message.getShift() == 0) // send_c2
    return op->emitOpError("has shift 0, which is the device itself");
  auto channel = static_cast<int64_t>(message.getChannel());
  if (channel < 0)
    return op->emitOpError("has the channel ")
           << channel << ", expected at least 0";
  if (message.getMessageTypes().empty()) // send_c3
    return op->emitOpError("expects at least one value");
  auto schedule = dyn_cast<ScheduleOp>(op->getParentOp());
  return stg::detail::verifyStride( // send_c4
      op, channel, message.getStrideAttr(),
      schedule ? std::optional(schedule.getCount()) : std::nullopt);
}

LogicalResult
stg::detail::verifyMessageAxis(Operation *op,
                               SymbolTableCollection &symbolTable) {
  StringAttr axis = cast<MessageOpInterface>(op).getAxisAttr();
  MeshOp mesh = MeshOp::lookup(op, symbolTable);
  if (mesh && !mesh.getMesh().getAxisIndex(axis)) // send_c1
    return op->emitOpError("is over '")
           << axis.getValue() << "', which is not an axis of the mesh";
  return verifyDeclaredSymbols(op, symbolTable);
}

TypeRange SendOp::getMessageTypes() { return getInputs().getTypes(); }
TypeRange RecvOp::getMessageTypes() { return getResultTypes(); }
TypeRange ExchangeOp::getMessageTypes() { return getInputs().getTypes(); }

LogicalResult ExchangeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return stg::detail::verifyMessageAxis(*this, symbolTable);
}

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return stg::detail::verifyMessageAxis(*this, symbolTable);
}

LogicalResult RecvOp::verify() { // C5
  if (static_cast<bool>(getInto()) != static_cast<bool>(getPayloadAttr()))
    return emitOpError("expects a payload with what it receives into, and only "
                       "with it");
  if (getInto() &&
      (getNumResults() != 1 || getInto().getType() != getResult(0).getType()))
    return emitOpError("receives into a value of type ")
           << getInto().getType() << ", which is not that of its only result";
  return success();
}

LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return stg::detail::verifyMessageAxis(*this, symbolTable);
}

//===----------------------------------------------------------------------===//
// Views, replicas and optimizer
//===----------------------------------------------------------------------===//

/// The type of the elements of a part of rows.
static Type getPartType(SymTensorType whole, size_t number, int64_t dim) {
  auto mixed = dyn_cast<MixedType>(whole.getElementType());
  bool isPart =
      mixed && dim + 1 == whole.getRank() && number < mixed.getTypes().size();
  return isPart ? mixed.getTypes()[number] : whole.getElementType();
}

/// Checks that `parts` joined along `dim` are `whole`.
static LogicalResult verifyParts(Operation *op, SymTensorType whole,
                                 TypeRange parts, int64_t dim) {
  if (dim < 0 || dim >= whole.getRank())
    return op->emitOpError("has dimension ")
           << dim << ", the tensor has rank " << whole.getRank();
  SymExpr total = SymExpr::get(op->getContext(), 0);
  SmallVector<DimAttr> cut;
  for (auto [number, type] : llvm::enumerate(parts)) {
    auto part = cast<SymTensorType>(type);
    SmallVector<DimAttr> expected(whole.getDims());
    if (part.getRank() == whole.getRank()) {
      expected[dim] = part.getDim(dim);
      cut.push_back(part.getDim(dim));
      total = total + part.getShape()[dim];
    }
    std::string what = ("part #" + Twine(number)).str();
    if (failed(checkSameShape(op->getLoc(), what, expected, part.getDims())))
      return failure();
    Type expectedType = getPartType(whole, number, dim);
    if (part.getElementType() != expectedType) // split_c1
      return op->emitOpError("part #")
             << number << " has element type " << part.getElementType()
             << ", expected " << expectedType;
  }
  if (total != whole.getShape()[dim]) // split_c2
    return op->emitOpError("has parts with extents that add up to ")
           << total.str() << " in dimension " << dim << ", expected "
           << whole.getShape()[dim].str();
  DimAttr joined = DimAttr::getJoined(cut, total);
  if (!joined.hasSameNames(whole.getDim(dim))) // split_c3
    return op->emitOpError("has parts that together are named '")
           << joined.getNamesText() << "' in dimension " << dim
           << ", expected '" << whole.getDim(dim).getNamesText() << "'";
  return success();
}

LogicalResult SplitOp::verify() {
  return verifyParts(*this, getInput().getType(), getResultTypes(), getDim());
}

LogicalResult ConcatOp::verify() {
  return verifyParts(*this, getResult().getType(), getInputs().getTypes(),
                     getDim());
}

/// Checks that `whole` is `part` with the slices along `dim` repeated.
static LogicalResult verifyReplicas(Operation *op, SymTensorType part,
                                    SymTensorType whole, int64_t dim) {
  if (dim < 0 || dim >= part.getRank())
    return op->emitOpError("has dimension ")
           << dim << ", the tensor has rank " << part.getRank();
  if (part.getElementType() != whole.getElementType())
    return op->emitOpError(
               "expects operand and result of one element type, found ")
           << op->getOperand(0).getType() << " and "
           << op->getResult(0).getType();
  SmallVector<DimAttr> expected(part.getDims()); // replicate_c1
  if (whole.getRank() == part.getRank())
    expected[dim] = expected[dim].withExtent(whole.getShape()[dim]);
  if (failed(checkSameShape(op->getLoc(), "replicated tensor", expected,
                            whole.getDims())))
    return failure();
  SymExpr slices = part.getShape()[dim], all = whole.getShape()[dim];
  SymExpr replicas = all.exactDiv(slices); // replicate_c2
  std::optional<Rational> number =
      replicas ? replicas.getConstant() : std::nullopt;
  if (!replicas || (number && !number->isInteger()))
    return op->emitOpError("makes ") << all.str() << " slices of "
                                     << slices.str() << ", expected a multiple";
  return success();
}

LogicalResult ReplicateOp::verify() {
  return verifyReplicas(*this, getInput().getType(), getType(), getDim());
}

LogicalResult ReplicateGradOp::verify() {
  return verifyReplicas(*this, getType(), getInput().getType(), getDim());
}

/// Checks that `whole` is `part` with one more dimension at `dim`.
static LogicalResult verifyBroadcast(Operation *op, SymTensorType part,
                                     SymTensorType whole, uint64_t dim) {
  if (dim >= static_cast<uint64_t>(whole.getRank()))
    return op->emitOpError("has dimension ")
           << dim << ", the tensor has rank " << whole.getRank();
  SmallVector<DimAttr> expected(whole.getDims());
  expected.erase(expected.begin() + dim);
  return checkSameShape(op->getLoc(), "tensor without the dimension", expected,
                        part.getDims());
}

LogicalResult BroadcastOp::verify() { // broadcast_c1
  Type own = getType().getElementType();
  if (getInput().getType().getElementType() != own)
    return emitOpError("has a result of element type ")
           << own << ", expected that of the operand, "
           << getInput().getType().getElementType();
  return verifyBroadcast(*this, getInput().getType(), getType(), getDim());
}

LogicalResult BroadcastGradOp::verify() { // broadcast_grad_c1
  return verifyBroadcast(*this, getType(), getInput().getType(), getDim());
}

/// True if a sequence, or a request that nothing is kept of, has fewer tokens
/// than the prefix.
static bool isCutShort(AttentionOpInterface op, Rational prefix) {
  auto isShorter = [&](SymExpr tokens) {
    std::optional<Rational> number = tokens.getConstant();
    return number && *number < prefix;
  };
  RequestsAttr requests = op.getRequestsAttr();
  if (!requests)
    return isShorter(tensorOf(op->getOperand(0)).getShape()[1]);
  return llvm::any_of(
      llvm::zip_equal(requests.getNewTokens(), requests.getCachedTokens()),
      [&](const auto &request) {
        auto [fresh, cached] = request;
        return cached.isZero() && isShorter(fresh);
      });
}

LogicalResult stg::detail::verifySpan(AttentionOpInterface op) {
  SymExpr window = op.getWindowAttr(), chunk = op.getChunkAttr();
  // One device has some of the queries.
  bool isDivided = op.getContextAttr() && op.getContextAttr().getAxes();
  if (SymExpr prefix = op.getPrefixAttr()) { // attention_c8
    if (op.getMask() != AttentionMask::Causal || window || chunk)
      return op->emitOpError("has a prefix, expected a causal mask without "
                             "window and chunk");
    std::optional<Rational> number = prefix.getConstant();
    if (number && (!number->isInteger() || *number < 1 ||
                   (!isDivided && isCutShort(op, *number))))
      return op->emitOpError("has a prefix of ")
             << prefix << " tokens, expected at least 1 and at most those of "
             << (op.getRequestsAttr() ? "each request that begins"
                                      : "the queries");
  }
  if (SymExpr size = op.getCompressedAttr()) { // attention_c10
    if (op.getMask() != AttentionMask::Causal || chunk || op.getPrefixAttr() ||
        op.getBias())
      return op->emitOpError("has keys of blocks of ")
             << size.str()
             << " tokens, expected a causal mask without chunk, prefix and "
                "bias";
  } else if (op.getPastAttr()) {
    return op->emitOpError("says how many tokens are past, and has no keys of "
                           "blocks");
  }
  if (op.getSelected() && (chunk || op.getPrefixAttr() || // attention_c9
                           (window && !op.getCompressedAttr())))
    return op->emitOpError("has selected keys and a ")
           << (window  ? "window"
               : chunk ? "chunk"
                       : "prefix")
           << ", expected one of them";
  if (window && chunk) // attention_c5
    return op->emitOpError("has a window and a chunk, expected one of them");
  SymExpr bound = window ? window : chunk;
  if (!bound)
    return success();
  if (isNoCount(bound))
    return op->emitOpError("has a ")
           << (window ? "window" : "chunk") << " of " << bound.str()
           << " tokens, expected at least 1";
  SymExpr queries = tensorOf(op->getOperand(0)).getShape()[1];
  SymExpr keys = tensorOf(op->getOperand(1)).getShape()[1];
  if (op.getMask() == AttentionMask::Causal || queries == keys || isDivided ||
      op.getFullCount()) // attention_c6
    return success();
  return op->emitOpError("has ")
         << queries.str() << " queries and " << keys.str()
         << " keys, expected as many of both with a "
         << (window ? "window" : "chunk") << " and no causal mask";
}

LogicalResult AttentionGradOp::verify() {
  return stg::detail::verifySpan(*this);
}

#define GET_OP_CLASSES
#include "stg/Dialect/STG/IR/STGOps.cpp.inc"
