//===- CommandLine.cpp - Flags, and what is wrong with them ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/CommandLine.h"
#include "stg/Support/Error.h"
#include "stg/Support/FileFlags.h"
#include "stg/Support/Messages.h"
#include "stg/Support/Names.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace stg;

namespace {
/// Keeps what is written to standard error. An option of LLVM that has a wrong
/// value says so there and nowhere else.
class CapturedErrors {
public:
  CapturedErrors();
  ~CapturedErrors() { finish(); }
  CapturedErrors(const CapturedErrors &) = delete;
  CapturedErrors &operator=(const CapturedErrors &) = delete;

  /// What was written until now. From now on nothing is kept.
  std::string finish();

private:
  /// `-h` ends the process in the middle.
  static void finishAtExit();
  static CapturedErrors *active;

  SmallString<128> path;
  int saved = -1; ///< Standard error as it was.
};
} // namespace

CapturedErrors *CapturedErrors::active = nullptr;

CapturedErrors::CapturedErrors() {
  int file;
  if (sys::fs::createTemporaryFile("stg", "txt", file, path))
    return;
  saved = dup(STDERR_FILENO);
  if (saved >= 0)
    dup2(file, STDERR_FILENO);
  close(file);
  active = this;
  std::atexit(finishAtExit);
}

void CapturedErrors::finishAtExit() {
  if (active)
    active->finish();
}

std::string CapturedErrors::finish() {
  active = nullptr;
  if (saved < 0)
    return "";
  errs().flush();
  dup2(saved, STDERR_FILENO);
  close(saved);
  saved = -1;
  std::string text;
  if (auto buffer = MemoryBuffer::getFile(path))
    text = (*buffer)->getBuffer().str();
  sys::fs::remove(path);
  return text;
}

/// True if `--json` is among the flags: it decides how others are complained
/// of.
static bool asksForJSON(int argc, char **argv) {
  bool result = false;
  for (int i = 1; i < argc; ++i) {
    StringRef flag = argv[i];
    if (flag == "--")
      break;
    if (!flag.consume_front("--") && !flag.consume_front("-"))
      continue;
    if (flag.consume_front("json"))
      result = flag.empty() || flag == "=true" || flag == "=1" ||
               flag == "=TRUE" || flag == "=True" ||
               (!flag.starts_with("=") && result);
  }
  return result;
}

/// A value that an option does not have, with those that it has where these are
/// written as `a|b`; what LLVM says of anything else.
static std::string rewriteComplaint(StringRef line) {
  StringRef rest = line;
  if (!rest.consume_front("for the --"))
    return line.str();
  auto [name, what] = rest.split(" option: ");
  const cl::Option *option = cl::getRegisteredOptions().lookup(name);
  if (!option || !option->ValueStr.contains('|') ||
      !what.consume_front("Cannot find option named '") ||
      !what.consume_back("'!"))
    return line.str();
  SmallVector<StringRef> values;
  option->ValueStr.split(values, '|');
  return ("--" + name + " " + what + ": expected " +
          joinWords(std::vector<std::string>(values.begin(), values.end()),
                    "or"))
      .str();
}

/// True if `word` can only be meant as the value of the option, although it
/// stands behind a blank: of an option that means something by itself LLVM
/// takes that for an argument of the tool.
static bool isDetachedValue(const cl::Option &option, StringRef word) {
  if (option.getValueExpectedFlag() != cl::ValueOptional ||
      word.starts_with("-"))
    return false;
  return !option.ValueStr.empty() || word == "true" || word == "false";
}

/// What was meant where there are too many arguments.
static std::vector<ToolMessage::Note>
listDetachedValues(ArrayRef<char *> arguments) {
  std::vector<ToolMessage::Note> notes;
  for (auto [flag, word] : zip(arguments, arguments.drop_front())) {
    StringRef name = flag;
    if (name == "--")
      break;
    if (!name.consume_front("--") && !name.consume_front("-"))
      continue;
    const cl::Option *option = cl::getRegisteredOptions().lookup(name);
    if (option && isDetachedValue(*option, word))
      notes.push_back({{},
                       ("--" + name +
                        " takes a value behind '=' only: did "
                        "you mean '--" +
                        name + "=" + word + "'?")
                           .str()});
  }
  return notes;
}

/// The subcommand that was given; without one what all tools have.
static cl::SubCommand &getSubCommand() {
  for (cl::SubCommand *command : cl::getRegisteredSubcommands())
    if (*command)
      return *command;
  return cl::SubCommand::getTopLevel();
}

/// What a tool, or the subcommand that was given, works on.
static std::string describeMissing(StringRef tool) {
  cl::SubCommand &command = getSubCommand();
  std::vector<std::string> names;
  for (const cl::Option *option : command.PositionalOpts)
    if (option->getNumOccurrencesFlag() == cl::Required)
      names.push_back(option->HelpStr.str());
  std::string whole = tool.str();
  if (!command.getName().empty())
    whole += " " + command.getName().str();
  return "expected " + joinWords(names, "and") + "; '" + whole +
         " --help' has the rest";
}

/// The flag that may be meant by one that is not known. That of LLVM is the
/// nearest one, however far it is.
static std::vector<ToolMessage::Note> suggestFlag(StringRef given) {
  auto [word, value] = given.ltrim('-').split('=');
  std::vector<std::string> names;
  for (const auto &[name, option] : cl::getRegisteredOptions(getSubCommand()))
    if (name.size() > 1 && option->getOptionHiddenFlag() == cl::NotHidden)
      names.push_back(name.str());
  std::vector<std::string> similar = findSimilarNames(word, names, 1);
  if (similar.empty() || !given.starts_with("-"))
    return {};
  std::string meant = "--" + similar.front();
  if (given.contains('='))
    meant += ("=" + value).str();
  return {{{}, "Did you mean '" + meant + "'?"}};
}

static std::vector<ToolMessage::Note> suggestSubCommand(StringRef given) {
  std::vector<std::string> names;
  for (const cl::SubCommand *command : cl::getRegisteredSubcommands())
    if (!command->getName().empty())
      names.push_back(command->getName().str());
  std::vector<std::string> similar = findSimilarNames(given, names, 1);
  if (similar.empty())
    return {};
  return {{{}, "Did you mean '" + similar.front() + "'?"}};
}

/// Leaves out what follows from something else that is wrong: the value of a
/// flag that is not known is taken for an argument, and what a subcommand that
/// is not known would take for something unknown.
static void dropConsequences(std::vector<ToolMessage> &messages) {
  auto begins = [](StringRef text) {
    return [text](const ToolMessage &message) {
      return StringRef(message.text).starts_with(text);
    };
  };
  auto command = llvm::find_if(messages, begins("Unknown subcommand"));
  if (command != messages.end())
    messages = {ToolMessage(*command)};
  if (any_of(messages, begins("Unknown command line argument '-")))
    erase_if(messages, begins("Too many positional arguments"));
}

Error stg::checkFileFlags(
    std::initializer_list<std::pair<const cl::Option *, StringRef>> flags) {
  for (auto [flag, file] : flags)
    if (flag->getNumOccurrences() && file.empty())
      return makeError("--" + flag->ArgStr +
                       " is empty: expected the name of a file");
  return Error::success();
}

/// Prints the complaints of LLVM's command line, each a line that begins with
/// the name of the tool.
static void printComplaints(StringRef text, ArrayRef<char *> arguments,
                            MessagePrinter &printer) {
  StringRef tool = sys::path::filename(arguments[0]);
  std::string prefix = (tool + ": ").str();
  std::vector<ToolMessage> messages;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    line.consume_front(prefix);
    line = line.trim();
    if (line.starts_with("Did you mean") ||
        line.starts_with("Not enough positional"))
      continue;
    if (line.consume_front("Can specify at most ") && !messages.empty())
      messages.back().text += (" At most " + line.split(":").first + ".").str();
    else if (line.starts_with("Must specify at least "))
      messages.push_back(
          {ToolMessage::Severity::Error, {}, describeMissing(tool), {}});
    else if (!line.empty())
      messages.push_back(
          {ToolMessage::Severity::Error, {}, rewriteComplaint(line), {}});
    if (line.starts_with("Too many positional arguments"))
      messages.back().notes = listDetachedValues(arguments);
    else if (line.consume_front("Unknown command line argument '"))
      messages.back().notes = suggestFlag(line.split("'.  Try:").first);
    else if (line.consume_front("Unknown subcommand '"))
      messages.back().notes = suggestSubCommand(line.split("'.  Try:").first);
  }
  dropConsequences(messages);
  for (const ToolMessage &message : messages)
    printer.print(message);
}

bool stg::parseCommandLine(int argc, char **argv, StringRef overview,
                           MessagePrinter &printer) {
  printer.setJSON(asksForJSON(argc, argv));
  std::string text;
  raw_string_ostream stream(text);
  CapturedErrors captured;
  bool isGood = cl::ParseCommandLineOptions(argc, argv, overview, &stream);
  text += captured.finish();
  printComplaints(text, ArrayRef<char *>(argv, argc), printer);
  return isGood;
}
