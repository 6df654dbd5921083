//===- STGAssembly.cpp - Shared assembly of tensor ops --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace stg;

/// Inference looks at operands before any verifier does.
static ParseResult checkOperands(OpAsmParser &parser, SMLoc loc,
                                 const stg::detail::TensorOpTraits &traits,
                                 ValueRange operands) {
  if (traits.numOperands && *traits.numOperands != operands.size())
    return parser.emitError(loc) << "expects " << *traits.numOperands
                                 << " operands, found " << operands.size();
  if (operands.size() < traits.leastOperands)
    return parser.emitError(loc) << "expects at least " << traits.leastOperands
                                 << " operands, found " << operands.size();
  for (auto [number, operand] : llvm::enumerate(operands))
    if (!isa<SymTensorType>(operand.getType()))
      return parser.emitError(loc)
             << "operand #" << number << " has type " << operand.getType()
             << ", expected !stg.tensor";
  return success();
}

ParseResult stg::detail::parseOrigin(OpAsmParser &parser, OriginAttr &origin) {
  // The attribute's own text is looked at first, as nothing else starts so.
  Attribute attr;
  if (failed(parser.parseOptionalLess()))
    return success();
  attr = OriginAttr::parseRest(parser);
  origin = dyn_cast_or_null<OriginAttr>(attr);
  return success(static_cast<bool>(origin));
}

void stg::detail::printOrigin(OpAsmPrinter &p, Operation *, OriginAttr origin) {
  if (!origin)
    return;
  p << ' ';
  origin.print(p);
}

/// Ops without result type inference need `-> types`, ops without operands
/// write their result types in the place of the operand types.
ParseResult stg::detail::parseTensorOpParts(OpAsmParser &parser,
                                            OperationState &result,
                                            const TensorOpTraits &traits,
                                            LeadingParser parseLeading,
                                            ResultTypeInference infer) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, resultTypes, inferred;
  if (parseLeading(parser, result.attributes))
    return failure();
  SMLoc operandsLoc = parser.getCurrentLocation();
  OriginAttr origin;
  if (parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parseOrigin(parser, origin) || parser.parseColonTypeList(types))
    return failure();
  if (origin)
    result.attributes.set(STGDialect::kOriginName, origin);
  bool written = operands.empty();
  if (written)
    resultTypes = std::move(types);
  else if (parser.resolveOperands(operands, types, operandsLoc,
                                  result.operands))
    return failure();
  if (checkOperands(parser, operandsLoc, traits, result.operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    written = true;
    if (parser.parseTypeList(resultTypes))
      return failure();
  }
  if (!written && !traits.infersResults && traits.hasResults)
    return parser.emitError(operandsLoc)
           << "expected '->' and the result types, which do not follow from "
              "the "
              "operands";
  if (failed(infer(inferred)))
    return failure();
  result.addTypes(written ? resultTypes : inferred);
  return success();
}

void stg::detail::printTensorOpParts(OpAsmPrinter &p, Operation *op,
                                     SmallVectorImpl<StringRef> &leading,
                                     bool printResultTypes) {
  if (op->getNumOperands() > 0)
    p << ' ' << op->getOperands();
  leading.push_back(STGDialect::kOriginName);
  p.printOptionalAttrDict(op->getAttrs(), leading);
  printOrigin(p, op, cast<StepOpInterface>(op).getOriginAttr());
  p << " : ";
  if (op->getNumOperands() == 0) {
    llvm::interleaveComma(op->getResultTypes(), p);
    return;
  }
  llvm::interleaveComma(op->getOperandTypes(), p);
  if (!printResultTypes)
    return;
  p << " -> ";
  llvm::interleaveComma(op->getResultTypes(), p);
}

/// What a tensor is sharded over are axes of the mesh.
static LogicalResult verifyShardingAxes(Operation *op, SymTensorType tensor,
                                        MeshOp mesh) {
  if (!mesh)
    return op->emitOpError("has a sharded value of type ")
           << tensor << ", but there is no mesh; declare one with 'stg.mesh'";
  SmallVector<ArrayAttr> all(tensor.getSharding().getDimAxes());
  all.push_back(tensor.getSharding().getPartialAxes());
  for (ArrayAttr axes : all)
    if (failed(stg::detail::verifyMeshAxes(op, mesh, axes)))
      return failure();
  return success();
}

/// Checks each symbol of a type or expression once per op.
LogicalResult
stg::detail::verifyDeclaredSymbols(Operation *op,
                                   SymbolTableCollection &symbolTable) {
  DeclarationScope scope(op);
  if (!scope.module)
    return success();
  SmallPtrSet<const void *, 16> seen;
  LogicalResult result = success();
  auto check = [&](StringAttr name) {
    if (failed(result) || !seen.insert(name.getAsOpaquePointer()).second ||
        scope.lookup<SymbolOp>(name, symbolTable))
      return;
    result = op->emitOpError("uses symbol '")
             << name.getValue()
             << "', which is not declared; declare it with 'stg.symbol @"
             << name.getValue() << "'";
  };
  // Which device it is says nothing about what a dimension is.
  auto checkNames = [&](DimAttr dim) {
    for (StringAttr name : dim.getNames()) {
      auto symbol = symbolTable.lookupSymbolIn<SymbolOp>(scope.module, name);
      if (succeeded(result) && symbol && symbol.getCoordinate())
        result = op->emitOpError("has a dimension named '")
                 << name.getValue() << "', which is a coordinate; write its "
                 << "name, as in 'NAME = " << dim.getExtent() << "'";
    }
  };
  auto checkType = [&](Type type) {
    auto tensor = dyn_cast<SymTensorType>(type);
    if (!tensor || !seen.insert(tensor.getAsOpaquePointer()).second)
      return;
    for (DimAttr dim : tensor.getDims()) {
      if (!seen.insert(dim.getAsOpaquePointer()).second)
        continue;
      dim.getExtent().walkSymbols(check);
      checkNames(dim);
    }
    if (succeeded(result) && tensor.getSharding())
      result = verifyShardingAxes(op, tensor, MeshOp::lookup(op, symbolTable));
  };
  // Types of results are checked at the op that makes them, where it is ours.
  // Most dimensions of a result are those of operands.
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || def->getDialect() != op->getDialect())
      checkType(operand.getType());
    else if (auto tensor = dyn_cast<SymTensorType>(operand.getType());
             tensor && !tensor.getSharding() &&
             seen.insert(tensor.getAsOpaquePointer()).second)
      for (DimAttr dim : tensor.getDims())
        seen.insert(dim.getAsOpaquePointer());
  }
  for (Type type : op->getResultTypes())
    checkType(type);
  auto checkAttr = [&](Attribute attr) {
    if (auto expr = dyn_cast_or_null<SymExpr>(attr))
      expr.walkSymbols(check);
    else if (auto dim = dyn_cast_or_null<DimAttr>(attr))
      dim.getExtent().walkSymbols(check);
    else if (auto user = dyn_cast_or_null<SymbolUserAttrInterface>(attr);
             user && succeeded(result))
      result = user.verifySymbolUses(op, symbolTable);
  };
  // One by one: all as one dictionary would have to be made for each op.
  for (StringAttr name : op->getName().getAttributeNames())
    if (std::optional<Attribute> attr = op->getInherentAttr(name))
      checkAttr(*attr);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (isa<SymExpr, DimAttr>(attr.getValue()))
      checkAttr(attr.getValue());
  return result;
}

LogicalResult stg::detail::verifyMeshAxes(Operation *op, MeshOp mesh,
                                          ArrayAttr axes) {
  return verifyMeshAxes(
      op, mesh,
      llvm::to_vector_of<StringAttr, 4>(axes.getAsRange<StringAttr>()));
}

LogicalResult stg::detail::verifyMeshAxes(Operation *op, MeshOp mesh,
                                          ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes)
    if (!mesh.getMesh().getAxisIndex(axis)) {
      InFlightDiagnostic diag = op->emitOpError("uses mesh axis '")
                                << axis.getValue()
                                << "', which the mesh does not have";
      diag.attachNote(mesh.getLoc()) << "mesh declared here";
      return diag;
    }
  return success();
}

ParseResult stg::detail::parseStringLeading(OpAsmParser &parser,
                                            NamedAttrList &attrs,
                                            StringRef name) {
  StringAttr value;
  return parser.parseAttribute(value, parser.getBuilder().getType<NoneType>(),
                               name, attrs);
}

ParseResult stg::detail::parseExprLeading(OpAsmParser &parser,
                                          NamedAttrList &attrs,
                                          StringRef name) {
  FailureOr<SymExpr> value = SymExpr::parse(parser);
  if (failed(value))
    return failure();
  attrs.set(name, *value);
  return success();
}

ParseResult stg::detail::parseDimensionLeading(OpAsmParser &parser,
                                               NamedAttrList &attrs,
                                               StringRef name) {
  FailureOr<DimAttr> value = DimAttr::parseInline(parser);
  if (failed(value))
    return failure();
  attrs.set(name, *value);
  return success();
}

ParseResult stg::detail::parseTypeLeading(OpAsmParser &parser,
                                          NamedAttrList &attrs,
                                          StringRef name) {
  Type type;
  if (parser.parseType(type))
    return failure();
  attrs.set(name, TypeAttr::get(type));
  return success();
}

ParseResult stg::detail::parseIntLeading(OpAsmParser &parser,
                                         NamedAttrList &attrs,
                                         StringRef keyword) {
  int64_t value = 0;
  if (parser.parseKeyword(keyword) || parser.parseInteger(value))
    return failure();
  attrs.set(keyword, parser.getBuilder().getI64IntegerAttr(value));
  return success();
}

ParseResult stg::detail::parseUnitLeading(OpAsmParser &parser,
                                          NamedAttrList &attrs,
                                          StringRef keyword) {
  if (succeeded(parser.parseOptionalKeyword(keyword)))
    attrs.set(keyword, parser.getBuilder().getUnitAttr());
  return success();
}

ParseResult stg::detail::parseAxesLeading(OpAsmParser &parser,
                                          NamedAttrList &attrs,
                                          StringRef name) {
  ArrayAttr axes;
  if (parser.parseKeyword("over") ||
      parser.parseAttribute(axes, parser.getBuilder().getType<NoneType>(), name,
                            attrs))
    return failure();
  return success();
}

template <typename AttrTy>
static AttrTy getDeclared(Operation *op, StringRef name) {
  return llvm::cast_or_null<AttrTy>(
      op->getInherentAttr(name).value_or(Attribute()));
}

void stg::detail::printStringLeading(OpAsmPrinter &p, Operation *op,
                                     StringRef name) {
  p << ' ' << getDeclared<StringAttr>(op, name);
}

void stg::detail::printExprLeading(OpAsmPrinter &p, Operation *op,
                                   StringRef name) {
  p << ' ';
  getDeclared<SymExpr>(op, name).print(p.getStream());
}

void stg::detail::printDimensionLeading(OpAsmPrinter &p, Operation *op,
                                        StringRef name) {
  p << ' ';
  getDeclared<DimAttr>(op, name).printInline(p.getStream());
}

void stg::detail::printTypeLeading(OpAsmPrinter &p, Operation *op,
                                   StringRef name) {
  p << ' ' << getDeclared<TypeAttr>(op, name).getValue();
}

void stg::detail::printIntLeading(OpAsmPrinter &p, Operation *op,
                                  StringRef keyword) {
  p << ' ' << keyword << ' ' << getDeclared<IntegerAttr>(op, keyword).getInt();
}

void stg::detail::printUnitLeading(OpAsmPrinter &p, Operation *op,
                                   StringRef keyword) {
  if (getDeclared<UnitAttr>(op, keyword))
    p << ' ' << keyword;
}

void stg::detail::printAxesLeading(OpAsmPrinter &p, Operation *op,
                                   StringRef name) {
  p << " over " << getDeclared<ArrayAttr>(op, name);
}
