//===- Messages.h - What tools say about their input ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors and warnings of all tools, whoever finds them: a check of ours, LLVM's
// command line, MLIR. They go to standard error, for a person as text or for a
// program as JSON (docs/Formats.md), one object a line.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_MESSAGES_H
#define STG_SUPPORT_MESSAGES_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stg {

/// What a tool says, and where it was seen.
struct ToolMessage {
  enum class Severity { Error, Warning, Remark };
  /// Lines and columns count from 1.
  struct Place {
    std::string file;
    int64_t line = 1, column = 1;
  };
  struct Note {
    std::optional<Place> place;
    std::string text;
  };

  Severity severity = Severity::Error;
  std::optional<Place> place;
  std::string text;
  std::vector<Note> notes;
};

/// Prints the messages of one tool, or hands them to who asked for them.
class MessagePrinter {
public:
  using Handler = std::function<void(const ToolMessage &)>;

  explicit MessagePrinter(llvm::StringRef tool,
                          llvm::raw_ostream &os = llvm::errs())
      : tool(tool.str()), os(&os) {}
  /// Nothing is printed: each message goes to `handler`.
  explicit MessagePrinter(Handler handler)
      : os(&llvm::errs()), handler(std::move(handler)) {}

  void setJSON(bool value) { json = value; }
  bool isJSON() const { return json; }
  /// True if messages are taken in parts; false if they become text, which MLIR
  /// prints with the line of the source.
  bool takesParts() const { return json || handler; }
  llvm::raw_ostream &getStream() const { return *os; }

  void print(const ToolMessage &message) const;
  void error(const llvm::Twine &text) const;
  void warning(const llvm::Twine &text) const;
  /// Each of the errors that are joined in `errors`.
  void error(llvm::Error errors) const;

private:
  void printText(const ToolMessage &message) const;
  void printJSON(const ToolMessage &message) const;

  std::string tool;
  llvm::raw_ostream *os;
  bool json = false;
  Handler handler;
};

/// Makes a standard output that cannot be written (a full disk) an error of the
/// tool, with exit status 1, however the process ends, and `--version` that of
/// the tool. To be called at the start of main. The printer lives until then.
MessagePrinter &guardStandardStreams(llvm::StringRef tool);

/// Parses flags as llvm::cl::ParseCommandLineOptions does. What is wrong with
/// them is printed as all messages are: as JSON, if `--json` is among them.
bool parseCommandLine(int argc, char **argv, llvm::StringRef overview,
                      MessagePrinter &printer);

} // namespace stg

#endif // STG_SUPPORT_MESSAGES_H
