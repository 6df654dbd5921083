// Adapters: their shapes, where they are added, and what is frozen.
//
// RUN: stg-opt %s --split-input-file --stg-add-adapters="rank=8 targets=q_proj,v_proj" | FileCheck %s --check-prefix=QV
// RUN: stg-opt %s --split-input-file --stg-add-adapters="rank=8 targets=q,v" | FileCheck %s --check-prefix=QV
// RUN: stg-opt %s --split-input-file --stg-add-adapters="rank=4 targets=up_proj,gate_proj" | FileCheck %s --check-prefix=GATED
// RUN: stg-opt %s --split-input-file --stg-add-adapters="rank=4 targets=gate_up_proj,o_proj alpha=8" | FileCheck %s --check-prefix=JOINT
// RUN: stg-opt %s --split-input-file --stg-add-adapters="rank=4 targets=experts" | FileCheck %s --check-prefix=EXPERTS
// RUN: stg-opt %s --split-input-file --stg-add-adapters="rank=2 targets=all-linear" | FileCheck %s --check-prefix=LINEAR

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @F
stg.symbol @X
stg.symbol @C
!x = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>

// QV: stg.param "qkv_proj" {frozen}
// QV: %[[P:.*]]:3 = stg.split dim 2
// QV: stg.param "v_proj.lora_B" : !stg.tensor<[rank = 8, K, E], bf16>
// QV: %[[V:.*]] = stg.add %[[P]]#2, %{{.*}} <"v_proj.lora">
// QV: %[[A:.*]] = stg.param "q_proj.lora_A" : !stg.tensor<[D, rank = 8], bf16>
// QV-NEXT: %[[N:.*]] = stg.einsum "bsd,da->bsa" %[[X:.*]], %[[A]]
// QV-NEXT: %[[BQ:.*]] = stg.param "q_proj.lora_B" : !stg.tensor<[rank = 8, H, E], bf16>
// QV-NEXT: %[[M:.*]] = stg.einsum "bsa,ahe->bshe" %[[N]], %[[BQ]]
// QV-NEXT: %[[Q:.*]] = stg.add %[[P]]#0, %[[M]] <"q_proj.lora">
// QV: stg.attention causal %[[Q]], %[[P]]#1, %[[V]]
// QV-NOT: lora
// QV: stg.param "o_proj" {frozen}
// QV: stg.param "experts" {frozen}

// Gate and up are apart only where adapters are added.
// GATED: %[[GU:.*]] = stg.einsum "bsd,dgf->bsgf"
// GATED-NEXT: %[[H:.*]]:2 = stg.split dim 2 %[[GU]] : !stg.tensor<[B, S, 2, F], bf16> -> !stg.tensor<[B, S, 1, F], bf16>, !stg.tensor<[B, S, 1, F], bf16>
// GATED-DAG: stg.param "up_proj.lora_B" : !stg.tensor<[rank = 4, 1, F], bf16>
// GATED-DAG: %[[UP:.*]] = stg.add %[[H]]#1, %{{.*}} <"up_proj.lora">
// GATED-DAG: %[[GATE:.*]] = stg.add %[[H]]#0, %{{.*}} <"gate_proj.lora">
// GATED: stg.concat dim 2 %[[GATE]], %[[UP]]
// GATED: stg.glu silu

// JOINT: stg.param "o_proj.lora_A" : !stg.tensor<[H, E, rank = 4], bf16>
// JOINT-NEXT: %[[O:.*]] = stg.einsum "bshe,hea->bsa"
// JOINT-NEXT: stg.param "o_proj.lora_B" : !stg.tensor<[rank = 4, D], bf16>
// JOINT-NEXT: %[[W:.*]] = stg.einsum "bsa,ad->bsd" %[[O]]
// JOINT: %[[SCALED:.*]] = stg.mul %[[W]], %{{.*}} <"o_proj.lora_scale">
// JOINT-NEXT: stg.add %{{.*}}, %[[SCALED]] <"o_proj.lora">
// JOINT: stg.param "gate_up_proj.lora_B" : !stg.tensor<[rank = 4, 2, F], bf16>
// JOINT-NOT: stg.split dim 2 %{{.*}} : !stg.tensor<[B, S, 2, F], bf16>

// Each expert has its own.
// EXPERTS: stg.param "experts.lora_A" : !stg.tensor<[X, D, rank = 4], bf16>
// EXPERTS-NEXT: stg.einsum "xcd,xda->xca"
// EXPERTS-NEXT: stg.param "experts.lora_B" : !stg.tensor<[X, rank = 4, F], bf16>
// EXPERTS-NEXT: stg.einsum "xca,xaf->xcf"

// All in layers, joint ones part by part; not what is outside of them.
// LINEAR-DAG: stg.param "q_proj.lora_A"
// LINEAR-DAG: stg.param "k_proj.lora_A"
// LINEAR-DAG: stg.param "v_proj.lora_A"
// LINEAR-DAG: stg.param "o_proj.lora_A"
// LINEAR-DAG: stg.param "gate_proj.lora_A"
// LINEAR-DAG: stg.param "up_proj.lora_A"
// LINEAR: stg.param "experts" {frozen}
// LINEAR-NOT: lora
func.func @f(%x: !x, %rows: !stg.tensor<[X, C, D], bf16>) -> !stg.tensor<[X, C, F], bf16> {
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) {
    %w = stg.param "qkv_proj" : !stg.tensor<[D, H + 2*K, E], bf16>
    %p = stg.einsum "bsd,dhe->bshe" %c, %w : !x, !stg.tensor<[D, H + 2*K, E], bf16>
    %q, %k, %v = stg.split dim 2 %p : !heads -> !q, !k, !k
    %a, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
    %o = stg.einsum "bshe,hed->bsd" %a, %wo : !q, !stg.tensor<[H, E, D], bf16>
    %wg = stg.param "gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
    %g = stg.einsum "bsd,dgf->bsgf" %o, %wg : !x, !stg.tensor<[D, 2, F], bf16>
    %h = stg.glu silu %g : !stg.tensor<[B, S, 2, F], bf16>
    stg.yield %o : !x
  }
  %we = stg.param "experts" : !stg.tensor<[X, D, F], bf16>
  %e = stg.einsum "xcd,xdf->xcf" %rows, %we : !stg.tensor<[X, C, D], bf16>, !stg.tensor<[X, D, F], bf16>
  return %e : !stg.tensor<[X, C, F], bf16>
}
