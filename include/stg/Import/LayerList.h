//===- LayerList.h - Lists of layers as loops --------------------- -*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_IMPORT_LAYERLIST_H
#define STG_IMPORT_LAYERLIST_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace stg::importer {

/// So many times what is in it: other loops, or one kind of layer.
struct LayerLoop {
  int64_t count = 1;
  unsigned kind = 0;           ///< If there is nothing inside.
  std::vector<LayerLoop> body; ///< In their order.

  bool isLeaf() const { return body.empty(); }
  bool operator==(const LayerLoop &other) const {
    return count == other.count && kind == other.kind && body == other.body;
  }
};

/// Loops that give the list, with the fewest layers written in them: runs of
/// one kind are a loop, as are periods of loops. Of several such, what is left
/// over stands last. In a list of more than kMaxPatternLayers layers only runs
/// are looked for.
constexpr size_t kMaxPatternLayers = 256;
std::vector<LayerLoop> findLoops(llvm::ArrayRef<unsigned> kinds);

} // namespace stg::importer

#endif // STG_IMPORT_LAYERLIST_H
