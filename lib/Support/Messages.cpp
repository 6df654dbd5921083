//===- Messages.cpp - What tools say about their input --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Messages.h"
#include "stg/Support/Text.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"
#include <csignal>
#include <cstdlib>

using namespace llvm;
using namespace stg;
using Severity = ToolMessage::Severity;

/// To be counted up when a member changes its name or meaning, or goes.
static constexpr int64_t kMessageVersion = 1;

static StringRef stringify(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  }
  llvm_unreachable("all severities are above");
}

//===----------------------------------------------------------------------===//
// For a person
//===----------------------------------------------------------------------===//

static void printPlace(const std::optional<ToolMessage::Place> &place,
                       StringRef tool, raw_ostream &os) {
  if (place)
    os << place->file << ':' << place->line << ':' << place->column << ": ";
  else
    os << tool << ": ";
}

void MessagePrinter::printText(const ToolMessage &message) const {
  printPlace(message.place, tool, *os);
  switch (message.severity) {
  case Severity::Error:
    WithColor::error(*os);
    break;
  case Severity::Warning:
    WithColor::warning(*os);
    break;
  case Severity::Remark:
    WithColor::remark(*os);
    break;
  }
  *os << message.text << '\n';
  for (const ToolMessage::Note &note : message.notes) {
    printPlace(note.place, tool, *os);
    WithColor::note(*os) << note.text << '\n';
  }
}

//===----------------------------------------------------------------------===//
// For a program
//===----------------------------------------------------------------------===//

static void writePlace(json::OStream &json,
                       const std::optional<ToolMessage::Place> &place) {
  if (!place)
    return json.attribute("location", nullptr);
  json.attributeObject("location", [&] {
    json.attribute("file", escapeText(place->file));
    json.attribute("line", place->line);
    json.attribute("column", place->column);
  });
}

/// Line breaks stay, which JSON can say.
static std::string toJSONText(StringRef text) {
  return json::isUTF8(text) ? text.str() : escapeText(text);
}

void MessagePrinter::printJSON(const ToolMessage &message) const {
  json::OStream json(*os);
  json.object([&] {
    json.attribute("schema", "stg-message");
    json.attribute("version", kMessageVersion);
    json.attribute("tool", tool);
    json.attribute("severity", stringify(message.severity));
    writePlace(json, message.place);
    json.attribute("message", toJSONText(message.text));
    json.attributeArray("notes", [&] {
      for (const ToolMessage::Note &note : message.notes)
        json.object([&] {
          writePlace(json, note.place);
          json.attribute("message", toJSONText(note.text));
        });
    });
  });
  json.flush();
  *os << '\n';
}

//===----------------------------------------------------------------------===//
// Printer
//===----------------------------------------------------------------------===//

void MessagePrinter::print(const ToolMessage &message) const {
  if (handler)
    return handler(message);
  // What was written before stands before.
  outs().flush();
  if (json)
    printJSON(message);
  else
    printText(message);
}

void MessagePrinter::error(const Twine &text) const {
  print({Severity::Error, {}, text.str(), {}});
}

void MessagePrinter::warning(const Twine &text) const {
  print({Severity::Warning, {}, text.str(), {}});
}

void MessagePrinter::error(Error errors) const {
  handleAllErrors(std::move(errors),
                  [&](const ErrorInfoBase &part) { error(part.message()); });
}

//===----------------------------------------------------------------------===//
// Standard output
//===----------------------------------------------------------------------===//

static MessagePrinter &getPrinter(StringRef tool = "") {
  static MessagePrinter printer(tool);
  return printer;
}

/// Before LLVM's own end of outs(), which takes an error for one of our code.
static void finishStandardStreams() {
  raw_fd_ostream &out = outs();
  out.flush();
  std::error_code error = out.error();
  out.clear_error();
  if (error)
    getPrinter().error("cannot write to standard output: " + error.message());
  // There is no place to say that standard error is full.
  errs().clear_error();
  if (error)
    std::_Exit(1);
}

MessagePrinter &stg::guardStandardStreams(StringRef tool) {
  // What is constructed later is destroyed earlier.
  outs();
  errs();
  MessagePrinter &printer = getPrinter(tool);
  std::atexit(finishStandardStreams);
#ifdef SIGXFSZ
  // A file that is larger than ulimit -f allows is an error of the write. LLVM
  // has a handler that says that the tool is broken.
  std::signal(SIGXFSZ, SIG_IGN);
#endif
  cl::SetVersionPrinter([name = tool.str()](raw_ostream &os) {
    os << name << " " STG_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
  return printer;
}
