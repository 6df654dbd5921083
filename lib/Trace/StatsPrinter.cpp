//===- StatsPrinter.cpp - Output of `stg-trace stats` ---------------------===//
//
// The JSON form is one entry a rank. The table folds ranks that do the same
// work on groups and peers of their own into one entry.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/TraceStats.h"

#include "stg/Trace/Progress.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;

namespace stg::trace {

/// Visits all ranks with progress on a terminal.
static void visitRanks(const TraceStats &stats, StringRef verb, bool isQuiet,
                       function_ref<void(const RankStats &)> visit) {
  Progress progress(verb, stats.getNumRanks(), isQuiet);
  stats.forEachRank([&](const RankStats &rank) {
    visit(rank);
    progress.add(/*ranks=*/1, /*bytes=*/0);
  });
}

namespace {

/// Type and group size; -1 stands for an unknown size.
using RowKey = std::pair<int64_t, int64_t>;

/// What all ranks do together.
struct Totals {
  uint64_t numNodes = 0;
  std::map<int64_t, uint64_t> nodesByType;
  Int128 numOps = 0;
  Int128 tensorSize = 0;
  std::map<RowKey, Traffic> collectives;
  Traffic sends;
  Traffic recvs;

  void add(const RankStats &rank, const TraceStats &stats);
};

/// Collectives of one type on groups of one size, for the ranks of an entry.
struct Row {
  StringSet<> groups;
  /// Of one rank; every rank of the entry has the same.
  Traffic traffic;
};

/// Ranks that do the same work.
struct Entry {
  RankStats first;
  SmallVector<int64_t> ranks;
  std::map<RowKey, Row> rows;
};

/// Writer of the table form. It keeps an entry for ranks that do the same work,
/// not the ranks.
class TablePrinter {
public:
  TablePrinter(const TraceStats &stats, raw_ostream &os)
      : stats(stats), os(os) {}
  void print(bool isQuiet);

private:
  std::string getSignature(const RankStats &rank) const;
  Entry &getEntry(const RankStats &rank);
  void addRank(const RankStats &rank);
  void printEntry(const Entry &entry);
  void printWork(const RankStats &rank);
  void printCollectives(const Entry &entry);
  void printMessages(StringRef title, const std::map<Peer, Traffic> &messages,
                     bool withPeers);
  void printTotals();
  void printTraffic(const Traffic &traffic);

  const TraceStats &stats;
  raw_ostream &os;
  std::vector<std::unique_ptr<Entry>> entries; ///< By their first rank.
  StringMap<Entry *> bySignature;
  DenseMap<uint64_t, Entry *> byShape;
  Totals totals;
};

} // namespace

static int64_t getSizeKey(const TraceStats &stats, StringRef group) {
  std::optional<uint64_t> size = stats.getGroupSize(group);
  return size ? static_cast<int64_t>(*size) : -1;
}

static std::string getTypeName(int64_t type) {
  return type == -1 ? "NO_TYPE" : getCollectiveName(type);
}

static Traffic sum(const std::map<Peer, Traffic> &messages) {
  Traffic total;
  for (const auto &[peer, traffic] : messages)
    total.add(traffic);
  return total;
}

void Totals::add(const RankStats &rank, const TraceStats &stats) {
  numNodes += rank.numNodes;
  for (auto [type, count] : rank.nodesByType)
    nodesByType[type] += count;
  numOps += rank.numOps;
  tensorSize += rank.tensorSize;
  for (const auto &[key, traffic] : rank.collectives)
    collectives[{key.type, getSizeKey(stats, key.group)}].add(traffic);
  sends.add(sum(rank.sends));
  recvs.add(sum(rank.recvs));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

/// `bytes` with a rounded binary unit, e.g. "67108864 (64.0 MiB)".
static std::string formatBytes(Int128 bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::string text = toString(bytes);
  double scaled = static_cast<double>(bytes) / 1024;
  if (scaled < 1)
    return text;
  size_t unit = 0;
  for (; scaled >= 1024 && unit + 1 < std::size(units); ++unit)
    scaled /= 1024;
  return text + formatv(" ({0:F1} {1})", scaled, units[unit]).str();
}

static std::string formatNodes(uint64_t numNodes,
                               const std::map<int64_t, uint64_t> &byType) {
  std::string text = std::to_string(numNodes);
  StringRef separator = ": ";
  for (auto [type, count] : byType) {
    text += (separator + Twine(count) + " " + getNodeTypeName(type)).str();
    separator = ", ";
  }
  return text;
}

/// Ranks with equal signatures share an entry: their work is the same up to
/// the names of groups and peers.
std::string TablePrinter::getSignature(const RankStats &rank) const {
  std::string text = formatNodes(rank.numNodes, rank.nodesByType) + ";" +
                     toString(rank.numOps) + ";" + toString(rank.tensorSize);
  auto append = [&](const Traffic &traffic) {
    text += ";" + std::to_string(traffic.count) + "," +
            toString(traffic.bytes) + "," + toString(traffic.payloadBytes);
  };
  std::map<RowKey, Traffic> rows;
  for (const auto &[key, traffic] : rank.collectives)
    rows[{key.type, getSizeKey(stats, key.group)}].add(traffic);
  for (const auto &[key, traffic] : rows) {
    text += formatv(";{0}/{1}", key.first, key.second).str();
    append(traffic);
  }
  append(sum(rank.sends));
  append(sum(rank.recvs));
  return text;
}

void TablePrinter::printTraffic(const Traffic &traffic) {
  os << formatv("{0,8}  ", traffic.count)
     << left_justify(formatBytes(traffic.bytes), 28) << ' '
     << formatBytes(traffic.payloadBytes) << '\n';
}

void TablePrinter::printWork(const RankStats &rank) {
  os << "  nodes       " << formatNodes(rank.numNodes, rank.nodesByType) << '\n'
     << "  operations  " << toString(rank.numOps) << '\n'
     << "  tensors     " << formatBytes(rank.tensorSize) << '\n';
}

Entry &TablePrinter::getEntry(const RankStats &rank) {
  Entry *known = rank.shape ? byShape.lookup(rank.shape) : nullptr;
  if (known)
    return *known;
  Entry *&entry = bySignature[getSignature(rank)];
  if (!entry) {
    entry = entries.emplace_back(std::make_unique<Entry>()).get();
    entry->first = rank;
  }
  if (rank.shape)
    byShape[rank.shape] = entry;
  return *entry;
}

void TablePrinter::addRank(const RankStats &rank) {
  Entry &entry = getEntry(rank);
  bool isFirst = entry.ranks.empty();
  entry.ranks.push_back(static_cast<int64_t>(rank.rank));
  for (const auto &[key, traffic] : rank.collectives) {
    Row &row = entry.rows[{key.type, getSizeKey(stats, key.group)}];
    row.groups.insert(key.group);
    if (isFirst)
      row.traffic.add(traffic);
  }
  totals.add(rank, stats);
}

/// "3 (ranks 0-3)" for one group, a count for several.
static std::string describeGroups(const Row &row, const TraceStats &stats) {
  if (row.groups.size() > 1)
    return std::to_string(row.groups.size()) + " groups";
  StringRef name = row.groups.begin()->getKey();
  std::string text = name.empty() ? "all ranks" : escapeText(name);
  std::vector<int64_t> members = stats.getMembers(name);
  if (!members.empty())
    text += " (ranks " + formatRanks(members) + ")";
  return text;
}

void TablePrinter::printCollectives(const Entry &entry) {
  if (entry.rows.empty())
    return;
  os << "  collective       size  group                       count  bytes     "
        "                   payload\n";
  for (const auto &[key, row] : entry.rows) {
    std::string size = key.second < 0 ? "?" : std::to_string(key.second);
    os << "  " << left_justify(getTypeName(key.first), 15) << ' '
       << right_justify(size, 5) << "  "
       << left_justify(describeGroups(row, stats), 24) << ' ';
    printTraffic(row.traffic);
  }
}

void TablePrinter::printMessages(StringRef title,
                                 const std::map<Peer, Traffic> &messages,
                                 bool withPeers) {
  if (messages.empty())
    return;
  auto printLine = [&](const std::string &peer, const Traffic &traffic) {
    os << "  " << left_justify(title, 15) << "        "
       << left_justify(peer, 24) << ' ';
    printTraffic(traffic);
  };
  if (!withPeers || messages.size() > 8)
    return printLine(formatv("{0} peers", messages.size()), sum(messages));
  for (const auto &[peer, traffic] : messages)
    printLine(peer < 0 ? std::string("unknown rank")
                       : formatv("rank {0}", peer).str(),
              traffic);
}

void TablePrinter::printEntry(const Entry &entry) {
  bool isSingle = entry.ranks.size() == 1;
  os << (isSingle ? "rank " : "ranks ") << formatRanks(entry.ranks)
     << (isSingle ? "" : ", each") << ":\n";
  printWork(entry.first);
  printCollectives(entry);
  printMessages("sent to", entry.first.sends, isSingle);
  printMessages("received from", entry.first.recvs, isSingle);
}

void TablePrinter::printTotals() {
  os << "all " << stats.getNumRanks() << " ranks together:\n"
     << "  nodes       " << formatNodes(totals.numNodes, totals.nodesByType)
     << '\n'
     << "  operations  " << toString(totals.numOps) << '\n'
     << "  tensors     " << formatBytes(totals.tensorSize) << '\n';
  auto printLine = [&](const std::string &title, const std::string &size,
                       const Traffic &traffic) {
    os << "  " << left_justify(title, 15) << ' ' << right_justify(size, 5)
       << left_justify("", 27);
    printTraffic(traffic);
  };
  for (const auto &[key, traffic] : totals.collectives)
    printLine(getTypeName(key.first),
              key.second < 0 ? "?" : std::to_string(key.second), traffic);
  if (totals.sends.count)
    printLine("sent", "", totals.sends);
  if (totals.recvs.count)
    printLine("received", "", totals.recvs);
}

void TablePrinter::print(bool isQuiet) {
  visitRanks(stats, "counted", isQuiet,
             [&](const RankStats &rank) { addRank(rank); });
  for (const std::unique_ptr<Entry> &entry : entries)
    printEntry(*entry);
  if (stats.getNumRanks() > 1)
    printTotals();
}

void printStatsTable(const TraceStats &stats, raw_ostream &os, bool isQuiet) {
  TablePrinter(stats, os).print(isQuiet);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeInteger(json::OStream &json, StringRef name, Int128 value) {
  json.attributeBegin(name);
  json.rawValue(toString(value));
  json.attributeEnd();
}

static void writeTraffic(json::OStream &json, const Traffic &traffic) {
  json.attribute("count", traffic.count);
  writeInteger(json, "bytes", traffic.bytes);
  writeInteger(json, "payload_bytes", traffic.payloadBytes);
}

static void writeNodes(json::OStream &json, uint64_t numNodes,
                       const std::map<int64_t, uint64_t> &byType) {
  json.attribute("num_nodes", numNodes);
  json.attributeObject("nodes", [&] {
    for (auto [type, count] : byType)
      json.attribute(getNodeTypeName(type), count);
  });
}

static void writeGroupSize(json::OStream &json, int64_t size) {
  json.attribute("group_size",
                 size < 0 ? json::Value(nullptr) : json::Value(size));
}

static void writeSizes(json::OStream &json, StringRef name,
                       const std::map<Int128, uint64_t> &sizes) {
  json.attributeObject(name, [&] {
    for (auto [size, count] : sizes)
      json.attribute(toString(size), count);
  });
}

static void writeMessages(json::OStream &json, StringRef name,
                          const std::map<Peer, Traffic> &messages) {
  json.attributeArray(name, [&] {
    for (const auto &entry : messages) {
      json.object([&] {
        json.attribute("peer", entry.first < 0 ? json::Value(nullptr)
                                               : json::Value(entry.first));
        writeTraffic(json, entry.second);
      });
    }
  });
}

static void writeRank(json::OStream &json, const TraceStats &stats,
                      const RankStats &rank) {
  json.attribute("rank", rank.rank);
  json.attribute("file", escapeText(rank.file));
  json.attribute("version", escapeText(rank.version));
  writeNodes(json, rank.numNodes, rank.nodesByType);
  writeInteger(json, "num_ops", rank.numOps);
  writeInteger(json, "tensor_size", rank.tensorSize);
  json.attributeArray("collectives", [&] {
    for (const auto &entry : rank.collectives) {
      const CollectiveKey &key = entry.first;
      json.object([&] {
        json.attribute("type", getTypeName(key.type));
        json.attribute("group", escapeText(key.group));
        writeGroupSize(json, getSizeKey(stats, key.group));
        writeTraffic(json, entry.second);
        writeSizes(json, "sizes", entry.second.sizes);
        writeSizes(json, "payload_sizes", entry.second.payloadSizes);
      });
    }
  });
  writeMessages(json, "sends", rank.sends);
  writeMessages(json, "recvs", rank.recvs);
}

static void writeTotals(json::OStream &json, const Totals &totals) {
  writeNodes(json, totals.numNodes, totals.nodesByType);
  writeInteger(json, "num_ops", totals.numOps);
  writeInteger(json, "tensor_size", totals.tensorSize);
  json.attributeArray("collectives", [&] {
    for (const auto &entry : totals.collectives) {
      json.object([&] {
        json.attribute("type", getTypeName(entry.first.first));
        writeGroupSize(json, entry.first.second);
        writeTraffic(json, entry.second);
      });
    }
  });
  json.attributeObject("sends", [&] { writeTraffic(json, totals.sends); });
  json.attributeObject("recvs", [&] { writeTraffic(json, totals.recvs); });
}

static void writeGroups(json::OStream &json, const TraceStats &stats,
                        const std::set<std::string, GroupNameLess> &used) {
  for (const std::string &name : used) {
    std::vector<int64_t> members = stats.getMembers(name);
    if (members.empty())
      continue;
    json.attributeArray(escapeText(name), [&] {
      for (int64_t member : members)
        json.value(member);
    });
  }
}

void printStatsJSON(const TraceStats &stats, raw_ostream &os, bool isQuiet) {
  Totals totals;
  std::set<std::string, GroupNameLess> used;
  visitRanks(stats, "counted", isQuiet, [&](const RankStats &rank) {
    totals.add(rank, stats);
    for (const auto &[key, traffic] : rank.collectives)
      used.insert(key.group);
  });
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schema", "stg-trace-stats");
    json.attribute("schema_version", 1);
    json.attribute("trace", escapeText(stats.getName()));
    json.attribute("num_ranks", stats.getNumRanks());
    json.attributeObject("groups", [&] { writeGroups(json, stats, used); });
    json.attributeArray("ranks", [&] {
      // On a terminal that shows the output there is no place for both.
      visitRanks(stats, "written", isQuiet || os.is_displayed(),
                 [&](const RankStats &rank) {
                   json.object([&] { writeRank(json, stats, rank); });
                 });
    });
    json.attributeObject("totals", [&] { writeTotals(json, totals); });
  });
  os << '\n';
}

} // namespace stg::trace
