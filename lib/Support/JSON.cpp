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
#include "stg/Support/Text.h"
#include "llvm/ADT/StringSet.h"

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

/// Past the text in quotes that begins there.
static size_t skipText(StringRef text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// What a valid text in quotes says. Escapes are another spelling, which the
/// parser knows; all else is what it says.
static std::string readKey(StringRef quoted) {
  if (!quoted.contains('\\'))
    return quoted.drop_front().drop_back().str();
  return cantFail(json::parse(quoted)).getAsString()->str();
}

/// The error of a key that an object of the valid `text` has twice, where the
/// second one is.
static Error checkKeys(StringRef text) {
  SmallVector<StringSet<>> objects;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '[' || c == '{')
      objects.emplace_back();
    else if (c == ']' || c == '}')
      objects.pop_back();
    if (c != '"') {
      ++i;
      continue;
    }
    size_t begin = i;
    i = skipText(text, begin);
    if (!text.substr(i).ltrim(" \t\r\n").starts_with(":"))
      continue;
    std::string key = readKey(text.slice(begin, i));
    if (objects.back().insert(key).second)
      continue;
    StringRef before = text.take_front(begin);
    size_t line = before.rfind('\n');
    return stg::makeError(
        "[" + Twine(static_cast<uint64_t>(before.count('\n') + 1)) + ":" +
        Twine(static_cast<uint64_t>(begin -
                                    (line == StringRef::npos ? 0 : line + 1))) +
        ", byte=" + Twine(static_cast<uint64_t>(begin)) + "]: key '" +
        stg::shortenText(key) +
        "' is there twice; which one counts depends on the reader");
  }
  return Error::success();
}

Expected<json::Value> stg::parseJSON(StringRef text) {
  if (isTooDeep(text))
    return makeError("not valid JSON: it is nested more than " +
                     Twine(kMaxJSONDepth) + " levels deep");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return makeError("not valid JSON: " + toString(value.takeError()));
  if (Error error = checkKeys(text))
    return makeError("not valid JSON: " + toString(std::move(error)));
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
