//===- Names.cpp - Names that go into traces ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Names.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

std::string stg::findFlawOfName(StringRef name) {
  if (name.empty())
    return "a name that is not empty";
  if (any_of(name, [](unsigned char c) {
        return c < 0x20 || c == 0x7f || c == ',' || c == '=';
      }))
    return "a name without control characters, commas and equals signs, "
           "found '" +
           shortenText(name) + "'";
  const UTF8 *begin = name.bytes_begin();
  if (!isLegalUTF8String(&begin, name.bytes_end()))
    return "a name in UTF-8";
  return "";
}
