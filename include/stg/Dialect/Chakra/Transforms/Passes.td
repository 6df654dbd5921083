//===- Passes.td - Passes over the chakra dialect ----------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_TRANSFORMS_PASSES
#define STG_DIALECT_CHAKRA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def SplitClasses : Pass<"chakra-split-classes", "::mlir::ModuleOp"> {
  let summary = "make one graph for each coordinate that costs depend on";
  let description = [{
    A graph whose costs, sizes or counts mention a coordinate (`stg.symbol ... coordinate
    "cp"`) becomes one for each coordinate on that axis, with the number in place of the
    symbol; with coordinates on several axes, one for each of their combinations. A
    coordinate that a graph already has is not split again, and graphs that mention none
    stay as they are. Repeats that are left without iterations are removed.

    *Requires* the chakra level, and numbers for the sizes of these axes. *Produces* the
    chakra level, without coordinates in expressions.

    ```mlir
    // before
    stg.symbol @cp_index coordinate "cp"
    chakra.graph @step mesh = #sym.mesh<tp = 8, cp = 2> {
      chakra.comp "attention"(%q) ops(64*cp_index + 36) bytes(4096) : (!q) -> ()
    }
    // after
    chakra.graph @step.cp0 mesh = #sym.mesh<tp = 8, cp = 2> coordinates = {cp = 0} {
      chakra.comp "attention"(%q) ops(36) bytes(4096) : (!q) -> ()
    }
    chakra.graph @step.cp1 mesh = #sym.mesh<tp = 8, cp = 2> coordinates = {cp = 1} {
      chakra.comp "attention"(%q) ops(100) bytes(4096) : (!q) -> ()
    }
    ```
  }];
  let dependentDialects = ["::stg::chakra::ChakraDialect"];
}

#endif // STG_DIALECT_CHAKRA_TRANSFORMS_PASSES
