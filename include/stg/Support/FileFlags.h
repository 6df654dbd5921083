//===- FileFlags.h - Flags that name files ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_FILEFLAGS_H
#define STG_SUPPORT_FILEFLAGS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <initializer_list>
#include <utility>

namespace llvm::cl {
class Option;
} // namespace llvm::cl

namespace stg {

/// Fails if one of these flags, which stand beside the files that they name, is
/// given an empty name.
llvm::Error checkFileFlags(
    std::initializer_list<std::pair<const llvm::cl::Option *, llvm::StringRef>>
        flags);

} // namespace stg

#endif // STG_SUPPORT_FILEFLAGS_H
