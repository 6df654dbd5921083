// An axis over which a later pass divides something needs no rule; no other axis may do without.
//
// RUN: stg-opt %s "--stg-parallelize=mesh=kvp=2:replica late=kvp" | FileCheck %s
// RUN: not stg-opt %s "--stg-parallelize=mesh=kvp=2:replica late=dp" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: stg-opt %s "--stg-apply-preset=preset=kv-parallel kvp=2 late=kvp" | FileCheck %s
// RUN: not stg-opt %s "--stg-apply-preset=preset=kv-parallel kvp=2" 2>&1 | FileCheck %s --check-prefix=OTHER
// CHECK: stg.mesh @mesh <kvp = 2 : replica>
// CHECK: func.func @main(%{{.*}}: !stg.tensor<[N], f32>
// OTHER: error: mesh axis 'kvp' shards nothing: no rule for it names a dimension
stg.symbol @N
func.func @main(%x: !stg.tensor<[N], f32>) -> !stg.tensor<[N], f32> {
  return %x : !stg.tensor<[N], f32>
}
