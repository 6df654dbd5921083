// RUN: stg-opt %s -split-input-file -verify-diagnostics -o /dev/null

chakra.graph @load_c1 mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, parameter>
  // expected-error @+1 {{'chakra.load' op expects an operand of category host, found '!chakra.tensor<4, parameter>'}}
  %y = chakra.load "y"(%x) : (!chakra.tensor<4, parameter>) -> !chakra.tensor<4, parameter>
}

// -----

chakra.graph @load_c1 mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, host>
  // expected-error @+1 {{'chakra.load' op copies from one buffer of the host to another}}
  %y = chakra.load "y"(%x) : (!chakra.tensor<4, host>) -> !chakra.tensor<4, host>
}

// -----

chakra.graph @load_c1 mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, host>
  // expected-error @+1 {{'chakra.load' op copies a buffer of type '!chakra.tensor<4, host>' into one of type '!chakra.tensor<8, parameter>'}}
  %y = chakra.load "y"(%x) : (!chakra.tensor<4, host>) -> !chakra.tensor<8, parameter>
}

// -----

chakra.graph @load_c2 mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, host>
  // expected-error @+1 {{'chakra.load' op is ahead, but not in the body of a repeat}}
  %y = chakra.load "y"(%x) ahead 1 : (!chakra.tensor<4, host>) -> !chakra.tensor<4, parameter>
}

// -----

chakra.graph @store_c1 mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, parameter>
  // expected-error @+1 {{'chakra.store' op expects a result of category host, found '!chakra.tensor<4, parameter>'}}
  %y = chakra.store "y"(%x) : (!chakra.tensor<4, parameter>) -> !chakra.tensor<4, parameter>
}

// -----

chakra.graph @store_c2 mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, parameter>
  %h = chakra.state "h" : !chakra.tensor<8, host>
  // expected-error @+1 {{'chakra.store' op copies into a buffer of type '!chakra.tensor<8, host>', but has the result type '!chakra.tensor<4, host>'}}
  %y = chakra.store "y"(%x) into(%h : !chakra.tensor<8, host>) : (!chakra.tensor<4, parameter>) -> !chakra.tensor<4, host>
}

// -----

chakra.graph @graph_c7 mesh = #sym.mesh<dp = 2> {
  %h = chakra.state "h" : !chakra.tensor<8, host>
  // expected-error @+1 {{'chakra.comp' op reads a buffer of the host; use the result of a chakra.load}}
  %y = chakra.comp "y"(%h) ops(1) bytes(1) : (!chakra.tensor<8, host>) -> !chakra.tensor<4, temporary>
}

// -----

chakra.graph @graph_c7 mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.comp' op makes a buffer of the host; chakra.store does}}
  %y = chakra.comp "y"() ops(1) bytes(1) : () -> !chakra.tensor<4, host>
}

// -----

// A category may change from iteration to iteration, but not the memory.
chakra.graph @repeat_c1 mesh = #sym.mesh<dp = 2> {
  %h = chakra.state "h" : !chakra.tensor<8, host>
  // expected-error @+1 {{'chakra.repeat' op carries a value of type '!chakra.tensor<8, host>' as argument of type '!chakra.tensor<8, activation>' and result of type '!chakra.tensor<8, activation>'}}
  %y = "chakra.repeat"(%h) <{name = "layers", count = #sym.expr<2>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: !chakra.tensor<8, activation>):
    chakra.yield carry(%x : !chakra.tensor<8, activation>)
  }) : (!chakra.tensor<8, host>) -> !chakra.tensor<8, activation>
}
