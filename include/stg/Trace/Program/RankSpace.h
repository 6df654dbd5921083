//===- RankSpace.h - The ranks of a mesh and their groups -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on rank numbers: the coordinates of a rank, the ranks of a class,
// the class of a rank, and its communication groups. Nothing here searches or
// lists ranks; everything is computed from the sizes of the axes, so that a
// million ranks cost what a hundred do.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_PROGRAM_RANKSPACE_H
#define STG_TRACE_PROGRAM_RANKSPACE_H

#include "stg/Trace/Reader/RankSet.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stg::trace {

/// A set of axes: bit i stands for axis i of the mesh.
using AxisMask = uint64_t;
/// The low bits of a mask are axes; the bits above number, from 1, a subset of
/// the coordinates of its only axis (`RankSpace::restrict`).
constexpr unsigned kMaxAxes = 48;
constexpr unsigned kMaxSubsets = (1u << (64 - kMaxAxes)) - 1;
constexpr AxisMask kAxesOfMask = (AxisMask(1) << kMaxAxes) - 1;

/// The ranks of a mesh whose sizes are numbers. Ranks are numbered with the
/// first axis fastest: with axes tp = 8, dp = 4, rank = tp + 8 * dp.
class RankSpace {
public:
  struct Axis {
    std::string name;
    int64_t size;
    int64_t stride; ///< Distance of ranks that are neighbours on this axis.
  };

  /// Fails if an axis has no rank, or the mesh is too large for the 31 bits
  /// that consumers have for a rank.
  static std::optional<RankSpace>
  create(llvm::ArrayRef<std::pair<std::string, int64_t>> axes);

  int64_t getNumRanks() const { return numRanks; }
  llvm::ArrayRef<Axis> getAxes() const { return axes; }
  int64_t getCoordinate(int64_t rank, unsigned axis) const {
    return rank / axes[axis].stride % axes[axis].size;
  }
  /// The coordinates of a rank for people: `tp=1, dp=0`.
  std::string describe(int64_t rank) const;

  std::optional<unsigned> findAxis(llvm::StringRef name) const;
  llvm::SmallVector<std::string> getNames(AxisMask mask) const;

  /// The mask for the ranks of a group over one axis that have one of these
  /// coordinates. The same mask for the same coordinates; at most kMaxSubsets
  /// different ones.
  AxisMask restrict(AxisMask mask, llvm::ArrayRef<int64_t> coordinates);
  /// True if the rank is in a group over the mask: always, but for subsets.
  bool isMember(AxisMask mask, int64_t rank) const;
  /// The subsets that masks refer to, each ascending.
  llvm::ArrayRef<std::vector<int64_t>> getSubsets() const { return subsets; }

  /// The rank `shift` further along an axis, with wrap-around.
  int64_t getNeighbour(int64_t rank, unsigned axis, int64_t shift) const {
    int64_t size = axes[axis].size, own = getCoordinate(rank, axis);
    int64_t other = ((own + shift) % size + size) % size;
    return rank + (other - own) * axes[axis].stride;
  }

  /// Moves ranks as far along each axis, with wrap-around, as `to` is from
  /// `from`.
  void translate(llvm::MutableArrayRef<int64_t> ranks, int64_t from,
                 int64_t to) const;

  /// The number of ranks in a group over `mask`.
  int64_t getGroupSize(AxisMask mask) const;
  /// The members of the group of `rank` over `mask`, ascending. The rank
  /// itself is not among them if it is not in the mask's subset.
  std::vector<int64_t> getMembers(AxisMask mask, int64_t rank) const;

  /// The number of positions on the axes in `axes`, and the position of `rank`
  /// among them, the first axis fastest.
  int64_t getNumPositions(AxisMask axes) const;
  int64_t getPosition(AxisMask axes, int64_t rank) const;
  /// The reverse: the first rank at a position.
  int64_t getRank(AxisMask axes, int64_t position) const;

  AxisMask getAllAxes() const { return (AxisMask(1) << axes.size()) - 1; }

private:
  const std::vector<int64_t> *getSubset(AxisMask mask) const {
    return mask >> kMaxAxes ? &subsets[(mask >> kMaxAxes) - 1] : nullptr;
  }

  std::vector<Axis> axes;
  std::vector<std::vector<int64_t>> subsets;
  int64_t numRanks = 1;
};

/// The ranks that have certain coordinates on certain axes.
class RankClass {
public:
  struct Coordinate {
    unsigned axis;
    int64_t value;
  };
  /// The coordinates exist in `space`; each axis is given at most once.
  RankClass(const RankSpace &space, llvm::ArrayRef<Coordinate> coordinates);

  int64_t size() const { return numRanks; }
  /// The rank at `position`, ascending in it.
  int64_t operator[](int64_t position) const;
  /// The number of ranks that are less than `rank`.
  int64_t countBelow(int64_t rank) const;
  llvm::ArrayRef<Coordinate> getCoordinates() const { return coordinates; }
  /// The ranks, ascending or not.
  RankSet::Block getBlock() const;
  /// True if all of the ranks are in a group over `mask`.
  bool isWithin(AxisMask mask, const RankSpace &space) const;
  /// The axes that have a coordinate.
  AxisMask getFixedAxes() const { return fixedAxes; }

private:
  llvm::SmallVector<Coordinate, 2> coordinates;
  /// The axes that are free, as (size, stride).
  llvm::SmallVector<std::pair<int64_t, int64_t>> freeAxes;
  int64_t base = 0;
  int64_t numRanks = 1;
  AxisMask fixedAxes = 0;
};

/// Which class each rank belongs to. The ranks that have the same coordinates
/// on the axes that any class fixes are a *cell*; they are of one class.
class RankPartition {
public:
  /// Why classes are no partition.
  struct Conflict {
    int64_t rank; ///< Of no class, or of two.
    std::optional<uint32_t> first, second;
  };
  /// Fails if a rank is not in exactly one class, and says which.
  static std::optional<RankPartition>
  create(const RankSpace &space, llvm::ArrayRef<const RankClass *> classes,
         Conflict &conflict);

  /// The axes that any class fixes.
  AxisMask getAxes() const { return axes; }
  int64_t getNumCells() const { return classes.size(); }
  /// The first rank of a cell.
  int64_t getFirstRank(int64_t cell) const {
    return space->getRank(axes, cell);
  }
  uint32_t getClassOfCell(int64_t cell) const { return classes[cell]; }
  uint32_t getClass(int64_t rank) const {
    return classes[space->getPosition(axes, rank)];
  }

private:
  explicit RankPartition(const RankSpace &space) : space(&space) {}

  const RankSpace *space;
  AxisMask axes = 0;
  std::vector<uint32_t> classes; ///< By cell.
};

/// Ids of the communication groups that are used, from 1, dense. They are
/// numbered by mask; then by the coordinates on the axes of the partition that
/// are not the mask's; then by the coordinates on all other axes that are not.
class GroupTable {
public:
  /// What class i communicates over is masksOfClass[i].
  GroupTable(const RankSpace &space, const RankPartition &partition,
             llvm::ArrayRef<llvm::SmallVector<AxisMask>> masksOfClass);

  /// The id of the group of `rank` over `mask`, which its class uses.
  int64_t getId(AxisMask mask, int64_t rank) const;
  int64_t getNumGroups() const { return numGroups; }
  /// A group as a mask and one of its members (or, where the mask has a subset,
  /// a rank that only differs in the coordinate on its axis).
  std::pair<AxisMask, int64_t> getGroup(int64_t id) const;
  /// Calls `callback` for every group in the order of ids.
  void
  forEach(llvm::function_ref<void(int64_t id, llvm::ArrayRef<int64_t> members)>
              callback) const;

private:
  struct Kind {
    AxisMask mask;
    AxisMask blockAxes, freeAxes;
    /// The blocks (positions on blockAxes) that have a rank of a class that
    /// uses the mask, ascending.
    std::vector<int64_t> blocks;
    int64_t groupsInBlock;
    int64_t firstId;
  };
  const Kind &find(AxisMask mask) const;

  const RankSpace *space;
  std::vector<Kind> kinds; ///< Ascending by mask.
  int64_t numGroups = 0;
};

} // namespace stg::trace

#endif // STG_TRACE_PROGRAM_RANKSPACE_H
