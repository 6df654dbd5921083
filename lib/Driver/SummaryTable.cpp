//===- SummaryTable.cpp - Classes of ranks as one table -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SummaryTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stg;
using namespace llvm;
using chakra::Category;
using chakra::ClassSummary;
using chakra::ExportSummary;

//===----------------------------------------------------------------------===//
// Names of classes
//===----------------------------------------------------------------------===//

static bool hasMessages(const ExportSummary &summary, StringRef axis) {
  return any_of(summary.classes, [&](const ClassSummary &entry) {
    return any_of(entry.totals.messages,
                  [&](const auto &messages) { return messages.axis == axis; });
  });
}

/// Of the axes that tell classes apart, the one that messages are sent along,
/// whose coordinates are stages. With several nobody can say: attention may
/// send keys around among ranks that differ.
static StringRef getStageAxis(const ExportSummary &summary) {
  StringRef stages;
  for (const auto &[axis, coordinate] : summary.classes.front().coordinates) {
    if (!hasMessages(summary, axis))
      continue;
    if (!stages.empty())
      return "";
    stages = axis;
  }
  return stages;
}

static StringRef getAxisTitle(const ExportSummary &summary, StringRef axis) {
  StringRef stages = getStageAxis(summary);
  return !stages.empty() && axis == stages ? "stage" : axis;
}

std::string stg::describePlace(const ExportSummary &summary, StringRef axis,
                               int64_t coordinate) {
  return getAxisTitle(summary, axis).str() + " " + std::to_string(coordinate);
}

std::string stg::describeClass(const ExportSummary &summary,
                               const ClassSummary &entry) {
  SmallVector<std::string> parts;
  for (const auto &[axis, coordinate] : entry.coordinates)
    parts.push_back(describePlace(summary, axis, coordinate));
  return parts.empty() ? entry.name : join(parts, ", ");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// Columns that share a unit, under one title.
struct ColumnGroup {
  std::string title;
  UnitScale scale;
  /// Of each column, the value of each class.
  std::vector<std::pair<std::string, std::vector<__int128>>> columns;

  /// The largest unit that makes no column smaller than it needs to be.
  unsigned getUnit() const {
    __int128 largest = 0;
    for (const auto &[name, values] : columns)
      largest = std::max(largest, *max_element(values));
    return scale.getUnit(largest);
  }
  /// The value of a class in a column, which is made if it is new.
  __int128 &at(StringRef column, size_t row, size_t numRows) {
    auto it = find_if(columns, [&](auto &own) { return own.first == column; });
    if (it == columns.end())
      it = columns.emplace(it, column.str(), std::vector<__int128>(numRows));
    return it->second[row];
  }
};

class ClassTable {
public:
  explicit ClassTable(const ExportSummary &summary);
  void print(raw_ostream &os) const;

private:
  void addClass(const ClassSummary &entry, size_t row);
  bool areEqual(size_t row, size_t other) const;
  std::string getLabel(size_t first, size_t last) const;
  std::vector<std::vector<std::string>> getLines() const;
  std::string getHeader(std::vector<size_t> &widths) const;
  /// Those that have columns.
  SmallVector<const ColumnGroup *> getGroups() const {
    SmallVector<const ColumnGroup *> groups{&operations, &collectives,
                                            &messages, &memory};
    erase_if(groups,
             [](const ColumnGroup *group) { return group->columns.empty(); });
    return groups;
  }

  const ExportSummary &summary;
  size_t numRows;
  ColumnGroup operations{"operations", getOperationScale(), {}};
  ColumnGroup collectives{"collectives", getByteScale(), {}};
  ColumnGroup messages{"messages", getByteScale(), {}};
  ColumnGroup memory{"memory at its peak", getByteScale(), {}};
};
} // namespace

ClassTable::ClassTable(const ExportSummary &summary)
    : summary(summary), numRows(summary.classes.size()) {
  for (size_t row = 0; row < numRows; ++row)
    addClass(summary.classes[row], row);
}

void ClassTable::addClass(const ClassSummary &entry, size_t row) {
  const chakra::ClassTotals &totals = entry.totals;
  operations.at("all", row, numRows) = totals.operations;
  __int128 &products = operations.at("products", row, numRows);
  for (const auto &[phase, count] : totals.matrixOperationsByPhase)
    products += count;
  for (const chakra::CollTotals &coll : totals.collectives)
    collectives.at(join(coll.axes, "+"), row, numRows) += coll.bytes;
  for (const chakra::MessageTotals &entry : totals.messages)
    messages.at(entry.isSend ? "sent" : "received", row, numRows) +=
        entry.bytes;
  memory.at("total", row, numRows) = totals.memory.peak.getTotal();
  for (unsigned i = 0; i < chakra::kNumCategories; ++i) {
    auto category = static_cast<Category>(i);
    // A category that no class has at its peak has no column.
    if (any_of(summary.classes, [&](const ClassSummary &other) {
          return other.totals.memory.peak[category] != 0;
        }))
      memory.at(chakra::stringifyCategory(category), row, numRows) =
          totals.memory.peak[category];
  }
}

bool ClassTable::areEqual(size_t row, size_t other) const {
  for (const ColumnGroup *group : getGroups())
    for (const auto &[name, values] : group->columns)
      if (values[row] != values[other])
        return false;
  return summary.classes[row].numRanks == summary.classes[other].numRanks;
}

/// `3`, or `3-14` for neighbours on the last axis; `1 3` where two axes tell
/// classes apart.
std::string ClassTable::getLabel(size_t first, size_t last) const {
  const ClassSummary &entry = summary.classes[first];
  if (entry.coordinates.empty())
    return entry.name;
  std::string label;
  for (const auto &[axis, coordinate] : entry.coordinates)
    label += (label.empty() ? "" : " ") + std::to_string(coordinate);
  if (last != first)
    label +=
        "-" + std::to_string(summary.classes[last].coordinates.back().second);
  return label;
}

/// True if the classes are at the same place but for the last axis, where
/// `next` follows `entry`.
static bool areNeighbours(const ClassSummary &entry, const ClassSummary &next) {
  if (entry.coordinates.empty() ||
      entry.coordinates.size() != next.coordinates.size())
    return false;
  for (size_t i = 0, e = entry.coordinates.size(); i != e; ++i)
    if (entry.coordinates[i].first != next.coordinates[i].first ||
        entry.coordinates[i].second + (i + 1 == e) !=
            next.coordinates[i].second)
      return false;
  return true;
}

/// Two digits after the point; what is there is never shown as nothing.
static std::string formatCell(__int128 value, const UnitScale &scale,
                              unsigned unit) {
  if (value == 0)
    return "-";
  double scaled = scale.scale(value, unit);
  return scaled < 0.005 ? "<0.01" : formatv("{0:F2}", scaled).str();
}

/// The titles of the columns, then a line for each class or run of equal ones.
std::vector<std::vector<std::string>> ClassTable::getLines() const {
  std::string axes;
  for (const auto &[axis, coordinate] : summary.classes.front().coordinates)
    axes += (axes.empty() ? "" : " ") + getAxisTitle(summary, axis).str();
  std::vector<std::vector<std::string>> lines{
      {axes.empty() ? "class" : axes, "ranks"}};
  for (const ColumnGroup *group : getGroups())
    for (const auto &[column, values] : group->columns)
      lines[0].push_back(column);
  for (size_t row = 0; row < numRows;) {
    size_t last = row;
    int64_t ranks = summary.classes[row].numRanks;
    while (last + 1 < numRows && areEqual(row, last + 1) &&
           areNeighbours(summary.classes[last], summary.classes[last + 1]))
      ranks += summary.classes[++last].numRanks;
    lines.push_back({getLabel(row, last), std::to_string(ranks)});
    for (const ColumnGroup *group : getGroups())
      for (const auto &[column, values] : group->columns)
        lines.back().push_back(
            formatCell(values[row], group->scale, group->getUnit()));
    row = last + 1;
  }
  return lines;
}

/// The titles of groups, each above its columns, which are made wide enough.
std::string ClassTable::getHeader(std::vector<size_t> &widths) const {
  std::string header;
  size_t column = 2; // After the label and the number of ranks.
  size_t begin = 4 + widths[0] + widths[1];
  for (const ColumnGroup *group : getGroups()) {
    StringRef unit = group->scale.names[group->getUnit()];
    std::string title = group->title + (unit.empty() ? "" : ", ") + unit.str();
    size_t width = 2 * (group->columns.size() - 1);
    for (size_t i = 0; i < group->columns.size(); ++i)
      width += widths[column + i];
    if (width < title.size()) {
      widths[column] += title.size() - width;
      width = title.size();
    }
    header.resize(begin + 2, ' ');
    header += title;
    begin += 2 + width;
    column += group->columns.size();
  }
  return header;
}

void ClassTable::print(raw_ostream &os) const {
  std::vector<std::vector<std::string>> lines = getLines();
  std::vector<size_t> widths(lines[0].size());
  for (const auto &line : lines)
    for (auto [cell, width] : zip_equal(line, widths))
      width = std::max(width, cell.size());
  os << getHeader(widths) << '\n';
  for (const auto &line : lines) {
    for (auto [cell, width] : zip_equal(line, widths))
      os << right_justify(cell, 2 + width);
    os << '\n';
  }
}

void stg::printClassTable(const ExportSummary &summary, raw_ostream &os) {
  ClassTable(summary).print(os);
  const auto &largest = *llvm::max_element(
      summary.classes, [](const ClassSummary &lhs, const ClassSummary &rhs) {
        return lhs.totals.memory.peak.getTotal() <
               rhs.totals.memory.peak.getTotal();
      });
  os << "  largest peak    " << asBytes(largest.totals.memory.peak.getTotal())
     << " in " << describeClass(summary, largest) << ", at "
     << largest.totals.peakNode << '\n';
}

std::vector<MemoryNeed> stg::getMemoryNeeds(const ExportSummary &summary) {
  std::vector<MemoryNeed> needs;
  for (const ClassSummary &entry : summary.classes)
    needs.push_back({describeClass(summary, entry), entry.numRanks,
                     entry.totals.memory.peak.getTotal()});
  return needs;
}
