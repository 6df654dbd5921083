// What is seen where blocks are inlined.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics --stg-inline-blocks

!x = !stg.tensor<[2], f32>
// expected-note @+1 {{'f' is being inlined}}
stg.block @f(%x: !x) -> !x {
  %y = stg.call @g(%x) : (!x) -> !x
  stg.return %y : !x
}
// expected-note @+1 {{'g' is being inlined}}
stg.block @g(%x: !x) -> !x {
  // expected-error @+1 {{calls 'f', which calls itself}}
  %y = stg.call @f(%x) : (!x) -> !x
  stg.return %y : !x
}
func.func @recursion(%x: !x) {
  %y = stg.call @f(%x) : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  // expected-error @+1 {{has the name '{prefix}', but there is no option 'prefix' here}}
  %w = stg.param "{prefix}up" : !x
  stg.return %w : !x
}
func.func @no_such_option_in_name(%x: !x) {
  %y = stg.call @f(%x) : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  // expected-note @+1 {{the option is declared here}}
  stg.option @prefix : string
  // expected-error @+1 {{needs option 'prefix', which has no value, expected a text}}
  %w = stg.param "{prefix}up" : !x
  stg.return %w : !x
}
func.func @no_value(%x: !x) {
  %y = stg.call @f(%x) : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  stg.option @activation : "silu" | "elu" = "silu"
  // expected-error @+1 {{takes 'function' from option "activation", whose value 'elu' is no #stg.activation}}
  %y = stg.activation silu %x {stg.options = {function = "activation"}} : !x
  stg.return %y : !x
}
func.func @no_such_activation(%x: !x) {
  %y = stg.call @f(%x) {activation = "elu"} : (!x) -> !x
  return
}
// -----
stg.symbol @D
!x = !stg.tensor<[2], f32>
stg.block @f(%x: !x) -> !x {
  stg.symbol @E
  // expected-error @+1 {{symbol 'E' of the block has no value}}
  %w = stg.param "w" : !stg.tensor<[E], f32>
  stg.return %x : !x
}
func.func @no_value_inside(%x: !x) {
  %y = stg.call @f(%x) : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2], f32>
// expected-error @+1 {{of 'nowhere.mlir': no such file; it was looked for in}}
stg.import "nowhere.mlir"
