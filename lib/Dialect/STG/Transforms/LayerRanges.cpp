//===- LayerRanges.cpp - Which layers repeats have ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerRanges.h"
#include "SymbolValues.h"
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

LayerRanges stg::collectLayers(func::FuncOp function,
                               const SymBinding &binding) {
  LayerRanges layers;
  for (auto repeat : function.getBody().getOps<RepeatOp>()) {
    if (repeat.getReverse())
      continue;
    std::optional<int64_t> number =
        evaluate(repeat.getCount() * getLayersOfIteration(repeat), binding);
    if (!number || !evaluate(repeat.getCount(), binding)) {
      layers.unknown = repeat;
      break;
    }
    int64_t begin = layers.getNumLayers();
    layers.ranges.push_back({repeat, begin, begin + *number});
  }
  return layers;
}

LogicalResult stg::checkEndLayers(func::FuncOp function,
                                  const LayerRanges &layers, int64_t atStart,
                                  int64_t atEnd) {
  if (RepeatOp unknown = layers.unknown) {
    SymExpr number = unknown.getCount() * getLayersOfIteration(unknown);
    return unknown.emitOpError("has ")
           << number.str()
           << " layers; the first and last layers of a model need a number, "
              "give its symbols values";
  }
  if (atStart + atEnd <= layers.getNumLayers())
    return success();
  return function.emitError("has ")
         << layers.getNumLayers() << " layers, but the first " << atStart
         << " and the last " << atEnd << " are to be apart";
}
