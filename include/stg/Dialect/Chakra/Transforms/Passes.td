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

def Offload : Pass<"chakra-offload", "::mlir::ModuleOp"> {
  let summary = "keep buffers in the memory of the host";
  let description = [{
    Moves what `what` names to the host, or a remote memory, and adds the loads and stores
    that this takes:

    - `activations`: what layers of the forward pass save for backward, or with `saved` what
      is made by ops of such names (`input`: what a layer begins with). Each buffer is
      stored when it is there, and loaded in backward.
    - `optimizer`: states of the optimizer. Each is loaded for the update and stored after
      it.
    - `parameters`: loaded for each layer and pass that reads them, and by the update, after
      which they are stored.

    Loads in a repeat are issued `ahead` iterations early (further for what is itself
    issued ahead, as gathers of parameters are); outside of repeats at their first reader.
    With `percent` below 100 the largest buffers are moved, as long as those of a scope (the
    body of a repeat, or the top) are within that part of its bytes: all layers move the
    same.

    *Requires* the chakra level; with `percent` below 100, numbers. *Produces* the chakra
    level, in which what has been moved has the category `host`.

    What cannot be moved is an error at the op that needs it on the device: buffers that are
    carried from iteration to iteration, and parameters that are gathered for all layers at
    once after the update.

    ```mlir
    // before
    %y:2 = chakra.repeat "layers" * L carry(%x = %x0 : !T) -> (!T, !chakra.stack<!T, L>) {
      %z = chakra.comp "norm.fwd"(%x) ops(1) bytes(1) phase "fwd" : (!T) -> !T
      chakra.yield carry(%z : !T) stack(%z : !T)
    }
    // after
    %y:2 = chakra.repeat "layers" * L carry(%x = %x0 : !T) -> (!T, !chakra.stack<!H, L>) {
      %z = chakra.comp "norm.fwd"(%x) ops(1) bytes(1) phase "fwd" : (!T) -> !T
      %h = chakra.store "norm.fwd.store"(%z) phase "fwd" : (!T) -> !H
      chakra.yield carry(%z : !T) stack(%h : !H)
    }
    ```
  }];
  let dependentDialects = ["::stg::chakra::ChakraDialect"];
  let options = [
    ListOption<"what", "what", "std::string",
               "activations, optimizer, parameters">,
    ListOption<"saved", "saved", "std::string",
               "Patterns of names of ops whose results are moved, of activations (default all)">,
    Option<"percent", "percent", "unsigned", /*default=*/"100",
           "The part of the bytes of each scope that is moved at most">,
    Option<"ahead", "ahead", "unsigned", /*default=*/"1",
           "Iterations that loads are issued early">,
  ];
}

def RepeatSteps : Pass<"chakra-repeat-steps", "::mlir::ModuleOp"> {
  let summary = "execute a step several times, with a number that it may mention";
  let description = [{
    Puts what a graph executes into a loop over steps: a `chakra.repeat` whose iterations
    are named from `first` on, and in which the symbol `index` is the number of the
    iteration. States stay outside, and so do functions: they are those of all steps. A
    schedule of micro-batches is executed in each step. As nothing is handed on, each device
    begins a step when it is through with the one before, so that micro-batches of several
    steps are under way.

    *Requires* the chakra level; states whose sizes do not mention the index. *Produces* the
    chakra level.

    ```mlir
    // before
    chakra.graph @decode mesh = #sym.mesh<tp = 8> {
      %k = chakra.state "k" : !chakra.tensor<4096, kv_cache>
      chakra.comp "attention"(%k) ops(64*step + 36) bytes(16*step + 8) : (!k) -> ()
    }
    // after
    chakra.graph @decode mesh = #sym.mesh<tp = 8> {
      %k = chakra.state "k" : !chakra.tensor<4096, kv_cache>
      chakra.repeat "step" * 256 index "step" {
        chakra.comp "attention"(%k) ops(64*step + 36) bytes(16*step + 8) : (!k) -> ()
      }
    }
    ```
  }];
  let options = [
    Option<"count", "count", "int64_t", /*default=*/"1", "Steps">,
    Option<"first", "first", "int64_t", /*default=*/"0",
           "The number of the first one in names">,
    Option<"index", "index", "std::string", /*default=*/"\"step\"",
           "The symbol that is the number of a step, from 0">,
  ];
  let dependentDialects = ["::stg::chakra::ChakraDialect"];
}

#endif // STG_DIALECT_CHAKRA_TRANSFORMS_PASSES
