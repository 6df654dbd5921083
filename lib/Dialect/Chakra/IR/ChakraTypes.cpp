//===- ChakraTypes.cpp - Types and enums of the chakra dialect ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stg;
using namespace stg::chakra;

#include "stg/Dialect/Chakra/IR/ChakraEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "stg/Dialect/Chakra/IR/ChakraAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "stg/Dialect/Chakra/IR/ChakraTypes.cpp.inc"

void ChakraDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "stg/Dialect/Chakra/IR/ChakraAttrs.cpp.inc"
      >();
}

void ChakraDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "stg/Dialect/Chakra/IR/ChakraTypes.cpp.inc"
      >();
}

/// Fails if `expr` is a constant that is negative or not an integer.
static LogicalResult verifySize(function_ref<InFlightDiagnostic()> emitError,
                                SymExpr expr, StringRef what) {
  std::optional<Rational> value = expr.getConstant();
  if (!value || (value->isInteger() && value->num >= 0))
    return success();
  return emitError() << what << " must be a non-negative integer, found '"
                     << expr.str() << "'";
}

//===----------------------------------------------------------------------===//
// KernelAttr
//===----------------------------------------------------------------------===//

Attribute KernelAttr::parse(AsmParser &parser, Type) {
  std::string op, operandType, resultType;
  SmallVector<SymExpr> sizes;
  auto parseSize = [&]() -> ParseResult {
    FailureOr<SymExpr> size = SymExpr::parse(parser);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
    return success();
  };
  if (parser.parseLess() || parser.parseKeywordOrString(&op) ||
      parser.parseKeywordOrString(&operandType) || parser.parseArrow() ||
      parser.parseKeywordOrString(&resultType) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize))
    return {};
  bool accumulates = succeeded(parser.parseOptionalComma());
  if ((accumulates && parser.parseKeyword("accumulates")) ||
      parser.parseGreater())
    return {};
  Builder builder(parser.getContext());
  return parser.getChecked<KernelAttr>(
      parser.getContext(), builder.getStringAttr(op),
      builder.getStringAttr(operandType), builder.getStringAttr(resultType),
      sizes, accumulates);
}

void KernelAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printKeywordOrString(getOp());
  printer << ' ';
  printer.printKeywordOrString(getOperandType());
  printer << " -> ";
  printer.printKeywordOrString(getResultType());
  printer << ", [";
  llvm::interleaveComma(getSizes(), printer,
                        [&](SymExpr size) { size.print(printer.getStream()); });
  printer << (getAccumulates() ? "], accumulates>" : "]>");
}

LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr, StringAttr, StringAttr,
                                 ArrayRef<SymExpr> sizes, bool) {
  if (sizes.empty()) // C2
    return emitError() << "a kernel has no sizes, expected at least one";
  for (SymExpr size : sizes) // C1
    if (std::optional<Rational> value = size.getConstant();
        value && value->num < 0)
      return emitError() << "size of a kernel must not be negative, found '"
                         << size.str() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// TensorType
//===----------------------------------------------------------------------===//

Type chakra::TensorType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  FailureOr<SymExpr> bytes = SymExpr::parse(parser);
  if (failed(bytes) || parser.parseComma())
    return {};
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<Category> category = symbolizeCategory(keyword);
  if (!category) {
    InFlightDiagnostic diag = parser.emitError(loc);
    diag << "unknown memory category '" << keyword << "', expected one of ";
    for (unsigned i = 0; i < kNumCategories; ++i)
      diag << (i ? ", " : "") << stringifyCategory(static_cast<Category>(i));
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<chakra::TensorType>(parser.getContext(), *bytes,
                                               *category);
}

void chakra::TensorType::print(AsmPrinter &printer) const {
  printer << '<';
  getBytes().print(printer.getStream());
  printer << ", " << stringifyCategory(getCategory()) << '>';
}

LogicalResult
chakra::TensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                           SymExpr bytes, Category category) {
  return verifySize(emitError, bytes, "tensor size"); // C1
}

//===----------------------------------------------------------------------===//
// StackType
//===----------------------------------------------------------------------===//

Type StackType::parse(AsmParser &parser) {
  Type element;
  if (parser.parseLess() || parser.parseType(element) || parser.parseComma())
    return {};
  FailureOr<SymExpr> count = SymExpr::parse(parser);
  if (failed(count) || parser.parseGreater())
    return {};
  return parser.getChecked<StackType>(parser.getContext(), element, *count);
}

void StackType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", ";
  getCount().print(printer.getStream());
  printer << '>';
}

LogicalResult StackType::verify(function_ref<InFlightDiagnostic()> emitError,
                                Type elementType, SymExpr count) {
  if (!isa<chakra::TensorType, StackType>(elementType)) // C1
    return emitError() << "stack element must be a tensor or a stack, found "
                       << elementType;
  return verifySize(emitError, count, "stack count"); // C2
}

chakra::TensorType StackType::getTensorType() const {
  Type element = getElementType();
  while (auto stack = dyn_cast<StackType>(element))
    element = stack.getElementType();
  return cast<chakra::TensorType>(element);
}

SymExpr StackType::getBytes() const {
  return getTotalBytes(getElementType()) * getCount();
}

SymExpr chakra::getTotalBytes(Type type) {
  if (auto stack = dyn_cast<StackType>(type))
    return stack.getBytes();
  if (auto tensor = dyn_cast<chakra::TensorType>(type))
    return tensor.getBytes();
  return SymExpr::get(type.getContext(), 0);
}
