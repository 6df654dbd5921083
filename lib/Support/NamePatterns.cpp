//===- NamePatterns.cpp - Patterns of names -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/NamePatterns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stg;

Error NamePatterns::read(ArrayRef<std::string> texts) {
  patterns.clear();
  names.clear();
  for (const std::string &text : texts) {
    auto own = std::make_shared<const std::string>(text);
    Expected<GlobPattern> pattern = GlobPattern::create(*own);
    if (!pattern)
      return createStringError(verb + " '" + text +
                               "': " + toString(pattern.takeError()));
    patterns.push_back({std::move(own), std::move(*pattern)});
  }
  return Error::success();
}

bool NamePatterns::match(StringRef name) {
  StringRef own = name.rsplit('.').second;
  if (!patterns.empty())
    names.insert((own.empty() ? name : own).str());
  bool isMatched = false;
  for (Pattern &pattern : patterns)
    if (pattern.glob.match(name) || pattern.glob.match(own))
      isMatched = pattern.isUsed = true;
  return isMatched;
}

Error NamePatterns::checkUsed(StringRef what,
                              ArrayRef<StringRef> optional) const {
  for (const Pattern &pattern : patterns)
    if (!pattern.isUsed && !is_contained(optional, *pattern.text))
      return createStringError(
          Twine(verb) + " '" + *pattern.text +
          "', which is the name of none of its " + what +
          (names.empty() ? "; there are none" : "; these are ") +
          join(names, ", "));
  return Error::success();
}
