// An op without cost cannot become a node.

// RUN: stg-test-opt %s --convert-stg-to-chakra -split-input-file -verify-diagnostics -o /dev/null

stg.symbol @B
func.func @no_cost(%x: !stg.tensor<[B], f32>) -> !stg.tensor<[B], f32> {
  // expected-error @+1 {{'test.opaque' op has no cost; implement CostOpInterface}}
  %y = test.opaque %x : !stg.tensor<[B], f32> -> !stg.tensor<[B], f32>
  return %y : !stg.tensor<[B], f32>
}
