//===- Document.cpp - A file in an editor ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Document.h"
#include "Completion.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "stg/Describe/Describe.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;
namespace lsp = llvm::lsp;
using llvm::SMLoc;
using llvm::SMRange;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Document::Document(const DialectRegistry &registry, lsp::URIForFile uri,
                   std::string text)
    : uri(std::move(uri)), text(std::move(text)),
      context(registry, MLIRContext::Threading::DISABLED) {
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(this->text, this->uri.file()), SMLoc());
  scanSymbols();
  parse();
}

LogicalResult Document::parse(bool verify) {
  module = ModuleOp::create(UnknownLoc::get(&context));
  state = AsmParserState();
  return parseAsmSourceFile(sources, module->getBody(),
                            ParserConfig(&context, verify), &state);
}

/// A program that is not valid can be read all the same.
void Document::parse() {
  {
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { addDiagnostic(diagnostic); });
    if (succeeded(parse(/*verify=*/true)))
      return;
  }
  ScopedDiagnosticHandler ignore(&context, [](Diagnostic &) {});
  if (succeeded(parse(/*verify=*/false)))
    return;
  module = ModuleOp::create(UnknownLoc::get(&context));
  state = AsmParserState();
}

static lsp::DiagnosticSeverity getSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return lsp::DiagnosticSeverity::Error;
  case DiagnosticSeverity::Warning:
    return lsp::DiagnosticSeverity::Warning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return lsp::DiagnosticSeverity::Information;
  }
  llvm_unreachable("unknown severity");
}

void Document::addDiagnostic(Diagnostic &diagnostic) {
  auto getRange = [&](Location loc) {
    auto line = loc->findInstanceOf<FileLineColLoc>();
    SMLoc start =
        line ? sources.FindLocForLineAndColumn(sources.getMainFileID(),
                                               line.getLine(), line.getColumn())
             : SMLoc();
    return start.isValid()
               ? lsp::Range(sources, AsmParserState::convertIdLocToRange(start))
               : lsp::Range();
  };
  lsp::Diagnostic converted;
  converted.range = getRange(diagnostic.getLocation());
  converted.severity = getSeverity(diagnostic.getSeverity());
  converted.source = "stg";
  converted.message = diagnostic.str();
  std::vector<lsp::DiagnosticRelatedInformation> notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.emplace_back(lsp::Location(uri, getRange(note.getLocation())),
                       note.str());
  if (!notes.empty())
    converted.relatedInformation = std::move(notes);
  diagnostics.push_back(std::move(converted));
}

static bool isWordChar(char c) { return llvm::isAlnum(c) || c == '_'; }

void Document::scanSymbols() {
  constexpr StringLiteral keyword = "stg.symbol @";
  StringRef rest = text;
  for (size_t at = rest.find(keyword); at != StringRef::npos;
       at = rest.find(keyword)) {
    rest = rest.drop_front(at + keyword.size());
    StringRef line = rest.take_until([](char c) { return c == '\n'; });
    symbols[line.take_while(isWordChar)] = line;
  }
}

//===----------------------------------------------------------------------===//
// What stands at a place
//===----------------------------------------------------------------------===//

SMLoc Document::getLoc(lsp::Position position) {
  return position.getAsSMLoc(sources);
}

StringRef Document::getWord(SMLoc loc) const {
  const char *begin = loc.getPointer(), *end = begin;
  while (begin != text.data() && isWordChar(begin[-1]))
    --begin;
  while (end != text.data() + text.size() && isWordChar(*end))
    ++end;
  return StringRef(begin, static_cast<size_t>(end - begin));
}

/// The text up to the word.
StringRef Document::getBefore(StringRef word) const {
  return StringRef(text.data(), static_cast<size_t>(word.data() - text.data()));
}

/// True behind what makes a word something else than the name of a symbol.
static bool isSigil(StringRef before) {
  return !before.empty() && StringRef("%^!#@\".").contains(before.back());
}

StringRef Document::getSymbol(SMLoc loc) const {
  StringRef word = getWord(loc);
  if (word.empty() || !symbols.contains(word))
    return {};
  StringRef before = getBefore(word);
  return !isSigil(before) || before.ends_with("stg.symbol @") ? word
                                                              : StringRef();
}

static bool contains(SMRange range, SMLoc loc) {
  return range.isValid() && range.Start.getPointer() <= loc.getPointer() &&
         loc.getPointer() < range.End.getPointer();
}

static bool contains(const AsmParserState::SMDefinition &definition,
                     SMLoc loc) {
  return contains(definition.loc, loc) ||
         llvm::any_of(definition.uses,
                      [&](SMRange use) { return contains(use, loc); });
}

static std::vector<SMRange>
getRanges(const AsmParserState::SMDefinition &definition, bool uses) {
  if (uses)
    return {definition.uses.begin(), definition.uses.end()};
  return {definition.loc};
}

/// The op that is named at the place, or whose result is.
const AsmParserState::OperationDefinition *Document::findOp(SMLoc loc) {
  for (const AsmParserState::OperationDefinition &op : state.getOpDefs())
    if (contains(op.loc, loc) ||
        llvm::any_of(op.resultGroups, [&](const auto &group) {
          return contains(group.definition, loc);
        }))
      return &op;
  return nullptr;
}

std::vector<SMRange> Document::findRanges(SMLoc loc, bool uses) {
  for (const AsmParserState::OperationDefinition &op : state.getOpDefs()) {
    for (const auto &group : op.resultGroups)
      if (contains(group.definition, loc))
        return getRanges(group.definition, uses);
    bool isUse = llvm::any_of(op.symbolUses,
                              [&](SMRange use) { return contains(use, loc); });
    if (isUse || (contains(op.loc, loc) && !op.symbolUses.empty())) {
      if (uses)
        return {op.symbolUses.begin(), op.symbolUses.end()};
      return {op.loc};
    }
  }
  for (const AsmParserState::BlockDefinition &block : state.getBlockDefs()) {
    if (contains(block.definition, loc))
      return getRanges(block.definition, uses);
    for (const AsmParserState::SMDefinition &argument : block.arguments)
      if (contains(argument, loc))
        return getRanges(argument, uses);
  }
  return {};
}

static SMRange getRange(StringRef part) {
  return {SMLoc::getFromPointer(part.begin()),
          SMLoc::getFromPointer(part.end())};
}

std::vector<lsp::Location> Document::find(lsp::Position position, bool uses) {
  SMLoc loc = getLoc(position);
  if (!loc.isValid())
    return {};
  std::vector<SMRange> ranges;
  StringRef symbol = getSymbol(loc);
  if (symbol.empty()) {
    ranges = findRanges(loc, uses);
  } else if (!uses) {
    ranges = {getRange(symbols.lookup(symbol).take_front(symbol.size()))};
  } else {
    StringRef all = text;
    for (size_t at = all.find(symbol); at != StringRef::npos;
         at = all.find(symbol, at + symbol.size())) {
      SMLoc other = SMLoc::getFromPointer(all.data() + at);
      StringRef word = getSymbol(other);
      if (word == symbol && !getBefore(word).ends_with("@"))
        ranges.push_back(getRange(word));
    }
  }
  std::vector<lsp::Location> locations;
  for (SMRange range : ranges)
    locations.emplace_back(uri, lsp::Range(sources, range));
  return locations;
}

//===----------------------------------------------------------------------===//
// Hover
//===----------------------------------------------------------------------===//

static void writeCost(llvm::raw_ostream &os, SymExpr operations,
                      SymExpr bytes) {
  os << "`" << operations.str() << "` operations, `" << bytes.str()
     << "` bytes";
}

/// What one device does for the op.
static void writeDevice(llvm::raw_ostream &os, const Plan::Entry &entry) {
  if (!entry.sharding.empty())
    os << "- computed over `" << entry.sharding << "`\n";
  if (entry.operations) {
    os << "- on one device: ";
    writeCost(os, entry.operations, entry.bytes);
    os << "\n";
  }
  for (const std::string &type : entry.types)
    os << "- on one device: `" << type << "`\n";
  for (const std::string &collective : entry.collectives)
    os << "- needs `" << collective << "`\n";
}

std::string Document::describeOp(Operation *op) {
  if (!plan)
    plan.emplace(*module);
  OpDescription description = describe(op);
  std::string result;
  llvm::raw_string_ostream os(result);
  if (!description.name.empty())
    os << "**" << description.name << "** ";
  os << "`" << op->getName() << "`";
  if (!description.phase.empty())
    os << ", phase " << description.phase;
  os << "\n\n";
  if (!description.loop.empty())
    os << "- `" << description.loop << "` times\n";
  if (description.operations) {
    os << "- ";
    writeCost(os, description.operations, description.bytes);
    os << "\n";
  }
  if (!description.communication.empty())
    os << "- `" << description.communication << "`\n";
  for (Type type : op->getResultTypes())
    os << "- `" << type << "`\n";
  if (const Plan::Entry *entry = plan->find(op))
    writeDevice(os, *entry);
  else if (!description.sharding.empty())
    os << "- computed over `" << description.sharding << "`\n";
  return result;
}

std::optional<lsp::Hover> Document::hover(lsp::Position position) {
  SMLoc loc = getLoc(position);
  if (!loc.isValid())
    return std::nullopt;
  StringRef word = getWord(loc);
  lsp::Hover hover(lsp::Range(sources, getRange(word)));
  StringRef symbol = getSymbol(loc);
  if (!symbol.empty()) {
    hover.contents.value = ("symbol `" + symbols.lookup(symbol) + "`\n").str();
    return hover;
  }
  if (const AsmParserState::OperationDefinition *op = findOp(loc)) {
    hover.contents.value = describeOp(op->op);
    return hover;
  }
  for (const AsmParserState::BlockDefinition &block : state.getBlockDefs())
    for (auto [index, argument] : llvm::enumerate(block.arguments))
      if (contains(argument, loc)) {
        llvm::raw_string_ostream(hover.contents.value)
            << "argument `" << block.block->getArgument(index).getType()
            << "`\n";
        return hover;
      }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::vector<lsp::DocumentSymbol> Document::getSymbols() {
  std::vector<lsp::DocumentSymbol> result;
  for (const AsmParserState::OperationDefinition &op : state.getOpDefs()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op.op);
    if (!symbol || !symbol.getNameAttr())
      continue;
    lsp::Range range(sources, op.scopeLoc.isValid() ? op.scopeLoc : op.loc);
    lsp::SymbolKind kind = op.op->getNumRegions() ? lsp::SymbolKind::Function
                                                  : lsp::SymbolKind::Constant;
    result.emplace_back(symbol.getName(), kind, range,
                        lsp::Range(sources, op.loc));
    result.back().detail = op.op->getName().getStringRef().str();
  }
  return result;
}

/// What the text before a word ends in, without spaces.
static char getLastChar(StringRef before) {
  before = before.rtrim(" \t\n");
  return before.empty() ? 0 : before.back();
}

lsp::CompletionList Document::complete(lsp::Position position) {
  lsp::CompletionList list;
  SMLoc loc = getLoc(position);
  if (!loc.isValid())
    return list;
  StringRef before = getBefore(getWord(loc));
  completeFromParser(loc, list);
  if (before.ends_with("@"))
    addDeclaredNames(text, list);
  if (isSigil(before) || !isInBrackets(before))
    return list;
  if (getLastChar(before) == ':')
    addAxes(text, list);
  else
    for (const auto &symbol : symbols)
      addItem(list, symbol.first(), lsp::CompletionItemKind::Variable,
              symbol.second);
  return list;
}

void Document::completeFromParser(SMLoc loc, lsp::CompletionList &list) {
  CompletionContext completion(loc, list, context);
  ScopedDiagnosticHandler ignore(&context, [](Diagnostic &) {});
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(&context));
  AsmParserState scratchState;
  (void)parseAsmSourceFile(sources, scratch->getBody(),
                           ParserConfig(&context, /*verifyAfterParse=*/false),
                           &scratchState, &completion);
}
