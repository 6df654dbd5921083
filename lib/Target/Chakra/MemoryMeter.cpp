//===- MemoryMeter.cpp - Memory of a rank over a step ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryMeter.h"
#include "stg/Trace/Program/LiveTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace stg::chakra;
using namespace stg::trace;

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
  LiveTensors tensors(program, runner);
  MemoryTotals totals;
  totals.persistent.bytes = tensors.getStates();
  totals.peak = totals.largest = totals.persistent;
  __int128 peak = tensors.getTotal();
  __int128 written = -1; // The total in the last line of the timeline.
  if (timeline)
    writeHeader(*timeline);
  for (uint32_t node = 0; node < program.getNumNodes(); ++node) {
    CategoryBytes live;
    live.bytes = tensors.next();
    for (auto [largest, bytes] :
         llvm::zip_equal(totals.largest.bytes, live.bytes))
      largest = std::max(largest, bytes);
    __int128 total = tensors.getTotal();
    if (timeline && total != written) {
      writeLine(node, live, *timeline);
      written = total;
    }
    if (total > peak) {
      peak = total;
      totals.peak = live;
      totals.peakNode = node;
    }
  }
  return totals;
}
