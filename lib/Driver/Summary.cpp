//===- Summary.cpp - What a compilation came to ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SummaryTable.h"
#include "stg/Driver/Compile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

/// 8030261248 as 8,030,261,248.
static std::string withCommas(Exact value) {
  std::string digits = chakra::toDecimal(value), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0)
      text += ',';
    text += digits[i];
  }
  return text;
}

static void printRow(raw_ostream &os, StringRef key, const Twine &value) {
  os << "  " << llvm::left_justify(key, 16) << value << '\n';
}

/// `1 sequence` or `64 sequences`.
static std::string count(Exact number, StringRef what) {
  return withCommas(number) + " " + what.str() + (number == 1 ? "" : "s");
}

namespace {
/// The loops of steps of a row of the batch.
struct RowTotals {
  Exact steps = 0, newTokens = 0;
  Exact requests = 0; ///< The most in a step.
  Exact tokens = 0;   ///< The most that are there after a step.
};
} // namespace

static RowTotals sumSteps(ArrayRef<StepLoop> loops) {
  RowTotals sum;
  for (const StepLoop &loop : loops) {
    Requests last = loop.getLast();
    sum.steps += loop.count;
    sum.newTokens += Exact(loop.count) * last.countNew();
    sum.requests = std::max<Exact>(sum.requests, last.countRequests());
    sum.tokens = std::max<Exact>(sum.tokens,
                                 Exact(last.countNew()) + last.countCached());
  }
  return sum;
}

/// Steps that are not alike, or a prompt and what follows it.
static std::string describeLoops(const Strategy &strategy, int64_t batch,
                                 ArrayRef<StepLoop> loops) {
  RowTotals sum = sumSteps(loops);
  std::string rows =
      strategy.requests.empty()
          ? count(batch, "request")
          : count(batch, "row") + " of up to " + count(sum.requests, "request");
  return rows + ", " + count(batch * sum.newTokens, "new token") + " in " +
         count(sum.steps, "step");
}

/// What a step works on: sequences, or new tokens of requests.
static std::string describeBatch(const Strategy &strategy,
                                 const Requests &requests, int64_t batch,
                                 int64_t tokens) {
  if (strategy.training)
    return count(batch, "sequence") + " of " + withCommas(tokens) + " tokens";
  if (strategy.rankLists || requests.areOfMicroBatches()) {
    std::vector<Requests> lists =
        strategy.rankLists ? requests.getLists() : requests.getMicroBatches();
    return count(lists.size(), "list") + " of " +
           count(requests.countRequests(), "request") + " in all, " +
           count(requests.countNew(), "new token") + " after " +
           withCommas(requests.countCached()) + " cached";
  }
  if (!requests.empty())
    return count(batch, "row") + " of " +
           count(requests.countRequests(), "request") + ", " +
           count(tokens, "new token") + " after " +
           withCommas(requests.countCached()) + " cached";
  return count(batch, "request") + " with " + count(tokens, "new token") +
         " after " + withCommas(strategy.kvLen.value_or(0)) + " cached";
}

/// Element types of what there is.
static std::string describeTypes(const CompileResult &result) {
  const Strategy &strategy = result.strategy.values;
  std::string text = strategy.paramDtype
                         ? "parameters " +
                               stringify(*strategy.paramDtype).str() +
                               ", activations " + result.dtype
                         : result.dtype;
  if (strategy.training) {
    text += ", gradients " + stringify(strategy.gradDtype).str();
    return strategy.optimizer == OptimizerKind::Sgd
               ? text
               : text + ", moments " + stringify(strategy.optimizerDtype).str();
  }
  if (strategy.weightDtype)
    text += ", weights " + stringify(*strategy.weightDtype).str();
  return text + (strategy.kvDtype
                     ? ", cache " + stringify(*strategy.kvDtype).str()
                     : "");
}

/// Who drafts how many tokens, and what is expected of them.
static std::string describeDrafts(const CompileResult &result) {
  const CompileResult &draft = *result.draft;
  const Strategy &strategy = result.strategy.values;
  double tokens = result.loops.front().advance->getValue();
  return withCommas(*strategy.drafts) + " by " + draft.model +
         (draft.description.empty() ? "" : ", " + draft.description) + ", " +
         withCommas(draft.parameters) + " parameters; accepted with " +
         *strategy.acceptance + ": " + llvm::formatv("{0:F4}", tokens).str() +
         " tokens a round";
}

static void printModel(const CompileResult &result, raw_ostream &os) {
  os << result.model;
  if (!result.description.empty())
    os << ", " << result.description;
  const Strategy &strategy = result.strategy.values;
  os << ": ";
  if (result.loops.empty())
    os << "one "
       << (strategy.training                            ? "training step"
           : result.strategy.getMode() == Mode::Prefill ? "step of prefill"
                                                        : "step of decoding");
  else if (result.draft)
    os << count(sumSteps(result.loops).steps, "round")
       << " of speculative decoding";
  else
    os << count(sumSteps(result.loops).steps, "step") << " of inference";
  os << '\n';
  printRow(os, "parameters",
           withCommas(result.parameters) +
               (result.activeParameters != result.parameters
                    ? ", of which a token uses " +
                          withCommas(result.activeParameters)
                    : ""));
  if (result.frozenParameters != 0)
    printRow(os, "  trained",
             withCommas(result.parameters - result.frozenParameters));
  auto batch = result.symbols.find(kBatchDim.str()),
       seq = result.symbols.find(kTokenDim.str());
  if (batch != result.symbols.end() && seq != result.symbols.end()) {
    // A budget leaves some for later steps.
    bool isGiven =
        result.loops.empty() || result.draft || strategy.requests.empty();
    const Requests &first =
        isGiven ? strategy.requests : result.loops.front().requests;
    std::string text =
        describeBatch(strategy, first, batch->second, seq->second);
    int64_t steps = result.loops.empty() ? 1 : sumSteps(result.loops).steps;
    if (steps > 1 && !result.draft && result.loops.size() > 1)
      text = describeLoops(strategy, batch->second, result.loops);
    else if (steps > 1)
      text +=
          " in the first of " + count(steps, result.draft ? "round" : "step");
    printRow(os, "batch", text);
  }
  if (result.draft)
    printRow(os, "drafts", describeDrafts(result));
  printRow(os, "types", describeTypes(result));
  SmallVector<std::string> axes;
  for (const auto &axis : result.summary.axes)
    axes.push_back(axis.name + " " + std::to_string(axis.size));
  printRow(os, "mesh",
           !result.mesh.empty()
               ? result.mesh
               : withCommas(result.summary.numRanks) +
                     (result.summary.numRanks == 1 ? " rank" : " ranks") +
                     (axes.empty() ? "" : ": " + llvm::join(axes, " x ")) +
                     (strategy.sequenceParallel && !strategy.tensorRanks.isOne()
                          ? ", sequence parallel"
                          : ""));
}

static void printOperations(const chakra::ClassTotals &totals,
                            raw_ostream &os) {
  std::string phases;
  for (auto &[phase, operations] : totals.operationsByPhase)
    phases +=
        (phases.empty() ? "" : ", ") + phase + " " + asOperations(operations);
  printRow(os, "operations",
           asOperations(totals.operations) + " (" + phases + ")");
  std::string matrixPhases;
  Exact matrix = 0;
  for (auto &[phase, operations] : totals.matrixOperationsByPhase) {
    matrix += operations;
    matrixPhases += (matrixPhases.empty() ? "" : ", ") + phase + " " +
                    asOperations(operations);
  }
  printRow(os, "  in products",
           asOperations(matrix) + " (" + matrixPhases + ")");
  printRow(os, "memory traffic", asBytes(totals.memoryTraffic));
}

static void printCollectives(const chakra::ClassTotals &totals,
                             raw_ostream &os) {
  if (totals.collectives.empty())
    return printRow(os, "collectives", "none");
  size_t width = 8; ///< Of the axes.
  for (const chakra::CollTotals &coll : totals.collectives)
    width = std::max(width, llvm::join(coll.axes, "+").size() + 1);
  os << "  collectives     " << llvm::left_justify("axes", width)
     << "kind            phase         count        payload\n";
  for (const chakra::CollTotals &coll : totals.collectives) {
    os << "                  "
       << llvm::left_justify(llvm::join(coll.axes, "+"), width)
       << llvm::left_justify(chakra::stringifyCollKind(coll.kind), 16)
       << llvm::left_justify(coll.phase, 10)
       << llvm::right_justify(withCommas(coll.count), 9)
       << llvm::right_justify(asBytes(coll.bytes), 15) << '\n';
  }
}

/// The coordinate of the peer on the axis of the message.
static std::string getPeer(const chakra::ExportSummary &summary,
                           const chakra::ClassSummary &entry,
                           const chakra::MessageTotals &messages) {
  for (const auto &[axis, coordinate] : entry.coordinates)
    if (axis == messages.axis)
      return describePlace(summary, axis, coordinate + messages.shift);
  return llvm::formatv("{0} {1}{2}", messages.axis,
                       messages.shift > 0 ? "+" : "", messages.shift)
      .str();
}

static void printMessages(const chakra::ExportSummary &summary,
                          const chakra::ClassSummary &entry, raw_ostream &os) {
  const chakra::ClassTotals &totals = entry.totals;
  if (totals.messages.empty())
    return;
  os << "  messages        axis    direction           phase         count"
        "        payload\n";
  for (const chakra::MessageTotals &messages : totals.messages) {
    std::string direction = (messages.isSend ? "send to " : "recv from ") +
                            getPeer(summary, entry, messages);
    os << "                  " << llvm::left_justify(messages.axis, 8)
       << llvm::left_justify(direction, 20)
       << llvm::left_justify(messages.phase, 10)
       << llvm::right_justify(withCommas(messages.count), 9)
       << llvm::right_justify(asBytes(messages.bytes), 15) << '\n';
  }
}

static void printTransfers(const chakra::ClassTotals &totals, raw_ostream &os) {
  if (totals.transfers.empty())
    return;
  os << "  transfers       kind                        phase         count"
        "        payload\n";
  for (const chakra::TransferTotals &transfers : totals.transfers)
    os << "                  "
       << llvm::left_justify(
              transfers.isLoad ? "load from the host" : "store to the host", 28)
       << llvm::left_justify(transfers.phase, 10)
       << llvm::right_justify(withCommas(transfers.count), 9)
       << llvm::right_justify(asBytes(transfers.bytes), 15) << '\n';
}

static void printMemory(const chakra::ClassTotals &totals, raw_ostream &os) {
  printRow(os, "memory peak",
           asBytes(totals.memory.peak.getTotal()) + " at " + totals.peakNode);
  for (unsigned i = 0; i < chakra::kNumCategories; ++i) {
    auto category = static_cast<Category>(i);
    if (totals.memory.peak[category] != 0 && category != Category::Host)
      printRow(os, ("  " + chakra::stringifyCategory(category)).str(),
               asBytes(totals.memory.peak[category]));
  }
  if (totals.memory.largest[Category::Host] != 0)
    printRow(os, "host memory", asBytes(totals.memory.largest[Category::Host]));
}

/// All that is known of one class of ranks.
static void printClass(const chakra::ExportSummary &summary,
                       const chakra::ClassSummary &entry, raw_ostream &os) {
  printOperations(entry.totals, os);
  printCollectives(entry.totals, os);
  printMessages(summary, entry, os);
  printTransfers(entry.totals, os);
  printMemory(entry.totals, os);
  printRow(os, "nodes",
           withCommas(entry.totals.compNodes) + " compute, " +
               withCommas(entry.totals.collNodes) + " collective" +
               (entry.totals.messages.empty()
                    ? ""
                    : ", " + withCommas(entry.totals.sendNodes) + " send, " +
                          withCommas(entry.totals.recvNodes) + " receive") +
               (entry.totals.transfers.empty()
                    ? ""
                    : ", " + withCommas(entry.totals.countTransfers()) +
                          " transfer"));
}

static void printClasses(const CompileRequest &request,
                         const chakra::ExportSummary &summary,
                         raw_ostream &os) {
  if (summary.classes.size() == 1) {
    os << (summary.numRanks == 1 ? "the rank\n" : "each rank\n");
    return printClass(summary, summary.classes.front(), os);
  }
  os << "each rank, by class\n";
  printClassTable(summary, os);
  if (!request.verbose)
    return;
  for (const chakra::ClassSummary &entry : summary.classes) {
    os << (entry.numRanks == 1
               ? std::string("the rank of ")
               : "each of " + withCommas(entry.numRanks) + " ranks of ")
       << describeClass(summary, entry) << '\n';
    printClass(summary, entry, os);
  }
}

namespace {
/// The requests of a data-parallel rank in a step of inference.
struct RankRequests {
  Exact number, newTokens;
  Exact keptTokens; ///< After the step.
  Exact parts = 1;  ///< Of a new token, in which they are counted.
};
} // namespace

/// The caches of steps that are not alike have room for those of all.
static RankRequests countRequests(ArrayRef<StepLoop> loops, Exact rows) {
  RowTotals sum = sumSteps(loops);
  if (const std::optional<TokenRate> &rate = loops.front().advance)
    return {rows * sum.requests,
            rows * sum.requests * sum.steps * rate->numerator,
            rows * sum.tokens, rate->denominator};
  return {rows * sum.requests, rows * sum.newTokens, rows * sum.tokens};
}

/// Nothing for a step of training, or if the model has no batch of tokens.
static std::optional<RankRequests> countRequests(const CompileResult &result) {
  const Strategy &strategy = result.strategy.values;
  auto batch = result.symbols.find(kBatchDim.str()),
       seq = result.symbols.find(kTokenDim.str());
  if (strategy.training || batch == result.symbols.end() ||
      seq == result.symbols.end())
    return std::nullopt;
  const Requests &requests = strategy.requests;
  // Ranks with lists of their own have no number in common.
  if (strategy.rankLists)
    return std::nullopt;
  Exact rows = batch->second / std::max<int64_t>(strategy.batchRanks.number, 1);
  Exact fresh = seq->second;
  if (requests.areOfMicroBatches()) {
    rows /= strategy.microBatches;
    fresh = requests.countNew();
  }
  if (rows * fresh == 0)
    return std::nullopt;
  if (!result.loops.empty())
    return countRequests(result.loops, rows);
  if (requests.empty())
    return RankRequests{rows, rows * fresh,
                        rows * (fresh + strategy.kvLen.value_or(0))};
  return RankRequests{rows * requests.countRequests(), rows * fresh,
                      rows * (fresh + requests.countCached())};
}

/// What a rank of a step of inference keeps of a token and of a request, and
/// what it executes for a new token. Ranks that differ have tables of their
/// own.
static void printPerToken(const CompileResult &result, raw_ostream &os) {
  std::optional<RankRequests> requests = countRequests(result);
  if (!requests || result.summary.classes.size() != 1)
    return;
  Exact fresh = requests->newTokens;
  const chakra::ClassTotals &totals = result.summary.classes.front().totals;
  Exact cache = totals.memory.peak[Category::KVCache];
  if (cache != 0)
    printRow(os, "cache",
             withCommas(cache / requests->keptTokens) + " bytes per token, " +
                 asBytes(cache / requests->number) + " per request");
  Exact operations = 0;
  for (auto &[phase, own] : totals.matrixOperationsByPhase)
    operations += own;
  double intensity = totals.memoryTraffic == 0
                         ? 0
                         : static_cast<double>(operations) /
                               static_cast<double>(totals.memoryTraffic);
  printRow(
      os, "new token",
      asOperations(operations * requests->parts / fresh) + " in products, " +
          asBytes(totals.memoryTraffic * requests->parts / fresh) +
          " of memory traffic: " + llvm::formatv("{0:F2}", intensity).str() +
          " operations per byte");
}

namespace {
/// What a limit of memory leaves for caches, on the rank that has room for the
/// fewest requests.
struct CacheRoom {
  Exact bytes, requests;
};
} // namespace

/// Nothing if no rank keeps anything.
static std::optional<CacheRoom> getCacheRoom(const CompileResult &result,
                                             Exact limit) {
  std::optional<RankRequests> requests = countRequests(result);
  std::optional<CacheRoom> room;
  for (const chakra::ClassSummary &entry : result.summary.classes) {
    const auto &peak = entry.totals.memory.peak;
    Exact cache = peak[Category::KVCache];
    if (!requests || cache == 0)
      continue;
    Exact bytes = std::max<Exact>(limit - (peak.getTotal() - cache), 0);
    // As large as those of the step are on average.
    Exact number = bytes * requests->number / cache;
    if (!room || number < room->requests)
      room = {bytes, number};
  }
  return room;
}

/// How many experts of a layer a rank reads in a step of inference.
static void printExpertsRead(const CompileResult &result, raw_ostream &os) {
  for (auto [held, read] : result.expertsRead)
    printRow(os, "experts read",
             withCommas(read) + " of " + withCommas(held) +
                 " on a rank, expected of a layer");
}

void stg::printSummary(const CompileRequest &request,
                       const CompileResult &result, raw_ostream &os) {
  printModel(result, os);
  if (result.decode)
    printModel(*result.decode, os);
  printClasses(request, result.summary, os);
  printPerToken(result, os);
  printExpertsRead(result, os);
  if (request.memoryLimit) {
    printRow(os, "memory limit",
             describeMemoryLimit(getMemoryNeeds(result.summary),
                                 *request.memoryLimit));
    if (std::optional<CacheRoom> room =
            getCacheRoom(result, *request.memoryLimit))
      printRow(os, "room for caches",
               asBytes(room->bytes) + ", of " +
                   count(room->requests, "request") + " like these");
  }
  if (request.dryRun) {
    os << "nothing written (dry run); compiled in "
       << llvm::format("%.2f s", result.compileSeconds) << '\n';
    return;
  }
  const std::string &directory = request.exportOptions.files.directory;
  const chakra::ExportSummary &summary = result.summary;
  if (request.exportOptions.output == chakra::ExportOptions::Output::Bundle) {
    os << "a bundle of " << withCommas(summary.numRanks)
       << (summary.numRanks == 1 ? " trace, " : " traces, ")
       << asBytes(summary.bytesWritten) << ", in " << directory << '/'
       << trace::TraceBundle::kFileName;
  } else {
    int64_t traces = summary.ranks.second - summary.ranks.first;
    os << withCommas(traces) << (traces == 1 ? " trace, " : " traces, ")
       << asBytes(summary.bytesWritten);
    if (summary.filesKept)
      os << " (" << withCommas(summary.filesKept) << " were complete)";
    os << ", in " << directory;
  }
  os << "; compiled in " << llvm::format("%.2f s", result.compileSeconds)
     << ", written in " << llvm::format("%.2f s", result.writeSeconds) << '\n';
}

void stg::printJSON(const CompileRequest &request, const CompileResult &result,
                    raw_ostream &os) {
  chakra::ExportOptions options = request.exportOptions;
  options.splits = static_cast<unsigned>(result.strategy.values.splits);
  options.manifestExtra = getManifestEntries(request, result);
  if (request.memoryLimit) {
    options.manifestExtra["memory_limit_bytes"] = *request.memoryLimit;
    options.manifestExtra["fits_memory_limit"] =
        fitsMemory(getMemoryNeeds(result.summary), *request.memoryLimit);
    if (std::optional<CacheRoom> room =
            getCacheRoom(result, *request.memoryLimit)) {
      options.manifestExtra["cache_room_bytes"] =
          static_cast<int64_t>(room->bytes);
      options.manifestExtra["cache_room_requests"] =
          static_cast<int64_t>(room->requests);
    }
  }
  chakra::writeManifest(result.summary, options, os);
}
