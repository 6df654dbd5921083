//===- ImportTest.cpp - Values, expressions and layers of configurations --===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/Expression.h"
#include "stg/Import/LayerList.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <random>

using namespace llvm;
using namespace stg::importer;

namespace {

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

void expand(ArrayRef<LayerLoop> loops, std::vector<unsigned> &kinds) {
  for (const LayerLoop &loop : loops)
    for (int64_t i = 0; i < loop.count; ++i) {
      if (loop.isLeaf())
        kinds.push_back(loop.kind);
      expand(loop.body, kinds);
    }
}

/// `2a (1b 1c)*3`.
std::string print(ArrayRef<LayerLoop> loops) {
  SmallVector<std::string> parts;
  for (const LayerLoop &loop : loops)
    parts.push_back(
        loop.isLeaf()
            ? std::to_string(loop.count) + static_cast<char>('a' + loop.kind)
            : "(" + print(loop.body) + ")*" + std::to_string(loop.count));
  return join(parts, " ");
}

std::string findLoops(StringRef letters) {
  std::vector<unsigned> kinds, again;
  for (char c : letters)
    kinds.push_back(c - 'a');
  std::vector<LayerLoop> loops = stg::importer::findLoops(kinds);
  expand(loops, again);
  EXPECT_EQ(kinds, again) << letters.str();
  return print(loops);
}

TEST(LayerList, Runs) {
  EXPECT_EQ(findLoops(""), "");
  EXPECT_EQ(findLoops("a"), "1a");
  EXPECT_EQ(findLoops("aaaa"), "4a");
  EXPECT_EQ(findLoops("aaabb"), "3a 2b");
  EXPECT_EQ(findLoops("aaabbc"), "3a 2b 1c");
}

TEST(LayerList, Periods) {
  EXPECT_EQ(findLoops("abab"), "(1a 1b)*2");
  EXPECT_EQ(findLoops("aaaaabaaaaabaaaaabaa"), "(5a 1b)*3 2a");
  EXPECT_EQ(findLoops("abcbabcb"), "(1a 1b 1c 1b)*2");
  EXPECT_EQ(findLoops("aabababa"), "2a (1b 1a)*3");
  // Attention at 9, 18 and 27 of 32.
  EXPECT_EQ(findLoops("aaaaaaaaabaaaaaaaabaaaaaaaabaaaa"), "1a (8a 1b)*3 4a");
  // Periods of periods.
  EXPECT_EQ(findLoops("ababcababc"), "((1a 1b)*2 1c)*2");
}

TEST(LayerList, WhatHasNoPeriod) {
  EXPECT_EQ(findLoops("abcde"), "1a 1b 1c 1d 1e");
  EXPECT_EQ(findLoops("abbaccad"), "1a 2b 1a 2c 1a 1d");
}

TEST(LayerList, LongLists) {
  std::string letters;
  for (unsigned i = 0; i < kMaxPatternLayers; ++i)
    letters += i % 4 == 3 ? 'b' : 'a';
  EXPECT_EQ(findLoops(letters), "(3a 1b)*64");
  // Of more layers only runs are found.
  letters = std::string(9000, 'a') + "bab";
  EXPECT_EQ(findLoops(letters), "9000a 1b 1a 1b");
}

TEST(LayerList, AnyListComesBack) {
  std::mt19937 random(1);
  for (unsigned run = 0; run < 300; ++run) {
    std::string letters;
    for (unsigned i = 0, size = random() % 40; i < size; ++i)
      letters += static_cast<char>('a' + random() % (2 + run % 3));
    findLoops(letters);
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The value of an expression in which `n` is 6, `none` is null and `list` and
/// `letters` are what they are called; or what is wrong.
std::string evaluate(StringRef text) {
  Expected<Expression> expression = parseExpression(text);
  if (!expression)
    return toString(expression.takeError());
  std::string problem;
  auto lookup = [](StringRef name, Value &value) {
    value = name == "n" ? Value::getInt(6)
            : name == "list"
                ? Value::getList({Value::getInt(3), Value::getInt(4)})
            : name == "letters" ? Value::getText("M*-")
                                : Value();
    if (name == "half") {
      value.kind = Value::Real;
      value.real = 0.5;
      value.text = "0.5";
    }
    return true;
  };
  auto complain = [&](const Expression &, const Twine &text) {
    problem = text.str();
  };
  Value value;
  bool isGood = stg::importer::evaluate(*expression, lookup, complain, value);
  return isGood ? value.str() : problem;
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(evaluate("1 + 2 * 3 - 4"), "3");
  EXPECT_EQ(evaluate("(1 + 2) * 3"), "9");
  EXPECT_EQ(evaluate("n / 3 / 2"), "1");
  EXPECT_EQ(evaluate("n / 4"), "6 is not a multiple of 4");
  EXPECT_EQ(evaluate("n div 4"), "1");
  EXPECT_EQ(evaluate("(0 - 1) mod 4"), "3");
  EXPECT_EQ(evaluate("-n div 4"), "-2");
  EXPECT_EQ(evaluate("n / 0"), "6 / 0 has no value in 64 bits");
  EXPECT_EQ(evaluate("9223372036854775807 + 1"),
            "9223372036854775807 + 1 has no value in 64 bits");
  EXPECT_EQ(evaluate("ceildiv(n, 4)"), "2");
  EXPECT_EQ(evaluate("min(n, none, 4)"), "4");
  EXPECT_EQ(evaluate("max(n, 4)"), "6");
}

TEST(Expression, Decimals) {
  EXPECT_EQ(evaluate("0.5"), "0.5");
  EXPECT_EQ(evaluate("half = 0.5"), "true");
  EXPECT_EQ(evaluate("half in [0.25, 0.50]"), "true");
  EXPECT_EQ(evaluate("half = 0.25"), "false");
  EXPECT_EQ(evaluate("n = 6.0"), "true");
  EXPECT_EQ(evaluate("scaled(n, 1.5)"), "9");
  EXPECT_EQ(evaluate("1.5.5"), "'1.5.5': expected the end, found '.'");
  EXPECT_EQ(evaluate("1."), "'1.': expected the end, found '.'");
}

TEST(Expression, Parts) {
  EXPECT_EQ(evaluate("part(n, 1)"), "6");
  EXPECT_EQ(evaluate("part(n, half)"), "3");
  EXPECT_EQ(evaluate("part(n, none)"), "null");
  EXPECT_EQ(evaluate("part(n, 2)"),
            "2 is no part of 6, expected more than 0 and at most 1");
  EXPECT_EQ(evaluate("part(1, half)"), "no element is left of 1");
  EXPECT_EQ(evaluate("scaled(n, 4)"), "24");
  EXPECT_EQ(evaluate("scaled(n, half)"), "3");
  EXPECT_EQ(evaluate("scaled(n, none)"), "null");
  EXPECT_EQ(evaluate("scaled(9223372036854775807, 2)"),
            "9223372036854775807 times 2 is too large");
  EXPECT_EQ(evaluate("@'2*X'"), "2*X");
}

TEST(Expression, Logic) {
  EXPECT_EQ(evaluate("n = 6 and not n < 6 or false"), "true");
  EXPECT_EQ(evaluate("n >= 6 and n <= 6 and n != 7"), "true");
  EXPECT_EQ(evaluate("n > 6"), "false");
  EXPECT_EQ(evaluate("n and true"), "6 is neither true nor false");
  // The second is not looked at.
  EXPECT_EQ(evaluate("false and n / 4 = 1"), "false");
  EXPECT_EQ(evaluate("true or n / 4 = 1"), "true");
  EXPECT_EQ(evaluate("if n in [5, 6] then 'yes' else 'no'"), "\"yes\"");
  EXPECT_EQ(evaluate("if none then 1 else 2"), "2");
}

TEST(Expression, Null) {
  EXPECT_EQ(evaluate("none ?? n"), "6");
  EXPECT_EQ(evaluate("n ?? none"), "6");
  EXPECT_EQ(evaluate("none + 1"), "null");
  EXPECT_EQ(evaluate("none < 1"), "false");
  EXPECT_EQ(evaluate("none = null"), "true");
  EXPECT_EQ(evaluate("none[3]"), "null");
  EXPECT_EQ(evaluate("1 in none"), "false");
}

TEST(Expression, Lists) {
  EXPECT_EQ(evaluate("list[1]"), "4");
  EXPECT_EQ(evaluate("list[2]"), "element 2 of 2 is asked for, counted from 0");
  EXPECT_EQ(evaluate("letters[1]"), "\"*\"");
  EXPECT_EQ(evaluate("len(list)"), "2");
  EXPECT_EQ(evaluate("count(list, 3)"), "1");
  EXPECT_EQ(evaluate("other(list, [3])"), "4");
  EXPECT_EQ(evaluate("other(letters, ['M', '*', '-'])"), "null");
  EXPECT_EQ(evaluate("starts('gated-gelu', 'gated-')"), "true");
  EXPECT_EQ(evaluate("size(list)"),
            "there is no function 'size' of 1 such operands");
}

TEST(Expression, Syntax) {
  EXPECT_EQ(evaluate("1 +"), "'1 +': expected a value, found ''");
  EXPECT_EQ(evaluate("(1"), "'(1': expected ')', found ''");
  EXPECT_EQ(evaluate("1 2"), "'1 2': expected the end, found '2'");
  EXPECT_EQ(evaluate("'a"), "''a': a text that does not end");
  EXPECT_EQ(evaluate("if 1 then 2"),
            "'if 1 then 2': expected 'else', found ''");
  EXPECT_EQ(evaluate("@H"), "H");
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

TEST(Value, Places) {
  Value value;
  Problem problem;
  ASSERT_TRUE(parseValue("{\n  \"a\": [1,\n 2.50]}", value, problem));
  ASSERT_EQ(value.members.size(), 1u);
  EXPECT_EQ(value.members[0].place.line, 2);
  EXPECT_EQ(value.members[0].place.column, 3);
  const Value &list = value.members[0].value;
  EXPECT_EQ(list.place.column, 8);
  EXPECT_EQ(list.list[1].place.line, 3);
  EXPECT_EQ(list.list[1].place.column, 2);
  EXPECT_EQ(list.str(), "[1, 2.50]");
}

TEST(Value, Texts) {
  Value value;
  Problem problem;
  ASSERT_TRUE(parseValue("\"\\u00e9\\ud83d\\ude00\\n\"", value, problem));
  EXPECT_EQ(value.text, "\xc3\xa9\xf0\x9f\x98\x80\n");
  EXPECT_FALSE(parseValue("\"\xff\"", value, problem));
  EXPECT_EQ(problem.message, "a text that is not UTF-8");
}

} // namespace
