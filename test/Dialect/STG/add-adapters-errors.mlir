// Targets that the program does not have, and options that say nothing.
//
// RUN: split-file %s %t
// RUN: not stg-opt %t/model.mlir --stg-add-adapters="rank=8 targets=q_prj" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not stg-opt %t/model.mlir --stg-add-adapters="targets=q_proj" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not stg-opt %t/model.mlir --stg-add-adapters="rank=8" 2>&1 | FileCheck %s --check-prefix=TARGETS
// RUN: not stg-opt %t/model.mlir --stg-add-adapters="rank=8 targets=c_attn,q_proj" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not stg-opt %t/model.mlir --stg-add-adapters="rank=8 targets=[q" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not stg-opt %t/model.mlir --stg-add-adapters="rank=8 targets=all-linear" 2>&1 | FileCheck %s --check-prefix=LAYERS
// RUN: not stg-opt %t/none.mlir --stg-add-adapters="rank=8 targets=q_proj" 2>&1 | FileCheck %s --check-prefix=NONE
//
// NAME: error: adapters have the target 'q_prj', but there is no projection of that name; there are q_proj, k_proj, v_proj, qkv_proj
// RANK: error: adapters have rank 0, expected an integer of at least 1
// TARGETS: error: adapters have no targets; name projections with targets
// TWICE: error: 'stg.einsum' op would have adapters of 'qkv_proj' and of its part 'q_proj'; name one of them
// PATTERN: error: adapters have the target '[q', which is no pattern:
// LAYERS: error: adapters have the target 'all-linear', but no layer has a projection; outside of layers there are
// NONE: error: adapters have the target 'q_proj', but the model has no projection

//--- none.mlir
!x = !stg.tensor<[2, 3, 4], f32>
func.func @f(%x: !x) -> !x {
  return %x : !x
}

//--- model.mlir
!x = !stg.tensor<[2, 3, 4], f32>
!h = !stg.tensor<[2, 3, 6, 5], f32>
!p = !stg.tensor<[2, 3, 2, 5], f32>
func.func @f(%x: !x) -> !p {
  %w = stg.param "qkv_proj" : !stg.tensor<[4, 6, 5], f32>
  %y = stg.einsum "bsd,dhe->bshe" %x, %w : !x, !stg.tensor<[4, 6, 5], f32>
  %q, %k, %v = stg.split dim 2 %y : !h -> !p, !p, !p
  return %q : !p
}
