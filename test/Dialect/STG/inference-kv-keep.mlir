// Caches that keep their type are named; a name that is none of a cache is no typing error that
// nobody sees.
//
// RUN: stg-opt %s --stg-inference="kv-type=f8E4M3FN kv-keep=k" | FileCheck %s
// RUN: stg-opt %s --stg-inference="kv-type=f8E4M3FN kv-keep=k,key kv-keep-if-there" | FileCheck %s
// RUN: not stg-opt %s --stg-inference="kv-type=f8E4M3FN kv-keep=k,key" 2>&1 | FileCheck %s --check-prefix=UNUSED

// UNUSED: inference-kv-keep.mlir:[[#@LINE+9]]:1: error: keeps 'key', which is the name of none of its caches; these are k, v

stg.symbol @B
stg.symbol @S
!x = !stg.tensor<[B, S, H = 4, E = 16], bf16>

// CHECK: stg.cache "attention.k" {{.*}} -> !stg.tensor<[B, S = S + cached, H = 4, E = 16], bf16>
// CHECK: stg.cache "attention.v" {{.*}} -> !stg.tensor<[B, S = S + cached, H = 4, E = 16], f8E4M3FN>

func.func @keep(%x: !x, %v: !x) -> !x {
  %a, %l = stg.attention causal %x, %x, %v <"attention"> : !x, !x, !x
  return %a : !x
}
