// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @dropout_c1(%x: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{operand has element type 'i32', expected a float}}
  %y, %mask = stg.dropout %x : !stg.tensor<[4], i32>
  return
}

// -----

func.func @dropout_grad_c1(%m: !stg.tensor<[4], i8>, %dy: !stg.tensor<[5], f32>) {
  // expected-error @+1 {{gradient}}
  %dx = stg.dropout_grad %m, %dy : !stg.tensor<[4], i8>, !stg.tensor<[5], f32>
  return
}

// -----

func.func @dropout_grad_c2(%m: !stg.tensor<[4], f32>, %dy: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{mask has element type 'f32', expected an integer}}
  %dx = stg.dropout_grad %m, %dy : !stg.tensor<[4], f32>, !stg.tensor<[4], f32>
  return
}
