//===- Coordinates.cpp - Numbers that depend on a device's place ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"

using namespace mlir;
using namespace stg;

DeviceNumbers DeviceNumbers::join(
    llvm::function_ref<bool(StringAttr)> isJoined,
    llvm::function_ref<int64_t(int64_t, int64_t)> combine) const {
  DeviceNumbers result;
  size_t size = 1;
  for (SizedAxis axis : axes)
    if (!isJoined(axis.name)) {
      result.axes.push_back(axis);
      size *= axis.size;
    }
  result.numbers.resize(size);
  SmallVector<bool> isSet(size);
  for (auto [device, number] : llvm::enumerate(numbers)) {
    size_t rest = device, index = 0, stride = 1;
    for (SizedAxis axis : axes) {
      size_t coordinate = rest % axis.size;
      rest /= axis.size;
      if (isJoined(axis.name))
        continue;
      index += coordinate * stride;
      stride *= axis.size;
    }
    result.numbers[index] =
        isSet[index] ? combine(result.numbers[index], number) : number;
    isSet[index] = true;
  }
  return result;
}

SymExpr stg::lookUpByCoordinates(ModuleOp module, const DeviceNumbers &table) {
  return lookUpByCoordinates(module, table.axes,
                             llvm::map_to_vector(table.numbers, [&](int64_t n) {
                               return SymExpr::get(module.getContext(), n);
                             }));
}

SymExpr stg::lookUpByCoordinates(ModuleOp module, ArrayRef<SizedAxis> axes,
                                 ArrayRef<SymExpr> table) {
  if (llvm::all_equal(table))
    return table.front();
  MLIRContext *context = module.getContext();
  SymExpr zero = SymExpr::get(context, 0), one = SymExpr::get(context, 1);
  SymExpr number = zero;
  int64_t stride = 1;
  for (SizedAxis axis : axes) {
    SymbolOp symbol = SymbolOp::declareCoordinate(module, axis.name);
    number = number + SymExpr::getSymbol(symbol.getSymNameAttr()) * stride;
    stride *= axis.size;
  }
  SymExpr result = table.front();
  for (auto [i, before, element] :
       llvm::enumerate(table.drop_back(), table.drop_front())) {
    if (before == element)
      continue;
    // 1 for all devices after this one, else 0.
    SymExpr isAfter = SymExpr::getFunction(
        SymFunc::Max,
        {SymExpr::getFunction(SymFunc::Min,
                              {number - static_cast<int64_t>(i), one}),
         zero});
    result = result + (element - before) * isAfter;
  }
  return result;
}
