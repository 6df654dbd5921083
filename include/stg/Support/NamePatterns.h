//===- NamePatterns.h - Patterns of names -----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_NAMEPATTERNS_H
#define STG_SUPPORT_NAMEPATTERNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <memory>
#include <set>
#include <string>

namespace stg {

/// Patterns of names of what a pass treats apart: each is for a whole name, or
/// for what stands behind its last dot. Knows which of them were of use.
class NamePatterns {
public:
  /// `verb` says in messages what is done with what has such a name.
  explicit NamePatterns(llvm::StringRef verb = "keeps") : verb(verb) {}

  /// Takes the patterns in the place of earlier ones, if they are some.
  llvm::Error read(llvm::ArrayRef<std::string> texts);

  bool isEmpty() const { return patterns.empty(); }

  bool match(llvm::StringRef name);

  /// Says which pattern has matched none of the names, but for those of
  /// `optional`. `what` is what has names, in the plural.
  llvm::Error checkUsed(llvm::StringRef what,
                        llvm::ArrayRef<llvm::StringRef> optional = {}) const;

private:
  struct Pattern {
    std::shared_ptr<const std::string> text; ///< Which the glob reads.
    llvm::GlobPattern glob;
    bool isUsed = false;
  };
  std::string verb;
  llvm::SmallVector<Pattern> patterns;
  std::set<std::string> names; ///< Behind the last dots.
};

} // namespace stg

#endif // STG_SUPPORT_NAMEPATTERNS_H
