// What is exchanged is kept for backward where layers are in loops inside of loops, too: the result
// takes the place of what was exchanged in the stacks of both.
//
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s
// RUN: stg-opt %s --stg-simplify-collectives=keep-gathered=all | FileCheck %s --check-prefix=ALL

stg.symbol @C
stg.mesh @mesh <ep = 4>

!own = !stg.tensor<[2, C, 8], bf16>
!sent = !stg.tensor<[8, C/4, 8], bf16>
!saved = !stg.tensor<[outer = 3, inner = 2, 2, C, 8], bf16>

// CHECK-LABEL: func.func @exchanged
// CHECK: %[[F:.*]]:2 = stg.repeat "outer" * 3
// CHECK: %[[L:.*]]:2 = stg.repeat "inner" * 2 carry(%[[B:.*]] = %
// CHECK-NEXT: %[[Z:.*]] = stg.all_to_all from 0 to 1 over ["ep"] %[[B]] <fwd>
// CHECK: stg.yield %{{.*}}, %[[Z]] :
// CHECK: stg.yield %[[L]]#0, %[[L]]#1 :
// CHECK: stg.repeat "outer" * 3 reverse {{.*}}slices(%[[S:.*]] = %[[F]]#1 : !stg.tensor<[outer = 3, inner = 2, 8, C/4, 8], bf16>)
// CHECK: stg.repeat "inner" * 2 reverse {{.*}}slices(%[[T:.*]] = %[[S]] :
// CHECK-NOT: stg.all_to_all from 0 to 1
// CHECK: stg.mul %{{.*}}, %[[T]] <bwd>
func.func @exchanged(%x: !own, %d: !sent) -> !sent {
  %f:2 = stg.repeat "outer" * 3 carry(%a = %x : !own) <fwd> {
    %l:2 = stg.repeat "inner" * 2 carry(%b = %a : !own) <fwd> {
      %z = stg.all_to_all from 0 to 1 over ["ep"] %b <fwd> : !own -> !sent
      %g = stg.activation gelu %z <fwd> : !sent
      %n = stg.all_to_all from 1 to 0 over ["ep"] %g <fwd> : !sent -> !own
      stg.yield %n, %b : !own, !own
    }
    stg.yield %l#0, %l#1 : !own, !stg.tensor<[inner = 2, 2, C, 8], bf16>
  }
  %o = stg.repeat "outer" * 3 reverse carry(%a = %d : !sent) slices(%s = %f#1 : !saved) <bwd> {
    %l = stg.repeat "inner" * 2 reverse carry(%b = %a : !sent) slices(%t = %s : !stg.tensor<[inner = 2, 2, C, 8], bf16>) <bwd> {
      %z = stg.all_to_all from 0 to 1 over ["ep"] %t <bwd> : !own -> !sent
      %m = stg.mul %b, %z <bwd> : !sent, !sent
      stg.yield %m : !sent
    }
    stg.yield %l : !sent
  }
  return %o : !sent
}

// Where something else reads what was exchanged, both would have to be in memory.
// CHECK-LABEL: func.func @read_twice
// CHECK: stg.repeat "inner" * 2 reverse
// CHECK: stg.all_to_all from 0 to 1 over ["ep"] %{{.*}} <bwd>
func.func @read_twice(%x: !own, %d: !own) -> !own {
  %f:2 = stg.repeat "outer" * 3 carry(%a = %x : !own) <fwd> {
    %l:2 = stg.repeat "inner" * 2 carry(%b = %a : !own) <fwd> {
      %z = stg.all_to_all from 0 to 1 over ["ep"] %b <fwd> : !own -> !sent
      %g = stg.activation gelu %z <fwd> : !sent
      %n = stg.all_to_all from 1 to 0 over ["ep"] %g <fwd> : !sent -> !own
      stg.yield %n, %b : !own, !own
    }
    stg.yield %l#0, %l#1 : !own, !stg.tensor<[inner = 2, 2, C, 8], bf16>
  }
  %o = stg.repeat "outer" * 3 reverse carry(%a = %d : !own) slices(%s = %f#1 : !saved) <bwd> {
    %l = stg.repeat "inner" * 2 reverse carry(%b = %a : !own) slices(%t = %s : !stg.tensor<[inner = 2, 2, C, 8], bf16>) <bwd> {
      %z = stg.all_to_all from 0 to 1 over ["ep"] %t <bwd> : !own -> !sent
      %g = stg.activation gelu %z <bwd> : !sent
      %n = stg.all_to_all from 1 to 0 over ["ep"] %g <bwd> : !sent -> !own
      %m = stg.mul %n, %t <bwd> : !own, !own
      stg.yield %m : !own
    }
    stg.yield %l : !own
  }
  return %o : !own
}

// Keys that are gathered again unless one says otherwise.
// ALL-LABEL: func.func @gathered
// ALL: stg.repeat "outer" * 3 reverse
// ALL-NOT: stg.all_gather
// ALL: return
// CHECK-LABEL: func.func @gathered
// CHECK: stg.repeat "inner" * 2 reverse
// CHECK: stg.all_gather dim 1 over ["ep"] %{{.*}} <bwd>
func.func @gathered(%x: !own, %d: !stg.tensor<[2, 4*C, 8], bf16>) -> !stg.tensor<[2, 4*C, 8], bf16> {
  %f:2 = stg.repeat "outer" * 3 carry(%a = %x : !own) <fwd> {
    %l:2 = stg.repeat "inner" * 2 carry(%b = %a : !own) <fwd> {
      %z = stg.all_gather dim 1 over ["ep"] %b <fwd> : !own -> !stg.tensor<[2, 4*C, 8], bf16>
      %n = stg.reduce_scatter dim 1 over ["ep"] %z <fwd> : !stg.tensor<[2, 4*C, 8], bf16> -> !own
      stg.yield %n, %b : !own, !own
    }
    stg.yield %l#0, %l#1 : !own, !stg.tensor<[inner = 2, 2, C, 8], bf16>
  }
  %o = stg.repeat "outer" * 3 reverse carry(%a = %d : !stg.tensor<[2, 4*C, 8], bf16>) slices(%s = %f#1 : !saved) <bwd> {
    %l = stg.repeat "inner" * 2 reverse carry(%b = %a : !stg.tensor<[2, 4*C, 8], bf16>) slices(%t = %s : !stg.tensor<[inner = 2, 2, C, 8], bf16>) <bwd> {
      %z = stg.all_gather dim 1 over ["ep"] %t <bwd> : !own -> !stg.tensor<[2, 4*C, 8], bf16>
      %m = stg.mul %b, %z <bwd> : !stg.tensor<[2, 4*C, 8], bf16>, !stg.tensor<[2, 4*C, 8], bf16>
      stg.yield %m : !stg.tensor<[2, 4*C, 8], bf16>
    }
    stg.yield %l : !stg.tensor<[2, 4*C, 8], bf16>
  }
  return %o : !stg.tensor<[2, 4*C, 8], bf16>
}
