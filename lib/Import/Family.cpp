//===- Family.cpp - Reads the tables of families===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/Family.h"
#include "stg/Support/Files.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace stg::importer;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

FamilyLibrary::Table::Table(size_t number, StringRef folder, StringRef file)
    : number(number), folder(folder), file(file), name(sys::path::stem(file)) {}

Error FamilyLibrary::Table::read() {
  if (buffer)
    return Error::success();
  Expected<std::unique_ptr<MemoryBuffer>> opened = stg::readFile(file);
  if (!opened)
    return createStringError(file + ": " + toString(opened.takeError()));
  buffer = std::move(*opened);
  return Error::success();
}

Expected<bool> FamilyLibrary::Table::mayHave(StringRef text) {
  if (Error error = read())
    return std::move(error);
  // With escapes, a text can be written in many ways.
  StringRef all = buffer->getBuffer();
  return all.contains(("\"" + text + "\"").str()) || all.contains('\\');
}

Expected<const Value *> FamilyLibrary::Table::get() {
  if (value)
    return &*value;
  if (Error error = read())
    return std::move(error);
  Value table;
  Problem problem;
  if (!parseValue(buffer->getBuffer(), table, problem))
    return createStringError(file + ":" + Twine(problem.place.line) + ":" +
                             Twine(problem.place.column) + ": " +
                             problem.message);
  if (table.kind != Value::Object)
    return createStringError(file + ": expected an object");
  value = std::move(table);
  return &*value;
}

FamilyLibrary::FamilyLibrary(ArrayRef<std::string> modelPath) {
  for (auto [number, folder] : llvm::enumerate(modelPath)) {
    SmallString<128> families(folder);
    sys::path::append(families, "families");
    std::error_code code;
    for (sys::fs::directory_iterator it(families, code), end;
         it != end && !code; it.increment(code))
      if (StringRef(it->path()).ends_with(".json"))
        tables.emplace_back(number, folder, it->path());
  }
  llvm::sort(tables, [&](const Table &left, const Table &right) {
    return std::tie(left.name, left.number) <
           std::tie(right.name, right.number);
  });
  for (size_t i = 1; i < tables.size(); ++i)
    tables[i].isHidden = tables[i].name == tables[i - 1].name;
}

/// The types that a table is for.
static std::vector<std::string> getTypesOf(const Value &table) {
  std::vector<std::string> types;
  if (const Value *list = table.find("types"))
    for (const Value &type : list->list)
      types.push_back(type.text);
  return types;
}

/// What stands at a path such as `text_config.model_type`; null if nothing
/// does.
static const Value *findAt(const Value &object, StringRef path) {
  const Value *found = &object;
  for (StringRef key : split(path, '.'))
    if (!(found = found->find(key)))
      return nullptr;
  return found;
}

/// Whether a configuration has the values that a table is for, one of each
/// list. What is not there is null.
static bool meets(const Value &config, const Value &when) {
  return all_of(when.members, [&](const Member &member) {
    const Value *value = findAt(config, member.key);
    return is_contained(member.value.list, value ? *value : Value());
  });
}

Error FamilyLibrary::forEachShown(
    function_ref<Error(const Table &, const Value &)> visit) {
  for (Table &table : tables) {
    if (table.isHidden)
      continue;
    Expected<const Value *> value = table.get();
    if (!value)
      return value.takeError();
    if (Error error = visit(table, **value))
      return error;
  }
  return Error::success();
}

Expected<std::vector<std::string>> FamilyLibrary::getTypes() {
  std::vector<std::string> types;
  if (Error error = forEachShown([&](const Table &, const Value &value) {
        append_range(types, getTypesOf(value));
        return Error::success();
      }))
    return std::move(error);
  llvm::sort(types);
  types.erase(llvm::unique(types), types.end());
  return types;
}

/// The names of the sizes in a table.
static std::vector<std::string> getSizesOf(const Value &table) {
  std::vector<std::string> names;
  if (const Value *sizes = table.find("sizes"))
    for (const Member &size : sizes->members)
      names.push_back(size.key);
  return names;
}

std::optional<std::string> FamilyLibrary::findSize(StringRef folder,
                                                   StringRef name) {
  for (Table &table : tables) {
    if (table.folder != folder)
      continue;
    Expected<bool> mayHave = table.mayHave(name);
    if (!mayHave || !*mayHave) {
      consumeError(mayHave.takeError());
      continue;
    }
    Expected<const Value *> value = table.get();
    if (!value)
      consumeError(value.takeError());
    else if (is_contained(getSizesOf(**value), name))
      return table.file;
  }
  return std::nullopt;
}

std::vector<std::string> FamilyLibrary::listSizes(StringRef folder) {
  std::vector<std::string> names;
  for (Table &table : tables) {
    if (table.folder != folder)
      continue;
    Expected<const Value *> value = table.get();
    if (value)
      append_range(names, getSizesOf(**value));
    else
      consumeError(value.takeError());
  }
  return names;
}

/// Puts kinds of keys over others: a key has the kind that was said last.
static void mergeKinds(Value &base, const Value &own) {
  for (const Member &kind : own.members) {
    for (Member &other : base.members)
      erase_if(other.value.list, [&](const Value &key) {
        return is_contained(kind.value.list, key);
      });
    auto same = find_if(base.members, [&](const Member &other) {
      return other.key == kind.key;
    });
    if (same == base.members.end())
      base.members.push_back(kind);
    else
      append_range(same->value.list, kind.value.list);
  }
}

/// Puts `own` over `base`: members over members, what is listed behind what is
/// listed, all else in its place.
static void mergeInto(Value &base, const Value &own, StringRef key) {
  bool isAppended = key == "unused" || key == "checks" || key == "left_out";
  if (base.kind == Value::List && own.kind == Value::List && isAppended) {
    append_range(base.list, own.list);
    return;
  }
  if (base.kind != Value::Object || own.kind != Value::Object) {
    base = own;
    return;
  }
  if (key == "kinds" && own.kind == Value::Object)
    return mergeKinds(base, own);
  for (const Member &member : own.members) {
    auto same = find_if(base.members, [&](const Member &other) {
      return other.key == member.key;
    });
    if (same == base.members.end())
      base.members.push_back(member);
    else
      mergeInto(same->value, member.value, member.key);
  }
}

Expected<Value> FamilyLibrary::getMerged(StringRef name, unsigned depth) {
  // The first of its name is the one that hides the others.
  auto it = llvm::find_if(
      tables, [&](const Table &table) { return table.name == name; });
  if (it == tables.end() || depth > 8)
    return createStringError("there is no table '" + name + "' of a family");
  Expected<const Value *> value = it->get();
  if (!value)
    return value.takeError();
  const Value &own = **value;
  const Value *basis = own.find("based_on");
  if (!basis)
    return own;
  Value merged;
  merged.kind = Value::Object;
  for (const Value &value :
       basis->kind == Value::List ? ArrayRef(basis->list) : ArrayRef(*basis)) {
    Expected<Value> base = getMerged(value.text, depth + 1);
    if (!base)
      return base;
    mergeInto(merged, *base, "");
  }
  // What a table is for is said by itself alone.
  erase_if(merged.members, [](const Member &member) {
    return is_contained({"types", "when", "sizes"}, StringRef(member.key));
  });
  mergeInto(merged, own, "");
  return merged;
}

//===----------------------------------------------------------------------===//
// A family
//===----------------------------------------------------------------------===//

namespace {
/// Takes a table apart. What is wrong with it is said with the path to it.
class FamilyReader {
public:
  FamilyReader(Family &family, const Value &table)
      : family(family), table(table) {}

  Error read();

private:
  void readFacts();
  void readNames(StringRef key, std::map<std::string, std::string> &names);
  void readKeys();
  void readOnly();
  std::vector<Family::Check> getChecks(const Value &object);
  void readSymbols();
  void readProgram();
  void readStacks();
  void readLeftOut();
  std::string getPlaceOf(const std::string &key);
  void checkNames();
  void checkStacks();

  const Value &get(const Value &object, StringRef key, Value::Kind kind);
  std::vector<std::string> getTexts(StringRef key);
  Expression getExpression(const Value &value, const Twine &path);
  std::optional<Expression> getOptional(const Value &object, StringRef key,
                                        const Twine &path);
  Template getTemplate(const Value &value, const Twine &path);
  std::vector<Statement> getStatements(const Value &list, const Twine &path);
  void fail(const Twine &path, const Twine &message);

  Family &family;
  const Value &table;
  std::string problem;
};
} // namespace

void FamilyReader::fail(const Twine &path, const Twine &message) {
  if (problem.empty())
    problem = ("family '" + family.name + "': " + path + ": " + message).str();
}

/// A member of an object; an empty one if it is not there.
const Value &FamilyReader::get(const Value &object, StringRef key,
                               Value::Kind kind) {
  static const Value empty;
  const Value *value = object.find(key);
  if (!value)
    return empty;
  if (value->kind != kind)
    fail(key, "is " + value->str());
  return *value;
}

std::vector<std::string> FamilyReader::getTexts(StringRef key) {
  std::vector<std::string> texts;
  for (const Value &value : get(table, key, Value::List).list)
    texts.push_back(value.text);
  return texts;
}

/// A text is an expression; flags and numbers are themselves.
Expression FamilyReader::getExpression(const Value &value, const Twine &path) {
  Expression constant;
  constant.value = value;
  if (value.kind != Value::Text)
    return constant;
  Expected<Expression> parsed = parseExpression(value.text);
  if (parsed)
    return std::move(*parsed);
  fail(path, toString(parsed.takeError()));
  return constant;
}

std::optional<Expression> FamilyReader::getOptional(const Value &object,
                                                    StringRef key,
                                                    const Twine &path) {
  const Value *value = object.find(key);
  if (!value || value->isNull())
    return std::nullopt;
  return getExpression(*value, path + "." + key);
}

Template FamilyReader::getTemplate(const Value &value, const Twine &path) {
  Template result;
  StringRef rest = value.text;
  while (true) {
    auto [before, behind] = rest.split('{');
    result.parts.emplace_back(before.str(), std::nullopt);
    if (before.size() == rest.size())
      return result;
    auto [inside, after] = behind.split('}');
    result.parts.back().second = getExpression(Value::getText(inside), path);
    rest = after;
  }
}

std::vector<Statement> FamilyReader::getStatements(const Value &list,
                                                   const Twine &path) {
  std::vector<Statement> statements;
  for (const Value &value : list.list) {
    Expected<Statement> statement = parseStatement(value.text);
    if (statement)
      statements.push_back(std::move(*statement));
    else
      fail(path, toString(statement.takeError()));
  }
  return statements;
}

void FamilyReader::readNames(StringRef key,
                             std::map<std::string, std::string> &names) {
  for (const Member &member : get(table, key, Value::Object).members)
    names[member.key] = member.value.text;
}

void FamilyReader::readFacts() {
  family.description = get(table, "description", Value::Text).text;
  family.modelTypes = getTexts("types");
  family.architectures = getTexts("architectures");
  const Value &result = get(table, "result", Value::Text);
  StringRef text = result.text;
  family.result.value = result;
  if (text.consume_front("="))
    family.result = getExpression(Value::getText(text), "result");
  readNames("value_types", family.values);
  for (auto it = family.values.begin(); it != family.values.end();) {
    StringRef type = it->second;
    if (!type.consume_front("=")) {
      ++it;
      continue;
    }
    family.numberedValues[it->first] =
        getExpression(Value::getText(type), "value_types." + it->first);
    it = family.values.erase(it);
  }
  readNames("aliases", family.types);
  readNames("blocks", family.blocks);
  for (const Member &kind : get(table, "kinds", Value::Object).members)
    for (const Value &key : kind.value.list) {
      auto [known, isNew] = family.kinds.try_emplace(key.text, kind.key);
      if (!isNew)
        fail("kinds." + kind.key, "names '" + key.text + "', which '" +
                                      known->second + "' does, too");
    }
}

void FamilyReader::readKeys() {
  for (const Member &member : get(table, "keys", Value::Object).members) {
    family.defaults[member.key] = member.value;
    StringRef text = member.value.text;
    if (member.value.kind == Value::Text && text.consume_front("="))
      family.definitions.insert_or_assign(
          "=" + member.key,
          getExpression(Value::getText(text), "keys." + member.key));
    if (!family.kinds.count(member.key))
      fail("keys." + member.key, "has no kind");
  }
  for (const auto &[list, kind] : family.kinds) {
    if (!family.isListOfObjects(list))
      continue;
    for (const auto &[key, value] : family.defaults)
      if (StringRef(key).starts_with(list + ".") &&
          (family.isListOfObjects(key) || family.definitions.count("=" + key)))
        fail("keys." + key, "is in a list of objects, and no value of its own");
  }
  for (const Member &member : get(table, "null", Value::Object).members)
    family.nulls.insert_or_assign(
        member.key, getExpression(member.value, "null." + member.key));
  for (const Member &member : get(table, "spellings", Value::Object).members)
    for (const Value &other : member.value.list)
      family.spellings[other.text] = member.key;
  for (const Member &member : get(table, "let", Value::Object).members)
    family.definitions.insert_or_assign(
        member.key, getExpression(member.value, "let." + member.key));
  for (const std::string &key : getTexts("unused"))
    family.unused.insert(key);
  for (const std::string &key : getTexts("transparent"))
    family.transparent.insert(key);
  for (const std::string &key : getTexts("configurations"))
    family.configurations.insert(key);
  for (const Member &member : get(table, "inherited", Value::Object).members)
    family.inherited[member.key] = member.value.list;
}

void FamilyReader::readOnly() {
  for (const Member &member : get(table, "only", Value::Object).members) {
    Family::Only only;
    only.values = get(member.value, "values", Value::List).list;
    only.reason = get(member.value, "because", Value::Text).text;
    family.only.emplace_back(member.key, std::move(only));
  }
}

std::vector<Family::Check> FamilyReader::getChecks(const Value &object) {
  std::vector<Family::Check> checks;
  for (const Value &value : get(object, "checks", Value::List).list)
    checks.push_back(
        {getExpression(get(value, "holds", Value::Text), "checks"),
         get(value, "key", Value::Text).text,
         getTemplate(get(value, "message", Value::Text), "checks")});
  return checks;
}

void FamilyReader::readSymbols() {
  for (const Member &member : get(table, "symbols", Value::Object).members)
    family.symbols.push_back(
        {member.key, get(member.value, "help", Value::Text).text,
         getOptional(member.value, "value", "symbols." + member.key)});
}

void FamilyReader::readProgram() {
  for (const Value &value : get(table, "inputs", Value::List).list) {
    auto [name, condition] = StringRef(value.text).split(" if ");
    Family::Input input{name.str(), std::nullopt};
    if (!condition.empty())
      input.condition = getExpression(Value::getText(condition), "inputs");
    family.inputs.push_back(std::move(input));
  }
  family.program = getStatements(get(table, "program", Value::List), "program");
  family.moduleLayers = getOptional(table, "module_layers", "module_layers");
}

void FamilyReader::readStacks() {
  for (const Member &member : get(table, "stacks", Value::Object).members) {
    std::string path = "stacks." + member.key;
    Family::Stack stack;
    stack.count =
        getOptional(member.value, "count", path).value_or(Expression());
    stack.name = getOptional(member.value, "name", path);
    stack.apart = getOptional(member.value, "apart", path);
    stack.shared = getOptional(member.value, "shared", path);
    stack.next = getOptional(member.value, "next", path);
    stack.symbol = get(member.value, "symbol", Value::Text).text;
    stack.checks = getChecks(member.value);
    stack.layer =
        getStatements(get(member.value, "layer", Value::List), path + ".layer");
    family.stacks[member.key] = std::move(stack);
  }
}

void FamilyReader::readLeftOut() {
  for (const Value &value : get(table, "left_out", Value::List).list)
    family.leftOut.push_back(
        {getExpression(get(value, "if", Value::Text), "left_out.if"),
         getTemplate(get(value, "what", Value::Text), "left_out.what"),
         getOptional(value, "parameters", "left_out").value_or(Expression()),
         get(value, "added_by", Value::Text).text});
}

/// Where a key belongs that no expression reads.
std::string FamilyReader::getPlaceOf(const std::string &key) {
  if (auto other = family.spellings.find(key); other != family.spellings.end())
    return "it is another spelling of '" + other->second +
           "', which has the default";
  auto [object, inner] = StringRef(key).split('.');
  if (!inner.empty() && family.transparent.count(object.str()))
    return ("'" + object + "' is transparent, so that '" + inner +
            "' is what it is called")
        .str();
  std::string text = "if it changes nothing, take it from 'keys' and list it "
                     "as unused";
  if (family.unused.count(key))
    text = "it is listed as unused, too; take it from 'keys'";
  return text + (table.find("based_on")
                     ? ", or give it one value with 'only' if it is a key of a "
                       "table that this one is based on"
                     : "");
}

/// A key that nothing reads would be dropped from models in silence.
void FamilyReader::checkNames() {
  std::set<std::string> read;
  auto visit = [&](StringRef name) {
    read.insert(name.str());
    if (name != "layer" && !family.isKey(name) &&
        !family.definitions.count(name.str()))
      fail("names", "'" + name + "' is neither a key nor a definition");
  };
  auto visitOptional = [&](const std::optional<Expression> &expression) {
    if (expression)
      expression->walkNames(visit);
  };
  auto visitTemplate = [&](const Template &text) {
    for (const auto &part : text.parts)
      visitOptional(part.second);
  };
  auto visitStatements = [&](ArrayRef<Statement> statements) {
    for (const Statement &statement : statements) {
      visitOptional(statement.condition);
      visitOptional(statement.scope);
      for (const Variable &variable : statement.results)
        visitOptional(variable.number);
      for (const Variable &variable : statement.arguments)
        visitOptional(variable.number);
      for (const Statement::Entry &entry : statement.entries)
        entry.value.walkNames(visit);
    }
  };
  for (const auto &entry : family.definitions)
    entry.second.walkNames(visit);
  for (const auto &entry : family.nulls)
    entry.second.walkNames(visit);
  for (const auto &entry : family.numberedValues)
    entry.second.walkNames(visit);
  for (const auto &entry : family.only)
    visit(entry.first);
  auto visitChecks = [&](ArrayRef<Family::Check> checks) {
    for (const Family::Check &check : checks) {
      check.holds.walkNames(visit);
      visitTemplate(check.message);
    }
  };
  visitChecks(family.checks);
  for (const Family::Symbol &symbol : family.symbols)
    visitOptional(symbol.value);
  for (const Family::Input &input : family.inputs)
    visitOptional(input.condition);
  family.result.walkNames(visit);
  visitOptional(family.moduleLayers);
  for (const Family::LeftOut &part : family.leftOut) {
    part.condition.walkNames(visit);
    visitTemplate(part.what);
    part.parameters.walkNames(visit);
  }
  visitStatements(family.program);
  for (const auto &[name, stack] : family.stacks) {
    stack.count.walkNames(visit);
    visitOptional(stack.name);
    visitOptional(stack.apart);
    visitOptional(stack.shared);
    visitOptional(stack.next);
    visitChecks(stack.checks);
    visitStatements(stack.layer);
  }
  for (const auto &[key, value] : family.defaults)
    if (!read.count(key) && family.kinds[key] != "object")
      fail("keys." + key, "is read nowhere; " + getPlaceOf(key));
}

/// Layers that make none of what they are called with would be executed, each
/// on the same values, and what they give be dropped.
void FamilyReader::checkStacks() {
  for (const Statement &call : family.program) {
    auto stack = family.stacks.find(call.callee);
    if (stack == family.stacks.end())
      continue;
    std::vector<std::string> names;
    for (const Variable &argument : call.arguments)
      names.push_back(argument.name);
    bool isCarried = llvm::any_of(stack->second.layer, [&](const Statement &s) {
      return llvm::any_of(s.results, [&](const Variable &result) {
        return llvm::is_contained(names, result.name);
      });
    });
    if (!isCarried)
      fail("stacks." + call.callee, "no layer makes another '" +
                                        llvm::join(names, "' or '") +
                                        "', which the program calls it with");
    // What a loop carries has one name in all of its iterations.
    auto isNumbered = [](const Variable &variable) {
      return variable.number.has_value();
    };
    bool hasNumbers =
        llvm::any_of(stack->second.layer, [&](const Statement &s) {
          return llvm::any_of(s.results, isNumbered) ||
                 llvm::any_of(s.arguments, isNumbered);
        });
    if (hasNumbers && !stack->second.apart)
      fail("stacks." + call.callee,
           "has values with numbers, but its layers do not stand apart");
  }
}

Error FamilyReader::read() {
  readFacts();
  readKeys();
  readOnly();
  family.checks = getChecks(table);
  readSymbols();
  readProgram();
  readStacks();
  readLeftOut();
  checkNames();
  checkStacks();
  if (!problem.empty())
    return createStringError(problem);
  return Error::success();
}

Expected<std::vector<std::string>>
FamilyLibrary::getTypesWith(StringRef architecture) {
  // Files of mT5 may name T5's class, which is T5's own all the same.
  std::vector<std::string> types, firstTypes;
  auto add = [&](const Table &table, const Value &value) -> Error {
    std::vector<std::string> own = getTypesOf(value);
    if (own.empty())
      return Error::success();
    Expected<Value> merged = getMerged(table.name, 0);
    if (!merged)
      return merged.takeError();
    const Value *list = merged->find("architectures");
    Value wanted = Value::getText(architecture);
    if (!list || !is_contained(list->list, wanted))
      return Error::success();
    types.push_back(own.front());
    if (list->list.front() == wanted)
      firstTypes.push_back(own.front());
    return Error::success();
  };
  if (Error error = forEachShown(add))
    return std::move(error);
  if (firstTypes.size() == 1)
    return firstTypes;
  llvm::sort(types);
  types.erase(llvm::unique(types), types.end());
  return types;
}

Expected<std::optional<Family>> FamilyLibrary::find(StringRef type,
                                                    const Value &config) {
  const Table *found = nullptr;
  for (Table &table : tables) {
    if (table.isHidden)
      continue;
    Expected<bool> mayHave = table.mayHave(type);
    if (!mayHave)
      return mayHave.takeError();
    if (!*mayHave)
      continue;
    Expected<const Value *> value = table.get();
    if (!value)
      return value.takeError();
    if (!is_contained(getTypesOf(**value), type))
      continue;
    const Value *when = (*value)->find("when");
    if (!when && !found)
      found = &table;
    if (!when)
      continue;
    auto isList = [](const Member &member) {
      return member.value.kind == Value::List;
    };
    if (when->kind != Value::Object || !all_of(when->members, isList))
      return createStringError("family '" + table.name + "': when: is " +
                               when->str() + ", expected lists of values");
    // A table that names values stands over one that is for all others.
    if (meets(config, *when)) {
      found = &table;
      break;
    }
  }
  if (!found)
    return std::nullopt;
  Expected<Value> merged = getMerged(found->name, 0);
  if (!merged)
    return merged.takeError();
  Family family;
  family.name = found->name;
  if (Error error = FamilyReader(family, *merged).read())
    return std::move(error);
  return family;
}
