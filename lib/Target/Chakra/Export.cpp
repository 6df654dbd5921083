//===- Export.cpp - Chakra execution traces from graphs -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/Chakra/Export.h"
#include "CallMeter.h"
#include "Evaluate.h"
#include "GraphCompiler.h"
#include "Manifest.h"
#include "MemoryMeter.h"
#include "Totals.h"
#include "stg/Support/Files.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <map>
#include <numeric>
#include <thread>

using namespace mlir;
using namespace stg::chakra;
using namespace stg::trace;

namespace {
/// One graph and the ranks that execute it.
struct ExportClass {
  GraphOp graph;
  RankClass ranks;
  TraceProgram program;
  ClassSummary summary;
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

/// The collectives of a rank by their axes.
using CollSequences = llvm::DenseMap<AxisMask, CollSequence>;

/// One export, as the sequence of its steps.
class Exporter {
public:
  Exporter(ModuleOp module, const ExportOptions &options)
      : module(module), options(options),
        numThreads(llvm::hardware_concurrency(options.files.threads)
                       .compute_thread_count()) {}

  FailureOr<ExportSummary> run();

private:
  LogicalResult checkOptions();
  LogicalResult checkProgram();
  /// True for a graph of the program that is exported.
  bool isExported(GraphOp graph) const {
    return options.program.empty() || graph.getProgram() == options.program;
  }
  LogicalResult compileGraphs();
  LogicalResult chooseRanks();
  LogicalResult partitionRanks();
  LogicalResult checkSharedGroups();
  LogicalResult checkSharedGroups(AxisMask axes,
                                  ArrayRef<CollSequences> sequences);
  LogicalResult numberTags();
  SmallVector<uint32_t> getPeerClasses(uint32_t index, unsigned axis,
                                       int64_t shift);
  LogicalResult checkChannel(const ExportClass &entry, const Channel &channel,
                             const ExportClass &peer);
  bool haveSameSizes(const ExportClass &entry, const Channel &channel,
                     const ExportClass &peer, const Channel &other);
  size_t hashMessageSizes(const ExportClass &entry, const Channel &channel);
  LogicalResult checkMessages();
  LogicalResult computeSummaries();
  void computeSummary(ExportClass &entry);
  MemoryTotals measureMemory(ExportClass &entry);
  MemoryTotals measureNodes(ExportClass &entry);
  std::optional<MemoryTotals> measureSteps(ExportClass &entry);
  MemoryTotals finishMemory(ExportClass &entry, MemoryMeter &meter);
  void makeBundle();
  void warnOfGroups();
  LogicalResult write();

  ModuleOp module;
  const ExportOptions &options;
  unsigned numThreads;
  std::optional<RankSpace> space;
  std::vector<ExportClass> classes;
  std::optional<RankPartition> partition;
  /// By class, the numbers of its channels in the order of their keys.
  std::vector<std::vector<uint32_t>> sortedChannels;
  /// By class, the sizes of the messages of each channel in order, as a hash.
  std::map<const ExportClass *, std::vector<size_t>> messageSizes;
  std::unique_ptr<TraceBundle> bundle;
  std::optional<RankRange> ranks; ///< None: all.
  ExportSummary summary;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is exported
//===----------------------------------------------------------------------===//

LogicalResult Exporter::compileGraphs() {
  GraphOp first;
  for (auto graph : module.getOps<GraphOp>()) {
    if (!isExported(graph))
      continue;
    if (!first) {
      first = graph;
      FailureOr<RankSpace> all = getRankSpace(graph);
      if (failed(all))
        return failure();
      space = std::move(*all);
    } else if (graph.getMesh() != first.getMesh()) {
      InFlightDiagnostic diag = emitShortOpError(graph)
                                << "has another mesh than '"
                                << first.getSymName() << "'";
      diag.attachNote(first.getLoc()) << "its mesh is " << first.getMesh();
      return diag;
    }
    FailureOr<RankClass> own = getRankClass(graph, *space);
    if (failed(own))
      return failure();
    FailureOr<TraceProgram> program =
        compileGraph(graph, *space, options.splits);
    if (failed(program))
      return failure();
    // Names are those of attributes, which stay.
    if (options.consumesGraphs)
      graph.getBody().front().clear();
    classes.push_back({graph, std::move(*own), std::move(*program), {}, {}});
  }
  if (classes.empty())
    return emitError(module.getLoc()) << "there is no chakra.graph to export";
  return success();
}

std::vector<std::string> stg::chakra::listPrograms(ModuleOp module) {
  llvm::SetVector<StringRef> names;
  for (auto graph : module.getOps<GraphOp>())
    if (std::optional<StringRef> program = graph.getProgram())
      names.insert(*program);
  std::vector<std::string> programs;
  for (StringRef name : names)
    programs.push_back(name.str());
  return programs;
}

/// One of several programs is chosen, and it is there.
LogicalResult Exporter::checkProgram() {
  std::vector<std::string> programs = listPrograms(module);
  bool isChosen = !options.program.empty();
  if (isChosen ? llvm::is_contained(programs, options.program)
               : programs.size() <= 1)
    return success();
  return emitError(module.getLoc())
         << (isChosen ? "there is no program '" + options.program + "'"
                      : std::string("there are several programs"))
         << (programs.empty()
                 ? "; no graph says which program it is of"
                 : "; choose one of " + llvm::join(programs, ", "));
}

LogicalResult Exporter::checkOptions() {
  if (failed(checkProgram()))
    return failure();
  if (options.splits < 1)
    return emitError(module.getLoc())
           << "the number of splits must be at least 1";
  if (options.output == ExportOptions::Output::Nothing ||
      options.output == ExportOptions::Output::Memory)
    return success();
  if (options.files.directory.empty())
    return emitError(module.getLoc())
           << "the directory for the traces is not given";
  if (!stg::trace::TraceBundle::isPrefix(options.prefix))
    return emitError(module.getLoc())
           << "'" << options.prefix
           << "' cannot be the first part of a file name";
  return success();
}

LogicalResult Exporter::chooseRanks() {
  int64_t numRanks = space->getNumRanks();
  llvm::Expected<std::optional<RankRange>> chosen =
      stg::trace::chooseRanks(numRanks, options.files.ranks, options.part);
  if (!chosen)
    return emitError(module.getLoc()) << llvm::toString(chosen.takeError());
  ranks = *chosen;
  // What reads the files is wrong with nothing in the model.
  if (options.checkRanks)
    if (llvm::Error error = options.checkRanks(numRanks))
      return emitError(UnknownLoc::get(module.getContext()))
             << llvm::toString(std::move(error));
  summary.ranks = ranks.value_or(RankRange(0, numRanks));
  return success();
}

/// Every rank belongs to exactly one class.
LogicalResult Exporter::partitionRanks() {
  SmallVector<const RankClass *> all;
  for (const ExportClass &entry : classes)
    all.push_back(&entry.ranks);
  RankPartition::Conflict conflict;
  partition = RankPartition::create(*space, all, conflict);
  if (partition)
    return success();
  int64_t rank = conflict.rank;
  if (!conflict.first)
    return emitError(module.getLoc()) << "no chakra.graph covers rank " << rank
                                      << " (" << space->describe(rank) << ")";
  GraphOp other = classes[*conflict.first].graph;
  InFlightDiagnostic diag = emitShortOpError(classes[*conflict.second].graph)
                            << "covers rank ";
  diag << rank << " (" << space->describe(rank) << "), which '"
       << other.getSymName() << "' covers too";
  diag.attachNote(other.getLoc()) << "the other graph is here";
  return diag;
}

//===----------------------------------------------------------------------===//
// Communication groups
//===----------------------------------------------------------------------===//

static CollSequences collectSequences(const TraceProgram &program) {
  CollSequences sequences;
  ProgramRunner runner(program);
  FlatNode node;
  while (runner.next(node)) {
    if (!node.common->isColl())
      continue;
    CollSequence &sequence = sequences[node.common->axes];
    ++sequence.count;
    sequence.hash = llvm::hash_combine(sequence.hash, node.common->collective,
                                       node.common->commSize);
  }
  return sequences;
}

/// Where a class is restricted to one coordinate on an axis and has a
/// collective over that axis, the other members of its group execute other
/// graphs. They must have the same collectives in the same order, or none would
/// ever complete.
LogicalResult Exporter::checkSharedGroups() {
  llvm::SmallSetVector<AxisMask, 4> shared;
  for (const ExportClass &entry : classes)
    for (AxisMask mask : entry.program.getMasks())
      if (mask & partition->getAxes())
        shared.insert(mask);
  if (shared.empty())
    return success();
  std::vector<CollSequences> sequences;
  for (const ExportClass &entry : classes)
    sequences.push_back(collectSequences(entry.program));
  for (AxisMask axes : shared)
    if (failed(checkSharedGroups(axes, sequences)))
      return failure();
  return success();
}

/// Cells that differ only on axes of the mask have their ranks in the same
/// groups.
LogicalResult Exporter::checkSharedGroups(AxisMask axes,
                                          ArrayRef<CollSequences> sequences) {
  AxisMask blockAxes = partition->getAxes() & ~axes;
  std::vector<int64_t> firstMember(space->getNumPositions(blockAxes), -1);
  for (int64_t cell = 0, e = partition->getNumCells(); cell < e; ++cell) {
    int64_t rank = partition->getFirstRank(cell);
    if (!space->isMember(axes, rank))
      continue;
    int64_t &first = firstMember[space->getPosition(blockAxes, rank)];
    if (first < 0)
      first = rank;
    uint32_t lhs = partition->getClass(first);
    uint32_t rhs = partition->getClassOfCell(cell);
    CollSequence expected = sequences[lhs].lookup(axes);
    CollSequence found = sequences[rhs].lookup(axes);
    if (lhs == rhs || expected == found)
      continue;
    GraphOp other = classes[lhs].graph;
    InFlightDiagnostic diag = emitShortOpError(classes[rhs].graph)
                              << "does not have the collectives "
                                 "over [";
    diag << llvm::join(space->getNames(axes), ", ") << "] that '"
         << other.getSymName() << "' has, but ranks " << first << " and "
         << rank << " are in one group: " << found.count << " and "
         << expected.count
         << " collectives, or different kinds, sizes or order";
    diag.attachNote(other.getLoc()) << "the other graph is here";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {
/// The channels with one number, or, in a schedule, those of one message in all
/// turns: numbers and tags that are evenly apart.
struct TagRange {
  ChannelKey key; ///< Of the first.
  uint64_t count; ///< Of turns, or 1.
  int64_t stride;
  uint64_t messages; ///< In each; the most of all classes.
  uint64_t firstTag = 0, tagStride = 0;

  int64_t getLast() const {
    return key.channel + stride * static_cast<int64_t>(count - 1);
  }
  bool operator<(const TagRange &other) const {
    return std::tie(key, count, stride) <
           std::tie(other.key, other.count, other.stride);
  }
};
} // namespace

static TagRange getTagRange(const Channel &channel) {
  if (channel.turns == 0)
    return {channel.key, 1, 0, channel.executions};
  return {channel.key, channel.turns, channel.stride, channel.rounds};
}

/// Numbers the tags of ranges whose numbers lie between each other's from
/// `next` on: by number, so that it goes around the ranges turn by turn. False
/// if they are not alike.
static bool numberBlock(MutableArrayRef<TagRange> block, uint64_t &next) {
  const TagRange &first = block.front();
  uint64_t all = 0;
  for (TagRange &range : block) {
    if (block.size() > 1 &&
        (range.count != first.count || range.stride != first.stride ||
         range.key.channel - first.key.channel >= first.stride))
      return false;
    range.firstTag = next + all;
    all += range.messages;
  }
  for (TagRange &range : block)
    range.tagStride = all;
  next += all * first.count;
  return true;
}

/// Gives each channel as many tags as it has messages at most, the same ones in
/// all classes and in the order of channels, so that the k-th message of a
/// channel has the same tag at both ends.
LogicalResult Exporter::numberTags() {
  std::vector<TagRange> ranges;
  for (const ExportClass &entry : classes)
    for (const Channel &channel : entry.program.channels)
      ranges.push_back(getTagRange(channel));
  llvm::sort(ranges, [](const TagRange &lhs, const TagRange &rhs) {
    if (lhs < rhs || rhs < lhs)
      return lhs < rhs;
    return lhs.messages > rhs.messages;
  });
  auto isSame = [](const TagRange &lhs, const TagRange &rhs) {
    return !(lhs < rhs);
  };
  ranges.erase(llvm::unique(ranges, isSame), ranges.end());
  uint64_t next = 0;
  for (size_t begin = 0, end; begin < ranges.size(); begin = end) {
    const ChannelKey &key = ranges[begin].key;
    int64_t last = ranges[begin].getLast();
    for (end = begin + 1; end < ranges.size(); ++end) {
      const TagRange &range = ranges[end];
      if (range.key.axis != key.axis || range.key.direction != key.direction ||
          range.key.channel > last)
        break;
      last = std::max(last, range.getLast());
    }
    MutableArrayRef<TagRange> block(&ranges[begin], end - begin);
    if (!numberBlock(block, next))
      return emitError(module.getLoc())
             << "the channels from " << key.channel << " on along axis '"
             << space->getAxes()[key.axis].name
             << "' are those of turns that are not alike";
  }
  if (next > uint64_t(kNumTags))
    return emitError(module.getLoc())
           << "there are more than " << kNumTags
           << " messages in a step, which is how many tags there are";
  for (ExportClass &entry : classes)
    for (Channel &channel : entry.program.channels) {
      TagRange wanted = getTagRange(channel);
      const TagRange &range = *llvm::partition_point(
          ranges, [&](const TagRange &other) { return other < wanted; });
      channel.firstTag = range.firstTag;
      channel.tagStride = channel.turns ? range.tagStride : 0;
    }
  return success();
}

/// The classes of the ranks that are `shift` further along an axis than those
/// of a class.
SmallVector<uint32_t> Exporter::getPeerClasses(uint32_t index, unsigned axis,
                                               int64_t shift) {
  llvm::SmallSetVector<uint32_t, 4> peers;
  for (int64_t cell = 0, e = partition->getNumCells(); cell < e; ++cell)
    if (partition->getClassOfCell(cell) == index)
      peers.insert(partition->getClass(
          space->getNeighbour(partition->getFirstRank(cell), axis, shift)));
  return peers.takeVector();
}

/// Sends before receives, each by key.
static bool isBefore(bool isSend, const ChannelKey &key, const Channel &other) {
  return isSend != other.isSend ? isSend : key < other.key;
}

static std::vector<uint32_t> sortChannels(ArrayRef<Channel> channels) {
  std::vector<uint32_t> numbers(channels.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  llvm::sort(numbers, [&](uint32_t lhs, uint32_t rhs) {
    return isBefore(channels[lhs].isSend, channels[lhs].key, channels[rhs]);
  });
  return numbers;
}

/// The other end of `channel` in a program.
static const Channel *findOtherEnd(ArrayRef<Channel> channels,
                                   ArrayRef<uint32_t> sorted,
                                   const Channel &channel) {
  bool isSend = !channel.isSend;
  const uint32_t *it = llvm::partition_point(sorted, [&](uint32_t number) {
    const Channel &other = channels[number];
    return isSend != other.isSend ? other.isSend : other.key < channel.key;
  });
  if (it == sorted.end() || isBefore(isSend, channel.key, channels[*it]))
    return nullptr;
  return &channels[*it];
}

namespace {
/// The sizes of the messages of each channel in order, as a hash. Bodies
/// without messages are not run, and no message is emitted ahead of its turn:
/// collectives and loads are.
class MessageHasher {
public:
  explicit MessageHasher(const TraceProgram &program)
      : program(program), hashes(program.channels.size()),
        rounds(program.channels.size()), indices(program.repeats.size()),
        hasMessages(program.bodies.size()) {
    // A body runs only bodies of larger numbers.
    for (size_t body = program.bodies.size(); body-- > 0;)
      hasMessages[body] =
          llvm::any_of(program.bodies[body].steps,
                       [&](TraceProgram::Step step) { return isOf(step); });
  }

  std::vector<size_t> run() {
    runBody(0);
    return std::move(hashes);
  }

private:
  /// True if a step is a message, or runs some.
  bool isOf(TraceProgram::Step step) const {
    using Step = TraceProgram::Step;
    switch (step.kind) {
    case Step::State:
    case Step::Alias:
      return false;
    case Step::Node:
    case Step::Series:
      return program.nodes[program.getNode(step)].isMessage();
    case Step::Repeat:
      return hasMessages[program.repeats[step.index].body];
    case Step::Call:
      return hasMessages[program.calls[step.index].body];
    case Step::Schedule:
      return hasMessages[program.schedules[step.index].body];
    }
    llvm_unreachable("a step of no known kind");
  }

  void runBody(uint32_t body) {
    for (TraceProgram::Step step : program.bodies[body].steps)
      runStep(step);
  }

  void runStep(TraceProgram::Step step) {
    using Step = TraceProgram::Step;
    if (!isOf(step))
      return;
    switch (step.kind) {
    case Step::State:
    case Step::Alias:
      return;
    case Step::Node:
      return add(program.nodes[step.index]);
    case Step::Series: {
      const TraceProgram::Series &series = program.series[step.index];
      return add(program.nodes[series.getNode(indices[series.repeat])]);
    }
    case Step::Repeat: {
      const TraceProgram::Repeat &repeat = program.repeats[step.index];
      for (int64_t i = 0; i < repeat.count; ++i) {
        indices[step.index] = repeat.getIndex(i);
        runBody(repeat.body);
      }
      return;
    }
    case Step::Call:
      return runBody(program.calls[step.index].body);
    case Step::Schedule: {
      const TraceProgram::Schedule &schedule = program.schedules[step.index];
      ArrayRef<Step> steps = program.bodies[schedule.body].steps;
      return schedule.order.forEach([&](stg::OrderEntry entry) {
        turn = entry.turn;
        runStep(steps[entry.step]);
      });
    }
    }
    llvm_unreachable("a step of no known kind");
  }

  void add(const NodeTemplate &node) {
    size_t &hash = hashes[node.channel];
    if (program.channels[node.channel].turns == 0) {
      hash = llvm::hash_combine(hash, node.bytes);
      return;
    }
    // Of turns the order does not matter, as each has a channel.
    std::vector<uint32_t> &ofTurns = rounds[node.channel];
    if (turn >= ofTurns.size())
      ofTurns.resize(turn + 1);
    hash += llvm::hash_combine(turn, ofTurns[turn]++, node.bytes);
  }

  const TraceProgram &program;
  std::vector<size_t> hashes;                ///< By channel.
  std::vector<std::vector<uint32_t>> rounds; ///< By channel and turn.
  std::vector<int64_t> indices;              ///< By repeat.
  std::vector<bool> hasMessages;             ///< By body.
  uint32_t turn = 0;                         ///< Of the schedule.
};
} // namespace

size_t Exporter::hashMessageSizes(const ExportClass &entry,
                                  const Channel &channel) {
  auto [it, isNew] = messageSizes.try_emplace(&entry);
  if (isNew)
    it->second = MessageHasher(entry.program).run();
  return it->second[&channel - entry.program.channels.data()];
}

/// The program is only run where the messages of a channel differ in size.
bool Exporter::haveSameSizes(const ExportClass &entry, const Channel &channel,
                             const ExportClass &peer, const Channel &other) {
  if (channel.executions != other.executions || channel.bytes != other.bytes ||
      channel.turns != other.turns || channel.stride != other.stride)
    return false;
  bool isInAllTurns = channel.turns == 0 ||
                      channel.executions == channel.turns * channel.rounds;
  if (channel.hasOneSize && other.hasOneSize && isInAllTurns)
    return true;
  return hashMessageSizes(entry, channel) == hashMessageSizes(peer, other);
}

/// The messages of a channel are as many and as large at both ends.
LogicalResult Exporter::checkChannel(const ExportClass &entry,
                                     const Channel &channel,
                                     const ExportClass &peer) {
  const Channel *other = findOtherEnd(
      peer.program.channels, sortedChannels[&peer - classes.data()], channel);
  if (other && haveSameSizes(entry, channel, peer, *other))
    return success();
  GraphOp peerGraph = peer.graph;
  InFlightDiagnostic diag = emitShortOpError(entry.graph)
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
  for (const ExportClass &entry : classes)
    sortedChannels.push_back(sortChannels(entry.program.channels));
  for (auto [index, entry] : llvm::enumerate(classes)) {
    std::map<std::pair<unsigned, int64_t>, SmallVector<uint32_t>> peers;
    for (const Channel &channel : entry.program.channels) {
      if (channel.executions == 0)
        continue;
      int64_t shift =
          channel.isSend ? channel.key.direction : -channel.key.direction;
      auto [it, isNew] = peers.try_emplace({channel.key.axis, shift});
      if (isNew)
        it->second = getPeerClasses(index, channel.key.axis, shift);
      for (uint32_t peer : it->second)
        if (failed(checkChannel(entry, channel, classes[peer])))
          return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Summary
//===----------------------------------------------------------------------===//

/// Computes memory totals, and writes the timeline if there is to be one.
MemoryTotals Exporter::finishMemory(ExportClass &entry, MemoryMeter &meter) {
  if (options.memoryTimeline.empty())
    return meter.finish();
  StringRef graph = entry.graph.getSymName();
  std::string name = (options.memoryTimeline + "." + graph + ".csv").str();
  StringRef parent = llvm::sys::path::parent_path(name);
  // If there can be no folder, opening fails.
  if (!parent.empty())
    (void)llvm::sys::fs::create_directories(parent, /*IgnoreExisting=*/true,
                                            llvm::sys::fs::all_all);
  auto file = stg::OutputFile::open(name);
  if (!file) {
    entry.error = llvm::toString(file.takeError());
    return meter.finish();
  }
  MemoryTotals totals = meter.finish(&(*file)->os());
  if (llvm::Error error = (*file)->keep())
    entry.error = llvm::toString(std::move(error));
  return totals;
}

/// By running all nodes.
MemoryTotals Exporter::measureNodes(ExportClass &entry) {
  ProgramRunner runner(entry.program);
  FlatNode node;
  while (runner.next(node))
    ;
  MemoryMeter meter(entry.program, runner);
  return finishMemory(entry, meter);
}

/// From the first step of each loop where all its steps need as much memory:
/// they hand nothing on, and make tensors of the same sizes.
std::optional<MemoryTotals> Exporter::measureSteps(ExportClass &entry) {
  const TraceProgram &program = entry.program;
  auto isLoop = [](const TraceProgram::Repeat &repeat) {
    return repeat.isStep && repeat.count > 1;
  };
  if (llvm::none_of(program.repeats, isLoop))
    return std::nullopt;
  for (const TraceProgram::Series &series : program.series)
    for (int64_t i = 1; i < program.repeats[series.repeat].count; ++i)
      for (auto [first, other] :
           llvm::zip_equal(program.wiring[series.node].outputs,
                           program.wiring[series.getNode(i)].outputs))
        if (first.tensorTemplate != other.tensorTemplate)
          return std::nullopt;
  // Series need no rest, as there is no second step.
  TraceProgram once = program;
  once.nodes.resize(program.getNumOwnNodes());
  once.wiring.resize(program.getNumOwnNodes());
  SmallVector<std::pair<uint64_t, uint64_t>> shifts; // By the loop's end.
  uint64_t numNodes = 0, shift = 0;
  for (TraceProgram::Step step : program.bodies.front().steps) {
    bool isStepLoop = step.kind == TraceProgram::Step::Repeat &&
                      isLoop(program.repeats[step.index]);
    if (isStepLoop) {
      TraceProgram::Repeat &repeat = once.repeats[step.index];
      uint64_t each = program.bodies[repeat.body].numNodes;
      uint64_t tensors = program.bodies[repeat.body].numTensors;
      once.bodies.front().numNodes -= each * (repeat.count - 1);
      once.bodies.front().numTensors -= tensors * (repeat.count - 1);
      shift += each * (repeat.count - 1);
      repeat.count = 1;
    }
    numNodes += once.getNumNodes(step);
    shifts.push_back({numNodes, shift});
  }
  ProgramRunner runner(once);
  FlatNode node;
  while (runner.next(node))
    ;
  MemoryTotals totals = MemoryMeter(once, runner).finish();
  // The node's number among all: those of further steps before it come on top.
  uint64_t peak = totals.peakNode, before = 0;
  for (auto [end, own] : shifts) {
    if (peak < end)
      break;
    before = own;
  }
  totals.peakNode = static_cast<uint32_t>(peak + before);
#ifndef NDEBUG
  constexpr uint64_t kFew = 1 << 16;
  if (program.getNumNodes() < kFew) {
    MemoryTotals expected = measureNodes(entry);
    assert(totals.persistent.bytes == expected.persistent.bytes &&
           totals.peak.bytes == expected.peak.bytes &&
           totals.largest.bytes == expected.largest.bytes &&
           totals.peakNode == expected.peakNode &&
           "one step and all steps differ in memory");
  }
#endif
  return totals;
}

/// From the calls where there are many, as the nodes of many micro-batches take
/// long.
MemoryTotals Exporter::measureMemory(ExportClass &entry) {
  if (!options.memoryTimeline.empty())
    return measureNodes(entry);
  if (std::optional<MemoryTotals> totals = measureSteps(entry))
    return *totals;
  std::optional<MemoryTotals> totals = measureCalls(entry.program);
  if (!totals)
    return measureNodes(entry);
#ifndef NDEBUG
  constexpr uint64_t kFew = 1 << 16;
  if (entry.program.getNumNodes() < kFew) {
    MemoryTotals expected = measureNodes(entry);
    assert(totals->persistent.bytes == expected.persistent.bytes &&
           totals->peak.bytes == expected.peak.bytes &&
           totals->largest.bytes == expected.largest.bytes &&
           totals->peakNode == expected.peakNode &&
           "calls and nodes differ in memory");
  }
#endif
  return *totals;
}

void Exporter::computeSummary(ExportClass &entry) {
  ClassSummary &own = entry.summary;
  own.totals = computeTotals(entry.program, *space);
  if (options.measuresMemory)
    own.totals.memory = measureMemory(entry);
  own.totals.peakNode = entry.program.getPath(own.totals.memory.peakNode);
  own.name = entry.graph.getSymName().str();
  own.numRanks = entry.ranks.size();
  own.firstRank = entry.ranks[0];
  for (RankClass::Coordinate coordinate : entry.ranks.getCoordinates())
    own.coordinates.push_back(
        {space->getAxes()[coordinate.axis].name, coordinate.value});
}

LogicalResult Exporter::computeSummaries() {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < classes.size();)
      computeSummary(classes[i]);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < numThreads && i < classes.size(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (ExportClass &entry : classes) {
    if (!entry.error.empty())
      return emitError(module.getLoc()) << entry.error;
    summary.classes.push_back(std::move(entry.summary));
  }
  return success();
}

void Exporter::makeBundle() {
  std::vector<TraceBundle::Class> members;
  for (ExportClass &entry : classes)
    members.push_back(
        {entry.graph.getSymName(), entry.ranks, std::move(entry.program)});
  summary.axes = space->getAxes().vec();
  summary.numRanks = space->getNumRanks();
  bundle = std::make_unique<TraceBundle>(
      ("stg-" STG_VERSION " chakra-" + kSchemaVersion).str(), options.prefix,
      std::move(*space), std::move(members));
  summary.numGroups = bundle->getGroups().getNumGroups();
  summary.fingerprint = bundle->getFingerprintText();
  auto [before, after] = makeManifest(summary, options);
  bundle->setManifest(std::move(before), std::move(after));
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

void Exporter::warnOfGroups() {
  StringRef directory = options.files.directory;
  if (summary.numGroups && directory.contains("empty"))
    emitWarning(module.getLoc())
        << "ASTRA-sim ignores communication groups in a file whose "
           "path contains 'empty', as '"
        << directory << "' does";
}

LogicalResult Exporter::write() {
  if (options.output == ExportOptions::Output::Nothing)
    return success();
  if (options.output == ExportOptions::Output::Memory) {
    llvm::raw_string_ostream os(summary.bundle);
    bundle->write(os);
    return success();
  }
  warnOfGroups();
  // What is wrong with a folder is wrong with nothing in the model.
  const Location noPlace = UnknownLoc::get(module.getContext());
  if (options.output == ExportOptions::Output::Bundle) {
    llvm::Expected<uint64_t> size =
        writeBundle(*bundle, options.files.directory);
    if (!size)
      return emitError(noPlace) << llvm::toString(size.takeError());
    summary.bytesWritten = *size;
    return success();
  }
  WriteOptions files = options.files;
  files.ranks = ranks;
  llvm::Expected<WriteResult> result = writeTraces(*bundle, files);
  if (!result)
    return emitError(noPlace) << llvm::toString(result.takeError());
  summary.filesKept = result->filesKept;
  summary.bytesWritten = result->bytesWritten;
  return success();
}

FailureOr<ExportSummary> Exporter::run() {
  if (failed(checkOptions()) || failed(compileGraphs()) ||
      failed(chooseRanks()) || failed(partitionRanks()) ||
      failed(numberTags()) || failed(checkMessages()) ||
      failed(checkSharedGroups()) || failed(computeSummaries()))
    return failure();
  makeBundle();
  if (failed(write()))
    return failure();
  summary.programs = std::move(bundle);
  return std::move(summary);
}

FailureOr<ExportSummary>
stg::chakra::exportTraces(ModuleOp module, const ExportOptions &options) {
  return Exporter(module, options).run();
}
