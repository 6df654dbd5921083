//===- symexpr-fuzzer.cpp - Any text as symbolic expressions --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses every line of the input as an expression. What an expression prints
// must read back as the same expression; neighbours are added, multiplied and
// divided, and the laws of arithmetic must hold; and evaluation must find what
// substitution finds.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;

/// The product of longer expressions takes long without finding more.
static constexpr size_t kMaxSize = 1024;

static void require(bool condition, const char *message) {
  if (!condition)
    llvm::report_fatal_error(message);
}

static SymExpr parse(MLIRContext *context, StringRef text) {
  llvm::Expected<SymExpr> expr = SymExpr::parse(context, text);
  if (!expr) {
    require(!llvm::toString(expr.takeError()).empty(),
            "parser fails without an error");
    return {};
  }
  require(*expr != nullptr, "parser succeeds without an expression");
  return *expr;
}

static void checkArithmetic(SymExpr a, SymExpr b) {
  require(a - a == SymExpr::get(a.getContext(), 0), "a - a is not 0");
  SymExpr sum = a + b, product = a * b;
  require(sum == b + a, "a + b is not b + a");
  require(product == b * a, "a * b is not b * a");
  if (sum)
    require(sum - b == a, "a + b - b is not a");
  if (!product || b.isZero())
    return;
  SymExpr quotient = product.exactDiv(b);
  if (quotient)
    require(quotient == a, "a * b / b is not a");
  if (sum && b.getTerms().size() == 1)
    require(quotient != nullptr, "a * b / b is no expression");
}

/// Compares `evaluate` with substituting the same values.
static void checkEvaluation(SymExpr expr) {
  SmallVector<StringAttr> symbols;
  expr.walkSymbols([&](StringAttr name) { symbols.push_back(name); });
  for (StringAttr name : symbols)
    require(expr.usesSymbol(name), "walked symbol is not used");
  CompiledExprs compiled(expr, symbols);
  for (int64_t start : {0, 1, 7, -3}) {
    SymBinding binding;
    SmallVector<int64_t> values;
    for (auto [i, name] : llvm::enumerate(symbols)) {
      values.push_back(start + static_cast<int64_t>(start * i));
      binding[name] = SymExpr::get(expr.getContext(), values.back());
    }
    CompiledExprs::Result result = compiled.evaluate(0, values);
    SymExpr bound = expr.substitute(binding);
    std::optional<int64_t> value = bound ? bound.getInt64() : std::nullopt;
    if (result.status == CompiledExprs::Status::Ok && value)
      require(result.value == *value, "evaluation differs from substitution");
    if (result.status == CompiledExprs::Status::NotIntegral && bound &&
        bound.isConstant() && bound == expr)
      require(!value, "integer is reported as not integral");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > kMaxSize)
    return -1;
  std::string text(reinterpret_cast<const char *>(data), size);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<STGDialect>();
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', /*MaxSplit=*/7);
  SymExpr previous;
  for (StringRef line : lines) {
    SymExpr expr = parse(&context, line);
    if (!expr)
      continue;
    require(parse(&context, expr.str()) == expr,
            "print reads back differently");
    checkEvaluation(expr);
    checkArithmetic(expr, previous ? previous : expr);
    previous = expr;
  }
  return 0;
}
