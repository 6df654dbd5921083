//===- ExecutionOrder.h - Which step when, and in which turn ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which a pipeline device executes the steps of all micro-batches,
// as runs: what comes again and again, with turns that move on evenly, is there
// once. So the steady part of a schedule is one run, however many micro-batches
// it has.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_EXECUTIONORDER_H
#define STG_SUPPORT_EXECUTIONORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace stg {

/// The execution of one step in one turn.
struct OrderEntry {
  uint32_t step;
  uint32_t turn;
  /// Side by side with the entry before it, by turns; that one begins.
  bool isBeside = false;

  bool operator==(const OrderEntry &other) const {
    return step == other.step && turn == other.turn &&
           isBeside == other.isBeside;
  }
};

/// True if what follows in a list is side by side with number i: of entries,
/// of items, or of actions of a pipeline.
template <typename List> bool isNextBeside(const List &list, size_t i) {
  return i + 1 < list.size() && list[i + 1].isBeside;
}

class ExecutionOrder {
public:
  /// An entry whose turn moves on by `stride` each time.
  struct Item {
    uint32_t step;
    uint32_t turn;
    int32_t stride;
    bool isBeside = false;
  };
  /// All items, so many times. The first one is beside none.
  struct Run {
    uint32_t times;
    llvm::SmallVector<Item, 4> items;
  };

  std::vector<Run> runs;

  /// Finds what comes again and again. Takes time in proportion to the entries.
  static ExecutionOrder compress(llvm::ArrayRef<OrderEntry> entries);

  /// Calls `visit(entry)` for all entries in order.
  template <typename Fn> void forEach(Fn visit) const {
    for (const Run &run : runs)
      for (uint32_t i = 0; i < run.times; ++i)
        for (const Item &item : run.items)
          visit(getEntry(item, i));
  }
  /// The entry of an item when it is there for the i-th time.
  static OrderEntry getEntry(const Item &item, uint32_t i) {
    return {item.step,
            static_cast<uint32_t>(item.turn + int64_t(item.stride) * i),
            item.isBeside};
  }
  std::vector<OrderEntry> expand() const;
  /// The number of entries, or UINT64_MAX if it is larger.
  uint64_t size() const;
  /// True if entries are side by side.
  bool hasPairs() const;

  /// What is added to the step of an item that is beside another one.
  static constexpr int64_t kBeside = int64_t(1) << 31;
  /// As numbers: of each run how often and how many items, then of each item
  /// step, turn and stride.
  llvm::SmallVector<int64_t> flatten() const;
  /// False if these are not the numbers of an order whose steps and turns have
  /// 31 bits, and in which at most two entries are side by side.
  static bool unflatten(llvm::ArrayRef<int64_t> numbers, ExecutionOrder &order);
};

/// The turns of an order in ranges: in all turns of one the same steps are
/// executed, at places of the order that move on evenly. So what holds for the
/// first and the last turn of a range holds for those between.
class TurnRanges {
public:
  /// Numbers of steps and turns in the order are less than `numSteps` and
  /// `numTurns`. Each of the turns `alone` is a range of its own.
  TurnRanges(const ExecutionOrder &order, uint32_t numSteps, uint32_t numTurns,
             llvm::ArrayRef<uint32_t> alone = {});

  /// Where a step is executed in the first and in the last turn of a range.
  struct Places {
    int64_t first = -1, last = -1;
    bool areThere() const { return first >= 0; }
  };

  size_t size() const { return begins.size() - 1; }
  uint32_t getFirstTurn(size_t range) const { return begins[range]; }
  uint32_t getLastTurn(size_t range) const { return begins[range + 1] - 1; }
  Places get(uint32_t step, size_t range) const {
    return places[step * size() + range];
  }
  /// A step that is executed more than once in a turn, if there is one. Places
  /// are then those of one of the times.
  std::optional<OrderEntry> getRepeated() const { return repeated; }

private:
  /// A step in all turns from `low` to `high`, evenly.
  struct Piece {
    uint32_t step, low, high;
    int64_t place, slope; ///< Of turn `low`; from turn to turn.
  };
  void addPieces(const ExecutionOrder &order);
  void enter(const Piece &piece);

  std::vector<Piece> pieces;
  std::vector<uint32_t> begins; ///< The number of turns at the end.
  std::vector<Places> places;   ///< By step and range.
  std::optional<OrderEntry> repeated;
};

} // namespace stg

#endif // STG_SUPPORT_EXECUTIONORDER_H
