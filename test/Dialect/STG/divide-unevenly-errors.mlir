// What devices cannot divide unevenly.
//
// RUN: stg-opt %s --split-input-file --verify-diagnostics --stg-divide-unevenly="dims=V values=V=9"

!w = !stg.tensor<[D, V/8], bf16>
stg.symbol @D
stg.symbol @V
stg.mesh @mesh <tp = 8 : tensor>
// expected-error @+1 {{'func.func' op divides 'V' = 9 over 8 devices, with 2 on each, so that nothing is left for the last one}}
func.func @nothing(%w: !w {stg.layout = #stg.layout<tp : 1>}) {
  return
}

// -----

!w = !stg.tensor<[D, V/n], bf16>
stg.symbol @D
stg.symbol @V
stg.symbol @n
stg.mesh @mesh <tp = n : tensor>
// expected-error @+1 {{value of type '!stg.tensor<[D, V/n], bf16>' has dimension 'V' with another extent than other values have, or with one that is not known, so that it cannot be divided unevenly}}
func.func @symbol(%w: !w) {
  return
}

// -----

!a = !stg.tensor<[B, V/2], bf16>
!b = !stg.tensor<[B/2, V], bf16>
stg.symbol @B
stg.symbol @V
stg.mesh @mesh <tp = 2 : tensor>
func.func @exchange(%x: !a {stg.layout = #stg.layout<tp : 1>}) {
  // expected-error @+1 {{'stg.all_to_all' op takes or exchanges parts of dimension 'V', which cannot be divided unevenly}}
  %y = stg.all_to_all from 1 to 0 over ["tp"] %x : !a -> !b
  return
}

// -----

!a = !stg.tensor<[V/2, V], bf16>
stg.symbol @V
stg.mesh @mesh <tp = 2 : tensor>
// expected-error @+1 {{has dimension 'V' joined with another one or twice, so that it cannot be divided unevenly}}
func.func @twice(%x: !a {stg.layout = #stg.layout<tp : 0>}) {
  return
}
