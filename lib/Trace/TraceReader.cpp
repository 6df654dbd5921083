//===- TraceReader.cpp - Streaming reader of .et files --------------------===//
//
// Framing of a trace file: repeated { varint length, message }, the first
// message being the metadata.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/TraceReader.h"

#include "MessageDecoder.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace stg::trace {

char TraceError::ID = 0;

void TraceError::log(raw_ostream &os) const { os << file << ": " << message; }

std::error_code TraceError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Expected<TraceReader> TraceReader::open(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return make_error<TraceError>(TraceError::Kind::Unreadable, path.str(),
                                  "cannot read the file: " +
                                      buffer.getError().message());
  return TraceReader(std::move(*buffer));
}

TraceReader::TraceReader(MemoryBufferRef buffer)
    : file(buffer.getBufferIdentifier()), bytes(buffer.getBuffer()),
      rest(bytes) {}

TraceReader::TraceReader(std::unique_ptr<MemoryBuffer> buffer)
    : TraceReader(buffer->getMemBufferRef()) {
  owned = std::move(buffer);
}

Error TraceReader::makeError(TraceError::Kind kind, uint64_t offset,
                             const Twine &message) const {
  std::string text = "byte " + std::to_string(offset) + ": ";
  if (inNodes)
    text += "node number " + std::to_string(numNodes) + ": ";
  return make_error<TraceError>(kind, file, text + message.str());
}

Error TraceReader::readFrame(StringRef &message) {
  uint64_t start = getOffset(rest);
  uint64_t length = 0;
  if (!consumeVarint(rest, length) || length > UINT32_MAX)
    return makeError(TraceError::Kind::Framing, start,
                     "message length is not a valid 32-bit varint");
  if (length > rest.size())
    return makeError(TraceError::Kind::Framing, start,
                     "file is truncated: message claims " + Twine(length) +
                         " bytes, but only " + Twine(rest.size()) +
                         " are left");
  message = rest.take_front(length);
  rest = rest.drop_front(length);
  return Error::success();
}

Error TraceReader::readMetadata(Metadata &metadata) {
  if (bytes.starts_with("\x1f\x8b"))
    return makeError(TraceError::Kind::Compressed, 0,
                     "file is gzip-compressed, decompress it first");
  if (bytes.starts_with("\x28\xb5\x2f\xfd"))
    return makeError(TraceError::Kind::Compressed, 0,
                     "file is zstd-compressed, decompress it first");
  if (bytes.empty())
    return makeError(TraceError::Kind::NoMetadata, 0,
                     "file is empty, expected GlobalMetadata");
  StringRef message;
  if (Error error = readFrame(message))
    return error;

  MessageDecoder decoder(message);
  uint64_t offset = getOffset(message);
  if (!decoder.decode(metadata)) {
    Node node;
    if (MessageDecoder(message).decode(node))
      return makeError(TraceError::Kind::NoMetadata, offset,
                       "first message is a node, expected GlobalMetadata "
                       "(consumers would drop this node)");
    return makeError(
        TraceError::Kind::NoMetadata, offset + decoder.getErrorPosition(),
        "first message is not a GlobalMetadata: " + decoder.getError());
  }
  metadata.offset = offset;
  metadata.size = message.size();
  inNodes = true;
  return Error::success();
}

Expected<bool> TraceReader::readNode(Node &node) {
  if (rest.empty())
    return false;
  StringRef message;
  if (Error error = readFrame(message)) {
    // Nothing after a broken length can be trusted.
    rest = bytes.take_back(0);
    return std::move(error);
  }
  uint64_t offset = getOffset(message);
  if (message.empty()) {
    Error error = makeError(TraceError::Kind::EmptyMessage, offset,
                            "message has zero length, expected a node");
    ++numNodes;
    return std::move(error);
  }
  MessageDecoder decoder(message);
  if (!decoder.decode(node)) {
    Error error =
        makeError(TraceError::Kind::Malformed,
                  offset + decoder.getErrorPosition(), decoder.getError());
    ++numNodes;
    return std::move(error);
  }
  node.offset = offset;
  node.size = message.size();
  node.ordinal = numNodes++;
  return true;
}

bool TraceReader::readNodeAt(uint64_t offset, uint64_t size, Node &node) const {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return false;
  if (!MessageDecoder(bytes.substr(offset, size)).decode(node))
    return false;
  node.offset = offset;
  node.size = size;
  return true;
}

} // namespace stg::trace
