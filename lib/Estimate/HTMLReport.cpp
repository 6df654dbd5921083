//===- HTMLReport.cpp - A compiled step as a page -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/HTMLReport.h"
#include "stg/Estimate/PipelinePicture.h"
#include "stg/Support/SVG.h"
#include "stg/Support/Units.h"
#include "stg/Trace/Program/LiveTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

static void addCollective(const NodeTemplate &node, ArrayRef<int64_t> members,
                          int64_t rank,
                          const std::map<int64_t, size_t> &positions,
                          std::vector<double> &row) {
  const double count = double(members.size());
  if (members.size() < 2)
    return;
  double bytes = double(node.bytes) * double(node.executions);
  auto add = [&](int64_t other, double sent) {
    if (auto it = positions.find(other); it != positions.end())
      row[it->second] += sent;
  };
  if (node.collective == CollectiveType::AllToAll) {
    for (int64_t member : members)
      if (member != rank)
        add(member, bytes / count);
    return;
  }
  double sent = 0;
  switch (node.collective) {
  case CollectiveType::AllReduce:
    sent = 2 * (count - 1) / count * bytes;
    break;
  case CollectiveType::AllGather:
    sent = (count - 1) * bytes;
    break;
  case CollectiveType::ReduceScatter:
    sent = (count - 1) / count * bytes;
    break;
  default:
    sent = bytes;
  }
  size_t own = llvm::find(members, rank) - members.begin();
  add(members[(own + 1) % members.size()], sent);
}

std::vector<std::vector<double>>
stg::getPairTraffic(const TraceBundle &programs, ArrayRef<int64_t> ranks) {
  const RankSpace &space = programs.getSpace();
  std::map<int64_t, size_t> positions;
  for (auto [i, rank] : enumerate(ranks))
    positions[rank] = i;
  std::vector<std::vector<double>> traffic(ranks.size(),
                                           std::vector<double>(ranks.size()));
  for (auto [i, rank] : enumerate(ranks))
    for (const NodeTemplate &node : programs.getClass(rank).program.nodes) {
      if (node.kind == NodeKind::Send) {
        auto it =
            positions.find(space.getNeighbour(rank, node.axis, node.shift));
        if (it != positions.end())
          traffic[i][it->second] +=
              double(node.bytes) * double(node.executions);
      } else if (node.isColl()) {
        addCollective(node, space.getMembers(node.axes, rank), rank, positions,
                      traffic[i]);
      }
    }
  return traffic;
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

namespace {
class PageWriter {
public:
  PageWriter(const HTMLReport &page, raw_ostream &os) : page(page), os(os) {}

  void write();

private:
  void writeHead();
  void writeTime();
  void writeSchedule();
  void writeMemory();
  void drawMemory(ArrayRef<std::array<double, kNumTensorCategories>> most,
                  double peak);
  void writeMemoryOf(const TraceBundle::Class &own, uint32_t index);
  void writeCommunication();
  void writePairs();
  void heading(StringRef id, StringRef text) {
    os << "<h2 id=\"" << id << "\">" << escapeXML(text) << "</h2>\n";
  }
  void paragraph(StringRef text) { os << "<p>" << escapeXML(text) << "</p>\n"; }
  void row(ArrayRef<std::string> cells, StringRef element = "td") {
    os << "<tr>";
    for (const std::string &cell : cells)
      os << '<' << element << '>' << escapeXML(cell) << "</" << element << '>';
    os << "</tr>\n";
  }

  const HTMLReport &page;
  raw_ostream &os;
};
} // namespace

static StringRef getColour(size_t index) {
  static constexpr StringLiteral colours[] = {
      "#397af2", "#8e44ad", "#44d3da", "#e34234", "#f2a93b", "#2e7d32",
      "#c85308", "#99803a", "#607d8b", "#c2185b", "#9e9d24", "#795548"};
  return colours[index % std::size(colours)];
}

void PageWriter::writeHead() {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
     << "<meta charset=\"utf-8\">\n<title>" << escapeXML(page.title)
     << "</title>\n<style>\n"
     << "body { font-family: Helvetica, Arial, sans-serif; margin: 2em; color: "
        "#222; }\n"
     << "pre { background: #f6f6f6; padding: 1em; overflow-x: auto; }\n"
     << "div { overflow-x: auto; }\n"
     << "table { border-collapse: collapse; }\n"
     << "th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #ddd; "
        "text-align: right; }\n"
     << "th:first-child, td:first-child { text-align: left; }\n"
     << "</style>\n</head>\n<body>\n<h1>" << escapeXML(page.title) << "</h1>\n";
}

/// The parts of a step as one bar, and what an estimate says.
void PageWriter::writeTime() {
  heading("time", "Where the time goes");
  if (!page.timed) {
    paragraph("A machine was not given.");
    return;
  }
  const Report &report = page.timed->report;
  const double total = report.times.step.getSeconds();
  constexpr double width = 960, tall = 34, line = 18;
  std::vector<Report::Part> parts;
  for (const Report::Part &part : report.getParts())
    if (part.seconds > 0)
      parts.push_back(part);
  os << "<div>\n";
  {
    SVGWriter svg(os, width, tall + 12 + line * double(parts.size()));
    double x = 0;
    for (auto [i, part] : enumerate(parts)) {
      double length = total > 0 ? part.seconds / total * width : 0;
      std::string label;
      raw_string_ostream(label)
          << part.name
          << format(": %.6f s, %.1f %%", part.seconds,
                    total > 0 ? 100 * part.seconds / total : 0.);
      svg.rect(x, 0, length, tall, {getColour(i), "#fff", 0.5, label});
      double y = tall + 12 + line * double(i);
      svg.rect(0, y, 12, 12, {getColour(i)});
      svg.text(18, y + 10, label, 12);
      x += length;
    }
  }
  os << "</div>\n<pre>";
  std::string text;
  raw_string_ostream stream(text);
  report.printText(stream);
  os << escapeXML(text) << "</pre>\n";
}

void PageWriter::writeSchedule() {
  heading("schedule", "Schedule");
  if (!page.timed) {
    paragraph("A machine was not given.");
    return;
  }
  os << "<div>\n";
  PipelinePicture{page.programs, page.timed->report.times.step,
                  page.timed->recording}
      .write(os);
  os << "</div>\n";
}

/// Areas by category on top of each other, by pixel, and their names below.
void PageWriter::drawMemory(
    ArrayRef<std::array<double, kNumTensorCategories>> most, double peak) {
  constexpr double tall = 160, line = 16;
  const auto pixels = static_cast<unsigned>(most.size());
  SVGWriter svg(os, pixels, tall + 8 + line * kNumTensorCategories);
  std::vector<double> base(pixels, 0);
  double legend = tall + 8;
  for (unsigned category = 0; category < kNumTensorCategories; ++category) {
    double largest = 0;
    std::vector<std::pair<double, double>> points;
    auto getY = [&](double bytes) { return tall - bytes / peak * tall; };
    for (unsigned i = 0; i < pixels; ++i) {
      double top = base[i] + most[i][category];
      largest = std::max(largest, most[i][category]);
      points.push_back({i, getY(top)});
      points.push_back({i + 1, getY(top)});
    }
    for (unsigned i = pixels; i-- > 0;) {
      points.push_back({i + 1, getY(base[i])});
      points.push_back({i, getY(base[i])});
      base[i] += most[i][category];
    }
    if (largest <= 0)
      continue;
    // Points between two on a level say nothing.
    std::vector<std::pair<double, double>> corners;
    for (auto point : points) {
      size_t count = corners.size();
      if (count >= 2 && corners[count - 1].second == point.second &&
          corners[count - 2].second == point.second)
        corners.pop_back();
      corners.push_back(point);
    }
    std::string label =
        getCategoryName(static_cast<TensorCategory>(category)).str() +
        ": at most " + asBytes(static_cast<__int128>(largest));
    svg.polygon(corners, {getColour(category), "none", 1, label});
    svg.rect(0, legend, 11, 11, {getColour(category)});
    svg.text(17, legend + 10, label, 12);
    legend += line;
  }
}

/// What lives, by category. The axis is time on a machine,
/// else the nodes in the order of the program.
void PageWriter::writeMemoryOf(const TraceBundle::Class &own, uint32_t index) {
  constexpr unsigned pixels = 960;
  ProgramRunner runner(own.program);
  FlatNode node;
  while (runner.next(node))
    ;
  LiveTensors tensors(own.program, runner);
  std::vector<std::array<double, kNumTensorCategories>> most(pixels);
  std::vector<double> totals(pixels, -1);
  double peak = 0;
  auto add = [&](double place, const LiveTensors::Bytes &live) {
    auto pixel =
        static_cast<size_t>(std::clamp(place * pixels, 0., double(pixels - 1)));
    auto total = static_cast<double>(tensors.getTotal());
    peak = std::max(peak, total);
    if (total <= totals[pixel])
      return;
    totals[pixel] = total;
    for (unsigned i = 0; i < kNumTensorCategories; ++i)
      most[pixel][i] = static_cast<double>(live[i]);
  };
  if (page.timed) {
    auto length =
        double(std::max<Ticks>(page.timed->report.times.step.total, 1));
    for (const RecordedEvent &event :
         page.timed->recording.classes[index].events)
      if (event.isNode())
        add(double(event.kind == RecordedEvent::Kernel ? event.start
                                                       : event.issue) /
                length,
            tensors.next());
  } else {
    const uint64_t count = own.program.getNumNodes();
    for (uint64_t i = 0; i < count; ++i)
      add(double(i) / double(count), tensors.next());
  }
  if (peak <= 0)
    return;
  for (unsigned i = 1; i < pixels; ++i)
    if (totals[i] < 0) {
      totals[i] = totals[i - 1];
      most[i] = most[i - 1];
    }
  std::string name = own.name.str() + ", " + itostr(own.ranks.size()) +
                     " ranks: peak " + asBytes(static_cast<__int128>(peak));
  os << "<h3>" << escapeXML(name) << "</h3>\n<div>\n";
  drawMemory(most, peak);
  os << "</div>\n";
}

void PageWriter::writeMemory() {
  heading("memory", "Memory over the step");
  for (auto [i, own] : enumerate(page.programs.getClasses())) {
    writeMemoryOf(own, static_cast<uint32_t>(i));
  }
}

static StringRef getName(const NodeTemplate &node) {
  if (node.isTransfer())
    return node.kind == NodeKind::Store ? "store to the host"
                                        : "load from the host";
  if (!node.isColl())
    return node.kind == NodeKind::Send ? "send" : "receive";
  switch (node.collective) {
  case CollectiveType::AllReduce:
    return "all-reduce";
  case CollectiveType::AllGather:
    return "all-gather";
  case CollectiveType::AllToAll:
    return "all-to-all";
  case CollectiveType::ReduceScatter:
    return "reduce-scatter";
  case CollectiveType::Broadcast:
    return "broadcast";
  }
  llvm_unreachable("unknown collective");
}

void PageWriter::writeCommunication() {
  heading("communication", "Communication by axis");
  paragraph("Of one rank, each class by itself; bytes of operands.");
  const RankSpace &space = page.programs.getSpace();
  struct Sum {
    uint64_t count = 0;
    double bytes = 0;
  };
  os << "<table>\n";
  row({"class", "axes", "what", "phase", "count", "bytes"}, "th");
  for (const TraceBundle::Class &own : page.programs.getClasses()) {
    std::map<std::array<std::string, 3>, Sum> sums;
    for (const NodeTemplate &node : own.program.nodes) {
      if (node.isComp() || node.executions == 0)
        continue;
      std::string axes = node.isColl() ? join(space.getNames(node.axes), "+")
                         : node.isMessage() ? space.getAxes()[node.axis].name
                                            : "host";
      Sum &sum = sums[{axes, getName(node).str(), node.phase.str()}];
      sum.count += node.executions;
      sum.bytes += double(node.bytes) * double(node.executions);
    }
    for (const auto &[key, sum] : sums)
      row({own.name.str(), key[0], key[1], key[2], utostr(sum.count),
           asBytes(static_cast<__int128>(sum.bytes))});
  }
  os << "</table>\n";
}

/// More do not fit on a screen.
static constexpr int64_t kMostPairs = 64;

void PageWriter::writePairs() {
  heading("pairs", "Communication by pair of ranks");
  const int64_t numRanks = page.programs.getSpace().getNumRanks();
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < std::min(numRanks, kMostPairs); ++rank)
    ranks.push_back(rank);
  std::vector<std::vector<double>> traffic =
      getPairTraffic(page.programs, ranks);
  double most = 0;
  for (ArrayRef<double> line : traffic)
    most = std::max(most, *llvm::max_element(line));
  paragraph("Rows send to columns; collectives as rings, all-to-alls to each "
            "member. The darkest is " +
            asBytes(static_cast<__int128>(most)) + " a step." +
            (numRanks > kMostPairs ? " The first " + utostr(kMostPairs) +
                                         " of " + utostr(numRanks) + " ranks."
                                   : ""));
  const double cell = ranks.size() > 32 ? 11 : 20, left = 34;
  os << "<div>\n";
  {
    double side = left + cell * double(ranks.size()) + 2;
    SVGWriter svg(os, side, side);
    for (auto [i, rank] : enumerate(ranks)) {
      double place = left + cell * (double(i) + 0.5);
      if (ranks.size() > 32 && i % 4)
        continue;
      svg.text(left - 4, place + 4, itostr(rank), 10, SVGWriter::Anchor::End);
      svg.text(place, left - 6, itostr(rank), 10, SVGWriter::Anchor::Middle);
    }
    for (size_t i = 0; i < ranks.size(); ++i)
      for (size_t j = 0; j < ranks.size(); ++j) {
        double bytes = traffic[i][j];
        std::string fill = "#f4f4f4";
        if (bytes > 0) {
          // A factor of a million is from light to dark.
          double dark = std::clamp(1 + std::log10(bytes / most) / 6, 0.08, 1.);
          auto part = [&](double light, double end) {
            return static_cast<unsigned>(light + (end - light) * dark);
          };
          raw_string_ostream(fill = "") << format(
              "#%02x%02x%02x", part(225, 18), part(236, 52), part(250, 120));
        }
        svg.rect(left + cell * double(j), left + cell * double(i), cell - 1,
                 cell - 1,
                 {fill, "none", 1,
                  bytes > 0 ? "rank " + utostr(ranks[i]) + " to rank " +
                                  utostr(ranks[j]) + ": " +
                                  asBytes(static_cast<__int128>(bytes))
                            : ""});
      }
  }
  os << "</div>\n";
}

void PageWriter::write() {
  writeHead();
  heading("summary", "Summary");
  os << "<pre>" << escapeXML(page.summary) << "</pre>\n";
  writeTime();
  writeSchedule();
  writeMemory();
  writeCommunication();
  writePairs();
  os << "</body>\n</html>\n";
}

void HTMLReport::write(raw_ostream &os) const { PageWriter(*this, os).write(); }
