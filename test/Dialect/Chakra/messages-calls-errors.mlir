// RUN: stg-opt %s -split-input-file -verify-diagnostics -o /dev/null

chakra.graph @send_c1 mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.send' op is along axis 'tp', which the mesh does not have}}
  chakra.send "s"(%x) axis "tp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}

// -----

chakra.graph @recv_c1 mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.recv' op is along axis 'tp', which the mesh does not have}}
  %x = chakra.recv "s" axis "tp" shift 1 channel 0 : !chakra.tensor<4, activation>
}

// -----

chakra.graph @send_c2 mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.send' op expects at least one buffer}}
  "chakra.send"() <{name = "s", axis = "pp", shift = 1 : i64, channel = 0 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
}

// -----

chakra.graph @recv_c3 mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.recv' op has the channel -1, expected at least 0}}
  %x = chakra.recv "s" axis "pp" shift 1 channel -1 : !chakra.tensor<4, activation>
}

// -----

chakra.graph @send_c4 mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.send' op expects a name without control characters, commas and equals signs, found 'a,b'}}
  chakra.send "a,b"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}

// -----

// Messages have names like other nodes.
chakra.graph @message_names mesh = #sym.mesh<pp = 2> {
  // expected-note @+1 {{first used here}}
  %x = chakra.recv "s" axis "pp" shift 1 channel 0 : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.send' op has the name 's', which is taken in this scope}}
  chakra.send "s"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}

// -----

// A message may come after a change without reading what was changed.
chakra.graph @message_reads mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-note @+1 {{changed here}}
  %y = chakra.comp "add"() updates(%x : !chakra.tensor<4, activation>) ops(1) bytes(1) : () -> !chakra.tensor<4, activation>
  chakra.send "ok"(%y) axis "pp" shift 1 channel 0 after(%x : !chakra.tensor<4, activation>) : (!chakra.tensor<4, activation>)
  %r = chakra.recv "ok2" axis "pp" shift 1 channel 0 after(%x : !chakra.tensor<4, activation>) : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.send' op uses a buffer after it was changed in place; use the result of the op that changed it}}
  chakra.send "old"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}

// -----

chakra.graph @func_c1_count mesh = #sym.mesh<pp = 2> {
  chakra.func @f() -> !chakra.token {
    // expected-error @+1 {{'chakra.return' op returns 0 values, but the function has 1 results}}
    chakra.return
  }
}

// -----

chakra.graph @func_c1_type mesh = #sym.mesh<pp = 2> {
  chakra.func @f(%x : !chakra.tensor<4, activation>) -> !chakra.tensor<8, activation> {
    // expected-error @+1 {{'chakra.return' op returns a value of type '!chakra.tensor<4, activation>', but the function has the result type '!chakra.tensor<8, activation>'}}
    chakra.return %x : !chakra.tensor<4, activation>
  }
}

// -----

chakra.graph @call_c1 mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.call' op calls 'f', which is no function before it in the graph}}
  chakra.call @f() scope "a" : () -> ()
  chakra.func @f() {
  }
}

// -----

chakra.graph @call_c2_count mesh = #sym.mesh<pp = 2> {
  chakra.func @f(%x : !chakra.token) {
  }
  // expected-error @+1 {{'chakra.call' op has 0 operands, but 'f' has 1}}
  chakra.call @f() scope "a" : () -> ()
}

// -----

chakra.graph @call_c2_type mesh = #sym.mesh<pp = 2> {
  chakra.func @f(%x : !chakra.tensor<4, activation>) {
  }
  %x = chakra.state "x" : !chakra.tensor<8, activation>
  // expected-error @+1 {{'chakra.call' op operand #0 has type '!chakra.tensor<8, activation>', but in 'f' '!chakra.tensor<4, activation>'}}
  chakra.call @f(%x) scope "a" : (!chakra.tensor<8, activation>) -> ()
}

// -----

chakra.graph @call_c3 mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
  }
  // expected-error @+1 {{'chakra.call' op expects a name without control characters, commas and equals signs, found 'a=b'}}
  chakra.call @f() scope "a=b" : () -> ()
}

// -----

chakra.graph @same_scope mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.func' op is called more than once with the scope 'a', so that names of nodes are not unique}}
  chakra.func @f() {
    chakra.comp "n"() ops(1) bytes(1) : () -> ()
  }
  chakra.call @f() scope "a" : () -> ()
  chakra.call @f() scope "a" : () -> ()
}

// -----

// Two functions share a scope, and a name.
chakra.graph @shared_scope mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    // expected-note @+1 {{first used here}}
    chakra.comp "n"() ops(1) bytes(1) : () -> ()
  }
  chakra.func @g() {
    // expected-error @+1 {{'chakra.comp' op has the name 'n', which is taken in this scope}}
    chakra.comp "n"() ops(1) bytes(1) : () -> ()
  }
  chakra.call @f() scope "a" : () -> ()
  chakra.call @g() scope "a" : () -> ()
}

// -----

// Without a scope the names are those of the graph.
chakra.graph @no_scope mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    // expected-error @+1 {{'chakra.comp' op has the name 'n', which is taken in this scope}}
    chakra.comp "n"() ops(1) bytes(1) : () -> ()
  }
  // expected-note @+1 {{first used here}}
  chakra.comp "n"() ops(1) bytes(1) : () -> ()
  chakra.call @f() scope "" : () -> ()
}

// -----

// Iteration 3 is one of both repeats.
chakra.graph @overlapping_repeats mesh = #sym.mesh<pp = 2> {
  chakra.repeat "layers" * 4 {
    // expected-note @+1 {{first used here}}
    chakra.comp "n"() ops(1) bytes(1) : () -> ()
  }
  chakra.repeat "layers" * 4 from 3 {
    // expected-error @+1 {{'chakra.comp' op has the name 'n', which is taken in this scope}}
    chakra.comp "n"() ops(1) bytes(1) : () -> ()
  }
}

// -----

chakra.graph @coll_c5 mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op cannot be in place: all_gather changes the size}}
  %y = chakra.coll all_gather "g"(%x) over ["pp"] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c7_twice mesh = #sym.mesh<pp = 4> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is among coordinates of which 1 is negative or listed twice}}
  %y = chakra.coll all_reduce "r"(%x) over ["pp"] among [1, 1] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c7_axes mesh = #sym.mesh<tp = 2, pp = 4> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is among some coordinates, which needs one axis and at least two of them}}
  %y = chakra.coll all_reduce "r"(%x) over ["tp", "pp"] among [0, 1] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c7_own mesh = #sym.mesh<pp = 4> coordinates = {pp = 2} {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is not among its own ranks, which have coordinate 2 on axis 'pp'}}
  %y = chakra.coll all_reduce "r"(%x) over ["pp"] among [0, 3] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c8_negative mesh = #sym.mesh<pp = 4> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is -1 iterations ahead, expected at least 0}}
  %y = chakra.coll all_reduce "r"(%x) over ["pp"] ahead -1 : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c8_outside mesh = #sym.mesh<pp = 4> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is ahead, but not in the body of a repeat}}
  %y = chakra.coll all_reduce "r"(%x) over ["pp"] ahead 1 : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c8_reads mesh = #sym.mesh<pp = 4> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  %z = chakra.repeat "layers" * 4 carry(%c = %x : !chakra.tensor<4, activation>) -> !chakra.tensor<4, activation> {
    // expected-error @+1 {{'chakra.coll' op is ahead, but reads a value that its own iteration makes or gets}}
    %y = chakra.coll all_reduce "r"(%c) over ["pp"] ahead 1 : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
    chakra.yield carry(%y : !chakra.tensor<4, activation>)
  }
}

// -----

// The path behind a scope is that of an op beside the call.
chakra.graph @call_name mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  // expected-note @+1 {{the other op is here}}
  chakra.comp "mb3.x"() ops(1) bytes(1) : () -> ()
  // These two are not.
  chakra.comp "mb3.y"() ops(1) bytes(1) : () -> ()
  chakra.comp "mb33.x"() ops(1) bytes(1) : () -> ()
  // expected-error @+1 {{'chakra.call' op has the scope 'mb3', behind which another op can have the path of an op of 'f'}}
  chakra.call @f() scope "mb3" : () -> ()
}

// -----

chakra.graph @call_repeat_inside mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    chakra.repeat "layers" * L {
      chakra.comp "x"() ops(1) bytes(1) : () -> ()
    }
  }
  // expected-note @+1 {{the other op is here}}
  chakra.comp "mb3.layers.7.x"() ops(1) bytes(1) : () -> ()
  // expected-error @+1 {{'chakra.call' op has the scope 'mb3', behind which another op}}
  chakra.call @f() scope "mb3" : () -> ()
}

// -----

chakra.graph @call_repeat_outside mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    chakra.comp "layers.7.x"() ops(1) bytes(1) : () -> ()
  }
  // expected-note @+1 {{the other op is here}}
  chakra.repeat "mb3.layers" * L {
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  // expected-error @+1 {{'chakra.call' op has the scope 'mb3', behind which another op}}
  chakra.call @f() scope "mb3" : () -> ()
}

// -----

chakra.graph @call_like_iteration mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  // expected-note @+1 {{the other op is here}}
  chakra.repeat "layers" * L {
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  // expected-error @+1 {{'chakra.call' op has the scope 'layers.3', behind which another op}}
  chakra.call @f() scope "layers.3" : () -> ()
}

// -----

// One scope continues the other.
chakra.graph @call_nested_scopes mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    chakra.comp "last.x"() ops(1) bytes(1) : () -> ()
  }
  chakra.func @g() {
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  // expected-error @+1 {{'chakra.call' op has the scope 'mb1', behind which another op can have the path of an op of 'f'}}
  chakra.call @f() scope "mb1" : () -> ()
  // expected-note @+1 {{the other op is here}}
  chakra.call @g() scope "mb1.last" : () -> ()
}

// -----

// Two functions with one scope share it.
chakra.graph @call_shared_scope mesh = #sym.mesh<pp = 2> {
  chakra.func @f() {
    // expected-note @+1 {{first used here}}
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  chakra.func @g() {
    // expected-error @+1 {{'chakra.comp' op has the name 'x', which is taken in this scope}}
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
  chakra.call @f() scope "mb1" : () -> ()
  chakra.call @g() scope "mb2" : () -> ()
  chakra.call @f() scope "mb3" : () -> ()
  chakra.call @g() scope "mb3" : () -> ()
}

// -----

chakra.graph @recv_c6 mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<128, input>
  // expected-error @below {{'chakra.recv' op expects a payload with what it receives into, and only with it}}
  %y = chakra.recv "r" into(%x : !chakra.tensor<128, input>) axis "pp" shift 1 channel 0 : !chakra.tensor<128, input>
}

// -----

chakra.graph @recv_c6_alone mesh = #sym.mesh<pp = 2> {
  // expected-error @below {{'chakra.recv' op expects a payload with what it receives into, and only with it}}
  %y = chakra.recv "r" payload(64) axis "pp" shift 1 channel 0 : !chakra.tensor<128, input>
}

// -----

chakra.graph @recv_c6_size mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<128, input>
  // expected-error @below {{'chakra.recv' op receives into a buffer of type '!chakra.tensor<128, input>', which is not that of its only result}}
  %y = chakra.recv "r" into(%x : !chakra.tensor<128, input>) payload(64) axis "pp" shift 1 channel 0 : !chakra.tensor<64, input>
}

// -----

chakra.graph @send_c6 mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.send' op expects payload to be a non-negative integer, found '-1'}}
  chakra.send "s"(%x) axis "pp" shift 1 channel 0 payload(-1) : (!chakra.tensor<4, activation>)
}
