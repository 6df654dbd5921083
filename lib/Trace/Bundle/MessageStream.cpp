//===- MessageStream.cpp - Protobuf messages out of a bundle --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Bundle/MessageStream.h"
#include "llvm/Support/LEB128.h"

using namespace llvm;
using namespace stg::trace;

MessageStream::MessageStream(const TraceBundle &bundle, int64_t rank)
    : runner(bundle.getClass(rank).program),
      encoder(bundle.getClass(rank).program, runner, bundle.getVersion()),
      fields(encodeFields(encoder.getFields(), bundle.getSpace(),
                          bundle.getGroups(), rank)) {}

std::optional<StringRef> MessageStream::next() {
  ClassImage &image = encoder.getImage();
  if (hasBegun) {
    FlatNode node;
    if (!runner.next(node))
      return std::nullopt;
    image.clear();
    encoder.encode(node);
  }
  hasBegun = true;
  StringRef bytes = image.bytes.str();
  if (image.patches.empty()) {
    unsigned length = 0;
    decodeULEB128(bytes.bytes_begin(), &length);
    return bytes.drop_front(length);
  }
  // What depends on the rank comes last, and the length is not there yet.
  message.clear();
  message.append(bytes);
  message.append(fields[image.patches.front().field]);
  return message.str();
}
