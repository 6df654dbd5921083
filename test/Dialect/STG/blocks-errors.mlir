// What is wrong with blocks, options and calls, where they stand.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{lists 'a' twice}}
stg.option @option_c1 : "a" | "a"
// -----
// expected-error @+1 {{has the default 'c', expected one of 'a', 'b'}}
stg.option @option_c2 : "a" | "b" = "c"
// -----
// expected-error @+1 {{has the default 'yes', expected true or false}}
stg.option @option_c2_bool : bool = "yes"
// -----
// expected-error @+1 {{expected true, false or a text}}
stg.option @no_value : bool = maybe
// -----
stg.option @tied : bool = false // expected-note {{the option is declared here}}
// expected-error @+1 {{gives option 'tied' the value 'rms', expected true or false}}
stg.config @config_c3 {tied = "rms"}
// -----
stg.option @tied : bool = false
// expected-error @+1 {{gives option 'tied' the value 2 : i64, expected true or false}}
stg.config @config_c3_number {tied = 2}
// -----
stg.symbol @D
// expected-error @+1 {{expects an integer of at least 1 for symbol 'D', found "four"}}
stg.config @config_c1 {D = "four"}
// -----
// expected-error @+1 {{sets option 'tied', which is not declared}}
stg.config @config_c2 {tied = true}
// -----
stg.symbol @D
!x = !stg.tensor<[D], f32>
stg.block @block_c1() {
  // expected-error @+1 {{block with no terminator}}
  %x = stg.param "x" : !x
}
// -----
stg.symbol @D
!x = !stg.tensor<[D], f32>
stg.block @block_c1_types(%x: !x) -> !x {
  // expected-error @+1 {{returns (), but the block has the results ('!stg.tensor<[D], f32>')}}
  stg.return
}
// -----
stg.block @undeclared() {
  // expected-error @+1 {{uses symbol 'D', which is not declared; declare it with 'stg.symbol @D'}}
  %x = stg.param "x" : !stg.tensor<[D], f32>
  stg.return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @if_c1(%x: !x) -> !x {
  // expected-error @+1 {{asks for option 'bias', which is not declared; declare it with 'stg.option @bias'}}
  %y = stg.if @bias -> !x {
    stg.yield %x : !x
  } else {
    stg.yield %x : !x
  }
  stg.return %y : !x
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @if_c1_value(%x: !x) -> !x {
  // expected-note @+1 {{the option is declared here}}
  stg.option @norm : "rms" | "layer" = "rms"
  // expected-error @+1 {{asks whether option 'norm' is 'root', expected one of 'rms', 'layer'}}
  %y = stg.if @norm = "rms" | "root" -> !x {
    stg.yield %x : !x
  } else {
    stg.yield %x : !x
  }
  stg.return %y : !x
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @if_not_bool(%x: !x) -> !x {
  // expected-note @+1 {{the option is declared here}}
  stg.option @norm : "rms" | "layer" = "rms"
  // expected-error @+1 {{asks whether option 'norm' is 'true', expected one of 'rms', 'layer'}}
  %y = stg.if @norm -> !x {
    stg.yield %x : !x
  } else {
    stg.yield %x : !x
  }
  stg.return %y : !x
}
// -----
!x = !stg.tensor<[2], f32>
func.func @no_such_attribute(%x: !x) {
  // expected-error @+1 {{has 'stg.options' for 'mode', which is no attribute that it has}}
  %y = stg.activation silu %x {stg.options = {mode = "activation"}} : !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
func.func @no_such_option(%x: !x) {
  // expected-error @+1 {{takes 'function' from option "activation", which is not declared}}
  %y = stg.activation silu %x {stg.options = {function = "activation"}} : !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
func.func @options_not_a_dictionary(%x: !x) {
  // expected-error @+1 {{has 'stg.options' "activation", expected the options that give values to attributes, such as {function = "activation"}}}
  %y = stg.activation silu %x {stg.options = "activation"} : !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @other(%x: !x) -> !x {
  stg.return %x : !x
}
func.func @call_c2(%x: !x) {
  // expected-error @+1 {{calls 'attention', which is no block here; there are other; that of another file needs 'stg.import'}}
  %y = stg.call @attention(%x) : (!x) -> !x
  return
}
// -----
stg.symbol @D
!x = !stg.tensor<[D], f32>
// expected-note @+1 {{it has the symbols E and the options bias, norm}}
stg.block @f(%x: !x) -> !x {
  stg.symbol @E = 2
  stg.option @bias : bool = false
  %y = stg.call @g(%x) : (!x) -> !x
  stg.return %y : !x
}
stg.block @g(%x: !x) -> !x {
  stg.option @norm : "rms" | "layer" = "rms"
  stg.return %x : !x
}
func.func @call_c3(%x: !x) {
  // expected-error @+1 {{gives a value to 'biased', which is neither a symbol nor an option of 'f' or of what it calls}}
  %y = stg.call @f(%x) {biased = true} : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  %y = stg.call @g(%x) : (!x) -> !x
  stg.return %y : !x
}
stg.block @g(%x: !x) -> !x {
  // expected-note @+1 {{the option is declared here}}
  stg.option @norm : "rms" | "layer" = "rms"
  stg.return %x : !x
}
func.func @call_c3_value(%x: !x) {
  // expected-error @+1 {{gives option 'norm' the value 'root', expected one of 'rms', 'layer'}}
  %y = stg.call @f(%x) {norm = "root"} : (!x) -> !x
  return
}
// -----
stg.symbol @D
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  // expected-note @+1 {{the option is declared here}}
  stg.option @bias : bool = false
  stg.return %x : !x
}
func.func @call_c3_expression(%x: !x) {
  // expected-error @+1 {{gives option 'bias' the value 2*D, expected true or false, or an option that is declared here}}
  %y = stg.call @f(%x) {bias = 2*D} : (!x) -> !x
  return
}
// -----
stg.symbol @D
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  stg.return %x : !x
}
func.func @text_for_symbol(%x: !x) {
  // expected-error @+1 {{gives symbol 'D' the value of a text, expected an expression}}
  %y = stg.call @f(%x) {D = "four"} : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  stg.return %x : !x
}
func.func @given_twice(%x: !x) {
  // expected-error @+1 {{'D' is given twice}}
  %y = stg.call @f(%x) {D = 2, D = 3} : (!x) -> !x
  return
}
// -----
stg.symbol @D
stg.symbol @N
// expected-note @+1 {{'f' says '!stg.tensor<[D, D], f32>', here with D = N}}
stg.block @f(%x: !stg.tensor<[D, D], f32>) {
  stg.return
}
func.func @call_c4(%x: !stg.tensor<[N, D], f32>) {
  // expected-error @+1 {{operand #0 has type '!stg.tensor<[N, D], f32>', expected '!stg.tensor<[N, N], f32>'}}
  stg.call @f(%x) : (!stg.tensor<[N, D], f32>) -> ()
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  stg.return %x : !x
}
func.func @call_c4_operands(%x: !x) {
  // expected-error @+1 {{has 2 operands, expected the 1 of 'f'}}
  %y = stg.call @f(%x, %x) : (!x, !x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  stg.return %x : !x
}
func.func @call_c4_results(%x: !x) {
  // expected-error @+1 {{has 0 results, expected the 1 of 'f'}}
  stg.call @f(%x) : (!x) -> ()
  return
}
// -----
stg.symbol @D
stg.symbol @N
!x = !stg.tensor<[D], f32>
// expected-note @+1 {{'f' says '!stg.tensor<[D], f32>', here with D = N}}
stg.block @f(%x: !x) -> !x {
  stg.return %x : !x
}
func.func @call_c4_result(%x: !stg.tensor<[N], f32>) {
  // expected-error @+1 {{result #0 has type '!stg.tensor<[D], f32>', expected '!stg.tensor<[N], f32>'}}
  %y = stg.call @f(%x) : (!stg.tensor<[N], f32>) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !stg.tensor<[E], f32> {
  stg.symbol @E
  %w = stg.param "w" : !stg.tensor<[E], f32>
  stg.return %w : !stg.tensor<[E], f32>
}
func.func @no_value_for_symbol(%x: !x) {
  // expected-error @+1 {{symbol 'E' of the block has no value: no operand has it, there is no symbol 'E' here, and the call does not give it, as in {E = ...}}}
  %y = stg.call @f(%x) : (!x) -> !x
  return
}
