// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @gather_c1(%x: !stg.tensor<[4, 8], bf16>, %i: !stg.tensor<[3], i32>) {
  // expected-error @+1 {{has dimension 2, the operand has rank 2}}
  %y = stg.gather dim 2 %x, %i : !stg.tensor<[4, 8], bf16>, !stg.tensor<[3], i32>
  return
}

// -----

func.func @gather_c2(%x: !stg.tensor<[4, 8], bf16>, %i: !stg.tensor<[3], bf16>) {
  // expected-error @+1 {{numbers}}
  %y = stg.gather dim 0 %x, %i : !stg.tensor<[4, 8], bf16>, !stg.tensor<[3], bf16>
  return
}

// -----

func.func @gather_grad_c1(%i: !stg.tensor<[3], i32>, %dy: !stg.tensor<[2, 8], bf16>) {
  // expected-error @+1 {{gradient}}
  %dx = stg.gather_grad dim 0 %i, %dy : !stg.tensor<[3], i32>, !stg.tensor<[2, 8], bf16> -> !stg.tensor<[4, 8], bf16>
  return
}

// -----

func.func @gather_grad_c2(%i: !stg.tensor<[3], f32>, %dy: !stg.tensor<[3, 8], bf16>) {
  // expected-error @+1 {{numbers}}
  %dx = stg.gather_grad dim 0 %i, %dy : !stg.tensor<[3], f32>, !stg.tensor<[3, 8], bf16> -> !stg.tensor<[4, 8], bf16>
  return
}
