//===- ReplicateExperts.cpp - Experts that several devices have -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A router chooses among the experts of the model. What rows are dispatched to
// are their replicas: more buffers with fewer rows each, and as many copies of
// the parameters. From a dispatch on, up to where rows are combined, the
// dimension of experts gets another extent. The experts that the router knows
// get another name: what divides replicas does not divide them.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_REPLICATEEXPERTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ReplicateExperts : stg::impl::ReplicateExpertsBase<ReplicateExperts> {
  using ReplicateExpertsBase::ReplicateExpertsBase;
  void runOnOperation() override;

private:
  FailureOr<SymbolOp> declare();
};
} // namespace

/// The name of the experts that a router chooses among.
static constexpr StringLiteral kChosenExperts = "chosen_experts";

/// What has a buffer or a parameter for each expert that rows are dispatched
/// to: everything that such values are made of and make, but for the router,
/// which indices keep apart.
static llvm::SetVector<Value> collectValues(func::FuncOp function,
                                            StringAttr experts) {
  llvm::SetVector<Value> values;
  auto add = [&](Value value) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (type && llvm::any_of(type.getDims(),
                             [&](DimAttr dim) { return dim.hasName(experts); }))
      values.insert(value);
  };
  function.walk([&](DispatchOp op) { add(op.getResult()); });
  for (size_t i = 0; i != values.size(); ++i) {
    SmallVector<Operation *> ops(values[i].getUsers());
    if (Operation *maker = values[i].getDefiningOp())
      ops.push_back(maker);
    for (Operation *op : ops) {
      if (isa<CombineOp, DispatchOp>(op))
        continue;
      llvm::for_each(op->getOperands(), add);
      llvm::for_each(op->getResults(), add);
    }
  }
  return values;
}

/// The symbol for how many there are.
FailureOr<SymbolOp> ReplicateExperts::declare() {
  ModuleOp module = getOperation();
  StringRef name = kPhysicalExperts;
  if (Operation *known = module.lookupSymbol(name)) {
    known->emitOpError("is named '")
        << name << "', which is the symbol for experts with their replicas; "
        << "give it another name";
    return failure();
  }
  if (!module.lookupSymbol<SymbolOp>(experts)) {
    module.emitError("has no symbol '")
        << experts << "', the experts that are to be replicated";
    return failure();
  }
  // Behind what its value is made of.
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  builder.setInsertionPointAfter(module.lookupSymbol(experts));
  SymExpr number =
      SymExpr::getSymbol(&getContext(), experts) + static_cast<int64_t>(count);
  return SymbolOp::create(builder, module.getLoc(), builder.getStringAttr(name),
                          number, StringAttr(),
                          builder.getStringAttr("experts with their replicas"));
}

void ReplicateExperts::runOnOperation() {
  if (count < 0) {
    getOperation().emitError("count of replicas is ")
        << count.getValue() << ", expected at least 0";
    return signalPassFailure();
  }
  auto name = StringAttr::get(&getContext(), experts);
  SymBinding binding;
  if (count > 0) {
    FailureOr<SymbolOp> symbol = declare();
    if (failed(symbol))
      return signalPassFailure();
    binding[name] = SymExpr::getSymbol(symbol->getSymNameAttr());
  }
  auto substitute = [&](SymTensorType type) {
    SmallVector<DimAttr> dims(type.getDims());
    for (DimAttr &dim : dims)
      dim = dim.withExtent(dim.getExtent().substitute(binding));
    return type.withDims(dims);
  };
  auto chosen = StringAttr::get(&getContext(), kChosenExperts);
  auto rename = [&](Value value) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (!type)
      return;
    SmallVector<DimAttr> dims(type.getDims());
    for (DimAttr &dim : dims)
      if (dim.getNames() == ArrayRef(name))
        dim = DimAttr::get(&getContext(), {chosen}, dim.getExtent());
    value.setType(type.withDims(dims));
  };
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    llvm::SetVector<Value> replicated = collectValues(function, name);
    if (replicated.empty())
      continue;
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (!replicated.contains(result))
          rename(result);
    });
    for (Value value : replicated)
      value.setType(substitute(cast<SymTensorType>(value.getType())));
  }
}
