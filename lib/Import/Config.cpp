//===- Config.cpp - A configuration, read with its family's table===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;
using namespace stg;
using namespace stg::importer;

void Config::error(Place place, const Twine &message) {
  isGood = false;
  tell({ToolMessage::Severity::Error,
        ToolMessage::Place{options.file, place.line, place.column},
        message.str(),
        {}});
}

void Config::remark(const Twine &message) {
  tell({ToolMessage::Severity::Remark,
        ToolMessage::Place{options.file, 1, 1},
        message.str(),
        {}});
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// What is wrong with a value of a kind, as what is expected; empty if nothing
/// is. Behind `|` stand texts that are good, too.
static std::string getExpected(const Value &value, StringRef kind) {
  auto [first, texts] = kind.split('|');
  if (!texts.empty() && value.kind == Value::Text &&
      is_contained(split(texts, '|'), value.text))
    return "";
  auto isCount = [](const Value &value) {
    return value.kind == Value::Int && value.number >= 0;
  };
  auto isSize = [&](const Value &value) {
    return isCount(value) && value.number > 0;
  };
  auto isText = [](const Value &value) { return value.kind == Value::Text; };
  auto isObject = [](const Value &value) {
    return value.kind == Value::Object;
  };
  auto isList = [&](auto isElement) {
    return value.kind == Value::List && all_of(value.list, isElement);
  };
  auto isNumber = [](const Value &value) {
    return value.kind == Value::Int ||
           (value.kind == Value::Real && std::isfinite(value.real));
  };
  std::string expected;
  if (first == "size" && !isSize(value))
    expected = "a positive integer";
  else if (first == "count" && !isCount(value))
    expected = "an integer that is not negative";
  else if (first == "sides" && !isSize(value) && !isList(isSize))
    expected = "a positive integer or a list of them";
  else if (first == "integer" && value.kind != Value::Int)
    expected = "an integer";
  else if (first == "flag" && value.kind != Value::Bool)
    expected = "true or false";
  else if (first == "text" && !isText(value))
    expected = "a text";
  else if (first == "number" && !isNumber(value))
    expected = "a number";
  else if (first == "numbers" && !isList(isNumber))
    expected = "a list of numbers";
  else if (first == "number or numbers" && !isNumber(value) &&
           !isList(isNumber))
    expected = "a number or a list of numbers";
  else if (first == "counts" && !isList(isCount))
    expected = "a list of integers that are not negative";
  else if (first == "texts" && !isList(isText))
    expected = "a list of texts";
  else if (first == "words" && !isText(value) && !isList(isText))
    expected = "a text or a list of texts";
  else if (first == "object" && value.kind != Value::Object)
    expected = "an object";
  else if (first == "objects" && !isList(isObject))
    expected = "a list of objects";
  if (!expected.empty() && !texts.empty())
    expected += (" or \"" + texts + "\"").str();
  return expected;
}

static std::vector<std::string> spellAll(ArrayRef<Value> values) {
  std::vector<std::string> texts;
  for (const Value &value : values)
    texts.push_back(value.str());
  return texts;
}

/// What messages call a path: with the number of the element of a list.
std::string Config::spellPath(const std::string &path) const {
  if (!element)
    return path;
  return element->list + "[" + std::to_string(element->number) + "]" +
         path.substr(element->list.size());
}

void Config::checkKind(const Member &member, const std::string &path,
                       StringRef kind) {
  std::string expected = getExpected(member.value, kind);
  if (!expected.empty())
    error(member.place, "'" + spellPath(path) + "' is " + member.value.str() +
                            ", expected " + expected);
}

void Config::rejectUnknown(const Member &member, const std::string &path) {
  error(member.place,
        "'" + shortenText(spellPath(path)) + "' is " + member.value.str() +
            ", but configurations of family '" + family.name +
            "' have no such key; remove it if the model is the same without "
            "it");
}

void Config::readKey(const Member &member, const std::string &path,
                     const std::string &key) {
  auto kind = family.kinds.find(key);
  if (member.value.isNull() && !family.nulls.count(key))
    return;
  if (!member.value.isNull())
    checkKind(member, path, kind->second);
  Value whole = member.value;
  if (element)
    whole = Value::getList(std::vector<Value>(element->count));
  auto [it, isNew] = given.try_emplace(key, Given{member.place, path, whole});
  Value &known =
      element ? it->second.value.list[element->number] : it->second.value;
  if (element && known.isNull()) {
    known = member.value;
    return;
  }
  if (isNew || known == member.value || member.value.isNull())
    return;
  error(member.place, "'" + spellPath(path) + "' is " + member.value.str() +
                          ", but '" + spellPath(it->second.spelling) +
                          "', which means the same, is " + known.str());
}

/// What an element does not say is what the table says of all.
void Config::completeElements(const std::string &key, size_t count) {
  for (const auto &[inner, byDefault] : family.defaults) {
    StringRef rest = inner;
    if (!rest.consume_front(key) || !rest.starts_with("."))
      continue;
    Given &all = given[inner];
    if (all.value.isNull())
      all = {Place(), inner, Value::getList(std::vector<Value>(count))};
    for (Value &value : all.value.list)
      if (value.isNull())
        value = byDefault;
  }
}

void Config::readElements(const Member &member, const std::string &path,
                          const std::string &key) {
  if (member.value.isNull())
    return;
  checkKind(member, path, "objects");
  if (member.value.kind != Value::List)
    return;
  size_t count = member.value.list.size();
  given.try_emplace(key, Given{member.place, path, member.value});
  for (auto [number, value] : enumerate(member.value.list)) {
    element = Element{path, number, count};
    readObject(value, path + ".");
  }
  element.reset();
}

/// The key that a path means: itself, another spelling, or what it is in the
/// object that it stands in.
std::string Config::getKey(const std::string &path) const {
  auto spelling = family.spellings.find(path);
  if (spelling != family.spellings.end())
    return spelling->second;
  auto [object, key] = StringRef(path).split('.');
  bool isInside = !key.empty() && family.transparent.count(object.str()) &&
                  !family.isKey(path) && !family.unused.count(path);
  return isInside ? getKey(key.str()) : path;
}

/// Whether a key is one that all configurations have, in one that stands in
/// another. Such a key changes nothing, or a value that would is refused.
bool Config::readInherited(const Member &member, const std::string &path) {
  auto [object, key] = StringRef(path).rsplit('.');
  StringRef name = object.rsplit('.').second;
  if (name.empty())
    name = object;
  auto inherited = family.inherited.find(key.str());
  if (key.empty() || inherited == family.inherited.end() ||
      !family.configurations.count(name.str()))
    return false;
  ArrayRef<Value> values = inherited->second;
  if (!values.empty() && !is_contained(values, member.value)) {
    auto only = find_if(family.only, [&](const auto &one) {
      return one.first == inherited->first;
    });
    error(member.place,
          "'" + path + "' is " + member.value.str() +
              (only == family.only.end() ? "" : ", " + only->second.reason) +
              "; accepted: " + joinWords(spellAll(values), "or"));
  }
  return true;
}

void Config::readMember(const Member &member, const std::string &path) {
  std::string key = getKey(path);
  auto kind = family.kinds.find(key);
  bool isObject = kind != family.kinds.end() && kind->second == "object" &&
                  family.isKey(key);
  if (isObject || family.transparent.count(path)) {
    if (member.value.isNull())
      return;
    if (member.value.kind != Value::Object)
      return checkKind(member, path, "object");
    if (!family.transparent.count(path) && !family.hasKeysIn(path) &&
        !family.hasKeysIn(key))
      return readKey(member, path, key);
    return readObject(member.value, path + ".");
  }
  if (family.isListOfObjects(key))
    return readElements(member, path, key);
  if (family.isKey(key))
    return readKey(member, path, key);
  // Null is what is left out, whatever the key.
  if (member.value.isNull())
    return;
  // Families say other things by one key that changes nothing, but NaN is no
  // number of any.
  if (family.unused.count(key)) {
    if (kind != family.kinds.end() && kind->second == "number")
      checkKind(member, path, kind->second);
  } else if (!readInherited(member, path)) {
    rejectUnknown(member, path);
  }
}

void Config::readObject(const Value &object, const std::string &prefix) {
  for (const Member &member : object.members)
    readMember(member, prefix + member.key);
}

/// What hangs on the trunk.
bool Config::checkArchitecture() {
  auto it = given.find("architectures");
  if (it == given.end() || it->second.value.list.empty())
    return true;
  const std::string &name = it->second.value.list.front().text;
  if (is_contained(family.architectures, name))
    return true;
  error(it->second.place, "'architectures' is " + it->second.value.str() +
                              ", which is no model of family '" + family.name +
                              "' that can be trained here; accepted: " +
                              joinWords(family.architectures, "or"));
  return false;
}

bool Config::read(const Value &root) {
  readObject(root, "");
  for (const auto &[key, kind] : family.kinds) {
    if (!family.isListOfObjects(key))
      continue;
    auto it = given.find(key);
    completeElements(key, it == given.end() ? 0 : it->second.value.list.size());
  }
  return isGood && checkArchitecture();
}

bool Config::checkOnly() {
  for (const auto &[key, only] : family.only) {
    Value value;
    if (!lookup(key, value))
      return false;
    if (value.isNull() || is_contained(only.values, value))
      continue;
    auto it = given.find(key);
    error(it != given.end() ? it->second.place : Place(),
          "'" + (it != given.end() ? it->second.spelling : key) + "' is " +
              value.str() + (only.reason.empty() ? "" : ", " + only.reason) +
              "; accepted: " + joinWords(spellAll(only.values), "or"));
  }
  return isGood;
}

bool Config::check() { return checkOnly() && check(family.checks); }

bool Config::check(ArrayRef<Family::Check> checks) {
  for (const Family::Check &check : checks) {
    std::optional<bool> isRight = holds(check.holds);
    if (!isRight)
      return false;
    if (*isRight)
      continue;
    std::optional<std::string> message = fillIn(check.message);
    if (!message)
      return false;
    auto it = given.find(check.key);
    error(it != given.end() ? it->second.place : getPlace(check.holds),
          *message);
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

bool Config::lookup(StringRef name, Value &value) {
  constexpr unsigned kMaxDepth = 100;
  if (name == "layer" && !layer) {
    error(Place(), "family '" + family.name +
                       "': 'layer' is asked for outside of layers");
    return false;
  }
  if (name == "layer") {
    value = Value::getInt(*layer);
    return true;
  }
  auto define = [&](const Expression &expression) {
    if (++depth > kMaxDepth) {
      error(Place(), "family '" + family.name + "': '" + name +
                         "' is defined by itself");
      return false;
    }
    std::optional<Value> result = evaluate(expression);
    --depth;
    if (!result)
      return false;
    value = std::move(*result);
    return true;
  };
  if (auto it = given.find(name); it != given.end()) {
    if (it->second.value.isNull())
      return define(family.nulls.at(name.str()));
    value = it->second.value;
    return true;
  }
  auto byDefault = family.definitions.find("=" + name.str());
  if (byDefault != family.definitions.end())
    return define(byDefault->second);
  if (auto it = family.defaults.find(name.str()); it != family.defaults.end()) {
    value = it->second;
    return true;
  }
  auto it = family.definitions.find(name.str());
  return it != family.definitions.end() && define(it->second);
}

/// The first key of the file that the part of an expression comes from.
const Config::Given *Config::findGiven(const Expression &part, unsigned level) {
  const Given *found = nullptr;
  part.walkNames([&](StringRef name) {
    if (found || level > 16)
      return;
    if (auto it = given.find(name); it != given.end()) {
      found = &it->second;
      return;
    }
    for (const std::string &key : {"=" + name.str(), name.str()})
      if (auto it = family.definitions.find(key);
          !found && it != family.definitions.end())
        found = findGiven(it->second, level + 1);
  });
  return found;
}

static std::string spell(const Expression &part) {
  std::string names;
  part.walkNames([&](StringRef name) {
    names += ((names.empty() ? "'" : ", '") + name + "'").str();
  });
  return names;
}

Place Config::getPlace(const Expression &expression) {
  const Given *key = findGiven(expression, 0);
  return key ? key->place : Place();
}

void Config::complain(const Expression &part, const Twine &text) {
  error(getPlace(part), "from " + spell(part) + ": " + text);
}

std::optional<Value> Config::evaluate(const Expression &expression) {
  Value value;
  auto find = [&](StringRef name, Value &value) { return lookup(name, value); };
  auto say = [&](const Expression &part, const Twine &text) {
    complain(part, text);
  };
  if (!importer::evaluate(expression, find, say, value))
    return std::nullopt;
  return value;
}

std::optional<bool> Config::holds(const std::optional<Expression> &condition) {
  if (!condition)
    return true;
  std::optional<Value> value = evaluate(*condition);
  if (!value)
    return std::nullopt;
  return value->isTrue();
}

std::optional<std::string> Config::fillIn(const Template &text) {
  std::string result;
  for (const auto &[before, expression] : text.parts) {
    result += before;
    if (!expression)
      continue;
    std::optional<Value> value = evaluate(*expression);
    if (!value)
      return std::nullopt;
    result += value->kind == Value::Text ? value->text : value->str();
  }
  return result;
}
