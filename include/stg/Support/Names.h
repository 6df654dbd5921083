//===- Names.h - Names, and what is wrong with them -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_NAMES_H
#define STG_SUPPORT_NAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stg {

/// What is expected of a name of a node, a buffer or a loop, and what is found;
/// empty if nothing is wrong with it. Names go into files that other tools
/// read: commas and equals signs are separators in the logs of simulators, and
/// strings of protobuf are UTF-8.
std::string findFlawOfName(llvm::StringRef name);

/// Those of the names that may be meant by a word that is none of them, the
/// likeliest first and at most `most`: what the word is the beginning of, what
/// is spelled almost like it, what it begins or ends with, and what begins
/// almost like it. Of names that have nothing in common with it there are none.
std::vector<std::string> findSimilarNames(llvm::StringRef word,
                                          llvm::ArrayRef<std::string> names,
                                          size_t most);

} // namespace stg

#endif // STG_SUPPORT_NAMES_H
