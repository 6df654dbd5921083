//===- StatsPrinter.cpp - Output of `stg-trace stats` ---------------------===//
//
// Ranks that do the same work on groups and peers of their own share an entry,
// in the table and in JSON, so that neither grows with the number of ranks.
// What JSON tells more of a rank (sizes, and where the members of its groups
// are) is what its entries are told apart by, too.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Stats/TraceStats.h"

#include "stg/Support/Units.h"
#include "stg/Trace/Reader/Progress.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <set>
#include <tuple>

using namespace llvm;

namespace stg::trace {

namespace {

/// Type, group size (-1: not known) and where the members of the group are, in
/// words; the table does not look at the latter.
using RowKey = std::tuple<int64_t, int64_t, std::string>;

/// Collectives of one type on groups that are alike, for the ranks of an entry.
struct Row {
  /// Of one rank; every rank of the entry has the same.
  CollectiveTraffic traffic;
  /// That of the first rank.
  std::string firstGroup;
  /// By the name of one of them, how many groups.
  StringMap<uint64_t> groups;

  uint64_t getNumGroups() const {
    uint64_t count = 0;
    for (const auto &entry : groups)
      count += entry.second;
    return count;
  }
};
using Rows = std::map<RowKey, Row>;

/// Ranks that do the same work.
struct Entry {
  RankStats first;
  RankSet ranks;
  Rows rows;
};

/// What all ranks do together.
struct Totals {
  uint64_t numNodes = 0;
  std::map<int64_t, uint64_t> nodesByType;
  Int128 numOps = 0;
  Int128 tensorSize = 0;
  std::map<std::pair<int64_t, int64_t>, Traffic> collectives;
  Traffic sends;
  Traffic recvs;

  void add(const Entry &entry);
};

/// The entries of a trace, by their first rank.
class EntryTable {
public:
  EntryTable(const TraceStats &stats, bool isDetailed)
      : stats(stats), isDetailed(isDetailed) {}

  /// Adds all ranks, with progress on a terminal.
  void addAll(bool isQuiet);
  /// Adds a rank, which does not share its entry.
  void addAlone(const RankStats &rank);

  ArrayRef<std::unique_ptr<Entry>> getEntries() const { return entries; }

private:
  Rows makeRows(const ClassStats &ranks);
  std::string getSignature(const RankStats &rank, const Rows &rows) const;
  const std::string &getShape(const std::string &group);
  void add(const ClassStats &ranks);

  const TraceStats &stats;
  /// Entries have all that JSON tells.
  bool isDetailed;
  std::vector<std::unique_ptr<Entry>> entries;
  StringMap<Entry *> bySignature;
  StringMap<std::string> shapes;
};

/// Writer of the table form.
class TablePrinter {
public:
  TablePrinter(const TraceStats &stats, raw_ostream &os)
      : stats(stats), os(os) {}
  void printEntry(const Entry &entry);
  void printTotals(const Totals &totals);

private:
  void printWork(const RankStats &rank);
  std::string describeGroups(const Row &row);
  void printCollectives(const Entry &entry);
  void printMessages(StringRef title, const std::map<Peer, Traffic> &messages,
                     bool withPeers);
  void printTraffic(const Traffic &traffic);

  const TraceStats &stats;
  raw_ostream &os;
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

static Traffic multiply(const Traffic &traffic, uint64_t count) {
  Traffic product = traffic;
  product.count *= count;
  product.bytes *= count;
  product.payloadBytes *= count;
  return product;
}

void Totals::add(const Entry &entry) {
  const RankStats &rank = entry.first;
  uint64_t count = entry.ranks.size();
  numNodes += rank.numNodes * count;
  for (auto [type, nodes] : rank.nodesByType)
    nodesByType[type] += nodes * count;
  numOps += rank.numOps * count;
  tensorSize += rank.tensorSize * count;
  for (const auto &[key, row] : entry.rows)
    collectives[{std::get<0>(key), std::get<1>(key)}].add(
        multiply(row.traffic, count));
  sends.add(multiply(sum(rank.sends), count));
  recvs.add(multiply(sum(rank.recvs), count));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The ranks as they are listed; where they ascend, as few blocks.
static RankSet getSet(ArrayRef<int64_t> ranks) {
  for (size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i] <= ranks[i - 1]) {
      RankSet list;
      for (int64_t rank : ranks)
        list.add({rank, {}});
      return list;
    }
  return RankSet(ranks);
}

/// Where the members of a group are, seen from the first: equal for groups that
/// only differ in where they begin.
const std::string &EntryTable::getShape(const std::string &group) {
  auto [it, isNew] = shapes.try_emplace(group);
  if (!isNew)
    return it->second;
  raw_string_ostream os(it->second);
  RankSet members = getSet(stats.getMembers(group));
  for (const RankSet::Block &block : members.getBlocks()) {
    os << '+' << block.first - members.getBlocks().front().first;
    for (auto [count, stride] : block.dimensions)
      os << '/' << count << '*' << stride;
  }
  return it->second;
}

Rows EntryTable::makeRows(const ClassStats &ranks) {
  Rows rows;
  for (const auto &[key, traffic] : ranks.first.collectives) {
    Row &row = rows[{key.type, getSizeKey(stats, key.group),
                     isDetailed ? getShape(key.group) : ""}];
    if (row.groups.empty())
      row.firstGroup = key.group;
    row.traffic.add(traffic);
    for (auto [size, count] : traffic.sizes)
      row.traffic.sizes[size] += count;
    for (auto [size, count] : traffic.payloadSizes)
      row.traffic.payloadSizes[size] += count;
    for (const ClassStats::Groups &groups : ranks.groups.at(key.group))
      row.groups[groups.name] = groups.count;
  }
  return rows;
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
std::string EntryTable::getSignature(const RankStats &rank,
                                     const Rows &rows) const {
  std::string text = formatNodes(rank.numNodes, rank.nodesByType) + ";" +
                     toString(rank.numOps) + ";" + toString(rank.tensorSize);
  auto append = [&](const Traffic &traffic) {
    text += ";" + std::to_string(traffic.count) + "," +
            toString(traffic.bytes) + "," + toString(traffic.payloadBytes);
  };
  auto appendSizes = [&](const std::map<Int128, uint64_t> &sizes) {
    for (auto [size, count] : sizes)
      text += ":" + toString(size) + "*" + std::to_string(count);
    text += ";";
  };
  for (const auto &[key, row] : rows) {
    auto [type, size, shape] = key;
    text += formatv(";{0}/{1}/{2}", type, size, shape).str();
    append(row.traffic);
    if (!isDetailed)
      continue;
    appendSizes(row.traffic.sizes);
    appendSizes(row.traffic.payloadSizes);
  }
  append(sum(rank.sends));
  append(sum(rank.recvs));
  if (rank.memory)
    text += ";" + toString(rank.memory->persistent) + "/" +
            toString(rank.memory->peak) + "/" + rank.memory->peakNode;
  if (isDetailed)
    text += formatv(";{0};{1};{2}", rank.sends.size(), rank.recvs.size(),
                    rank.version)
                .str();
  return text;
}

void EntryTable::add(const ClassStats &ranks) {
  Rows rows = makeRows(ranks);
  Entry *&entry = bySignature[getSignature(ranks.first, rows)];
  if (!entry) {
    entry = entries.emplace_back(std::make_unique<Entry>()).get();
    entry->first = ranks.first;
    entry->rows = std::move(rows);
  } else {
    for (auto &[key, row] : rows)
      for (const auto &groups : row.groups)
        entry->rows[key].groups[groups.first()] = groups.second;
  }
  for (const RankSet::Block &block : ranks.ranks.getBlocks())
    entry->ranks.add(block);
}

void EntryTable::addAll(bool isQuiet) {
  Progress progress("counted", stats.getNumRanks(), isQuiet);
  stats.forEachClass([&](const ClassStats &ranks) {
    add(ranks);
    progress.add(ranks.ranks.size(), /*bytes=*/0);
  });
  for (const std::unique_ptr<Entry> &entry : entries)
    entry->ranks.finish();
}

void EntryTable::addAlone(const RankStats &rank) {
  ClassStats ranks = {rank, RankSet(static_cast<int64_t>(rank.rank)), {}};
  for (const auto &[key, traffic] : rank.collectives)
    ranks.groups[key.group] = {{key.group, 1}};
  Entry &entry = *entries.emplace_back(std::make_unique<Entry>());
  entry.first = rank;
  entry.ranks = ranks.ranks;
  entry.rows = makeRows(ranks);
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

void TablePrinter::printTraffic(const Traffic &traffic) {
  os << formatv("{0,8}  ", traffic.count)
     << left_justify(formatBytes(traffic.bytes), 28) << ' '
     << formatBytes(traffic.payloadBytes) << '\n';
}

void TablePrinter::printWork(const RankStats &rank) {
  os << "  nodes       " << formatNodes(rank.numNodes, rank.nodesByType) << '\n'
     << "  operations  " << toString(rank.numOps) << '\n'
     << "  tensors     " << formatBytes(rank.tensorSize) << '\n';
  if (rank.memory)
    os << "  memory peak " << formatBytes(rank.memory->peak) << " at "
       << escapeText(rank.memory->peakNode) << '\n';
}

/// "3 (ranks 0-3)" for one group, a count for several.
std::string TablePrinter::describeGroups(const Row &row) {
  if (uint64_t count = row.getNumGroups(); count > 1)
    return std::to_string(count) + " groups";
  const std::string &name = row.firstGroup;
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
    auto [type, size, shape] = key;
    os << "  " << left_justify(getTypeName(type), 15) << ' '
       << right_justify(size < 0 ? "?" : std::to_string(size), 5) << "  "
       << left_justify(describeGroups(row), 24) << ' ';
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
  os << (isSingle ? "rank " : "ranks ") << entry.ranks.format()
     << (isSingle ? "" : ", each") << ":\n";
  printWork(entry.first);
  printCollectives(entry);
  printMessages("sent to", entry.first.sends, isSingle);
  printMessages("received from", entry.first.recvs, isSingle);
}

void TablePrinter::printTotals(const Totals &totals) {
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

/// What the ranks of each entry need, as far as it is known.
static std::vector<MemoryNeed> getNeeds(const EntryTable &table) {
  std::vector<MemoryNeed> needs;
  for (const std::unique_ptr<Entry> &entry : table.getEntries())
    if (const std::optional<MemoryStats> &memory = entry->first.memory)
      needs.push_back({(entry->ranks.size() == 1 ? "rank " : "ranks ") +
                           entry->ranks.format(),
                       static_cast<int64_t>(entry->ranks.size()),
                       memory->peak});
  return needs;
}

static void printMemoryLimit(const EntryTable &table, int64_t limit,
                             raw_ostream &os) {
  std::vector<MemoryNeed> needs = getNeeds(table);
  os << "memory limit "
     << (needs.empty()
             ? asBytes(limit) + ": not known, as no node names tensors"
             : describeMemoryLimit(needs, limit))
     << '\n';
}

void printStatsTable(const TraceStats &stats, const StatsView &view,
                     raw_ostream &os) {
  TablePrinter printer(stats, os);
  EntryTable table(stats, /*isDetailed=*/false);
  if (auto expanded = view.expanded)
    stats.forEachRank(expanded->first, expanded->second,
                      [&](const RankStats &rank) { table.addAlone(rank); });
  else
    table.addAll(view.quiet);
  Totals totals;
  for (const std::unique_ptr<Entry> &entry : table.getEntries()) {
    printer.printEntry(*entry);
    totals.add(*entry);
  }
  if (!view.expanded && stats.getNumRanks() > 1)
    printer.printTotals(totals);
  if (view.memoryLimit)
    printMemoryLimit(table, *view.memoryLimit, os);
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

/// What a trace is and holds, beside its collectives and messages.
static void writeTrace(json::OStream &json, const RankStats &rank) {
  json.attribute("file", escapeText(rank.file));
  json.attribute("version", escapeText(rank.version));
  writeNodes(json, rank.numNodes, rank.nodesByType);
  writeInteger(json, "num_ops", rank.numOps);
  writeInteger(json, "tensor_size", rank.tensorSize);
  if (!rank.memory)
    return json.attribute("memory", nullptr);
  json.attributeObject("memory", [&] {
    writeInteger(json, "persistent_bytes", rank.memory->persistent);
    writeInteger(json, "peak_bytes", rank.memory->peak);
    json.attribute("peak_at", escapeText(rank.memory->peakNode));
  });
}

static void writeRank(json::OStream &json, const TraceStats &stats,
                      const RankStats &rank) {
  json.attribute("rank", rank.rank);
  writeTrace(json, rank);
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

static void writeSet(json::OStream &json, StringRef name,
                     const RankSet &ranks) {
  json.attributeBegin(name);
  ranks.write(json);
  json.attributeEnd();
}

static void writeRow(json::OStream &json, const TraceStats &stats,
                     const RowKey &key, const Row &row) {
  auto [type, size, shape] = key;
  uint64_t numGroups = row.getNumGroups();
  json.attribute("type", getTypeName(type));
  writeGroupSize(json, size);
  json.attribute("num_groups", numGroups);
  json.attribute("first_group", escapeText(row.firstGroup));
  writeSet(json, "first_group_ranks", getSet(stats.getMembers(row.firstGroup)));
  writeTraffic(json, row.traffic);
  writeSizes(json, "sizes", row.traffic.sizes);
  writeSizes(json, "payload_sizes", row.traffic.payloadSizes);
}

static void writeClassMessages(json::OStream &json, StringRef name,
                               const std::map<Peer, Traffic> &messages) {
  json.attributeObject(name, [&] {
    json.attribute("num_peers", messages.size());
    writeTraffic(json, sum(messages));
  });
}

static void writeClass(json::OStream &json, const TraceStats &stats,
                       const Entry &entry) {
  const RankStats &rank = entry.first;
  writeSet(json, "ranks", entry.ranks);
  json.attribute("num_ranks", entry.ranks.size());
  json.attribute("first_rank", rank.rank);
  writeTrace(json, rank);
  json.attributeArray("collectives", [&] {
    for (const auto &row : entry.rows)
      json.object([&] { writeRow(json, stats, row.first, row.second); });
  });
  writeClassMessages(json, "sends", rank.sends);
  writeClassMessages(json, "recvs", rank.recvs);
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

/// The ranks that are told one by one, and the groups that they use.
static void writeExpanded(json::OStream &json, const TraceStats &stats,
                          std::pair<uint64_t, uint64_t> ranks) {
  std::set<std::string, GroupNameLess> used;
  json.attributeArray("ranks", [&] {
    stats.forEachRank(ranks.first, ranks.second, [&](const RankStats &rank) {
      for (const auto &[key, traffic] : rank.collectives)
        used.insert(key.group);
      json.object([&] { writeRank(json, stats, rank); });
    });
  });
  json.attributeObject("groups", [&] { writeGroups(json, stats, used); });
}

static void writeMemoryLimit(json::OStream &json, const EntryTable &table,
                             int64_t limit) {
  std::vector<MemoryNeed> needs = getNeeds(table);
  json.attribute("memory_limit_bytes", limit);
  json.attribute("fits_memory_limit",
                 needs.empty() ? json::Value(nullptr)
                               : json::Value(fitsMemory(needs, limit)));
}

void printStatsJSON(const TraceStats &stats, const StatsView &view,
                    raw_ostream &os) {
  EntryTable table(stats, /*isDetailed=*/true);
  table.addAll(view.quiet);
  Totals totals;
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schema", "stg-trace-stats");
    json.attribute("version", 2);
    json.attribute("trace", escapeText(stats.getName()));
    json.attribute("num_ranks", stats.getNumRanks());
    json.attributeArray("classes", [&] {
      for (const std::unique_ptr<Entry> &entry : table.getEntries()) {
        totals.add(*entry);
        json.object([&] { writeClass(json, stats, *entry); });
      }
    });
    if (view.expanded)
      writeExpanded(json, stats, *view.expanded);
    if (view.memoryLimit)
      writeMemoryLimit(json, table, *view.memoryLimit);
    json.attributeObject("totals", [&] { writeTotals(json, totals); });
  });
  os << '\n';
}

} // namespace stg::trace
