//===- SymExprTest.cpp - Tests of symbolic expressions --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Sym/IR/SymExpr.h"
#include "stg/Dialect/STG/IR/STG.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace stg;
using llvm::DynamicAPInt;

namespace stg {
/// Lets gtest show expressions instead of bytes.
static void PrintTo(SymExpr expr, std::ostream *os) {
  *os << (expr ? expr.str() : "null");
}
} // namespace stg

namespace {

using Status = CompiledExprs::Status;

class SymExprTest : public ::testing::Test {
protected:
  SymExprTest() { context.loadDialect<STGDialect>(); }

  SymExpr number(int64_t value) { return SymExpr::get(&context, value); }
  SymExpr symbol(StringRef name) { return SymExpr::getSymbol(&context, name); }
  StringAttr name(StringRef name) { return StringAttr::get(&context, name); }

  /// The expression that `text` stands for; null, and a failure, on an error.
  SymExpr parse(StringRef text) {
    llvm::Expected<SymExpr> expr = SymExpr::parse(&context, text);
    if (expr)
      return *expr;
    ADD_FAILURE() << text.str() << ": " << llvm::toString(expr.takeError());
    return {};
  }

  /// What is wrong with `text`.
  std::string getError(StringRef text) {
    llvm::Expected<SymExpr> expr = SymExpr::parse(&context, text);
    return expr ? "parsed as " + expr->str() : llvm::toString(expr.takeError());
  }

  std::string roundTrip(StringRef text) { return parse(text).str(); }

  CompiledExprs::Result evaluate(SymExpr expr, ArrayRef<int64_t> values) {
    SmallVector<StringAttr> symbols;
    expr.walkSymbols([&](StringAttr symbol) { symbols.push_back(symbol); });
    return CompiledExprs(expr, symbols).evaluate(0, values);
  }
  CompiledExprs::Result evaluate(StringRef text, ArrayRef<int64_t> values) {
    return evaluate(parse(text), values);
  }

  MLIRContext context;
};

std::string repeat(StringRef text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

//===----------------------------------------------------------------------===//
// Rational
//===----------------------------------------------------------------------===//

Rational ratio(int64_t num, int64_t den) {
  return Rational(DynamicAPInt(num), DynamicAPInt(den));
}

TEST(RationalTest, IsInLowestTermsWithPositiveDenominator) {
  EXPECT_TRUE(ratio(6, -4) == ratio(-3, 2));
  EXPECT_TRUE(ratio(0, -7) == Rational(0));
  EXPECT_TRUE(ratio(4, 2).isInteger());
}

TEST(RationalTest, Computes) {
  EXPECT_TRUE(ratio(1, 2) + ratio(1, 3) == ratio(5, 6));
  EXPECT_TRUE(ratio(1, 2) - ratio(1, 3) == ratio(1, 6));
  EXPECT_TRUE(ratio(2, 3) * ratio(3, 4) == ratio(1, 2));
  EXPECT_TRUE(ratio(1, 2) / ratio(-1, 3) == ratio(-3, 2));
  EXPECT_TRUE(ratio(1, 3) < ratio(1, 2));
  EXPECT_TRUE(ratio(-1, 2) < ratio(-1, 3));
  EXPECT_TRUE(ratio(1, 2) != ratio(1, 3));
}

TEST(RationalTest, Exceeds64Bits) {
  Rational big(std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(big * big / big == big);
  EXPECT_TRUE(Rational(0) - big - Rational(1) ==
              Rational(std::numeric_limits<int64_t>::max()));
}

//===----------------------------------------------------------------------===//
// Canonical form and printing
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, PrintsCanonicalText) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"7", "7"},
      {"-7", "-7"},
      {"B", "B"},
      {"-B", "-B"},
      {"S*B", "B*S"},
      {"B*S*D*2/(dp*tp)", "2*B*D*S/(dp*tp)"},
      {"B*S/tp/dp", "B*S/(dp*tp)"},
      {"B*S/(tp*2)", "B*S/(2*tp)"},
      {"(2*K + H)/tp", "(H + 2*K)/tp"},
      {"H/tp + 2*K/tp", "(H + 2*K)/tp"},
      {"B/2 + S/2", "(B + S)/2"},
      {"1/2 + B/2", "(B + 1)/2"},
      {"-B/2 - S/2", "(-B - S)/2"},
      {"B/2 + S/3", "B/2 + S/3"},
      {"B/tp + 1", "B/tp + 1"},
      {"1 + B", "B + 1"},
      {"1 - B", "-B + 1"},
      {"S*S", "S*S"},
      {"S*S/(tp*tp)", "S*S/(tp*tp)"},
      {"1/tp", "1/tp"},
      {"-3/(2*tp)", "-3/(2*tp)"},
      {"S + S*S + S*B", "B*S + S*S + S"},
      {"4/6", "2/3"},
      {"((B))", "B"},
      {"B - (S - 1)", "B - S + 1"},
      {"a.b$1*_x", "_x*a.b$1"},
      {"ceildiv(S,2)", "ceildiv(S, 2)"},
      {"ceildiv(S,2)*B", "B*ceildiv(S, 2)"},
      {"S/ceildiv(S,2)", "S/ceildiv(S, 2)"},
      {"max(S,3,B) - min(B,S)", "-min(B, S) + max(B, S, 3)"},
      {"123456789012345678901234567890*B", "123456789012345678901234567890*B"},
  };
  for (auto [text, expected] : cases)
    EXPECT_EQ(roundTrip(text), expected.str()) << "from " << text.str();
}

TEST_F(SymExprTest, FoldsToOnePointer) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"B - B", "0"},
      {"B*0", "0"},
      {"B/B", "1"},
      {"(B + S)*(B - S)", "B*B - S*S"},
      {"(B*B - S*S)/(B - S)", "B + S"},
      {"(H*E + 2*K*E)/(H + 2*K)", "E"},
      {"(B/tp + S/tp)/(B + S)", "1/tp"},
      {"(B + S)*(B + S)/(2*B + 2*S)", "B/2 + S/2"},
      {"18446744073709551616*B/4294967296", "4294967296*B"},
      {"9223372036854775808 - 1", "9223372036854775807"},
  };
  for (auto [lhs, rhs] : cases)
    EXPECT_EQ(parse(lhs), parse(rhs));
}

TEST_F(SymExprTest, OrderDoesNotDependOnCreation) {
  StringRef text = "max(z, y*y, ceildiv(x, w)) + z*y/x + y*w - min(w, x) - 3";
  auto print = [&](ArrayRef<StringRef> names) {
    MLIRContext other;
    other.loadDialect<STGDialect>();
    for (StringRef name : names)
      SymExpr::getSymbol(&other, name);
    return llvm::cantFail(SymExpr::parse(&other, text)).str();
  };
  EXPECT_EQ(print({"w", "x", "y", "z"}), print({"z", "y", "x", "w"}));
}

TEST_F(SymExprTest, HashAndEqualityIgnoreRepresentation) {
  SymExpr big = parse("18446744073709551616");
  EXPECT_EQ(big - big + 5, number(5));
  EXPECT_EQ(big * big, parse("340282366920938463463374607431768211456"));
  EXPECT_EQ((big * big).exactDiv(big), big);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, FunctionsFold) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"ceildiv(7, 2)", "4"},
      {"ceildiv(-7, 2)", "-3"},
      {"ceildiv(7, -2)", "-3"},
      {"ceildiv(0, S)", "0"},
      {"ceildiv(S, 1)", "S"},
      {"ceildiv(S/tp, 1)", "S/tp"},
      {"ceildiv(6*S + 6*B, 2*B + 2*S)", "3"},
      {"min(3, 5)", "3"},
      {"max(3, 5)", "5"},
      {"min(B, B)", "B"},
      {"min(S, B, min(B, D))", "min(B, D, S)"},
      {"max(3, S, max(5, B))", "max(B, S, 5)"},
      {"max(S, B)/max(B, S)", "1"},
      {"hits(1000, 8, 2, 4)", "684"}, // 683.59
      {"hits(8, 4, 1, 1)", "2"},
      {"hits(2, 4, 1, 1)", "1"}, // Up from a half.
      {"hits(-2, 4, 1, 1)", "-1"},
      {"hits(1000, 8, 8, 1)", "1000"},
      {"hits(1000, 8, 9, 1)", "1000"},
      {"hits(1000, 8, 2, 0)", "0"},
      {"hits(1000, 8, 0, 5)", "0"},
      {"hits(1000, 8, 2, 100)", "1000"},
      // A fraction with more digits than anything could hold.
      {"hits(1000000, 1000000007, 1, 1000000007)", "632121"},
  };
  for (auto [lhs, rhs] : cases)
    EXPECT_EQ(parse(lhs), parse(rhs)) << lhs.str();
}

TEST_F(SymExprTest, FunctionsStayOpaque) {
  for (StringRef text :
       {"ceildiv(S, 0)", "ceildiv(0, 0)", "ceildiv(3*S, 2*S)",
        "ceildiv(3/2, 2)", "ceildiv(S, B)", "min(1, 3/2)", "max(min(B, S), 1)",
        "min(S, S + 1)", "max(S, 0)", "hits(1, 0, 1, 1)", "hits(B, 8, 2, S)"})
    EXPECT_EQ(roundTrip(text), text.str());
}

TEST_F(SymExprTest, FunctionIsItsOwnTerm) {
  SymExpr function = parse("ceildiv(S, 2)");
  ASSERT_TRUE(function.isFunction());
  EXPECT_EQ(function.getFunctionKind(), SymFunc::CeilDiv);
  ASSERT_EQ(function.getFunctionOperands().size(), 2u);
  EXPECT_EQ(function.getFunctionOperands()[0], symbol("S"));
  ASSERT_EQ(function.getTerms().size(), 1u);
  EXPECT_EQ(function.getTerms()[0].factors[0].atom, function);
  EXPECT_EQ((function * 2).exactDiv(2), function);
  EXPECT_FALSE((function * 2).isFunction());
  EXPECT_FALSE(symbol("S").isFunction());
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, ReadsConstants) {
  EXPECT_EQ(number(5).getInt64(), 5);
  EXPECT_EQ(number(0).getInt64(), 0);
  EXPECT_EQ(parse("9223372036854775808").getInt64(), std::nullopt);
  EXPECT_EQ(parse("-9223372036854775808").getInt64(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse("1/2").getInt64(), std::nullopt);
  EXPECT_TRUE(parse("1/2").getConstant() == ratio(1, 2));
  EXPECT_FALSE(symbol("B").getConstant());
  EXPECT_TRUE(number(0).isZero() && number(0).isConstant());
  EXPECT_TRUE(number(1).isOne());
  EXPECT_FALSE(number(0).isOne() || number(2).isOne() || symbol("B").isOne());
}

TEST_F(SymExprTest, ReadsSymbols) {
  EXPECT_EQ(symbol("B").getAsSymbol(), name("B"));
  for (StringRef text : {"2*B", "B*B", "B*S", "B + 1", "1/B", "1", "max(B, S)"})
    EXPECT_FALSE(parse(text).getAsSymbol()) << text.str();

  std::string walked;
  parse("z*ceildiv(y, max(x, z*b)) + a").walkSymbols([&](StringAttr symbol) {
    walked += symbol.getValue();
  });
  EXPECT_EQ(walked, "abxyz");
  EXPECT_TRUE(parse("ceildiv(B, 2)").usesSymbol(name("B")));
  EXPECT_FALSE(parse("ceildiv(B, 2)").usesSymbol(name("S")));
}

TEST_F(SymExprTest, PrintsToStreamsAndDiagnostics) {
  SymExpr expr = parse("B + 1");
  std::string text;
  llvm::raw_string_ostream(text)
      << expr << ' ' << SymExpr() << ' ' << Attribute(expr);
  EXPECT_EQ(text, "B + 1 <<null expression>> #sym.expr<B + 1>");
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  emitError(UnknownLoc::get(&context)) << "found '" << expr << "'";
  EXPECT_EQ(message, "found 'B + 1'");
}

//===----------------------------------------------------------------------===//
// Division and substitution
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, DividesExactlyOrNotAtAll) {
  EXPECT_FALSE(symbol("B").exactDiv(number(0)));
  EXPECT_FALSE(symbol("B").exactDiv(0));
  EXPECT_FALSE(number(1).exactDiv(parse("B + C")));
  EXPECT_FALSE(parse("B*B + 1").exactDiv(parse("B + 1")));
  EXPECT_FALSE(parse("B*C + 1").exactDiv(parse("B + C")));
  EXPECT_EQ(number(0).exactDiv(parse("B + C")), number(0));
  EXPECT_EQ(symbol("B").exactDiv(2), parse("B/2"));
  EXPECT_EQ(parse("B*B*B - 1").exactDiv(parse("B - 1")), parse("B*B + B + 1"));
  EXPECT_EQ(parse("1/B - 1/C").exactDiv(parse("C - B")), parse("1/(B*C)"));
}

TEST_F(SymExprTest, SubstitutesInDenominators) {
  SymBinding binding;
  binding[name("x")] = parse("a + b");
  EXPECT_EQ(parse("(a*c + b*c)/x").substitute(binding), symbol("c"));
  EXPECT_EQ(parse("(a + b)*(a + b)/(x*x) + x").substitute(binding),
            parse("a + b + 1"));
  EXPECT_FALSE(parse("a/x").substitute(binding));
  EXPECT_FALSE(parse("(a + b)/x + 1/x").substitute(binding));
  binding[name("y")] = parse("c + d");
  EXPECT_EQ(parse("(a + b)*(c + d)/(x*y)").substitute(binding), number(1));
  binding[name("x")] = number(0);
  EXPECT_FALSE(parse("a/x").substitute(binding));
  EXPECT_EQ(parse("a*x + 1").substitute(binding), number(1));
}

TEST_F(SymExprTest, SubstitutesInFunctions) {
  SymBinding binding;
  binding[name("S")] = number(7);
  EXPECT_EQ(parse("B*ceildiv(S, 2)").substitute(binding), parse("4*B"));
  EXPECT_EQ(parse("max(S, B, 9)/S").substitute(binding), parse("max(B, 9)/7"));
  EXPECT_EQ(parse("ceildiv(B, 2)").substitute(binding), parse("ceildiv(B, 2)"));
  binding[name("S")] = number(0);
  EXPECT_FALSE(parse("max(B/S, 2)").substitute(binding));
  EXPECT_EQ(parse("ceildiv(B, S)").substitute(binding), parse("ceildiv(B, 0)"));
}

TEST_F(SymExprTest, SubstitutesSimultaneously) {
  SymBinding binding;
  binding[name("a")] = symbol("b");
  binding[name("b")] = symbol("a");
  EXPECT_EQ(parse("a/b + 2*a").substitute(binding), parse("b/a + 2*b"));
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, ArithmeticOnNullIsNull) {
  SymExpr null, one = number(1);
  EXPECT_FALSE(null + one);
  EXPECT_FALSE(one - null);
  EXPECT_FALSE(null * one);
  EXPECT_FALSE(one.exactDiv(null));
  EXPECT_FALSE(null + 1);
  EXPECT_FALSE(null - 1);
  EXPECT_FALSE(null * 2);
  EXPECT_FALSE(null.exactDiv(2));
  EXPECT_FALSE(SymExpr::getFunction(SymFunc::Max, {one, null}));
}

TEST_F(SymExprTest, RepeatedSquaringEndsInNull) {
  for (StringRef text : {"2", "1/3", "B", "B + S", "ceildiv(S, 2) + 1"}) {
    SymExpr expr = parse(text);
    for (unsigned i = 0; i < 100; ++i)
      expr = expr * expr;
    EXPECT_FALSE(expr) << text.str();
  }
  SymExpr one = number(1);
  for (unsigned i = 0; i < 100; ++i)
    one = one * one;
  EXPECT_EQ(one, number(1));
}

TEST_F(SymExprTest, RepeatedSubstitutionEndsInNull) {
  for (StringRef text : {"x*x", "x*x + x + 1", "max(x + 1, 2*x)", "2*x*x"}) {
    SymBinding binding;
    SymExpr expr = parse(text);
    for (unsigned i = 0; i < 200 && expr; ++i) {
      binding[name("x")] = expr;
      expr = parse(text).substitute(binding);
    }
    EXPECT_FALSE(expr) << text.str();
  }
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, RejectsInvalidText) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"", "expected a symbol, an integer or '(' at column 1"},
      {"   ", "expected a symbol, an integer or '(' at column 4"},
      {"-", "expected a symbol, an integer or '(' at column 2"},
      {"--B", "expected a symbol, an integer or '(' at column 2"},
      {"2*-B", "expected a symbol, an integer or '(' at column 3"},
      {"B +", "expected a symbol, an integer or '(' at column 4"},
      {"B +* S", "expected a symbol, an integer or '(' at column 4"},
      {"B S", "expected the end of the expression at column 3"},
      {"B)", "expected the end of the expression at column 2"},
      {"2B", "expected the end of the expression at column 2"},
      {"0x10", "expected the end of the expression at column 2"},
      {"1.5", "expected the end of the expression at column 2"},
      {"B^2", "expected the end of the expression at column 2"},
      {"f(B)", "expected the end of the expression at column 2"},
      {"B*(S+1", "expected ')' at column 7"},
      {"B*(S,1)", "expected ')' at column 5"},
      {"B/0", "division by zero at column 2"},
      {"B/(S - S)", "division by zero at column 2"},
      {"1 + B/(B+C)", "'B' is not divisible by 'B + C' at column 6"},
      {"(B*B - 2)/(B + 1)",
       "'B*B - 2' is not divisible by 'B + 1' at column 10"},
      {"1 + ceildiv(B)", "'ceildiv' expects 2 operands, found 1 at column 5"},
      {"ceildiv(1,2,3)", "'ceildiv' expects 2 operands, found 3 at column 1"},
      {"hits(1, 2)", "'hits' expects 4 operands, found 2 at column 1"},
      {"min(B)", "'min' expects at least 2 operands, found 1 at column 1"},
      {"max(B)", "'max' expects at least 2 operands, found 1 at column 1"},
      {"max(B, 2", "expected ',' or ')' at column 9"},
      {"max()", "expected a symbol, an integer or '(' at column 5"},
      {"\xff", "expected a symbol, an integer or '(' at column 1"},
  };
  for (auto [text, message] : cases)
    EXPECT_EQ(getError(text), message.str()) << "in " << text.str();
}

TEST_F(SymExprTest, RejectsExcessiveText) {
  EXPECT_EQ(getError(repeat("(", 256) + "B" + repeat(")", 256)), "parsed as B");
  EXPECT_EQ(getError(repeat("(", 100000)),
            "expression is nested too deeply at column 258");
  EXPECT_EQ(getError(repeat("max(1,", 100000)),
            "expression is nested too deeply at column 1541");
  EXPECT_EQ(getError("B" + repeat("*B", 20000)),
            "expression is too large at column 32766");
  EXPECT_EQ(getError("1" + repeat("/B", 20000)),
            "expression is too large at column 32768");
  EXPECT_EQ(getError("B + " + repeat("7", 2000)),
            "expression is too large at column 5");
  EXPECT_EQ(getError("B" + repeat(" + B", 70000)),
            "expression is too large at column 1");
  EXPECT_EQ(getError("B" + repeat("*(B + S)", 300)),
            "expression is too large at column 1010");
  EXPECT_EQ(getError(repeat("ceildiv(B + ", 101) + "1" + repeat(", 2)", 101)),
            "expression is too large at column 1");
  std::string many = "a0";
  for (unsigned i = 1; i < 5000; ++i)
    many += "+a" + std::to_string(i);
  EXPECT_EQ(getError(many), "expression is too large at column 1");
}

TEST_F(SymExprTest, DeepestFunctionRoundTrips) {
  SymExpr expr = symbol("B");
  while (SymExpr deeper = SymExpr::getFunction(
             SymFunc::CeilDiv, {(expr + 1).exactDiv(3), number(2)}))
    expr = deeper;
  EXPECT_EQ(parse(expr.str()), expr);
}

TEST_F(SymExprTest, FunctionNamesCanBeSymbols) {
  EXPECT_EQ(roundTrip("min*max + ceildiv"), "ceildiv + max*min");
}

TEST_F(SymExprTest, ParsesInFiles) {
  for (StringRef text : {"0", "-1", "-B", "2*B*D*S/(dp*tp)", "(H + 2*K)/tp",
                         "B - 1", "ceildiv(S, 2)", "max(B, S, 3)",
                         "true*size*i32", "123456789012345678901234567890*B"}) {
    std::string attribute = ("#sym.expr<" + text + ">").str();
    EXPECT_EQ(parseAttribute(attribute, &context), parse(text));
  }
}

TEST_F(SymExprTest, ReportsErrorsInFiles) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"B/(S - S)", "division by zero"},
      {"B/(B + 1)", "'B' is not divisible by 'B + 1'"},
      {"2*-1", "expected a symbol, an integer or '('"},
      {"(B, S)", "expected ')'"},
      {"min(B)", "'min' expects at least 2 operands, found 1"},
  };
  for (auto [text, expected] : cases) {
    std::string message;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    std::string attribute = ("#sym.expr<" + text + ">").str();
    EXPECT_FALSE(parseAttribute(attribute, &context));
    EXPECT_EQ(message, expected.str());
  }
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

TEST_F(SymExprTest, Evaluates) {
  struct {
    StringRef text;
    SmallVector<int64_t> values;
    int64_t expected;
  } cases[] = {
      {"0", {}, 0},
      {"B*S/(dp*tp)", {6, 8, 4, 3}, 4},
      {"B/2 + S/2", {3, 5}, 4},
      {"B/2 + S/3 + T/6", {1, 1, 1}, 1},
      {"B/S", {-6, -3}, 2},
      {"1/S", {-1}, -1},
      {"B*B*B - 1", {-3}, -28},
      {"ceildiv(S, 4)", {9}, 3},
      {"ceildiv(S, 4)", {-9}, -2},
      {"ceildiv(S, T)", {9, -4}, -2},
      {"ceildiv(S, T)", {-9, -4}, 3},
      {"ceildiv(S, T)", {9, -1}, -9},
      {"min(B, S, 4)", {5, 7}, 4},
      {"max(B, S, 4)", {5, 7}, 7},
      {"max(B, ceildiv(S, 2))*min(B, ceildiv(S, 2))", {2, 5}, 6},
      {"hits(S, 256, 8, T)", {256000000, 128}, 251601146},
      {"hits(S, 256, 8, T)", {256000000, 16}, 101962162},
      {"hits(S, 8, 2, T)", {800000, 4}, 546875},
      {"hits(S, 256, 8, T)",
       {std::numeric_limits<int64_t>::max(), 2000},
       std::numeric_limits<int64_t>::max()},
  };
  for (auto &[text, values, expected] : cases) {
    CompiledExprs::Result result = evaluate(text, values);
    EXPECT_EQ(result.status, Status::Ok) << text.str();
    EXPECT_TRUE(result.value == expected) << text.str();
  }
}

TEST_F(SymExprTest, EvaluationReportsWhatIsNotAnInteger) {
  EXPECT_EQ(evaluate("S/2", {7}).status, Status::NotIntegral);
  EXPECT_EQ(evaluate("1/S", {0}).status, Status::DivisionByZero);
  EXPECT_EQ(evaluate("B/S", {0, 0}).status, Status::DivisionByZero);
  EXPECT_EQ(evaluate("ceildiv(B, S)", {1, 0}).status, Status::DivisionByZero);
  EXPECT_EQ(evaluate("ceildiv(S/2, 3)", {7}).status, Status::NotIntegral);
  EXPECT_EQ(evaluate("hits(1, S, 1, 1)", {0}).status, Status::DivisionByZero);
  EXPECT_EQ(evaluate("hits(1, 4, 1, S/2)", {7}).status, Status::NotIntegral);
  EXPECT_EQ(evaluate("max(S/2, 9)", {7}).status, Status::NotIntegral);
  EXPECT_EQ(evaluate("max(9*S, S/2)", {7}).status, Status::NotIntegral);
}

TEST_F(SymExprTest, EvaluatesIn128Bits) {
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t min = std::numeric_limits<int64_t>::min();
  CompiledExprs::Result square = evaluate("S*S", {max});
  EXPECT_EQ(square.status, Status::Ok);
  EXPECT_TRUE(square.value == static_cast<__int128>(max) * max);
  EXPECT_EQ(evaluate("S*S*S", {max}).status, Status::Overflow);
  EXPECT_EQ(evaluate("2*S*S", {min}).status, Status::Overflow);
  EXPECT_EQ(evaluate("S*S + S*S", {min}).status, Status::Overflow);
  EXPECT_EQ(evaluate("S*S + B*B", {min, min}).status, Status::Overflow);
  EXPECT_EQ(evaluate("1/(S*S*S)", {max}).status, Status::Overflow);
}

TEST_F(SymExprTest, EvaluatesExtremeCoefficients) {
  // Two to the power of 127, and below.
  std::string high = "170141183460469231731687303715884105728";
  __int128 lowest = static_cast<__int128>(1) << 126;
  lowest = -lowest - lowest;
  CompiledExprs::Result result = evaluate("-" + high, {});
  EXPECT_EQ(result.status, Status::Ok);
  EXPECT_TRUE(result.value == lowest);
  result = evaluate(high + " - 1", {});
  EXPECT_EQ(result.status, Status::Ok);
  EXPECT_TRUE(result.value == -(lowest + 1));
  EXPECT_EQ(evaluate(high, {}).status, Status::Overflow);
  EXPECT_EQ(evaluate("S/" + high, {0}).status, Status::Overflow);
  EXPECT_EQ(evaluate("-" + high + "/S", {-1}).status, Status::Overflow);
  EXPECT_EQ(evaluate("ceildiv(-" + high + "*S, T)", {1, -1}).status,
            Status::Overflow);
}

TEST_F(SymExprTest, CompilesSeveralExpressions) {
  SmallVector<SymExpr> exprs = {parse("ceildiv(S, 2)*B"),
                                parse("ceildiv(S, 2) + U"), number(3)};
  CompiledExprs compiled(exprs, {name("U"), name("B"), name("S")});
  EXPECT_TRUE(compiled.evaluate(0, {1, 10, 5}).value == 30);
  EXPECT_TRUE(compiled.evaluate(1, {1, 10, 5}).value == 4);
  EXPECT_TRUE(compiled.evaluate(2, {1, 10, 5}).value == 3);
  EXPECT_TRUE(compiled.evaluate(0, {1, 7, 4}).value == 14);
}

/// The nearest integer of the fraction itself, with all its digits.
static DynamicAPInt countHitsWhole(int64_t amount, int64_t buckets,
                                   int64_t chosen, int64_t draws) {
  DynamicAPInt missed(amount), all(1);
  for (int64_t i = 0; i < draws; ++i) {
    missed = missed * DynamicAPInt(buckets - chosen);
    all = all * DynamicAPInt(buckets);
  }
  DynamicAPInt hit = DynamicAPInt(amount) * all - missed;
  return floorDiv(hit * DynamicAPInt(2) + all, all * DynamicAPInt(2));
}

TEST_F(SymExprTest, HitsAreRoundedExactly) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 400; ++round) {
    // Powers of two in every second round, which have halves.
    int64_t buckets = round % 2 ? int64_t(2) << random() % 6
                                : 2 + static_cast<int64_t>(random() % 300);
    int64_t chosen = 1 + static_cast<int64_t>(random() % (buckets - 1));
    auto draws = static_cast<int64_t>(random() % (round % 3 ? 8 : 200));
    auto amount = static_cast<int64_t>(random() % (round % 5 ? 97 : 1u << 31));
    SymExpr hits =
        SymExpr::getFunction(SymFunc::Hits, {number(amount), number(buckets),
                                             number(chosen), number(draws)});
    EXPECT_TRUE(hits.getConstant()->num ==
                countHitsWhole(amount, buckets, chosen, draws))
        << amount << " " << buckets << " " << chosen << " " << draws;
  }
}

//===----------------------------------------------------------------------===//
// Properties of random expressions
//===----------------------------------------------------------------------===//

/// An expression with the value that it has by construction.
struct Sample {
  SymExpr expr;
  Rational value;
};

class SymExprPropertyTest : public SymExprTest {
protected:
  static constexpr unsigned numSymbols = 5;
  static constexpr unsigned numRounds = 300;

  unsigned choose(unsigned count) { return random() % count; }

  SymExpr getNth(unsigned index) {
    return symbol(StringRef(&"vwxyz"[index], 1));
  }

  void chooseValues() {
    for (int64_t &value : values)
      value = int64_t(choose(9)) - 2;
  }

  Sample getLeaf() {
    if (choose(3) == 0) {
      int64_t value = int64_t(choose(9)) - 4;
      return {number(value), Rational(value)};
    }
    unsigned index = choose(numSymbols);
    return {getNth(index), Rational(values[index])};
  }

  /// The values of operands must be integers; else the result is `lhs`.
  Sample getFunction(const Sample &lhs, const Sample &rhs) {
    if (!lhs.value.isInteger() || !rhs.value.isInteger())
      return lhs;
    auto function = static_cast<SymFunc>(choose(3));
    SymExpr expr = SymExpr::getFunction(function, {lhs.expr, rhs.expr});
    bool isLess = lhs.value < rhs.value;
    if (function == SymFunc::Min)
      return {expr, isLess ? lhs.value : rhs.value};
    if (function == SymFunc::Max)
      return {expr, isLess ? rhs.value : lhs.value};
    if (rhs.value.isZero())
      return lhs;
    return {expr,
            Rational(ceilDiv(lhs.value.num, rhs.value.num), DynamicAPInt(1))};
  }

  Sample getSample(unsigned depth) {
    if (depth == 0 || choose(8) == 0)
      return getLeaf();
    Sample lhs = getSample(depth - 1), rhs = getSample(depth - 1);
    switch (choose(6)) {
    case 0:
      return {lhs.expr + rhs.expr, lhs.value + rhs.value};
    case 1:
      return {lhs.expr - rhs.expr, lhs.value - rhs.value};
    case 2:
    case 3:
      return {lhs.expr * rhs.expr, lhs.value * rhs.value};
    case 4: {
      SymExpr quotient = lhs.expr.exactDiv(rhs.expr);
      if (!quotient || rhs.value.isZero())
        return lhs;
      return {quotient, lhs.value / rhs.value};
    }
    default:
      return getFunction(lhs, rhs);
    }
  }

  SymBinding bind(unsigned count) {
    SymBinding binding;
    for (unsigned i = 0; i < count; ++i)
      binding[getNth(i).getAsSymbol()] = number(values[i]);
    return binding;
  }

  CompiledExprs::Result evaluateSample(SymExpr expr) {
    SmallVector<StringAttr> symbols;
    for (unsigned i = 0; i < numSymbols; ++i)
      symbols.push_back(getNth(i).getAsSymbol());
    return CompiledExprs(expr, symbols).evaluate(0, values);
  }

  std::mt19937 random{12345};
  int64_t values[numSymbols] = {};
};

TEST_F(SymExprPropertyTest, RingLaws) {
  for (unsigned round = 0; round < numRounds; ++round) {
    chooseValues();
    SymExpr a = getSample(3).expr, b = getSample(3).expr, c = getSample(3).expr;
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ(a * b, b * a);
    EXPECT_EQ((a + b) + c, a + (b + c));
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a - b, a + b * -1);
    EXPECT_EQ(a + 0, a);
    EXPECT_EQ(a * 1, a);
    EXPECT_EQ(a * 0, number(0));
    EXPECT_EQ(a - a, number(0));
  }
}

TEST_F(SymExprPropertyTest, DivisionUndoesMultiplication) {
  for (unsigned round = 0; round < numRounds; ++round) {
    chooseValues();
    SymExpr a = getSample(3).expr, b = getSample(3).expr;
    if (!b.isZero()) {
      EXPECT_EQ((a * b).exactDiv(b), a) << a.str() << " and " << b.str();
    }
    SymExpr quotient = b.isZero() ? SymExpr() : a.exactDiv(b);
    if (quotient) {
      EXPECT_EQ(quotient * b, a);
    }
  }
}

TEST_F(SymExprPropertyTest, MinAndMaxAreLatticeOperations) {
  for (unsigned round = 0; round < numRounds; ++round) {
    chooseValues();
    SymExpr a = getSample(2).expr, b = getSample(2).expr, c = getSample(2).expr;
    for (SymFunc function : {SymFunc::Min, SymFunc::Max}) {
      auto apply = [&](SymExpr lhs, SymExpr rhs) {
        return SymExpr::getFunction(function, {lhs, rhs});
      };
      EXPECT_EQ(apply(a, b), apply(b, a));
      EXPECT_EQ(apply(apply(a, b), c), apply(a, apply(b, c)));
      EXPECT_EQ(apply(a, a), a);
    }
  }
}

TEST_F(SymExprPropertyTest, TextRoundTrips) {
  for (unsigned round = 0; round < numRounds; ++round) {
    chooseValues();
    SymExpr expr = getSample(4).expr;
    EXPECT_EQ(parse(expr.str()), expr);
    EXPECT_EQ(parseAttribute("#sym.expr<" + expr.str() + ">", &context), expr);
  }
}

TEST_F(SymExprPropertyTest, SubstitutionAndEvaluationAgree) {
  unsigned numIntegers = 0;
  for (unsigned round = 0; round < numRounds; ++round) {
    chooseValues();
    Sample sample = getSample(4);
    CompiledExprs::Result result = evaluateSample(sample.expr);
    // The sample has a value, so nothing in it can divide by zero.
    ASSERT_NE(result.status, Status::Overflow);
    ASSERT_NE(result.status, Status::DivisionByZero) << sample.expr.str();
    for (unsigned count = 0; count <= numSymbols; ++count) {
      SymExpr substituted = sample.expr.substitute(bind(count));
      ASSERT_TRUE(substituted) << sample.expr.str();
      if (count == numSymbols) {
        EXPECT_TRUE(substituted.getConstant() == sample.value);
      }
      CompiledExprs::Result after = evaluateSample(substituted);
      if (result.status == Status::Ok) {
        EXPECT_EQ(after.status, Status::Ok) << sample.expr.str();
        EXPECT_TRUE(after.value == result.value) << sample.expr.str();
      }
    }
    if (!sample.value.isInteger()) {
      EXPECT_EQ(result.status, Status::NotIntegral) << sample.expr.str();
    }
    numIntegers += result.status == Status::Ok;
  }
  EXPECT_GT(numIntegers, numRounds / 2);
}

TEST_F(SymExprPropertyTest, GarbageIsParsedOrReported) {
  StringRef alphabet[] = {"a", "b",       "2",    "+",    "-", "*", "/",
                          "(", "ceildiv", "max(", "min(", ")", ",", " "};
  for (unsigned round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned i = 0, e = choose(16); i < e; ++i)
      text += alphabet[choose(std::size(alphabet))];
    llvm::Expected<SymExpr> expr = SymExpr::parse(&context, text);
    if (expr) {
      EXPECT_EQ(parse(expr->str()), *expr) << text;
    } else {
      EXPECT_NE(llvm::toString(expr.takeError()), "") << text;
    }
  }
}

} // namespace
