//===- TraceEncoder.cpp - Wire form of the trace of a class ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TraceEncoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LEB128.h"

using namespace mlir;
using namespace stg::chakra;

//===----------------------------------------------------------------------===//
// Wire format
//===----------------------------------------------------------------------===//

namespace {
/// Field numbers and wire types as they are in the file: number * 8 + type,
/// with type 0 for varints and 2 for what has a length.
enum Tag : uint64_t {
  // GlobalMetadata
  kMetadataVersion = 1 * 8 + 2,
  kMetadataAttr = 2 * 8 + 2,
  // Node
  kNodeId = 1 * 8 + 0,
  kNodeName = 2 * 8 + 2,
  kNodeType = 3 * 8 + 0,
  kNodeCtrlDeps = 4 * 8 + 2,
  kNodeDataDeps = 5 * 8 + 2,
  kNodeAttr = 10 * 8 + 2,
  // AttributeProto
  kAttrName = 1 * 8 + 2,
  kAttrInt32 = 7 * 8 + 0,
  kAttrInt64 = 9 * 8 + 0,
  kAttrUint64 = 13 * 8 + 0,
  kAttrBool = 27 * 8 + 0,
  kAttrString = 29 * 8 + 2,
  kAttrStringList = 30 * 8 + 2,
  // The lists of AttributeProto
  kListValue = 1 * 8 + 2,
};

/// Node.type
enum NodeType : uint64_t {
  kCompNode = 4,
  kSendNode = 5,
  kRecvNode = 6,
  kCollNode = 7
};

/// A root of fewer bytes than this could finish in no time at the memory
/// bandwidth of today's machines, which simulators do not survive.
constexpr int64_t kMinRootBytes = 4096;
} // namespace

char *ByteBuffer::grow(size_t size) {
  if (length + size > capacity) {
    capacity = std::max<size_t>({capacity + capacity / 2, length + size, 4096});
    bytes = static_cast<char *>(llvm::safe_realloc(bytes, capacity));
  }
  char *end = bytes + length;
  length += size;
  return end;
}

void ByteBuffer::appendVarint(uint64_t value) {
  uint8_t digits[10];
  unsigned size = llvm::encodeULEB128(value, digits);
  append({reinterpret_cast<char *>(digits), size});
}

void ByteBuffer::appendDecimal(uint64_t value) {
  char digits[20];
  char *begin = std::end(digits);
  do
    *--begin = '0' + value % 10;
  while (value /= 10);
  append({begin, static_cast<size_t>(std::end(digits) - begin)});
}

/// Appends a field that has a length.
static void appendBytes(ByteBuffer &buffer, Tag tag, StringRef value) {
  buffer.appendVarint(tag);
  buffer.appendVarint(value.size());
  buffer.append(value);
}

static void appendInt(ByteBuffer &buffer, Tag tag, uint64_t value) {
  buffer.appendVarint(tag);
  buffer.appendVarint(value);
}

/// Appends an attribute with an integer value to a node.
static void appendIntAttr(ByteBuffer &node, StringRef name, Tag type,
                          uint64_t value) {
  size_t size = 2 + name.size() + llvm::getULEB128Size(type) +
                llvm::getULEB128Size(value);
  node.appendVarint(kNodeAttr);
  node.appendVarint(size);
  appendBytes(node, kAttrName, name);
  appendInt(node, type, value);
}

/// Appends all of an attribute with `size` bytes of value but the value.
static void appendAttrHead(ByteBuffer &message, Tag field, StringRef name,
                           Tag type, size_t size) {
  size_t total = 2 + name.size() + llvm::getULEB128Size(type) +
                 llvm::getULEB128Size(size) + size;
  message.appendVarint(field);
  message.appendVarint(total);
  appendBytes(message, kAttrName, name);
  message.appendVarint(type);
  message.appendVarint(size);
}

//===----------------------------------------------------------------------===//
// TraceEncoder
//===----------------------------------------------------------------------===//

TraceEncoder::TraceEncoder(const GraphProgram &program,
                           const std::vector<TensorInstance> &instances)
    : program(program), instances(instances) {
  for (const NodeTemplate &node : program.getNodes())
    shared.push_back(getShared(node));
  encodeMetadata();
}

/// The first message of a file. It lists the prefixes of the names of
/// persistent tensors, which are read and never written.
void TraceEncoder::encodeMetadata() {
  bool used[kNumCategories] = {};
  for (const TensorTemplate &tensor : program.getTensors())
    if (!tensor.stateName.empty())
      used[static_cast<unsigned>(tensor.category)] = true;
  list.clear();
  for (unsigned i = 0; i < kNumCategories; ++i)
    if (used[i])
      appendBytes(list, kListValue,
                  (stringifyCategory(static_cast<Category>(i)) + "/*").str());
  body.clear();
  appendBytes(body, kMetadataVersion,
              ("stg-" STG_VERSION " chakra-" + kSchemaVersion).str());
  appendAttrHead(body, kMetadataAttr, "persistent_tensors", kAttrStringList,
                 list.size());
  body.append(list.str());
  image.bytes.appendVarint(body.size());
  image.bytes.append(body.str());
}

static NodeType getNodeType(NodeKind kind) {
  switch (kind) {
  case NodeKind::Comp:
    return kCompNode;
  case NodeKind::Coll:
    return kCollNode;
  case NodeKind::Send:
    return kSendNode;
  case NodeKind::Recv:
    return kRecvNode;
  }
  llvm_unreachable("unknown kind");
}

static StringRef getSuffix(NodeKind kind) {
  switch (kind) {
  case NodeKind::Comp:
    return kCompSuffix;
  case NodeKind::Coll:
    return kCollSuffix;
  case NodeKind::Send:
    return kSendSuffix;
  case NodeKind::Recv:
    return kRecvSuffix;
  }
  llvm_unreachable("unknown kind");
}

TraceEncoder::Shared TraceEncoder::getShared(const NodeTemplate &node) {
  Shared result;
  result.suffix = (node.name + getSuffix(node.kind)).str();
  ByteBuffer attributes;
  appendIntAttr(attributes, "is_cpu_op", kAttrBool, false);
  if (node.isComp()) {
    // Simulators divide by the number of operations.
    appendIntAttr(attributes, "num_ops", kAttrInt64,
                  std::max<int64_t>(node.operations, 1));
  } else {
    if (node.isColl())
      appendIntAttr(attributes, "comm_type", kAttrInt64,
                    static_cast<uint64_t>(node.collKind));
    appendIntAttr(attributes, "comm_size", kAttrInt64, node.commSize);
    if (node.commSize != node.bytes)
      appendIntAttr(attributes, "payload_bytes", kAttrInt64, node.bytes);
    ClassImage::Field field = {node.kind, node.axes, node.axis, node.shift};
    auto it = llvm::find(image.fields, field);
    result.field = it - image.fields.begin();
    if (it == image.fields.end())
      image.fields.push_back(field);
  }
  result.attributes = attributes.str().str();
  return result;
}

void TraceEncoder::handleState(uint32_t tensor, StringRef prefix) {
  const TensorTemplate &common =
      program.getTensors()[instances[tensor].tensorTemplate];
  StringRef category = stringifyCategory(common.category);
  uint64_t offset = stateEntries.size();
  stateEntries.appendVarint(kListValue);
  stateEntries.appendVarint(category.size() + 1 + prefix.size() +
                            common.stateName.size());
  stateEntries.append(category);
  stateEntries.appendByte('/');
  stateEntries.append(prefix);
  stateEntries.append(common.stateName);
  list.clear();
  list.appendDecimal(common.bytes);
  appendBytes(stateEntries, kListValue, list.str());
  entries.resize(tensor + 1);
  entries[tensor] = {offset,
                     static_cast<uint32_t>(stateEntries.size() - offset), true};
}

void TraceEncoder::appendName(const FlatNode &node, const Shared &shared) {
  body.appendVarint(kNodeName);
  body.appendVarint(node.prefix.size() + shared.suffix.size());
  body.append(node.prefix);
  body.append(shared.suffix);
}

void TraceEncoder::appendDeps(const FlatNode &node) {
  auto append = [&](Tag tag, ArrayRef<uint32_t> deps) {
    if (deps.empty())
      return;
    size_t size = 0;
    for (uint32_t dep : deps)
      size += llvm::getULEB128Size(dep);
    body.appendVarint(tag);
    body.appendVarint(size);
    for (uint32_t dep : deps)
      body.appendVarint(dep);
  };
  append(kNodeCtrlDeps, node.ctrlDeps);
  append(kNodeDataDeps, node.dataDeps);
}

void TraceEncoder::appendTensorSize(const FlatNode &node) {
  int64_t exact = node.common->bytes;
  bool isRoot = node.dataDeps.empty() && node.ctrlDeps.empty();
  int64_t size = std::max<int64_t>(exact, isRoot ? kMinRootBytes : 1);
  appendIntAttr(body, "tensor_size", kAttrUint64, size);
  if (size != exact)
    appendIntAttr(body, "exact_tensor_size", kAttrInt64, exact);
}

void TraceEncoder::appendInputs(const FlatNode &node) {
  size_t size = 0;
  for (uint32_t tensor : node.inputs)
    size += entries[tensor].size;
  appendAttrHead(body, kNodeAttr, "inputs", kAttrStringList, size);
  for (uint32_t tensor : node.inputs) {
    Entry entry = entries[tensor];
    const ByteBuffer &source = entry.isState ? stateEntries : image.bytes;
    body.append({source.data() + entry.offset, entry.size});
  }
}

void TraceEncoder::appendOutputs(const FlatNode &node) {
  list.clear();
  outputSizes.clear();
  for (uint32_t i = 0; i < node.numOutputs; ++i) {
    size_t begin = list.size();
    unsigned digits = 1;
    for (uint32_t rest = i; rest >= 10; rest /= 10)
      ++digits;
    list.appendVarint(kListValue);
    list.appendVarint(node.prefix.size() + node.common->name.size() + 1 +
                      digits);
    list.append(node.prefix);
    list.append(node.common->name);
    list.appendByte(':');
    list.appendDecimal(i);
    const TensorInstance &instance = instances[node.firstOutput + i];
    uint64_t bytes = program.getTensors()[instance.tensorTemplate].bytes;
    digits = 1;
    for (uint64_t rest = bytes; rest >= 10; rest /= 10)
      ++digits;
    list.appendVarint(kListValue);
    list.appendVarint(digits);
    list.appendDecimal(bytes);
    outputSizes.push_back(list.size() - begin);
  }
  appendAttrHead(body, kNodeAttr, "outputs", kAttrStringList, list.size());
  outputsOffset = body.size();
  body.append(list.str());
}

/// Remembers where the outputs are, now that the message is at `bodyOffset`.
void TraceEncoder::recordEntries(const FlatNode &node, uint64_t bodyOffset) {
  entries.resize(instances.size());
  uint64_t offset = bodyOffset + outputsOffset;
  for (auto [i, size] : llvm::enumerate(outputSizes)) {
    entries[node.firstOutput + i] = {offset, size, false};
    offset += size;
  }
}

void TraceEncoder::handleNode(const FlatNode &node) {
  const NodeTemplate &common = *node.common;
  const Shared &shared = this->shared[&common - program.getNodes().data()];
  body.clear();
  if (node.id != 0) // The default value is not written.
    appendInt(body, kNodeId, node.id);
  appendName(node, shared);
  appendInt(body, kNodeType, getNodeType(common.kind));
  appendDeps(node);
  body.append(shared.attributes);
  if (common.isComp())
    appendTensorSize(node);
  if (common.isMessage())
    appendIntAttr(body, "comm_tag", kAttrInt32, node.tag);
  appendInputs(node);
  appendOutputs(node);
  if (common.isComp())
    image.bytes.appendVarint(body.size());
  else
    image.patches.push_back({image.bytes.size(), body.size(), shared.field});
  recordEntries(node, image.bytes.size());
  image.bytes.append(body.str());
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// The attributes of a field for one rank.
static std::string encodeField(const ClassImage::Field &field,
                               const RankSpace &space, const GroupTable &groups,
                               int64_t rank) {
  ByteBuffer attr;
  if (field.kind == NodeKind::Coll) {
    std::string id = llvm::utostr(groups.getId(field.axes, rank));
    appendAttrHead(attr, kNodeAttr, "pg_name", kAttrString, id.size());
    attr.append(id);
    return attr.str().str();
  }
  int64_t peer = space.getNeighbour(rank, field.axis, field.shift);
  bool isSend = field.kind == NodeKind::Send;
  appendIntAttr(attr, "comm_src", kAttrInt32, isSend ? rank : peer);
  appendIntAttr(attr, "comm_dst", kAttrInt32, isSend ? peer : rank);
  return attr.str().str();
}

void stg::chakra::writeRank(const ClassImage &image, const RankSpace &space,
                            const GroupTable &groups, int64_t rank,
                            raw_ostream &os) {
  SmallVector<std::string, 4> attrs;
  for (const ClassImage::Field &field : image.fields)
    attrs.push_back(encodeField(field, space, groups, rank));
  StringRef bytes = image.bytes.str();
  uint64_t position = 0;
  for (const ClassImage::Patch &patch : image.patches) {
    const std::string &attr = attrs[patch.field];
    os << bytes.slice(position, patch.offset);
    llvm::encodeULEB128(patch.size + attr.size(), os);
    os << bytes.substr(patch.offset, patch.size) << attr;
    position = patch.offset + patch.size;
  }
  os << bytes.substr(position);
}
