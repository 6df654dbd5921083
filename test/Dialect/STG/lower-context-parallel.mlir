// What one device executes for attention whose tokens are divided: blocks, and around a ring
// messages, with exact pairs.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-opt %t/gathered.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/gathered.mlir
// RUN: stg-opt %t/two.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/two.mlir
// RUN: sed 's/cp = 2/cp = cp/' %t/two.mlir | sed '1i stg.symbol @cp' > %t/symbol.mlir
// RUN: stg-opt %t/symbol.mlir --stg-lower-context-parallel | grep -c 'stg.repeat "attention.fwd.ring" \* cp - 2 carry' | FileCheck %s --check-prefix=STEPS
// RUN: stg-opt %t/symbol.mlir --stg-lower-context-parallel --stg-bind=cp=2 | FileCheck %t/two.mlir
// RUN: not stg-opt %t/symbol.mlir --stg-lower-context-parallel --stg-bind=cp=1 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: stg-opt %t/ring.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/ring.mlir
// RUN: stg-opt %t/ranges.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/ranges.mlir

// A ring of as many devices as a symbol says has steps between the first and the last, which are
// gone when the symbol is bound to 2.
// STEPS: {{^}}1{{$}}
// FEWER: error: 'stg.repeat' op has extent cp - 2, which is -1 and not a positive integer with cp = 1

//--- gathered.mlir
// Keys have been gathered: one block. 8 queries of a balanced share of 32 see half of the
// keys, 8*33/2; those of range i see 64*i pairs and 36 of their own.
stg.symbol @cp_index coordinate "cp"
stg.mesh @mesh <cp = 4>
!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 32, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[Q:.*]]: !{{.*}}, %[[K:.*]]: !{{.*}}, %[[DO:.*]]: !{{.*}}) {
func.func @f(%q: !q, %k: !k, %do: !q) {
  // CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = stg.attention_block 132 %[[Q]], %[[K]], %[[K]] <"o"> :
  %o, %lse = stg.attention causal %q, %k, %k {context = #stg.context<all_gather zigzag over ["cp"]>} <"o"> : !q, !k, !k
  // CHECK-NEXT: stg.attention_block_grad 132 %[[Q]], %[[K]], %[[K]], %[[O]], %[[LSE]], %[[DO]] <"g" bwd> :
  %g:3 = stg.attention_grad causal %q, %k, %k, %o, %lse, %do {context = #stg.context<all_gather zigzag over ["cp"]>} <"g" bwd> : !q, !k, !k, !q, !lse, !q
  // CHECK-NEXT: stg.attention_block 64*cp_index + 36 %[[Q]], %[[K]], %[[K]] <"r"> :
  %r, %rl = stg.attention causal %q, %k, %k {context = #stg.context<all_gather range over ["cp"]>} <"r"> : !q, !k, !k
  // Nothing is masked, or everything counted.
  // CHECK-NEXT: stg.attention_block 256 %[[Q]], %[[K]], %[[K]] <"n"> :
  %n, %nl = stg.attention none %q, %k, %k {context = #stg.context<all_gather range over ["cp"]>} <"n"> : !q, !k, !k
  // CHECK-NEXT: stg.attention_block 256 %[[Q]], %[[K]], %[[K]] <"c"> :
  %c, %cl = stg.attention causal %q, %k, %k {full_count, context = #stg.context<all_gather zigzag over ["cp"]>} <"c"> : !q, !k, !k
  // Nothing is divided.
  // CHECK-NEXT: stg.attention causal %[[Q]], %[[K]], %[[K]] <"d"> :
  %d, %dl = stg.attention causal %q, %k, %k <"d"> : !q, !k, !k
  // CHECK-NEXT: return
  return
}

//--- two.mlir
// Two devices: nothing between the first and the last step. A ring of one is none. What is
// taken on the axis is not used again.
stg.mesh @mesh <cp = 2, one = 1>
!x = !stg.tensor<[2, 8, 4, 16], bf16>
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[Q:.*]]: !{{.*}}, %[[K:.*]]: !{{.*}}, %[[V:.*]]: !{{.*}}) {
func.func @f(%q: !x, %k: !x, %v: !x) {
  // CHECK-NEXT: stg.send over "cp" shift 1 channel 4 %[[Q]]
  stg.send over "cp" shift 1 channel 4 %q : !x
  // CHECK-NEXT: %[[Q0:.*]] = stg.pack %[[Q]] <"attention"> :
  // CHECK-NEXT: %[[K0:.*]] = stg.pack %[[K]] <"attention"> :
  // CHECK-NEXT: %[[V0:.*]] = stg.pack %[[V]] <"attention"> :
  // CHECK-NEXT: %[[KV1:.*]]:2 = stg.exchange over "cp" shift 1 channel 5 %[[K0]], %[[V0]] <"attention" first> :
  // CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = stg.attention_block 36 %[[Q0]], %[[K0]], %[[V0]] <"attention" own> :
  // CHECK-NEXT: stg.attention_block 32 %[[Q0]], %[[KV1]]#0, %[[KV1]]#1, %[[O]], %[[LSE]] <"attention" last> :
  %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<p2p zigzag over ["cp"]>} : !x, !x, !x
  // CHECK-NEXT: stg.attention_block 36 %[[Q]], %[[K]], %[[V]] <"one"> :
  %1, %2 = stg.attention causal %q, %k, %v {context = #stg.context<p2p zigzag over ["one"]>} <"one"> : !x, !x, !x
  // CHECK-NEXT: return
  return
}

//--- ring.mlir
// A ring of n devices with S tokens each, forward and backward: twice n - 2 steps in repeats.
stg.symbol @n
stg.symbol @S
stg.mesh @mesh <cp = n>
!x = !stg.tensor<[2, S, 4, 16], bf16>
!lse = !stg.tensor<[2, S, 4], f32>
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[Q:.*]]: !{{.*}}, %[[K:.*]]: !{{.*}}, %[[V:.*]]: !{{.*}}, %[[DO:.*]]: !{{.*}}) -> (
func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) -> (!x, !x, !x, !x) {
  // CHECK-NEXT: %[[Q0:.*]] = stg.pack %[[Q]] <"o"> :
  // CHECK-NEXT: %[[K0:.*]] = stg.pack %[[K]] <"o"> :
  // CHECK-NEXT: %[[V0:.*]] = stg.pack %[[V]] <"o"> :
  // CHECK-NEXT: %[[KV1:.*]]:2 = stg.exchange over "cp" shift 1 channel 0 %[[K0]], %[[V0]] <"o" first> :
  // CHECK-NEXT: %[[O0:.*]], %[[LSE0:.*]] = stg.attention_block S*S %[[Q0]], %[[K0]], %[[V0]] <"o" own> :
  // CHECK-NEXT: %[[R:.*]]:4 = stg.repeat "o.fwd.ring" * n - 2 carry(%[[KC:.*]] = %[[KV1]]#0 : !{{.*}}, %[[VC:.*]] = %[[KV1]]#1 : !{{.*}}, %[[OC:.*]] = %[[O0]] : !{{.*}}, %[[LC:.*]] = %[[LSE0]] : !{{.*}}) <"o"> {
  // CHECK-NEXT:   %[[KVN:.*]]:2 = stg.exchange over "cp" shift 1 channel 0 %[[KC]], %[[VC]] <"o" keys> :
  // CHECK-NEXT:   %[[ON:.*]], %[[LN:.*]] = stg.attention_block S*S %[[Q0]], %[[KC]], %[[VC]], %[[OC]], %[[LC]] <"o" block> :
  // CHECK-NEXT:   stg.yield %[[KVN]]#0, %[[KVN]]#1, %[[ON]], %[[LN]] :
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = stg.attention_block S*S %[[Q0]], %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3 <"o" last> :
  %o, %lse = stg.attention none %q, %k, %v {context = #stg.context<p2p zigzag over ["cp"]>} <"o"> : !x, !x, !x
  // CHECK-NEXT: %[[Q1:.*]] = stg.pack %[[Q]] <"o" bwd> :
  // CHECK-NEXT: %[[K1:.*]] = stg.pack %[[K]] <"o" bwd> :
  // CHECK-NEXT: %[[V1:.*]] = stg.pack %[[V]] <"o" bwd> :
  // CHECK-NEXT: %[[O1:.*]] = stg.pack %[[O]] <"o" bwd> :
  // CHECK-NEXT: %[[LSE1:.*]] = stg.pack %[[LSE]] <"o" bwd> :
  // CHECK-NEXT: %[[DO1:.*]] = stg.pack %[[DO]] <"o" bwd> :
  // CHECK-NEXT: %[[KV2:.*]]:2 = stg.exchange over "cp" shift -1 channel 1 %[[K1]], %[[V1]] <"o" bwd first> :
  // CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = stg.attention_block_grad S*S %[[Q1]], %[[K1]], %[[V1]], %[[O1]], %[[LSE1]], %[[DO1]] <"o" bwd farthest> :
  // CHECK-NEXT: %[[B:.*]]:5 = stg.repeat "o.bwd.ring" * n - 2 carry(%[[KC:.*]] = %[[KV2]]#0 : !{{.*}}, %[[VC:.*]] = %[[KV2]]#1 : !{{.*}}, %[[DQC:.*]] = %[[DQ]] : !{{.*}}, %[[DKC:.*]] = %[[DK]] : !{{.*}}, %[[DVC:.*]] = %[[DV]] : !{{.*}}) <"o" bwd> {
  // CHECK-NEXT:   %[[KVN:.*]]:2 = stg.exchange over "cp" shift -1 channel 1 %[[KC]], %[[VC]] <"o" bwd keys> :
  // CHECK-NEXT:   %[[DKV:.*]]:2 = stg.exchange over "cp" shift -1 channel 2 %[[DKC]], %[[DVC]] <"o" bwd gradients> :
  // CHECK-NEXT:   %[[DQN:.*]], %[[DKB:.*]], %[[DVB:.*]] = stg.attention_block_grad S*S %[[Q1]], %[[KC]], %[[VC]], %[[O1]], %[[LSE1]], %[[DO1]], %[[DQC]] <"o" bwd block> :
  // CHECK-NEXT:   %[[DKN:.*]] = stg.add %[[DKV]]#0, %[[DKB]] <"o" bwd add> :
  // CHECK-NEXT:   %[[DVN:.*]] = stg.add %[[DKV]]#1, %[[DVB]] <"o" bwd add> :
  // CHECK-NEXT:   stg.yield %[[KVN]]#0, %[[KVN]]#1, %[[DQN]], %[[DKN]], %[[DVN]] :
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[DKVL:.*]]:2 = stg.exchange over "cp" shift -1 channel 2 %[[B]]#3, %[[B]]#4 <"o" bwd last> :
  // CHECK-NEXT: %[[DQL:.*]], %[[DKO:.*]], %[[DVO:.*]] = stg.attention_block_grad S*S %[[Q1]], %[[B]]#0, %[[B]]#1, %[[O1]], %[[LSE1]], %[[DO1]], %[[B]]#2 <"o" bwd own> :
  // CHECK-NEXT: %[[DKL:.*]] = stg.add %[[DKVL]]#0, %[[DKO]] <"o" bwd add> :
  // CHECK-NEXT: %[[DVL:.*]] = stg.add %[[DKVL]]#1, %[[DVO]] <"o" bwd add> :
  %g:3 = stg.attention_grad none %q, %k, %v, %o, %lse, %do {context = #stg.context<p2p zigzag over ["cp"]>} <"o" bwd> : !x, !x, !x, !x, !lse, !x
  // CHECK-NEXT: return %[[O]], %[[DQL]], %[[DKL]], %[[DVL]] :
  return %o, %g#0, %g#1, %g#2 : !x, !x, !x, !x
}

//--- ranges.mlir
// Ranges under a causal mask: four devices, of which number i sees the blocks of i others.
stg.symbol @cp_index coordinate "cp"
stg.mesh @mesh <cp = 4>
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
// CHECK-LABEL: func.func @f(
func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) {
  // CHECK: stg.attention_block 36 {{.*}} <"o" own> :
  // CHECK-NEXT: stg.repeat "o.fwd.ring" * min(cp_index, 2) carry(
  // CHECK-NEXT:   stg.exchange over "cp" shift 1 channel 0 {{.*}} <"o" keys> :
  // CHECK-NEXT:   stg.attention_block 64 {{.*}} <"o" block> :
  // CHECK-NEXT:   stg.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: stg.repeat "o.fwd.hidden" * -min(cp_index, 2) + 2 carry(
  // CHECK-NEXT:   %[[KV:.*]]:2 = stg.exchange over "cp" shift 1 channel 0 {{.*}} <"o" keys> :
  // CHECK-NEXT:   stg.yield %[[KV]]#0, %[[KV]]#1, %{{.*}}, %{{.*}} :
  // CHECK-NEXT: }
  // CHECK-NEXT: stg.repeat "o.fwd.farthest" * max(cp_index - 2, 0) carry(
  // CHECK-NEXT:   stg.attention_block 64 {{.*}} <"o" last> :
  // CHECK-NEXT:   stg.yield
  // CHECK-NEXT: }
  %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<p2p range over ["cp"]>} <"o"> : !x, !x, !x
  // CHECK-COUNT-6: stg.pack
  // CHECK-NEXT: stg.exchange over "cp" shift -1 channel 1 {{.*}} <"g" bwd first> :
  // CHECK-NEXT: stg.attention_block_grad 64 {{.*}} {seen = #sym.expr<max(cp_index - 2, 0)>} <"g" bwd farthest> :
  // CHECK-NEXT: stg.repeat "g.bwd.hidden" * -min(cp_index, 2) + 2 carry(
  // CHECK-NEXT:   stg.exchange over "cp" shift -1 channel 1 {{.*}} <"g" bwd keys> :
  // CHECK-NEXT:   stg.exchange over "cp" shift -1 channel 2 {{.*}} <"g" bwd gradients> :
  // CHECK-NEXT:   stg.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: stg.repeat "g.bwd.ring" * min(cp_index, 2) carry(
  // CHECK-NEXT:   stg.exchange over "cp" shift -1 channel 1 {{.*}} <"g" bwd keys> :
  // CHECK-NEXT:   stg.exchange over "cp" shift -1 channel 2 {{.*}} <"g" bwd gradients> :
  // CHECK-NEXT:   stg.attention_block_grad 64 {{.*}} <"g" bwd block> :
  // CHECK-COUNT-2: stg.add {{.*}} <"g" bwd add> :
  // CHECK-NEXT:   stg.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: stg.exchange over "cp" shift -1 channel 2 {{.*}} <"g" bwd last> :
  // CHECK-NEXT: stg.attention_block_grad 36 {{.*}} <"g" bwd own> :
  // CHECK-COUNT-2: stg.add {{.*}} <"g" bwd add> :
  // CHECK-NEXT: return
  %g:3 = stg.attention_grad causal %q, %k, %v, %o, %lse, %do {context = #stg.context<p2p range over ["cp"]>} <"g" bwd> : !x, !x, !x, !x, !lse, !x
  return
}
