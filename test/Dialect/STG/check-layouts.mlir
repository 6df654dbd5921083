// What devices have of each value follows from parameters, arguments and collectives.

// RUN: stg-opt %s --stg-check-layouts=show -verify-diagnostics

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>

!x = !stg.tensor<[8, 4], bf16>
!w = !stg.tensor<[4, 6], bf16>
!v = !stg.tensor<[6, 4], bf16>
!h = !stg.tensor<[8, 6], bf16>
!g = !stg.tensor<[4, 6], f32>

// A column-parallel product, a row-parallel one, and the gradient of a weight.
func.func @products(%x: !x {stg.layout = #stg.layout<dp : 0>}) {
  // expected-remark @+1 {{result #0 is #stg.layout<tp : 1>}}
  %w = stg.param "w" {layout = #stg.layout<tp : 1>} : !w
  // expected-remark @+1 {{result #0 is #stg.layout<tp : 0>}}
  %v = stg.param "v" {layout = #stg.layout<tp : 0>} : !v
  // expected-remark @+1 {{result #0 is #stg.layout<dp : 0, tp : 1>}}
  %h = stg.einsum "bd,df->bf" %x, %w : !x, !w
  // expected-remark @+1 {{result #0 is #stg.layout<dp : 0, tp : sum>}}
  %p = stg.einsum "bf,fd->bd" %h, %v : !h, !v
  // expected-remark @+1 {{result #0 is #stg.layout<dp : 0>}}
  %y = stg.all_reduce sum over ["tp"] %p : !x
  // expected-remark @+1 {{result #0 is #stg.layout<dp : 0, tp : 1>}}
  %s = stg.reduce_scatter dim 1 over ["tp"] %p : !x -> !stg.tensor<[8, 2], bf16>
  // expected-remark @+1 {{result #0 is #stg.layout<dp : sum, tp : 1>}}
  %dw = stg.einsum "bd,bf->df" %y, %h {into = f32} : !x, !h
  // expected-remark @+1 {{result #0 is #stg.layout<dp : flat, tp : 1>}}
  %r = stg.flat_reduce_scatter over ["dp"] %dw : !g -> !stg.tensor<[12], f32>
  return
}

// A maximum over shards; partial sums add up, and no other op takes them.
func.func @partial(%x: !x {stg.layout = #stg.layout<tp : 1>}) {
  // expected-remark @+1 {{result #0 is #stg.layout<tp : max>}}
  %m = stg.reduce max %x : !x
  // expected-remark @+1 {{result #0 is #stg.layout<tp : sum>}}
  %s = stg.reduce sum %x : !x
  // expected-remark @+1 {{result #0 is #stg.layout<tp : sum>}}
  %a = stg.add %s, %s : !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  // expected-remark @+1 {{result #0 is #stg.layout<tp : unknown>}}
  %n = stg.mul %s, %s : !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  // expected-remark @+1 {{result #0 is #stg.layout<tp : unknown>}}
  %o = stg.add %s, %m : !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return
}

// What is carried is what it is at the start and at the end of each iteration; zeros are
// anything. A stack has one more dimension.
!r = !stg.tensor<[8], f32>
func.func @repeat(%x: !x {stg.layout = #stg.layout<>},
                  %k: !stg.tensor<[L = 3, 8, 4], bf16> {stg.layout = #stg.layout<tp : 2>}) {
  %z = stg.splat 0 : !r
  // expected-remark @+3 {{result #0 is #stg.layout<tp : sum>}}
  // expected-remark @+2 {{result #1 is #stg.layout<tp : 1>}}
  // expected-remark @+1 {{result #2 is #stg.layout<tp : 2>}}
  %y, %u, %st = stg.repeat "L" * 3 carry(%c = %z : !r, %d = %x : !x) slices(%e = %k : !stg.tensor<[L = 3, 8, 4], bf16>) {
    // expected-remark @+1 {{result #0 is #stg.layout<tp : sum>}}
    %p = stg.reduce sum %e : !x
    // expected-remark @+1 {{result #0 is #stg.layout<tp : sum>}}
    %n = stg.add %c, %p : !r, !r
    // expected-remark @+1 {{result #0 is #stg.layout<tp : 1>}}
    %q = stg.add %e, %e : !x, !x
    // expected-remark @+1 {{result #0 is #stg.layout<tp : unknown>}}
    %w = stg.add %d, %d : !x, !x
    stg.yield %n, %q, %q : !r, !x, !x
  }
  return
}

// The rows of a table are in the gradient's result only: which of them a device computes,
// its operands do not say. Those of its tokens are parts of a sum.
func.func @table(%i: !stg.tensor<[8], i32> {stg.layout = #stg.layout<dp : 0>}, %d: !x {stg.layout = #stg.layout<dp : 0>}) {
  // expected-remark @+1 {{result #0 is #stg.layout<dp : sum, tp : unknown>}}
  %g = stg.embedding_grad %i, %d : !stg.tensor<[8], i32>, !x -> !stg.tensor<[16, 4], f32>
  return
}

// Nothing is known of what nobody has said anything about.
func.func @unknown(%x: !x) {
  %w = stg.param "w" : !w
  %h = stg.einsum "bd,df->bf" %x, %w : !x, !w
  return
}
