//===- TestPasses.td - Passes of the documentation ---------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TEST_LIB_TESTPASSES
#define STG_TEST_LIB_TESTPASSES

include "mlir/Pass/PassBase.td"

// Not under the name that a reader of the page gives it, which can be there, too.
def RecomputeCheap : Pass<"test-recompute-cheap", "::mlir::func::FuncOp"> {
  let summary = "recompute saved activations that cost no matrix product";
}

#endif // STG_TEST_LIB_TESTPASSES
