//===- RankSpace.cpp - The ranks of a mesh and their groups ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/RankSpace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// RankSpace
//===----------------------------------------------------------------------===//

std::optional<RankSpace>
RankSpace::create(ArrayRef<std::pair<std::string, int64_t>> axes) {
  // Consumers keep ranks in 32-bit signed integers.
  constexpr int64_t kMaxRanks = INT32_MAX;
  RankSpace space;
  if (axes.size() > kMaxAxes)
    return std::nullopt;
  for (const auto &[name, size] : axes) {
    if (size < 1 || size > kMaxRanks / space.numRanks)
      return std::nullopt;
    space.axes.push_back({name, size, space.numRanks});
    space.numRanks *= size;
  }
  return space;
}

std::string RankSpace::describe(int64_t rank) const {
  std::string text;
  raw_string_ostream os(text);
  interleaveComma(llvm::enumerate(axes), os, [&](auto entry) {
    os << entry.value().name << '=' << getCoordinate(rank, entry.index());
  });
  return text;
}

std::optional<unsigned> RankSpace::findAxis(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis.name == name)
      return i;
  return std::nullopt;
}

SmallVector<std::string> RankSpace::getNames(AxisMask mask) const {
  SmallVector<std::string> names;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (mask >> i & 1)
      names.push_back(axis.name);
  return names;
}

AxisMask RankSpace::restrict(AxisMask mask, ArrayRef<int64_t> coordinates) {
  std::vector<int64_t> sorted(coordinates.begin(), coordinates.end());
  llvm::sort(sorted);
  auto it = llvm::find(subsets, sorted);
  AxisMask number = it - subsets.begin() + 1;
  if (it == subsets.end())
    subsets.push_back(std::move(sorted));
  assert(number <= kMaxSubsets && "too many subsets");
  return mask | number << kMaxAxes;
}

bool RankSpace::isMember(AxisMask mask, int64_t rank) const {
  const std::vector<int64_t> *subset = getSubset(mask);
  unsigned onlyAxis = llvm::countr_zero(mask & kAxesOfMask);
  return !subset || llvm::is_contained(*subset, getCoordinate(rank, onlyAxis));
}

int64_t RankSpace::getGroupSize(AxisMask mask) const {
  if (const std::vector<int64_t> *subset = getSubset(mask))
    return subset->size();
  return getNumPositions(mask);
}

int64_t RankSpace::getNumPositions(AxisMask mask) const {
  int64_t count = 1;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (mask >> i & 1)
      count *= axis.size;
  return count;
}

int64_t RankSpace::getPosition(AxisMask mask, int64_t rank) const {
  int64_t position = 0, weight = 1;
  for (unsigned i = 0, e = axes.size(); i < e; ++i) {
    if (!(mask >> i & 1))
      continue;
    position += getCoordinate(rank, i) * weight;
    weight *= axes[i].size;
  }
  return position;
}

int64_t RankSpace::getRank(AxisMask mask, int64_t position) const {
  int64_t rank = 0;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (!(mask >> i & 1))
      continue;
    rank += position % axis.size * axis.stride;
    position /= axis.size;
  }
  return rank;
}

std::vector<int64_t> RankSpace::getMembers(AxisMask mask, int64_t rank) const {
  int64_t first = rank - getRank(mask, getPosition(mask, rank));
  // Appending the axes from fast to slow keeps the members ascending.
  std::vector<int64_t> members = {first};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (!(mask >> i & 1))
      continue;
    size_t inner = members.size();
    for (int64_t c = 1; c < axis.size; ++c)
      for (size_t k = 0; k < inner; ++k)
        members.push_back(members[k] + c * axis.stride);
  }
  llvm::erase_if(members, [&](int64_t rank) { return !isMember(mask, rank); });
  return members;
}

void RankSpace::translate(MutableArrayRef<int64_t> ranks, int64_t from,
                          int64_t to) const {
  for (unsigned axis = 0, e = axes.size(); axis < e; ++axis) {
    int64_t distance = getCoordinate(to, axis) - getCoordinate(from, axis);
    if (distance == 0)
      continue;
    for (int64_t &rank : ranks)
      rank = getNeighbour(rank, axis, distance);
  }
}

//===----------------------------------------------------------------------===//
// RankClass
//===----------------------------------------------------------------------===//

RankClass::RankClass(const RankSpace &space, ArrayRef<Coordinate> coordinates)
    : coordinates(coordinates) {
  for (Coordinate coordinate : coordinates) {
    base += coordinate.value * space.getAxes()[coordinate.axis].stride;
    fixedAxes |= AxisMask(1) << coordinate.axis;
  }
  for (auto [i, axis] : llvm::enumerate(space.getAxes())) {
    if (fixedAxes >> i & 1)
      continue;
    freeAxes.push_back({axis.size, axis.stride});
    numRanks *= axis.size;
  }
}

bool RankClass::isWithin(AxisMask mask, const RankSpace &space) const {
  AxisMask axes = mask & kAxesOfMask;
  if (axes & fixedAxes || mask == axes)
    return space.isMember(mask, base);
  return space.getGroupSize(mask) == space.getNumPositions(axes);
}

RankSet::Block RankClass::getBlock() const {
  RankSet::Block block = {base, {}};
  for (auto [size, stride] : freeAxes)
    block.dimensions.push_back({size, stride});
  return block;
}

int64_t RankClass::operator[](int64_t position) const {
  int64_t rank = base;
  for (auto [size, stride] : freeAxes) {
    rank += position % size * stride;
    position /= size;
  }
  return rank;
}

int64_t RankClass::countBelow(int64_t rank) const {
  int64_t low = 0, high = numRanks;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if ((*this)[middle] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

//===----------------------------------------------------------------------===//
// RankPartition
//===----------------------------------------------------------------------===//

std::optional<RankPartition>
RankPartition::create(const RankSpace &space,
                      ArrayRef<const RankClass *> classes, Conflict &conflict) {
  constexpr uint32_t kNoClass = UINT32_MAX;
  RankPartition partition(space);
  for (const RankClass *ranks : classes)
    partition.axes |= ranks->getFixedAxes();
  partition.classes.assign(space.getNumPositions(partition.axes), kNoClass);
  for (auto [index, ranks] : llvm::enumerate(classes)) {
    AxisMask free = partition.axes & ~ranks->getFixedAxes();
    int64_t first = (*ranks)[0];
    for (int64_t i = 0, e = space.getNumPositions(free); i < e; ++i) {
      int64_t rank = first + space.getRank(free, i);
      uint32_t &owner =
          partition.classes[space.getPosition(partition.axes, rank)];
      if (owner != kNoClass) {
        conflict = {rank, owner, static_cast<uint32_t>(index)};
        return std::nullopt;
      }
      owner = index;
    }
  }
  auto missing = llvm::find(partition.classes, kNoClass);
  if (missing == partition.classes.end())
    return partition;
  conflict = {partition.getFirstRank(missing - partition.classes.begin()),
              std::nullopt, std::nullopt};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// GroupTable
//===----------------------------------------------------------------------===//

GroupTable::GroupTable(const RankSpace &space, const RankPartition &partition,
                       ArrayRef<SmallVector<AxisMask>> masksOfClass)
    : space(&space) {
  std::vector<AxisMask> masks;
  for (const SmallVector<AxisMask> &own : masksOfClass)
    llvm::append_range(masks, own);
  llvm::sort(masks);
  masks.erase(llvm::unique(masks), masks.end());
  for (AxisMask mask : masks) {
    Kind kind = {};
    kind.mask = mask;
    kind.blockAxes = partition.getAxes() & ~mask;
    kind.freeAxes = space.getAllAxes() & ~mask & ~kind.blockAxes;
    for (int64_t cell = 0, e = partition.getNumCells(); cell < e; ++cell) {
      int64_t rank = partition.getFirstRank(cell);
      if (space.isMember(mask, rank) &&
          llvm::is_contained(masksOfClass[partition.getClassOfCell(cell)],
                             mask))
        kind.blocks.push_back(space.getPosition(kind.blockAxes, rank));
    }
    llvm::sort(kind.blocks);
    kind.blocks.erase(llvm::unique(kind.blocks), kind.blocks.end());
    kind.groupsInBlock = space.getNumPositions(kind.freeAxes);
    kind.firstId = numGroups + 1;
    numGroups += kind.groupsInBlock * static_cast<int64_t>(kind.blocks.size());
    kinds.push_back(std::move(kind));
  }
}

const GroupTable::Kind &GroupTable::find(AxisMask mask) const {
  return *llvm::lower_bound(
      kinds, mask, [](const Kind &kind, AxisMask m) { return kind.mask < m; });
}

int64_t GroupTable::getId(AxisMask mask, int64_t rank) const {
  const Kind &kind = find(mask);
  int64_t block = space->getPosition(kind.blockAxes, rank);
  int64_t index = llvm::lower_bound(kind.blocks, block) - kind.blocks.begin();
  return kind.firstId + index * kind.groupsInBlock +
         space->getPosition(kind.freeAxes, rank);
}

std::pair<AxisMask, int64_t> GroupTable::getGroup(int64_t id) const {
  auto next = llvm::upper_bound(kinds, id, [](int64_t wanted, const Kind &k) {
    return wanted < k.firstId;
  });
  const Kind &kind = *std::prev(next);
  int64_t index = id - kind.firstId;
  int64_t block = kind.blocks[index / kind.groupsInBlock];
  return {kind.mask,
          space->getRank(kind.blockAxes, block) +
              space->getRank(kind.freeAxes, index % kind.groupsInBlock)};
}

void GroupTable::forEach(
    function_ref<void(int64_t, ArrayRef<int64_t>)> callback) const {
  for (int64_t id = 1; id <= numGroups; ++id) {
    auto [mask, rank] = getGroup(id);
    callback(id, space->getMembers(mask, rank));
  }
}
