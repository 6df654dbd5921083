// What a schedule at the chakra level refuses beside what stg.schedule does.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !chakra.tensor<64, input>
chakra.graph @scope mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'chakra.call' op has the scope 'mb0' in a schedule, which has those of its turns}}
    chakra.call @f(%x) scope "mb0" : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @size mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  %b = chakra.state "b" : !chakra.tensor<32, input>
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  // expected-error @+1 {{'chakra.schedule' op has an input of type '!chakra.tensor<32, input>' for argument #0 of type '!chakra.tensor<64, input>'}}
  chakra.schedule "mb" * 2 inputs(%a, %b : !x, !chakra.tensor<32, input>) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
  }
}

// -----

// Two functions of one turn have a node of one name.
!x = !chakra.tensor<64, input>
chakra.graph @names mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    // expected-note @+1 {{first used here}}
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.func @g(%x : !x) {
    // expected-error @+1 {{'chakra.comp' op has the name 'f', which is taken in this scope}}
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0, 1 at 0]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
    chakra.call @g(%x) scope "" : (!x) -> ()
  }
}

// -----

// In different turns they may.
!x = !chakra.tensor<64, input>
chakra.graph @turns mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.func @g(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <[0 at 0, 1 at 1]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
    chakra.call @g(%x) scope "" : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @beside mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  // expected-error @+1 {{'chakra.schedule' op has the turn 'mb1', in which an op can have the path of another one}}
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
  }
  // expected-note @+1 {{the other op is here}}
  chakra.comp "mb1.f"(%a) ops(1) bytes(1) : (!x) -> ()
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @call mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
  }
  // expected-error @+1 {{'chakra.call' op has the scope 'mb1', which is that of a turn of schedule 'mb'}}
  chakra.call @f(%a) scope "mb1" : (!x) -> ()
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @one_turn mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  // expected-error @+1 {{'chakra.schedule' op has 1 turns, expected 2 to 2^31 - 1}}
  chakra.schedule "mb" * 1 inputs(%a : !x) order <[0 at 0]> {
  ^bb0(%x: !x):
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @inputs mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  // expected-error @+1 {{'chakra.schedule' op has 1 inputs, expected 2 for each of 1 arguments of its body}}
  chakra.schedule "mb" * 2 inputs(%a : !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @contents mesh = #sym.mesh<> {
  chakra.schedule "mb" * 2 order <2 * [0 at 0]> {
    // expected-error @+1 {{'chakra.state' op is in a schedule, which has calls, messages and compute nodes}}
    %a = chakra.state "a" : !x
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @before mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <[0 at 0, 1 at 0, 1 at 1, 0 at 1]> {
  ^bb0(%x: !x):
    %y = chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> !x
    // expected-error @+1 {{'chakra.comp' op is executed in turn 1 before op #0 of the schedule, whose result it reads}}
    chakra.comp "g"(%y) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @later mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'chakra.call' op calls 'f', which is no function before it in the graph}}
    chakra.call @f(%x) scope "" : (!x) -> ()
  }
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @later_total mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  %t = chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> -> !x {
  ^bb0(%x: !x):
    // expected-error @+1 {{'chakra.turn_call' op calls 'f', which is no function before it}}
    chakra.turn_call to 0 first @f last @f(%x) : (!x) -> ()
  }
  chakra.func @f(%x : !x) -> !x {
    chakra.return %x : !x
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @no_function mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'chakra.turn_call' op calls no function}}
    chakra.turn_call to 0 (%x) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @two mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  // expected-error @+1 {{'chakra.schedule' op has the name of another schedule, 'mb'}}
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.comp "g"(%x) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @name mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  // expected-error @+1 {{'chakra.schedule' op expects a name that is not empty}}
  chakra.schedule "" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @channel mesh = #sym.mesh<pp = 2> {
  %a = chakra.state "a" : !x
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'chakra.send' op expects channels that are so far apart in a schedule, and only there}}
    chakra.send "s"(%x) axis "pp" shift 1 channel 0 : (!x)
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @apart mesh = #sym.mesh<pp = 2> {
  chakra.schedule "mb" * 2 order <2 * [0 at 0]> {
    // expected-error @+1 {{'chakra.recv' op has channels that are 0 apart, expected at least 1}}
    %x = chakra.recv "r" axis "pp" shift 1 channel 0 by 0 : !x
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @outside mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.recv' op expects channels that are so far apart in a schedule, and only there}}
  %x = chakra.recv "r" axis "pp" shift 1 channel 0 by 2 : !x
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @itself mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  // expected-error @+1 {{'chakra.schedule' op executes @f side by side with itself}}
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <[0 at 0 | 1 at 1]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
    chakra.call @f(%x) scope "" : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @node mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <[0 at 0 | 1 at 1]> {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
    // expected-error @+1 {{'chakra.comp' op is executed side by side with another op; only calls can be}}
    chakra.comp "g"(%x) ops(1) bytes(1) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
!g = !chakra.tensor<64, gradient>
chakra.graph @one_total mesh = #sym.mesh<> {
  %a = chakra.state "a" : !x
  chakra.func @first(%x : !x) -> !g {
    %g = chakra.comp "g"(%x) ops(1) bytes(1) : (!x) -> !g
    chakra.return %g : !g
  }
  chakra.func @next(%x : !x, %t : !g) -> !g {
    %g = chakra.comp "g"(%x, %t) ops(1) bytes(1) : (!x, !g) -> !g
    chakra.return %g : !g
  }
  chakra.func @last(%x : !x, %t : !g) -> !g {
    %g = chakra.comp "g"(%x, %t) ops(1) bytes(1) : (!x, !g) -> !g
    chakra.return %g : !g
  }
  // expected-error @+1 {{'chakra.schedule' op adds to total 0 twice side by side}}
  %g = chakra.schedule "mb" * 3 inputs(%a, %a, %a : !x, !x, !x) order <[0 at 0, 0 at 1 | 0 at 2]> -> !g {
  ^bb0(%x: !x):
    chakra.turn_call to 0 first @first next @next last @last(%x) : (!x) -> ()
  }
}

// -----

!x = !chakra.tensor<64, input>
chakra.graph @no_such_axis mesh = #sym.mesh<ep = 2> {
  %a = chakra.state "a" : !x
  chakra.func @f(%x : !x) {
    chakra.comp "f"(%x) ops(1) bytes(1) : (!x) -> ()
  }
  // expected-error @+1 {{'chakra.schedule' op switches at axis "tp", which the mesh does not have}}
  chakra.schedule "mb" * 2 inputs(%a, %a : !x, !x) order <[0 at 0, 0 at 1]> switching at ["tp"] {
  ^bb0(%x: !x):
    chakra.call @f(%x) scope "" : (!x) -> ()
  }
}
