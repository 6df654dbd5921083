//===- RankSet.cpp - Ranks without a list of them -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/RankSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace stg::trace;

/// Ranges that a text lists before it says how they repeat.
static constexpr size_t kMaxRanges = 8;

int64_t RankSet::Block::size() const {
  int64_t count = 1;
  for (const Dimension &dimension : dimensions)
    count *= dimension.count;
  return count;
}

RankSet::RankSet(ArrayRef<int64_t> ranks) {
  // Runs right away, or each rank would be a block for a moment.
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == 1)
      ++end;
    Block block = {ranks[i], {}};
    if (end - i > 1)
      block.dimensions.push_back({static_cast<int64_t>(end - i), 1});
    add(std::move(block));
    i = end;
  }
  finish();
}

void RankSet::add(Block block) { blocks.push_back(std::move(block)); }

/// Dimensions that continue one another become one.
static void normalize(RankSet::Block &block) {
  auto &dimensions = block.dimensions;
  llvm::sort(dimensions,
             [](const RankSet::Dimension &lhs, const RankSet::Dimension &rhs) {
               return lhs.stride < rhs.stride;
             });
  size_t kept = 0;
  for (const RankSet::Dimension &dimension : dimensions) {
    if (dimension.count == 1)
      continue;
    if (kept && dimensions[kept - 1].count * dimensions[kept - 1].stride ==
                    dimension.stride)
      dimensions[kept - 1].count *= dimension.count;
    else
      dimensions[kept++] = dimension;
  }
  dimensions.truncate(kept);
}

/// Joins neighbours that are alike and equally far from one another.
static std::vector<RankSet::Block> join(std::vector<RankSet::Block> blocks) {
  std::vector<RankSet::Block> joined;
  for (size_t i = 0; i < blocks.size();) {
    size_t end = i + 1;
    int64_t stride = 0;
    for (;
         end < blocks.size() && blocks[end].dimensions == blocks[i].dimensions;
         ++end) {
      int64_t distance = blocks[end].first - blocks[end - 1].first;
      if (end > i + 1 && distance != stride)
        break;
      stride = distance;
    }
    RankSet::Block block = std::move(blocks[i]);
    if (end - i > 1)
      block.dimensions.push_back({static_cast<int64_t>(end - i), stride});
    normalize(block);
    joined.push_back(std::move(block));
    i = end;
  }
  return joined;
}

void RankSet::finish() {
  for (Block &block : blocks)
    normalize(block);
  llvm::sort(blocks, [](const Block &lhs, const Block &rhs) {
    return lhs.first < rhs.first;
  });
  for (size_t before = 0; before != blocks.size();) {
    before = blocks.size();
    blocks = join(std::move(blocks));
  }
}

int64_t RankSet::size() const {
  int64_t count = 0;
  for (const Block &block : blocks)
    count += block.size();
  return count;
}

static std::string formatRange(int64_t first, int64_t count) {
  std::string text = std::to_string(first);
  if (count > 1)
    text += (count == 2 ? "," : "-") + std::to_string(first + count - 1);
  return text;
}

/// Adds the ranges of a block; false where they become too many.
static bool listRanges(const RankSet::Block &block, size_t depth, int64_t first,
                       std::vector<std::pair<int64_t, int64_t>> &ranges) {
  if (depth == 0 || (depth == 1 && block.dimensions[0].stride == 1)) {
    if (ranges.size() == kMaxRanges)
      return false;
    ranges.push_back({first, depth ? block.dimensions[0].count : 1});
    return true;
  }
  const RankSet::Dimension &dimension = block.dimensions[depth - 1];
  for (int64_t i = 0; i < dimension.count; ++i)
    if (!listRanges(block, depth - 1, first + i * dimension.stride, ranges))
      return false;
  return true;
}

static std::string formatBlock(const RankSet::Block &block) {
  ArrayRef<RankSet::Dimension> dimensions = block.dimensions;
  int64_t run = 1;
  if (!dimensions.empty() && dimensions.front().stride == 1) {
    run = dimensions.front().count;
    dimensions = dimensions.drop_front();
  }
  std::string text = formatRange(block.first, run);
  StringRef separator = " (";
  for (const RankSet::Dimension &dimension : dimensions) {
    text += (separator + Twine(dimension.count) + " times, every " +
             Twine(dimension.stride))
                .str();
    separator = "; ";
  }
  return dimensions.empty() ? text : text + ")";
}

std::string RankSet::format() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::string text;
  auto append = [&](const std::string &part) {
    text += (text.empty() ? "" : ",") + part;
  };
  if (llvm::all_of(blocks, [&](const Block &block) {
        return listRanges(block, block.dimensions.size(), block.first, ranges);
      })) {
    llvm::sort(ranges);
    for (auto [first, count] : ranges)
      append(formatRange(first, count));
    return text;
  }
  for (const Block &block : ArrayRef(blocks).take_front(kMaxRanges))
    append(formatBlock(block));
  if (blocks.size() > kMaxRanges)
    text += ",... (" + std::to_string(size()) + " ranks)";
  return text;
}

void RankSet::write(json::OStream &json) const {
  json.array([&] {
    for (const Block &block : blocks)
      json.object([&] {
        json.attribute("first", block.first);
        json.attributeArray("dimensions", [&] {
          for (const Dimension &dimension : block.dimensions)
            json.object([&] {
              json.attribute("count", dimension.count);
              json.attribute("stride", dimension.stride);
            });
        });
      });
  });
}

std::string stg::trace::formatRanks(ArrayRef<int64_t> ranks) {
  bool ascends = true;
  for (size_t i = 1; i < ranks.size(); ++i)
    ascends &= ranks[i - 1] < ranks[i];
  if (ascends)
    return RankSet(ranks).format();
  std::string text;
  for (int64_t rank : ranks.take_front(4 * kMaxRanges))
    text += (text.empty() ? "" : ",") + std::to_string(rank);
  if (ranks.size() > 4 * kMaxRanges)
    text += ",... (" + std::to_string(ranks.size()) + " ranks)";
  return text;
}
