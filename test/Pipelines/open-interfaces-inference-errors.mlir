// RUN: stg-test-opt %s --stg-name-ops --stg-inference -verify-diagnostics -o /dev/null

// A failure that an op does not explain is said for it.
stg.symbol @B
stg.symbol @S
stg.symbol @H
!x = !stg.tensor<[B, S, H], bf16>
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  // expected-error @+1 {{'test.add_previous' op fails in buildIncrement without saying why}}
  %y = test.add_previous %x {test.fails} : !x -> !x
  return %y : !x
}
