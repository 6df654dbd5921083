//===- GraphCommand.cpp - stg-trace graph ---------------------------------===//
//
// Nodes of a rank and what they wait for, as a picture.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Estimate/TraceGraphs.h"
#include "stg/Support/SVG.h"
#include "stg/Support/Units.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("graph", "Draw nodes of a rank");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<prefix, directory or file>"),
                                  cl::sub(command));
static cl::opt<unsigned> rankNumber("rank", cl::init(0), cl::value_desc("n"),
                                    cl::desc("Rank to draw (default: 0)"),
                                    cl::sub(command));
static cl::opt<std::string>
    match("match", cl::value_desc("text"),
          cl::desc("Only nodes with this in their name, and those right before "
                   "them: layers.3."),
          cl::sub(command));
static cl::opt<bool> asDot("dot", cl::desc("Write DOT instead of SVG"),
                           cl::sub(command));
static cl::opt<std::string> groupFile(
    "comm-groups", cl::value_desc("file"),
    cl::desc("Communicator groups (default: the file beside the trace)"),
    cl::sub(command));

cl::SubCommand &getGraphCommand() { return command; }

/// More are no picture.
static constexpr size_t kMostNodes = 600;

namespace {
/// What is drawn.
struct Drawing {
  struct Box {
    uint32_t node;
    bool isOutside; ///< Only there since others wait for it.
    std::vector<size_t> sources;
    unsigned layer = 0;
    double x = 0;
    std::vector<std::string> lines;
  };
  const TraceGraphs &graphs;
  const TraceGraph &graph;
  std::vector<Box> boxes; ///< In the order of the file.

  void addBoxes();
  void place();
  void writeDot(raw_ostream &os) const;
  void writeSVG(raw_ostream &os) const;

private:
  std::vector<std::string> describe(uint32_t node) const;
  StringRef getColour(const Box &box) const;
  double getWidth(const Box &box) const;
};
} // namespace

std::vector<std::string> Drawing::describe(uint32_t number) const {
  const TracedNode &node = graph.nodes[number];
  StringRef name = graph.names[number];
  std::vector<std::string> lines = {
      escapeText(name.take_until([](char c) { return c == '/'; }))};
  std::string what = getNodeTypeName(static_cast<int32_t>(node.type));
  bool hasPlace = node.place != kNone;
  switch (node.type) {
  case NodeType::Comp:
    if (node.operations >= 0)
      what = asOperations(node.operations) + " ops";
    break;
  case NodeType::Coll:
    if (auto kind = static_cast<int64_t>(node.collective); kind >= 0)
      what = getCollectiveName(kind);
    if (hasPlace)
      what += " of " + utostr(graphs.groups[node.place].members.size());
    break;
  case NodeType::Send:
    if (hasPlace)
      what = "to rank " + utostr(node.place);
    break;
  case NodeType::Recv:
    if (hasPlace)
      what = "from rank " + utostr(node.place);
    break;
  default:
    break;
  }
  lines.push_back(node.bytes >= 0 ? what + ", " + asBytes(node.bytes) : what);
  return lines;
}

void Drawing::addBoxes() {
  std::vector<bool> isChosen(graph.nodes.size()), isNear(graph.nodes.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    isChosen[i] = StringRef(graph.names[i]).contains(match);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (isChosen[i])
      for (uint32_t dep : graph.getDeps(i))
        isNear[dep] = true;
  DenseMap<uint32_t, size_t> places;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (!isChosen[i] && !isNear[i])
      continue;
    places[i] = boxes.size();
    boxes.push_back({i, !isChosen[i], {}, 0, 0, describe(i)});
  }
  for (Box &box : boxes)
    if (!box.isOutside)
      for (uint32_t dep : graph.getDeps(box.node))
        box.sources.push_back(places[dep]);
}

static constexpr double kLine = 14, kHeight = 40, kGapX = 18, kGapY = 34,
                        kMargin = 20, kLetter = 6.4;

double Drawing::getWidth(const Box &box) const {
  size_t longest = 0;
  for (const std::string &line : box.lines)
    longest = std::max(longest, line.size());
  return kLetter * double(longest) + 16;
}

/// A node is below all that it waits for. In a layer nodes stand in the order
/// of the middle of what they wait for.
void Drawing::place() {
  bool isChanged = true;
  for (size_t round = 0; isChanged && round < boxes.size(); ++round) {
    isChanged = false;
    for (Box &box : boxes)
      for (size_t source : box.sources)
        if (box.layer <= boxes[source].layer) {
          box.layer = boxes[source].layer + 1;
          isChanged = true;
        }
  }
  // What is outside stands right above the first that waits for it.
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (!boxes[i].isOutside)
      continue;
    unsigned least = UINT32_MAX;
    for (const Box &box : boxes)
      if (is_contained(box.sources, i))
        least = std::min(least, box.layer);
    boxes[i].layer = least - 1;
  }
  std::vector<std::vector<size_t>> layers;
  for (size_t i = 0; i < boxes.size(); ++i) {
    layers.resize(std::max<size_t>(layers.size(), boxes[i].layer + 1));
    layers[boxes[i].layer].push_back(i);
  }
  for (std::vector<size_t> &layer : layers) {
    auto getMiddle = [&](size_t index) {
      const Box &box = boxes[index];
      double sum = 0;
      for (size_t source : box.sources)
        sum += boxes[source].x;
      return box.sources.empty() ? 0 : sum / double(box.sources.size());
    };
    std::vector<std::pair<double, size_t>> order;
    for (size_t index : layer)
      order.push_back({getMiddle(index), index});
    llvm::sort(order);
    double right = -1e9;
    for (auto [middle, index] : order) {
      double half = getWidth(boxes[index]) / 2;
      boxes[index].x = std::max(middle, right + kGapX + half);
      right = boxes[index].x + half;
    }
  }
  double left = 1e9;
  for (const Box &box : boxes)
    left = std::min(left, box.x - getWidth(box) / 2);
  for (Box &box : boxes)
    box.x += kMargin - left;
}

StringRef Drawing::getColour(const Box &box) const {
  if (box.isOutside)
    return "#ffffff";
  switch (graph.nodes[box.node].type) {
  case NodeType::Comp:
    return "#cfe2f3";
  case NodeType::Coll:
    return "#fce5cd";
  case NodeType::Send:
  case NodeType::Recv:
    return "#fff2cc";
  default:
    return "#e8e8e8";
  }
}

void Drawing::writeDot(raw_ostream &os) const {
  os << "digraph rank" << graph.rank << " {\n"
     << "  node [shape=box, style=filled, fontname=Helvetica];\n";
  auto quote = [](StringRef text) {
    std::string quoted;
    for (char c : text) {
      if (c == '"' || c == '\\')
        quoted += '\\';
      quoted += c;
    }
    return quoted;
  };
  for (const Box &box : boxes) {
    os << "  n" << graph.nodes[box.node].id << " [label=\"";
    for (auto [i, line] : enumerate(box.lines))
      os << (i ? "\\n" : "") << quote(line);
    os << "\", fillcolor=\"" << getColour(box) << '"'
       << (box.isOutside ? ", style=\"filled,dashed\"" : "") << "];\n";
  }
  for (const Box &box : boxes)
    for (size_t source : box.sources)
      os << "  n" << graph.nodes[boxes[source].node].id << " -> n"
         << graph.nodes[box.node].id << ";\n";
  os << "}\n";
}

void Drawing::writeSVG(raw_ostream &os) const {
  double width = 0;
  unsigned layers = 0;
  for (const Box &box : boxes) {
    width = std::max(width, box.x + getWidth(box) / 2 + kMargin);
    layers = std::max(layers, box.layer + 1);
  }
  auto getY = [](const Box &box) {
    return kMargin + box.layer * (kHeight + kGapY);
  };
  SVGWriter svg(os, width, 2 * kMargin + layers * (kHeight + kGapY) - kGapY);
  for (const Box &box : boxes)
    for (size_t source : box.sources) {
      const Box &from = boxes[source];
      svg.arrow({{from.x, getY(from) + kHeight}, {box.x, getY(box)}}, "#888");
    }
  for (const Box &box : boxes) {
    double w = getWidth(box), y = getY(box);
    svg.rect(box.x - w / 2, y, w, kHeight,
             {getColour(box), "#444", 1, "", 4, box.isOutside});
    for (auto [i, line] : enumerate(box.lines))
      svg.text(box.x, y + 16 + double(i) * kLine, line, 11,
               SVGWriter::Anchor::Middle);
  }
}

Expected<bool> runGraph(raw_ostream &os) {
  Expected<TraceInput> trace = openTrace(input, groupFile);
  if (!trace)
    return trace.takeError();
  bool isAlone = !trace->bundle && trace->files.isSingleFile;
  Expected<TraceGraphs> graphs = TraceGraphs::loadDrawn(
      *trace, isAlone ? std::nullopt : std::optional<uint64_t>(rankNumber));
  if (!graphs)
    return graphs.takeError();
  std::optional<size_t> position =
      isAlone && !rankNumber.getNumOccurrences() ? 0 : graphs->find(rankNumber);
  if (!position)
    return createStringError("--rank " + Twine(rankNumber) +
                             ": the trace does not have it");
  if (graphs->ranks[*position].nodes.empty())
    return createStringError("rank " + Twine(graphs->ranks[*position].rank) +
                             " has no nodes, of which there is no picture");
  Drawing drawing = {*graphs, graphs->ranks[*position], {}};
  drawing.addBoxes();
  if (drawing.boxes.empty())
    return createStringError("--match " + match +
                             ": no name of a node has this in it");
  if (drawing.boxes.size() > kMostNodes)
    return createStringError(Twine(drawing.boxes.size()) +
                             " nodes are too many to draw: choose some with "
                             "--match");
  drawing.place();
  if (asDot)
    drawing.writeDot(os);
  else
    drawing.writeSVG(os);
  return true;
}

} // namespace stg::trace
