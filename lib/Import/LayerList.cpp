//===- LayerList.cpp - Lists of layers as loops===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/LayerList.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

using namespace llvm;
using namespace stg::importer;

namespace {
/// The best loops of every part of a list, from the short parts to the long.
class LoopSearch {
public:
  explicit LoopSearch(ArrayRef<unsigned> kinds);

  std::vector<LayerLoop> build(size_t begin, size_t end) const;

private:
  /// How a part is written: as periods of so many layers, or, if that is 0, cut
  /// in two.
  struct Choice {
    unsigned layers = 0; ///< That are written.
    uint16_t period = 0, cut = 0;
  };

  Choice &at(size_t begin, size_t end) { return table[begin * width + end]; }
  const Choice &at(size_t begin, size_t end) const {
    return table[begin * width + end];
  }
  /// How far what begins at `a` is like what begins at `b`.
  uint16_t &common(size_t a, size_t b) { return alike[a * width + b]; }
  void choose(size_t begin, size_t end);

  ArrayRef<unsigned> kinds;
  size_t width;
  std::vector<Choice> table;
  std::vector<uint16_t> alike;
};
} // namespace

LoopSearch::LoopSearch(ArrayRef<unsigned> kinds)
    : kinds(kinds), width(kinds.size() + 1), table(width * width),
      alike(width * width) {
  size_t size = kinds.size();
  for (size_t a = size; a-- > 0;)
    for (size_t b = size; b-- > a;)
      if (kinds[a] == kinds[b])
        common(a, b) = static_cast<uint16_t>(common(a + 1, b + 1) + 1);
  for (size_t length = 1; length <= size; ++length)
    for (size_t begin = 0; begin + length <= size; ++begin)
      choose(begin, begin + length);
}

void LoopSearch::choose(size_t begin, size_t end) {
  Choice &best = at(begin, end);
  size_t length = end - begin;
  if (length == 1) {
    best = {1, 1, 0};
    return;
  }
  best.layers = ~0u;
  for (size_t period = 1; period < length; ++period) {
    if (length % period || common(begin, begin + period) < length - period)
      continue;
    unsigned layers = at(begin, begin + period).layers;
    if (layers < best.layers)
      best = {layers, static_cast<uint16_t>(period), 0};
  }
  for (size_t cut = end - 1; cut > begin; --cut) {
    unsigned layers = at(begin, cut).layers + at(cut, end).layers;
    if (layers < best.layers)
      best = {layers, 0, static_cast<uint16_t>(cut)};
  }
}

std::vector<LayerLoop> LoopSearch::build(size_t begin, size_t end) const {
  const Choice &choice = at(begin, end);
  std::vector<LayerLoop> loops;
  if (choice.period == 0) {
    loops = build(begin, choice.cut);
    std::vector<LayerLoop> rest = build(choice.cut, end);
    loops.insert(loops.end(), rest.begin(), rest.end());
    return loops;
  }
  LayerLoop loop;
  loop.count = static_cast<int64_t>((end - begin) / choice.period);
  loop.kind = kinds[begin];
  if (choice.period > 1)
    loop.body = build(begin, begin + choice.period);
  loops.push_back(std::move(loop));
  return loops;
}

std::vector<LayerLoop> stg::importer::findLoops(ArrayRef<unsigned> kinds) {
  std::vector<LayerLoop> runs;
  for (unsigned kind : kinds) {
    if (runs.empty() || runs.back().kind != kind)
      runs.push_back({0, kind, {}});
    ++runs.back().count;
  }
  if (runs.size() <= 2 || kinds.size() > kMaxPatternLayers)
    return runs;
  return LoopSearch(kinds).build(0, kinds.size());
}
