// Pairs of queries and keys under windows and in chunks. With one head of size 1 attention
// executes 4 operations for each pair.
//
// RUN: stg-opt %s --stg-name-ops --convert-stg-to-chakra | FileCheck %s

!x = !stg.tensor<[1, 8192, 1, 1], f32>
!y = !stg.tensor<[1, 20000, 1, 1], f32>
!z = !stg.tensor<[1, 7, 1, 1], f32>
!q = !stg.tensor<[1, 1000, 1, 1], f32>
!k = !stg.tensor<[1, 17000, 1, 1], f32>

func.func @f(%x: !x {stg.name = "x"}, %y: !y {stg.name = "y"}, %z: !z {stg.name = "z"}, %q: !q {stg.name = "q"}, %k: !k {stg.name = "k"}) {
  // 8192*8193/2 = 33,558,528 without a window.
  // CHECK: comp "full.fwd"({{.*}}) ops(134234112)
  %0, %l0 = stg.attention causal %x, %x, %x <"full"> : !x, !x, !x
  // 128*8192 - 128*127/2 = 1,040,448
  // CHECK: comp "window.fwd"({{.*}}) ops(4161792)
  %1, %l1 = stg.attention causal %x, %x, %x {window = #sym.expr<128>} <"window"> : !x, !x, !x
  // 4096*8192 - 4096*4095/2 = 25,167,872
  // CHECK: comp "half.fwd"({{.*}}) ops(100671488)
  %2, %l2 = stg.attention causal %x, %x, %x {window = #sym.expr<4096>} <"half"> : !x, !x, !x
  // A window of all tokens, or of more, bounds nothing.
  // CHECK: comp "wide.fwd"({{.*}}) ops(134234112)
  %3, %l3 = stg.attention causal %x, %x, %x {window = #sym.expr<10000>} <"wide"> : !x, !x, !x
  // Two chunks of 8192*8193/2, and 3616*3617/2: 73,656,592
  // CHECK: comp "chunks.fwd"({{.*}}) ops(294626368)
  %4, %l4 = stg.attention causal %y, %y, %y {chunk = #sym.expr<8192>} <"chunks"> : !y, !y, !y
  // The last 1000 of 17000 tokens, of chunks of 8192: 3,262,228 of positions 16000 to 16999.
  // CHECK: comp "later.fwd"({{.*}}) ops(13048912)
  %5, %l5 = stg.attention causal %q, %k, %k {chunk = #sym.expr<8192>} <"later"> : !q, !k, !k
  // Each of them sees 4096: 4,096,000
  // CHECK: comp "steady.fwd"({{.*}}) ops(16384000)
  %6, %l6 = stg.attention causal %q, %k, %k {window = #sym.expr<4096>} <"steady"> : !q, !k, !k
  // 3 on each side: 4 + 5 + 6 + 7 + 6 + 5 + 4 = 37
  // CHECK: comp "band.fwd"({{.*}}) ops(148)
  %7, %l7 = stg.attention none %z, %z, %z {window = #sym.expr<6>} <"band"> : !z, !z, !z
  // 3*3 + 3*3 + 1
  // CHECK: comp "blocks.fwd"({{.*}}) ops(76)
  %8, %l8 = stg.attention none %z, %z, %z {chunk = #sym.expr<3>} <"blocks"> : !z, !z, !z
  // CHECK: comp "counted.fwd"({{.*}}) ops(268435456)
  %9, %l9 = stg.attention causal %x, %x, %x {full_count, window = #sym.expr<128>} <"counted"> : !x, !x, !x
  return
}
