// Constraints of activations with learned numbers.
//
// RUN: stg-opt %s --split-input-file --verify-diagnostics

func.func @count(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[3], bf16>) {
  // expected-error@+1 {{has numbers '!stg.tensor<[3], bf16>', expected 2 of xielu}}
  %y = stg.learned_activation xielu %x, %w : !stg.tensor<[4, 8], bf16>, !stg.tensor<[3], bf16>
  return
}

// -----

func.func @rank(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[1, 1], bf16>) {
  // expected-error@+1 {{has numbers '!stg.tensor<[1, 1], bf16>', expected 1 of prelu}}
  %y = stg.learned_activation prelu %x, %w : !stg.tensor<[4, 8], bf16>, !stg.tensor<[1, 1], bf16>
  return
}

// -----

func.func @type(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[2], f32>) {
  // expected-error@+1 {{has numbers of type 'f32', expected 'bf16'}}
  %y = stg.learned_activation xielu %x, %w : !stg.tensor<[4, 8], bf16>, !stg.tensor<[2], f32>
  return
}

// -----

func.func @function(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[2], bf16>) {
  // expected-error@+1 {{expected}}
  %y = stg.learned_activation gelu %x, %w : !stg.tensor<[4, 8], bf16>, !stg.tensor<[2], bf16>
  return
}

// -----

func.func @gradient(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[2], bf16>, %dy: !stg.tensor<[4, 4], bf16>) {
  // expected-error@+1 {{gradient}}
  %dx, %dw = stg.learned_activation_grad xielu %x, %w, %dy : !stg.tensor<[4, 8], bf16>, !stg.tensor<[2], bf16>, !stg.tensor<[4, 4], bf16> -> !stg.tensor<[4, 8], bf16>, !stg.tensor<[2], bf16>
  return
}

// -----

func.func @numbers(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[2], bf16>) {
  // expected-error@+1 {{result #1}}
  %dx, %dw = stg.learned_activation_grad xielu %x, %w, %x : !stg.tensor<[4, 8], bf16>, !stg.tensor<[2], bf16>, !stg.tensor<[4, 8], bf16> -> !stg.tensor<[4, 8], bf16>, !stg.tensor<[1], bf16>
  return
}
