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
// differs between the ranks of a class is a few bytes per communication node.
// So a class is encoded once, with these bytes left out, and the file of a rank
// is that image with the bytes put in.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_PROGRAM_TRACEENCODER_H
#define STG_TRACE_PROGRAM_TRACEENCODER_H

#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

namespace stg::trace {

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
  char *data() { return bytes; }
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
  char *grow(size_t size) {
    if (length + size > capacity)
      reserve(length + size);
    char *end = bytes + length;
    length += size;
    return end;
  }
  void reserve(size_t size);
  void swap(ByteBuffer &other) {
    std::swap(bytes, other.bytes);
    std::swap(length, other.length);
    std::swap(capacity, other.capacity);
  }

  char *bytes = nullptr;
  size_t length = 0, capacity = 0;
};

/// The trace of a class, or a part of it, without what depends on the rank.
struct ClassImage {
  /// A communication node: where its message is in `bytes`, without its length
  /// and without what depends on the rank.
  struct Patch {
    uint64_t offset;
    uint64_t size;
    uint32_t field; ///< Index into TraceEncoder::getFields.
  };
  ByteBuffer bytes;
  std::vector<Patch> patches;

  void clear() {
    bytes.clear();
    patches.clear();
  }
};

/// What a communication node says about its rank: its group, or its peer.
struct RankField {
  NodeKind kind;
  AxisMask axes; ///< Collectives.
  uint32_t axis; ///< Messages: the axis and the way to the peer.
  int64_t shift;

  bool operator==(const RankField &other) const {
    return kind == other.kind && axes == other.axes && axis == other.axis &&
           shift == other.shift;
  }
};

/// Encodes the nodes of a run.
class TraceEncoder {
public:
  /// Both must outlive the encoder, which begins with the metadata. `version`
  /// is what these say.
  TraceEncoder(const TraceProgram &program, const ProgramRunner &runner,
               llvm::StringRef version);

  /// Appends a node to the image.
  void encode(const FlatNode &node);

  /// What has been encoded since it was cleared last.
  ClassImage &getImage() { return image; }
  /// The fields that patches refer to, in order of the program's nodes.
  llvm::ArrayRef<RankField> getFields() const { return fields; }

private:
  /// What all executions of a node share.
  struct Shared {
    std::string suffix;     ///< Rest of the name.
    std::string attributes; ///< All but sizes that depend on the position.
    uint32_t field = 0;
  };
  void encodeMetadata(llvm::StringRef version);
  Shared getShared(const NodeTemplate &node);
  void appendName(const FlatNode &node, const Shared &shared);
  void appendDeps(const FlatNode &node);
  void appendTensorSize(const FlatNode &node);
  void appendTensors(llvm::StringRef name, llvm::ArrayRef<uint32_t> tensors);
  void appendTransferred(const FlatNode &node);
  void appendEntry(const TensorInstance &tensor);

  const TraceProgram &program;
  const ProgramRunner &runner;
  std::vector<RankField> fields;
  std::vector<Shared> shared; ///< Parallel to the nodes of the program.
  TensorNames names;
  std::vector<std::string> sizes; ///< Of its tensors, encoded as strings.
  ClassImage image;

  // Scratch of one node.
  ByteBuffer body, list;
  std::vector<uint32_t> outputs;
};

/// What the patches of an image are filled with for one rank.
std::vector<std::string> encodeFields(llvm::ArrayRef<RankField> fields,
                                      const RankSpace &space,
                                      const GroupTable &groups, int64_t rank);

/// The number of bytes of an image with its patches filled in.
uint64_t getSize(const ClassImage &image, llvm::ArrayRef<std::string> fields);

/// An image with its patches filled in, in memory. From one rank of a class to
/// the next usually no field changes its length: then only the bytes of fields
/// are written, and the rest is not touched.
class RankImage {
public:
  /// The bytes live until the next call. The image of the last call must not
  /// have changed if it is given again.
  llvm::StringRef fill(const ClassImage &image,
                       llvm::ArrayRef<std::string> fields);

private:
  bool fits(const ClassImage &image, llvm::ArrayRef<std::string> fields) const;
  void rebuild(const ClassImage &image, llvm::ArrayRef<std::string> fields);

  const ClassImage *last = nullptr;
  llvm::SmallVector<size_t> sizes; ///< Of the fields of the last call.
  std::vector<uint64_t> places;    ///< Where the field of each patch is.
  ByteBuffer bytes;
};

} // namespace stg::trace

#endif // STG_TRACE_PROGRAM_TRACEENCODER_H
