//===- SymEnums.td - Enums of the sym dialect --------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_SYMENUMS
#define STG_DIALECT_SYM_IR_SYMENUMS

include "mlir/IR/EnumAttr.td"

def Sym_AxisRole : I32EnumAttr<"AxisRole", "what the ranks along a mesh axis divide among them", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Data", 1, "data">,
    I32EnumAttrCase<"Replica", 2, "replica">,
    I32EnumAttrCase<"Context", 3, "context">,
    I32EnumAttrCase<"Expert", 4, "expert">,
    I32EnumAttrCase<"Tensor", 5, "tensor">,
    I32EnumAttrCase<"Pipeline", 6, "pipeline">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}

#endif // STG_DIALECT_SYM_IR_SYMENUMS
