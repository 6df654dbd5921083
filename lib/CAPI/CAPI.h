//===- CAPI.h - What the parts of the C interface share ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CAPI_CAPI_H
#define STG_LIB_CAPI_CAPI_H

#include "stg-c/TraceBundle.h"
#include "stg/Support/Messages.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include <memory>

/// Messages as C has them.
class MessageList {
public:
  /// Takes the message and its notes.
  void add(const stg::ToolMessage &message);
  /// Takes each of the errors that are joined in `errors`.
  void add(llvm::Error errors);

  bool empty() const { return messages.empty(); }
  size_t size() const { return messages.size(); }
  StgMessage get(size_t index) const;
  /// All of them as lines.
  std::string getText() const;

private:
  struct Entry {
    StgSeverity severity;
    std::optional<stg::ToolMessage::Place> place;
    std::string text;
  };
  std::vector<Entry> messages;
};

struct StgError {
  MessageList messages;
  std::string text;
  bool isInterruption = false;
};

struct StgTraceBundle {
  std::unique_ptr<stg::trace::TraceBundle> bundle;
};

namespace stg::capi {

inline StgText toText(llvm::StringRef text) {
  return {text.data(), text.size()};
}

/// A null pointer is the empty text.
inline llvm::StringRef toStringRef(const char *text) {
  return text ? llvm::StringRef(text) : llvm::StringRef();
}

inline StgExact toExact(__int128 value) {
  return {static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value)};
}

StgError *toStgError(MessageList messages);
/// Null for success.
StgError *toStgError(llvm::Error error);
/// Of a call that its caller stopped.
StgError *makeInterruption();

} // namespace stg::capi

#endif // STG_LIB_CAPI_CAPI_H
