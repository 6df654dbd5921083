// Keys and values of another sequence are written in the first step; later ones read what is there,
// and nothing makes it again.
//
// RUN: stg-opt %s --stg-inference="cached=0" | FileCheck %s --check-prefix=FIRST
// RUN: stg-opt %s --stg-inference="cached=7" | FileCheck %s --check-prefix=LATER
// RUN: stg-opt %s --stg-inference="cached=7 steps=3 kv-type=f8E4M3FN" | FileCheck %s --check-prefix=STEPS
// RUN: not stg-opt %s --stg-inference="cached=0 steps=3" 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not stg-opt %s --stg-inference="requests=2*(1,7)" 2>&1 | FileCheck %s --check-prefix=LIST
// SEVERAL: error: 'stg.attention' op sees what an encoder makes in the first of several steps alone; compile that by itself, and the others with the tokens that are cached
// LIST: error: 'stg.attention' op sees tokens that are not those of the step, of which a row has those of one request; give rows, not a list of requests

stg.symbol @B
stg.symbol @S
stg.symbol @T
!q = !stg.tensor<[B, S, H = 2, E = 8], bf16>
!x = !stg.tensor<[B, T, D = 4], bf16>
!k = !stg.tensor<[B, T, H = 2, E = 8], bf16>
!w = !stg.tensor<[D = 4, H = 2, E = 8], bf16>

// FIRST-LABEL: func @cross(%arg0: {{.*}}, %arg1: {{.*}})
// FIRST:       %[[K:.*]] = stg.einsum "btd,dhe->bthe"
// FIRST:       %[[C:.*]] = stg.cache "attention.k" %[[K]] {{.*}} : !stg.tensor<[B, T, H = 2, E = 8], bf16> -> !stg.tensor<[B, T, H = 2, E = 8], bf16>
// FIRST:       %[[V:.*]] = stg.cache "attention.v" %[[K]]
// FIRST:       stg.attention none %arg0, %[[C]], %[[V]]
// LATER-LABEL: func @cross(%arg0: {{[^,]*[^)]*}}) ->
// LATER-NOT:   stg.einsum
// LATER:       %[[K:.*]] = stg.param "attention.k" {{.*}}stg.kept{{.*}} : !stg.tensor<[B, T, H = 2, E = 8], bf16>
// LATER:       %[[V:.*]] = stg.param "attention.v" {{.*}}stg.kept
// LATER:       stg.attention none %arg0, %[[K]], %[[V]]
// STEPS:       stg.param "attention.k" {{.*}}stg.kept{{.*}} : !stg.tensor<[B, T, H = 2, E = 8], f8E4M3FN>
func.func @cross(%q: !q, %x: !x) -> !q {
  %w = stg.param "kv_proj" : !w
  %k = stg.einsum "btd,dhe->bthe" %x, %w : !x, !w
  %a, %lse = stg.attention none %q, %k, %k : !q, !k, !k
  return %a : !q
}
