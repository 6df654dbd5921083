//===- Passes.td - Passes that apply presets ---------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_PRESETS_PASSES
#define STG_PRESETS_PASSES

include "mlir/Pass/PassBase.td"

def ApplyPreset : Pass<"stg-apply-preset", "::mlir::ModuleOp"> {
  let summary = "state the mesh and the rules that a preset makes of degrees";
  let description = [{
    A preset is a `.json` file that says how a framework distributes a program (see
    docs/Presets.md); `megatron` is the default. Options that are not listed below are its
    degrees and options: `--stg-apply-preset="dp=8 tp=tp sequence-parallel"`. What comes of
    it is what `--stg-parallelize` is told, which runs then.

    `rules` are those of a user. `DIM:AXIS` takes the place of the preset's rules for that
    dimension and scope; where there are none it comes after all others. `RULE+` comes before
    all rules of the preset, `+RULE` after them, and `DIM:` drops those for a dimension. A
    rule of a user that shards nothing is an error.

    *Requires* the step or model level. *Produces* the plan level, incomplete until
    `--stg-propagate-shardings`.

    ```mlir
    // before
    %w = stg.param "w" : !stg.tensor<[D, F], bf16>
    // after --stg-apply-preset="tp=8"
    stg.mesh @mesh <tp = 8 : tensor> rules [F : tp]
    %w = stg.param "w" : !stg.tensor<[D, F], bf16>
    ```
  }];
  let options = [
    Option<"preset", "preset", "std::string", /*default=*/"\"megatron\"",
           "Name of a preset, or a .json file">,
    ListOption<"values", "values", "std::string",
               "Degrees and options NAME=VALUE; may be given without 'values='">,
    ListOption<"rules", "rules", "std::string",
               "Sharding rules DIM:AXIS, RULE+, +RULE or DIM:">,
    Option<"rankOrder", "rank-order", "std::string", /*default=*/"\"\"",
           "Groups of axes from the fastest to the slowest, joined by '-'">,
    ListOption<"late", "late", "std::string",
               "Axes that may have no rule: passes after this one divide something over them">,
    Option<"program", "program", "std::string", /*default=*/"\"\"",
           "The program that is distributed, where there are several">,
  ];
  let dependentDialects = ["::stg::STGDialect"];
}

#endif // STG_PRESETS_PASSES
