// Keys and values are gathered, blocks are those of a ring, and gradients of keys and values go
// around it, as often as there are devices. What blocks add up has a type of its own.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-opt %t/ring.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/ring.mlir
// RUN: stg-opt %t/ring.mlir --stg-lower-context-parallel="sum-type=f32" --verify-roundtrip | FileCheck %t/ring.mlir --check-prefix=SUMS
// RUN: stg-opt %t/ranges.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/ranges.mlir
// RUN: stg-opt %t/sizes.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/sizes.mlir
// RUN: not stg-opt %t/ring.mlir --stg-lower-context-parallel="sum-type=i8" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: option 'sum-type' has the value 'i8', expected a float type such as bf16, f16 or f32
// RUN: not stg-opt %t/into.mlir 2>&1 | FileCheck %s --check-prefix=INTO
// INTO: error: 'into' is 'i32', expected a float of whole bytes

//--- ring.mlir
stg.symbol @n
stg.symbol @S
stg.mesh @mesh <cp = n>
!x = !stg.tensor<[2, S, 4, 16], bf16>
!lse = !stg.tensor<[2, S, 4], f32>
// CHECK-LABEL: func.func @f(
// SUMS-LABEL: func.func @f(
func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) -> (!x, !x, !x, !x) {
  // CHECK-COUNT-3: stg.pack
  // CHECK-NEXT: %[[KV:.*]] = stg.concat dim 0 ordered %[[K:.*]], %[[V:.*]] <"o" first> : {{.*}} -> !stg.tensor<[4, S, 4, 16], bf16>
  // CHECK-NEXT: %[[ALL:.*]] = stg.all_gather dim 1 over ["cp"] %[[KV]] <"o" keys> : {{.*}} -> !stg.tensor<[4, S = S*n, 4, 16], bf16>
  // CHECK-NEXT: %[[P:.*]]:2 = stg.split dim 0 ordered %[[ALL]] <"o" block> :
  // CHECK-NEXT: %[[O0:.*]], %[[L0:.*]] = stg.attention_block (S*S + S)/2 %[[Q:.*]], %[[K]], %[[V]] <"o" own> :
  // CHECK-NEXT: %[[R:.*]]:2 = stg.repeat "o.fwd.ring" * n - 1 carry(%[[OC:.*]] = %[[O0]] : {{.*}}, %[[LC:.*]] = %[[L0]] : {{.*}}) <"o"> {
  // CHECK-NEXT:   %[[KS:.*]] = stg.local_slice dim 1 over ["cp"] %[[P]]#0 {peer} <"o" block> :
  // CHECK-NEXT:   %[[VS:.*]] = stg.local_slice dim 1 over ["cp"] %[[P]]#1 {peer} <"o" block> :
  // CHECK-NEXT:   %[[ON:.*]], %[[LN:.*]] = stg.attention_block S*S/2 %[[Q]], %[[KS]], %[[VS]], %[[OC]], %[[LC]] <"o" block> :
  // CHECK-NEXT:   stg.yield %[[ON]], %[[LN]] :
  // CHECK-NEXT: }
  // SUMS: stg.attention_block (S*S + S)/2 {{.*}} {into = f32} <"o" own> :
  // SUMS: %[[S:.*]]:2 = stg.repeat "o.fwd.ring" * n - 1 carry(%{{.*}} : !stg.tensor<[2, S, 4, 16], f32>, %{{.*}} : !stg.tensor<[2, S, 4], f32>)
  // SUMS: stg.attention_block S*S/2 {{.*}} {into = f32} <"o" block> :
  // SUMS: stg.cast %[[S]]#0 <"o" cast> : !stg.tensor<[2, S, 4, 16], f32> -> !stg.tensor<[2, S, 4, 16], bf16>
  %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<gather_p2p zigzag over ["cp"]>} <"o"> : !x, !x, !x
  // CHECK-COUNT-6: stg.pack
  // CHECK-NEXT: stg.concat dim 0 ordered {{.*}} <"o" bwd first> :
  // CHECK-NEXT: stg.all_gather dim 1 over ["cp"] {{.*}} <"o" bwd keys> :
  // CHECK-NEXT: stg.split dim 0 ordered {{.*}} <"o" bwd block> :
  // CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = stg.attention_block_grad (S*S + S)/2 {{.*}} <"o" bwd own> :
  // CHECK-NEXT: %[[B:.*]]:3 = stg.repeat "o.bwd.ring" * n - 1 carry(%[[DQC:.*]] = %[[DQ]] : {{.*}}, %[[DKC:.*]] = %[[DK]] : {{.*}}, %[[DVC:.*]] = %[[DV]] : {{.*}}) <"o" bwd> {
  // CHECK-NEXT:   %[[DKV:.*]]:2 = stg.exchange over "cp" shift 1 channel 2 %[[DKC]], %[[DVC]] <"o" bwd gradients> :
  // CHECK-COUNT-2: stg.local_slice dim 1 over ["cp"]
  // CHECK-NEXT:   %{{.*}}, %[[DKB:.*]], %[[DVB:.*]] = stg.attention_block_grad S*S/2 {{.*}}, %[[DQC]] <"o" bwd block> :
  // CHECK-NEXT:   stg.add %[[DKV]]#0, %[[DKB]] <"o" bwd add> :
  // CHECK-NEXT:   stg.add %[[DKV]]#1, %[[DVB]] <"o" bwd add> :
  // CHECK-NEXT:   stg.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[HOME:.*]]:2 = stg.exchange over "cp" shift 1 channel 2 %[[B]]#1, %[[B]]#2 <"o" bwd last> :
  // CHECK-NEXT: return %[[R]]#0, %[[B]]#0, %[[HOME]]#0, %[[HOME]]#1 :
  // SUMS: stg.attention_block_grad {{.*}} {into = f32} <"o" bwd own> :
  // SUMS: stg.exchange over "cp" shift 1 channel 2 {{.*}} <"o" bwd last> : !stg.tensor<[2, S, 4, 16], f32>, !stg.tensor<[2, S, 4, 16], f32>
  // SUMS-COUNT-3: stg.cast {{.*}} <"o" bwd cast> :
  // SUMS-NEXT: return
  %g:3 = stg.attention_grad causal %q, %k, %v, %o, %lse, %do {context = #stg.context<gather_p2p zigzag over ["cp"]>} <"o" bwd> : !x, !x, !x, !x, !lse, !x
  return %o, %g#0, %g#1, %g#2 : !x, !x, !x, !x
}

//--- ranges.mlir
// Ranges under a causal mask: device number i has the blocks of i others, and passes on gradients
// of the rest. Windows: each block has pairs of its own, or none.
stg.symbol @cp_index coordinate "cp"
stg.mesh @mesh <cp = 4>
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
// CHECK-LABEL: func.func @f(
func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) {
  // CHECK: stg.attention_block 36 {{.*}} <"o" own> :
  // CHECK-NEXT: stg.repeat "o.fwd.ring" * cp_index carry(
  // CHECK: stg.attention_block 64 {{.*}} <"o" block> :
  // CHECK-NOT: "o.fwd.hidden"
  %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<gather_p2p range over ["cp"]>} <"o"> : !x, !x, !x
  // CHECK: stg.attention_block_grad 36 {{.*}} <"g" bwd own> :
  // CHECK-NEXT: stg.repeat "g.bwd.ring" * cp_index carry(
  // CHECK-NEXT:   stg.exchange over "cp" shift 1 channel 2 {{.*}} <"g" bwd gradients> :
  // CHECK: stg.attention_block_grad 64 {{.*}} <"g" bwd block> :
  // CHECK: stg.repeat "g.bwd.hidden" * -cp_index + 3 carry(
  // CHECK-NEXT:   stg.exchange over "cp" shift 1 channel 2 {{.*}} <"g" bwd gradients> :
  // CHECK-NEXT:   stg.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: stg.exchange over "cp" shift 1 channel 2 {{.*}} <"g" bwd last> :
  %g:3 = stg.attention_grad causal %q, %k, %v, %o, %lse, %do {context = #stg.context<gather_p2p range over ["cp"]>} <"g" bwd> : !x, !x, !x, !x, !lse, !x
  // Ranges of 8 tokens with windows of 8: a device sees its own range and the one before.
  // CHECK: stg.attention_block 36 {{.*}} <"w" own> :
  // CHECK-NEXT: stg.repeat "w.fwd.before1" * max(min(cp_index, 1), 0) carry(
  // CHECK: stg.attention_block {{.*}} <"w" block> :
  // CHECK-NOT: stg.attention_block
  %w, %wl = stg.attention causal %q, %k, %v {window = #sym.expr<8>, context = #stg.context<gather_p2p range over ["cp"]>} <"w"> : !x, !x, !x
  return
}

//--- sizes.mlir
// Keys and values of different sizes are gathered one by one.
stg.mesh @mesh <cp = 2>
!k = !stg.tensor<[2, 8, 4, 24], bf16>
!v = !stg.tensor<[2, 8, 4, 16], bf16>
func.func @f(%q: !k, %k: !k, %v: !v) {
  // CHECK-NOT: stg.concat
  // CHECK: stg.all_gather dim 1 over ["cp"] {{.*}} <"o" keys> : !stg.tensor<[2, 8, 4, 24], bf16> -> !stg.tensor<[2, 16, 4, 24], bf16>
  // CHECK-NEXT: stg.all_gather dim 1 over ["cp"] {{.*}} <"o" keys> : !stg.tensor<[2, 8, 4, 16], bf16> -> !stg.tensor<[2, 16, 4, 16], bf16>
  // CHECK: stg.repeat "o.fwd.ring" * 1
  %o, %lse = stg.attention none %q, %k, %v {context = #stg.context<gather_p2p zigzag over ["cp"]>} <"o"> : !k, !k, !v
  return
}

//--- into.mlir
stg.mesh @mesh <cp = 2>
!x = !stg.tensor<[2, 8, 4, 16], bf16>
func.func @f(%q: !x) {
  %o, %lse = stg.attention_block 36 %q, %q, %q {into = i32} <"o"> : !x, !x, !x
  return
}
