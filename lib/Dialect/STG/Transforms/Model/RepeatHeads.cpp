//===- RepeatHeads.cpp - A key/value head for each query head -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_REPEATHEADS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct RepeatHeads : stg::impl::RepeatHeadsBase<RepeatHeads> {
  using RepeatHeadsBase::RepeatHeadsBase;
  void runOnOperation() override;
};
} // namespace

/// The dimension of the heads in queries, keys and values.
static constexpr unsigned kHeads = 2;

/// The value with as many heads as there are query heads. They keep their name,
/// by which rules divide them.
static Value repeatHeads(Value value, SymExpr heads, OpBuilder &builder) {
  auto type = cast<SymTensorType>(value.getType());
  SmallVector<DimAttr> dims(type.getDims());
  dims[kHeads] = dims[kHeads].withExtent(heads);
  auto repeated =
      ReplicateOp::create(builder, value.getLoc(), type.withDims(dims), value,
                          kHeads, /*together=*/true);
  Operation *made = value.getDefiningOp();
  if (StringAttr name = made ? getOrigin(made).name : StringAttr())
    setName(repeated, name);
  setRole(repeated, Role::Replicas);
  return repeated;
}

void RepeatHeads::runOnOperation() {
  getOperation().walk([](AttentionOp op) {
    SymExpr heads = op.getQuery().getType().getShape()[kHeads];
    DimAttr own = op.getKey().getType().getDim(kHeads);
    // One without a name is there for all heads of queries.
    if (own.getExtent() == heads ||
        (own.getExtent().isOne() && own.getNames().empty()))
      return;
    OpBuilder builder(op);
    auto repeat = [&](OpOperand &key, OpOperand &value) {
      bool isSame = key.get() == value.get();
      key.set(repeatHeads(key.get(), heads, builder));
      value.set(isSame ? key.get() : repeatHeads(value.get(), heads, builder));
    };
    repeat(op.getKeyMutable(), op.getValueMutable());
    if (op.getCompressedAttr())
      repeat(op.getTermsMutable()[0], op.getTermsMutable()[1]);
  });
}
