//===- Value.cpp - Values of configurations, with places===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/Value.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace stg;
using namespace stg::importer;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Value::getBool(bool value) {
  Value result;
  result.kind = Bool;
  result.flag = value;
  return result;
}

Value Value::getInt(int64_t value) {
  Value result;
  result.kind = Int;
  result.number = value;
  result.text = std::to_string(value);
  return result;
}

Value Value::getText(StringRef value) {
  Value result;
  result.kind = Text;
  result.text = value.str();
  return result;
}

Value Value::getSymbol(StringRef name) {
  Value result;
  result.kind = Symbol;
  result.text = name.str();
  return result;
}

Value Value::getList(std::vector<Value> values) {
  Value result;
  result.kind = List;
  result.list = std::move(values);
  return result;
}

const Value *Value::find(StringRef key) const {
  for (const Member &member : members)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

bool Value::operator==(const Value &other) const {
  // 1 and 1.0 are the same number.
  if (kind == Int && other.kind == Real)
    return static_cast<double>(number) == other.real;
  if (kind == Real && other.kind == Int)
    return other == *this;
  if (kind != other.kind)
    return false;
  switch (kind) {
  case Null:
    return true;
  case Bool:
    return flag == other.flag;
  case Int:
    return number == other.number;
  case Real:
    return real == other.real || (std::isnan(real) && std::isnan(other.real));
  case Text:
  case Symbol:
    return text == other.text;
  case List:
    return list == other.list;
  case Object:
    break;
  }
  if (members.size() != other.members.size())
    return false;
  return all_of(members, [&](const Member &member) {
    const Value *same = other.find(member.key);
    return same && *same == member.value;
  });
}

static void print(const Value &value, raw_ostream &os) {
  switch (value.kind) {
  case Value::Null:
    os << "null";
    return;
  case Value::Bool:
    os << (value.flag ? "true" : "false");
    return;
  case Value::Int:
  case Value::Real:
    os << value.text;
    return;
  case Value::Text:
    os << '"' << value.text << '"';
    return;
  case Value::Symbol:
    os << value.text;
    return;
  case Value::List:
    os << '[';
    interleaveComma(value.list, os,
                    [&](const Value &element) { print(element, os); });
    os << ']';
    return;
  case Value::Object:
    os << '{';
    interleaveComma(value.members, os, [&](const Member &member) {
      os << '"' << member.key << "\": ";
      print(member.value, os);
    });
    os << '}';
    return;
  }
}

std::string Value::str() const {
  std::string result;
  raw_string_ostream os(result);
  print(*this, os);
  return shortenText(result);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// A parser of JSON that knows where it is.
class JSONParser {
public:
  JSONParser(StringRef text, Problem &problem) : text(text), problem(problem) {}

  bool parseAll(Value &value);

private:
  bool parseAny(Value &value);
  bool parseObject(Value &value);
  bool parseMember(Value &value, StringSet<> &keys);
  bool parseList(Value &value);
  bool parseText(std::string &result);
  bool parseEscape(std::string &result);
  bool parseHex(unsigned &code);
  bool parseWord(Value &value);
  bool parseNumber(Value &value);

  bool fail(const Twine &message) { return failAt(at, message); }
  bool failAt(size_t position, const Twine &message);
  Place getPlace(size_t position);
  void skipSpace();
  bool consume(char c);
  std::string describeNext() const;

  StringRef text;
  Problem &problem;
  size_t at = 0;
  unsigned depth = 0;
  /// Up to where lines are counted, and the line that is there.
  size_t counted = 0, lineBegin = 0;
  int64_t line = 1;
};
} // namespace

/// Positions are asked for in ascending order.
Place JSONParser::getPlace(size_t position) {
  for (; counted < position; ++counted)
    if (text[counted] == '\n') {
      ++line;
      lineBegin = counted + 1;
    }
  return {line, static_cast<int64_t>(position - lineBegin) + 1};
}

bool JSONParser::failAt(size_t position, const Twine &message) {
  problem = {getPlace(position), message.str()};
  return false;
}

void JSONParser::skipSpace() {
  while (at < text.size() && StringRef(" \t\r\n").contains(text[at]))
    ++at;
}

bool JSONParser::consume(char c) {
  if (at >= text.size() || text[at] != c)
    return false;
  ++at;
  return true;
}

std::string JSONParser::describeNext() const {
  if (at >= text.size())
    return "the end of the text";
  return "'" + escapeText(text.substr(at, 1)) + "'";
}

bool JSONParser::parseAll(Value &value) {
  text.consume_front("\xef\xbb\xbf");
  skipSpace();
  if (!parseAny(value))
    return false;
  skipSpace();
  return at == text.size() ||
         fail("expected the end of the text, found " + describeNext());
}

bool JSONParser::parseAny(Value &value) {
  if (depth == kMaxJSONDepth)
    return fail("is nested more than " + Twine(kMaxJSONDepth) + " levels deep");
  value.place = getPlace(at);
  if (at < text.size() && text[at] == '{')
    return parseObject(value);
  if (at < text.size() && text[at] == '[')
    return parseList(value);
  if (at < text.size() && text[at] == '"') {
    value.kind = Value::Text;
    return parseText(value.text);
  }
  if (at < text.size() && (isDigit(text[at]) || text[at] == '-'))
    return parseNumber(value);
  return parseWord(value);
}

bool JSONParser::parseObject(Value &value) {
  value.kind = Value::Object;
  ++at;
  ++depth;
  StringSet<> keys;
  skipSpace();
  if (!consume('}'))
    do {
      if (!parseMember(value, keys))
        return false;
      if (consume('}'))
        break;
      if (!consume(','))
        return fail("expected ',' or '}', found " + describeNext());
    } while (true);
  --depth;
  return true;
}

bool JSONParser::parseMember(Value &value, StringSet<> &keys) {
  skipSpace();
  Member member;
  member.place = getPlace(at);
  if (at >= text.size() || text[at] != '"')
    return fail("expected a key in quotes, found " + describeNext());
  size_t begin = at;
  if (!parseText(member.key))
    return false;
  if (!keys.insert(member.key).second) {
    at = begin;
    problem = {member.place, "key '" + shortenText(member.key) +
                                 "' is there twice; which one counts depends "
                                 "on the reader"};
    return false;
  }
  skipSpace();
  if (!consume(':'))
    return fail("expected ':' after key '" + shortenText(member.key) +
                "', found " + describeNext());
  skipSpace();
  if (!parseAny(member.value))
    return false;
  skipSpace();
  value.members.push_back(std::move(member));
  return true;
}

bool JSONParser::parseList(Value &value) {
  value.kind = Value::List;
  ++at;
  ++depth;
  skipSpace();
  if (!consume(']'))
    do {
      skipSpace();
      value.list.emplace_back();
      if (!parseAny(value.list.back()))
        return false;
      skipSpace();
      if (consume(']'))
        break;
      if (!consume(','))
        return fail("expected ',' or ']', found " + describeNext());
    } while (true);
  --depth;
  return true;
}

bool JSONParser::parseText(std::string &result) {
  size_t begin = at++;
  while (at < text.size() && text[at] != '"') {
    if (static_cast<unsigned char>(text[at]) < 0x20)
      return fail("a control character in a text; write it as \\u00" +
                  toHex(text.substr(at, 1), /*LowerCase=*/true));
    if (text[at] != '\\') {
      result += text[at++];
      continue;
    }
    if (!parseEscape(result))
      return false;
  }
  if (!consume('"'))
    // Lines are counted to where the text ends; that is told, too.
    return fail("a text that does not end, begun " +
                Twine(static_cast<uint64_t>(at - begin)) + " bytes before");
  if (!json::isUTF8(result))
    return fail("a text that is not UTF-8");
  return true;
}

bool JSONParser::parseHex(unsigned &code) {
  StringRef digits = text.substr(at, 4);
  if (digits.size() < 4 || digits.getAsInteger(16, code) ||
      !all_of(digits, isHexDigit))
    return fail("expected four hexadecimal digits after \\u");
  at += 4;
  return true;
}

bool JSONParser::parseEscape(std::string &result) {
  char c = at + 1 < text.size() ? text[at + 1] : '\0';
  constexpr StringLiteral from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  if (size_t index = from.find(c); index != StringRef::npos) {
    result += to[index];
    at += 2;
    return true;
  }
  if (c != 'u')
    return fail("an escape that JSON does not have");
  at += 2;
  unsigned code = 0, low = 0;
  if (!parseHex(code))
    return false;
  if (code >= 0xd800 && code < 0xdc00 && text.substr(at).starts_with("\\u")) {
    at += 2;
    if (!parseHex(low))
      return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = bytes;
  if (!ConvertCodePointToUTF8(code, end))
    return fail("\\u does not name a character");
  result.append(bytes, end);
  return true;
}

bool JSONParser::parseWord(Value &value) {
  StringRef word =
      text.substr(at).take_while([](char c) { return isAlpha(c); });
  if (word == "true" || word == "false") {
    value.kind = Value::Bool;
    value.flag = word == "true";
  } else if (word == "NaN" || word == "Infinity") {
    value.kind = Value::Real;
    value.real = word == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                               : std::numeric_limits<double>::infinity();
    value.text = word.str();
  } else if (word != "null") {
    return fail(
        "expected a value, found " +
        (word.empty() ? describeNext() : "'" + shortenText(word) + "'"));
  }
  at += word.size();
  return true;
}

bool JSONParser::parseNumber(Value &value) {
  size_t begin = at;
  if (text.substr(at).starts_with("-Infinity")) {
    at += StringRef("-Infinity").size();
    value.kind = Value::Real;
    value.real = -std::numeric_limits<double>::infinity();
    value.text = "-Infinity";
    return true;
  }
  consume('-');
  auto skipDigits = [&] {
    size_t first = at;
    while (at < text.size() && isDigit(text[at]))
      ++at;
    return at > first;
  };
  bool startsWithZero = at < text.size() && text[at] == '0';
  size_t first = at;
  if (!skipDigits() || (startsWithZero && at > first + 1))
    return failAt(begin, "is no number of JSON");
  bool isInteger = true;
  if (consume('.')) {
    isInteger = false;
    if (!skipDigits())
      return failAt(begin, "is no number of JSON");
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    isInteger = false;
    if (!consume('+'))
      consume('-');
    if (!skipDigits())
      return failAt(begin, "is no number of JSON");
  }
  value.text = text.slice(begin, at).str();
  value.kind = isInteger ? Value::Int : Value::Real;
  if (isInteger && !StringRef(value.text).getAsInteger(10, value.number))
    return true;
  // An integer that 64 bits do not hold is a number all the same.
  value.kind = Value::Real;
  value.real = std::strtod(value.text.c_str(), nullptr);
  return true;
}

bool stg::importer::parseValue(StringRef text, Value &value, Problem &problem) {
  return JSONParser(text, problem).parseAll(value);
}
