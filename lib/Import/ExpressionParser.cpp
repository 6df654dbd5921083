//===- ExpressionParser.cpp - Reads the expressions of families===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/Expression.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stg::importer;

namespace {
/// Parses by descent: each level of precedence is a function.
class ExpressionParser {
public:
  explicit ExpressionParser(StringRef text) : text(text) { next(); }

  Expected<Expression> parseAll();
  Expected<Statement> parseStatement();

private:
  Expression parseAny();
  Expression parseIf();
  Expression parseLevel(unsigned level);
  Expression parseNot();
  Expression parseUnary();
  Expression parseIndexed();
  Expression parsePrimary();
  std::vector<Expression> parseList(StringRef end);
  void parseCall(Statement &statement);
  void parseEntries(Statement &statement);

  void next();
  bool consume(StringRef spelling);
  void expect(StringRef spelling);
  std::string takeName(StringRef what);
  Variable takeVariable(StringRef what);
  void fail(const Twine &message);
  Error takeError() const { return createStringError(problem); }

  StringRef text;
  size_t at = 0;
  enum { Word, Number, Quoted, Sign, End } kind = End;
  StringRef token;
  unsigned depth = 0;
  std::string problem;
};
} // namespace

void ExpressionParser::fail(const Twine &message) {
  if (!problem.empty())
    return;
  problem = ("'" + text + "': " + message).str();
  kind = End; // So that nothing more is read.
}

void ExpressionParser::next() {
  if (!problem.empty())
    return;
  while (at < text.size() && isSpace(text[at]))
    ++at;
  StringRef rest = text.substr(at);
  kind = End;
  token = "";
  if (rest.empty())
    return;
  if (rest.front() == '\'') {
    size_t end = rest.find('\'', 1);
    if (end == StringRef::npos)
      return fail("a text that does not end");
    kind = Quoted;
    token = rest.slice(1, end);
    at += end + 1;
    return;
  }
  if (isAlpha(rest.front()) || rest.front() == '_') {
    kind = Word;
    token = rest.take_while(
        [](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  } else if (isDigit(rest.front())) {
    kind = Number;
    token = rest.take_while([](char c) { return isDigit(c); });
    StringRef behind = rest.drop_front(token.size());
    if (behind.consume_front(".") && !behind.empty() && isDigit(behind.front()))
      token = rest.drop_back(
          behind.drop_while([](char c) { return isDigit(c); }).size());
  } else {
    kind = Sign;
    token = rest.take_front(1);
    for (StringRef sign : {"??", "!=", "<=", ">="})
      if (rest.starts_with(sign))
        token = rest.take_front(2);
  }
  at += token.size();
}

bool ExpressionParser::consume(StringRef spelling) {
  if ((kind != Word && kind != Sign) || token != spelling)
    return false;
  next();
  return true;
}

void ExpressionParser::expect(StringRef spelling) {
  if (!consume(spelling))
    fail("expected '" + spelling + "', found '" + token + "'");
}

std::string ExpressionParser::takeName(StringRef what) {
  std::string name = token.str();
  if (kind != Word)
    fail("expected " + what + ", found '" + token + "'");
  next();
  return name;
}

Variable ExpressionParser::takeVariable(StringRef what) {
  Variable variable{takeName(what), std::nullopt};
  if (consume("[")) {
    variable.number = parseAny();
    expect("]");
  }
  return variable;
}

/// From the weakest to the strongest; `not` is between the second and third.
static ArrayRef<ArrayRef<StringRef>> getLevels() {
  static constexpr StringRef disjunction[] = {"or"}, conjunction[] = {"and"},
                             comparison[] = {"=", "!=", "<=", ">=",
                                             "<", ">",  "in"},
                             choice[] = {"??"}, sum[] = {"+", "-"},
                             product[] = {"*", "/", "mod", "div"};
  static constexpr ArrayRef<StringRef> levels[] = {
      disjunction, conjunction, comparison, choice, sum, product};
  return levels;
}

Expression ExpressionParser::parseAny() {
  if (++depth > 64)
    fail("is nested more than 64 levels deep");
  Expression result = consume("if") ? parseIf() : parseLevel(0);
  --depth;
  return result;
}

Expression ExpressionParser::parseIf() {
  Expression result;
  result.kind = Expression::If;
  result.operands.push_back(parseAny());
  expect("then");
  result.operands.push_back(parseAny());
  expect("else");
  result.operands.push_back(parseAny());
  return result;
}

Expression ExpressionParser::parseLevel(unsigned level) {
  if (level == getLevels().size())
    return parseUnary();
  if (level == 2 && consume("not"))
    return parseNot();
  Expression left = parseLevel(level + 1);
  while (true) {
    const StringRef *sign = find_if(
        getLevels()[level], [&](StringRef sign) { return consume(sign); });
    if (sign == getLevels()[level].end())
      return left;
    Expression both;
    both.kind = Expression::Operator;
    both.text = sign->str();
    both.operands.push_back(std::move(left));
    both.operands.push_back(parseLevel(level + 1));
    left = std::move(both);
  }
}

Expression ExpressionParser::parseNot() {
  Expression result;
  result.kind = Expression::Operator;
  result.text = "not";
  result.operands.push_back(parseLevel(2));
  return result;
}

Expression ExpressionParser::parseUnary() {
  if (!consume("-"))
    return parseIndexed();
  Expression zero, result;
  zero.value = Value::getInt(0);
  result.kind = Expression::Operator;
  result.text = "-";
  result.operands.push_back(std::move(zero));
  result.operands.push_back(parseIndexed());
  return result;
}

Expression ExpressionParser::parseIndexed() {
  Expression result = parsePrimary();
  while (consume("[")) {
    Expression indexed;
    indexed.kind = Expression::Operator;
    indexed.text = "[]";
    indexed.operands.push_back(std::move(result));
    indexed.operands.push_back(parseAny());
    expect("]");
    result = std::move(indexed);
  }
  return result;
}

std::vector<Expression> ExpressionParser::parseList(StringRef end) {
  std::vector<Expression> list;
  if (consume(end))
    return list;
  do
    list.push_back(parseAny());
  while (consume(","));
  expect(end);
  return list;
}

Expression ExpressionParser::parsePrimary() {
  Expression result;
  if (kind == Number) {
    // A decimal is the value that JSON has for it, so that keys compare with
    // it.
    int64_t number = 0;
    if (Problem reason; token.contains('.'))
      parseValue(token, result.value, reason);
    else if (token.getAsInteger(10, number))
      fail("a number that 64 bits do not hold");
    else
      result.value = Value::getInt(number);
    next();
  } else if (kind == Quoted) {
    result.value = Value::getText(token);
    next();
  } else if (consume("@")) {
    if (kind == Quoted) {
      result.value = Value::getSymbol(token);
      next();
    } else {
      result.value = Value::getSymbol(takeName("a symbol"));
    }
  } else if (consume("(")) {
    result = parseAny();
    expect(")");
  } else if (consume("[")) {
    result.kind = Expression::List;
    result.operands = parseList("]");
  } else if (consume("true")) {
    result.value = Value::getBool(true);
  } else if (consume("false")) {
    result.value = Value::getBool(false);
  } else if (consume("null")) {
    // As it is.
  } else {
    result.kind = Expression::Name;
    result.text = takeName("a value");
    if (consume("(")) {
      result.kind = Expression::Call;
      result.operands = parseList(")");
    }
  }
  return result;
}

Expected<Expression> ExpressionParser::parseAll() {
  Expression result = parseAny();
  if (kind != End)
    fail("expected the end, found '" + token + "'");
  if (!problem.empty())
    return takeError();
  return result;
}

void ExpressionParser::parseEntries(Statement &statement) {
  if (!consume("{") || consume("}"))
    return;
  do {
    Statement::Entry entry;
    entry.name = takeName("a symbol or an option");
    entry.isDimension = consume("as");
    if (!entry.isDimension)
      expect("=");
    entry.value = parseAny();
    statement.entries.push_back(std::move(entry));
  } while (consume(","));
  expect("}");
}

/// What stands behind the name of a block.
void ExpressionParser::parseCall(Statement &statement) {
  if (consume("<")) {
    statement.scope = parsePrimary();
    expect(">");
  }
  expect("(");
  if (!consume(")")) {
    do
      statement.arguments.push_back(takeVariable("an argument"));
    while (consume(","));
    expect(")");
  }
  parseEntries(statement);
}

Expected<Statement> ExpressionParser::parseStatement() {
  Statement statement;
  do
    statement.results.push_back(takeVariable("what is made"));
  while (consume(","));
  expect("=");
  Variable right = takeVariable("a block or a value");
  if (right.number || kind == End || (kind == Word && token == "if")) {
    statement.arguments.push_back(std::move(right));
  } else {
    statement.callee = std::move(right.name);
    parseCall(statement);
  }
  if (consume("if"))
    statement.condition = parseAny();
  if (kind != End)
    fail("expected the end, found '" + token + "'");
  if (!problem.empty())
    return takeError();
  return statement;
}

Expected<Expression> stg::importer::parseExpression(StringRef text) {
  return ExpressionParser(text).parseAll();
}

Expected<Statement> stg::importer::parseStatement(StringRef text) {
  return ExpressionParser(text).parseStatement();
}
