//===- TraceReader.h - Streaming reader of .et files ------------*- C++ -*-===//
//
// Reads one rank's trace message by message from a memory-mapped file. The
// reader takes any producer's files and any garbage: whatever is wrong becomes
// a TraceError with the file, the byte and the node's number. A message that
// cannot be decoded does not end the stream, a broken length prefix does.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_TRACEREADER_H
#define STG_TRACE_READER_TRACEREADER_H

#include "stg/Trace/Reader/TraceNode.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace stg::trace {

/// What a bundle begins with, and no trace of one rank.
inline constexpr llvm::StringLiteral kBundleMagic = "STGB";

/// What is wrong with a trace file.
class TraceError : public llvm::ErrorInfo<TraceError> {
public:
  enum class Kind {
    /// The file cannot be opened or read.
    Unreadable,
    /// The file is compressed.
    Compressed,
    /// A length prefix is malformed or reaches past the end of the file.
    Framing,
    /// The first message is missing or is no GlobalMetadata.
    NoMetadata,
    /// A message of zero bytes stands where a node is expected.
    EmptyMessage,
    /// The bytes of a message do not follow the schema.
    Malformed,
  };

  TraceError(Kind kind, std::string file, std::string message)
      : kind(kind), file(std::move(file)), message(std::move(message)) {}

  Kind getKind() const { return kind; }

  /// True if reading can go on with the next message.
  bool isRecoverable() const {
    return kind == Kind::EmptyMessage || kind == Kind::Malformed;
  }

  /// The message with its position, but without the file name.
  llvm::StringRef getMessage() const { return message; }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  static char ID;

private:
  Kind kind;
  std::string file;
  std::string message;
};

/// Reader of one file. Call readMetadata() once and then readNode() until it
/// returns false:
///
///   Expected<TraceReader> reader = TraceReader::open("workload.0.et");
///   ...
///   Metadata metadata;
///   if (Error error = reader->readMetadata(metadata)) ...
///   Node node;
///   while (true) {
///     Expected<bool> more = reader->readNode(node);
///     ...
///   }
///
/// or forEachNode() where an error is final.
class TraceReader {
public:
  /// Maps the file at `path`; "-" reads standard input.
  static llvm::Expected<TraceReader> open(llvm::StringRef path);

  /// Reads from memory that the caller keeps alive. The buffer's identifier is
  /// the file name in messages.
  explicit TraceReader(llvm::MemoryBufferRef buffer);
  /// Likewise from memory that the reader frees in the end.
  explicit TraceReader(std::unique_ptr<llvm::MemoryBuffer> buffer);

  /// Reads the first message. An error is final.
  llvm::Error readMetadata(Metadata &metadata);

  /// Reads the next node into `node`, whose strings point into the buffer.
  /// Returns false at the end of the file. After an error for which
  /// TraceError::isRecoverable() holds the next call reads the next message.
  llvm::Expected<bool> readNode(Node &node);

  /// Calls `visit` for each node that is left. Any error, also one of `visit`,
  /// is the last thing.
  llvm::Error forEachNode(llvm::function_ref<llvm::Error(const Node &)> visit);

  /// Reads a node again, whose frame is at `frame`; false if there is none.
  bool readNodeAt(uint64_t frame, Node &node) const;
  /// The size of the file.
  uint64_t getNumBytes() const { return bytes.size(); }

  llvm::StringRef getFile() const { return file; }

  /// Number of node messages that were read so far.
  uint64_t getNumNodes() const { return numNodes; }

private:
  llvm::Error makeError(TraceError::Kind kind, uint64_t offset,
                        const llvm::Twine &message) const;
  void release(uint64_t end);
  llvm::Error readFrame(llvm::StringRef &message);
  uint64_t getOffset(llvm::StringRef part) const {
    return static_cast<uint64_t>(part.data() - bytes.data());
  }

  std::unique_ptr<llvm::MemoryBuffer> owned;
  std::string file;
  llvm::StringRef bytes;
  llvm::StringRef rest;
  /// The pages before are given back to the system, which reads them again
  /// where somebody looks.
  uint64_t released = 0;
  uint64_t numNodes = 0;
  bool inNodes = false;
};

} // namespace stg::trace

#endif // STG_TRACE_READER_TRACEREADER_H
