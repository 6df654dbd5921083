//===- RankSpace.cpp - The ranks of a mesh and their groups ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/ChakraTrace/RankSpace.h"
#include "Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg::chakra;
using stg::MeshAttr;

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

FailureOr<RankSpace> RankSpace::get(GraphOp graph) {
  SmallVector<std::pair<std::string, int64_t>> axes;
  MeshAttr mesh = graph.getMesh();
  for (auto [name, size] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    std::string what = ("size of axis '" + name.strref() + "'").str();
    FailureOr<int64_t> value = evaluate(graph, size, what);
    if (failed(value))
      return failure();
    axes.push_back({name.str(), *value});
  }
  if (std::optional<RankSpace> space = create(axes))
    return *space;
  return emitShortOpError(graph)
         << "has a mesh that is not of 1 to " << INT32_MAX
         << " ranks along at most " << kMaxAxes << " axes";
}

std::string RankSpace::describe(int64_t rank) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::enumerate(axes), os, [&](auto entry) {
    os << entry.value().name << '=' << getCoordinate(rank, entry.index());
  });
  return text;
}

AxisMask RankSpace::getMask(ArrayAttr names) const {
  AxisMask mask = 0;
  for (auto name : names.getAsRange<StringAttr>())
    for (auto [i, axis] : llvm::enumerate(axes))
      if (axis.size > 1 && axis.name == name.strref())
        mask |= AxisMask(1) << i;
  return mask;
}

SmallVector<std::string> RankSpace::getNames(AxisMask mask) const {
  SmallVector<std::string> names;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (mask >> i & 1)
      names.push_back(axis.name);
  return names;
}

std::optional<unsigned> RankSpace::findAxis(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis.name == name)
      return i;
  return std::nullopt;
}

AxisMask RankSpace::restrict(AxisMask mask, ArrayRef<int64_t> coordinates) {
  std::vector<int64_t> sorted(coordinates.begin(), coordinates.end());
  llvm::sort(sorted);
  auto it = llvm::find(subsets, sorted);
  AxisMask number = it - subsets.begin() + 1;
  if (it == subsets.end())
    subsets.push_back(std::move(sorted));
  return mask | number << kMaxAxes;
}

/// The number of the only axis of a mask.
static unsigned getOnlyAxis(AxisMask mask) {
  return llvm::countr_zero(mask & kAxesOfMask);
}

bool RankSpace::isMember(AxisMask mask, int64_t rank) const {
  const std::vector<int64_t> *subset = getSubset(mask);
  return !subset ||
         llvm::is_contained(*subset, getCoordinate(rank, getOnlyAxis(mask)));
}

int64_t RankSpace::getGroupSize(AxisMask mask) const {
  if (const std::vector<int64_t> *subset = getSubset(mask))
    return subset->size();
  int64_t size = 1;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (mask >> i & 1)
      size *= axis.size;
  return size;
}

int64_t RankSpace::getGroupIndex(AxisMask mask, int64_t rank) const {
  int64_t index = 0, weight = 1;
  for (unsigned i = 0, e = axes.size(); i < e; ++i) {
    if (mask >> i & 1)
      continue;
    index += getCoordinate(rank, i) * weight;
    weight *= axes[i].size;
  }
  return index;
}

std::vector<int64_t> RankSpace::getMembers(AxisMask mask, int64_t index) const {
  int64_t first = 0;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (mask >> i & 1)
      continue;
    first += index % axis.size * axis.stride;
    index /= axis.size;
  }
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

//===----------------------------------------------------------------------===//
// RankClass
//===----------------------------------------------------------------------===//

FailureOr<RankClass> RankClass::get(GraphOp graph, const RankSpace &space) {
  RankClass ranks;
  for (auto [i, axis] : llvm::enumerate(space.getAxes())) {
    std::optional<int64_t> coordinate = graph.getCoordinate(axis.name);
    if (!coordinate) {
      ranks.freeAxes.push_back({axis.size, axis.stride});
      ranks.numRanks *= axis.size;
      continue;
    }
    if (*coordinate >= axis.size)
      return emitShortOpError(graph)
             << "has coordinate " << *coordinate << " on axis '" << axis.name
             << "', which has size " << axis.size;
    ranks.base += *coordinate * axis.stride;
    ranks.fixedAxes |= AxisMask(1) << i;
  }
  return ranks;
}

int64_t RankClass::operator[](int64_t position) const {
  int64_t rank = base;
  for (auto [size, stride] : freeAxes) {
    rank += position % size * stride;
    position /= size;
  }
  return rank;
}

//===----------------------------------------------------------------------===//
// GroupTable
//===----------------------------------------------------------------------===//

GroupTable::MaskGroups *GroupTable::find(AxisMask mask) {
  auto it =
      llvm::lower_bound(masks, mask, [](const MaskGroups &lhs, AxisMask m) {
        return lhs.mask < m;
      });
  if (it == masks.end() || it->mask != mask)
    it = masks.insert(
        it, {mask, std::vector<uint32_t>(space->getNumGroups(mask), 0)});
  return &*it;
}

void GroupTable::use(AxisMask mask, const RankClass &ranks) {
  std::vector<uint32_t> &ids = find(mask)->ids;
  for (int64_t i = 0, e = ranks.size(); i < e; ++i)
    if (space->isMember(mask, ranks[i]))
      ids[space->getGroupIndex(mask, ranks[i])] = 1;
}

void GroupTable::number() {
  numGroups = 0;
  for (MaskGroups &groups : masks)
    for (uint32_t &id : groups.ids)
      if (id)
        id = ++numGroups;
}

uint32_t GroupTable::getId(AxisMask mask, int64_t rank) const {
  const MaskGroups *groups = const_cast<GroupTable *>(this)->find(mask);
  return groups->ids[space->getGroupIndex(mask, rank)];
}

void GroupTable::forEach(
    function_ref<void(uint32_t, AxisMask, ArrayRef<int64_t>)> callback) const {
  for (const MaskGroups &groups : masks)
    for (auto [index, id] : llvm::enumerate(groups.ids))
      if (id)
        callback(id, groups.mask, space->getMembers(groups.mask, index));
}
