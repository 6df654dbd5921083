// RUN: stg-opt %s --split-input-file --verify-diagnostics

func.func @value(%x: !stg.tensor<[4, 8], bf16>, %w: !stg.tensor<[8, 8], bf16>) {
  // expected-error @+1 {{has 'stg.delayed', expected it without a value, and at an op that computes}}
  %y = stg.einsum "bi,ij->bj" %x, %w {stg.delayed = 1} : !stg.tensor<[4, 8], bf16>, !stg.tensor<[8, 8], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data>
func.func @collective(%x: !stg.tensor<[4, 8], bf16>) {
  // expected-error @+1 {{has 'stg.delayed', expected it without a value, and at an op that computes}}
  %y = stg.all_reduce sum over ["dp"] %x {stg.delayed} : !stg.tensor<[4, 8], bf16>
  return
}

// -----

chakra.graph @graph mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{has 'chakra.delayed' unit, expected a 'chakra.comp' with 'chakra.delayed' or with an integer as 'chakra.duration_micros'}}
  %x = chakra.state "x" {chakra.delayed} : !chakra.tensor<4, input>
}

// -----

chakra.graph @graph mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, input>
  // expected-error @+1 {{has 'chakra.last' 1 : i64, expected a 'chakra.comp' with}}
  chakra.comp "y"(%x) ops(1) bytes(1) {chakra.last = 1} : (!chakra.tensor<4, input>) -> ()
}
