//===- DiagnosticForwarder.cpp - MLIR's diagnostics as messages -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/DiagnosticForwarder.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace stg;

/// Where the op stands in the text; nothing if no text has it.
static std::optional<ToolMessage::Place> getPlace(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return std::nullopt;
  // What is in no line of a file, a trace for example, is at 0:0.
  return ToolMessage::Place{place.getFilename().str(), place.getLine(),
                            place.getColumn()};
}

static ToolMessage::Severity getSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return ToolMessage::Severity::Error;
  case DiagnosticSeverity::Warning:
    return ToolMessage::Severity::Warning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return ToolMessage::Severity::Remark;
  }
  llvm_unreachable("all severities are above");
}

static ToolMessage toMessage(Diagnostic &diagnostic) {
  ToolMessage message;
  message.severity = getSeverity(diagnostic.getSeverity());
  message.place = getPlace(diagnostic.getLocation());
  message.text = diagnostic.str();
  // An op of a function that was inlined has the places of its calls.
  for (auto call = diagnostic.getLocation()->findInstanceOf<CallSiteLoc>();
       call; call = call.getCaller()->findInstanceOf<CallSiteLoc>())
    message.notes.push_back({getPlace(call.getCaller()), "called from"});
  for (Diagnostic &note : diagnostic.getNotes())
    message.notes.push_back({getPlace(note.getLocation()), note.str()});
  return message;
}

DiagnosticForwarder::DiagnosticForwarder(MLIRContext &context,
                                         llvm::SourceMgr &sources,
                                         const MessagePrinter &printer) {
  // MLIR's handler shows lines of the source; what is in none is a message.
  const bool takesAll = printer.takesParts();
  if (!takesAll)
    text.emplace(sources, &context, printer.getStream());
  messages.emplace(&context, [&printer, takesAll](Diagnostic &diagnostic) {
    if (!takesAll && getPlace(diagnostic.getLocation()))
      return failure();
    printer.print(toMessage(diagnostic));
    return success();
  });
}
