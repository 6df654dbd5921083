// The pass of docs/HowToWriteAPass.md, where loops inside of backward read what it makes again.
//
// RUN: stg-test-opt %s --test-recompute-cheap --canonicalize | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.symbol @M
!x = !stg.tensor<[B, D], bf16>
!stack = !stg.tensor<[layers = L, B, D], bf16>

// What a loop reads in each iteration is made once, before the loop.
//
// CHECK-LABEL: func.func @first_in_loop
// CHECK: stg.repeat "layers" * L reverse
// CHECK-NEXT: %[[A:.*]] = stg.activation gelu %{{.*}} <"activation" recompute>
// CHECK-NEXT: stg.repeat "inner" * M
// CHECK-NEXT:   stg.mul %{{.*}}, %[[A]] <"m" bwd>
// CHECK: stg.mul %{{.*}}, %[[A]] <"n" bwd>
func.func @first_in_loop(%x: !x) -> !x {
  %y, %in, %out = stg.repeat "layers" * L carry(%c = %x : !x) <fwd> {
    %a = stg.activation gelu %c <"activation" fwd> : !x
    stg.yield %a, %c, %a : !x, !x, !x
  }
  %z = stg.repeat "layers" * L reverse carry(%d = %y : !x) slices(%i = %in : !stack, %o = %out : !stack) <bwd> {
    %q = stg.repeat "inner" * M carry(%e = %d : !x) <bwd> {
      %m = stg.mul %e, %o <"m" bwd> : !x, !x
      stg.yield %m : !x
    }
    %n = stg.mul %q, %o <"n" bwd> : !x, !x
    stg.yield %n : !x
  }
  return %z : !x
}

// Before the first reader, where loops before and after others read it, too.
//
// CHECK-LABEL: func.func @loops_behind
// CHECK: stg.repeat "layers" * L reverse
// CHECK-NEXT: stg.activation silu %{{.*}} <"own" bwd>
// CHECK-NEXT: %[[A:.*]] = stg.activation gelu %{{.*}} <"activation" recompute>
// CHECK-NEXT: stg.mul %[[A]], %{{.*}} <"s" bwd>
// CHECK: stg.repeat "inner" * M
// CHECK-NEXT:   stg.mul %{{.*}}, %[[A]] <"m" bwd>
// CHECK: stg.repeat "second" * M
// CHECK-NEXT:   stg.mul %{{.*}}, %[[A]] <"t" bwd>
// CHECK-NOT: recompute
func.func @loops_behind(%x: !x) -> !x {
  %y, %in, %out = stg.repeat "layers" * L carry(%c = %x : !x) <fwd> {
    %a = stg.activation gelu %c <"activation" fwd> : !x
    stg.yield %a, %c, %a : !x, !x, !x
  }
  %z = stg.repeat "layers" * L reverse carry(%d = %y : !x) slices(%i = %in : !stack, %o = %out : !stack) <bwd> {
    %own = stg.activation silu %d <"own" bwd> : !x
    %s = stg.mul %o, %own <"s" bwd> : !x, !x
    %q = stg.repeat "inner" * M carry(%e = %s : !x) <bwd> {
      %m = stg.mul %e, %o <"m" bwd> : !x, !x
      stg.yield %m : !x
    }
    %r = stg.repeat "second" * M carry(%e = %q : !x) <bwd> {
      %t = stg.mul %e, %o <"t" bwd> : !x, !x
      stg.yield %t : !x
    }
    stg.yield %r : !x
  }
  return %z : !x
}
