//===- DiffCommand.cpp - stg-trace diff -----------------------------------===//
//
// Where the work of two traces differs: two strategies, or two producers.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Support/Phases.h"
#include "stg/Support/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("diff", "Where two traces differ");
static cl::opt<std::string> inputA(cl::Positional, cl::Required,
                                   cl::desc("<prefix, directory or file>"),
                                   cl::sub(command));
static cl::opt<std::string> inputB(cl::Positional, cl::Required,
                                   cl::desc("<prefix, directory or file>"),
                                   cl::sub(command));
static cl::opt<bool> asJSON("json", cl::desc("Write JSON instead of a table"),
                            cl::sub(command));
static cl::opt<unsigned>
    most("most", cl::init(20), cl::value_desc("n"),
         cl::desc("Ops to tell, those that differ most (default: 20)"),
         cl::sub(command));

cl::SubCommand &getDiffCommand() { return command; }

namespace {
/// Work of all ranks.
struct Work {
  Int128 nodes = 0, operations = 0, bytes = 0;

  void add(const Work &other, Int128 times) {
    nodes += other.nodes * times;
    operations += other.operations * times;
    bytes += other.bytes * times;
  }
  bool operator==(const Work &other) const {
    return nodes == other.nodes && operations == other.operations &&
           bytes == other.bytes;
  }
};

/// Of one trace, by what a line of the table is about.
struct Totals {
  int64_t ranks = 0;
  std::map<std::string, Work> types, phases, axes, ops;
};

/// Of both traces.
struct Line {
  std::string name;
  Work a, b;

  Int128 getDistance() const {
    auto distance = [](Int128 x, Int128 y) { return x < y ? y - x : x - y; };
    return distance(a.bytes, b.bytes) + distance(a.operations, b.operations);
  }
};

class WorkReader {
public:
  explicit WorkReader(const TraceInput &input) : input(input) {}

  Expected<Totals> read();

private:
  Error readRank(TraceReader reader, Int128 times);
  void add(const Node &node, Int128 times);
  std::string getAxis(const Node &node);

  const TraceInput &input;
  Totals totals;
  std::map<std::string, std::string> axes; ///< By group.
};
} // namespace

/// `mb3.layers.7.wq.fwd` as `mb*.layers.*.wq.fwd`: without numbers of turns.
static std::string getOp(StringRef name) {
  name = name.take_until([](char c) { return c == '/'; });
  std::string op;
  for (StringRef part : split(name, '.')) {
    StringRef letters = part.rtrim("0123456789");
    bool isTurn =
        letters.size() < part.size() && (letters.empty() || letters == "mb");
    op +=
        (op.empty() ? "" : ".") + (isTurn ? (letters + "*").str() : part.str());
  }
  return op;
}

/// The last part of the name that is a phase.
static StringRef getPhase(StringRef name) {
  name = name.take_until([](char c) { return c == '/'; });
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : reverse(parts))
    if (isOfMicroBatch(part) || part == kGradSyncPhase ||
        part == kOptimizerPhase)
      return part;
  return "-";
}

/// `8 ranks, every 16`: how the members of a group are placed.
static std::string describeMembers(std::vector<int64_t> members) {
  llvm::sort(members);
  RankSet set(members);
  set.finish();
  std::string text = utostr(members.size()) + " ranks";
  if (set.getBlocks().size() != 1)
    return text + ", irregular";
  for (RankSet::Dimension dimension : set.getBlocks().front().dimensions)
    text += formatv(", {0} every {1}", dimension.count, dimension.stride);
  return text;
}

std::string WorkReader::getAxis(const Node &node) {
  std::string group = getGroupName(node);
  auto [it, isNew] = axes.try_emplace(group);
  if (!isNew)
    return it->second;
  int64_t id = 0;
  if (input.bundle && to_integer(group, id) && id >= 1 &&
      id <= input.bundle->getGroups().getNumGroups()) {
    auto [mask, member] = input.bundle->getGroups().getGroup(id);
    return it->second = describeMembers(
               input.bundle->getSpace().getMembers(mask, member));
  }
  const std::vector<int64_t> *members = input.groups.find(group);
  return it->second = members ? describeMembers(*members) : "all ranks";
}

void WorkReader::add(const Node &node, Int128 times) {
  Work work;
  work.nodes = 1;
  work.operations = node.attrs.getInteger("num_ops").value_or(0);
  bool isComp = node.is(NodeType::Comp);
  work.bytes =
      node.attrs.getInteger(isComp ? "tensor_size" : "comm_size").value_or(0);
  std::string type = getNodeTypeName(node.type);
  if (node.is(NodeType::Coll))
    type = getCollectiveName(
        clampToInt64(node.attrs.getInteger("comm_type").value_or(-1)));
  totals.types[type].add(work, times);
  totals.phases[(getPhase(node.name) + (isComp ? "" : ", communication")).str()]
      .add(work, times);
  if (node.is(NodeType::Coll))
    totals.axes[type + " on " + getAxis(node)].add(work, times);
  totals.ops[getOp(node.name)].add(work, times);
}

Error WorkReader::readRank(TraceReader reader, Int128 times) {
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return error;
  return reader.forEachNode([&](const Node &node) {
    add(node, times);
    return Error::success();
  });
}

/// Ranks of a class of a bundle do the same.
Expected<Totals> WorkReader::read() {
  if (!input.bundle) {
    for (const RankFile &file : input.files.files) {
      Expected<TraceReader> reader = TraceReader::open(file.path);
      if (!reader)
        return reader.takeError();
      if (Error error = readRank(std::move(*reader), 1))
        return std::move(error);
      ++totals.ranks;
    }
    return std::move(totals);
  }
  for (const TraceBundle::Class &entry : input.bundle->getClasses()) {
    std::string bytes;
    raw_string_ostream os(bytes);
    input.bundle->writeRank(entry.ranks[0], os);
    if (Error error = readRank(
            TraceReader(MemoryBuffer::getMemBufferCopy(bytes, entry.name)),
            entry.ranks.size()))
      return std::move(error);
    totals.ranks += entry.ranks.size();
  }
  return std::move(totals);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static std::vector<Line> getLines(const std::map<std::string, Work> &a,
                                  const std::map<std::string, Work> &b) {
  std::map<std::string, Line> lines;
  for (const auto &[name, work] : a)
    lines[name].a = work;
  for (const auto &[name, work] : b)
    lines[name].b = work;
  std::vector<Line> result;
  for (auto &[name, line] : lines) {
    line.name = name;
    result.push_back(line);
  }
  return result;
}

static std::string formatChange(Int128 a, Int128 b) {
  if (a == b)
    return "";
  if (a == 0)
    return "  new";
  std::string text;
  raw_string_ostream(text) << format("  %+.2f %%",
                                     100 * (double(b) - double(a)) / double(a));
  return text;
}

static void printSection(StringRef title, ArrayRef<Line> lines,
                         raw_ostream &os) {
  if (lines.empty())
    return;
  os << title << '\n';
  for (const Line &line : lines) {
    os << "  " << line.name << '\n';
    auto print = [&](StringRef what, Int128 a, Int128 b, std::string textA,
                     std::string textB) {
      if (a != 0 || b != 0)
        os << "    " << left_justify(what, 12) << right_justify(textA, 16)
           << right_justify(textB, 16) << formatChange(a, b) << '\n';
    };
    print("nodes", line.a.nodes, line.b.nodes, toString(line.a.nodes),
          toString(line.b.nodes));
    print("operations", line.a.operations, line.b.operations,
          asOperations(line.a.operations), asOperations(line.b.operations));
    print("bytes", line.a.bytes, line.b.bytes, asBytes(line.a.bytes),
          asBytes(line.b.bytes));
  }
}

/// Sums over a million ranks do not fit into 64 bits.
static void writeLines(json::OStream &json, StringRef name,
                       ArrayRef<Line> lines) {
  auto writeNumber = [&](StringRef key, Int128 number) {
    json.attributeBegin(key);
    json.rawValue(toString(number));
    json.attributeEnd();
  };
  auto writeSide = [&](StringRef key, const Work &work) {
    json.attributeObject(key, [&] {
      writeNumber("nodes", work.nodes);
      writeNumber("operations", work.operations);
      writeNumber("bytes", work.bytes);
    });
  };
  json.attributeArray(name, [&] {
    for (const Line &line : lines)
      json.object([&] {
        json.attribute("name", json::fixUTF8(line.name));
        writeSide("a", line.a);
        writeSide("b", line.b);
      });
  });
}

static Expected<Totals> readTotals(StringRef name) {
  Expected<TraceInput> input = openTrace(name, "");
  if (!input)
    return input.takeError();
  return WorkReader(*input).read();
}

Expected<bool> runDiff(raw_ostream &os) {
  Expected<Totals> a = readTotals(inputA);
  if (!a)
    return a.takeError();
  Expected<Totals> b = readTotals(inputB);
  if (!b)
    return b.takeError();
  std::vector<Line> types = getLines(a->types, b->types),
                    phases = getLines(a->phases, b->phases),
                    axes = getLines(a->axes, b->axes), ops;
  for (Line &line : getLines(a->ops, b->ops))
    if (!(line.a == line.b))
      ops.push_back(line);
  llvm::sort(ops, [](const Line &left, const Line &right) {
    return std::pair(right.getDistance(), left.name) <
           std::pair(left.getDistance(), right.name);
  });
  size_t numOps = ops.size();
  if (numOps > most)
    ops.resize(most);
  if (asJSON) {
    json::OStream json(os, /*IndentSize=*/1);
    json.object([&] {
      json.attribute("schema", "stg-trace-diff");
      json.attribute("version", 1);
      json.attributeArray("ranks", [&] {
        json.value(a->ranks);
        json.value(b->ranks);
      });
      writeLines(json, "types", types);
      writeLines(json, "phases", phases);
      writeLines(json, "groups", axes);
      json.attribute("ops_that_differ", static_cast<int64_t>(numOps));
      writeLines(json, "ops", ops);
    });
    json.flush();
    os << '\n';
    return true;
  }
  os << "ranks " << a->ranks << " and " << b->ranks << "; of all together:\n";
  printSection("by type", types, os);
  printSection("by phase", phases, os);
  printSection("collectives by group", axes, os);
  if (numOps == 0)
    os << "every op does the same in both\n";
  else
    os << numOps << (numOps == 1 ? " op differs" : " ops differ")
       << (numOps > ops.size() ? ", most of all" : "") << ":\n";
  printSection("by op", ops, os);
  return true;
}

} // namespace stg::trace
