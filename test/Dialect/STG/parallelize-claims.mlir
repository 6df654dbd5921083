// What ops compute over an axis whatever rules say: one of their factors, none of them, or none
// although what they make is divided.
//
// RUN: stg-opt %s --stg-parallelize="mesh=tp=2:tensor,kvp=2:tensor rules=H:tp,F:kvp claims=stg.attention>h:kvp" | FileCheck %s --check-prefix=CLAIM
// RUN: stg-opt %s --stg-parallelize="mesh=tp=2:tensor,kvp=2:tensor rules=H:tp,F:kvp claims=stg.attention>h:kvp" --stg-propagate-shardings | FileCheck %s --check-prefix=PLAN
// RUN: stg-opt %s --stg-parallelize="mesh=tp=2:tensor,kvp=2:tensor rules=H:tp,F:kvp claims=stg.attention>h:kvp" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=LOCAL
// RUN: stg-opt %s --stg-parallelize="mesh=tp=2:tensor rules=H:tp,F:tp claims=stg.einsum/none@F:tp" --stg-propagate-shardings | FileCheck %s --check-prefix=NONE

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @E
stg.symbol @F

!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>

// The output of attention is divided over both axes, queries over one.
//
// CLAIM: stg.attention {{.*}}{factors = #stg.factors<none : kvp>}{{.*}}
// PLAN: %[[Q:.*]] = stg.einsum "bsd,dhe->bshe" {{.*}} -> !stg.tensor<[B, S, H : tp, E], bf16>
// PLAN: %[[O:.*]], %{{.*}} = stg.attention {{.*}}{factors = #stg.factors<h : tp>}
// PLAN: stg.param "wo" : !stg.tensor<[H : (kvp, tp), E, D], bf16>
// PLAN: stg.param "wf" : !stg.tensor<[D, F : kvp], bf16>
// The slice is where both meet.
// LOCAL: %[[O:.*]], %{{.*}} = stg.attention {{.*}} : !stg.tensor<[B, S, H/2, E], bf16>
// LOCAL: %[[OWN:.*]] = stg.local_slice dim 2 over ["kvp"] %[[O]] {{.*}} -> !stg.tensor<[B, S, H/4, E], bf16>
// LOCAL: stg.einsum "bshe,hed->bsd" %[[OWN]], %{{.*}}
// Products with F are computed whole by all.
// NONE: stg.param "wf" : !stg.tensor<[D, F : tp], bf16>
// NONE-NEXT: stg.einsum "bsd,df->bsf" %{{.*}}, %{{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D, F : tp], bf16>{{$}}
func.func @f(%x: !x) -> !stg.tensor<[B, S, F], bf16> {
  %wq = stg.param "wq" : !stg.tensor<[D, H, E], bf16>
  %q = stg.einsum "bsd,dhe->bshe" %x, %wq : !x, !stg.tensor<[D, H, E], bf16>
  %o, %l = stg.attention causal %q, %q, %q : !q, !q, !q
  %wo = stg.param "wo" : !stg.tensor<[H, E, D], bf16>
  %y = stg.einsum "bshe,hed->bsd" %o, %wo : !q, !stg.tensor<[H, E, D], bf16>
  %wf = stg.param "wf" : !stg.tensor<[D, F], bf16>
  %z = stg.einsum "bsd,df->bsf" %y, %wf : !x, !stg.tensor<[D, F], bf16>
  return %z : !stg.tensor<[B, S, F], bf16>
}
