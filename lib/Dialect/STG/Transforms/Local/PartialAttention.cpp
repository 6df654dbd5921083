//===- PartialAttention.cpp - Attention made in parts ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartialAttention.h"

#include "stg/Dialect/STG/IR/STGInterfaces.h"

using namespace mlir;
using namespace stg;

/// Of each head of a row `parts` outputs with their sums, as bytes.
static SymTensorType getPackedType(SymTensorType outputs, SymExpr parts) {
  MLIRContext *context = outputs.getContext();
  SmallVector<DimAttr> dims(outputs.getDims().take_front(3));
  dims.push_back(DimAttr::get(parts));
  dims.push_back(DimAttr::get(getPartialBytes(outputs)));
  return SymTensorType::get(context, dims, IntegerType::get(context, 8));
}

ExchangedParts
stg::exchangeParts(OpBuilder &builder, Location loc, Value outputs, Value lses,
                   SymTensorType own, int64_t dim, SymExpr devices,
                   ArrayAttr axes,
                   function_ref<void(Operation *, StringRef)> finish) {
  SymExpr one = SymExpr::get(builder.getContext(), 1);
  auto pack = PackPartialOp::create(
      builder, loc, getPackedType(cast<SymTensorType>(outputs.getType()), one),
      outputs, lses);
  finish(pack, ".pack");
  auto parts = AllToAllOp::create(builder, loc, getPackedType(own, devices),
                                  pack, /*from=*/3, /*to=*/dim, axes,
                                  /*payload=*/SymExpr(),
                                  /*padded=*/SymExpr());
  finish(parts, ".exchange");
  auto merged = MergePartsOp::create(builder, loc, own, parts);
  finish(merged, ".merge");
  return {pack, merged};
}
