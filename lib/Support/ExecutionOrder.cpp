//===- ExecutionOrder.cpp - Which step when, and in which turn ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/ExecutionOrder.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace stg;

/// How far ahead and how often an entry is looked for to be there again: bounds
/// what an entry costs. With virtual stages, what comes again is as long as all
/// of them together, with their messages.
static constexpr size_t kLongestPeriod = 4096;
static constexpr unsigned kMostPeriods = 8;

/// The number of entries from the first on that come again after `period`, with
/// turns that move on evenly.
static size_t getExtent(ArrayRef<OrderEntry> entries, size_t period) {
  auto getStride = [&](size_t i) {
    return int64_t(entries[i].turn) - int64_t(entries[i - period].turn);
  };
  size_t i = period;
  for (; i < entries.size(); ++i) {
    if (entries[i].step != entries[i - period].step ||
        entries[i].isBeside != entries[i - period].isBeside)
      break;
    if (i >= 2 * period ? getStride(i) != getStride(i - period)
                        : !isInt<31>(getStride(i)))
      break;
  }
  return i;
}

/// The period with which most entries are covered; 0 if there is none. `next`
/// has the distances from each entry to the next one of its step.
static size_t findPeriod(ArrayRef<OrderEntry> entries, ArrayRef<uint32_t> next,
                         uint32_t &times) {
  size_t best = 0, bestCovered = 0, period = 0;
  const size_t last = std::min(kLongestPeriod, entries.size() / 2);
  for (unsigned tried = 0; tried < kMostPeriods; ++tried) {
    if (next[period] == 0 || next[period] > last - period)
      break;
    period += next[period];
    size_t count = getExtent(entries, period) / period;
    // What is side by side stays in one run.
    while (count > 1 && period * count < entries.size() &&
           entries[period * count].isBeside)
      --count;
    if (count < 2 || (count - 1) * period <= bestCovered)
      continue;
    best = period;
    bestCovered = (count - 1) * period;
    times = count;
  }
  return best;
}

/// By entry, how far it is to the next one of the same step; 0 at the last one.
static std::vector<uint32_t> getDistances(ArrayRef<OrderEntry> entries) {
  std::vector<uint32_t> distances(entries.size());
  DenseMap<uint32_t, size_t> last; // By step.
  for (size_t i = entries.size(); i-- > 0;) {
    auto [it, isNew] = last.try_emplace(entries[i].step, i);
    if (!isNew)
      distances[i] = static_cast<uint32_t>(std::exchange(it->second, i) - i);
  }
  return distances;
}

ExecutionOrder ExecutionOrder::compress(ArrayRef<OrderEntry> entries) {
  ExecutionOrder order;
  const std::vector<uint32_t> distances = getDistances(entries);
  bool isOpen = false; // The last run is of entries that come once.
  while (!entries.empty()) {
    uint32_t times = 1;
    size_t period =
        entries[0].isBeside
            ? 0
            : findPeriod(entries, ArrayRef(distances).take_back(entries.size()),
                         times);
    if (period == 0) {
      if (!isOpen)
        order.runs.push_back({1, {}});
      order.runs.back().items.push_back(
          {entries[0].step, entries[0].turn, 0, entries[0].isBeside});
      isOpen = true;
      entries = entries.drop_front();
      continue;
    }
    isOpen = false;
    Run &run = order.runs.emplace_back(Run{times, {}});
    for (size_t i = 0; i < period; ++i)
      run.items.push_back(
          {entries[i].step, entries[i].turn,
           static_cast<int32_t>(entries[i + period].turn - entries[i].turn),
           entries[i].isBeside});
    entries = entries.drop_front(period * times);
  }
  return order;
}

std::vector<OrderEntry> ExecutionOrder::expand() const {
  std::vector<OrderEntry> entries;
  entries.reserve(size());
  forEach([&](OrderEntry entry) { entries.push_back(entry); });
  return entries;
}

uint64_t ExecutionOrder::size() const {
  uint64_t size = 0;
  for (const Run &run : runs)
    size = SaturatingMultiplyAdd<uint64_t>(run.times, run.items.size(), size);
  return size;
}

bool ExecutionOrder::hasPairs() const {
  return llvm::any_of(runs, [](const Run &run) {
    return llvm::any_of(run.items,
                        [](const Item &item) { return item.isBeside; });
  });
}

SmallVector<int64_t> ExecutionOrder::flatten() const {
  SmallVector<int64_t> numbers;
  for (const Run &run : runs) {
    numbers.push_back(run.times);
    numbers.push_back(run.items.size());
    for (const Item &item : run.items)
      numbers.append({item.step + (item.isBeside ? kBeside : 0),
                      int64_t(item.turn), item.stride});
  }
  return numbers;
}

/// True if all turns of the item are numbers of 31 bits.
static bool hasTurns(const ExecutionOrder::Item &item, uint32_t times) {
  int64_t last = item.turn + int64_t(item.stride) * (int64_t(times) - 1);
  return item.turn <= INT32_MAX && last >= 0 && last <= INT32_MAX;
}

bool ExecutionOrder::unflatten(ArrayRef<int64_t> numbers,
                               ExecutionOrder &order) {
  while (!numbers.empty()) {
    if (numbers.size() < 2 || numbers[0] < 1 || numbers[0] > INT32_MAX ||
        numbers[1] < 1 || uint64_t(numbers[1]) > numbers.size() / 3)
      return false;
    size_t count = numbers[1];
    Run &run = order.runs.emplace_back();
    run.times = numbers[0];
    numbers = numbers.drop_front(2);
    if (numbers.size() < 3 * count)
      return false;
    for (; count > 0; --count, numbers = numbers.drop_front(3)) {
      const bool isBeside = numbers[0] >= kBeside;
      const int64_t step = numbers[0] - (isBeside ? kBeside : 0);
      if (!isUInt<31>(step) || !isUInt<31>(numbers[1]) ||
          !isInt<32>(numbers[2]) ||
          (isBeside && (run.items.empty() || run.items.back().isBeside)))
        return false;
      run.items.push_back({static_cast<uint32_t>(step),
                           static_cast<uint32_t>(numbers[1]),
                           static_cast<int32_t>(numbers[2]), isBeside});
      if (!hasTurns(run.items.back(), run.times))
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// TurnRanges
//===----------------------------------------------------------------------===//

/// Ascending, each once, of numbers that are at most `largest`.
static void sortUnique(std::vector<uint32_t> &numbers, uint32_t largest) {
  if (numbers.size() < largest) {
    llvm::sort(numbers);
    numbers.erase(llvm::unique(numbers), numbers.end());
    return;
  }
  BitVector isThere(size_t(largest) + 1);
  for (uint32_t number : numbers)
    isThere.set(number);
  numbers.assign(isThere.set_bits_begin(), isThere.set_bits_end());
}

TurnRanges::TurnRanges(const ExecutionOrder &order, uint32_t numSteps,
                       uint32_t numTurns, ArrayRef<uint32_t> alone) {
  addPieces(order);
  begins = {0, numTurns};
  for (const Piece &piece : pieces)
    begins.insert(begins.end(), {piece.low, piece.high + 1});
  for (uint32_t turn : alone)
    begins.insert(begins.end(), {turn, turn + 1});
  sortUnique(begins, numTurns);
  places.resize(numSteps * size());
  for (const Piece &piece : pieces)
    enter(piece);
}

/// Turns that are further apart than one are pieces of their own.
void TurnRanges::addPieces(const ExecutionOrder &order) {
  int64_t place = 0;
  for (const ExecutionOrder::Run &run : order.runs) {
    auto length = static_cast<int64_t>(run.items.size());
    int64_t more = int64_t(run.times) - 1;
    for (const ExecutionOrder::Item &item : run.items) {
      auto last = static_cast<uint32_t>(item.turn + item.stride * more);
      if (item.stride == 1 || more == 0)
        pieces.push_back({item.step, item.turn, last, place, length});
      else if (item.stride == -1)
        pieces.push_back(
            {item.step, last, item.turn, place + length * more, -length});
      else
        for (int64_t i = 0; i <= more; ++i) {
          uint32_t turn = ExecutionOrder::getEntry(item, i).turn;
          pieces.push_back({item.step, turn, turn, place + length * i, 0});
        }
      ++place;
    }
    place += length * more;
  }
}

void TurnRanges::enter(const Piece &piece) {
  size_t range = llvm::lower_bound(begins, piece.low) - begins.begin();
  for (; range < size() && begins[range] <= piece.high; ++range) {
    Places &own = places[piece.step * size() + range];
    if (own.areThere() && !repeated)
      repeated = {piece.step, getFirstTurn(range)};
    auto getPlace = [&](uint32_t turn) {
      return piece.place + piece.slope * int64_t(turn - piece.low);
    };
    own = {getPlace(getFirstTurn(range)), getPlace(getLastTurn(range))};
  }
}
