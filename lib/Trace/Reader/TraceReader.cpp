//===- TraceReader.cpp - Streaming reader of .et files --------------------===//
//
// Framing of a trace file: repeated { varint length, message }, the first
// message being the metadata.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/TraceReader.h"

#include "MessageDecoder.h"
#include "stg/Support/Files.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>

using namespace llvm;

namespace stg::trace {

char TraceError::ID = 0;

void TraceError::log(raw_ostream &os) const { os << file << ": " << message; }

std::error_code TraceError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Expected<TraceReader> TraceReader::open(StringRef path) {
  ReadOptions options;
  options.isNullTerminated = false;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path, options);
  if (!buffer)
    return make_error<TraceError>(TraceError::Kind::Unreadable, path.str(),
                                  toString(buffer.takeError()));
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
  if (bytes.starts_with(kBundleMagic))
    return makeError(TraceError::Kind::NoMetadata, 0,
                     "file is a bundle, expected the trace of one rank; give "
                     "the name of the bundle's file");
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

/// Gives back the pages before `end`. MemoryBuffer::dontNeedIfMmap() asks for
/// it by posix_madvise(), which does nothing on Linux.
void TraceReader::release(uint64_t end) {
  if (owned && owned->getBufferKind() == MemoryBuffer::MemoryBuffer_MMap) {
    uintptr_t size = sys::Process::getPageSizeEstimate();
    uintptr_t first = alignTo(uintptr_t(bytes.data()) + released, size);
    uintptr_t last = alignDown(uintptr_t(bytes.data()) + end, size);
    if (first < last)
      ::madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  }
  released = end;
}

Expected<bool> TraceReader::readNode(Node &node) {
  if (rest.empty())
    return false;
  constexpr uint64_t kWindow = uint64_t(1) << 24;
  uint64_t frame = getOffset(rest);
  if (frame - released >= kWindow)
    release(frame);
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
  node.frame = frame;
  node.offset = offset;
  node.size = message.size();
  node.ordinal = numNodes++;
  return true;
}

Error TraceReader::forEachNode(function_ref<Error(const Node &)> visit) {
  Node node;
  while (true) {
    Expected<bool> more = readNode(node);
    if (!more)
      return more.takeError();
    if (!*more)
      return Error::success();
    if (Error error = visit(node))
      return error;
  }
}

bool TraceReader::readNodeAt(uint64_t frame, Node &node) const {
  StringRef part = bytes.drop_front(std::min<uint64_t>(frame, bytes.size()));
  uint64_t length = 0;
  if (!consumeVarint(part, length) || length > part.size())
    return false;
  part = part.take_front(length);
  if (!MessageDecoder(part).decode(node))
    return false;
  node.frame = frame;
  node.offset = getOffset(part);
  node.size = length;
  return true;
}

} // namespace stg::trace
