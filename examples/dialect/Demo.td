//===- Demo.td - An op and a pass of another project -------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEMO
#define DEMO

include "mlir/IR/OpBase.td"
include "mlir/Pass/PassBase.td"
include "stg/Dialect/STG/IR/STGOpBase.td"

def Demo_Dialect : Dialect {
  let name = "demo";
  let cppNamespace = "::demo";
  let dependentDialects = ["::stg::STGDialect"];
}

// The base class gives the ops the interfaces that STG's passes ask: how they are
// sharded, what they cost (operations per element), what their backward pass is.
def HardSwishOp : STG_PointwiseOp<"hard_swish", "5", "HardSwishGradOp", [],
                                  Demo_Dialect> {
  let summary = "x * min(max(x + 3, 0), 6) / 6";
  let args = (ins STG_Tensor:$input);
}

def HardSwishGradOp : STG_PointwiseOp<"hard_swish_grad", "7", "", [],
                                      Demo_Dialect> {
  let summary = "gradient of hard_swish, from its operand";
  let args = (ins STG_Tensor:$input, STG_Tensor:$dy);
}

def UseHardSwish : Pass<"demo-use-hard-swish", "::mlir::func::FuncOp"> {
  let summary = "replace every activation by hard_swish, which costs less";
  let dependentDialects = ["::demo::DemoDialect"];
}

#endif // DEMO
