//===- RankSet.h - Ranks without a list of them -----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_RANKSET_H
#define STG_TRACE_READER_RANKSET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace stg::trace {

/// A set of ranks as few regular blocks: the ranks of a class, or of a group,
/// of a mesh are one, however many they are.
class RankSet {
public:
  /// `count` times what comes before, each time `stride` further.
  struct Dimension {
    int64_t count, stride;

    bool operator==(const Dimension &other) const {
      return count == other.count && stride == other.stride;
    }
  };
  /// The ranks first + i0 * stride0 + i1 * stride1 + ..., ik < countk. Strides
  /// ascend.
  struct Block {
    int64_t first;
    llvm::SmallVector<Dimension, 2> dimensions;

    int64_t size() const;
  };

  RankSet() = default;
  /// `ranks` ascend.
  explicit RankSet(llvm::ArrayRef<int64_t> ranks);

  /// The ranks of the block are none of the set.
  void add(Block block);
  /// Makes few blocks of many. To be called before what follows.
  void finish();

  int64_t size() const;
  llvm::ArrayRef<Block> getBlocks() const { return blocks; }

  /// "0-3,8", or "0-7 (64 times, every 16)" where that is many ranges; at most
  /// some hundred bytes.
  std::string format() const;
  /// Writes an array of {"first": n, "dimensions": [{"count", "stride"}, ...]}.
  void write(llvm::json::OStream &json) const;

private:
  std::vector<Block> blocks;
};

/// Members of a group in short form, as RankSet::format() has it. Order and
/// repetition are kept, so that {1, 0} gives "1,0".
std::string formatRanks(llvm::ArrayRef<int64_t> ranks);

} // namespace stg::trace

#endif // STG_TRACE_READER_RANKSET_H
