//===- Units.cpp - Bytes and operations for a person ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace stg;

unsigned UnitScale::getUnit(__int128 value) const {
  unsigned unit = 0;
  for (double scaled = static_cast<double>(value);
       scaled >= factor && unit + 1 < names.size(); scaled /= factor)
    ++unit;
  return unit;
}

double UnitScale::scale(__int128 value, unsigned unit) const {
  double scaled = static_cast<double>(value);
  while (unit-- > 0)
    scaled /= factor;
  return scaled;
}

const UnitScale &stg::getByteScale() {
  static constexpr StringLiteral units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  static const UnitScale scale = {1024, units};
  return scale;
}

const UnitScale &stg::getOperationScale() {
  static constexpr StringLiteral units[] = {"", "k", "M", "G", "T", "P", "E"};
  static const UnitScale scale = {1000, units};
  return scale;
}

std::string stg::asBytes(__int128 value) {
  const UnitScale &bytes = getByteScale();
  unsigned unit = bytes.getUnit(value);
  if (unit == 0)
    return std::to_string(static_cast<int64_t>(value)) + " B";
  return formatv("{0:F2} {1}", bytes.scale(value, unit), bytes.names[unit])
      .str();
}

std::string stg::asOperations(__int128 value) {
  const UnitScale &operations = getOperationScale();
  unsigned unit = operations.getUnit(value);
  return formatv("{0:F2}{1}{2}", operations.scale(value, unit), unit ? " " : "",
                 operations.names[unit])
      .str();
}

std::optional<double> stg::parseCount(StringRef text) {
  double factor = 1;
  for (auto [suffix, value] :
       {std::pair("K", 1e3), {"M", 1e6}, {"B", 1e9}, {"T", 1e12}})
    if (text.consume_back(suffix)) {
      factor = value;
      break;
    }
  double number;
  if (text.rtrim().getAsDouble(number) || !(number * factor >= 1) ||
      std::isinf(number))
    return std::nullopt;
  return number * factor;
}

//===----------------------------------------------------------------------===//
// --memory-limit
//===----------------------------------------------------------------------===//

Expected<int64_t> stg::getMemoryLimit(double gibibytes) {
  constexpr double gibibyte = 1 << 30, most = 1 << 20;
  if (gibibytes > 0 && gibibytes <= most)
    return static_cast<int64_t>(gibibytes * gibibyte);
  return createStringError("--memory-limit: expected GiB of a device, more "
                           "than 0 and at most 1048576");
}

bool stg::fitsMemory(ArrayRef<MemoryNeed> needs, __int128 limit) {
  return all_of(needs,
                [&](const MemoryNeed &need) { return need.peak <= limit; });
}

std::string stg::describeMemoryLimit(ArrayRef<MemoryNeed> needs,
                                     __int128 limit) {
  std::string text = asBytes(limit) + ": ";
  if (fitsMemory(needs, limit))
    return text + "fits";
  if (needs.size() == 1)
    return text + "does not fit, " + asBytes(needs.front().peak - limit) +
           " too much";
  SmallVector<std::string> beyond;
  int64_t ranks = 0, allRanks = 0;
  for (const MemoryNeed &need : needs) {
    allRanks += need.numRanks;
    if (need.peak <= limit)
      continue;
    ranks += need.numRanks;
    beyond.push_back(need.name + " (" + asBytes(need.peak) + ")");
  }
  constexpr size_t kMostListed = 8;
  if (beyond.size() > kMostListed) {
    std::string rest =
        "and " + std::to_string(beyond.size() - kMostListed) + " more";
    beyond.resize(kMostListed);
    beyond.push_back(std::move(rest));
  }
  return text + "does not fit in " + std::to_string(ranks) + " of " +
         std::to_string(allRanks) + " ranks: " + join(beyond, ", ");
}
