// Programs whose stages cannot hand tokens on.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics --stg-schedule="micro-batches=2 sent-tokens=1"

stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[B = 2, S = 1, D = 8], bf16>
// expected-error @below {{hands tokens on to the next step, but its first result has no number of them}}
func.func @no_tokens(%x: !x) -> !x {
  %y = stg.repeat "layers" * 4 carry(%c = %x : !x) <fwd> {
    %s = stg.add %c, %c <"sum" fwd> : !x, !x
    stg.yield %s : !x
  }
  return %y : !x
}

// -----

stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[B = 2, S = 1, D = 8], bf16>
func.func @no_reader(%x: !x) -> !stg.tensor<[B = 2, S = 1], i32> {
  %y = stg.repeat "layers" * 4 carry(%c = %x : !x) <fwd> {
    %s = stg.add %c, %c <"sum" fwd> : !x, !x
    stg.yield %s : !x
  }
  // expected-error @below {{makes tokens, which no argument of the first stage can have in the next step; use one stage}}
  %t = stg.sample %y <"sample" fwd> : !x
  return %t : !stg.tensor<[B = 2, S = 1], i32>
}

// -----

stg.mesh @mesh <pp = 2 : pipeline>
!ids = !stg.tensor<[B = 2, S = 1], i32>
!x = !stg.tensor<[B = 2, S = 1, D = 8], bf16>
!table = !stg.tensor<[V = 16, D = 8], bf16>
// expected-error @below {{is a second argument of the first stage that can have the tokens of the step before; use one stage}}
func.func @two_readers(%a: !ids, %b: !ids) -> !ids {
  %table = stg.param "table" : !table
  %e = stg.embedding %table, %a <"embed" fwd> : !table, !ids
  %p = stg.embedding %table, %b <"other" fwd> : !table, !ids
  %x = stg.add %e, %p <"both" fwd> : !x, !x
  %y = stg.repeat "layers" * 4 carry(%c = %x : !x) <fwd> {
    %s = stg.add %c, %c <"sum" fwd> : !x, !x
    stg.yield %s : !x
  }
  %t = stg.sample %y <"sample" fwd> : !x
  return %t : !ids
}
