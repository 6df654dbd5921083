// RUN: stg-test-opt %s --stg-name-ops --stg-inference --stg-apply-preset="tp=tp" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

// An op of another dialect says what it keeps of earlier tokens: it becomes a cache, which
// is divided like what the op works on.
//
// CHECK: chakra.state "add_previous.x" : !chakra.tensor<(2*B*H*S + 2*B*H*cached)/tp, kv_cache>
// CHECK: %[[X:.*]] = chakra.comp "add_previous.x.fwd"{{.*}} ops(0) bytes(4*B*H*S/tp) phase "fwd"
// CHECK: chakra.comp "add_previous.fwd"(%[[X]]) ops(B*H*S/tp) bytes((4*B*H*S + 2*B*H*cached)/tp) phase "fwd"
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @tp
!x = !stg.tensor<[B, S, H], bf16>
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %y = test.add_previous %x : !x -> !x
  return %y : !x
}
