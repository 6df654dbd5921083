//===- TraceNode.h - Decoded messages of a Chakra trace ---------*- C++ -*-===//
//
// The plain data that a trace file decodes to: metadata, nodes and their
// attributes. Nothing is copied: every StringRef points into the buffer that
// the message was decoded from and lives as long as that buffer. List values
// of all attributes of a message share two arenas, so that one Node object can
// be reused for a whole file without allocating.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_TRACENODE_H
#define STG_TRACE_READER_TRACENODE_H

#include "stg/Support/Text.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace stg::trace {

/// The attribute of the metadata that is true where nodes transfer buffers to
/// and from the memory of the host.
constexpr llvm::StringLiteral kHostAttr = "host_memory";

/// Sums of 64-bit quantities over a whole trace do not fit 64 bits.
__extension__ typedef __int128 Int128;

/// Decimal digits of `value`.
std::string toString(Int128 value);

/// `value` if it fits 64 signed bits, the nearest limit otherwise.
int64_t clampToInt64(Int128 value);

/// Simulators take the tags of messages modulo this.
constexpr int64_t kNumTags = 500000000;

/// Kinds of nodes, with their numbers on the wire.
enum class NodeType : int32_t {
  Invalid = 0,
  Metadata = 1,
  MemLoad = 2,
  MemStore = 3,
  Comp = 4,
  Send = 5,
  Recv = 6,
  Coll = 7,
};

/// Kinds of collectives, with the numbers that `comm_type` carries.
enum class CollectiveType : int64_t {
  AllReduce = 0,
  AllGather = 2,
  Broadcast = 5,
  AllToAll = 6,
  ReduceScatter = 7,
};

/// Name of a node type without its `_NODE` suffix, e.g. "COMM_COLL"; a number
/// outside the schema gives "TYPE_<number>".
std::string getNodeTypeName(int64_t type);

/// Name of a collective, e.g. "ALL_REDUCE", or "TYPE_<number>".
std::string getCollectiveName(int64_t type);

/// Which member of the value oneof an attribute has set: the field number on
/// the wire. Scalars are odd, lists even.
enum class AttrKind : uint8_t {
  None = 0,
  Double = 3,
  Float = 5,
  Int32 = 7,
  Int64 = 9,
  Uint32 = 11,
  Uint64 = 13,
  Sint32 = 15,
  Sint64 = 17,
  Fixed32 = 19,
  Fixed64 = 21,
  Sfixed32 = 23,
  Sfixed64 = 25,
  Bool = 27,
  BoolList = 28,
  String = 29,
  StringList = 30,
  Bytes = 31,
  BytesList = 32,
};

/// True for the `_list` members of the oneof.
inline bool isList(AttrKind kind) {
  return kind != AttrKind::None && static_cast<uint8_t>(kind) % 2 == 0;
}

/// The scalar kind of a list's elements; a scalar kind is its own element.
inline AttrKind getElementKind(AttrKind kind) {
  return isList(kind) ? AttrKind(static_cast<uint8_t>(kind) - 1) : kind;
}

/// Schema name of a kind, e.g. "int64_val" or "string_list"; "no value" for
/// None.
std::string getAttrKindName(AttrKind kind);

/// One attribute. Numbers are kept as 64 bits: signed kinds sign-extended,
/// floating point kinds as their bit pattern.
struct Attribute {
  llvm::StringRef name;
  llvm::StringRef docString;
  AttrKind kind = AttrKind::None;
  uint64_t number = 0;
  llvm::StringRef text;
  /// Position of a list's elements in the arena of its AttributeSet.
  uint32_t begin = 0;
  uint32_t size = 0;

  /// The value of an integer or bool attribute of any width.
  std::optional<Int128> getInteger() const;
};

/// The attributes of one message, in file order.
struct AttributeSet {
  llvm::SmallVector<Attribute, 8> attributes;
  llvm::SmallVector<uint64_t, 0> numbers;
  llvm::SmallVector<llvm::StringRef, 0> strings;

  void clear();

  /// The first attribute called `name` (the simulator's choice), or null.
  const Attribute *find(llvm::StringRef name) const;

  /// Value of `name` if it is there and holds an integer or a bool.
  std::optional<Int128> getInteger(llvm::StringRef name) const;

  /// Elements of a numeric list.
  llvm::ArrayRef<uint64_t> getNumbers(const Attribute &list) const {
    return llvm::ArrayRef<uint64_t>(numbers).slice(list.begin, list.size);
  }

  /// Elements of a string or bytes list.
  llvm::ArrayRef<llvm::StringRef> getStrings(const Attribute &list) const {
    return llvm::ArrayRef<llvm::StringRef>(strings).slice(list.begin,
                                                          list.size);
  }
};

/// The three strings of an IOInfo message.
struct IOInfo {
  bool present = false;
  llvm::StringRef values;
  llvm::StringRef shapes;
  llvm::StringRef types;
};

/// What Node and Metadata have in common.
struct Message {
  AttributeSet attrs;
  /// Where in the file the length prefix of the message starts.
  uint64_t frame = 0;
  /// Where in the file the message's bytes start, after the length prefix.
  uint64_t offset = 0;
  uint64_t size = 0;
  /// The first string field that is not valid UTF-8, if there is one.
  std::optional<llvm::StringRef> invalidText;
};

/// First message of a file.
struct Metadata : Message {
  llvm::StringRef version;
  void clear();
};

/// One operation of a rank.
struct Node : Message {
  uint64_t id = 0;
  llvm::StringRef name;
  /// The raw number: a file may hold values outside NodeType.
  int32_t type = 0;
  llvm::SmallVector<uint64_t, 8> ctrlDeps;
  llvm::SmallVector<uint64_t, 8> dataDeps;
  uint64_t startTimeMicros = 0;
  uint64_t durationMicros = 0;
  IOInfo inputs;
  IOInfo outputs;
  /// Zero-based number of the node in its file.
  uint64_t ordinal = 0;

  void clear();
  bool is(NodeType wanted) const {
    return type == static_cast<int32_t>(wanted);
  }
};

/// Group that a collective runs on, as the text of its `pg_name`. Integers are
/// accepted too; absent, "" and "0" mean the group of all ranks and give "".
std::string getGroupName(const Node &node);

} // namespace stg::trace

#endif // STG_TRACE_READER_TRACENODE_H
