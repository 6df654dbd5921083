//===- ExpertExchanges.h - Exchanges of the rows of experts -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_EXPERTEXCHANGES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_EXPERTEXCHANGES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// An exchange, and whose rows it sends to experts or gets back from them.
struct ExpertExchange {
  AllToAllOp op;
  mlir::Operation *routing; ///< One that has the experts of tokens.
  bool isDispatch;
};

/// Nullopt for an exchange of other values. Rows may be encoded.
std::optional<ExpertExchange> findExpertExchange(AllToAllOp op);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_EXPERTEXCHANGES_H
