//===- Support.cpp - Errors of the C interface ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI.h"

using namespace llvm;
using namespace stg;
using namespace stg::capi;

static StgSeverity toSeverity(ToolMessage::Severity severity) {
  switch (severity) {
  case ToolMessage::Severity::Error:
    return STG_ERROR;
  case ToolMessage::Severity::Warning:
    return STG_WARNING;
  case ToolMessage::Severity::Remark:
    return STG_REMARK;
  }
  llvm_unreachable("all severities are above");
}

static StringRef stringify(StgSeverity severity) {
  switch (severity) {
  case STG_ERROR:
    return "error";
  case STG_WARNING:
    return "warning";
  case STG_REMARK:
    return "remark";
  case STG_NOTE:
    return "note";
  }
  llvm_unreachable("all severities are above");
}

void MessageList::add(const ToolMessage &message) {
  messages.push_back(
      {toSeverity(message.severity), message.place, message.text});
  for (const ToolMessage::Note &note : message.notes)
    messages.push_back({STG_NOTE, note.place, note.text});
}

void MessageList::add(Error errors) {
  handleAllErrors(std::move(errors), [&](const ErrorInfoBase &part) {
    messages.push_back({STG_ERROR, std::nullopt, part.message()});
  });
}

StgMessage MessageList::get(size_t index) const {
  if (index >= messages.size())
    return {STG_ERROR, toText(""), toText(""), 0, 0};
  const Entry &entry = messages[index];
  StgMessage message = {entry.severity, toText(entry.text), toText(""), 0, 0};
  if (entry.place) {
    message.file = toText(entry.place->file);
    message.line = entry.place->line;
    message.column = entry.place->column;
  }
  return message;
}

std::string MessageList::getText() const {
  std::string text;
  raw_string_ostream os(text);
  for (const Entry &entry : messages) {
    if (entry.place)
      os << entry.place->file << ':' << entry.place->line << ':'
         << entry.place->column << ": ";
    os << stringify(entry.severity) << ": " << entry.text << '\n';
  }
  return text;
}

StgError *stg::capi::toStgError(MessageList messages) {
  auto *error = new StgError{std::move(messages), {}, false};
  error->text = error->messages.getText();
  return error;
}

StgError *stg::capi::toStgError(Error error) {
  if (!error)
    return nullptr;
  MessageList messages;
  messages.add(std::move(error));
  return toStgError(std::move(messages));
}

StgError *stg::capi::makeInterruption() {
  ToolMessage message;
  message.text = "interrupted";
  MessageList messages;
  messages.add(message);
  StgError *error = toStgError(std::move(messages));
  error->isInterruption = true;
  return error;
}

size_t stgErrorGetNumMessages(const StgError *error) {
  return error ? error->messages.size() : 0;
}

StgMessage stgErrorGetMessage(const StgError *error, size_t index) {
  return error ? error->messages.get(index) : MessageList().get(index);
}

const char *stgErrorGetText(const StgError *error) {
  return error ? error->text.c_str() : "";
}

bool stgErrorIsInterruption(const StgError *error) {
  return error && error->isInterruption;
}

void stgErrorDestroy(StgError *error) { delete error; }

const char *stgGetVersion() { return STG_VERSION; }
