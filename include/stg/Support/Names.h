//===- Names.h - Names that go into traces ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_NAMES_H
#define STG_SUPPORT_NAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stg {

/// What is expected of a name of a node, a buffer or a loop, and what is found;
/// empty if nothing is wrong with it. Names go into files that other tools
/// read: commas and equals signs are separators in the logs of simulators, and
/// strings of protobuf are UTF-8.
std::string findFlawOfName(llvm::StringRef name);

} // namespace stg

#endif // STG_SUPPORT_NAMES_H
