//===- TestDialect.h - Ops that no pass knows -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TEST_LIB_TESTDIALECT_H
#define STG_TEST_LIB_TESTDIALECT_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace test {
/// Registers the test dialect and the external models of `test.plain`.
void registerTestDialect(mlir::DialectRegistry &registry);

/// Registers `--test-gradient-flow`.
void registerTestGradientFlow();
} // namespace test

#endif // STG_TEST_LIB_TESTDIALECT_H
