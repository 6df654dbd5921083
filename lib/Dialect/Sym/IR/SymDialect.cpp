//===- SymDialect.cpp - The sym dialect -----------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymExprDetail.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Operation.h"
#include "stg/Dialect/Sym/IR/Bytecode.h"
#include "stg/Dialect/Sym/IR/Sym.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stg;

#include "stg/Dialect/Sym/IR/SymDialect.cpp.inc"
#include "stg/Dialect/Sym/IR/SymEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "stg/Dialect/Sym/IR/SymAttrs.cpp.inc"

/// To be counted up, with an upgrade, when what was written before would not be
/// read or would mean something else.
static constexpr uint64_t kBytecodeVersion = 1;

void SymDialect::initialize() {
  addAttributes<SymExpr,
#define GET_ATTRDEF_LIST
#include "stg/Dialect/Sym/IR/SymAttrs.cpp.inc"
                >();
  addInterface<VersionedBytecode>(kBytecodeVersion);
}

Attribute SymDialect::parseAttribute(DialectAsmParser &parser,
                                     Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("expr"))) {
    if (parser.parseLess())
      return {};
    FailureOr<SymExpr> expr = SymExpr::parse(parser);
    if (failed(expr) || parser.parseGreater())
      return {};
    return *expr;
  }
  StringRef mnemonic;
  Attribute attr;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attr);
  if (!result.has_value())
    parser.emitError(loc) << "unknown attribute '" << mnemonic
                          << "' in dialect 'sym'";
  return attr;
}

void SymDialect::printAttribute(Attribute attr, DialectAsmPrinter &os) const {
  if (auto expr = dyn_cast<SymExpr>(attr)) {
    os << "expr<";
    expr.print(os.getStream());
    os << '>';
    return;
  }
  (void)generatedAttributePrinter(attr, os);
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<SymExpr> sizes;
  SmallVector<AxisRole> roles;
  SMLoc loc = parser.getCurrentLocation();
  auto parseRole = [&]() -> FailureOr<AxisRole> {
    StringRef keyword;
    if (failed(parser.parseOptionalColon()))
      return AxisRole::None;
    SMLoc roleLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<AxisRole> role = symbolizeAxisRole(keyword);
    if (!role)
      return parser.emitError(roleLoc)
             << "expected data, replica, context, expert, tensor, pipeline or "
                "none for the role of a mesh axis, found '"
             << keyword << "'";
    return *role;
  };
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    FailureOr<SymExpr> size = SymExpr::parse(parser);
    if (failed(size))
      return failure();
    FailureOr<AxisRole> role = parseRole();
    if (failed(role))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    sizes.push_back(*size);
    roles.push_back(*role);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis, " in mesh axes"))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), names, sizes,
                                     roles);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip_equal(getAxisNames(), getAxisSizes(), getAxisRoles()), printer,
      [&](auto axis) {
        auto [name, size, role] = axis;
        printer << name.getValue() << " = ";
        size.print(printer.getStream());
        if (role != AxisRole::None)
          printer << " : " << stringifyAxisRole(role);
      });
  printer << '>';
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> axisNames,
                               ArrayRef<SymExpr> axisSizes,
                               ArrayRef<AxisRole> axisRoles) {
  if (axisNames.size() != axisSizes.size() ||
      axisNames.size() != axisRoles.size())
    return emitError() << "expects one size and one role per mesh axis";
  SmallPtrSet<Attribute, 4> seen;
  for (auto [name, size] : llvm::zip_equal(axisNames, axisSizes)) {
    if (!seen.insert(name).second) // mesh_c1
      return emitError() << "mesh axis '" << name.getValue()
                         << "' is listed twice";
    if (!size.canBeExtent()) // mesh_c2
      return emitError() << "mesh axis '" << name.getValue() << "' has size "
                         << size << ", expected an integer of at least 1";
  }
  if (llvm::count(axisRoles, AxisRole::Pipeline) > 1) // mesh_c3
    return emitError() << "has several mesh axes with the role pipeline, "
                          "expected at most one: stages are in a row";
  return success();
}

std::optional<unsigned> MeshAttr::getAxisIndex(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getAxisNames()))
    if (axis.getValue() == name)
      return index;
  return std::nullopt;
}

SymExpr MeshAttr::getAxisSize(StringRef name) const {
  std::optional<unsigned> index = getAxisIndex(name);
  return index ? getAxisSizes()[*index] : SymExpr();
}

SymExpr MeshAttr::getGroupSize(ArrayAttr axes) const {
  SymExpr size;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    SymExpr axisSize = getAxisSize(axis);
    if (!axisSize)
      return {};
    size = size ? size * axisSize : axisSize;
  }
  return size ? size : SymExpr::get(getContext(), 1);
}

AxisRole MeshAttr::getAxisRole(StringRef name) const {
  std::optional<unsigned> index = getAxisIndex(name);
  return index ? getAxisRoles()[*index] : AxisRole::None;
}

SmallVector<StringAttr> MeshAttr::getAxes(AxisRole role) const {
  SmallVector<StringAttr> axes;
  for (auto [name, own] : llvm::zip_equal(getAxisNames(), getAxisRoles()))
    if (own == role)
      axes.push_back(name);
  return axes;
}

LogicalResult stg::detail::verifyAmong(Operation *collective,
                                       ArrayRef<int64_t> among,
                                       size_t numAxes) {
  llvm::SmallDenseSet<int64_t, 4> seen;
  for (int64_t coordinate : among)
    if (coordinate < 0 || !seen.insert(coordinate).second)
      return collective->emitOpError("is among coordinates of which ")
             << coordinate << " is negative or listed twice";
  if (numAxes != 1 || seen.size() < 2)
    return collective->emitOpError(
        "is among some coordinates, which needs one axis and at least two of "
        "them");
  return success();
}

StringAttr MeshAttr::getPipelineAxis() const {
  SmallVector<StringAttr> axes = getAxes(AxisRole::Pipeline);
  return axes.empty() ? StringAttr() : axes.front();
}

//===----------------------------------------------------------------------===//
// OrderAttr
//===----------------------------------------------------------------------===//

/// `OP at TURN [by STRIDE] [| ITEM]`.
static ParseResult parseItem(AsmParser &parser, int64_t times,
                             SmallVectorImpl<int64_t> &numbers) {
  int64_t beside = 0;
  do {
    int64_t op = 0, turn = 0, stride = times > 1;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(op) || parser.parseKeyword("at") ||
        parser.parseInteger(turn))
      return failure();
    if (op < 0 || op >= ExecutionOrder::kBeside)
      return parser.emitError(loc, "expects the number of an op of 31 bits");
    if (succeeded(parser.parseOptionalKeyword("by")) &&
        parser.parseInteger(stride))
      return failure();
    numbers.append({op + beside, turn, stride});
    beside = ExecutionOrder::kBeside;
  } while (succeeded(parser.parseOptionalVerticalBar()));
  return success();
}

Attribute OrderAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> numbers;
  SMLoc loc = parser.getCurrentLocation();
  auto parseRun = [&]() -> ParseResult {
    int64_t times = 1;
    OptionalParseResult given = parser.parseOptionalInteger(times);
    if (given.has_value() && (failed(*given) || parser.parseStar()))
      return failure();
    numbers.append({times, 0});
    size_t begin = numbers.size();
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square,
            [&] { return parseItem(parser, times, numbers); }, " in order"))
      return failure();
    numbers[begin - 1] = (numbers.size() - begin) / 3;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseRun, " in order"))
    return {};
  return parser.getChecked<OrderAttr>(loc, parser.getContext(), numbers);
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << '<';
  ExecutionOrder order = getOrder();
  llvm::interleaveComma(order.runs, printer, [&](const auto &run) {
    if (run.times > 1)
      printer << run.times << " * ";
    printer << '[';
    for (auto [number, item] : llvm::enumerate(run.items)) {
      if (number > 0)
        printer << (item.isBeside ? " | " : ", ");
      printer << item.step << " at " << item.turn;
      if (item.stride != (run.times > 1))
        printer << " by " << item.stride;
    }
    printer << ']';
  });
  printer << '>';
}

LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> numbers) {
  ExecutionOrder order;
  if (!ExecutionOrder::unflatten(numbers, order)) // order_c1
    return emitError() << "expects runs of at least one op, whose numbers and "
                          "turns have 31 bits, and at most two side by side";
  return success();
}

ExecutionOrder OrderAttr::getOrder() const {
  ExecutionOrder order;
  [[maybe_unused]] bool isGood = ExecutionOrder::unflatten(getNumbers(), order);
  assert(isGood && "an order that has been verified");
  return order;
}
