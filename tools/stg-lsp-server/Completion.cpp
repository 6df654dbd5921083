//===- Completion.cpp - What may stand at a place -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;
namespace lsp = llvm::lsp;
using Kind = lsp::CompletionItemKind;

void stg::addItem(lsp::CompletionList &list, StringRef label, Kind kind,
                  StringRef detail) {
  lsp::CompletionItem item(label, kind);
  item.detail = detail.str();
  list.items.push_back(std::move(item));
}

static bool isNameChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

void stg::addDeclaredNames(StringRef text, lsp::CompletionList &list) {
  llvm::StringSet<> seen;
  for (StringRef line : llvm::split(text, '\n')) {
    auto [declaration, rest] = line.split('@');
    declaration = declaration.trim();
    declaration.consume_back(" private");
    // A line that begins with an op and the name that it declares.
    if (declaration.empty() || declaration.ends_with("call") ||
        !llvm::all_of(declaration, isNameChar))
      continue;
    StringRef name = rest.take_while(isNameChar);
    if (rest.consume_front("\""))
      name = rest.take_until([](char c) { return c == '"'; });
    if (!name.empty() && seen.insert(name).second)
      addItem(list, name, Kind::Function, declaration);
  }
}

void stg::addAxes(StringRef text, lsp::CompletionList &list) {
  llvm::StringSet<> seen;
  for (StringRef line : llvm::split(text, '\n')) {
    if (!line.contains("mesh"))
      continue;
    StringRef axes = line.split('<').second.split('>').first;
    for (StringRef axis : llvm::split(axes, ',')) {
      auto [name, size] = axis.split('=');
      if (!size.empty() && seen.insert(name.trim()).second)
        addItem(list, name.trim(), Kind::EnumMember, size.trim());
    }
  }
}

bool stg::isInBrackets(StringRef before) {
  // Types and expressions do not go on behind an empty line.
  int closed = 0;
  for (size_t i = before.size();
       i-- > 0 && !before.substr(i).starts_with("\n\n");)
    if (before[i] == '>' && (i == 0 || before[i - 1] != '-'))
      ++closed;
    else if (before[i] == '<' && --closed < 0)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// What the parser knows
//===----------------------------------------------------------------------===//

template <typename T> static std::string format(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

template <typename T>
static void addAliases(const llvm::StringMap<T> &aliases,
                       lsp::CompletionList &list) {
  for (const auto &alias : aliases)
    addItem(list, alias.first(), Kind::Field, format(alias.second));
}

void CompletionContext::completeDialectName(StringRef prefix) {
  for (StringRef dialect : context.getAvailableDialects())
    addItem(list, (prefix + dialect).str(), Kind::Module);
}

void CompletionContext::completeOperationName(StringRef dialect) {
  Dialect *loaded = context.getOrLoadDialect(dialect);
  if (!loaded)
    return;
  for (RegisteredOperationName op :
       context.getRegisteredOperationsByDialect(dialect))
    addItem(list, op.getStringRef().drop_front(dialect.size() + 1),
            dialect == "func" ? Kind::Function : Kind::Field);
}

void CompletionContext::appendSSAValueCompletion(StringRef name,
                                                 std::string type) {
  addItem(list, ("%" + name).str(), Kind::Variable, type);
}

void CompletionContext::appendBlockCompletion(StringRef name) {
  addItem(list, ("^" + name).str(), Kind::Field);
}

void CompletionContext::completeExpectedTokens(ArrayRef<StringRef> tokens,
                                               bool optional) {
  for (StringRef token : tokens)
    addItem(list, token, Kind::Keyword, optional ? "optional" : "");
}

void CompletionContext::completeAttribute(
    const llvm::StringMap<Attribute> &aliases) {
  addAliases(aliases, list);
}

void CompletionContext::completeDialectAttributeOrAlias(
    const llvm::StringMap<Attribute> &aliases) {
  addAliases(aliases, list);
}

void CompletionContext::completeType(const llvm::StringMap<Type> &aliases) {
  addAliases(aliases, list);
}

void CompletionContext::completeDialectTypeOrAlias(
    const llvm::StringMap<Type> &aliases) {
  addAliases(aliases, list);
}
