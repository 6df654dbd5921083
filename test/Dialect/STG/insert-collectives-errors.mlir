// Plans that no program can carry out.
//
// RUN: stg-opt %s --split-input-file --stg-insert-collectives --verify-diagnostics

stg.mesh @mesh <tp = 2>
// expected-error @+1 {{value of type '!stg.tensor<[7 : tp], f32>' cannot be divided among the devices of its axes}}
func.func @argument_not_divisible(%x: !stg.tensor<[7 : tp], f32>) {
  return
}
// -----
stg.mesh @mesh <tp = 2>
func.func @parameter_not_divisible() {
  // expected-error @+1 {{value of type '!stg.tensor<[7 : tp], f32>' cannot be divided among the devices of its axes}}
  %w = stg.param "w" : !stg.tensor<[7 : tp], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 7], f32>
func.func @operand_not_divisible(%x: !x) {
  // expected-error @+1 {{'stg.activation' op operand #0 of type '!stg.tensor<[4, 7], f32>' cannot be divided among the devices of its axes}}
  %0 = stg.activation relu %x {factors = #stg.factors<d1 : tp>} : !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 7], f32>
func.func @result_not_divisible(%x: !x) {
  // expected-error @+1 {{'stg.activation' op result of type '!stg.tensor<[4, 7 : tp], f32>' cannot be divided among the devices of its axes}}
  %0 = stg.activation relu %x : !x -> !stg.tensor<[4, 7 : tp], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
// expected-error @+1 {{value of type '!stg.tensor<[8 : dp], f32>' cannot be divided among the devices of its axes}}
func.func @unknown_axis(%x: !stg.tensor<[8 : dp], f32>) {
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @whole_factor(%x: !x, %w: !w) {
  // expected-error @+1 {{'stg.rms_norm' op cannot compute with its factor 'width' sharded}}
  %0, %1 = stg.rms_norm %x, %w {factors = #stg.factors<width : tp>} : !x, !w
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @unknown_factor(%x: !x, %w: !w) {
  // expected-error @+1 {{'stg.rms_norm' op has no factor 'rows'; its factors are d0, width}}
  %0, %1 = stg.rms_norm %x, %w {factors = #stg.factors<rows : tp>} : !x, !w
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 8], f32>
func.func @whole_result_planned_partial(%x: !x) {
  // expected-error @+1 {{'stg.activation' op result has the type '!stg.tensor<[4, 8], f32, sum(tp)>', but it is not made as a partial result}}
  %0 = stg.activation relu %x : !x -> !stg.tensor<[4, 8], f32, sum(tp)>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 8], f32>
func.func @whole_value_stacked_as_partial(%x: !x) {
  stg.repeat "layers" * 3 -> (!stg.tensor<[3, 4, 8], f32, sum(tp)>) {
    // expected-error @+1 {{'stg.yield' op operand #0 of type '!stg.tensor<[4, 8], f32>' is planned as a partial result, which it is not}}
    stg.yield %x : !x
  }
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[8 : tp], f32>
func.func private @callee(!x)
func.func @call_not_inlined(%x: !x) {
  // expected-error @+1 {{'func.call' op is a call; run --inline first}}
  func.call @callee(%x) : (!x) -> ()
  return
}
// -----
stg.symbol @B
stg.mesh @mesh <tp = 4>
func.func @another_kind(%x: !stg.tensor<[B, 8 : tp], bf16>) {
  // expected-error @+1 {{result has the type '!stg.tensor<[B], f32, max(tp)>', but it is not made as a partial result}}
  %y = stg.reduce sum %x {factors = #stg.factors<v : tp>} : !stg.tensor<[B, 8 : tp], bf16> -> !stg.tensor<[B], f32, max(tp)>
  return
}
