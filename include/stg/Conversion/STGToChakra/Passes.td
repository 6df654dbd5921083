//===- Passes.td - From local programs to graphs -----------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_CONVERSION_STGTOCHAKRA_PASSES
#define STG_CONVERSION_STGTOCHAKRA_PASSES

include "mlir/Pass/PassBase.td"

def ConvertSTGToChakra : Pass<"convert-stg-to-chakra", "::mlir::ModuleOp"> {
  let summary = "turn the program of one device into execution graphs";
  let description = [{
    Each op that costs something (`CostOpInterface`) becomes a `chakra.comp` with its
    operations and bytes, each collective a `chakra.coll`, each message a `chakra.send` or
    `chakra.recv`, an exchange one of both; views and immediates
    disappear into their users. Parameters and optimizer states become `chakra.state`,
    each value a buffer of a memory category. All ranks execute one program, so there is
    one graph; only the members of groups depend on the rank.

    Node names are `NAME.PHASE[.ROLE][.COLLECTIVE]` from the attributes of the ops.

    *Requires* the local level without attention over divided tokens
    (`--stg-lower-context-parallel`), symbols bound or not. *Produces* the chakra level.

    ```mlir
    // before
    %y = stg.einsum "bd,df->bf" %x, %w <"up" fwd> : !x, !w
    // after
    %y = chakra.comp "up.fwd"(%x, %w) ops(2*B*D*F) bytes(2*(B*D + D*F + B*F))
      phase "fwd" : (...) -> !chakra.tensor<2*B*F, temporary>
    ```
  }];
  let dependentDialects = ["::stg::chakra::ChakraDialect"];
}

#endif // STG_CONVERSION_STGTOCHAKRA_PASSES
