//===- ImportedTrace.cpp - A trace, read and put in order -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportedTrace.h"
#include "stg/Trace/Reader/TraceReader.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>
#include <unordered_map>

using namespace mlir;
using namespace stg::chakra;
namespace trace = stg::trace;
using stg::trace::AttrKind;
using stg::trace::Node;
using stg::trace::NodeKind;
using stg::trace::NodeType;

namespace {
/// Reads the nodes of one file.
class NodeReader {
public:
  NodeReader(Location loc) : loc(loc) {}
  LogicalResult read(const Node &node, ImportedNode &result);

private:
  InFlightDiagnostic emitNodeError(const Node &node) {
    return stg::chakra::emitNodeError(loc, node.id, node.name);
  }
  LogicalResult readComp(const Node &node, ImportedNode &result);
  LogicalResult readColl(const Node &node, ImportedNode &result);
  LogicalResult readMessage(const Node &node, ImportedNode &result);
  LogicalResult readTransfer(const Node &node, ImportedNode &result);
  LogicalResult readTensors(const Node &node, StringRef attribute,
                            SmallVectorImpl<ImportedTensor> &tensors);
  /// The first attribute of `names` that the node has, which is an integer of
  /// 64 bits and not negative; `missing` if it has none.
  FailureOr<int64_t> readSize(const Node &node, ArrayRef<StringRef> names,
                              std::optional<int64_t> missing);

  Location loc;
};
} // namespace

InFlightDiagnostic stg::chakra::emitNodeError(Location loc, uint64_t id,
                                              StringRef name) {
  return emitError(loc) << "node " << id << " '" << stg::shortenText(name)
                        << "' ";
}

FailureOr<int64_t> NodeReader::readSize(const Node &node,
                                        ArrayRef<StringRef> names,
                                        std::optional<int64_t> missing) {
  for (StringRef name : names) {
    if (!node.attrs.find(name))
      continue;
    std::optional<trace::Int128> value = node.attrs.getInteger(name);
    if (!value || *value < 0 || *value > INT64_MAX)
      return emitNodeError(node)
             << "has '" << name
             << "', which is not an integer from 0 to 2^63 - 1";
    return static_cast<int64_t>(*value);
  }
  if (missing)
    return *missing;
  return emitNodeError(node) << "has no '" << names.back() << "'";
}

LogicalResult
NodeReader::readTensors(const Node &node, StringRef attribute,
                        SmallVectorImpl<ImportedTensor> &tensors) {
  const trace::Attribute *list = node.attrs.find(attribute);
  if (!list)
    return success();
  if (list->kind != AttrKind::StringList || list->size % 2)
    return emitNodeError(node) << "has '" << attribute
                               << "', which is not a list of names and sizes";
  ArrayRef<StringRef> strings = node.attrs.getStrings(*list);
  for (size_t i = 0; i < strings.size(); i += 2) {
    ImportedTensor tensor = {strings[i], 0};
    // Some producers write whole numbers as floating point numbers.
    StringRef size = strings[i + 1];
    size.consume_back(".0");
    if (size.getAsInteger(10, tensor.bytes) || tensor.bytes < 0)
      return emitNodeError(node)
             << "has tensor '" << stg::shortenText(strings[i]) << "' of '"
             << stg::shortenText(strings[i + 1])
             << "' bytes, which is not a number";
    tensors.push_back(tensor);
  }
  return success();
}

LogicalResult NodeReader::readComp(const Node &node, ImportedNode &result) {
  // Traces of real runs have durations where ours have operations.
  FailureOr<int64_t> operations = readSize(node, {"num_ops"}, 0);
  FailureOr<int64_t> bytes =
      readSize(node, {"exact_tensor_size", "tensor_size"}, 0);
  if (failed(operations) || failed(bytes))
    return failure();
  result.operations = *operations;
  result.bytes = *bytes;
  return success();
}

LogicalResult NodeReader::readColl(const Node &node, ImportedNode &result) {
  result.kind = NodeKind::Coll;
  FailureOr<int64_t> type = readSize(node, {"comm_type"}, std::nullopt);
  FailureOr<int64_t> bytes =
      readSize(node, {"payload_bytes", "comm_size"}, std::nullopt);
  if (failed(type) || failed(bytes))
    return failure();
  std::optional<CollKind> kind = symbolizeCollKind(*type);
  if (!kind || *type > UINT32_MAX)
    return emitNodeError(node)
           << "is a collective of type " << trace::getCollectiveName(*type)
           << ", which chakra.coll cannot express";
  result.collKind = *kind;
  result.bytes = *bytes;
  result.group = trace::getGroupName(node);
  return success();
}

/// A message is its tensors: chakra.send and chakra.recv have no other size.
LogicalResult NodeReader::readMessage(const Node &node, ImportedNode &result) {
  bool isSend = node.is(NodeType::Send);
  result.kind = isSend ? NodeKind::Send : NodeKind::Recv;
  StringRef own = isSend ? "comm_src" : "comm_dst";
  FailureOr<int64_t> bytes = readSize(node, {"comm_size"}, std::nullopt);
  FailureOr<int64_t> peer =
      readSize(node, {isSend ? "comm_dst" : "comm_src"}, std::nullopt);
  FailureOr<int64_t> rank = readSize(node, {own}, -1);
  FailureOr<int64_t> tag = readSize(node, {"comm_tag"}, std::nullopt);
  if (failed(bytes) || failed(peer) || failed(rank) || failed(tag))
    return failure();
  result.bytes = *bytes;
  result.peer = *peer;
  if (*rank >= 0)
    result.rank = *rank;
  result.tag = *tag;
  __int128 total = 0;
  for (const ImportedTensor &tensor : isSend ? result.inputs : result.outputs)
    total += tensor.bytes;
  if (total == *bytes && total > 0)
    return success();
  return emitNodeError(node)
         << "is a message of " << *bytes << " bytes, but its "
         << (isSend ? "inputs" : "outputs") << " have "
         << trace::toString(total)
         << "; chakra.send and chakra.recv express messages that are their "
            "tensors, of at least 1 byte";
}

/// A transfer is one buffer of the rank and one of the host, of as many bytes.
/// Where the trace does not name that of the host, each transfer has its own.
LogicalResult NodeReader::readTransfer(const Node &node, ImportedNode &result) {
  bool isLoad = node.is(NodeType::MemLoad);
  result.kind = isLoad ? NodeKind::Load : NodeKind::Store;
  FailureOr<int64_t> bytes = readSize(node, {"tensor_size"}, std::nullopt);
  SmallVector<ImportedTensor> read, written;
  if (failed(bytes) || failed(readTensors(node, "host_inputs", read)) ||
      failed(readTensors(node, "host_outputs", written)))
    return failure();
  result.bytes = *bytes;
  auto &own = isLoad ? result.inputs : result.outputs;
  const size_t numOwn = isLoad ? result.outputs.size() : result.inputs.size();
  const size_t numHost = read.size() + written.size();
  if (!own.empty() || numOwn != 1 || numHost > 1 ||
      (isLoad && !written.empty()))
    return emitNodeError(node)
           << "transfers " << numOwn << " buffers of the rank and " << numHost
           << " of the host; chakra.load and chakra.store express transfers "
              "between one and one";
  if (numHost == 0)
    (isLoad ? read : written).push_back({node.name, *bytes});
  for (ImportedTensor &tensor : read)
    tensor.isHost = true;
  for (ImportedTensor &tensor : written)
    tensor.isHost = true;
  llvm::append_range(result.inputs, read);
  llvm::append_range(result.outputs, written);
  for (const auto *tensors : {&result.inputs, &result.outputs})
    for (const ImportedTensor &tensor : *tensors)
      if (tensor.bytes != *bytes || *bytes < 1)
        return emitNodeError(node)
               << "transfers " << *bytes << " bytes, but '"
               << stg::shortenText(tensor.name) << "' has " << tensor.bytes
               << "; chakra.load and chakra.store express transfers of whole "
                  "buffers, of at least 1 byte";
  return success();
}

LogicalResult NodeReader::read(const Node &node, ImportedNode &result) {
  result.id = node.id;
  result.name = node.name;
  result.durationMicros = node.durationMicros;
  llvm::append_range(result.dataDeps, node.dataDeps);
  llvm::append_range(result.ctrlDeps, node.ctrlDeps);
  if (failed(readTensors(node, "inputs", result.inputs)) ||
      failed(readTensors(node, "outputs", result.outputs)))
    return failure();
  if (node.is(NodeType::Comp))
    return readComp(node, result);
  if (node.is(NodeType::Coll))
    return readColl(node, result);
  if (node.is(NodeType::Send) || node.is(NodeType::Recv))
    return readMessage(node, result);
  if (node.is(NodeType::MemLoad) || node.is(NodeType::MemStore))
    return readTransfer(node, result);
  return emitNodeError(node)
         << "is of type " << trace::getNodeTypeName(node.type)
         << "; only COMP, COMM_COLL, COMM_SEND, COMM_RECV, MEM_LOAD and "
            "MEM_STORE can be expressed";
}

/// Replaces ids by indices into `nodes`.
static LogicalResult resolveDeps(std::vector<ImportedNode> &nodes,
                                 Location loc) {
  // Any number can be an id, also those that DenseMap keeps for itself.
  std::unordered_map<uint64_t, uint64_t> indices;
  for (auto [index, node] : llvm::enumerate(nodes))
    if (!indices.insert({node.id, index}).second)
      return emitError(loc) << "two nodes have the id " << node.id;
  for (ImportedNode &node : nodes)
    for (auto *deps : {&node.dataDeps, &node.ctrlDeps})
      for (uint64_t &dep : *deps) {
        auto it = indices.find(dep);
        if (it == indices.end())
          return emitError(loc) << "node " << node.id << " depends on node "
                                << dep << ", which does not exist";
        dep = it->second;
      }
  return success();
}

/// The order in which a simulator with free resources would start the nodes: of
/// those whose dependencies are done, the one with the lowest id.
static FailureOr<std::vector<uint64_t>> findOrder(ArrayRef<ImportedNode> nodes,
                                                  Location loc) {
  std::vector<std::vector<uint64_t>> users(nodes.size());
  std::vector<uint64_t> missing(nodes.size(), 0);
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const auto *deps : {&node.dataDeps, &node.ctrlDeps})
      for (uint64_t dep : *deps) {
        users[dep].push_back(index);
        ++missing[index];
      }
  using Entry = std::pair<uint64_t, uint64_t>; // id, index
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  for (auto [index, node] : llvm::enumerate(nodes))
    if (!missing[index])
      ready.push({node.id, index});
  std::vector<uint64_t> order;
  while (!ready.empty()) {
    uint64_t index = ready.top().second;
    ready.pop();
    order.push_back(index);
    for (uint64_t user : users[index])
      if (--missing[user] == 0)
        ready.push({nodes[user].id, user});
  }
  if (order.size() == nodes.size())
    return order;
  size_t blocked =
      llvm::find_if(missing, [](uint64_t n) { return n; }) - missing.begin();
  return emitError(loc) << "node " << nodes[blocked].id
                        << " is in or behind a cycle of dependencies";
}

FailureOr<std::vector<ImportedNode>>
stg::chakra::readTrace(llvm::MemoryBufferRef buffer, Location loc) {
  trace::TraceReader reader(buffer);
  trace::Metadata metadata;
  if (llvm::Error error = reader.readMetadata(metadata))
    return emitError(loc) << llvm::toString(std::move(error));
  std::vector<ImportedNode> nodes;
  NodeReader nodeReader(loc);
  for (Node node;;) {
    llvm::Expected<bool> more = reader.readNode(node);
    if (!more)
      return emitError(loc) << llvm::toString(more.takeError());
    if (!*more)
      break;
    if (failed(nodeReader.read(node, nodes.emplace_back())))
      return failure();
  }
  if (failed(resolveDeps(nodes, loc)))
    return failure();
  FailureOr<std::vector<uint64_t>> order = findOrder(nodes, loc);
  if (failed(order))
    return failure();
  std::vector<uint64_t> positions(nodes.size());
  for (auto [position, index] : llvm::enumerate(*order))
    positions[index] = position;
  std::vector<ImportedNode> sorted;
  for (uint64_t index : *order) {
    ImportedNode &node = sorted.emplace_back(std::move(nodes[index]));
    for (auto *deps : {&node.dataDeps, &node.ctrlDeps})
      for (uint64_t &dep : *deps)
        dep = positions[dep];
  }
  return sorted;
}
