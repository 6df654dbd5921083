//===- RankSpace.h - The ranks of a mesh and their groups -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on rank numbers: the coordinates of a rank, the ranks of a class,
// and the communication group of a rank. Nothing here searches or compares
// ranks; everything is computed from the sizes of the axes.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TARGET_CHAKRATRACE_RANKSPACE_H
#define STG_TARGET_CHAKRATRACE_RANKSPACE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stg::chakra {

/// A set of axes: bit i stands for axis i of the mesh.
using AxisMask = uint64_t;
/// The low bits of a mask are axes; the bits above number, from 1, a subset of
/// the coordinates of its only axis (`RankSpace::restrict`).
constexpr unsigned kMaxAxes = 48;
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
  /// Emits an error at `graph` if a size is no number, or the mesh cannot be
  /// created.
  static mlir::FailureOr<RankSpace> get(GraphOp graph);

  int64_t getNumRanks() const { return numRanks; }
  llvm::ArrayRef<Axis> getAxes() const { return axes; }
  int64_t getCoordinate(int64_t rank, unsigned axis) const {
    return rank / axes[axis].stride % axes[axis].size;
  }
  /// The coordinates of a rank for people: `tp=1, dp=0`.
  std::string describe(int64_t rank) const;

  /// The axes of these names that have more than one rank. The names exist.
  AxisMask getMask(mlir::ArrayAttr names) const;
  llvm::SmallVector<std::string> getNames(AxisMask mask) const;

  /// The mask for the ranks of a group over one axis that have one of these
  /// coordinates. The same mask for the same coordinates.
  AxisMask restrict(AxisMask mask, llvm::ArrayRef<int64_t> coordinates);
  /// True if the rank is in a group over the mask: always, but for subsets.
  bool isMember(AxisMask mask, int64_t rank) const;
  /// The rank `shift` further along an axis, with wrap-around.
  int64_t getNeighbour(int64_t rank, unsigned axis, int64_t shift) const {
    int64_t size = axes[axis].size, own = getCoordinate(rank, axis);
    int64_t other = ((own + shift) % size + size) % size;
    return rank + (other - own) * axes[axis].stride;
  }
  std::optional<unsigned> findAxis(llvm::StringRef name) const;

  int64_t getGroupSize(AxisMask mask) const;
  int64_t getNumGroups(AxisMask mask) const {
    return numRanks / getGroupSize(mask & kAxesOfMask);
  }
  /// The number of the group of `rank` over `mask`, from 0; groups are numbered
  /// by their first rank.
  int64_t getGroupIndex(AxisMask mask, int64_t rank) const;
  /// The members of group `index`, ascending.
  std::vector<int64_t> getMembers(AxisMask mask, int64_t index) const;

private:
  const std::vector<int64_t> *getSubset(AxisMask mask) const {
    return mask >> kMaxAxes ? &subsets[(mask >> kMaxAxes) - 1] : nullptr;
  }

  std::vector<Axis> axes;
  std::vector<std::vector<int64_t>> subsets;
  int64_t numRanks = 1;
};

/// The ranks that execute one graph: those with certain coordinates.
class RankClass {
public:
  /// The coordinates of `graph` are known to exist in `space`; emits an error
  /// if one lies outside.
  static mlir::FailureOr<RankClass> get(GraphOp graph, const RankSpace &space);

  int64_t size() const { return numRanks; }
  /// The rank at `position`, ascending in it.
  int64_t operator[](int64_t position) const;
  /// The axes on which all members have the same coordinate by definition.
  AxisMask getFixedAxes() const { return fixedAxes; }

private:
  /// The axes that are free, as (size, stride).
  llvm::SmallVector<std::pair<int64_t, int64_t>> freeAxes;
  int64_t base = 0;
  int64_t numRanks = 1;
  AxisMask fixedAxes = 0;
};

/// Ids of the communication groups that are used, from 1, dense.
class GroupTable {
public:
  explicit GroupTable(const RankSpace &space) : space(&space) {}

  /// Marks the groups over `mask` that have members in `ranks` as used. Masks
  /// are added in any order; `number` gives the ids.
  void use(AxisMask mask, const RankClass &ranks);
  /// Numbers the groups: by mask, then by first rank.
  void number();

  /// The id of the group of `rank`. The group is in use.
  uint32_t getId(AxisMask mask, int64_t rank) const;
  uint32_t getNumGroups() const { return numGroups; }
  /// Calls `callback` for every group in use in the order of ids.
  void forEach(llvm::function_ref<void(uint32_t id, AxisMask mask,
                                       llvm::ArrayRef<int64_t> members)>
                   callback) const;

private:
  struct MaskGroups {
    AxisMask mask;
    std::vector<uint32_t> ids; ///< By group index; 0: not in use.
  };
  MaskGroups *find(AxisMask mask);

  const RankSpace *space;
  std::vector<MaskGroups> masks; ///< Sorted by mask.
  uint32_t numGroups = 0;
};

} // namespace stg::chakra

#endif // STG_TARGET_CHAKRATRACE_RANKSPACE_H
