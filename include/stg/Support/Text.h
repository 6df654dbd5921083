//===- Text.h - Text of others in messages ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_TEXT_H
#define STG_SUPPORT_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace stg {

/// `text` with control characters and invalid UTF-8 written as `\xNN`, so that
/// it can go into a message or a JSON string.
std::string escapeText(llvm::StringRef text);

/// Likewise, and not longer than a message needs to tell one name from another:
/// of more than 200 bytes the first 160 or so, "... (1048576 bytes)".
std::string shortenText(llvm::StringRef text);

/// `a`, `a or b`, `a, b or c`.
std::string joinWords(llvm::ArrayRef<std::string> words, llvm::StringRef last);

} // namespace stg

#endif // STG_SUPPORT_TEXT_H
