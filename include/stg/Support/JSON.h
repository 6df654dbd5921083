//===- JSON.h - JSON that others have written -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_JSON_H
#define STG_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace stg {

/// Arrays and objects in one another. The parser recurses for each level; no
/// format of ours needs ten.
constexpr unsigned kMaxJSONDepth = 64;
/// Bytes of a file. A value takes some 30 bytes for each two of them.
constexpr uint64_t kMaxJSONBytes = uint64_t(1) << 30;

/// Parses a text that may be anything. Errors here and below do not name where
/// it is from: "not valid JSON: ...".
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// Reads a file.
llvm::Expected<llvm::json::Value> readJSON(llvm::StringRef path);

} // namespace stg

#endif // STG_SUPPORT_JSON_H
