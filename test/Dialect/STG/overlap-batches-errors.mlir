// RUN: stg-opt %s --split-input-file --verify-diagnostics --stg-overlap-batches=parts=2

stg.symbol @B
!x = !stg.tensor<[B, D = 64], bf16>

// expected-error@+1 {{nothing that is made of a batch is sent, so that its parts would be beside nothing; divide experts, heads or tokens over devices, or leave the batch whole}}
func.func @alone(%x: !x) -> !x {
  %y = stg.add %x, %x : !x, !x
  return %y : !x
}

// -----

// What is sent belongs to all parts.
stg.symbol @B
stg.mesh @mesh <tp = 2 : tensor>
!x = !stg.tensor<[B, D = 64], bf16>
!w = !stg.tensor<[D = 64], bf16>

// expected-error@+1 {{nothing that is made of a batch is sent}}
func.func @parameters(%x: !x) -> (!x, !w) {
  %p = stg.param "p" : !w
  %w = stg.all_reduce sum over ["tp"] %p : !w
  %y = stg.add %x, %x : !x, !x
  return %y, %w : !x, !w
}

// -----

stg.symbol @B
stg.mesh @mesh <tp = 2 : tensor>
!w = !stg.tensor<[D = 64], f32>

func.func @training(%x: !stg.tensor<[B, D = 64], f32>) {
  %p = stg.param "p" : !w
  %g = stg.einsum "bd->d" %x : !stg.tensor<[B, D = 64], f32>
  %r = stg.all_reduce sum over ["tp"] %g : !w
  // expected-error@+1 {{'stg.sgd' op is a step of training, whose gradients are those of all rows; parts of batches are executed by turns in steps of inference}}
  stg.sgd %p, %r : !w, !w
  return
}
