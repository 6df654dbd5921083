//===- Manifest.cpp - The description of an export ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Totals.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stg::chakra;
using namespace stg::trace;
using llvm::json::OStream;

/// To be counted up when a field changes its name or meaning, or goes.
static constexpr int64_t kManifestVersion = 1;

/// Writes a number that JSON allows but llvm::json::Value cannot hold.
static void writeNumber(OStream &json, StringRef key, __int128 value) {
  json.attributeBegin(key);
  json.rawValue(toDecimal(value));
  json.attributeEnd();
}

static void writeCategories(OStream &json, StringRef key,
                            const CategoryBytes &bytes) {
  json.attributeObject(key, [&] {
    writeNumber(json, "total", bytes.getTotal());
    for (unsigned i = 0; i < kNumCategories; ++i) {
      auto category = static_cast<Category>(i);
      if (bytes[category] != 0)
        writeNumber(json, stringifyCategory(category), bytes[category]);
    }
  });
}

static void writeCollective(OStream &json, const CollTotals &coll) {
  json.object([&] {
    json.attribute("kind", stringifyCollKind(coll.kind));
    json.attributeArray("axes", [&] {
      for (const std::string &axis : coll.axes)
        json.value(axis);
    });
    json.attribute("group_size", coll.groupSize);
    json.attribute("phase", coll.phase);
    json.attribute("count", coll.count);
    writeNumber(json, "bytes", coll.bytes);
  });
}

static void writeMessages(OStream &json, const MessageTotals &messages) {
  json.object([&] {
    json.attribute("kind", messages.isSend ? "send" : "recv");
    json.attribute("axis", messages.axis);
    json.attribute("shift", messages.shift);
    json.attribute("phase", messages.phase);
    json.attribute("count", messages.count);
    writeNumber(json, "bytes", messages.bytes);
  });
}

static void writeTransfers(OStream &json, const TransferTotals &transfers) {
  json.object([&] {
    json.attribute("kind", transfers.isLoad ? "load" : "store");
    json.attribute("phase", transfers.phase);
    json.attribute("count", transfers.count);
    writeNumber(json, "bytes", transfers.bytes);
  });
}

static void writePhases(OStream &json, StringRef key,
                        ArrayRef<std::pair<std::string, __int128>> phases) {
  json.attributeObject(key, [&] {
    for (const auto &[phase, operations] : phases)
      writeNumber(json, phase.empty() ? "none" : StringRef(phase), operations);
  });
}

static void writeTotals(OStream &json, const ClassTotals &totals) {
  json.attribute("compute_nodes", totals.compNodes);
  json.attribute("collective_nodes", totals.collNodes);
  if (totals.sendNodes || totals.recvNodes) {
    json.attribute("send_nodes", totals.sendNodes);
    json.attribute("recv_nodes", totals.recvNodes);
  }
  if (!totals.transfers.empty())
    json.attribute("transfer_nodes", totals.countTransfers());
  writeNumber(json, "operations", totals.operations);
  writePhases(json, "operations_by_phase", totals.operationsByPhase);
  writePhases(json, "matrix_operations_by_phase",
              totals.matrixOperationsByPhase);
  writeNumber(json, "memory_traffic_bytes", totals.memoryTraffic);
  json.attributeArray("collectives", [&] {
    for (const CollTotals &coll : totals.collectives)
      writeCollective(json, coll);
  });
  if (!totals.messages.empty())
    json.attributeArray("messages", [&] {
      for (const MessageTotals &messages : totals.messages)
        writeMessages(json, messages);
    });
  if (!totals.transfers.empty())
    json.attributeArray("transfers", [&] {
      for (const TransferTotals &transfers : totals.transfers)
        writeTransfers(json, transfers);
    });
  json.attributeObject("memory", [&] {
    writeCategories(json, "persistent_bytes", totals.memory.persistent);
    writeCategories(json, "peak_bytes", totals.memory.peak);
    json.attribute("peak_at", totals.peakNode);
    json.attributeObject("largest_bytes", [&] {
      for (unsigned i = 0; i < kNumCategories; ++i) {
        auto category = static_cast<Category>(i);
        if (totals.memory.largest[category] != 0)
          writeNumber(json, stringifyCategory(category),
                      totals.memory.largest[category]);
      }
    });
  });
}

static void writeClass(OStream &json, const ClassSummary &summary) {
  json.object([&] {
    json.attribute("graph", summary.name);
    json.attributeObject("coordinates", [&] {
      for (const auto &[axis, coordinate] : summary.coordinates)
        json.attribute(axis, coordinate);
    });
    json.attribute("ranks", summary.numRanks);
    json.attribute("first_rank", summary.firstRank);
    writeTotals(json, summary.totals);
  });
}

/// Sums over all ranks of the mesh, also those whose files are not written.
static void writeMachineTotals(OStream &json, const ExportSummary &summary) {
  __int128 nodes = 0, operations = 0, peak = 0;
  for (const ClassSummary &entry : summary.classes) {
    const ClassTotals &totals = entry.totals;
    __int128 ranks = entry.numRanks;
    nodes += ranks * (totals.compNodes + totals.collNodes + totals.sendNodes +
                      totals.recvNodes + totals.countTransfers());
    operations += ranks * totals.operations;
    peak = std::max(peak, totals.memory.peak.getTotal());
  }
  json.attributeObject("totals", [&] {
    writeNumber(json, "nodes", nodes);
    writeNumber(json, "operations", operations);
    writeNumber(json, "largest_peak_bytes", peak);
  });
}

static void writeMesh(OStream &json, const ExportSummary &summary) {
  json.attributeArray("mesh", [&] {
    for (const RankSpace::Axis &axis : summary.axes)
      json.object([&] {
        json.attribute("axis", axis.name);
        json.attribute("size", axis.size);
      });
  });
}

/// Writes what the caller adds, in the order of keys. Keys of our own win.
static void writeExtra(OStream &json, const llvm::json::Object &extra) {
  static constexpr StringLiteral kOurs[] = {
      "version", "producer",      "schema",      "fingerprint",
      "mesh",    "ranks",         "files",       "splits",
      "totals",  "ranks_written", "comm_groups", "classes"};
  SmallVector<StringRef> keys;
  for (const auto &entry : extra)
    if (!llvm::is_contained(kOurs, StringRef(entry.first)))
      keys.push_back(entry.first);
  llvm::sort(keys);
  for (StringRef key : keys)
    json.attribute(key, *extra.get(key));
}

std::pair<std::string, std::string>
stg::chakra::makeManifest(const ExportSummary &summary,
                          const ExportOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OStream json(os, /*IndentSize=*/2);
  size_t split = 0;
  json.object([&] {
    json.attribute("version", kManifestVersion);
    json.attribute("producer", "stg " STG_VERSION);
    json.attribute("schema", ("chakra " + kSchemaVersion).str());
    json.attribute("fingerprint", summary.fingerprint);
    writeExtra(json, options.manifestExtra);
    writeMesh(json, summary);
    json.attribute("ranks", summary.numRanks);
    json.attribute("files", options.prefix + ".{rank}.et");
    json.attributeBegin("ranks_written");
    json.rawValueBegin();
    split = text.size();
    json.rawValueEnd();
    json.attributeEnd();
    json.attribute("comm_groups", summary.numGroups);
    json.attribute("splits", static_cast<int64_t>(options.splits));
    writeMachineTotals(json, summary);
    json.attributeArray("classes", [&] {
      for (const ClassSummary &entry : summary.classes)
        writeClass(json, entry);
    });
  });
  os << '\n';
  return {text.substr(0, split), text.substr(split)};
}

void stg::chakra::writeManifest(const ExportSummary &summary,
                                const ExportOptions &options, raw_ostream &os) {
  auto [before, after] = makeManifest(summary, options);
  os << before << '[' << summary.ranks.first << ", " << summary.ranks.second
     << ']' << after;
}
