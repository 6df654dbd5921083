//===- Error.h - Errors with a message --------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_ERROR_H
#define STG_SUPPORT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace stg {

/// An error that says `message`. Unlike with llvm::createStringError a literal
/// is no format, so that it may have percent signs.
inline llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Of a file.
inline llvm::Error makeError(llvm::StringRef file, const llvm::Twine &message) {
  return makeError(file + ": " + message);
}

} // namespace stg

#endif // STG_SUPPORT_ERROR_H
