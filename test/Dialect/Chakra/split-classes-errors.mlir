// RUN: stg-opt %s --chakra-split-classes -split-input-file -verify-diagnostics -o /dev/null

stg.symbol @cp_index coordinate "cp"
// expected-error @+1 {{'chakra.graph' op mentions 'cp_index', the coordinate on axis 'cp', which the mesh does not have}}
chakra.graph @no_axis mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4*cp_index, input>
}

// -----

stg.symbol @cp_index coordinate "cp"
stg.symbol @c
// expected-error @+1 {{'chakra.graph' op depends on the coordinate on axis 'cp', whose size c is not a number; run --stg-bind first}}
chakra.graph @no_number mesh = #sym.mesh<cp = c> {
  %x = chakra.state "x" : !chakra.tensor<4*cp_index, input>
}

// -----

stg.symbol @cp_index coordinate "cp"
chakra.graph @no_value mesh = #sym.mesh<cp = 2> {
  // expected-error @+1 {{'chakra.state' op has expression 4/cp_index, which has no value with cp_index = 0}}
  %x = chakra.state "x" : !chakra.tensor<4/cp_index, input>
}
