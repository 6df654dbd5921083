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
#include "llvm/Support/GlobPattern.h"

namespace stg {

/// Patterns of names of what a pass keeps as it is: each is for a whole name,
/// or for what stands behind its last dot.
class NamePatterns {
public:
  /// Says at `op` which pattern is none.
  llvm::LogicalResult read(mlir::Operation *op,
                           llvm::ArrayRef<std::string> texts) {
    patterns.clear();
    for (const std::string &text : texts) {
      llvm::Expected<llvm::GlobPattern> pattern =
          llvm::GlobPattern::create(text);
      if (!pattern)
        return op->emitError("keeps '")
               << text << "': " << llvm::toString(pattern.takeError());
      patterns.push_back(std::move(*pattern));
    }
    return llvm::success();
  }

  bool match(llvm::StringRef name) const {
    return llvm::any_of(patterns, [&](const llvm::GlobPattern &pattern) {
      return pattern.match(name) || pattern.match(name.rsplit('.').second);
    });
  }

private:
  llvm::SmallVector<llvm::GlobPattern> patterns;
};

/// Those of parameters.
class ParameterPatterns : public NamePatterns {
public:
  bool match(ParamOp param) const {
    return NamePatterns::match(param.getParamName());
  }
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_STEP_PARAMETERPATTERNS_H
