//===- Passes.td - Models that come as linalg on tensors ---*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_CONVERSION_LINALGTOSTG_PASSES
#define STG_CONVERSION_LINALGTOSTG_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLinalgToSTG : Pass<"convert-linalg-to-stg", "::mlir::ModuleOp"> {
  let summary = "turn a program of linalg on tensors into a model";
  let description = [{
    Each public function becomes a program of the model level. Dimensions get symbols: those
    that indexing maps, reshapes and concatenations make one are one symbol, whose default is
    the extent that it has here. A dimension that is reshaped is the product of what it is
    cut into, so that `[batch*tokens, hidden]` is `[B, S, D]` wherever it occurs. A symbol is
    called as an argument's `stg.dims` says, or `d0`, `d1`, ...

    Contractions become `stg.einsum`; transpositions and reshapes of their operands are part
    of it. An op that reads its first input in windows is `stg.conv` or `stg.pool`. Other
    bodies become an op for each scalar function. Lookups become `stg.embedding`. What
    depends on positions alone is recognized as a causal mask, with a window or without,
    where it hides scores; else it is an input of the program.

    Arguments with `stg.param`, tensors of `ml_program.global`, and constants whose elements
    differ are parameters; those that are written out in the file are frozen. Arguments that
    nobody reads are dropped.

    An argument with `stg.mask` (`"causal"` or `"none"`) is a mask, not an input: what it hides
    is known.

    `--stg-raise-kernels` finds attention, norms, rotary positions and activations in what
    this gives, and `--stg-roll-layers` the layers. `--stg-import-linalg` is all three, with
    calls inlined before.

    *Requires* functions of static or dynamic ranked tensors without calls. *Produces* the
    model level.

    ```mlir
    // before
    func.func @f(%x: tensor<4x128x64xbf16> {stg.dims = ["B", "S", "D"]},
                 %w: tensor<64x256xbf16> {stg.param = "up"}) -> tensor<4x128x256xbf16> {
      %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x128x64xbf16> into tensor<512x64xbf16>
      ...
      %2 = linalg.matmul ins(%0, %w : ...) outs(%1 : ...) -> tensor<512x256xbf16>
      %3 = tensor.expand_shape %2 [[0, 1], [2]] ... into tensor<4x128x256xbf16>
      return %3 : tensor<4x128x256xbf16>
    }
    // after
    stg.symbol @B = 4
    stg.symbol @S = 128
    stg.symbol @D = 64
    stg.symbol @d0 = 256
    func.func @f(%x: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, S, d0], bf16> {
      %w = stg.param "up" : !stg.tensor<[D, d0], bf16>
      %y = stg.einsum "abc,cd->abd" %x, %w : ...
      return %y : !stg.tensor<[B, S, d0], bf16>
    }
    ```
  }];
  let options = [
    ListOption<"parameters", "parameters", "std::string",
               "Arguments that are parameters, as numbers and ranges: 1-291">,
    Option<"loss", "loss", "bool", /*default=*/"false",
           "Return the cross-entropy of the result and of labels, a further input">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

#endif // STG_CONVERSION_LINALGTOSTG_PASSES
