// Matrices that make keys and values of latents, and that queries and outputs absorb, are stored
// once: as that of a linear layer, with a scale for each output.
//
// RUN: stg-opt %models/deepseek.mlir --stg-resolve-imports --stg-inline-blocks --inline --symbol-dce --stg-name-ops --stg-inference="cached=1000 mla-form=absorbed" --stg-quantize-weights=format=int8 | FileCheck %s --check-prefixes=CHECK,ABSORBED
// RUN: stg-opt %models/deepseek.mlir --stg-resolve-imports --stg-inline-blocks --inline --symbol-dce --stg-name-ops --stg-inference="cached=1000 mla-form=naive" --stg-quantize-weights=format=int8 | FileCheck %s --check-prefixes=CHECK,NAIVE
//
// CHECK: stg.repeat "dense"
// CHECK: stg.param "q_b_proj" : !stg.tensor<[QL, H, EN + ER], !stg.scaled<i8 scales f32 of[-1, 0, 1]>>
// ABSORBED: stg.param "kv_b_proj_EN" : !stg.tensor<[KL, H, EN], !stg.scaled<i8 scales f32 of[-1, 0, 1]>>
// ABSORBED: stg.param "kv_b_proj_EV" : !stg.tensor<[KL, H, EV], !stg.scaled<i8 scales f32 of[-1, 0, 1]>>
// ABSORBED: stg.einsum "bshe,rhe->bshr"
// NAIVE: stg.param "kv_b_proj" : !stg.tensor<[KL, H, EN + EV], !stg.scaled<i8 scales f32 of[-1, 0, 1]>>
