// What devices with different requests cannot do, and numbers that do not agree.
//
// RUN: stg-opt %s --split-input-file --verify-diagnostics --stg-load-requests="requests=(1,9);2*(3,4)"

!x = !stg.tensor<[B/3, S, D], bf16>
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.mesh @mesh <dp = 3 : data>
// expected-error @+1 {{'func.func' op divides the batch over 3 devices, but there are 2 lists of requests}}
func.func @number(%x: !x {stg.layout = #stg.layout<dp : 0>}) {
  return
}

// -----

!x = !stg.tensor<[B/n, S, D], bf16>
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @n
stg.mesh @mesh <dp = n : data>
// expected-error @+1 {{'func.func' op divides the batch over axis 'dp', whose size is not a number}}
func.func @symbol(%x: !x {stg.layout = #stg.layout<dp : 0>}) {
  return
}

// -----

!x = !stg.tensor<[B/2, S, D], bf16>
!g = !stg.tensor<[B, S, D], bf16>
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.mesh @mesh <dp = 2 : data>
func.func @slice(%x: !x {stg.layout = #stg.layout<dp : 0>}) {
  %g = stg.all_gather dim 0 over ["dp"] %x : !x -> !g
  // expected-error @+1 {{takes some of the rows of several devices, which those with different requests cannot do}}
  %y = stg.local_slice dim 0 over ["dp"] %g : !g -> !x
  return
}

// -----

!x = !stg.tensor<[B/2, S, D], bf16>
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.mesh @mesh <dp = 2 : data>
func.func @unknown(%x: !x {stg.layout = #stg.layout<dp : 0>}) {
  // expected-error @+1 {{it is not known what devices along axis 'dp' have of it, so they cannot have different requests}}
  %p = stg.param "rows" : !x
  return
}

// -----

!g = !stg.tensor<[B, S, D], bf16>
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.mesh @mesh <dp = 2 : data>
func.func @padded(%x: !g) {
  // expected-error @+1 {{'stg.all_gather' op is padded, but has no payload}}
  %y = stg.all_gather dim 0 over ["dp"] %x {padded = #sym.expr<D>} : !g -> !stg.tensor<[2*B, S, D], bf16>
  return
}
