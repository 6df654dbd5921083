// RUN: stg-opt %s --stg-divide-caches="axes=kvp merge=exchange" -split-input-file -verify-diagnostics

stg.symbol @B
stg.mesh @mesh <kvp = 2 : replica>

!q = !stg.tensor<[B, S = 1, H = 8, E = 16], bf16>
!keys = !stg.tensor<[B, S = 9, H = 8, E = 16], bf16>

func.func @whole(%q: !q {stg.layout = #stg.layout<>}) -> !q {
  %k = stg.cache "k" %q : !q -> !keys
  %v = stg.cache "v" %q : !q -> !keys
  // expected-error @+1 {{is read whole by devices along ["kvp"], which cannot exchange parts of it for heads; use merge=sum, or a plan that divides heads behind attention over them, as preset 'helix' does}}
  %o, %l = stg.attention causal %q, %k, %v : !q, !keys, !keys
  return %o : !q
}

// -----

stg.symbol @B

!o = !stg.tensor<[B, S = 1, H = 8, E = 16], bf16>
!l = !stg.tensor<[B, S = 1, H = 8], f32>
!f = !stg.tensor<[B, S = 1, H = 4], f32>
!p = !stg.tensor<[B, S = 1, H = 8, 1, 40], i8>
!two = !stg.tensor<[B, S = 1, H = 8, 2, 40], i8>
!wide = !stg.tensor<[B, S = 1, H = 8, 1, 48], i8>

func.func @pack_partial_c1(%o: !o, %l: !f) {
  // expected-error @+1 {{expected one of each head of a row}}
  %p = stg.pack_partial %o, %l : !o, !f -> !p
  return
}
func.func @pack_partial_c2(%o: !o, %l: !l) {
  // expected-error @+1 {{makes parts of 2 devices, expected one}}
  %p = stg.pack_partial %o, %l : !o, !l -> !two
  return
}
func.func @pack_partial_bytes(%o: !o, %l: !l) {
  // expected-error @+1 {{expected 40 bytes of each head of a row}}
  %p = stg.pack_partial %o, %l : !o, !l -> !wide
  return
}
func.func @merge_parts_c1(%o: !o) {
  // expected-error @+1 {{has parts of rank 4 and outputs of rank 4, expected 5 and 4}}
  %p = stg.merge_parts %o : !o -> !o
  return
}
func.func @merge_parts_c2(%p: !wide) {
  // expected-error @+1 {{expected 40 bytes of each head of a row}}
  %o = stg.merge_parts %p : !wide -> !o
  return
}
