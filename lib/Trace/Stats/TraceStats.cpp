//===- TraceStats.cpp - Totals of a trace ---------------------------------===//
//
// Ranks are independent: each is read by one thread into its own slot, so the
// result does not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Stats/TraceStats.h"

#include "stg/Trace/Reader/Progress.h"
#include "llvm/Support/ThreadPool.h"

using namespace llvm;

namespace stg::trace {

void Traffic::add(Int128 size, Int128 payload) {
  ++count;
  bytes += size;
  payloadBytes += payload;
}

void Traffic::add(const Traffic &other) {
  count += other.count;
  bytes += other.bytes;
  payloadBytes += other.payloadBytes;
}

bool CollectiveKey::operator<(const CollectiveKey &other) const {
  if (type != other.type)
    return type < other.type;
  return GroupNameLess()(group, other.group);
}

static int64_t getPeer(const Node &node, StringRef attribute) {
  return clampToInt64(node.attrs.getInteger(attribute).value_or(-1));
}

void RankStats::add(const Node &node) {
  ++numNodes;
  ++nodesByType[node.type];
  if (node.is(NodeType::Comp)) {
    numOps += node.attrs.getInteger("num_ops").value_or(0);
    tensorSize += node.attrs.getInteger("tensor_size").value_or(0);
    return;
  }

  Int128 size = node.attrs.getInteger("comm_size").value_or(0);
  Int128 payload = node.attrs.getInteger("payload_bytes").value_or(size);
  if (node.is(NodeType::Coll)) {
    CollectiveKey key;
    key.type = clampToInt64(node.attrs.getInteger("comm_type").value_or(-1));
    key.group = getGroupName(node);
    CollectiveTraffic &traffic = collectives[key];
    traffic.add(size, payload);
    ++traffic.sizes[size];
    ++traffic.payloadSizes[payload];
  } else if (node.is(NodeType::Send)) {
    sends[getPeer(node, "comm_dst")].add(size, payload);
  } else if (node.is(NodeType::Recv)) {
    recvs[getPeer(node, "comm_src")].add(size, payload);
  }
}

TraceStats::~TraceStats() = default;

/// Each rank may be told from the others by its file only.
void FileStats::forEachClass(
    function_ref<void(const ClassStats &)> visit) const {
  for (const RankStats &rank : ranks) {
    ClassStats entry = {rank, RankSet(static_cast<int64_t>(rank.rank)), {}};
    for (const auto &[key, traffic] : rank.collectives)
      entry.groups[key.group] = {{key.group, 1}};
    visit(entry);
  }
}

void FileStats::forEachRank(uint64_t first, uint64_t end,
                            function_ref<void(const RankStats &)> visit) const {
  for (const RankStats &rank : ranks)
    if (first <= rank.rank && rank.rank < end)
      visit(rank);
}

std::optional<uint64_t> FileStats::getGroupSize(StringRef group) const {
  if (const std::vector<int64_t> *members = groups.find(group))
    return members->size();
  if (group.empty() && !isSingleFile)
    return ranks.size();
  return std::nullopt;
}

std::vector<int64_t> FileStats::getMembers(StringRef group) const {
  const std::vector<int64_t> *members = groups.find(group);
  return members ? *members : std::vector<int64_t>();
}

Expected<RankStats> computeRankStats(TraceReader &reader, uint64_t rank) {
  RankStats stats;
  stats.rank = rank;
  stats.file = reader.getFile().str();
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return std::move(error);
  stats.version = metadata.version.str();
  TensorMemory memory;
  if (Error error = reader.forEachNode([&](const Node &node) {
        stats.add(node);
        memory.addNode(node);
        return Error::success();
      }))
    return std::move(error);
  Node node;
  stats.memory = memory.finish([&](uint64_t frame) {
    return reader.readNodeAt(frame, node) ? node.name.str() : std::string();
  });
  return std::move(stats);
}

static Error readRank(const RankFile &file, RankStats &stats) {
  Expected<TraceReader> reader = TraceReader::open(file.path);
  if (!reader)
    return reader.takeError();
  Expected<RankStats> result = computeRankStats(*reader, file.rank);
  if (!result)
    return result.takeError();
  stats = std::move(*result);
  return Error::success();
}

Expected<FileStats> computeStats(const TraceSet &set, CommGroups groups,
                                 unsigned threads, bool isQuiet) {
  FileStats stats;
  stats.prefix = set.prefix;
  stats.isSingleFile = set.isSingleFile;
  stats.groups = std::move(groups);
  stats.ranks.resize(set.files.size());
  std::vector<std::optional<Error>> errors(set.files.size());
  Progress progress("read", set.files.size(), isQuiet);
  DefaultThreadPool pool(hardware_concurrency(threads));
  for (size_t i = 0; i < set.files.size(); ++i)
    pool.async([&, i] {
      errors[i] = readRank(set.files[i], stats.ranks[i]);
      progress.add(/*ranks=*/1, /*bytes=*/0);
    });
  pool.wait();

  Error all = Error::success();
  for (std::optional<Error> &error : errors)
    all = joinErrors(std::move(all), std::move(*error));
  if (all)
    return std::move(all);
  return std::move(stats);
}

} // namespace stg::trace
