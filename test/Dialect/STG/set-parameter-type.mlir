// Parameters are stored in one type and read in another.
//
// RUN: stg-opt %s --stg-name-ops --stg-set-parameter-type="to=f32" | FileCheck %s --check-prefix=MODEL
// RUN: stg-opt %s --stg-set-parameter-type="to=bf16" | FileCheck %s --check-prefix=SAME
// RUN: not stg-opt %s --stg-set-parameter-type 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-set-parameter-type{to=f32},stg-autodiff,stg-recompute{policy=selective ops=stg.rms_norm},stg-optimizer))" | FileCheck %s --check-prefix=STEP
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops),stg-narrow-products,func.func(stg-set-parameter-type{to=f32},stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 root=units})" | FileCheck %s --check-prefix=GATHER
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops),stg-narrow-products,func.func(stg-set-parameter-type{to=f32},stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 root=units narrowest=8})" | FileCheck %s --check-prefix=NARROW

// OPTION: error: option 'to' has the value '', expected a float type such as bf16, f16 or f32
// SAME-NOT: cast_parameter

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!v = !stg.tensor<[D], bf16>
!w = !stg.tensor<[D, D], bf16>

// The cast stands where the parameter is first read.
// MODEL-LABEL: func.func @f
// MODEL: %[[S:.*]] = stg.param "stem" : !stg.tensor<[D, D], f32>
// MODEL: %[[C:.*]] = stg.cast %[[S]] <"stem" cast_parameter> : {{.*}} -> !stg.tensor<{{.*}}, bf16>
// MODEL-NEXT: stg.einsum "bi,ij->bj" %{{.*}}, %[[C]] <"stem"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, D], bf16>
// MODEL: stg.repeat
// MODEL: stg.cast %{{.*}} <"norm" cast_parameter> : {{.*}} -> !stg.tensor<{{.*}}, bf16>
// MODEL-NEXT: stg.rms_norm
// MODEL: stg.cast %{{.*}} <"w" cast_parameter> : {{.*}} -> !stg.tensor<{{.*}}, bf16>

// Casts are not saved but done again, also before what is replayed. Gradients have their
// own type at once, and moments come without a master copy.
// STEP-LABEL: func.func @f
// STEP: stg.repeat "layers" * L carry
// STEP: stg.yield %{{.*}}, %{{.*}}, %{{.*}} : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16>
// STEP: stg.repeat "layers" * L reverse
// STEP-DAG: stg.cast %{{.*}} <"w" bwd cast_parameter> : {{.*}} -> !stg.tensor<{{.*}}, bf16>
// STEP-DAG: stg.einsum "bi,bj->ij" {{.*}} {into = f32} <"w" bwd dw>
// STEP-DAG: stg.cast %{{.*}} <"norm" recompute cast_parameter> : {{.*}} -> !stg.tensor<{{.*}}, bf16>
// STEP: stg.adam f32 %{{.*}}, %{{.*}} : !stg.tensor<[D, D], f32>, !stg.tensor<[D, D], f32>

// The cast is part of the gather, but to 8 bits only if that is said.
// GATHER-LABEL: func.func @f
// GATHER: stg.flat_all_gather over ["dp"] %{{.*}} <"stem" fwd> : !stg.tensor<[ceildiv(D*D, 4)], f32> -> !stg.tensor<[D, D], bf16>
// GATHER: stg.repeat "layers" * L carry
// GATHER: %[[G:.*]]:2 = stg.flat_all_gather over ["dp"] %{{.*}}, %{{.*}} {ahead = 1 : i64} <"unit" fwd> : !stg.tensor<[ceildiv(D, 4)], f32>, !stg.tensor<[ceildiv(D*D, 4)], f32> -> !stg.tensor<[D], bf16>, !stg.tensor<[D, D], bf16>
// GATHER: stg.cast %[[G]]#1 {{.*}} -> !stg.tensor<{{.*}}, f8E4M3FN>
// GATHER: stg.repeat "layers" * L reverse
// GATHER: stg.flat_all_gather over ["dp"] %{{.*}} <"stem" bwd> : !stg.tensor<[ceildiv(D*D, 4)], f32> -> !stg.tensor<[D, D], bf16>
//
// NARROW-LABEL: func.func @f
// NARROW: stg.repeat "layers" * L carry
// NARROW: stg.flat_all_gather over ["dp"] %{{.*}} {ahead = 1 : i64} <"w" fwd> : !stg.tensor<[ceildiv(D*D, 4)], f32> -> !stg.tensor<[D, D], f8E4M3FN>
// NARROW-NOT: cast_weight
// NARROW: stg.repeat "layers" * L reverse
// NARROW: stg.flat_all_gather over ["dp"] %{{.*}} {ahead = 1 : i64} <"w" bwd> : !stg.tensor<[ceildiv(D*D, 4)], f32> -> !stg.tensor<[D, D], f8E4M3FN>
// NARROW-NOT: cast_weight
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %stem = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %stem <"stem"> : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %v = stg.param "norm" : !v
    %n, %r = stg.rms_norm %c, %v <"norm"> : !x, !v
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %n, %w <"w"> : !x, !w
    stg.yield %z : !x
  }
  return %y : !x
}
