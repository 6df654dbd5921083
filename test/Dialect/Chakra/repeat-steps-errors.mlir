// RUN: stg-opt %s --chakra-repeat-steps=count=4 -split-input-file -verify-diagnostics

!t = !chakra.tensor<64, temporary>

chakra.graph @called mesh = #sym.mesh<tp = 2> {
  chakra.func @f() {
    %y = chakra.comp "y"() ops(0) bytes(16) : () -> !chakra.tensor<64, temporary>
  }
  chakra.repeat "layers" * 4 {
    // expected-error @below {{'chakra.call' op is in a repeat without an index, expected one whose iterations are steps}}
    chakra.call @f() scope "mb0" : () -> ()
  }
}

// -----

chakra.graph @scheduled mesh = #sym.mesh<tp = 2> {
  chakra.func @f() {
    %y = chakra.comp "y"() ops(0) bytes(16) : () -> !chakra.tensor<64, temporary>
  }
  chakra.repeat "layers" * 4 {
    // expected-error @below {{'chakra.schedule' op is in a repeat without an index, expected one whose iterations are steps}}
    chakra.schedule "mb" * 2 order <2 * [0 at 0 by 1]> {
      chakra.call @f() scope "" : () -> ()
    }
  }
}

// -----

chakra.graph @later mesh = #sym.mesh<tp = 2> {
  chakra.repeat "step" * 4 index "step" {
    // expected-error @below {{calls 'f', which is no function before it in the graph}}
    chakra.call @f() scope "" : () -> ()
  }
  chakra.func @f() {
    %y = chakra.comp "y"() ops(0) bytes(16) : () -> !chakra.tensor<64, temporary>
  }
}

// -----

chakra.graph @twice mesh = #sym.mesh<tp = 2> {
  // expected-error @below {{is called more than once with the scope '', so that names of nodes are not unique}}
  chakra.func @f() {
    %y = chakra.comp "y"() ops(0) bytes(16) : () -> !chakra.tensor<64, temporary>
  }
  chakra.call @f() scope "" : () -> ()
  chakra.call @f() scope "" : () -> ()
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
