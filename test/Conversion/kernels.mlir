// What each node computes: products as M, N, K and batch, attention with the pairs that
// its mask leaves, other ops with the elements of operands and results.
//
// RUN: stg-opt %s --split-input-file --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
!x = !stg.tensor<[B, 8, 16], bf16>
!w = !stg.tensor<[16, 4, 32], bf16>
!y = !stg.tensor<[B, 8, 4, 32], bf16>
!dw = !stg.tensor<[16, 4, 32], f32>

// CHECK-LABEL: chakra.graph @products
func.func @products(%x: !x, %w: !w, %total: !dw {stg.name = "total"}) -> (!x, !dw) {
  // CHECK: chakra.comp "y.fwd"({{.*}} kernel <einsum bf16 -> bf16, [8*B, 128, 16, 1]>
  %y = stg.einsum "bsd,dhe->bshe" %x, %w <"y"> : !x, !w
  // CHECK: chakra.comp "dx.fwd"({{.*}} kernel <einsum bf16 -> bf16, [8*B, 16, 128, 1]>
  %dx = stg.einsum "bshe,dhe->bsd" %y, %w <"dx"> : !y, !w
  // CHECK: chakra.comp "dw.fwd"({{.*}} kernel <einsum bf16 -> f32, [16, 128, 8*B, 1]>
  %dw = stg.einsum "bsd,bshe->dhe" %x, %y {into = f32} <"dw"> : !x, !y
  // CHECK: chakra.comp "again.fwd"({{.*}} kernel <einsum bf16 -> f32, [16, 128, 8*B, 1], accumulates>
  %again = stg.einsum "bsd,bshe->dhe" %x, %y {into = f32} <"again"> : !x, !y
  %sum = stg.accumulate %dw, %again : !dw, !dw
  // CHECK: chakra.comp "scores.fwd"({{.*}} kernel <einsum bf16 -> bf16, [8, 8, 32, 4*B]>
  %scores = stg.einsum "bshe,bthe->bhst" %y, %y <"scores"> : !y, !y
  // Nothing is contracted.
  // CHECK: chakra.comp "scale.fwd"({{.*}} kernel <einsum bf16 -> bf16, [128*B, 2048, 16384*B]>
  %scale = stg.einsum "bsd,dhe->bshde" %x, %w <"scale"> : !x, !w
  return %dx, %sum : !x, !dw
}

// -----

!q = !stg.tensor<[2, 128, 8, 64], bf16>
!k = !stg.tensor<[2, 128, 2, 64], bf16>
!v = !stg.tensor<[2, 128, 2, 32], bf16>
!o = !stg.tensor<[2, 128, 8, 32], bf16>
!rq = !stg.tensor<[2, 7, 8, 64], bf16>
!rk = !stg.tensor<[2, 26, 2, 64], bf16>
!rv = !stg.tensor<[2, 26, 2, 32], bf16>
!table = !stg.tensor<[100, 16], bf16>
!ids = !stg.tensor<[2, 128], i32>

// CHECK-LABEL: chakra.graph @others
func.func @others(%q: !q, %k: !k, %v: !v, %rq: !rq, %rk: !rk, %rv: !rv, %table: !table, %ids: !ids) {
  // CHECK: chakra.comp "masked.fwd"({{.*}} kernel <attention bf16 -> bf16, [2, 8, 2, 128, 128, 64, 32, 8256]>
  %o, %lse = stg.attention causal %q, %k, %v <"masked"> : !q, !k, !v
  // CHECK: chakra.comp "full.fwd"({{.*}} kernel <attention bf16 -> bf16, [2, 8, 2, 128, 128, 64, 32, 16384]>
  %f, %flse = stg.attention none %q, %k, %v <"full"> : !q, !k, !v
  // 128 * 129 / 2 pairs, less 112 * 113 / 2.
  // CHECK: chakra.comp "window.fwd"({{.*}} kernel <attention bf16 -> bf16, [2, 8, 2, 128, 128, 64, 32, 1928]>
  %w, %wlse = stg.attention causal %q, %k, %v {window = #sym.expr<16>} <"window"> : !q, !k, !v
  // One token after 9 and after 10, and a request of 5: those with as many new ones together, but for the longest.
  // CHECK: chakra.comp "requests.fwd"({{.*}} kernel <attention bf16 -> bf16, [2, 8, 2, 7, 26, 64, 32, 36, 1, 1, 10, 10, 5, 1, 5, 15, 1, 1, 11, 11]>
  %r, %rlse = stg.attention causal %rq, %rk, %rv {requests = #stg.requests<(1, 9), (5, 0), (1, 10)>} <"requests"> : !rq, !rk, !rv
  // CHECK: chakra.comp "embedding.fwd"({{.*}} kernel <embedding bf16 -> bf16, [1600, 256, 4096]>
  %x = stg.embedding %table, %ids <"embedding"> : !table, !ids
  // CHECK: chakra.comp "cast.fwd"({{.*}} kernel <cast bf16 -> f32, [4096, 4096]>
  %c = stg.cast %x <"cast"> : !stg.tensor<[2, 128, 16], bf16> -> !stg.tensor<[2, 128, 16], f32>
  return
}

// -----

// Of 8 experts of a rank, among 16, those that 4 tokens with 2 choices each are expected to hit:
// 8 * (1 - (7/8)^4), which is 3.31, with 4 rows together, and as much of the bytes.

!rows = !stg.tensor<[8, 1/2, 16], bf16>
!matrix = !stg.tensor<[8, 16, 32], bf16>
!hidden = !stg.tensor<[8, 1/2, 32], bf16>

// CHECK-LABEL: chakra.graph @draws
func.func @draws(%x: !rows, %w: !matrix, %b: !stg.tensor<[8, 32], bf16>, %s: !stg.tensor<[8, 16], bf16>) {
  // CHECK: chakra.comp "drawn.fwd"({{.*}} bytes(3774) {{.*}} kernel <einsum bf16 -> bf16, [2, 32, 16, 3, 3390]>
  %y = stg.einsum "xcd,xdf->xcf" %x, %w {draws = #stg.draws<2 of 16>} <"drawn"> : !rows, !matrix
  // CHECK: chakra.comp "even.fwd"({{.*}} bytes(4480) {{.*}} kernel <einsum bf16 -> bf16, [1, 32, 16, 4]>
  %z = stg.einsum "xcd,xdf->xcf" %x, %w <"even"> : !rows, !matrix
  // Scores and those that are chosen, and 4 groups of which 2 are taken.
  // CHECK: chakra.comp "any.fwd"({{.*}} kernel <top_k bf16 -> bf16, [128, 16]>
  %v, %i = stg.top_k A = 2 %s <"any"> : !stg.tensor<[8, 16], bf16>
  // CHECK: chakra.comp "grouped.fwd"({{.*}} kernel <top_k bf16 -> bf16, [128, 16, 4, 2]>
  %gv, %gi = stg.top_k A = 2 %s {groups = #sym.expr<4>, limit = #sym.expr<2>} <"grouped"> : !stg.tensor<[8, 16], bf16>
  // CHECK: chakra.comp "bias.fwd"({{.*}} bytes(724)
  %c = stg.bias_add %y, %b {dims = array<i64: 0, 2>, draws = #stg.draws<2 of 16>} <"bias"> : !hidden, !stg.tensor<[8, 32], bf16>
  return
}

// -----

// A convolution is a product: of 8 x 8 places there are 4 x 4 outputs, each of 3 x 3 places, so that
// a place is in 9 / 4 windows, with 24 outputs of each.

stg.symbol @B
!image = !stg.tensor<[B, 8, 8, 6], bf16>
!kernel = !stg.tensor<[3, 3, 6, 24], bf16>
!result = !stg.tensor<[B, 4, 4, 24], bf16>
!grouped = !stg.tensor<[3, 3, 2, 24], bf16>

// CHECK-LABEL: chakra.graph @convolutions
func.func @convolutions(%x: !image, %w: !kernel, %g: !grouped) {
  // CHECK: chakra.comp "y.fwd"({{.*}} kernel <conv bf16 -> bf16, [16*B, 24, 54, 1]>
  %y = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"y"> : !image, !kernel -> !result
  // CHECK: chakra.comp "dx.fwd"({{.*}} kernel <conv_input_grad bf16 -> bf16, [64*B, 6, 54, 1]>
  %dx = stg.conv_input_grad %w, %y {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"dx"> : !kernel, !result -> !image
  // CHECK: chakra.comp "dw.fwd"({{.*}} kernel <conv_weight_grad bf16 -> f32, [54, 24, 16*B, 1]>
  %dw = stg.conv_weight_grad %x, %y {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"dw"> : !image, !result -> !stg.tensor<[3, 3, 6, 24], f32>
  // CHECK: chakra.comp "groups.fwd"({{.*}} kernel <conv bf16 -> bf16, [16*B, 8, 18, 3]>
  %z = stg.conv %x, %g {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, grouped} <"groups"> : !image, !grouped -> !result
  return
}

// -----

// Of a scan how many chunks wait for one another: those of a row of 100 tokens, or of the longest
// request.

!x = !stg.tensor<[2, 100, 4, 8], bf16>
!dt = !stg.tensor<[2, 100, 4], bf16>
!a = !stg.tensor<[4], bf16>
!b = !stg.tensor<[2, 100, 16], bf16>
!q = !stg.tensor<[2, 100, 4, 16], bf16>

// CHECK-LABEL: chakra.graph @scans
func.func @scans(%x: !x, %dt: !dt, %a: !a, %b: !b, %q: !q) {
  // CHECK: chakra.comp "ssd.fwd"({{.*}} kernel <ssd bf16 -> bf16, [4, 6400, 800, 4, 3200, 3200, 4, 6400]>
  %y = stg.ssd 32 %x, %dt, %a, %b, %b, %a <"ssd"> : !x, !dt, !a, !b, !b, !a
  // CHECK: chakra.comp "requests.fwd"({{.*}} kernel <ssd bf16 -> bf16, [3, 6400, 800, 4, 3200, 3200, 4, 6400]>
  %r = stg.ssd 32 %x, %dt, %a, %b, %b, %a {requests = #stg.requests<(20, 9), (70, 0), (10, 1)>, state = "s"} <"requests"> : !x, !dt, !a, !b, !b, !a
  // CHECK: chakra.comp "dssd.bwd"({{.*}} kernel <ssd_grad bf16 -> bf16, [4,
  %dx, %ddt, %da, %db, %dc, %dd = stg.ssd_grad 32 %x, %dt, %a, %b, %b, %a, %y <"dssd" bwd> : !x, !dt, !a, !b, !b, !a, !x -> !x, !dt, !a, !b, !b, !a
  // CHECK: chakra.comp "delta.fwd"({{.*}} kernel <gated_delta_rule bf16 -> bf16, [2,
  %o = stg.gated_delta_rule 64 %q, %q, %x, %dt, %a, %dt <"delta"> : !q, !q, !x, !dt, !a, !dt
  return
}
