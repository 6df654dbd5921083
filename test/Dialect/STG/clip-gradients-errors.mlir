// RUN: stg-opt %s --split-input-file --stg-clip-gradients --verify-diagnostics

!w = !stg.tensor<[8], f32>
func.func @other_reader(%a: !w) {
  // expected-error @+1 {{'stg.add' op reads a gradient that it cannot clip: it does not implement ClippedOpInterface}}
  %twice = stg.add %a, %a <opt> : !w, !w
  %w = stg.param "w" : !w
  %w1 = stg.adam f32 %w, %twice <"w" opt> : !w, !w
  return
}
// -----
!w = !stg.tensor<[8], f32>
func.func @adam_c4(%w: !w, %g: !w) {
  // expected-error @+1 {{'stg.adam' op expects one float as the norm of gradients, found '!stg.tensor<[8], f32>'}}
  %w1 = stg.adam f32 %w, %g, %g : !w, !w, !w
  return
}
// -----
!w = !stg.tensor<[8], f32>
!n = !stg.tensor<[], i32>
func.func @moment_c2(%g: !w, %n: !n) {
  // expected-error @+1 {{'stg.moment' op expects one float as the norm of gradients, found '!stg.tensor<[], i32>'}}
  %m = stg.moment f32 %g, %n : !w, !n
  return
}
// -----
!w = !stg.tensor<[8], f32>
!n = !stg.tensor<[], i32>
func.func @momentum_c4(%w: !w, %g: !w, %n: !n) {
  // expected-error @+1 {{'stg.momentum' op expects one float as the norm of gradients, found '!stg.tensor<[], i32>'}}
  %w1 = stg.momentum f32 %w, %g, %n : !w, !w, !n
  return
}
// -----
!w = !stg.tensor<[8], f32>
!n = !stg.tensor<[], i32>
func.func @sgd_c4(%w: !w, %g: !w, %n: !n) {
  // expected-error @+1 {{'stg.sgd' op expects one float as the norm of gradients, found '!stg.tensor<[], i32>'}}
  %w1 = stg.sgd %w, %g, %n : !w, !w, !n
  return
}
