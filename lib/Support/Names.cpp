//===- Names.cpp - Names, and what is wrong with them ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Names.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include <optional>
#include <tuple>

using namespace llvm;

std::string stg::findFlawOfName(StringRef name) {
  if (name.empty())
    return "a name that is not empty";
  if (any_of(name, [](unsigned char c) {
        return c < 0x20 || c == 0x7f || c == ',' || c == '=';
      }))
    return "a name without control characters, commas and equals signs, "
           "found '" +
           shortenText(name) + "'";
  const UTF8 *begin = name.bytes_begin();
  if (!isLegalUTF8String(&begin, name.bytes_end()))
    return "a name in UTF-8";
  return "";
}

namespace {
/// How far a name is from a word; less is nearer.
struct Likeness {
  enum Kind { Begun, Misspelled, Part, BegunMisspelled } kind;
  size_t distance;
};
} // namespace

/// True if `part` is all of the word up to a sign that is no letter, or from
/// one.
static bool isPart(StringRef part, StringRef word) {
  if (part.empty() || part.size() >= word.size())
    return false;
  return (word.starts_with(part) && !isAlnum(word[part.size()])) ||
         (word.ends_with(part) &&
          !isAlnum(word[word.size() - part.size() - 1]));
}

static std::optional<Likeness> compare(StringRef word, StringRef name) {
  size_t length = word.size();
  if (length == 0)
    return std::nullopt;
  if (length > 1 && name.starts_with(word))
    return Likeness{Likeness::Begun, name.size() - length};
  size_t distance = word.edit_distance(name);
  // A third of the letters, rounded: two of five, which are one in a wrong
  // place.
  if (distance <= std::max<size_t>(1, (length + 1) / 3))
    return Likeness{Likeness::Misspelled, distance};
  if (isPart(name, word))
    return Likeness{Likeness::Part, length - name.size()};
  size_t nearest = SIZE_MAX;
  for (size_t size : {length - 1, length, length + 1})
    if (size < name.size())
      nearest =
          std::min<size_t>(nearest, word.edit_distance(name.take_front(size)));
  if (length > 3 && nearest <= std::max<size_t>(1, length / 4))
    return Likeness{Likeness::BegunMisspelled, nearest};
  return std::nullopt;
}

std::vector<std::string> stg::findSimilarNames(StringRef word,
                                               ArrayRef<std::string> names,
                                               size_t most) {
  std::string lower = word.lower();
  std::vector<std::tuple<Likeness::Kind, size_t, size_t, std::string>> found;
  for (const std::string &name : names)
    if (auto like = compare(lower, StringRef(name).lower()))
      found.push_back({like->kind, like->distance, name.size(), name});
  llvm::sort(found);
  std::vector<std::string> result;
  for (const auto &entry : ArrayRef(found).take_front(most))
    result.push_back(std::get<std::string>(entry));
  return result;
}
