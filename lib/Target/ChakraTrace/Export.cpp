//===- Export.cpp - Chakra execution traces from graphs -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/ChakraTrace/Export.h"
#include "Evaluate.h"
#include "FileWriter.h"
#include "MemoryMeter.h"
#include "Totals.h"
#include "TraceEncoder.h"
#include "stg/Target/ChakraTrace/Unroll.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace stg::chakra;

/// Classes are encoded and written together up to this many nodes, which bounds
/// the memory that their images take (about 400 bytes a node).
static constexpr uint64_t kMaxNodesAtOnce = 1 << 21;

namespace {
/// One graph and the ranks that execute it.
struct ExportClass {
  GraphProgram program;
  RankClass ranks;
  /// The positions in `ranks` whose files are written.
  int64_t firstPosition = 0, endPosition = 0;
  ClassSummary summary;
  ClassImage image;  ///< While the class is being written.
  std::string error; ///< Of writing its memory timeline.
};

/// The collectives of a rank over certain axes, to compare classes.
struct CollSequence {
  uint64_t count = 0;
  llvm::hash_code hash = llvm::hash_code(0);

  bool operator==(const CollSequence &rhs) const {
    return count == rhs.count && hash == rhs.hash;
  }
};

/// Collects the collectives of a rank by their axes.
class CollSequences : public NodeSink {
public:
  void handleNode(const FlatNode &node) override {
    if (!node.common->isColl())
      return;
    CollSequence &sequence = sequences[node.common->axes];
    ++sequence.count;
    sequence.hash = llvm::hash_combine(sequence.hash, node.common->collKind,
                                       node.common->commSize);
  }
  CollSequence get(AxisMask axes) const { return sequences.lookup(axes); }

private:
  llvm::DenseMap<AxisMask, CollSequence> sequences;
};

/// Collects the sizes of the messages of a rank in order, by their channel.
class MessageSizes : public NodeSink {
public:
  void handleNode(const FlatNode &node) override {
    if (!node.common->isMessage())
      return;
    auto [it, isNew] = hashes.try_emplace(node.common->channel, 0);
    it->second = llvm::hash_combine(it->second, node.common->bytes);
  }
  size_t get(uint32_t channel) const { return hashes.lookup(channel); }

private:
  llvm::DenseMap<uint32_t, size_t> hashes;
};

/// One export, as the sequence of its steps.
class Exporter {
public:
  Exporter(ModuleOp module, const ExportOptions &options)
      : module(module), options(options),
        numThreads(llvm::hardware_concurrency(options.threads)
                       .compute_thread_count()) {}

  FailureOr<ExportSummary> run();

private:
  LogicalResult checkOptions();
  LogicalResult compileGraphs();
  LogicalResult chooseRanks();
  LogicalResult assignRanks();
  LogicalResult numberGroups();
  LogicalResult checkSharedGroups();
  LogicalResult checkSharedGroups(AxisMask axes,
                                  ArrayRef<CollSequences> sequences);
  LogicalResult numberTags();
  SmallVector<uint32_t> getPeerClasses(const ExportClass &entry, unsigned axis,
                                       int64_t shift);
  LogicalResult checkChannel(const ExportClass &entry, const Channel &channel,
                             const ExportClass &peer);
  bool haveSameSizes(const ExportClass &entry, const Channel &channel,
                     const ExportClass &peer, const Channel &other);
  size_t hashMessageSizes(const ExportClass &entry, const Channel &channel);
  LogicalResult checkMessages();
  LogicalResult prepareDirectory();
  LogicalResult writeGroups();
  LogicalResult processClasses();
  MemoryTotals finishMemory(ExportClass &entry, MemoryMeter &meter);
  void runClass(ExportClass &entry);
  LogicalResult writeRanks(MutableArrayRef<ExportClass> batch);
  LogicalResult writeFile(StringRef name,
                          function_ref<void(raw_ostream &)> fill);
  void summarize();

  ModuleOp module;
  const ExportOptions &options;
  unsigned numThreads;
  std::optional<RankSpace> space;
  std::optional<GroupTable> groups;
  std::vector<ExportClass> classes;
  std::vector<uint32_t> classOfRank;
  std::map<const ExportClass *, MessageSizes> messageSizes;
  int64_t firstRank = 0, endRank = 0;
  uint64_t bytesWritten = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is exported
//===----------------------------------------------------------------------===//

LogicalResult Exporter::compileGraphs() {
  GraphOp first;
  for (auto graph : module.getOps<GraphOp>()) {
    if (!first) {
      first = graph;
      FailureOr<RankSpace> ranks = RankSpace::get(graph);
      if (failed(ranks))
        return failure();
      space = std::move(*ranks);
    } else if (graph.getMesh() != first.getMesh()) {
      InFlightDiagnostic diag = emitShortOpError(graph)
                                << "has another mesh than '"
                                << first.getSymName() << "'";
      diag.attachNote(first.getLoc()) << "its mesh is " << first.getMesh();
      return diag;
    }
    UnrollOptions unroll;
    unroll.splits = options.splits;
    FailureOr<RankClass> ranks = RankClass::get(graph, *space);
    if (failed(ranks))
      return failure();
    FailureOr<GraphProgram> program =
        GraphProgram::compile(graph, *space, unroll);
    if (failed(program))
      return failure();
    classes.push_back(
        {std::move(*program), std::move(*ranks), 0, 0, {}, {}, {}});
  }
  if (classes.empty())
    return emitError(module.getLoc()) << "there is no chakra.graph to export";
  return success();
}

LogicalResult Exporter::checkOptions() {
  if (options.splits < 1)
    return emitError(module.getLoc())
           << "the number of splits must be at least 1";
  if (!options.writeFiles)
    return success();
  if (options.directory.empty())
    return emitError(module.getLoc())
           << "the directory for the traces is not given";
  if (options.prefix.empty() ||
      llvm::sys::path::filename(options.prefix) != options.prefix)
    return emitError(module.getLoc())
           << "'" << options.prefix
           << "' cannot be the first part of a file name";
  return success();
}

LogicalResult Exporter::chooseRanks() {
  endRank = space->getNumRanks();
  if (!options.ranks)
    return success();
  std::tie(firstRank, endRank) = *options.ranks;
  if (firstRank >= 0 && firstRank < endRank && endRank <= space->getNumRanks())
    return success();
  return emitError(module.getLoc())
         << "ranks " << firstRank << ":" << endRank
         << " are not a range within 0:" << space->getNumRanks()
         << " (the first one, and one past the last)";
}

/// Every rank belongs to exactly one class.
LogicalResult Exporter::assignRanks() {
  constexpr uint32_t kNoClass = UINT32_MAX;
  classOfRank.assign(space->getNumRanks(), kNoClass);
  for (auto [index, entry] : llvm::enumerate(classes)) {
    for (int64_t i = 0, e = entry.ranks.size(); i < e; ++i) {
      uint32_t &owner = classOfRank[entry.ranks[i]];
      if (owner != kNoClass) {
        GraphOp other = classes[owner].program.getGraph();
        InFlightDiagnostic diag = emitShortOpError(entry.program.getGraph())
                                  << "covers rank ";
        diag << entry.ranks[i] << " (" << space->describe(entry.ranks[i])
             << "), which '" << other.getSymName() << "' covers too";
        diag.attachNote(other.getLoc()) << "the other graph is here";
        return diag;
      }
      owner = index;
    }
  }
  auto missing = llvm::find(classOfRank, kNoClass);
  if (missing == classOfRank.end())
    return success();
  int64_t rank = missing - classOfRank.begin();
  return emitError(module.getLoc()) << "no chakra.graph covers rank " << rank
                                    << " (" << space->describe(rank) << ")";
}

//===----------------------------------------------------------------------===//
// Communication groups
//===----------------------------------------------------------------------===//

LogicalResult Exporter::numberGroups() {
  groups.emplace(*space);
  for (const ExportClass &entry : classes) {
    llvm::SmallDenseSet<AxisMask> seen;
    for (const NodeTemplate &node : entry.program.getNodes())
      if (node.isColl() && node.executions && seen.insert(node.axes).second)
        groups->use(node.axes, entry.ranks);
  }
  groups->number();
  if (groups->getNumGroups() && options.writeFiles &&
      StringRef(options.directory).contains("empty"))
    emitWarning(module.getLoc())
        << "ASTRA-sim ignores communication groups in a file whose "
           "path contains 'empty', as '"
        << options.directory << "' does";
  return success();
}

/// Where a class is restricted to one coordinate on an axis and has a
/// collective over that axis, the other members of its group execute other
/// graphs. They must have the same collectives in the same order, or none would
/// ever complete.
LogicalResult Exporter::checkSharedGroups() {
  llvm::SmallSetVector<AxisMask, 4> shared;
  AxisMask fixed = 0;
  for (const ExportClass &entry : classes)
    fixed |= entry.ranks.getFixedAxes();
  for (const ExportClass &entry : classes)
    for (const NodeTemplate &node : entry.program.getNodes())
      if (node.isColl() && node.executions && (node.axes & fixed))
        shared.insert(node.axes);
  if (shared.empty())
    return success();
  std::vector<CollSequences> sequences(classes.size());
  std::vector<TensorInstance> instances;
  for (auto [entry, collector] : llvm::zip_equal(classes, sequences))
    entry.program.run(collector, instances);
  for (AxisMask axes : shared)
    if (failed(checkSharedGroups(axes, sequences)))
      return failure();
  return success();
}

LogicalResult Exporter::checkSharedGroups(AxisMask axes,
                                          ArrayRef<CollSequences> sequences) {
  std::vector<int64_t> firstMember(space->getNumGroups(axes), -1);
  for (int64_t rank = 0, e = space->getNumRanks(); rank < e; ++rank) {
    if (!space->isMember(axes, rank))
      continue;
    int64_t &first = firstMember[space->getGroupIndex(axes, rank)];
    if (first < 0)
      first = rank;
    uint32_t lhs = classOfRank[first], rhs = classOfRank[rank];
    if (lhs == rhs || sequences[lhs].get(axes) == sequences[rhs].get(axes))
      continue;
    GraphOp graph = classes[rhs].program.getGraph();
    GraphOp other = classes[lhs].program.getGraph();
    InFlightDiagnostic diag = emitShortOpError(graph)
                              << "does not have the collectives "
                                 "over [";
    diag << llvm::join(space->getNames(axes), ", ") << "] that '"
         << other.getSymName() << "' has, but ranks " << first << " and "
         << rank << " are in one group: " << sequences[rhs].get(axes).count
         << " and " << sequences[lhs].get(axes).count
         << " collectives, or different kinds, sizes or order";
    diag.attachNote(other.getLoc()) << "the other graph is here";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Gives each channel as many tags as it has messages at most, the same ones in
/// all classes, so that the k-th message of a channel has the same tag at both
/// ends.
LogicalResult Exporter::numberTags() {
  // Simulators take tags modulo this.
  constexpr uint64_t kMaxTags = 500000000;
  std::map<ChannelKey, uint64_t> counts;
  for (ExportClass &entry : classes)
    for (const Channel &channel : entry.program.getChannels()) {
      uint64_t &count = counts[channel.key];
      count = std::max(count, channel.executions);
    }
  std::map<ChannelKey, uint64_t> firstTags;
  uint64_t next = 0;
  for (auto [key, count] : counts) {
    firstTags[key] = next;
    next += count;
  }
  if (next > kMaxTags)
    return emitError(module.getLoc())
           << "there are more than " << kMaxTags
           << " messages in a step, which is how many tags there are";
  for (ExportClass &entry : classes)
    for (Channel &channel : entry.program.getChannels())
      channel.firstTag = firstTags[channel.key];
  return success();
}

/// The classes of the ranks that are `shift` further along an axis than those
/// of `entry`.
SmallVector<uint32_t> Exporter::getPeerClasses(const ExportClass &entry,
                                               unsigned axis, int64_t shift) {
  llvm::SmallSetVector<uint32_t, 4> peers;
  for (int64_t i = 0, e = entry.ranks.size(); i < e; ++i)
    peers.insert(classOfRank[space->getNeighbour(entry.ranks[i], axis, shift)]);
  return peers.takeVector();
}

/// The other end of `channel` in a program.
static const Channel *findOtherEnd(const GraphProgram &program,
                                   const Channel &channel) {
  for (const Channel &other : program.getChannels())
    if (other.isSend != channel.isSend && !(other.key < channel.key) &&
        !(channel.key < other.key))
      return &other;
  return nullptr;
}

/// The sizes of the messages of a channel in order, as a hash.
size_t Exporter::hashMessageSizes(const ExportClass &entry,
                                  const Channel &channel) {
  auto [it, isNew] = messageSizes.try_emplace(&entry);
  if (isNew) {
    std::vector<TensorInstance> instances;
    entry.program.run(it->second, instances);
  }
  return it->second.get(&channel - entry.program.getChannels().data());
}

/// The program is only run where the messages of a channel differ in size.
bool Exporter::haveSameSizes(const ExportClass &entry, const Channel &channel,
                             const ExportClass &peer, const Channel &other) {
  if (channel.executions != other.executions || channel.bytes != other.bytes)
    return false;
  if (channel.hasOneSize && other.hasOneSize)
    return true;
  return hashMessageSizes(entry, channel) == hashMessageSizes(peer, other);
}

/// The messages of a channel are as many and as large at both ends.
LogicalResult Exporter::checkChannel(const ExportClass &entry,
                                     const Channel &channel,
                                     const ExportClass &peer) {
  const Channel *other = findOtherEnd(peer.program, channel);
  if (other && haveSameSizes(entry, channel, peer, *other))
    return success();
  GraphOp peerGraph = peer.program.getGraph();
  InFlightDiagnostic diag = emitShortOpError(entry.program.getGraph())
                            << (channel.isSend ? "sends " : "receives ");
  diag << channel.executions << " messages of channel " << channel.key.channel
       << " along axis '" << space->getAxes()[channel.key.axis].name
       << "', but '" << peerGraph.getSymName() << "', its peer's graph, "
       << (channel.isSend ? "receives " : "sends ")
       << (other ? other->executions : 0)
       << (other && other->executions == channel.executions
               ? " of other sizes or in another order"
               : "");
  diag.attachNote(peerGraph.getLoc()) << "the other graph is here";
  return diag;
}

/// Every message that a class sends or receives has its counterpart at the
/// peers.
LogicalResult Exporter::checkMessages() {
  for (const ExportClass &entry : classes) {
    std::map<std::pair<unsigned, int64_t>, SmallVector<uint32_t>> peers;
    for (const Channel &channel : entry.program.getChannels()) {
      if (channel.executions == 0)
        continue;
      int64_t shift =
          channel.isSend ? channel.key.direction : -channel.key.direction;
      auto [it, isNew] = peers.try_emplace({channel.key.axis, shift});
      if (isNew)
        it->second = getPeerClasses(entry, channel.key.axis, shift);
      for (uint32_t peer : it->second)
        if (failed(checkChannel(entry, channel, classes[peer])))
          return failure();
    }
  }
  return success();
}

LogicalResult Exporter::writeGroups() {
  return writeFile("comm_group.json", [&](raw_ostream &os) {
    os << '{';
    groups->forEach([&](uint32_t id, AxisMask, ArrayRef<int64_t> members) {
      os << (id == 1 ? "\n" : ",\n") << "  \"" << id << "\": [";
      llvm::interleaveComma(members, os);
      os << ']';
    });
    os << (groups->getNumGroups() ? "\n}\n" : "}\n");
  });
}

//===----------------------------------------------------------------------===//
// Classes and ranks
//===----------------------------------------------------------------------===//

LogicalResult Exporter::writeFile(StringRef name,
                                  function_ref<void(raw_ostream &)> fill) {
  if (!options.writeFiles)
    return success();
  if (llvm::Error error = FileWriter(options.directory, 0).write(name, fill))
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  return success();
}

LogicalResult Exporter::prepareDirectory() {
  if (!options.writeFiles)
    return success();
  if (std::error_code error = llvm::sys::fs::create_directories(
          options.directory, /*IgnoreExisting=*/true, llvm::sys::fs::all_all))
    return emitError(module.getLoc())
           << "cannot create directory '" << options.directory
           << "': " << error.message();
  if (!llvm::sys::fs::is_directory(options.directory))
    return emitError(module.getLoc())
           << "'" << options.directory << "' is not a directory";
  llvm::SmallString<128> manifest(options.directory);
  llvm::sys::path::append(manifest, "manifest.json");
  if (std::error_code error = llvm::sys::fs::remove(manifest))
    return emitError(module.getLoc())
           << "cannot remove '" << manifest
           << "' of an earlier export: " << error.message();
  return success();
}

/// Computes memory totals, and writes the timeline if there is to be one.
MemoryTotals Exporter::finishMemory(ExportClass &entry, MemoryMeter &meter) {
  if (options.memoryTimeline.empty())
    return meter.finish();
  StringRef graph = entry.program.getGraph().getSymName();
  std::string name = (options.memoryTimeline + "." + graph + ".csv").str();
  std::error_code error;
  llvm::raw_fd_ostream os(name, error);
  if (error) {
    entry.error = "cannot write '" + name + "': " + error.message();
    return meter.finish();
  }
  MemoryTotals totals = meter.finish(&os);
  os.flush();
  if (os.has_error())
    entry.error = "cannot write '" + name + "': " + os.error().message();
  os.clear_error();
  return totals;
}

/// Computes the totals of a class, and its image if files of it are written.
void Exporter::runClass(ExportClass &entry) {
  std::vector<TensorInstance> instances;
  std::optional<TraceEncoder> encoder;
  if (options.writeFiles && entry.firstPosition < entry.endPosition)
    encoder.emplace(entry.program, instances);
  MemoryMeter meter(entry.program, instances, encoder ? &*encoder : nullptr);
  entry.program.run(meter, instances);
  ClassTotals &totals = entry.summary.totals;
  totals = computeTotals(entry.program, *space);
  totals.memory = finishMemory(entry, meter);
  totals.peakNode = entry.program.getPath(totals.memory.peakNode);
  if (encoder)
    entry.image = encoder->takeImage();
}

/// Calls `work` with 0 to `count` - 1, each on a thread of its own. Plain
/// threads, as the futures of llvm::ThreadPool are made in our code and
/// completed in libLLVM, which a thread sanitizer can only report as a race.
static void runOnThreads(unsigned count, function_ref<void(unsigned)> work) {
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i)
    threads.emplace_back(work, i);
  if (count)
    work(0);
  for (std::thread &thread : threads)
    thread.join();
}

/// Writes the files of the ranks of `batch`, whose images exist.
LogicalResult Exporter::writeRanks(MutableArrayRef<ExportClass> batch) {
  // Jobs are numbered through the classes; `ends` says where each class ends.
  std::vector<int64_t> ends;
  int64_t numJobs = 0;
  for (const ExportClass &entry : batch)
    ends.push_back(numJobs += entry.endPosition - entry.firstPosition);
  std::atomic<int64_t> nextJob = 0;
  std::mutex mutex;
  std::string firstError;
  auto work = [&](unsigned worker) {
    FileWriter writer(options.directory, worker);
    for (int64_t job; (job = nextJob++) < numJobs;) {
      size_t index = llvm::upper_bound(ends, job) - ends.begin();
      const ExportClass &entry = batch[index];
      int64_t rank = entry.ranks[entry.endPosition - (ends[index] - job)];
      llvm::Error error =
          writer.write((options.prefix + "." + Twine(rank) + ".et").str(),
                       [&](raw_ostream &os) {
                         writeRank(entry.image, *space, *groups, rank, os);
                       });
      if (!error)
        continue;
      nextJob = numJobs;
      std::lock_guard<std::mutex> lock(mutex);
      std::string message = llvm::toString(std::move(error));
      if (firstError.empty())
        firstError = std::move(message);
    }
    std::lock_guard<std::mutex> lock(mutex);
    bytesWritten += writer.getBytesWritten();
  };
  runOnThreads(std::min<int64_t>(numThreads, numJobs), work);
  if (!firstError.empty())
    return emitError(module.getLoc()) << firstError;
  return success();
}

LogicalResult Exporter::processClasses() {
  for (ExportClass &entry : classes) {
    // Ranks ascend in their positions.
    auto findPosition = [&](int64_t rank) {
      int64_t low = 0, high = entry.ranks.size();
      while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (entry.ranks[middle] < rank)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    entry.firstPosition = findPosition(firstRank);
    entry.endPosition = findPosition(endRank);
  }
  for (size_t begin = 0, end; begin < classes.size(); begin = end) {
    uint64_t nodes = 0;
    for (end = begin; end < classes.size() && end - begin < numThreads; ++end) {
      nodes += classes[end].program.getNumNodes();
      if (end > begin && nodes > kMaxNodesAtOnce)
        break;
    }
    runOnThreads(end - begin,
                 [&](unsigned i) { runClass(classes[begin + i]); });
    auto batch = MutableArrayRef(classes).slice(begin, end - begin);
    for (const ExportClass &entry : batch)
      if (!entry.error.empty())
        return emitError(module.getLoc()) << entry.error;
    if (options.writeFiles && failed(writeRanks(batch)))
      return failure();
    for (ExportClass &entry : batch)
      entry.image = ClassImage();
  }
  return success();
}

/// Fills what is known without running the programs.
void Exporter::summarize() {
  for (ExportClass &entry : classes) {
    GraphOp graph = entry.program.getGraph();
    entry.summary.name = graph.getSymName().str();
    entry.summary.numRanks = entry.ranks.size();
    entry.summary.firstRank = entry.ranks[0];
    for (const RankSpace::Axis &axis : space->getAxes())
      if (std::optional<int64_t> coordinate = graph.getCoordinate(axis.name))
        entry.summary.coordinates.push_back({axis.name, *coordinate});
  }
}

FailureOr<ExportSummary> Exporter::run() {
  if (failed(checkOptions()) || failed(compileGraphs()) ||
      failed(chooseRanks()) || failed(assignRanks()) || failed(numberTags()) ||
      failed(checkMessages()) || failed(checkSharedGroups()) ||
      failed(numberGroups()) || failed(prepareDirectory()) ||
      failed(writeGroups()))
    return failure();
  summarize();
  if (failed(processClasses()))
    return failure();
  ExportSummary summary;
  summary.axes = space->getAxes().vec();
  summary.numRanks = space->getNumRanks();
  summary.firstRank = firstRank;
  summary.endRank = endRank;
  summary.numGroups = groups->getNumGroups();
  summary.bytesWritten = bytesWritten;
  for (ExportClass &entry : classes)
    summary.classes.push_back(std::move(entry.summary));
  if (failed(writeFile("manifest.json", [&](raw_ostream &os) {
        writeManifest(summary, options, os);
      })))
    return failure();
  return summary;
}

FailureOr<ExportSummary>
stg::chakra::exportTraces(ModuleOp module, const ExportOptions &options) {
  return Exporter(module, options).run();
}
