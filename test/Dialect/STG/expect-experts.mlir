// Products and biases between a dispatch and what combines its rows draw slices of experts; with a
// capacity there are rows for all of them. On a device with X/ep experts the tokens are those of
// all that send rows.
//
// RUN: stg-opt %s --stg-expect-experts | FileCheck %s
// RUN: stg-opt %s --stg-expect-experts --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --stg-expect-experts="values=CN=5,CD=4" | FileCheck %s --check-prefix=VALUES
// RUN: not stg-opt %s --stg-expect-experts="values=CN=" 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: cannot bind 'CN=': expected a symbol, an integer or '(' at column 1

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @X
stg.symbol @A
stg.symbol @C
stg.symbol @CN = 1
stg.symbol @CD = 1

!x = !stg.tensor<[B, S, D], bf16>
!scores = !stg.tensor<[B, S, X], bf16>
!chosen = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>
!hidden = !stg.tensor<[X, A*B*S/X, F], bf16>

// CHECK-LABEL: func @layer
func.func @layer(%x: !x) -> !x {
  %r = stg.param "router" : !stg.tensor<[D, X], bf16>
  // CHECK: stg.einsum "bsd,dx->bsx" {{[^{]*}} :
  %s = stg.einsum "bsd,dx->bsx" %x, %r : !x, !stg.tensor<[D, X], bf16>
  %v, %i = stg.top_k A %s : !scores
  %e = stg.dispatch %x, %i : !x, !chosen -> !buffers
  %w = stg.param "up" : !stg.tensor<[X, D, F], bf16>
  // CHECK: stg.einsum "xcd,xdf->xcf" {{.*}} {draws = #stg.draws<A of X>}
  %h = stg.einsum "xcd,xdf->xcf" %e, %w : !buffers, !stg.tensor<[X, D, F], bf16>
  %b = stg.param "bias" : !stg.tensor<[X, F], bf16>
  // CHECK: stg.bias_add {{.*}}draws = #stg.draws<A of X>
  %g = stg.bias_add %h, %b {dims = array<i64: 0, 2>} : !hidden, !stg.tensor<[X, F], bf16>
  %a = stg.activation silu %g : !hidden
  %u = stg.param "down" : !stg.tensor<[X, F, D], bf16>
  // CHECK: stg.einsum "xcf,xfd->xcd" {{.*}} {draws = #stg.draws<A of X>}
  %o = stg.einsum "xcf,xfd->xcd" %a, %u : !hidden, !stg.tensor<[X, F, D], bf16>
  %y = stg.combine %o, %i, %v : !buffers, !chosen, !stg.tensor<[B, S, A], bf16>
  %p = stg.param "after" : !stg.tensor<[D, D], bf16>
  // CHECK: stg.einsum "bsd,de->bse" {{[^{]*}} :
  %z = stg.einsum "bsd,de->bse" %y, %p : !x, !stg.tensor<[D, D], bf16>
  return %y : !x
}

// CHECK-LABEL: func @capacity
func.func @capacity(%x: !x, %i: !chosen) -> !stg.tensor<[X, C, F], bf16> {
  %e = stg.dispatch %x, %i : !x, !chosen -> !stg.tensor<[X, C, D], bf16>
  %w = stg.param "up" : !stg.tensor<[X, D, F], bf16>
  // CHECK-NOT: draws
  %h = stg.einsum "xcd,xdf->xcf" %e, %w : !stg.tensor<[X, C, D], bf16>, !stg.tensor<[X, D, F], bf16>
  return %h : !stg.tensor<[X, C, F], bf16>
}

// A factor that has the default 1.
// CHECK-LABEL: func @factor
// VALUES-LABEL: func @factor
func.func @factor(%x: !x, %i: !chosen) -> !stg.tensor<[X, A*B*S*CN/(CD*X), F], bf16> {
  %e = stg.dispatch %x, %i : !x, !chosen -> !stg.tensor<[X, A*B*S*CN/(CD*X), D], bf16>
  %w = stg.param "up" : !stg.tensor<[X, D, F], bf16>
  // CHECK: draws = #stg.draws<A of X>
  // VALUES-NOT: draws
  %h = stg.einsum "xcd,xdf->xcf" %e, %w : !stg.tensor<[X, A*B*S*CN/(CD*X), D], bf16>, !stg.tensor<[X, D, F], bf16>
  return %h : !stg.tensor<[X, A*B*S*CN/(CD*X), F], bf16>
}
