//===- Expression.cpp - Computes with the values of a configuration===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;
using namespace stg::importer;

void Expression::walkNames(function_ref<void(StringRef)> visit) const {
  if (kind == Name)
    visit(text);
  for (const Expression &operand : operands)
    operand.walkNames(visit);
}

namespace {
class Evaluator {
public:
  Evaluator(Lookup lookup, Complaint complain)
      : lookup(lookup), complain(complain) {}

  bool evaluate(const Expression &expr, Value &value);

private:
  bool evaluateOperator(const Expression &expr, Value &value);
  bool evaluateLogic(const Expression &expr, Value &value);
  bool evaluateArithmetic(const Expression &expr, ArrayRef<Value> operands,
                          Value &value);
  bool evaluateIndex(const Expression &expr, ArrayRef<Value> operands,
                     Value &value);
  bool evaluateCall(const Expression &expr, Value &value);
  std::optional<Value> evaluateListCall(StringRef name,
                                        ArrayRef<Value> operands);
  bool evaluateExtreme(const Expression &expr, ArrayRef<Value> operands,
                       Value &value);
  bool evaluatePart(const Expression &expr, ArrayRef<Value> operands,
                    Value &value);
  bool evaluateScaled(const Expression &expr, ArrayRef<Value> operands,
                      Value &value);
  bool evaluateSpaced(const Expression &expr, ArrayRef<Value> operands,
                      Value &value);
  bool evaluateAll(const Expression &expr, std::vector<Value> &values);
  bool evaluateFlag(const Expression &expr, bool &flag);

  bool fail(const Expression &expr, const Twine &text) {
    complain(expr, text);
    return false;
  }

  Lookup lookup;
  Complaint complain;
};
} // namespace

bool Evaluator::evaluate(const Expression &expr, Value &value) {
  switch (expr.kind) {
  case Expression::Constant:
    value = expr.value;
    return true;
  case Expression::Name:
    return lookup(expr.text, value);
  case Expression::Operator:
    return evaluateOperator(expr, value);
  case Expression::Call:
    return evaluateCall(expr, value);
  case Expression::If: {
    bool flag = false;
    return evaluateFlag(expr.operands[0], flag) &&
           evaluate(expr.operands[flag ? 1 : 2], value);
  }
  case Expression::List:
    value = Value::getList({});
    return evaluateAll(expr, value.list);
  }
  llvm_unreachable("all kinds are above");
}

bool Evaluator::evaluateAll(const Expression &expr,
                            std::vector<Value> &values) {
  for (const Expression &operand : expr.operands)
    if (!evaluate(operand, values.emplace_back()))
      return false;
  return true;
}

/// Null is false: what is not there is not asked for.
bool Evaluator::evaluateFlag(const Expression &expr, bool &flag) {
  Value value;
  if (!evaluate(expr, value))
    return false;
  if (value.kind != Value::Bool && !value.isNull())
    return fail(expr, value.str() + " is neither true nor false");
  flag = value.isTrue();
  return true;
}

bool Evaluator::evaluateLogic(const Expression &expr, Value &value) {
  bool flag = false;
  if (!evaluateFlag(expr.operands[0], flag))
    return false;
  if (expr.text == "not")
    flag = !flag;
  else if (flag == (expr.text == "and") &&
           !evaluateFlag(expr.operands[1], flag))
    return false;
  value = Value::getBool(flag);
  return true;
}

bool Evaluator::evaluateOperator(const Expression &expr, Value &value) {
  if (is_contained({"and", "or", "not"}, expr.text))
    return evaluateLogic(expr, value);
  if (expr.text == "??") {
    if (!evaluate(expr.operands[0], value))
      return false;
    return !value.isNull() || evaluate(expr.operands[1], value);
  }
  std::vector<Value> operands;
  if (!evaluateAll(expr, operands))
    return false;
  if (expr.text == "=" || expr.text == "!=") {
    value = Value::getBool((operands[0] == operands[1]) == (expr.text == "="));
    return true;
  }
  if (expr.text == "in") {
    if (operands[1].kind != Value::List && !operands[1].isNull())
      return fail(expr, operands[1].str() + " is not a list");
    value = Value::getBool(is_contained(operands[1].list, operands[0]));
    return true;
  }
  if (expr.text == "[]")
    return evaluateIndex(expr, operands, value);
  return evaluateArithmetic(expr, operands, value);
}

bool Evaluator::evaluateIndex(const Expression &expr, ArrayRef<Value> operands,
                              Value &value) {
  const Value &whole = operands[0], &index = operands[1];
  if (whole.isNull()) {
    value = Value();
    return true;
  }
  bool isText = whole.kind == Value::Text;
  if ((!isText && whole.kind != Value::List) || index.kind != Value::Int)
    return fail(expr, whole.str() + " has no element " + index.str());
  size_t size = isText ? whole.text.size() : whole.list.size();
  if (index.number < 0 || static_cast<uint64_t>(index.number) >= size)
    return fail(expr, "element " + index.str() + " of " + Twine(size) +
                          " is asked for, counted from 0");
  value = isText ? Value::getText(StringRef(whole.text).substr(index.number, 1))
                 : whole.list[index.number];
  return true;
}

/// One operator on integers; false if the result is none of 64 bits.
static bool compute(StringRef sign, int64_t a, int64_t b, int64_t &result) {
  if (sign == "+")
    return !AddOverflow(a, b, result);
  if (sign == "-")
    return !SubOverflow(a, b, result);
  if (sign == "*")
    return !MulOverflow(a, b, result);
  // Sizes are positive, but INT64_MIN div -1 would trap.
  if (b <= 0)
    return false;
  int64_t quotient = a / b, rest = a % b;
  if (rest < 0) {
    rest += b;
    --quotient;
  }
  result = sign == "mod" ? rest : quotient;
  return sign != "/" || rest == 0;
}

bool Evaluator::evaluateArithmetic(const Expression &expr,
                                   ArrayRef<Value> operands, Value &value) {
  const Value &a = operands[0], &b = operands[1];
  bool isComparison = is_contained({"<", ">", "<=", ">="}, expr.text);
  if (a.isNull() || b.isNull()) {
    value = isComparison ? Value::getBool(false) : Value();
    return true;
  }
  if (a.kind != Value::Int || b.kind != Value::Int)
    return fail(expr,
                "cannot compute " + a.str() + " " + expr.text + " " + b.str());
  if (isComparison) {
    bool isLess = a.number < b.number, isEqual = a.number == b.number;
    bool isLeft = expr.text.front() == '<';
    bool holds = isEqual ? expr.text.size() == 2 : isLess == isLeft;
    value = Value::getBool(holds);
    return true;
  }
  int64_t result = 0;
  if (compute(expr.text, a.number, b.number, result)) {
    value = Value::getInt(result);
    return true;
  }
  if (expr.text == "/" && b.number > 0)
    return fail(expr, a.str() + " is not a multiple of " + b.str());
  return fail(expr, a.str() + " " + expr.text + " " + b.str() +
                        " has no value in 64 bits");
}

bool Evaluator::evaluateExtreme(const Expression &expr,
                                ArrayRef<Value> operands, Value &value) {
  bool isMax = expr.text == "max";
  for (const Value &operand : operands) {
    if (operand.isNull())
      continue;
    if (operand.kind != Value::Int)
      return fail(expr, operand.str() + " is no integer");
    if (value.isNull() || (operand.number > value.number) == isMax)
      value = operand;
  }
  return true;
}

/// A number as it is computed with.
static std::optional<double> getNumber(const Value &value) {
  if (value.kind == Value::Int)
    return static_cast<double>(value.number);
  if (value.kind == Value::Real && std::isfinite(value.real))
    return value.real;
  return std::nullopt;
}

bool Evaluator::evaluatePart(const Expression &expr, ArrayRef<Value> operands,
                             Value &value) {
  const Value &factor = operands[1];
  if (factor.isNull() || operands[0].isNull())
    return true;
  double number = getNumber(factor).value_or(0);
  if (operands[0].kind != Value::Int || number <= 0 || number > 1)
    return fail(expr, factor.str() + " is no part of " + operands[0].str() +
                          ", expected more than 0 and at most 1");
  int64_t part = static_cast<int64_t>(
      std::floor(static_cast<double>(operands[0].number) * number));
  if (part < 1)
    return fail(expr, "no element is left of " + operands[0].str());
  value = Value::getInt(part);
  return true;
}

bool Evaluator::evaluateScaled(const Expression &expr, ArrayRef<Value> operands,
                               Value &value) {
  if (operands[0].isNull() || operands[1].isNull())
    return true;
  std::optional<double> factor = getNumber(operands[1]);
  if (operands[0].kind != Value::Int || !factor)
    return fail(expr, "cannot compute " + operands[0].str() + " times " +
                          operands[1].str());
  double product =
      std::floor(static_cast<double>(operands[0].number) * *factor);
  // Beyond that not every integer is a double.
  if (!(std::abs(product) <= 9007199254740992.0))
    return fail(expr, operands[0].str() + " times " + operands[1].str() +
                          " is too large");
  value = Value::getInt(static_cast<int64_t>(product));
  return true;
}

bool Evaluator::evaluateSpaced(const Expression &expr, ArrayRef<Value> operands,
                               Value &value) {
  if (operands[0].kind != Value::List) {
    value = operands[0];
    return true;
  }
  ArrayRef<Value> list = operands[0].list;
  int64_t count = operands[1].number, index = operands[2].number;
  if (index < 0 || index >= count)
    return fail(expr, "element " + operands[2].str() + " of " +
                          operands[1].str() + " is asked for, counted from 0");
  if (static_cast<int64_t>(list.size()) == count) {
    value = list[index];
    return true;
  }
  std::optional<double> first, last;
  if (list.size() == 2) {
    first = getNumber(list[0]);
    last = getNumber(list[1]);
  }
  if (!first || !last)
    return fail(expr, operands[0].str() + " has neither two numbers nor " +
                          operands[1].str());
  double number =
      *first + static_cast<double>(index) *
                   ((*last - *first) /
                    static_cast<double>(std::max<int64_t>(count - 1, 1)));
  // Printing rounds to the nearest decimal number.
  value.text =
      formatv("{0:f2}", count > 1 && index == count - 1 ? *last : number);
  value.kind = Value::Real;
  value.real = std::strtod(value.text.c_str(), nullptr);
  return true;
}

/// The elements of a list, or the letters of a text.
static std::vector<Value> getElements(const Value &whole) {
  std::vector<Value> list = whole.list;
  for (char c : whole.kind == Value::Text ? whole.text : std::string())
    list.push_back(Value::getText(StringRef(&c, 1)));
  return list;
}

/// Functions of lists and texts; none if there is no such function.
std::optional<Value> Evaluator::evaluateListCall(StringRef name,
                                                 ArrayRef<Value> operands) {
  Value value;
  bool isList = !operands.empty() && operands[0].kind == Value::List;
  if (name == "len" && operands.size() == 1) {
    if (isList)
      value = Value::getInt(operands[0].list.size());
    else if (operands[0].kind == Value::Text)
      value = Value::getInt(operands[0].text.size());
    else if (operands[0].kind == Value::Object)
      value = Value::getInt(operands[0].members.size());
    return value;
  }
  if (name == "count" && operands.size() == 2)
    return Value::getInt(llvm::count(operands[0].list, operands[1]));
  // The first elements of a list, as many as are asked for.
  if (name == "take" && operands.size() == 2 &&
      operands[1].kind == Value::Int && operands[1].number >= 0) {
    if (isList)
      value = Value::getList(std::vector<Value>(
          operands[0].list.begin(),
          operands[0].list.begin() +
              std::min<uint64_t>(operands[1].number, operands[0].list.size())));
    return value;
  }
  // One text of texts and numbers.
  if (name == "join") {
    std::string text;
    for (const Value &operand : operands)
      text += operand.kind == Value::Text ? operand.text : operand.str();
    return Value::getText(text);
  }
  // A symbol of the model, or an expression of some, of texts and numbers.
  if (name == "symbol") {
    std::string text;
    for (const Value &operand : operands)
      text += operand.kind == Value::Text ? operand.text : operand.str();
    return Value::getSymbol(text);
  }
  // The first element that is none of those of the second list.
  if (name == "other" && operands.size() == 2) {
    for (const Value &element : getElements(operands[0]))
      if (!is_contained(operands[1].list, element))
        return element;
    return value;
  }
  // The elements of a list, those of the second list by what stands at their
  // place in the third one.
  if (name == "renamed" && operands.size() == 3 &&
      operands[1].list.size() == operands[2].list.size()) {
    std::vector<Value> renamed = getElements(operands[0]);
    for (Value &element : renamed) {
      auto it = llvm::find(operands[1].list, element);
      if (it != operands[1].list.end())
        element = operands[2].list[it - operands[1].list.begin()];
    }
    return Value::getList(std::move(renamed));
  }
  if (name == "starts" && operands.size() == 2)
    return Value::getBool(
        StringRef(operands[0].text).starts_with(operands[1].text));
  if (name == "ends" && operands.size() == 2)
    return Value::getBool(
        StringRef(operands[0].text).ends_with(operands[1].text));
  return std::nullopt;
}

bool Evaluator::evaluateCall(const Expression &expr, Value &value) {
  std::vector<Value> operands;
  if (!evaluateAll(expr, operands))
    return false;
  value = Value();
  StringRef name = expr.text;
  if (std::optional<Value> result = evaluateListCall(name, operands)) {
    value = std::move(*result);
    return true;
  }
  if (name == "min" || name == "max")
    return evaluateExtreme(expr, operands, value);
  // The part of a size that a factor of at most one takes, rounded down.
  if (name == "part" && operands.size() == 2)
    return evaluatePart(expr, operands, value);
  // A size times any number, rounded down.
  if (name == "scaled" && operands.size() == 2)
    return evaluateScaled(expr, operands, value);
  // The number of one of so many layers: that of all, or of a list with one for
  // each, or of evenly spaced ones of which the list has the first and the
  // last.
  if (name == "spaced" && operands.size() == 3 &&
      operands[1].kind == Value::Int && operands[2].kind == Value::Int)
    return evaluateSpaced(expr, operands, value);
  if (name == "ceildiv" && operands.size() == 2 &&
      operands[0].kind == Value::Int && operands[1].kind == Value::Int &&
      operands[0].number >= 0 && operands[1].number > 0) {
    value =
        Value::getInt(divideCeil(static_cast<uint64_t>(operands[0].number),
                                 static_cast<uint64_t>(operands[1].number)));
    return true;
  }
  // The side of a square; 0 of what is none.
  if (name == "root" && operands.size() == 1 &&
      operands[0].kind == Value::Int && operands[0].number >= 0) {
    int64_t side = 0;
    while (side * side < operands[0].number && side < (1 << 20))
      ++side;
    value = Value::getInt(side * side == operands[0].number ? side : 0);
    return true;
  }
  return fail(expr, "there is no function '" + name + "' of " +
                        Twine(operands.size()) + " such operands");
}

bool stg::importer::evaluate(const Expression &expression, Lookup lookup,
                             Complaint complain, Value &value) {
  return Evaluator(lookup, complain).evaluate(expression, value);
}
