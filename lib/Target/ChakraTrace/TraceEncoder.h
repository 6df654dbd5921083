//===- TraceEncoder.h - Wire form of the trace of a class -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes nodes in protobuf's wire format by hand: the schema is small and
// fixed, most of a node is the same for all executions of its op, and what
// differs between the ranks of a class is one string per collective. So a class
// is encoded once, with these strings left out, and the file of a rank is that
// image with the strings put in.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRATRACE_TRACEENCODER_H
#define STG_LIB_TARGET_CHAKRATRACE_TRACEENCODER_H

#include "stg/Target/ChakraTrace/Unroll.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

namespace stg::chakra {

/// A byte array that grows in place where the allocator can do that, which it
/// can for the sizes that matter here.
class ByteBuffer {
public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer &&other) { swap(other); }
  ByteBuffer &operator=(ByteBuffer &&other) {
    swap(other);
    return *this;
  }
  ByteBuffer(const ByteBuffer &) = delete;
  ByteBuffer &operator=(const ByteBuffer &) = delete;
  ~ByteBuffer() { std::free(bytes); }

  const char *data() const { return bytes; }
  size_t size() const { return length; }
  llvm::StringRef str() const { return {bytes, length}; }
  void clear() { length = 0; }

  void append(llvm::StringRef text) {
    if (text.empty())
      return;
    std::memcpy(grow(text.size()), text.data(), text.size());
  }
  void appendByte(char value) { *grow(1) = value; }
  void appendVarint(uint64_t value);
  void appendDecimal(uint64_t value);

private:
  char *grow(size_t size);
  void swap(ByteBuffer &other) {
    std::swap(bytes, other.bytes);
    std::swap(length, other.length);
    std::swap(capacity, other.capacity);
  }

  char *bytes = nullptr;
  size_t length = 0, capacity = 0;
};

/// The trace of a class without what depends on the rank.
struct ClassImage {
  /// A communication node: where its message is in `bytes`, without its length
  /// and what depends on the rank: the group, or the peer.
  struct Patch {
    uint64_t offset;
    uint64_t size;
    uint32_t field; ///< Index into `fields`.
  };
  struct Field {
    NodeKind kind;
    AxisMask axes; ///< Collectives.
    uint32_t axis; ///< Messages: the axis and the way to the peer.
    int64_t shift;

    bool operator==(const Field &other) const {
      return kind == other.kind && axes == other.axes && axis == other.axis &&
             shift == other.shift;
    }
  };
  ByteBuffer bytes;
  std::vector<Patch> patches;
  std::vector<Field> fields; ///< In order of first use.
};

/// Encodes the trace of a class while it is unrolled.
class TraceEncoder : public NodeSink {
public:
  /// Both must outlive the encoder; `instances` is the table of the run.
  TraceEncoder(const GraphProgram &program,
               const std::vector<TensorInstance> &instances);

  void handleState(uint32_t tensor, llvm::StringRef prefix) override;
  void handleNode(const FlatNode &node) override;
  ClassImage takeImage() { return std::move(image); }

private:
  /// Where the (name, size) strings of a tensor are: written once, by the node
  /// that makes the tensor, and copied from there by its readers.
  struct Entry {
    uint64_t offset;
    uint32_t size;
    bool isState; ///< In `stateEntries`, else in `image.bytes`.
  };
  /// What all executions of an op share.
  struct Shared {
    std::string suffix;     ///< Rest of the name.
    std::string attributes; ///< All but sizes that depend on the position.
    uint32_t field = 0;
  };

  void encodeMetadata();
  Shared getShared(const NodeTemplate &node);
  void appendName(const FlatNode &node, const Shared &shared);
  void appendDeps(const FlatNode &node);
  void appendTensorSize(const FlatNode &node);
  void appendInputs(const FlatNode &node);
  void appendOutputs(const FlatNode &node);
  void recordEntries(const FlatNode &node, uint64_t bodyOffset);

  const GraphProgram &program;
  const std::vector<TensorInstance> &instances;
  std::vector<Shared> shared; ///< Parallel to the node templates.
  std::vector<Entry> entries; ///< Parallel to `instances`.
  ByteBuffer stateEntries;
  ClassImage image;

  // Scratch of one node.
  ByteBuffer body, list;
  size_t outputsOffset = 0; ///< In `body`, of the first output's entry.
  llvm::SmallVector<uint32_t> outputSizes;
};

/// Writes the trace of `rank` to `os`.
void writeRank(const ClassImage &image, const RankSpace &space,
               const GroupTable &groups, int64_t rank, llvm::raw_ostream &os);

/// What `Node.name` ends in, by which other tools recognize the kind of a node.
constexpr llvm::StringLiteral kCompSuffix = "/COMP_NODE";
constexpr llvm::StringLiteral kCollSuffix = "/COMM_COLL_NODE";
constexpr llvm::StringLiteral kSendSuffix = "/COMM_SEND_NODE";
constexpr llvm::StringLiteral kRecvSuffix = "/COMM_RECV_NODE";
/// The version of Chakra's schema that we write.
constexpr llvm::StringLiteral kSchemaVersion = "0.0.4";

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRATRACE_TRACEENCODER_H
