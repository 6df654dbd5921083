//===- Evaluate.cpp - Numbers from expressions, or a located error --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"

using namespace mlir;
using namespace stg::chakra;
using stg::Rational;
using stg::SymExpr;

InFlightDiagnostic stg::chakra::emitShortOpError(Operation *op) {
  return emitError(op->getLoc()) << "'" << op->getName() << "' op ";
}

/// Says which symbols have no value and how to give them one.
static LogicalResult emitUnbound(Operation *op, SymExpr expr, StringRef what) {
  SmallVector<StringAttr> symbols;
  expr.walkSymbols([&](StringAttr symbol) { symbols.push_back(symbol); });
  InFlightDiagnostic diag = emitShortOpError(op)
                            << "needs a number for its " << what << ", '"
                            << expr << "'";
  if (symbols.empty())
    return diag << ", which has no value";
  diag << ", but " << (symbols.size() == 1 ? "symbol " : "symbols ");
  llvm::interleaveComma(symbols, diag, [&](StringAttr symbol) {
    diag << "'" << symbol.strref() << "'";
  });
  diag << (symbols.size() == 1 ? " is" : " are")
       << " not bound; bind with --stg-bind=\"" << symbols.front().strref()
       << "=<number>\" (stg-compile: --set " << symbols.front().strref()
       << "=<number>)";
  return diag;
}

FailureOr<int64_t> stg::chakra::evaluate(Operation *op, SymExpr expr,
                                         StringRef what) {
  std::optional<Rational> value = expr.getConstant();
  if (!value)
    return emitUnbound(op, expr, what);
  if (!value->isInteger())
    return emitShortOpError(op)
           << "has " << what << " " << expr << ", which is not an integer";
  if (value->num < 0)
    return emitShortOpError(op)
           << "has " << what << " " << expr << ", which is negative";
  std::optional<int64_t> number = expr.getInt64();
  if (!number)
    return emitShortOpError(op) << "has " << what << " " << expr
                                << ", which does not fit in 64 bits";
  return *number;
}
