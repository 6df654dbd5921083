// Queries go round a ring, keys stay. Each block is by itself; what it has made goes to the device
// whose queries it is of, in one exchange, and is merged there.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-opt %t/ring.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/ring.mlir
// RUN: stg-opt %t/ranges.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/ranges.mlir
// RUN: stg-opt %t/auto.mlir --stg-lower-context-parallel --verify-roundtrip | FileCheck %t/auto.mlir
// RUN: stg-opt %t/errors.mlir --stg-lower-context-parallel -split-input-file -verify-diagnostics -o /dev/null

//--- ring.mlir
stg.mesh @mesh <cp = 3>
!q = !stg.tensor<[2, 6, 4, 16], bf16>
!k = !stg.tensor<[2, 30, 2, 16], bf16>
!s = !stg.tensor<[4], bf16>
// Log-sum-exps begin with the sinks in one block of the three.
// CHECK-LABEL: func.func @f(
func.func @f(%q: !q, %k: !k, %v: !k, %s: !s) -> !q {
  // CHECK: %[[Q0:.*]] = stg.pack %arg0 <"o">
  // CHECK: %[[K:.*]] = stg.pack %arg1 <"o">
  // CHECK: %[[V:.*]] = stg.pack %arg2 <"o">
  // CHECK: %[[S:.*]] = stg.pack %arg3 <"o">
  // CHECK-NEXT: %[[Q1:.*]] = stg.exchange over "cp" shift 1 channel 0 %[[Q0]] <"o" first> : !stg.tensor<[2, 6, 4, 16], bf16>
  // CHECK-NEXT: %[[O0:.*]], %[[L0:.*]] = stg.attention_block 165 %[[Q0]], %[[K]], %[[V]], %[[S]] <"o" own> :
  // CHECK-NEXT: %[[Q2:.*]] = stg.exchange over "cp" shift 1 channel 0 %[[Q1]] <"o" queries> :
  // CHECK-NEXT: %[[O1:.*]], %[[L1:.*]] = stg.attention_block 162 %[[Q1]], %[[K]], %[[V]] <"o" block> :
  // CHECK-NEXT: %[[O2:.*]], %[[L2:.*]] = stg.attention_block 162 %[[Q2]], %[[K]], %[[V]] <"o" block> :
  // CHECK-NEXT: %[[O:.*]] = stg.concat dim 1 ordered %[[O0]], %[[O1]], %[[O2]] <"o" part> : {{.*}} -> !stg.tensor<[2, 18, 4, 16], bf16>
  // CHECK-NEXT: %[[L:.*]] = stg.concat dim 1 ordered %[[L0]], %[[L1]], %[[L2]] <"o" part> : {{.*}} -> !stg.tensor<[2, 18, 4], f32>
  // CHECK-NEXT: %[[P:.*]] = stg.pack_partial %[[O]], %[[L]] <"o.pack"> : {{.*}} -> !stg.tensor<[2, 18, 4, 1, 40], i8>
  // CHECK-NEXT: %[[X:.*]] = stg.all_to_all from 3 to 1 over ["cp"] %[[P]] <"o.exchange"> : {{.*}} -> !stg.tensor<[2, 6, 4, 3, 40], i8>
  // CHECK-NEXT: %[[R:.*]] = stg.merge_parts %[[X]] <"o.merge"> : {{.*}} -> !stg.tensor<[2, 6, 4, 16], bf16>
  // CHECK-NEXT: return %[[R]]
  %o, %lse = stg.attention causal %q, %k, %v, %s {context = #stg.context<query_p2p zigzag over ["cp"]>} <"o"> : !q, !k, !k, !s
  return %o : !q
}

//--- ranges.mlir
// The last range sees the keys of all, the first one its own: a device of the last range has no
// other block, and makes nothing of the queries before it.
stg.symbol @i coordinate "cp"
stg.mesh @mesh <cp = 2>
!q = !stg.tensor<[1, 4, 2, 8], bf16>
// CHECK-LABEL: func.func @f(
func.func @f(%q: !q) -> !q {
  // CHECK: stg.attention_block 10 {{.*}} <"o" own>
  // CHECK: stg.attention_block -16*max(min(i, 1), 0) + 16 {{.*}} {seen = #sym.expr<-max(min(i, 1), 0) + 1>} <"o" block>
  %o, %lse = stg.attention causal %q, %q, %q {context = #stg.context<query_p2p range over ["cp"]>} <"o"> : !q, !q, !q
  return %o : !q
}

//--- auto.mlir
// Queries of 4 heads are as many bytes as keys and values of one head of twice the tokens.
stg.mesh @mesh <cp = 2>
!q = !stg.tensor<[1, 4, 4, 8], bf16>
!same = !stg.tensor<[1, 8, 1, 8], bf16>
!more = !stg.tensor<[1, 10, 1, 8], bf16>
// CHECK-LABEL: func.func @f(
func.func @f(%q: !q, %k: !same, %l: !more) -> (!q, !q) {
  // CHECK: stg.exchange over "cp" shift 1 channel 0 %{{.*}}, %{{.*}} <"keys" first> : !stg.tensor<[1, 8, 1, 8], bf16>, !stg.tensor<[1, 8, 1, 8], bf16>
  // CHECK-NOT: stg.all_to_all
  %o, %lse = stg.attention none %q, %k, %k {context = #stg.context<auto_p2p zigzag over ["cp"]>} <"keys"> : !q, !same, !same
  // CHECK: stg.exchange over "cp" shift 1 channel 0 %{{.*}} <"queries" first> : !stg.tensor<[1, 4, 4, 8], bf16>
  // CHECK: stg.all_to_all
  %p, %lsf = stg.attention none %q, %l, %l {context = #stg.context<auto_p2p zigzag over ["cp"]>} <"queries"> : !q, !more, !more
  return %o, %p : !q, !q
}

//--- errors.mlir
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
stg.mesh @mesh <cp = 2>
func.func @backward(%q: !x, %l: !lse) {
  // expected-error @+1 {{'stg.attention_grad' op has the context exchange 'query_p2p', which has no backward pass, and no log-sum-exps for one; use p2p}}
  %dq, %dk, %dv = stg.attention_grad none %q, %q, %q, %q, %l, %q {context = #stg.context<query_p2p zigzag over ["cp"]>} : !x, !x, !x, !x, !lse, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
stg.mesh @mesh <cp = 2>
func.func @sums(%q: !x) -> !lse {
  // expected-error @+1 {{'stg.attention' op has the context exchange 'query_p2p', which has no backward pass, and no log-sum-exps for one; use p2p}}
  %o, %lse = stg.attention none %q, %q, %q {context = #stg.context<query_p2p zigzag over ["cp"]>} : !x, !x, !x
  return %lse : !lse
}
// -----
stg.symbol @S
!q = !stg.tensor<[2, S, 4, 16], bf16>
!k = !stg.tensor<[2, S, 2, 16], bf16>
stg.mesh @mesh <cp = 2>
func.func @which(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has the context exchange 'auto_p2p', and how many blocks it has, and which of them are fewer bytes, is known for numbers only; give symbols their values first (--stg-bind)}}
  %o, %lse = stg.attention none %q, %k, %k {context = #stg.context<auto_p2p zigzag over ["cp"]>} : !q, !k, !k
  return
}
// -----
stg.symbol @n
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = n>
func.func @blocks(%q: !x) {
  // expected-error @+1 {{has the context exchange 'query_p2p', and how many blocks it has}}
  %o, %lse = stg.attention none %q, %q, %q {context = #stg.context<query_p2p zigzag over ["cp"]>} : !x, !x, !x
  return
}
// -----
!q = !stg.tensor<[1, 4, 4, 16], bf16>
!k = !stg.tensor<[1, 12, 4, 16], bf16>
stg.mesh @mesh <cp = 2 : context>
func.func @prefix(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has keys of earlier steps, and its tokens are divided over ["cp"]: how many of them each device sees is not known; exchange tokens by a2a, which divides heads}}
  %o, %lse = stg.attention causal %q, %k, %k {prefix = #sym.expr<2>, context = #stg.context<query_p2p zigzag over ["cp"]>} : !q, !k, !k
  return
}
// -----
!q = !stg.tensor<[1, 4, 4, 16], bf16>
!k = !stg.tensor<[1, 12, 4, 16], bf16>
stg.mesh @mesh <cp = 2 : context>
func.func @windows(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has 16 keys of earlier steps, and its requests see 8 of them; expected as many}}
  %o, %lse = stg.attention causal %q, %k, %k {window = #sym.expr<5>, requests = #stg.requests<2 * (4, 8)>, context = #stg.context<query_p2p zigzag over ["cp"]>} : !q, !k, !k
  return
}
// -----
stg.symbol @i coordinate "cp"
!q = !stg.tensor<[1, 4, 4, 16], bf16>
!k = !stg.tensor<[1, 12, 4, 16], bf16>
stg.mesh @mesh <cp = 2 : context>
func.func @parts(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has 10 keys of earlier steps, which are divided into 4 parts; expected a multiple of that}}
  %o, %lse = stg.attention causal %q, %k, %k {requests = #stg.requests<(4, 10), (4, 6)>, context = #stg.context<query_p2p zigzag over ["cp"]>} : !q, !k, !k
  return
}
