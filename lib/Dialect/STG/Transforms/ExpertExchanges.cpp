//===- ExpertExchanges.cpp - Exchanges of the rows of experts -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertExchanges.h"

using namespace mlir;
using namespace stg;

/// What goes to experts is what tokens are copied to, or, backward, the
/// gradient of what is summed; what comes back is summed.
std::optional<ExpertExchange> stg::findExpertExchange(AllToAllOp op) {
  Value sent = op.getInput(), got = op.getResult();
  if (auto encoded = sent.getDefiningOp<EncodeRowsOp>())
    sent = encoded.getInput();
  if (Operation *maker = sent.getDefiningOp())
    if (isa<DispatchOp, CombineGradOp>(maker))
      return ExpertExchange{op, maker, true};
  if (got.hasOneUse())
    if (auto decoded = dyn_cast<EncodeRowsOp>(*got.user_begin()))
      got = decoded.getResult();
  for (OpOperand &use : got.getUses())
    if (isa<CombineOp, DispatchGradOp>(use.getOwner()) &&
        use.getOperandNumber() == 0)
      return ExpertExchange{op, use.getOwner(), false};
  return std::nullopt;
}
