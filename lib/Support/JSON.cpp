//===- JSON.cpp - JSON that others have written ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/JSON.h"
#include "stg/Support/Error.h"
#include "stg/Support/Files.h"

using namespace llvm;

/// True if brackets outside of strings are nested more than kMaxJSONDepth deep.
static bool isTooDeep(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
      continue;
    }
    if (c == '"')
      inString = true;
    else if (c == '[' || c == '{')
      ++depth;
    else if ((c == ']' || c == '}') && depth > 0)
      --depth;
    if (depth > stg::kMaxJSONDepth)
      return true;
  }
  return false;
}

Expected<json::Value> stg::parseJSON(StringRef text) {
  if (isTooDeep(text))
    return makeError("not valid JSON: it is nested more than " +
                     Twine(kMaxJSONDepth) + " levels deep");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return makeError("not valid JSON: " + toString(value.takeError()));
  return value;
}

Expected<json::Value> stg::readJSON(StringRef path) {
  ReadOptions options;
  options.maxBytes = kMaxJSONBytes;
  options.isNullTerminated = false;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path, options);
  if (!buffer)
    return buffer.takeError();
  return parseJSON((*buffer)->getBuffer());
}
