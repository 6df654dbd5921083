//===- Demo.h - An op and a pass of another project -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEMO_H
#define DEMO_H

#include "mlir/IR/Dialect.h"
#include "mlir/Pass/Pass.h"

#include "DemoDialect.h.inc"

namespace demo {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "DemoPasses.h.inc"
} // namespace demo

#endif // DEMO_H
