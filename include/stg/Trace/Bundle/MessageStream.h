//===- MessageStream.h - Protobuf messages out of a bundle ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For simulators that have protobuf classes of traces and no wish for files.
// The classes may be ours (stg/Proto/et_def.pb.h) or those that the simulator
// has already; this library needs neither.
//
//   MessageStream stream(bundle, rank);
//   stg::proto::GlobalMetadata metadata;
//   stream.read(metadata);
//   stg::proto::Node node;
//   while (stream.read(node))
//     ...
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_BUNDLE_MESSAGESTREAM_H
#define STG_TRACE_BUNDLE_MESSAGESTREAM_H

#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Program/TraceEncoder.h"
#include <cassert>
#include <optional>

namespace stg::trace {

/// The messages of one rank, in the order in which its file has them.
class MessageStream {
public:
  /// The bundle must outlive the stream.
  MessageStream(const TraceBundle &bundle, int64_t rank);
  MessageStream(const MessageStream &) = delete;
  MessageStream &operator=(const MessageStream &) = delete;

  /// The bytes of the next message without its length: GlobalMetadata, then
  /// Nodes; none at the end. They live until the next call.
  std::optional<llvm::StringRef> next();

  /// Makes `message`, of a class that protobuf has generated, the next one.
  /// False at the end, where it is left as it is.
  template <typename Message> bool read(Message &message) {
    std::optional<llvm::StringRef> bytes = next();
    if (!bytes)
      return false;
    [[maybe_unused]] bool isRead =
        message.ParseFromArray(bytes->data(), static_cast<int>(bytes->size()));
    assert(isRead && "every message is of the schema");
    return true;
  }

private:
  ProgramRunner runner;
  TraceEncoder encoder; ///< Holds the metadata at first.
  std::vector<std::string> fields;
  ByteBuffer message;
  bool hasBegun = false;
};

} // namespace stg::trace

#endif // STG_TRACE_BUNDLE_MESSAGESTREAM_H
