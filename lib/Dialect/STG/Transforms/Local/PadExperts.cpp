//===- PadExperts.cpp - Whole rows for each expert ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many rows an expert gets of a device's tokens is a mean. Here it is
// rounded up where tokens are dispatched, and buffers that exchanges make of
// these follow.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_PADEXPERTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Experts, and the rows of each: the first two dimensions of buffers.
using Buffers = std::pair<DimAttr, DimAttr>;

struct PadExperts : stg::impl::PadExpertsBase<PadExperts> {
  using PadExpertsBase::PadExpertsBase;
  void runOnOperation() override;

private:
  void collect(func::FuncOp function);
  bool follow(CollectiveOpInterface op);
  void replace(func::FuncOp function);

  DenseMap<Buffers, DimAttr> rowsOf;
};
} // namespace

static Buffers getBuffers(SymTensorType type) {
  return {type.getDim(0), type.getDim(1)};
}

/// The next integer: `ceildiv(A*B, X)` of `A*B/X`.
static SymExpr roundUp(SymExpr expr) {
  MLIRContext *context = expr.getContext();
  llvm::DynamicAPInt common(1);
  llvm::MapVector<Attribute, int64_t> powers;
  for (const SymExpr::Term &term : expr.getTerms()) {
    common = llvm::lcm(common, term.coefficient.den);
    for (const SymExpr::Factor &factor : term.factors) {
      int64_t &power = powers[factor.atom];
      power = std::max(power, -factor.exponent);
    }
  }
  SymExpr divisor =
      SymExpr::get(context, Rational(common, llvm::DynamicAPInt(1)));
  for (auto [atom, power] : powers)
    for (int64_t i = 0; i < power; ++i)
      divisor = divisor * (isa<StringAttr>(atom)
                               ? SymExpr::getSymbol(cast<StringAttr>(atom))
                               : cast<SymExpr>(atom));
  return SymExpr::getFunction(SymFunc::CeilDiv, {expr * divisor, divisor});
}

/// What an exchange makes of padded buffers, or makes them of.
bool PadExperts::follow(CollectiveOpInterface op) {
  if (op.isFlat() || op->getNumOperands() != 1)
    return false;
  auto before = dyn_cast<SymTensorType>(op->getOperand(0).getType());
  auto after = dyn_cast<SymTensorType>(op->getResult(0).getType());
  if (!before || !after || before.getRank() < 2 || after.getRank() < 2)
    return false;
  Buffers from = getBuffers(before), to = getBuffers(after);
  if (!rowsOf.contains(from))
    std::swap(from, to);
  DimAttr rows = rowsOf.lookup(from);
  if (!rows || rowsOf.contains(to) || !from.second.hasSameNames(to.second))
    return false;
  SymExpr times = to.second.getExtent().exactDiv(from.second.getExtent());
  if (!times)
    return false;
  rowsOf[to] = to.second.withExtent(rows.getExtent() * times);
  return true;
}

void PadExperts::collect(func::FuncOp function) {
  function.walk([&](DispatchOp op) {
    Buffers buffers = getBuffers(op.getResult().getType());
    rowsOf[buffers] =
        buffers.second.withExtent(roundUp(buffers.second.getExtent()));
  });
  SmallVector<CollectiveOpInterface> exchanges;
  function.walk([&](CollectiveOpInterface op) { exchanges.push_back(op); });
  // Behind an exchange there may be another one.
  for (bool isNew = !rowsOf.empty(); isNew;) {
    isNew = false;
    for (CollectiveOpInterface op : exchanges)
      isNew |= follow(op);
  }
}

void PadExperts::replace(func::FuncOp function) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](SymTensorType type) -> std::optional<Type> {
    SmallVector<DimAttr> dims(type.getDims());
    // Stacks have further dimensions before those two.
    for (size_t i = 1; i < dims.size(); ++i)
      if (DimAttr rows = rowsOf.lookup({dims[i - 1], dims[i]}))
        dims[i] = rows;
    return type.withDims(dims);
  });
  function->walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
}

void PadExperts::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    rowsOf.clear();
    collect(function);
    if (!rowsOf.empty())
      replace(function);
  }
}
