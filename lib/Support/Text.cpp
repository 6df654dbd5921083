//===- Text.cpp - Text of others in messages ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

/// Number of bytes of the valid UTF-8 sequence that `text` starts with, or 0.
static unsigned getSequenceLength(StringRef text) {
  const UTF8 *first = text.bytes_begin();
  unsigned length = getNumBytesForUTF8(*first);
  if (length > text.size() || !isLegalUTF8Sequence(first, first + length))
    return 0;
  return length;
}

std::string stg::escapeText(StringRef text) {
  std::string result;
  while (!text.empty()) {
    unsigned length = getSequenceLength(text);
    unsigned char first = static_cast<unsigned char>(text.front());
    bool isControl = first < 0x20 || first == 0x7f;
    if (length == 0 || isControl) {
      result += {'\\', 'x', hexdigit(first >> 4, /*LowerCase=*/true),
                 hexdigit(first & 15, /*LowerCase=*/true)};
      text = text.drop_front();
      continue;
    }
    result += text.take_front(length);
    text = text.drop_front(length);
  }
  return result;
}

std::string stg::shortenText(StringRef text) {
  constexpr size_t kMaxBytes = 200, kBytesShown = 160;
  if (text.size() <= kMaxBytes)
    return escapeText(text);
  // Up to where a character begins.
  size_t end = kBytesShown;
  while (end > kBytesShown - 4 && (text[end] & 0xc0) == 0x80)
    --end;
  return escapeText(text.take_front(end)) + "... (" +
         std::to_string(text.size()) + " bytes)";
}

std::string stg::joinWords(ArrayRef<std::string> words, StringRef last) {
  std::string text;
  for (auto [i, word] : enumerate(words)) {
    if (i != 0)
      text += i + 1 == words.size() ? (" " + last + " ").str() : ", ";
    text += word;
  }
  return text;
}
