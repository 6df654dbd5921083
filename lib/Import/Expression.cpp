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
#include "llvm/Support/MathExtras.h"
#include <cmath>

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
  bool evaluateExtreme(const Expression &expr, ArrayRef<Value> operands,
                       Value &value);
  bool evaluatePart(const Expression &expr, ArrayRef<Value> operands,
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

bool Evaluator::evaluatePart(const Expression &expr, ArrayRef<Value> operands,
                             Value &value) {
  const Value &factor = operands[1];
  if (factor.isNull() || operands[0].isNull())
    return true;
  double number = factor.kind == Value::Int ? static_cast<double>(factor.number)
                                            : factor.real;
  bool isPart = expr.text == "part";
  int64_t most = isPart ? 1 : 1024;
  // Written so that NaN fails.
  if (operands[0].kind != Value::Int ||
      !(number > 0 && number <= static_cast<double>(most)))
    return fail(expr, factor.str() + " is no " +
                          (isPart ? "part" : "multiple") + " of " +
                          operands[0].str() +
                          ", expected more than 0 and at most " + Twine(most));
  double product = std::floor(static_cast<double>(operands[0].number) * number);
  if (!(product >= 1))
    return fail(expr, "no element is left of " + operands[0].str());
  // Doubles below are integers of 64 bits.
  if (!(product < 0x1p63))
    return fail(expr,
                operands[0].str() + " times " + factor.str() + " is too large");
  value = Value::getInt(static_cast<int64_t>(product));
  return true;
}

bool Evaluator::evaluateCall(const Expression &expr, Value &value) {
  std::vector<Value> operands;
  if (!evaluateAll(expr, operands))
    return false;
  value = Value();
  StringRef name = expr.text;
  if (name == "min" || name == "max")
    return evaluateExtreme(expr, operands, value);
  auto isList = [&](size_t index) {
    return operands[index].kind == Value::List;
  };
  if (name == "len" && operands.size() == 1) {
    if (isList(0))
      value = Value::getInt(operands[0].list.size());
    else if (operands[0].kind == Value::Text)
      value = Value::getInt(operands[0].text.size());
    else if (operands[0].kind == Value::Object)
      value = Value::getInt(operands[0].members.size());
    return true;
  }
  if (name == "count" && operands.size() == 2) {
    value = Value::getInt(llvm::count(operands[0].list, operands[1]));
    return true;
  }
  // The first elements of a list, as many as are asked for.
  if (name == "take" && operands.size() == 2 &&
      operands[1].kind == Value::Int && operands[1].number >= 0) {
    if (isList(0))
      value = Value::getList(std::vector<Value>(
          operands[0].list.begin(),
          operands[0].list.begin() +
              std::min<uint64_t>(operands[1].number, operands[0].list.size())));
    return true;
  }
  // One text of texts and numbers.
  if (name == "join") {
    std::string text;
    for (const Value &operand : operands)
      text += operand.kind == Value::Text ? operand.text : operand.str();
    value = Value::getText(text);
    return true;
  }
  // The part of a size that a factor of at most one takes, rounded down.
  if ((name == "part" || name == "times") && operands.size() == 2)
    return evaluatePart(expr, operands, value);
  // The first element that is none of those of the second list.
  if (name == "other" && operands.size() == 2) {
    auto letters = [](const Value &whole) {
      std::vector<Value> list = whole.list;
      for (char c : whole.kind == Value::Text ? whole.text : std::string())
        list.push_back(Value::getText(StringRef(&c, 1)));
      return list;
    };
    for (const Value &element : letters(operands[0]))
      if (!is_contained(operands[1].list, element)) {
        value = element;
        break;
      }
    return true;
  }
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
  if (name == "starts" && operands.size() == 2) {
    value = Value::getBool(
        StringRef(operands[0].text).starts_with(operands[1].text));
    return true;
  }
  return fail(expr, "there is no function '" + name + "' of " +
                        Twine(operands.size()) + " such operands");
}

bool stg::importer::evaluate(const Expression &expression, Lookup lookup,
                             Complaint complain, Value &value) {
  return Evaluator(lookup, complain).evaluate(expression, value);
}
