//===- Export.h - Chakra execution traces from graphs -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes, for a module of chakra.graph ops, the execution trace of every rank
// (`<prefix>.<rank>.et`), the communication groups (`comm_group.json`) and a
// description of it all (`manifest.json`, written last), or all of it as one
// bundle (`traces.stgb`). A file appears under its name only when it is
// complete.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TARGET_CHAKRA_EXPORT_H
#define STG_TARGET_CHAKRA_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "stg/Dialect/Chakra/IR/ChakraTypes.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Files/TraceWriter.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stg::chakra {

struct ExportOptions {
  enum class Output {
    Nothing, ///< Only the summary is computed.
    Files,
    Bundle,
    Memory, ///< A bundle, as `ExportSummary::bundle`.
  };
  Output output = Output::Files;
  /// The program whose traces are written; may be left out where there is one.
  std::string program;
  std::string prefix = "workload";
  /// How files are written.
  trace::WriteOptions files;
  /// Write the files of part first of second, counted from 1. Not together
  /// with `files.ranks`.
  std::optional<std::pair<int64_t, int64_t>> part;
  /// Chunks that simulators split a collective into ("preferred-dataset-splits"
  /// of ASTRA-sim); payloads are padded so that this works out.
  unsigned splits = 4;
  /// If not empty, `<this>.<graph>.csv` gets the memory of each class over the
  /// step: a line for each node at which the total changes.
  std::string memoryTimeline;
  /// False: totals of memory are left at 0. What is live at each node takes
  /// longest of all that a summary says.
  bool measuresMemory = true;
  /// Empties each graph once its program is made; what many micro-batches take
  /// is then there once.
  bool consumesGraphs = false;
  /// If it is there, it is called with the number of ranks before anything is
  /// written; nothing is if it fails.
  std::function<llvm::Error(int64_t)> checkRanks;
  /// Goes into the manifest beside what the exporter knows: inputs, strategy,
  /// bound symbols.
  llvm::json::Object manifestExtra;
};

/// A number of bytes for each memory category. Sums may exceed 64 bits.
struct CategoryBytes {
  std::array<__int128, kNumCategories> bytes = {};

  __int128 &operator[](Category category) {
    return bytes[static_cast<unsigned>(category)];
  }
  __int128 operator[](Category category) const {
    return bytes[static_cast<unsigned>(category)];
  }
  __int128 &operator[](trace::TensorCategory category) {
    return bytes[static_cast<unsigned>(category)];
  }
  /// Of the memory of the rank: what is on the host does not count.
  __int128 getTotal() const;
};

/// Memory of one rank over the step.
struct MemoryTotals {
  CategoryBytes persistent; ///< States.
  CategoryBytes peak;       ///< What is live when the total is largest.
  CategoryBytes largest;    ///< The maximum of each category on its own.
  uint32_t peakNode = 0;    ///< The first node that runs at the peak.
};

/// What one rank does in collectives of one kind, group and phase.
struct CollTotals {
  CollKind kind;
  llvm::SmallVector<std::string, 2> axes;
  int64_t groupSize;
  std::string phase;
  uint64_t count = 0;
  __int128 bytes = 0; ///< Exact payloads, without padding.
};

/// The messages of one direction and phase of a rank.
struct MessageTotals {
  bool isSend;
  std::string axis;
  int64_t shift; ///< Towards the peer.
  std::string phase;
  uint64_t count = 0;
  __int128 bytes = 0;
};

/// The transfers of one direction and phase between a rank and its host.
struct TransferTotals {
  bool isLoad;
  std::string phase;
  uint64_t count = 0;
  __int128 bytes = 0;
};

/// Totals of one rank.
struct ClassTotals {
  uint64_t compNodes = 0, collNodes = 0, sendNodes = 0, recvNodes = 0;
  __int128 operations = 0;
  /// By phase, in order of first occurrence; ops without a phase under "".
  std::vector<std::pair<std::string, __int128>> operationsByPhase;
  /// The part of them in matrix products.
  std::vector<std::pair<std::string, __int128>> matrixOperationsByPhase;
  __int128 memoryTraffic = 0; ///< Bytes read and written by compute nodes.
  std::vector<CollTotals> collectives;   ///< In order of first occurrence.
  std::vector<MessageTotals> messages;   ///< Likewise.
  std::vector<TransferTotals> transfers; ///< Likewise.
  MemoryTotals memory;
  std::string peakNode; ///< The path of the node at the peak.

  uint64_t countTransfers() const {
    uint64_t count = 0;
    for (const TransferTotals &entry : transfers)
      count += entry.count;
    return count;
  }
};

struct ClassSummary {
  std::string name; ///< Of the graph.
  std::vector<std::pair<std::string, int64_t>> coordinates;
  int64_t numRanks;
  int64_t firstRank;
  ClassTotals totals;
};

struct ExportSummary {
  std::vector<trace::RankSpace::Axis> axes;
  int64_t numRanks = 0;
  trace::RankRange ranks = {0, 0}; ///< Whose files are written.
  int64_t numGroups = 0;
  std::string fingerprint;   ///< Equal for equal files.
  uint64_t filesKept = 0;    ///< As they were complete.
  uint64_t bytesWritten = 0; ///< In files of ranks, or of the bundle.
  std::string bundle;        ///< The bytes of one, if it is not a file.
  /// What traces are made of. Names in it are those of attributes of the IR.
  std::shared_ptr<const trace::TraceBundle> programs;
  std::vector<ClassSummary> classes;
};

/// The programs that graphs of the module say that they are of, in order.
std::vector<std::string> listPrograms(mlir::ModuleOp module);

/// Emits an error and leaves no incomplete file if something is wrong.
mlir::FailureOr<ExportSummary> exportTraces(mlir::ModuleOp module,
                                            const ExportOptions &options);

/// Writes what `manifest.json` contains: one JSON object, pretty, the same
/// bytes for the same summary.
void writeManifest(const ExportSummary &summary, const ExportOptions &options,
                   llvm::raw_ostream &os);

/// A 128-bit number in decimal.
std::string toDecimal(__int128 value);

} // namespace stg::chakra

#endif // STG_TARGET_CHAKRA_EXPORT_H
