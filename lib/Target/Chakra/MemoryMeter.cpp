//===- MemoryMeter.cpp - Memory of a rank over a step ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryMeter.h"
#include "llvm/Support/raw_ostream.h"

using namespace stg::chakra;
using namespace stg::trace;
using llvm::ArrayRef;

void MemoryMeter::addStates() {
  for (const TensorInstance &instance : runner.getInstances()) {
    if (instance.writer != kNone)
      continue;
    const TensorTemplate &common = program.tensors[instance.tensorTemplate];
    totals.persistent[common.category] += common.bytes;
  }
}

void MemoryMeter::writeHeader(llvm::raw_ostream &os) const {
  os << "node,path";
  for (unsigned i = 0; i < kNumTensorCategories; ++i)
    os << ',' << getCategoryName(static_cast<TensorCategory>(i));
  os << '\n';
}

void MemoryMeter::writeLine(uint32_t node, const CategoryBytes &live,
                            llvm::raw_ostream &os) const {
  os << node << ',' << program.getPath(node);
  for (__int128 bytes : live.bytes)
    os << ',' << toDecimal(bytes);
  os << '\n';
}

MemoryTotals MemoryMeter::finish(llvm::raw_ostream *timeline) {
  // Tensors in lists by the node that reads them last, so that one sweep over
  // the nodes sees tensors appear (in order of tensors) and disappear.
  ArrayRef<TensorInstance> instances = runner.getInstances();
  addStates();
  std::vector<uint32_t> firstFreed(program.getNumNodes(), kNone);
  std::vector<uint32_t> nextFreed(instances.size(), kNone);
  for (uint32_t tensor = 0; tensor < instances.size(); ++tensor) {
    uint32_t writer = instances[tensor].writer;
    if (writer == kNone)
      continue;
    uint32_t reader = runner.getLastReaders()[tensor];
    uint32_t last = reader == kNone ? writer : reader;
    nextFreed[tensor] = firstFreed[last];
    firstFreed[last] = tensor;
  }
  CategoryBytes live = totals.persistent;
  __int128 total = live.getTotal();
  totals.peak = totals.largest = live;
  __int128 peak = total;
  __int128 written = -1; // The total in the last line of the timeline.
  if (timeline)
    writeHeader(*timeline);
  uint32_t tensor = 0;
  for (uint32_t node = 0; node < firstFreed.size(); ++node) {
    for (; tensor < instances.size() && (instances[tensor].writer == kNone ||
                                         instances[tensor].writer == node);
         ++tensor) {
      if (instances[tensor].writer == kNone)
        continue;
      const TensorTemplate &common = getTemplate(tensor);
      __int128 &bytes = live[common.category];
      bytes += common.bytes;
      total += common.bytes;
      totals.largest[common.category] =
          std::max(totals.largest[common.category], bytes);
    }
    if (timeline && total != written) {
      writeLine(node, live, *timeline);
      written = total;
    }
    if (total > peak) {
      peak = total;
      totals.peak = live;
      totals.peakNode = node;
    }
    for (uint32_t freed = firstFreed[node]; freed != kNone;
         freed = nextFreed[freed]) {
      const TensorTemplate &common = getTemplate(freed);
      live[common.category] -= common.bytes;
      total -= common.bytes;
    }
  }
  return totals;
}
