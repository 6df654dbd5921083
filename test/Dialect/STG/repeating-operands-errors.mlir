// RUN: stg-opt %s -split-input-file -verify-diagnostics

// Only what is 1, and has no name, repeats itself.
stg.symbol @H = 1
func.func @add_c1(%x: !stg.tensor<[4, 8], bf16>, %y: !stg.tensor<[4, H], bf16>) {
  // expected-error @+1 {{operand #1}}
  %z = stg.add %x, %y : !stg.tensor<[4, 8], bf16>, !stg.tensor<[4, H], bf16>
  return
}

// -----

func.func @mul_c1(%x: !stg.tensor<[4, 8], bf16>, %y: !stg.tensor<[1, 4], bf16>) {
  // expected-error @+1 {{operand #1}}
  %z = stg.mul %x, %y : !stg.tensor<[4, 8], bf16>, !stg.tensor<[1, 4], bf16>
  return
}

// -----

func.func @rank(%x: !stg.tensor<[4, 8], bf16>, %y: !stg.tensor<[8], bf16>) {
  // expected-error @+1 {{operand #1}}
  %z = stg.mul %x, %y : !stg.tensor<[4, 8], bf16>, !stg.tensor<[8], bf16>
  return
}

// -----

// Gradients of one operand have its shape.
func.func @others(%x: !stg.tensor<[4, 8], bf16>, %y: !stg.tensor<[4, 1], bf16>) {
  // expected-error @+1 {{operand #1}}
  %z = stg.accumulate %x, %y : !stg.tensor<[4, 8], bf16>, !stg.tensor<[4, 1], bf16>
  return
}
