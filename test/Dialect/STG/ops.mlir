// Round trip of every op and every optional clause, as text and as bytecode.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s | stg-opt | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt | FileCheck %s
// RUN: stg-opt %s --mlir-print-op-generic | stg-opt | FileCheck %s

// CHECK: stg.symbol @B "sequences in the global batch"
stg.symbol @B "sequences in the global batch"
// CHECK: stg.symbol @S{{$}}
stg.symbol @S
// CHECK: stg.symbol @D = 4096 "hidden size"
stg.symbol @D = 4096 "hidden size"
// CHECK: stg.symbol @E = D/32
stg.symbol @E = D / 32
stg.symbol @V
// CHECK: stg.config @small {D = 64 : i64, S = 8 : i64}
stg.config @small {D = 64, S = 8}
// CHECK: stg.config @"llama3-8b" "Llama 3 8B" {D = 4096 : i64}
stg.config @"llama3-8b" "Llama 3 8B" {D = 4096}
// CHECK: stg.mesh @mesh <tp = 8 : tensor, cp = 2 : context, ep = 2 : expert, dp = B : data, copies = 2 : replica, pp = 4 : pipeline, other = 3> rules [B : dp, S : tp @stream, D : dp @param, S : cp @input]
stg.mesh @mesh <tp = 8 : tensor, cp = 2 : context, ep = 2 : expert, dp = B : data, copies = 2 : replica, pp = 4 : pipeline, other = 3 : none> rules [B : dp, S : tp @stream, D : dp @param, S : cp @input]

!x = !stg.tensor<[B, S, D], bf16>
!w = !stg.tensor<[D], bf16>
!row = !stg.tensor<[B, S], f32>
!ids = !stg.tensor<[B, S], i32>
!q = !stg.tensor<[B, S, 32, E], bf16>
!kv = !stg.tensor<[B, S, 8, E], bf16>

// CHECK-LABEL: func.func @values
func.func @values() {
  // CHECK: stg.param "q_proj" : !stg.tensor<[D, 32, E], bf16>
  %0 = stg.param "q_proj" : !stg.tensor<[D, 32, E], bf16>
  // CHECK: stg.splat 1/(B*S) : !stg.tensor<[B, S], f32>
  %1 = stg.splat 1/(B*S) : !row
  // CHECK: stg.splat 0 <"zero"> : !stg.tensor<[], f32>
  %2 = stg.splat 0 <"zero"> : !stg.tensor<[], f32>
  return
}

// CHECK-LABEL: func.func @compute
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, S, D], bf16>, %[[W:.*]]: !stg.tensor<[D], bf16>, %[[R:.*]]: !stg.tensor<[B, S], f32>)
func.func @compute(%x: !x, %w: !w, %r: !row) {
  // CHECK: stg.einsum "bsd,d->bs" %[[X]], %[[W]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %0 = stg.einsum "bsd,d->bs" %x, %w : !x, !w
  // CHECK: stg.einsum "bsd->" %[[X]] {into = f32} : !stg.tensor<[B, S, D], bf16>{{$}}
  %1 = stg.einsum "bsd->" %x {into = f32} : !x
  // CHECK: stg.add %[[X]], %[[X]] <"residual" fwd> : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, D], bf16>{{$}}
  %2 = stg.add %x, %x <"residual" fwd> : !x, !x
  // CHECK: stg.mul %[[X]], %[[X]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, D], bf16>{{$}}
  %3 = stg.mul %x, %x : !x, !x
  // CHECK: stg.activation gelu %[[X]] : !stg.tensor<[B, S, D], bf16>{{$}}
  %4 = stg.activation gelu %x : !x
  // CHECK: stg.activation_grad relu %[[X]], %[[X]] : {{.*}}
  %5 = stg.activation_grad relu %x, %x : !x, !x
  // CHECK: %[[N:.*]], %[[RSTD:.*]] = stg.rms_norm %[[X]], %[[W]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %6, %7 = stg.rms_norm %x, %w : !x, !w
  // CHECK: stg.rms_norm_grad %[[X]], %[[W]], %[[R]], %[[X]] : {{.*}} -> !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], f32>
  %8, %9 = stg.rms_norm_grad %x, %w, %r, %x : !x, !w, !row, !x -> !x, !stg.tensor<[D], f32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = stg.layer_norm %[[X]], %[[W]], %[[W]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %10, %11, %12 = stg.layer_norm %x, %w, %w : !x, !w, !w
  // CHECK: stg.layer_norm_grad %[[X]], %[[W]], %[[R]], %[[R]], %[[X]] : {{.*}} -> !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
  %13:3 = stg.layer_norm_grad %x, %w, %r, %r, %x : !x, !w, !row, !row, !x -> !x, !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
  // CHECK: stg.bias_add %[[X]], %[[W]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %14 = stg.bias_add %x, %w : !x, !w
  // CHECK: stg.bias_grad %[[X]] : !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[S, D], f32>
  %15 = stg.bias_grad %x : !x -> !stg.tensor<[S, D], f32>
  // CHECK: stg.keep %[[X]] : !stg.tensor<[B, S, D], bf16>{{$}}
  stg.keep %x : !x
  return
}

// CHECK-LABEL: func.func @gated
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 2, D], bf16>, %[[Y:.*]]: !stg.tensor<[B, D], bf16>)
func.func @gated(%x: !stg.tensor<[B, 2, D], bf16>, %y: !stg.tensor<[B, D], bf16>) {
  // CHECK: stg.glu silu %[[X]] : !stg.tensor<[B, 2, D], bf16>{{$}}
  %0 = stg.glu silu %x : !stg.tensor<[B, 2, D], bf16>
  // CHECK: stg.glu_grad silu %[[X]], %[[Y]] : !stg.tensor<[B, 2, D], bf16>, !stg.tensor<[B, D], bf16>{{$}}
  %1 = stg.glu_grad silu %x, %y : !stg.tensor<[B, 2, D], bf16>, !stg.tensor<[B, D], bf16>
  return
}

// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:.*]]: !stg.tensor<[B, S, 32, E], bf16>, %[[K:.*]]: !stg.tensor<[B, S, 8, E], bf16>)
func.func @attention(%q: !q, %k: !kv) {
  // CHECK: stg.rope %[[Q]] : !stg.tensor<[B, S, 32, E], bf16>{{$}}
  %0 = stg.rope %q : !q
  // CHECK: stg.rope inverse %[[Q]] : !stg.tensor<[B, S, 32, E], bf16>{{$}}
  %1 = stg.rope inverse %q : !q
  // CHECK: %[[O:.*]], %[[LSE:.*]] = stg.attention causal %[[Q]], %[[K]], %[[K]] : {{[^>]*>, [^>]*>, [^>]*>$}}
  %2, %3 = stg.attention causal %q, %k, %k : !q, !kv, !kv
  // CHECK: stg.attention none %[[Q]], %[[K]], %[[K]] {full_count} : {{.*}}
  %4, %5 = stg.attention none %q, %k, %k {full_count} : !q, !kv, !kv
  // CHECK: stg.attention_grad causal %[[Q]], %[[K]], %[[K]], %[[O]], %[[LSE]], %[[O]] : {{.*}}
  %6:3 = stg.attention_grad causal %q, %k, %k, %2, %3, %2 : !q, !kv, !kv, !q, !stg.tensor<[B, S, 32], f32>, !q
  return
}

// CHECK-LABEL: func.func @loss
// CHECK-SAME: (%[[T:.*]]: !stg.tensor<[V, D], bf16>, %[[I:.*]]: !stg.tensor<[B, S], i32>, %[[X:.*]]: !stg.tensor<[B, S, D], bf16>, %[[R:.*]]: !stg.tensor<[B, S], f32>)
func.func @loss(%t: !stg.tensor<[V, D], bf16>, %i: !ids, %x: !x, %r: !row) {
  // CHECK: stg.embedding %[[T]], %[[I]] : !stg.tensor<[V, D], bf16>, !stg.tensor<[B, S], i32>{{$}}
  %0 = stg.embedding %t, %i : !stg.tensor<[V, D], bf16>, !ids
  // CHECK: stg.embedding_grad %[[I]], %[[X]] : {{.*}} -> !stg.tensor<[V, D], f32>
  %1 = stg.embedding_grad %i, %x : !ids, !x -> !stg.tensor<[V, D], f32>
  // CHECK: stg.cross_entropy %[[X]], %[[I]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S], i32>{{$}}
  %2, %3 = stg.cross_entropy %x, %i : !x, !ids
  // CHECK: stg.cross_entropy_grad %{{.*}}, %[[I]], %[[R]] : {{.*}} -> !stg.tensor<[B, S, D], bf16>
  %4 = stg.cross_entropy_grad %3, %i, %r : !stg.tensor<[B, S, D], f32>, !ids, !row -> !x
  // CHECK: stg.reduce sum %[[X]] : !stg.tensor<[B, S, D], bf16>{{$}}
  %5 = stg.reduce sum %x : !x
  // CHECK: %[[M:.*]] = stg.reduce max %[[X]] : !stg.tensor<[B, S, D], bf16>{{$}}
  %6 = stg.reduce max %x : !x
  // CHECK: %[[EXP:.*]], %[[SUM:.*]] = stg.exp_sum %[[X]], %[[M]] : {{.*}}
  %7, %8 = stg.exp_sum %x, %6 : !x, !row
  // CHECK: %[[P:.*]] = stg.pick %[[X]], %[[I]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S], i32>{{$}}
  %9 = stg.pick %x, %i : !x, !ids
  // CHECK: stg.nll %[[SUM]], %[[M]], %[[P]] : {{.*}}
  %10 = stg.nll %8, %6, %9 : !row, !row, !row
  // CHECK: stg.normalize %[[EXP]], %[[SUM]] : !stg.tensor<[B, S, D], f32>, !stg.tensor<[B, S], f32>{{$}}
  %11 = stg.normalize %7, %8 : !stg.tensor<[B, S, D], f32>, !row
  return
}

// CHECK-LABEL: func.func @views_and_steps
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 48], bf16>, %[[G:.*]]: !stg.tensor<[B, 48], f32>)
func.func @views_and_steps(%x: !stg.tensor<[B, 48], bf16>, %g: !stg.tensor<[B, 48], f32>) {
  // CHECK: %[[P:.*]]:2 = stg.split dim 1 %[[X]] : !stg.tensor<[B, 48], bf16> -> !stg.tensor<[B, 32], bf16>, !stg.tensor<[B, 16], bf16>
  %0, %1 = stg.split dim 1 %x : !stg.tensor<[B, 48], bf16> -> !stg.tensor<[B, 32], bf16>, !stg.tensor<[B, 16], bf16>
  // CHECK: stg.concat dim 1 %[[P]]#0, %[[P]]#1 : {{.*}} -> !stg.tensor<[B, 48], bf16>
  %2 = stg.concat dim 1 %0, %1 : !stg.tensor<[B, 32], bf16>, !stg.tensor<[B, 16], bf16> -> !stg.tensor<[B, 48], bf16>
  // CHECK: stg.adam bf16 %[[X]], %[[G]] : !stg.tensor<[B, 48], bf16>, !stg.tensor<[B, 48], f32>{{$}}
  stg.adam bf16 %x, %g : !stg.tensor<[B, 48], bf16>, !stg.tensor<[B, 48], f32>
  return
}
