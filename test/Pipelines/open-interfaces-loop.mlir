// A loop of a dialect that no pass knows goes from the model to traces through the
// interfaces of MLIR: what it carries is sharded alike on the way, and its iterations
// read one parameter, because it is no scope.

// RUN: stg-test-opt %s --stg-name-ops --stg-apply-preset="tp=tp dp=dp" --stg-propagate-shardings | FileCheck %s --check-prefix=PLAN
// RUN: stg-test-opt %s --stg-name-ops --stg-apply-preset="tp=tp dp=dp" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=LOCAL
// RUN: stg-test-opt %s --stg-name-ops --stg-apply-preset="tp=2 dp=2" --stg-propagate-shardings --stg-insert-collectives --stg-bind="B=4 D=64 F=128" --convert-stg-to-chakra -o %t.mlir
// RUN: FileCheck %s --check-prefix=CHAKRA < %t.mlir
// RUN: stg-translate %t.mlir --chakra-to-traces --trace-dir=%t
// RUN: stg-trace validate %t | FileCheck %s --check-prefix=VALID

stg.symbol @B
stg.symbol @D
stg.symbol @F
!x = !stg.tensor<[B, D], bf16>
!h = !stg.tensor<[B, F], bf16>
!w = !stg.tensor<[D, F], bf16>
!v = !stg.tensor<[F, D], bf16>

// PLAN: test.loop 3 from %arg0 : !stg.tensor<[B : dp, D], bf16> -> !stg.tensor<[B : dp, D], bf16>
// PLAN-NEXT: ^bb0(%[[C:.*]]: !stg.tensor<[B : dp, D], bf16>):
// PLAN: %[[D:.*]] = stg.einsum "bf,fd->bd" {{.*}} -> !stg.tensor<[B : dp, D], bf16>
// PLAN-NEXT: test.next %[[D]] : !stg.tensor<[B : dp, D], bf16>

// LOCAL: test.loop 3 from %arg0 : !stg.tensor<[B/dp, D], bf16> -> !stg.tensor<[B/dp, D], bf16>
// LOCAL: %[[P:.*]] = stg.einsum "bf,fd->bd"
// LOCAL-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[P]] <fwd>
// LOCAL-NEXT: test.next %[[R]] : !stg.tensor<[B/dp, D], bf16>

// CHAKRA: %[[UP:.*]] = chakra.state "up"
// CHAKRA-NEXT: %[[DOWN:.*]] = chakra.state "down"
// CHAKRA: chakra.repeat "loop.fwd" * 3 carry(%[[C:.*]] = %{{.*}}
// CHAKRA-NEXT: %[[U:.*]] = chakra.comp "einsum.fwd"(%[[C]], %[[UP]]) ops(16384) matrix bytes(8704)
// CHAKRA-NEXT: %[[P:.*]] = chakra.comp "einsum.fwd.1"(%[[U]], %[[DOWN]]) ops(16384) matrix bytes(8704)
// CHAKRA-NEXT: %[[R:.*]] = chakra.coll all_reduce "all_reduce.fwd.all_reduce"(%[[P]]) over ["tp"] in_place
// CHAKRA-NEXT: chakra.yield carry(%[[R]] :

// VALID: no violations in 4 ranks

func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %y = test.loop 3 from %x : !x -> !x {
  ^bb0(%c: !x):
    %up = stg.param "up" : !w
    %u = stg.einsum "bd,df->bf" %c, %up : !x, !w
    %down = stg.param "down" : !v
    %d = stg.einsum "bf,fd->bd" %u, %down : !h, !v
    test.next %d : !x
  }
  return %y : !x
}
