//===- TraceGraphs.cpp - Traces in memory, to be executed -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/TraceGraphs.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace stg;
using namespace stg::trace;

namespace {
class GraphReader {
public:
  GraphReader(const StringMap<uint32_t> &groups, TraceGraph &graph,
              bool isShown, bool isDrawn)
      : groups(groups), graph(graph), isShown(isShown), isDrawn(isDrawn) {}

  Error read(TraceReader reader);

private:
  Error add(const Node &node);
  Expected<int64_t> getInteger(const Node &node, StringRef attribute);
  Error addCommunication(const Node &node, TracedNode &result);
  void addTensors(const Node &node, TracedNode &result);
  void addTensor(StringRef name, int64_t bytes, bool isWrite);
  Error makeError(const Node &node, const Twine &what) const;
  Error resolve();

  const StringMap<uint32_t> &groups; ///< Numbers by name.
  TraceGraph &graph;
  const bool isShown, isDrawn;
  std::string file;
  DenseMap<uint64_t, uint32_t> byId;
  /// Ids of dependencies, each node's behind one another.
  std::vector<uint64_t> waiting;
  StringMap<uint32_t> tensorNumbers;
};
} // namespace

Error GraphReader::makeError(const Node &node, const Twine &what) const {
  return createStringError(file + ": node " + Twine(node.id) + " ('" +
                           shortenText(node.name) + "') " + what);
}

Expected<int64_t> GraphReader::getInteger(const Node &node,
                                          StringRef attribute) {
  std::optional<Int128> value = node.attrs.getInteger(attribute);
  if (!value || *value < 0 || *value > INT64_MAX) {
    if (isDrawn)
      return -1;
    return makeError(node, "needs '" + attribute + "', a number from 0 to " +
                               Twine(INT64_MAX));
  }
  return static_cast<int64_t>(*value);
}

Error GraphReader::addCommunication(const Node &node, TracedNode &result) {
  Expected<int64_t> size = getInteger(node, "comm_size");
  if (!size)
    return size.takeError();
  result.bytes = *size;
  if (result.type == NodeType::Coll) {
    Expected<int64_t> type = getInteger(node, "comm_type");
    if (!type)
      return type.takeError();
    if (!isDrawn && !is_contained({0, 2, 5, 6, 7}, *type))
      return makeError(node, "has 'comm_type' " + Twine(*type) +
                                 ", which is none of 0, 2, 5, 6 and 7");
    result.collective = static_cast<CollectiveType>(*type);
    std::string name = getGroupName(node);
    auto it = groups.find(name);
    if (it == groups.end() && isDrawn) {
      result.place = kNone;
      return Error::success();
    }
    if (it == groups.end())
      return makeError(node, "is on group '" + shortenText(name) +
                                 "', which nothing defines");
    result.place = it->second;
    return Error::success();
  }
  Expected<int64_t> peer =
      getInteger(node, result.type == NodeType::Send ? "comm_dst" : "comm_src");
  if (!peer)
    return peer.takeError();
  Expected<int64_t> tag = getInteger(node, "comm_tag");
  if (!tag)
    return tag.takeError();
  result.place = static_cast<uint32_t>(*peer);
  result.tag = *tag;
  return Error::success();
}

void GraphReader::addTensor(StringRef name, int64_t bytes, bool isWrite) {
  auto number = static_cast<uint32_t>(graph.nodes.size());
  auto [it, isNew] = tensorNumbers.try_emplace(name, graph.tensors.size());
  if (isNew)
    graph.tensors.push_back({bytes, kNone, number});
  TracedTensor &tensor = graph.tensors[it->second];
  if (isWrite && tensor.writer == kNone)
    tensor.writer = number;
  tensor.last = number;
}

void GraphReader::addTensors(const Node &node, TracedNode &result) {
  size_t place = 0;
  for (bool isWrite : {false, true}) {
    const Attribute *attr = node.attrs.find(isWrite ? "outputs" : "inputs");
    if (!attr || attr->kind != AttrKind::StringList)
      continue;
    if (isWrite)
      place = 2;
    ArrayRef<StringRef> list = node.attrs.getStrings(*attr);
    for (size_t i = 0; i + 1 < list.size(); i += 2) {
      int64_t bytes = 0;
      if (list[i + 1].getAsInteger(10, bytes))
        continue;
      if (place < (isWrite ? 3u : 2u))
        result.tensors[place++] = bytes;
      if (isShown)
        addTensor(list[i], bytes, isWrite);
    }
  }
}

Error GraphReader::add(const Node &node) {
  TracedNode result;
  result.id = node.id;
  result.type = static_cast<NodeType>(node.type);
  switch (result.type) {
  case NodeType::Comp: {
    Expected<int64_t> operations = getInteger(node, "num_ops");
    if (!operations)
      return operations.takeError();
    Expected<int64_t> bytes = getInteger(node, "tensor_size");
    if (!bytes)
      return bytes.takeError();
    result.operations = *operations;
    result.bytes = *bytes;
    break;
  }
  case NodeType::Coll:
  case NodeType::Send:
  case NodeType::Recv:
    if (Error error = addCommunication(node, result))
      return error;
    break;
  case NodeType::MemLoad:
  case NodeType::MemStore: {
    Expected<int64_t> bytes = getInteger(node, "tensor_size");
    if (!bytes)
      return bytes.takeError();
    result.bytes = *bytes;
    break;
  }
  default:
    if (isDrawn) {
      result.bytes = -1;
      break;
    }
    return makeError(node, "is of type " + getNodeTypeName(node.type) +
                               ": only COMP, COMM_COLL, COMM_SEND, COMM_RECV, "
                               "MEM_LOAD and MEM_STORE can be executed");
  }
  if (!byId.try_emplace(node.id, graph.nodes.size()).second)
    return makeError(node, "has the id of another node");
  addTensors(node, result);
  graph.nodes.push_back(result);
  if (isShown)
    graph.names.push_back(node.name.str());
  SmallVector<uint64_t, 8> deps(node.dataDeps);
  deps.append(node.ctrlDeps.begin(), node.ctrlDeps.end());
  llvm::sort(deps);
  deps.erase(llvm::unique(deps), deps.end());
  waiting.insert(waiting.end(), deps.begin(), deps.end());
  graph.depBegin.push_back(static_cast<uint32_t>(waiting.size()));
  return Error::success();
}

/// Makes positions of ids.
Error GraphReader::resolve() {
  for (uint64_t id : waiting) {
    auto it = byId.find(id);
    if (it == byId.end())
      return createStringError(file + ": a node depends on node " + Twine(id) +
                               ", which is not there");
    graph.deps.push_back(it->second);
  }
  return Error::success();
}

Error GraphReader::read(TraceReader reader) {
  file = reader.getFile().str();
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return error;
  if (Error error =
          reader.forEachNode([&](const Node &node) { return add(node); }))
    return error;
  return resolve();
}

std::optional<size_t> TraceGraphs::find(int64_t rank) const {
  auto it =
      llvm::lower_bound(ranks, rank, [](const TraceGraph &graph, int64_t r) {
        return int64_t(graph.rank) < r;
      });
  if (it == ranks.end() || int64_t(it->rank) != rank)
    return std::nullopt;
  return it - ranks.begin();
}

/// Nodes of all ranks together: some 100 bytes each.
static constexpr size_t kMostNodes = 100'000'000;

Expected<TraceGraphs> TraceGraphs::load(const TraceInput &input,
                                        function_ref<bool(uint64_t)> isShown) {
  return load(input, isShown, /*isDrawn=*/false);
}

Expected<TraceGraphs> TraceGraphs::loadDrawn(const TraceInput &input,
                                             std::optional<uint64_t> rank) {
  return load(
      input, [&](uint64_t other) { return !rank || other == *rank; },
      /*isDrawn=*/true);
}

Expected<TraceGraphs> TraceGraphs::load(const TraceInput &input,
                                        function_ref<bool(uint64_t)> isShown,
                                        bool isDrawn) {
  TraceGraphs graphs;
  StringMap<uint32_t> numbers;
  auto addGroup = [&](StringRef name, std::vector<int64_t> members) {
    numbers[name] = static_cast<uint32_t>(graphs.groups.size());
    for (int64_t member : members)
      graphs.numRanks = std::max(graphs.numRanks, member + 1);
    graphs.groups.push_back({name.str(), std::move(members)});
  };
  if (input.bundle) {
    graphs.numRanks = input.bundle->getSpace().getNumRanks();
    input.bundle->getGroups().forEach(
        [&](int64_t id, ArrayRef<int64_t> members) {
          addGroup(std::to_string(id), members.vec());
        });
  } else {
    for (const auto &[name, members] : input.groups.members) {
      std::vector<int64_t> sorted = members;
      llvm::sort(sorted);
      if (auto twice = std::adjacent_find(sorted.begin(), sorted.end());
          twice != sorted.end() && !isDrawn)
        return createStringError("group '" + name + "' has rank " +
                                 Twine(*twice) + " several times");
      addGroup(name, members);
    }
    for (const RankFile &file : input.files.files)
      graphs.numRanks = std::max<int64_t>(graphs.numRanks, file.rank + 1);
  }
  std::vector<int64_t> all(graphs.numRanks);
  for (auto [i, rank] : enumerate(all))
    rank = i;
  addGroup("", std::move(all));
  size_t numNodes = 0;
  auto read = [&](uint64_t rank, Expected<TraceReader> reader) -> Error {
    if (!reader)
      return reader.takeError();
    graphs.ranks.emplace_back().rank = rank;
    if (Error error =
            GraphReader(numbers, graphs.ranks.back(), isShown(rank), isDrawn)
                .read(std::move(*reader)))
      return error;
    numNodes += graphs.ranks.back().nodes.size();
    if (numNodes > kMostNodes)
      return createStringError("more than " + Twine(kMostNodes) +
                               " nodes: too many to execute one by one");
    return Error::success();
  };
  if (!input.bundle) {
    for (const RankFile &file : input.files.files)
      if (!isDrawn || isShown(file.rank))
        if (Error error = read(file.rank, TraceReader::open(file.path)))
          return std::move(error);
    return graphs;
  }
  for (int64_t rank = 0; rank < graphs.numRanks; ++rank) {
    if (isDrawn && !isShown(rank))
      continue;
    std::string bytes;
    raw_string_ostream os(bytes);
    input.bundle->writeRank(rank, os);
    if (Error error = read(rank, TraceReader(MemoryBuffer::getMemBufferCopy(
                                     bytes, input.bundle->getFileName(rank)))))
      return std::move(error);
  }
  return graphs;
}
