//===- TraceEncoder.cpp - Wire form of the trace of a class ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/TraceEncoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LEB128.h"
#include <numeric>

using namespace llvm;
using namespace stg::trace;

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

} // namespace

void ByteBuffer::reserve(size_t size) {
  capacity = std::max<size_t>({capacity + capacity / 2, size, 4096});
  bytes = static_cast<char *>(llvm::safe_realloc(bytes, capacity));
}

void ByteBuffer::appendVarint(uint64_t value) {
  if (value < 128)
    return appendByte(static_cast<char>(value));
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

TraceEncoder::TraceEncoder(const TraceProgram &program,
                           const ProgramRunner &runner, StringRef version)
    : program(program), runner(runner), names(program, runner) {
  for (const NodeTemplate &node : program.nodes)
    shared.push_back(getShared(node));
  for (const TensorTemplate &tensor : program.tensors) {
    list.clear();
    appendBytes(list, kListValue, llvm::utostr(tensor.bytes));
    sizes.push_back(list.str().str());
  }
  encodeMetadata(version);
}

/// The first message of a file. It lists the prefixes of the names of
/// persistent tensors, which are read and never written.
void TraceEncoder::encodeMetadata(StringRef version) {
  bool used[kNumTensorCategories] = {};
  for (const TensorTemplate &tensor : program.tensors)
    if (!tensor.stateName.empty())
      used[static_cast<unsigned>(tensor.category)] = true;
  list.clear();
  for (unsigned i = 0; i < kNumTensorCategories; ++i)
    if (used[i])
      appendBytes(
          list, kListValue,
          (getCategoryName(static_cast<TensorCategory>(i)) + "/*").str());
  body.clear();
  appendBytes(body, kMetadataVersion, version);
  appendAttrHead(body, kMetadataAttr, "persistent_tensors", kAttrStringList,
                 list.size());
  body.append(list.str());
  if (program.usesHost()) {
    // So that who reads the trace knows that transfers are meant.
    body.appendVarint(kMetadataAttr);
    body.appendVarint(2 + kHostAttr.size() + 3);
    appendBytes(body, kAttrName, kHostAttr);
    appendInt(body, kAttrBool, 1);
  }
  image.bytes.appendVarint(body.size());
  image.bytes.append(body.str());
}

static NodeType getNodeType(NodeKind kind) {
  switch (kind) {
  case NodeKind::Comp:
    return NodeType::Comp;
  case NodeKind::Coll:
    return NodeType::Coll;
  case NodeKind::Send:
    return NodeType::Send;
  case NodeKind::Recv:
    return NodeType::Recv;
  case NodeKind::Load:
    return NodeType::MemLoad;
  case NodeKind::Store:
    return NodeType::MemStore;
  }
  llvm_unreachable("unknown kind");
}

TraceEncoder::Shared TraceEncoder::getShared(const NodeTemplate &node) {
  Shared result;
  result.suffix = (node.name + getSuffix(node.kind)).str();
  ByteBuffer attributes;
  appendIntAttr(attributes, "is_cpu_op", kAttrBool, false);
  if (node.isComp()) {
    appendIntAttr(attributes, "num_ops", kAttrInt64, getNumOps(node));
  } else if (node.isTransfer()) {
    appendIntAttr(attributes, "tensor_size", kAttrUint64, node.bytes);
  } else {
    if (node.isColl())
      appendIntAttr(attributes, "comm_type", kAttrInt64,
                    static_cast<uint64_t>(node.collective));
    appendIntAttr(attributes, "comm_size", kAttrInt64, node.commSize);
    if (node.commSize != node.bytes)
      appendIntAttr(attributes, "payload_bytes", kAttrInt64, node.bytes);
    // What is never executed has no group.
    if (node.executions == 0)
      return result;
    RankField field = {node.kind, node.axes, node.axis, node.shift};
    auto it = llvm::find(fields, field);
    result.field = it - fields.begin();
    if (it == fields.end())
      fields.push_back(field);
  }
  result.attributes = attributes.str().str();
  return result;
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
  int64_t exact = node.common->bytes, size = getTensorSize(node);
  appendIntAttr(body, "tensor_size", kAttrUint64, size);
  if (size != exact)
    appendIntAttr(body, "exact_tensor_size", kAttrInt64, exact);
}

void TraceEncoder::appendEntry(const TensorInstance &tensor) {
  list.appendVarint(kListValue);
  list.appendVarint(names.getSize(tensor));
  names.forEachPart(tensor, [&](StringRef part) { list.append(part); });
  list.append(sizes[tensor.tensorTemplate]);
}

void TraceEncoder::appendTensors(StringRef name, ArrayRef<uint32_t> tensors) {
  list.clear();
  for (uint32_t tensor : tensors)
    appendEntry(runner.getInstances()[tensor]);
  appendAttrHead(body, kNodeAttr, name, kAttrStringList, list.size());
  body.append(list.str());
}

/// What is in the memory of the rank, and what is not.
void TraceEncoder::appendTransferred(const FlatNode &node) {
  auto isOnHost = [&](uint32_t tensor) {
    const TensorInstance &instance = runner.getInstances()[tensor];
    return program.tensors[instance.tensorTemplate].category ==
           TensorCategory::Host;
  };
  auto append = [&](StringRef name, StringRef hostName,
                    ArrayRef<uint32_t> tensors) {
    SmallVector<uint32_t, 2> own, host;
    for (uint32_t tensor : tensors)
      (isOnHost(tensor) ? host : own).push_back(tensor);
    appendTensors(name, own);
    appendTensors(hostName, host);
  };
  append("inputs", "host_inputs", node.inputs);
  append("outputs", "host_outputs", outputs);
}

void TraceEncoder::encode(const FlatNode &node) {
  const NodeTemplate &common = *node.common;
  const Shared &shared = this->shared[&common - program.nodes.data()];
  body.clear();
  if (node.id != 0) // The default value is not written.
    appendInt(body, kNodeId, node.id);
  appendName(node, shared);
  appendInt(body, kNodeType, static_cast<uint64_t>(getNodeType(common.kind)));
  appendDeps(node);
  body.append(shared.attributes);
  if (common.isComp())
    appendTensorSize(node);
  if (common.isMessage())
    appendIntAttr(body, "comm_tag", kAttrInt32, node.tag);
  outputs.resize(node.numOutputs);
  std::iota(outputs.begin(), outputs.end(), node.firstOutput);
  if (common.isTransfer()) {
    appendTransferred(node);
  } else {
    appendTensors("inputs", node.inputs);
    appendTensors("outputs", outputs);
  }
  if (common.isComp() || common.isTransfer())
    image.bytes.appendVarint(body.size());
  else
    image.patches.push_back({image.bytes.size(), body.size(), shared.field});
  image.bytes.append(body.str());
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// The attributes of a field for one rank.
static std::string encodeField(const RankField &field, const RankSpace &space,
                               const GroupTable &groups, int64_t rank) {
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

std::vector<std::string> stg::trace::encodeFields(ArrayRef<RankField> fields,
                                                  const RankSpace &space,
                                                  const GroupTable &groups,
                                                  int64_t rank) {
  std::vector<std::string> attrs;
  for (const RankField &field : fields)
    attrs.push_back(encodeField(field, space, groups, rank));
  return attrs;
}

uint64_t stg::trace::getSize(const ClassImage &image,
                             ArrayRef<std::string> fields) {
  uint64_t size = image.bytes.size();
  for (const ClassImage::Patch &patch : image.patches) {
    size_t attr = fields[patch.field].size();
    size += attr + llvm::getULEB128Size(patch.size + attr);
  }
  return size;
}

bool RankImage::fits(const ClassImage &image,
                     ArrayRef<std::string> fields) const {
  return last == &image &&
         llvm::equal(sizes, fields, [](size_t size, const std::string &field) {
           return size == field.size();
         });
}

void RankImage::rebuild(const ClassImage &image, ArrayRef<std::string> fields) {
  last = &image;
  sizes.clear();
  for (const std::string &field : fields)
    sizes.push_back(field.size());
  bytes.clear();
  places.clear();
  StringRef from = image.bytes.str();
  uint64_t position = 0;
  for (const ClassImage::Patch &patch : image.patches) {
    size_t size = sizes[patch.field];
    bytes.append(from.slice(position, patch.offset));
    bytes.appendVarint(patch.size + size);
    bytes.append(from.substr(patch.offset, patch.size));
    places.push_back(bytes.size());
    bytes.append(fields[patch.field]);
    position = patch.offset + patch.size;
  }
  bytes.append(from.substr(position));
}

StringRef RankImage::fill(const ClassImage &image,
                          ArrayRef<std::string> fields) {
  if (!fits(image, fields)) {
    rebuild(image, fields);
    return bytes.str();
  }
  for (auto [patch, place] : llvm::zip_equal(image.patches, places))
    std::memcpy(bytes.data() + place, fields[patch.field].data(),
                sizes[patch.field]);
  return bytes.str();
}
