//===- AddRouterLosses.cpp - Losses of routers of experts -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A router is known by what is done with its choice: tokens are copied to the
// experts that a top-k has chosen. What it has compared, and the logits that is
// made of, are found from there, so this is a rewrite of any model.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_ADDROUTERLOSSES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct AddRouterLosses : stg::impl::AddRouterLossesBase<AddRouterLosses> {
  using AddRouterLossesBase::AddRouterLossesBase;
  void runOnOperation() override;

private:
  FailureOr<SymExpr> parseWeight(StringRef text);
  LogicalResult addBalance(TopKOp router, SymExpr weight);
  void addZLoss(TopKOp router, SymExpr weight);
};

/// Makes the ops of a router's losses, which are named after it.
class LossBuilder {
public:
  explicit LossBuilder(TopKOp router) : router(router), builder(router) {
    builder.setInsertionPointAfter(router);
  }

  template <typename OpTy, typename... Args>
  OpTy create(StringRef suffix, Args &&...args) {
    auto op = OpTy::create(builder, router.getLoc(), args...);
    StringAttr own = getOrigin(router).name;
    StringRef base = own ? own.getValue() : StringRef("router");
    setName(op, builder.getStringAttr(base + "." + suffix));
    return op;
  }

private:
  TopKOp router;
  OpBuilder builder;
};
} // namespace

static bool isRouter(TopKOp op) {
  return llvm::any_of(op.getIndices().getUsers(), llvm::IsaPred<DispatchOp>);
}

static bool isSigmoid(Operation *op) {
  auto activation = dyn_cast_or_null<ActivationOp>(op);
  return activation && activation.getFunction() == Activation::Sigmoid;
}

/// What scores are made of, each by itself or by a softmax.
static Value getLogits(Value scores) {
  while (Operation *op = scores.getDefiningOp()) {
    if (!isa<SoftmaxOp, CastOp, DivideBySumOp>(op) && !isSigmoid(op))
      break;
    scores = op->getOperand(0);
  }
  return scores;
}

/// Scores of all experts whose sum is one.
static Value getShares(TopKOp router, LossBuilder &builder) {
  Value compared = router.getInput();
  Operation *maker = compared.getDefiningOp();
  if (isa_and_nonnull<SoftmaxOp, DivideBySumOp>(maker))
    return compared;
  if (isSigmoid(maker))
    return builder.create<DivideBySumOp>("shares", compared).getResult();
  return builder.create<SoftmaxOp>("shares", compared).getResult();
}

/// The loss that a router has is computed for it alone, and goes with it.
static void removeBalance(func::FuncOp function) {
  function.walk([](AuxiliaryLossOp op) {
    if (op.getValue().getDefiningOp<BalanceLossOp>())
      op.erase();
  });
}

LogicalResult AddRouterLosses::addBalance(TopKOp router, SymExpr weight) {
  LossBuilder builder(router);
  auto scores = cast<SymTensorType>(router.getInput().getType());
  bool isSequence = balance == RouterLoss::Sequence;
  if (isSequence && scores.getRank() < 3)
    return router.emitOpError("compares scores of type ")
           << scores
           << ", expected a batch, tokens and experts for a loss of each "
              "sequence; use batch or global";
  Value shares = getShares(router, builder);
  SmallVector<DimAttr> dims;
  if (isSequence)
    dims.push_back(scores.getDims().front());
  dims.push_back(scores.getDims().back());
  auto counts = builder.create<CountIndicesOp>(
      "counts",
      SymTensorType::get(&getContext(), dims, Float32Type::get(&getContext())),
      router.getIndices(), /*own=*/balance == RouterLoss::Batch);
  auto loss =
      builder.create<BalanceLossOp>("balance", shares, counts.getResult());
  builder.create<AuxiliaryLossOp>("balance", loss.getResult(), weight);
  return success();
}

void AddRouterLosses::addZLoss(TopKOp router, SymExpr weight) {
  LossBuilder builder(router);
  auto loss = builder.create<ZLossOp>("z_loss", getLogits(router.getInput()));
  builder.create<AuxiliaryLossOp>("z_loss", loss.getResult(), weight);
}

FailureOr<SymExpr> AddRouterLosses::parseWeight(StringRef text) {
  llvm::Expected<SymExpr> weight = SymExpr::parse(&getContext(), text);
  if (weight && !weight->isZero())
    return *weight;
  if (!weight)
    llvm::consumeError(weight.takeError());
  return getOperation().emitError("losses of routers have the weight '")
         << text << "', expected one such as 1/100";
}

void AddRouterLosses::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || function.isPrivate())
    return;
  FailureOr<SymExpr> own = parseWeight(weight), z = parseWeight(zWeight);
  if (failed(own) || failed(z))
    return signalPassFailure();
  SmallVector<TopKOp> routers;
  function.walk([&](TopKOp op) {
    if (isRouter(op))
      routers.push_back(op);
  });
  if (routers.empty() && (zLoss || balance != RouterLoss::Model)) {
    function.emitOpError("has no router that a loss could be of: expected an "
                         "stg.top_k whose indices an stg.dispatch reads");
    return signalPassFailure();
  }
  if (balance != RouterLoss::Model)
    removeBalance(function);
  for (TopKOp router : routers) {
    if (balance != RouterLoss::Model && balance != RouterLoss::None &&
        failed(addBalance(router, *own)))
      return signalPassFailure();
    if (zLoss)
      addZLoss(router, *z);
  }
}
