//===- StrategyFlags.cpp - The command line of a strategy -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/StrategyFlags.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg;

namespace {
/// Remembers what was given. All values are read in one place, so that flags
/// and files get the same messages.
class FieldFlag final : public cl::Option {
public:
  FieldFlag(const Field &field, cl::OptionCategory &category)
      : Option(field.isList ? cl::ZeroOrMore : cl::Optional, cl::NotHidden),
        field(field), help(field.getHelp()), valueName(field.getValueName()) {
    setArgStr(field.name);
    setDescription(help);
    setValueStr(valueName);
    addCategory(category);
    if (field.kind == Field::Kind::Schedule)
      for (const auto &[name, meaning] : listSchedules())
        values.emplace_back(name, meaning);
    for (const NamedValue &value : field.values)
      values.emplace_back(value.name, value.meaning);
    addArgument();
  }
  ~FieldFlag() override { removeArgument(); }

  const Field &field;
  std::vector<std::string> texts; ///< As given, in order.

private:
  /// Means something without a value.
  bool isSwitch() const {
    return field.kind == Field::Kind::Bool ||
           (field.kind == Field::Kind::Words && !field.needsValue);
  }

  bool handleOccurrence(unsigned, StringRef, StringRef text) override {
    texts.push_back(text.str());
    return false;
  }
  cl::ValueExpected getValueExpectedFlagDefault() const override {
    return isSwitch() ? cl::ValueOptional : cl::ValueRequired;
  }
  std::string getTag() const {
    std::string tag = "  --" + field.name.str();
    return isSwitch() ? tag : tag + "=<" + valueName + ">";
  }
  size_t getOptionWidth() const override {
    size_t width = getTag().size();
    for (const auto &[name, meaning] : values)
      width = std::max(width, name.size() + 5);
    return width + 3;
  }
  void printOptionInfo(size_t width) const override {
    std::string tag = getTag();
    outs() << tag;
    printHelpStr(HelpStr, width, tag.size() + 3);
    for (const auto &[name, meaning] : values) {
      outs() << "    =" << name;
      printEnumValHelpStr(meaning, width, name.size() + 8);
    }
  }
  void printOptionValue(size_t, bool) const override {}
  void setDefault() override { texts.clear(); }

  std::string help, valueName;
  std::vector<std::pair<std::string, std::string>> values;
};
} // namespace

/// As `--version` does: nothing else of the command line counts.
static void printAndExit(void (*print)(raw_ostream &)) {
  print(outs());
  outs().flush();
  exit(0);
}

StrategyFlags::StrategyFlags() {
  for (const Field &field : getFields()) {
    if (!(field.scopes & Field::Flags))
      continue;
    StringRef title = getTitle(field.group);
    if (categories.empty() || categories.back()->getName() != title)
      categories.push_back(std::make_unique<cl::OptionCategory>(title));
    flags.push_back(std::make_unique<FieldFlag>(field, *categories.back()));
  }
  file = std::make_unique<cl::opt<std::string>>(
      "strategy", cl::value_desc("FILE.json"),
      cl::desc("Read the strategy that --json or a manifest has; flags "
               "override it"),
      cl::cat(*categories.front()));
  schema = std::make_unique<cl::opt<bool>>(
      "strategy-schema",
      cl::desc("Print the JSON schema of strategy files and exit"),
      cl::cat(*categories.front()),
      cl::callback([](const bool &) { printAndExit(writeStrategySchema); }));
  reference = std::make_unique<cl::opt<bool>>(
      "strategy-reference", cl::Hidden,
      cl::desc("Print the page of the documentation and exit"),
      cl::cat(*categories.front()),
      cl::callback([](const bool &) { printAndExit(writeStrategyReference); }));
}

StrategyFlags::~StrategyFlags() = default;

std::vector<const cl::OptionCategory *> StrategyFlags::getCategories() const {
  std::vector<const cl::OptionCategory *> result;
  for (const auto &category : categories)
    result.push_back(category.get());
  return result;
}

bool StrategyFlags::hasFile() const { return file->getNumOccurrences(); }

StringRef StrategyFlags::getFile() const { return *file; }

Expected<StrategyInput> StrategyFlags::read(StrategyInput &fromFile) const {
  return read(fromFile, hasFile() ? StringRef(*file) : StringRef());
}

Expected<StrategyInput> StrategyFlags::read(StrategyInput &fromFile,
                                            StringRef path,
                                            StringRef plan) const {
  if (!path.empty())
    if (Error error = fromFile.readFile(path, plan))
      return error;
  StrategyInput given;
  for (const auto &option : flags) {
    auto &flag = static_cast<const FieldFlag &>(*option);
    for (const std::string &text : flag.texts)
      if (Error error = given.set(flag.field, text, GivenBy::Flag))
        return error;
  }
  return StrategyInput::combine(fromFile, given);
}
