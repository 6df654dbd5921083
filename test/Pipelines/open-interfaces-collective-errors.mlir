// What every collective has to hold is checked by the interface.

// RUN: stg-test-opt %s -split-input-file -verify-diagnostics

// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2 : tensor>

func.func @axis(%x: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{'test.quantized_all_reduce' op uses mesh axis 'dp', which the mesh does not have}}
  %y = test.quantized_all_reduce bits 4 over ["dp"] %x : !stg.tensor<[4], f32> -> !stg.tensor<[4], f32>
  return
}

// -----

stg.mesh @mesh <tp = 2 : tensor>

func.func @type(%x: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{'test.quantized_all_reduce' op makes '!stg.tensor<[2], f32>' of '!stg.tensor<[4], f32>', expected the same type}}
  %y = test.quantized_all_reduce bits 4 over ["tp"] %x : !stg.tensor<[4], f32> -> !stg.tensor<[2], f32>
  return
}

// -----

stg.mesh @mesh <tp = 2 : tensor>

func.func @results(%x: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{'test.quantized_all_reduce' op has 2 operands and 1 results, expected as many and at least one}}
  %y = test.quantized_all_reduce bits 4 over ["tp"] %x, %x : !stg.tensor<[4], f32>, !stg.tensor<[4], f32> -> !stg.tensor<[4], f32>
  return
}
