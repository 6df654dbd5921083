// tp where several devices hold the same key/value heads: two axes, one of them for replicas.
//
// RUN: stg-opt %s --stg-apply-preset="tp=16 tp-replicate=2 sequence-parallel=true" | FileCheck %s
// RUN: stg-opt %s --stg-apply-preset="tp=16 tp-replicate=2 sequence-parallel=true" --stg-propagate-shardings | FileCheck %s --check-prefix=CHECK-PLAN
// RUN: stg-opt %s --stg-apply-preset="tp=t tp-replicate=r" | FileCheck %s --check-prefix=SYMBOLS
// RUN: stg-opt %s --stg-apply-preset="tp=4 tp-replicate=4 cp=2" | FileCheck %s --check-prefix=ALL
// RUN: stg-opt %s --stg-apply-preset="tp=4 tp-replicate=2 rules=F:tp_replicate" | FileCheck %s --check-prefix=RULES
// RUN: stg-opt %s --stg-apply-preset="tp=4 tp-replicate=2 rules=F:tp_replicate" --stg-propagate-shardings | FileCheck %s --check-prefix=RULES-PLAN
// RUN: not stg-opt %s --stg-apply-preset="tp=4 tp-replicate=3" 2>&1 | FileCheck %s --check-prefix=DIVIDES
// DIVIDES: error: tp=4 is not divisible by tp_replicate=3; replicas are a part of tp
// RUN: not stg-opt %s --stg-apply-preset="tp=4 tp-replicate=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: degree of 'tp_replicate' is '0', expected an integer of at least 1 or a symbol

stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @K

// CHECK: stg.mesh @mesh <tp_replicate = 2 : tensor, tp_kv = 8 : tensor> rules [K : tp_kv, F : tp_kv, F : tp_replicate, S : tp_kv @stream, S : tp_replicate @stream]
// SYMBOLS: stg.mesh @mesh <tp_replicate = r : tensor, tp_kv = t/r : tensor> rules [K : tp_kv, F : tp_kv, F : tp_replicate]
// ALL: stg.mesh @mesh <tp = 4 : tensor, cp = 2 : context> rules [S : cp, F : tp]{{$}}
// RULES: stg.mesh @mesh <tp_replicate = 2 : tensor, tp_kv = 2 : tensor> rules [K : tp_kv, F : tp_replicate]{{$}}
func.func @f(%x: !stg.tensor<[S, D], bf16>) {
  // CHECK-PLAN: stg.param "w" : !stg.tensor<[D, K : tp_kv], bf16>
  %w = stg.param "w" : !stg.tensor<[D, K], bf16>
  // CHECK-PLAN: stg.replicate {{.*}}factors = #stg.factors<d1 : tp_kv, replica : tp_replicate>
  // SYMBOLS: stg.replicate {{.*}}factors = #stg.factors<replica : tp_replicate>
  %r = stg.replicate dim 1 %w : !stg.tensor<[D, K], bf16> -> !stg.tensor<[D, 2*K], bf16>
  // CHECK-PLAN: stg.param "f" : !stg.tensor<[D, F : (tp_kv, tp_replicate)], bf16>
  // RULES-PLAN: stg.param "f" : !stg.tensor<[D, F : tp_replicate], bf16>
  %f = stg.param "f" : !stg.tensor<[D, F], bf16>
  // CHECK-PLAN: stg.repeat {{.*}} : !stg.tensor<[S, D], bf16> as !stg.tensor<[S : (tp_kv, tp_replicate), D], bf16>) {
  %y = stg.repeat "layers" * 2 carry(%c = %x : !stg.tensor<[S, D], bf16>) {
    stg.yield %c : !stg.tensor<[S, D], bf16>
  }
  return
}
