// What a graph must be to be exported.
//
// RUN: stg-translate --chakra-to-traces --trace-dir=%t --split-input-file --verify-diagnostics %s

// expected-error @+1 {{there is no chakra.graph to export}}
module {
}

// -----

// expected-error @+1 {{'chakra.graph' op needs a number for its size of axis 'dp', '2*x*y', but symbols 'x', 'y' are not bound; bind with --stg-bind="x=<number>" (stg-compile: --set x=<number>)}}
chakra.graph @unbound_axis mesh = #sym.mesh<dp = 2*y*x> {
  chakra.comp "a"() ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @unbound_ops mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.comp' op needs a number for its operation count, '2*B', but symbol 'B' is not bound; bind with --stg-bind="B=<number>" (stg-compile: --set B=<number>)}}
  chakra.comp "a"() ops(2*B) bytes(1) : () -> ()
}

// -----

chakra.graph @unbound_bytes mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.comp' op needs a number for its byte count, 'ceildiv(B, 2)'}}
  chakra.comp "a"() ops(2) bytes(ceildiv(B, 2)) : () -> ()
}

// -----

chakra.graph @unbound_tensor mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.comp' op needs a number for its tensor size, 'D'}}
  %a = chakra.comp "a"() ops(2) bytes(1) : () -> !chakra.tensor<D, activation>
}

// -----

chakra.graph @unbound_state mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.state' op needs a number for its tensor size, 'D'}}
  %a = chakra.state "a" : !chakra.tensor<D, activation>
}

// -----

chakra.graph @unbound_count mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.repeat' op needs a number for its repeat count, 'L'}}
  chakra.repeat "r" * L {
    chakra.comp "a"() ops(2) bytes(1) : () -> ()
  }
}

// -----

chakra.graph @no_value mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.comp' op needs a number for its operation count, 'ceildiv(1, 0)', which has no value}}
  chakra.comp "a"() ops(ceildiv(1, 0)) bytes(1) : () -> ()
}

// -----

// 2^63 is one too large.
chakra.graph @large_ops mesh = #sym.mesh<dp = 2> {
  chakra.comp "fits"() ops(9223372036854775807) bytes(1) : () -> ()
  // expected-error @+1 {{'chakra.comp' op has operation count 9223372036854775808, which does not fit in 64 bits}}
  chakra.comp "a"() ops(9223372036854775808) bytes(1) : () -> ()
}

// -----

// Two buffers of 2^62 bytes.
chakra.graph @large_payload mesh = #sym.mesh<dp = 2> {
  %s = chakra.repeat "r" * 2 -> !chakra.stack<!chakra.tensor<4611686018427387904, gradient>, 2> {
    %a = chakra.state "a" : !chakra.tensor<4611686018427387904, gradient>
    chakra.yield stack(%a : !chakra.tensor<4611686018427387904, gradient>)
  }
  // expected-error @+1 {{'chakra.coll' op has a payload that does not fit in 64 bits}}
  %r = chakra.coll all_reduce "b"(%s) over ["dp"] in_place : (!chakra.stack<!chakra.tensor<4611686018427387904, gradient>, 2>) -> !chakra.stack<!chakra.tensor<4611686018427387904, gradient>, 2>
}

// -----

// 2^63 - 1 is not a multiple of 8, and the next one is too large.
chakra.graph @large_padding mesh = #sym.mesh<dp = 2> {
  %a = chakra.state "a" : !chakra.tensor<9223372036854775807, gradient>
  // expected-error @+1 {{'chakra.coll' op has a payload that does not fit in 64 bits when it is padded to a multiple of 8}}
  %r = chakra.coll all_reduce "b"(%a) over ["dp"] in_place : (!chakra.tensor<9223372036854775807, gradient>) -> !chakra.tensor<9223372036854775807, gradient>
}

// -----

// 50000 * 50000 is more than 2^31 - 1.
chakra.graph @too_many_nodes mesh = #sym.mesh<dp = 2> {
  chakra.repeat "r" * 50000 {
    // expected-error @+1 {{'chakra.repeat' op executes its body more than 2147483647 times per rank}}
    chakra.repeat "q" * 50000 {
      chakra.comp "a"() ops(2) bytes(1) : () -> ()
    }
  }
}

// -----

// 3 * 10^9 nodes of 10^9 executions.
chakra.graph @too_many_nodes mesh = #sym.mesh<dp = 2> {
  // expected-error @+1 {{'chakra.repeat' op brings the graph to more than 2147483647 nodes or tensors per rank}}
  chakra.repeat "r" * 1000000000 {
    chakra.comp "a"() ops(2) bytes(1) : () -> ()
    chakra.comp "b"() ops(2) bytes(1) : () -> ()
    chakra.comp "c"() ops(2) bytes(1) : () -> ()
  }
}

// -----

// expected-error @+1 {{'chakra.graph' op has a mesh that is not of 1 to 2147483647 ranks along at most 48 axes}}
chakra.graph @large_mesh mesh = #sym.mesh<dp = 65536, tp = 65536> {
  chakra.comp "a"() ops(1) bytes(1) : () -> ()
}

// -----

// expected-error @+1 {{'chakra.graph' op has no nodes; a trace needs at least one}}
chakra.graph @no_nodes mesh = #sym.mesh<dp = 2> {
  %a = chakra.state "a" : !chakra.tensor<1, activation>
}

// -----

// expected-note @+1 {{its mesh is #sym.mesh<dp = 2>}}
chakra.graph @mesh_a mesh = #sym.mesh<dp = 2> coordinates = {dp = 0} {
  chakra.comp "a"() ops(1) bytes(1) : () -> ()
}
// expected-error @+1 {{'chakra.graph' op has another mesh than 'mesh_a'}}
chakra.graph @mesh_b mesh = #sym.mesh<dp = 3> coordinates = {dp = 1} {
  chakra.comp "a"() ops(1) bytes(1) : () -> ()
}

// -----

// expected-error @+1 {{no chakra.graph covers rank 2 (tp=0, pp=1)}}
module {
  chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 0} {
    chakra.comp "a"() ops(1) bytes(1) : () -> ()
  }
}

// -----

// expected-note @+1 {{the other graph is here}}
chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 0} {
  chakra.comp "a"() ops(1) bytes(1) : () -> ()
}
// expected-error @+1 {{'chakra.graph' op covers rank 1 (tp=1, pp=0), which 'first' covers too}}
chakra.graph @second mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {tp = 1} {
  chakra.comp "a"() ops(1) bytes(1) : () -> ()
}

// -----

// Ranks 0 and 1 are in a group over tp, but have different graphs.
!x = !chakra.tensor<1024, activation>
// expected-note @+1 {{the other graph is here}}
chakra.graph @one_coll mesh = #sym.mesh<tp = 2> coordinates = {tp = 0} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "0"(%x) over ["tp"] in_place : (!x) -> !x
}
// expected-error @+1 {{'chakra.graph' op does not have the collectives over [tp] that 'one_coll' has, but ranks 0 and 1 are in one group: 2 and 1 collectives, or different kinds, sizes or order}}
chakra.graph @two_colls mesh = #sym.mesh<tp = 2> coordinates = {tp = 1} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "0"(%x) over ["tp"] in_place : (!x) -> !x
  %1 = chakra.coll all_reduce "1"(%0) over ["tp"] in_place : (!x) -> !x
}

// -----

!x = !chakra.tensor<1024, activation>
// expected-note @+1 {{the other graph is here}}
chakra.graph @reduce mesh = #sym.mesh<tp = 2> coordinates = {tp = 0} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "0"(%x) over ["tp"] : (!x) -> !x
}
// expected-error @+1 {{'chakra.graph' op does not have the collectives over [tp] that 'reduce' has, but ranks 0 and 1 are in one group}}
chakra.graph @exchange mesh = #sym.mesh<tp = 2> coordinates = {tp = 1} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_to_all "0"(%x) over ["tp"] : (!x) -> !x
}

// -----

chakra.graph @lone_payload mesh = #sym.mesh<tp = 1> {
  // expected-error @+1 {{'chakra.coll' op is over a group of one rank, but its results are not its operands}}
  %0 = chakra.coll all_reduce "0"() over ["tp"] payload(4) : () -> !chakra.token
}

// -----

!x = !chakra.tensor<4, gradient>
chakra.graph @lone_payload mesh = #sym.mesh<tp = 1> {
  %s = chakra.repeat "r" * 2 -> !chakra.stack<!x, 2> {
    %a = chakra.state "a" : !x
    chakra.yield stack(%a : !x)
  }
  // expected-error @+1 {{'chakra.coll' op is over a group of one rank, but result 0 is not its operand}}
  %0 = chakra.coll all_reduce "0"(%s) over ["tp"] payload(4) : (!chakra.stack<!x, 2>) -> !chakra.token
}
