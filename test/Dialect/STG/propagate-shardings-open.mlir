// What an op computes sharded is its attribute if its class has one, and a discardable one if not.

// RUN: stg-test-opt %s --stg-propagate-shardings | FileCheck %s --check-prefix=PLAN
// RUN: stg-test-opt %s --stg-propagate-shardings --stg-propagate-shardings | FileCheck %s --check-prefix=PLAN
// RUN: stg-test-opt %s --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=LOCAL
// RUN: stg-test-opt %s --stg-propagate-shardings --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

stg.symbol @B
stg.symbol @F
stg.mesh @mesh <tp = 2, dp = 4> rules [F : tp]
!h = !stg.tensor<[B, F], bf16>

// Claims for rows, completed by the rule for columns.
// GENERIC: "test.softcap"(%{{[a-z0-9]+}}) <{cap = 3.000000e+01 : f64, factors = #stg.factors<d0 : dp, d1 : tp>}> : (!stg.tensor<[B : dp, F : tp], bf16>)
// GENERIC: "test.plain"(%{{[0-9]+}}) {stg.factors = #stg.factors<d0 : dp, d1 : tp>} : (!stg.tensor<[B : dp, F : tp], bf16>)
// PLAN: test.softcap %{{[a-z0-9]+}} {cap = 3.000000e+01 : f64, factors = #stg.factors<d0 : dp, d1 : tp>} : !stg.tensor<[B : dp, F : tp], bf16> -> !stg.tensor<[B : dp, F : tp], bf16>
// PLAN-NEXT: test.plain %{{[0-9]+}} {stg.factors = #stg.factors<d0 : dp, d1 : tp>} : <[B : dp, F : tp], bf16> -> <[B : dp, F : tp], bf16>
// LOCAL: test.softcap %{{[a-z0-9]+}} {cap = 3.000000e+01 : f64} : !stg.tensor<[B/4, F/2], bf16>{{$}}
// LOCAL-NEXT: test.plain %{{[0-9]+}} : <[B/4, F/2], bf16> -> <[B/4, F/2], bf16>
func.func @f(%x: !h) -> !h {
  %0 = test.softcap %x {cap = 30.0, factors = #stg.factors<d0 : dp>} : !h
  %1 = test.plain %0 {stg.factors = #stg.factors<d0 : dp>} : !h -> !h
  return %1 : !h
}
