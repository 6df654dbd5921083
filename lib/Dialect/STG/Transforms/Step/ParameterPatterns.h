//===- ParameterPatterns.h - Parameters by patterns of names ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H

#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <set>

namespace stg {

/// Patterns of names of what a pass keeps as it is: each is for a whole name,
/// or for what stands behind its last dot. Knows which of them were of use.
class NamePatterns {
public:
  /// Says at `op` which pattern is none.
  llvm::LogicalResult read(mlir::Operation *op,
                           llvm::ArrayRef<std::string> texts) {
    patterns.clear();
    names.clear();
    for (const std::string &text : texts) {
      llvm::Expected<llvm::GlobPattern> pattern =
          llvm::GlobPattern::create(text);
      if (!pattern)
        return op->emitError("keeps '")
               << text << "': " << llvm::toString(pattern.takeError());
      patterns.push_back({text, std::move(*pattern)});
    }
    return llvm::success();
  }

  bool match(llvm::StringRef name) {
    llvm::StringRef own = name.rsplit('.').second;
    if (!patterns.empty())
      names.insert((own.empty() ? name : own).str());
    bool isMatched = false;
    for (Pattern &pattern : patterns)
      if (pattern.glob.match(name) || pattern.glob.match(own))
        isMatched = pattern.isUsed = true;
    return isMatched;
  }

  /// Says at `op` which pattern has matched none of the names, but for those of
  /// `optional`.
  llvm::LogicalResult checkUsed(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<llvm::StringRef> optional = {}) {
    for (const Pattern &pattern : patterns)
      if (!pattern.isUsed && !llvm::is_contained(optional, pattern.text))
        return op->emitError("keeps '")
               << pattern.text << "', which is the name of none of its " << what
               << (names.empty() ? "; there are none" : "; these are ")
               << llvm::join(names, ", ");
    return llvm::success();
  }

private:
  struct Pattern {
    std::string text;
    llvm::GlobPattern glob;
    bool isUsed = false;
  };
  llvm::SmallVector<Pattern> patterns;
  std::set<std::string> names; ///< Behind the last dots.
};

/// Those of parameters.
class ParameterPatterns : public NamePatterns {
public:
  bool match(ParamOp param) {
    return NamePatterns::match(param.getParamName());
  }
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H
