//===- KernelTimes.cpp - How long a kernel takes on a machine -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/KernelTimes.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace stg;

namespace {
struct Tile {
  int64_t m, n;
  unsigned rate; ///< Index into ProductRates::tiles.
};
} // namespace

static constexpr Tile kTiles[] = {{256, 128, 0}, {128, 256, 0}, {128, 128, 1},
                                  {128, 64, 2},  {64, 128, 2},  {64, 64, 3}};
/// Products with a smaller part of K are not split.
static constexpr int64_t kLeastK = 256;
/// Queries, and keys, of a block of fused attention.
static constexpr int64_t kBlock = 128;
/// Operations of backward over those of forward: five products for two.
static constexpr double kBackward = 2.5;
/// Elements that rows of operands are multiples of where loads are whole.
static constexpr int64_t kAlignment = 8;

//===----------------------------------------------------------------------===//
// Numbers of the machine
//===----------------------------------------------------------------------===//

void KernelTimes::readRates(const Machine &machine, StringRef elementType) {
  ProductRates result;
  result.peak = *machine.get(("device.peak." + elementType).str());
  // A type that nobody measured is as good as one that stands for others.
  std::string prefix = ("device.product." + elementType + ".").str();
  auto it = machine.getQuantities().lower_bound(prefix);
  if (it == machine.getQuantities().end() ||
      !StringRef(it->first).starts_with(prefix))
    prefix = ("device.product." + reference->name + ".").str();
  auto read = [&](StringRef member, double missing) {
    return machine.get(prefix + member.str()).value_or(missing);
  };
  double rate = 1;
  constexpr StringLiteral members[] = {"rate", "tile_16384", "tile_8192",
                                       "tile_4096"};
  for (auto [member, tile] : llvm::zip_equal(members, result.tiles))
    tile = rate *= read(member, 1);
  result.prologue = read("prologue", 0);
  result.fixed = read("fixed", 0);
  result.ceiling = read("ceiling", 1);
  result.bandwidth =
      *machine.get("device.memory.bandwidth") * read("memory_share", 1);
  rates[elementType] = result;
}

Expected<KernelTimes> KernelTimes::get(const Machine &machine,
                                       StringRef attentionKernel,
                                       StringRef scanKernels) {
  KernelTimes times;
  times.reference = &machine.getReferenceType();
  constexpr StringLiteral peak = "device.peak.";
  for (const auto &[key, quantity] : machine.getQuantities())
    if (StringRef(key).starts_with(peak))
      times.readRates(machine, StringRef(key).drop_front(peak.size()));
  times.cores = machine.get("device.cores").value_or(1);
  times.sustained = machine.get("device.sustained").value_or(1);
  times.unaligned = machine.get("device.unaligned").value_or(1);
  times.fixed = machine.get("device.kernel.fixed").value_or(0);
  times.bandwidth = *machine.get("device.memory.bandwidth") *
                    machine.get("device.kernel.memory_share").value_or(1);
  // A machine may not know this version of the kernel, or have another one:
  // what it has for fused attention is called flash.
  std::string prefix;
  std::optional<double> rate;
  for (StringRef kernel :
       {attentionKernel, attentionKernel.rsplit('-').first, StringRef("flash")})
    if (!rate) {
      prefix = ("device.attention." + kernel + ".").str();
      rate = machine.get(prefix + "rate");
    }
  if (!rate)
    return createStringError(
        "machine '" + machine.getFile() + "' has no attention kernel '" +
        shortenText(attentionKernel) + "', and no 'flash' in its place");
  const double softmax = machine.get(prefix + "softmax").value_or(0);
  times.attention = {
      *rate,
      machine.get(prefix + "block_overhead").value_or(0),
      machine.get(prefix + "fixed").value_or(0),
      machine.get(prefix + "backward").value_or(1),
      softmax,
      machine.get(prefix + "softmax_backward").value_or(softmax)};
  prefix = ("device.scan." + scanKernels + ".").str();
  if (std::optional<double> scanRate = machine.get(prefix + "rate"))
    times.scan = {*scanRate, machine.get(prefix + "backward").value_or(1),
                  machine.get(prefix + "step").value_or(0),
                  machine.get(prefix + "fixed").value_or(0)};
  return times;
}

const ProductRates *KernelTimes::findRates(StringRef elementType) const {
  auto it = rates.find(elementType);
  return it == rates.end() ? nullptr : &it->second;
}

ProductRates KernelTimes::getOtherRates(double bytes) const {
  ProductRates result = *findRates(reference->name);
  result.peak *= std::min(1., reference->bytes / bytes);
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// left = batch m k, right = batch k n, result = batch m n and operations =
/// 2 batch m n k, solved for each.
std::optional<ProductShape> stg::deriveProduct(int64_t operations, int64_t left,
                                               int64_t right, int64_t result) {
  if (operations <= 0 || operations % 2 != 0 || left <= 0 || right <= 0 ||
      result <= 0)
    return std::nullopt;
  double a = left, b = right, c = result, products = operations / 2;
  ProductShape shape;
  shape.batch = std::llround(a / products * b / products * c);
  shape.m = std::llround(products / b);
  shape.n = std::llround(products / a);
  shape.k = std::llround(products / c);
  bool fits = shape.batch > 0 && shape.m > 0 && shape.n > 0 && shape.k > 0 &&
              shape.batch * shape.m * shape.k == left &&
              shape.batch * shape.k * shape.n == right &&
              shape.batch * shape.m * shape.n == result;
  return fits ? std::optional(shape) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

double KernelTimes::getProduct(const ProductRates &rates,
                               const ProductShape &shape) const {
  const double perCore = rates.peak / cores;
  double best = std::numeric_limits<double>::infinity();
  for (const Tile &tile : kTiles) {
    double tiles = double(divideCeil(shape.m, tile.m)) *
                   divideCeil(shape.n, tile.n) * shape.batch;
    double perElement =
        2. * tile.m * tile.n / (perCore * rates.tiles[tile.rate]);
    for (int64_t split : {1, 2, 4, 8}) {
      if (split > 1 && (tiles * split > 2 * cores || shape.k / split < kLeastK))
        break;
      double waves = std::ceil(tiles * split / cores);
      double time =
          waves * perElement * (double(shape.k) / split + rates.prologue);
      // Parts are added in f32, by a kernel of their own.
      if (split > 1)
        time += 8. * shape.m * shape.n * shape.batch / rates.bandwidth + 1e-6;
      best = std::min(best, time);
    }
  }
  double power = shape.getOperations() / (rates.peak * rates.ceiling);
  double math = std::max(best, power) / sustained;
  // Rows of operands and results have n or k elements, whatever m is.
  if (shape.n % kAlignment || shape.k % kAlignment)
    math /= unaligned;
  double left = double(shape.m) * shape.k, results = double(shape.m) * shape.n;
  double right = double(shape.k) * shape.n;
  double bytes =
      shape.batch * (left * shape.operandBytes + results * shape.resultBytes);
  bytes += shape.rightBytes ? double(*shape.rightBytes)
                            : shape.batch * right * shape.operandBytes;
  return rates.fixed +
         std::max(math, shape.bytes.value_or(bytes) / rates.bandwidth);
}

double KernelTimes::getOperations(const ProductRates &rates,
                                  double operations) const {
  return operations /
         (rates.peak * std::min(rates.tiles[0], rates.ceiling) * sustained);
}

/// Backward makes the states again, and then goes from the last chunk to the
/// first.
double KernelTimes::getScan(const ProductRates &rates, double operations,
                            int64_t chunks, bool isBackward) const {
  if (!scan)
    return fixed + getOperations(rates, operations);
  double work = operations / (rates.peak * scan->rate * sustained) *
                (isBackward ? scan->backward : 1);
  double chain = double(chunks) * scan->step * (isBackward ? 2 : 1);
  return scan->fixed + std::max(work, chain);
}

namespace {
/// What blocks of queries of some sequences do, in blocks of keys.
struct AttentionWork {
  double blocks = 0; ///< Of queries, in all sequences and heads.
  double all = 0;    ///< Of all blocks.
  /// Of the longest block: keys of the new tokens, and of those before them.
  double fresh = 0, cached = 0;

  /// Of that block, where a core has so much to do. Keys before the new tokens
  /// are divided over cores that would have nothing to do, each sequence's by
  /// itself; a part has a block of them at least.
  double getLongest(double share) const {
    return fresh + std::clamp(share - fresh, std::min(cached, 1.), cached);
  }
};
} // namespace

static AttentionWork getWork(const AttentionShape &shape,
                             const AttentionShape::Sequences &sequences) {
  double blocks = double(divideCeil(sequences.queries, kBlock));
  // Under a causal mask the last query sees twice as many keys as it is on
  // average, and all of them; in a window, or a chunk, it does not see all.
  double keys =
      std::min(sequences.keys, 2 * sequences.pairs / sequences.queries);
  double longest = keys / kBlock, work = blocks * longest;
  // Blocks that a mask cuts are worked on whole, which is half of one more for
  // each block of queries, and one more in a window, which cuts at both ends.
  if (sequences.pairs < sequences.queries * sequences.keys)
    work = std::min(work, (sequences.pairs - sequences.queries / 2.) /
                                  double(kBlock * kBlock) +
                              (keys < sequences.keys ? blocks : blocks / 2));
  double copies = double(sequences.batch) * shape.heads;
  // Few queries: those of all heads that share keys are in a block.
  if (sequences.queries < kBlock && !shape.isBackward) {
    copies = double(sequences.batch) * shape.kvHeads;
    blocks = double(
        divideCeil(sequences.queries * shape.heads / shape.kvHeads, kBlock));
    work = blocks * longest;
  }
  // No kernel of backward divides keys.
  double fresh = shape.isBackward
                     ? longest
                     : std::min(longest, sequences.queries / double(kBlock));
  return {blocks * copies, work * copies, fresh, longest - fresh};
}

static double getBytes(const AttentionShape &shape) {
  if (shape.bytes)
    return *shape.bytes;
  // Queries and outputs, keys and values.
  double rows = 0;
  for (const AttentionShape::Sequences &sequences : shape.sequences)
    rows += double(sequences.batch) * (double(sequences.queries) * shape.heads +
                                       sequences.keys * shape.kvHeads);
  return rows * double(shape.keySize + shape.valueSize) * shape.elementBytes;
}

double KernelTimes::getAttention(const ProductRates &rates,
                                 const AttentionShape &shape) const {
  double blocks = 0, all = 0, squares = 0, longest = 0;
  SmallVector<AttentionWork, 2> works;
  for (const AttentionShape::Sequences &sequences : shape.sequences) {
    const AttentionWork &work = works.emplace_back(getWork(shape, sequences));
    blocks += work.blocks;
    all += work.all;
    if (work.blocks > 0)
      squares += work.all * work.all / work.blocks;
  }
  for (const AttentionWork &work : works)
    longest = std::max(longest, work.getLongest(all / cores));
  // Of the products of forward one is over the size of keys and one over that
  // of values, of those of backward three and two. A smaller head has products
  // that take less, and as many exponentials.
  constexpr double kRatedHead = 128;
  double head = shape.isBackward
                    ? (3. * shape.keySize + 2. * shape.valueSize) / 5
                    : double(shape.keySize + shape.valueSize) / 2;
  head += std::max(0., kRatedHead - head) *
          (shape.isBackward ? attention.softmaxBackward : attention.softmax);
  double unit = 4. * kBlock * kBlock * head;
  double rate = rates.peak / cores * attention.rate * sustained;
  double tail = (longest + attention.overhead) * unit / rate;
  double time = tail;
  if (blocks > cores) {
    double whole = (all + blocks * attention.overhead) * unit;
    // As many blocks of one size would vary as much: short ones hardly count
    // beside long ones.
    double alike = all * all / squares;
    time = std::max(tail, whole / cores / rate +
                              tail / 2 * std::min(1., 2 * cores / alike));
  }
  double forward =
      attention.fixed + std::max(time, getBytes(shape) / bandwidth);
  return shape.isBackward ? forward * kBackward * attention.backward : forward;
}

double KernelTimes::getElementwise(double bytes) const {
  return fixed + bytes / bandwidth;
}
