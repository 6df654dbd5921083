// What a schedule and the calls in it refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @one_turn(%a: !x) {
  // expected-error @+1 {{'stg.schedule' op has 1 turns, expected 2 to 2^31 - 1}}
  stg.schedule "mb" * 1 inputs(%a : !x) order <[0 at 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @inputs(%a: !x) {
  // expected-error @+1 {{'stg.schedule' op has 1 inputs, expected 2 for each of 1 arguments of its body}}
  stg.schedule "mb" * 2 inputs(%a : !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
!y = !stg.tensor<[4], bf16>
func.func private @f(!x) -> !x
func.func @types(%a: !x, %b: !y) {
  // expected-error @+1 {{'stg.schedule' op has an input of type '!stg.tensor<[4], bf16>' for argument #0 of type '!stg.tensor<[8], bf16>'}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !y) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func @contents(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.add' op is in a schedule, which has calls and messages}}
    %y = stg.add %x, %x : !x, !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @before(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0, 1 at 0, 1 at 1, 0 at 1]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
    // expected-error @+1 {{'func.call' op is executed in turn 1 before op #0 of the schedule, whose result it reads}}
    %z = func.call @f(%y) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @twice(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0 by 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'func.call' op is executed more than once in turn 0}}
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @turn(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op has turn 2 in its order, but 2 turns}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 1]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @number(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op executes op #1 of its body, which has 1}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0, 1 at 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @first(!x) -> !x
func.func @totals(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op has no function for what it adds last}}
    stg.turn_call to 0 first @first(%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @first(!x) -> !x
func.func private @last(!x, !x) -> !x
func.func @never(%a: !x, %b: !x) {
  %g = stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> -> !x {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op has a function that its schedule never calls}}
    stg.turn_call to 0 first @first next @last last @last(%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @first(!x) -> !x
func.func private @last(!x) -> !x
func.func @taken(%a: !x, %b: !x) {
  %g = stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> -> !x {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op calls 'last', whose 1 arguments and 1 results are not the 2 operands and values that have been added up, and the 0 results and what is added up}}
    stg.turn_call to 0 first @first last @last(%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @first(!x) -> !x
func.func private @last(!x, !x) -> !x
func.func @results(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op has 0 results, expected the 1 values that are added up, of their types}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    stg.turn_call to 0 first @first last @last(%x) : (!x) -> ()
  }
  return
}

// -----

stg.mesh @ranks <pp = 2>
!x = !stg.tensor<[8], bf16>
func.func @channel(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.send' op expects channels that are so far apart in a schedule, and only there}}
    stg.send over "pp" shift 1 channel 0 %x : !x
  }
  return
}

// -----

stg.mesh @ranks <pp = 2>
!x = !stg.tensor<[8], bf16>
func.func @apart(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.send' op has channels that are 0 apart, expected at least 1}}
    stg.send over "pp" shift 1 channel 0 by 0 %x : !x
  }
  return
}

// -----

stg.mesh @ranks <pp = 2>
!x = !stg.tensor<[8], bf16>
func.func @outside() -> !x {
  // expected-error @+1 {{'stg.recv' op expects channels that are so far apart in a schedule, and only there}}
  %x = stg.recv over "pp" shift 1 channel 0 by 2 : !x
  return %x : !x
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @more(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op executes 3 ops, but has 1 in each of 2 turns}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <3 * [0 at 0 by 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func @none(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op calls no function}}
    stg.turn_call to 0 (%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func @nowhere(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op calls 'f', which is no function before it}}
    stg.turn_call to 0 first @f last @f(%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @first(!x) -> !x
func.func @alone(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op is the only one that adds to total 0, in one turn; use a call}}
    stg.turn_call to 0 first @first(%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
!y = !stg.tensor<[4], bf16>
func.func private @first(!x) -> !x
func.func private @next(!x, !x) -> !y
func.func private @last(!x, !y) -> !y
func.func @other(%a: !x, %b: !x, %c: !x) {
  stg.schedule "mb" * 3 inputs(%a, %b, %c : !x, !x, !x) order <3 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op calls 'next', which adds up values of other types than what was called before}}
    stg.turn_call to 0 first @first next @next last @last(%x) : (!x) -> ()
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @empty_run(%a: !x, %b: !x) {
  // expected-error @+1 {{expects runs of at least one op, whose numbers and turns have 31 bits, and at most two side by side}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * []> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @before_turn_0(%a: !x, %b: !x) {
  // expected-error @+1 {{expects runs of at least one op, whose numbers and turns have 31 bits, and at most two side by side}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0 by -1]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @three(%a: !x, %b: !x) {
  // expected-error @+1 {{expects runs of at least one op, whose numbers and turns have 31 bits, and at most two side by side}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | 0 at 1 | 1 at 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
    %z = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @large(%a: !x, %b: !x) {
  // expected-error @+1 {{expects the number of an op of 31 bits}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | 2147483648 at 1]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func private @g(!x) -> !x
func.func @one_turn(%a: !x, %b: !x, %c: !x) {
  // expected-error @+1 {{'stg.schedule' op executes ops #0 and #1 of its body side by side in turn 1, expected two turns}}
  stg.schedule "mb" * 3 inputs(%a, %b, %c : !x, !x, !x) order <3 * [0 at 2 by -1 | 1 at 0]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
    %z = func.call @g(%x) : (!x) -> !x
  }
  return
}

// -----

stg.mesh @ranks <pp = 2 : pipeline>
!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @message(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[1 at 0, 0 at 0 | 1 at 1, 0 at 1]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
    // expected-error @+1 {{'stg.recv' op is executed side by side with another op; only calls can be}}
    %z = stg.recv over "pp" shift -1 channel 6 by 2 : !x
  }
  return
}

// -----

// What a turn call executes is of its program.
stg.mesh @big <dp = 2>
stg.mesh @small <dp = 2>
!x = !stg.tensor<[8], bf16>
// expected-note @+1 {{the other function is here}}
func.func private @first(%x: !x) -> !x attributes {stg.program = #stg.program<"decode" on @small>} {
  return %x : !x
}
func.func private @last(%x: !x, %y: !x) -> !x attributes {stg.program = #stg.program<"prefill" on @big>} {
  return %x : !x
}
func.func @prefill(%a: !x, %b: !x) attributes {stg.program = #stg.program<"prefill" on @big>} {
  %g = stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> -> !x {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.turn_call' op calls 'first' of program "decode" on '@small' from program "prefill" on '@big'; a program cannot call another one}}
    stg.turn_call to 0 first @first last @last(%x) : (!x) -> ()
  }
  return
}
func.func @decode() attributes {stg.program = #stg.program<"decode" on @small>} {
  return
}

// -----

stg.mesh @ranks <pp = 2>
!x = !stg.tensor<[8], bf16>
func.func @large(%a: !x, %b: !x) {
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%x: !x):
    // expected-error @+1 {{'stg.send' op has channels that are 4611686018427387904 apart in 2 turns, expected numbers of 63 bits}}
    stg.send over "pp" shift 1 channel 0 by 4611686018427387904 %x : !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @negative(%a: !x, %b: !x) {
  // expected-error @+1 {{expects the number of an op of 31 bits}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | -1 at 1]> {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @first(!x) -> !x
func.func private @next(!x, !x) -> !x
func.func private @last(!x, !x) -> !x
func.func @one_total(%a: !x, %b: !x, %c: !x) -> !x {
  // expected-error @+1 {{'stg.schedule' op adds to total 0 twice side by side}}
  %g = stg.schedule "mb" * 3 inputs(%a, %b, %c : !x, !x, !x) order <[0 at 0 | 0 at 1, 0 at 2]> -> !x {
  ^bb0(%x: !x):
    stg.turn_call to 0 first @first next @next last @last(%x) : (!x) -> ()
  }
  return %g : !x
}

// -----

stg.mesh @ranks <ep = 2 : expert>
!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @no_such_axis(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op switches at axis "tp", which the mesh does not have}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | 0 at 1]> switching at ["ep", "tp"] {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @no_mesh(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op switches at axes, but there is no mesh}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | 0 at 1]> switching at ["ep"] {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

stg.mesh @ranks <ep = 2 : expert>
!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @twice(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op switches at axis "ep" twice}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | 0 at 1]> switching at ["ep", "ep"] {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}

// -----

stg.mesh @ranks <ep = 2 : expert>
!x = !stg.tensor<[8], bf16>
func.func private @f(!x) -> !x
func.func @no_axes(%a: !x, %b: !x) {
  // expected-error @+1 {{'stg.schedule' op switches at no axes; leave them out to switch behind all collectives}}
  stg.schedule "mb" * 2 inputs(%a, %b : !x, !x) order <[0 at 0 | 0 at 1]> switching at [] {
  ^bb0(%x: !x):
    %y = func.call @f(%x) : (!x) -> !x
  }
  return
}
