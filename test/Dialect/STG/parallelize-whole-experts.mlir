// Experts over tp, cp and a part of dp instead of divided by tp, or over a part of tp.
//
// RUN: stg-opt %s --stg-apply-preset="tp=2 dp=4 ep=4 etp=1 sequence-parallel=true" | FileCheck %s
// RUN: stg-opt %s --stg-apply-preset="tp=2 dp=4 ep=4 etp=1 sequence-parallel=true" --stg-propagate-shardings | FileCheck %s --check-prefix=CHECK-PLAN
// RUN: stg-opt %s --stg-apply-preset="tp=2 cp=2 dp=4 ep=2 etp=1 sequence-parallel=true" | FileCheck %s --check-prefix=PREFIX
// RUN: stg-opt %s --stg-apply-preset="tp=2 dp=4 ep=1 etp=1 sequence-parallel=true" | FileCheck %s --check-prefix=NONE
// RUN: stg-opt %s --stg-apply-preset="tp=8 dp=2 ep=4 etp=4 sequence-parallel=true" | FileCheck %s --check-prefix=PART
// RUN: stg-opt %s --stg-apply-preset="tp=8 dp=2 ep=2 etp=2 sequence-parallel=true" | FileCheck %s --check-prefix=SAME
// RUN: stg-opt %s --stg-apply-preset="tp=8 ep=2 etp=4 tp-replicate=2 sequence-parallel=true" | FileCheck %s --check-prefix=HEADS
// RUN: stg-opt %s --stg-apply-preset="tp=8 ep=4 etp=2 tp-replicate=4 sequence-parallel=true" | FileCheck %s --check-prefix=MANY
// RUN: stg-opt %s --stg-apply-preset="tp=t etp=u ep=v dp=d sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=SYMBOLS
// RUN: not stg-opt %s --stg-apply-preset="tp=12 ep=4 etp=3 tp-replicate=2 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=REPLICAS
// REPLICAS: error: etp=3 neither divides tp_replicate=2, the ranks that hold the same key/value heads, nor is a multiple of it
// RUN: not stg-opt %s --stg-apply-preset="tp=12 ep=3 etp=1 tp-replicate=4 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=TIMES
// TIMES: error: etp=1 times ep=3 neither divides tp_replicate=4, the ranks that hold the same key/value heads, nor is a multiple of it
// RUN: not stg-opt %s --stg-apply-preset="tp=4 ep=6 etp=1 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=DIVIDES
// DIVIDES: error: etp=1: ep=6 neither divides 4, what etp=1 leaves of tp=4, nor is a multiple of it; experts are divided over that, then cp, then a part of dp
// RUN: not stg-opt %s --stg-apply-preset="tp=2 cp=2 dp=4 ep=6 etp=1 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=CONTEXT
// CONTEXT: error: etp=1: ep=6 neither divides 2 times cp=2 nor is a multiple of it; experts are divided over what etp=1 leaves of tp, then cp, then a part of dp
// RUN: not stg-opt %s --stg-apply-preset="tp=4 etp=3 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=DEGREE
// DEGREE: error: etp=3: expected a divisor of tp=4
// RUN: not stg-opt %s --stg-apply-preset="tp=4 ep=4 etp=1" 2>&1 | FileCheck %s --check-prefix=TOKENS
// TOKENS: error: etp=1: experts are divided over tp, whose ranks must have different tokens; add sequence_parallel

stg.symbol @B
stg.symbol @S
stg.symbol @F
stg.symbol @X

// The order matters: the router computes tokens over these axes before experts claim them.
// CHECK: stg.mesh @mesh <tp = 2 : tensor, ep = 2 : expert, edp = 2 : data> rules [B : edp, B : ep, S : tp @stream, X : ep, X : tp]
// PREFIX: stg.mesh @mesh <tp = 2 : tensor, cp = 2 : context, dp = 4 : data> rules [B : dp, S : cp, S : tp @stream, X : tp]
// PART: stg.mesh @mesh <etp = 4 : tensor, tp_ep = 2 : tensor, ep = 2 : expert> rules [B : ep, F : etp, S : tp_ep @stream, S : etp @stream, X : ep, X : tp_ep]
// SAME: stg.mesh @mesh <etp = 2 : tensor, tp_ep = 2 : tensor, tp_edp = 2 : tensor, dp = 2 : data> rules [B : dp, F : etp, S : tp_edp @stream, S : tp_ep @stream, S : etp @stream, X : tp_ep]
// HEADS: stg.mesh @mesh <tp_replicate = 2 : tensor, tp_kv_etp = 2 : tensor, tp_ep = 2 : tensor> rules [F : tp_kv_etp, F : tp_replicate, S : tp_ep @stream, S : tp_kv_etp @stream, S : tp_replicate @stream, X : tp_ep]
// MANY: stg.mesh @mesh <etp = 2 : tensor, tp_replicate_tp_ep = 2 : tensor, tp_kv = 2 : tensor> rules [F : etp, S : tp_kv @stream, S : tp_replicate_tp_ep @stream, S : etp @stream, X : tp_kv, X : tp_replicate_tp_ep]
// SYMBOLS: stg.mesh @mesh <etp = u : tensor, tp_ep = t/u : tensor, ep = u*v/t : expert, edp = d*t/(u*v) : data> rules [B : edp, B : ep, F : etp, S : tp_ep @stream, S : etp @stream, X : ep, X : tp_ep]
// NONE: stg.mesh @mesh <tp = 2 : tensor, dp = 4 : data> rules [B : dp, S : tp @stream]
func.func @f(%x: !stg.tensor<[B, S], bf16>) {
  // CHECK-PLAN: stg.param "expert" : !stg.tensor<[X : (ep, tp), F], bf16>
  %w = stg.param "expert" : !stg.tensor<[X, F], bf16>
  %y = stg.repeat "layers" * 2 carry(%c = %x : !stg.tensor<[B, S], bf16>) {
    stg.yield %c : !stg.tensor<[B, S], bf16>
  }
  return
}
