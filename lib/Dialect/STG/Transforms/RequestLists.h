//===- RequestLists.h - Requests of devices that differ ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data-parallel devices may have different requests. In the one program for all
// of them there is each kind of request that any has, as often as a symbol
// says, which is another number on each device.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_REQUESTLISTS_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_REQUESTLISTS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// Reads `COUNT*(NEW,CACHED,LOGITS),...`; `op` is where errors are told.
mlir::FailureOr<RequestsAttr> parseRequestList(mlir::Operation *op,
                                               llvm::StringRef text);

/// Several lists, as kinds of requests and how many of each a list has.
struct RequestLists {
  /// As often as the symbols say.
  RequestsAttr kinds;
  llvm::SmallVector<mlir::StringAttr> symbols;
  /// Of each list, parallel to the symbols.
  llvm::SmallVector<llvm::SmallVector<int64_t>> counts;
};

/// Reads lists that are separated by ';'.
mlir::FailureOr<RequestLists> parseRequestLists(mlir::Operation *op,
                                                llvm::StringRef text);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_REQUESTLISTS_H
