// What a stream that is sharded by tokens starts with: computed whole and sliced, as
// Megatron-LM adds learned positions, or by each device for its tokens. A partial sum that
// nothing is added to is scattered either way.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{tp=2 sequence-parallel},stg-propagate-shardings,stg-insert-collectives,stg-simplify-collectives)" | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{tp=2 sequence-parallel},stg-propagate-shardings{stream-start=sharded},stg-insert-collectives,stg-simplify-collectives)" | FileCheck %s --check-prefixes=CHECK,SHARDED
// RUN: not stg-opt %s --stg-apply-preset="tp=2 sequence-parallel" --stg-propagate-shardings=stream-start=half 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: has the value 'half', expected whole or sharded

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @V
stg.symbol @P
stg.symbol @L

!ids = !stg.tensor<[B, S], i32>
!x = !stg.tensor<[B, S, D], bf16>
!t = !stg.tensor<[V, D], bf16>
!p = !stg.tensor<[P, D], bf16>

// CHECK-LABEL: func.func @with_positions
// WHOLE-SAME: %[[AT:[a-z0-9]+]]: !stg.tensor<[B, S], i32> {stg.layout = #stg.layout<>, stg.name = "positions"}
// SHARDED-SAME: %[[AT:[a-z0-9]+]]: !stg.tensor<[B, S/2], i32> {stg.layout = #stg.layout<tp : 1>, stg.name = "positions"}
func.func @with_positions(%tokens: !ids {stg.name = "tokens"}, %positions: !ids {stg.name = "positions"}) -> !x {
  // CHECK: %[[T:.*]] = stg.embedding %{{.*}}, %{{.*}} <"t" fwd>
  // WHOLE-NEXT: %[[A:.*]] = stg.all_reduce sum over ["tp"] %[[T]]
  // SHARDED-NEXT: %[[A:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[T]]
  %t = stg.param "t" : !t
  %a = stg.embedding %t, %tokens : !t, !ids
  // CHECK: %[[P:.*]] = stg.embedding %{{.*}}, %[[AT]] <"p" fwd>
  // CHECK-NEXT: %[[E:.*]] = stg.add %[[A]], %[[P]]
  %p = stg.param "p" : !p
  %b = stg.embedding %p, %positions : !p, !ids
  %e = stg.add %a, %b : !x, !x
  // WHOLE-NEXT: %[[H:.*]] = stg.local_slice dim 1 over ["tp"] %[[E]]
  // WHOLE-NEXT: stg.repeat "layers" * L carry(%{{.*}} = %[[H]] :
  // SHARDED-NEXT: stg.repeat "layers" * L carry(%{{.*}} = %[[E]] :
  %y = stg.repeat "layers" * L carry(%h = %e : !x) {
    %z = stg.activation gelu %h : !x
    stg.yield %z : !x
  }
  // The conjugate of a slice is a gather; both tables read it.
  // CHECK: %[[DY:.*]] = stg.repeat "layers" * L reverse
  // WHOLE: %[[D:.*]] = stg.all_gather dim 1 over ["tp"] %[[DY]]
  // WHOLE-NEXT: stg.embedding_grad %[[AT]], %[[D]]
  // WHOLE-NEXT: stg.embedding_grad %{{.*}}, %[[D]]
  // SHARDED: %[[G:.*]] = stg.embedding_grad %[[AT]], %[[DY]]
  // SHARDED-NEXT: stg.all_reduce sum over ["tp"] %[[G]] <"p" grad_sync dw>
  // SHARDED-NEXT: %[[D:.*]] = stg.all_gather dim 1 over ["tp"] %[[DY]]
  // SHARDED-NEXT: stg.embedding_grad %{{.*}}, %[[D]]
  // CHECK-NOT: stg.all_reduce
  // CHECK: return
  return %y : !x
}

// CHECK-LABEL: func.func @without_positions
func.func @without_positions(%tokens: !ids {stg.name = "tokens"}) -> !x {
  // CHECK: %[[T:.*]] = stg.embedding
  // CHECK-NEXT: %[[E:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[T]] <"t" fwd>
  // CHECK-NEXT: stg.repeat "layers" * L carry(%{{.*}} = %[[E]] :
  %t = stg.param "t" : !t
  %e = stg.embedding %t, %tokens : !t, !ids
  %y = stg.repeat "layers" * L carry(%h = %e : !x) {
    %z = stg.activation gelu %h : !x
    stg.yield %z : !x
  }
  // CHECK: %[[DY:.*]] = stg.repeat "layers" * L reverse
  // CHECK: %[[D:.*]] = stg.all_gather dim 1 over ["tp"] %[[DY]]
  // CHECK-NEXT: stg.embedding_grad %{{.*}}, %[[D]]
  return %y : !x
}
