// What a pass needs of an op and the op does not say is an error at the op.

// RUN: stg-test-opt %s --stg-apply-preset --stg-propagate-shardings -split-input-file -verify-diagnostics -o /dev/null

stg.symbol @B
func.func @no_sharding_rule(%x: !stg.tensor<[B], f32>) -> !stg.tensor<[B], f32> {
  // expected-error @+1 {{'test.opaque' op has no sharding rule; implement ShardableOpInterface}}
  %y = test.opaque %x : !stg.tensor<[B], f32> -> !stg.tensor<[B], f32>
  return %y : !stg.tensor<[B], f32>
}
