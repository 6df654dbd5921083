// RUN: stg-opt %s --chakra-repeat-steps=count=4 -split-input-file -verify-diagnostics

!t = !chakra.tensor<64, temporary>

chakra.graph @scheduled mesh = #sym.mesh<tp = 2> {
  // expected-error @below {{is part of a schedule of micro-batches or stages, which is not executed for several steps}}
  chakra.func @f() {
    %y = chakra.comp "y"() ops(0) bytes(16) : () -> !chakra.tensor<64, temporary>
  }
  chakra.call @f() scope "mb0" : () -> ()
}

// -----

chakra.graph @carries mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<64, temporary>
  // expected-error @below {{has an index, so that its iterations are steps; these stand in a graph, in order, and hand nothing on}}
  %y = chakra.repeat "step" * 4 index "step" carry(%a = %x : !chakra.tensor<64, temporary>) -> !chakra.tensor<64, temporary> {
    chakra.yield carry(%a : !chakra.tensor<64, temporary>)
  }
}

// -----

chakra.graph @nested mesh = #sym.mesh<tp = 2> {
  chakra.repeat "layers" * 4 {
    // expected-error @below {{has an index, so that its iterations are steps; these stand in a graph, in order, and hand nothing on}}
    chakra.repeat "step" * 4 index "step" {
      %y = chakra.comp "y"() ops(0) bytes(16) : () -> !chakra.tensor<64, temporary>
    }
  }
}
