// What the shared assembly of tensor ops refuses: operands that are too few, too many
// or no tensors, keywords that are not known, result types that are missing.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4], f32>
func.func @too_few(%x: !x) {
  // expected-error @+1 {{custom op 'stg.add' expects 2 operands, found 1}}
  %0 = stg.add %x : !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @too_many(%x: !x) {
  // expected-error @+1 {{custom op 'stg.mul' expects 2 operands, found 3}}
  %0 = stg.mul %x, %x, %x : !x, !x, !x
  return
}
// -----
!q = !stg.tensor<[1, 2, 3, 4], f32>
func.func @two_of_three(%q: !q) {
  // expected-error @+1 {{custom op 'stg.attention' expects at least 3 operands, found 2}}
  %0, %1 = stg.attention causal %q, %q : !q, !q
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @five_of_six(%x: !x) {
  // expected-error @+1 {{custom op 'stg.attention_grad' expects at least 6 operands, found 5}}
  %0:3 = stg.attention_grad none %x, %x, %x, %x, %x : !x, !x, !x, !x, !x
  return
}
// -----
func.func @no_tensor(%x: i32) {
  // expected-error @+1 {{custom op 'stg.activation' operand #0 has type 'i32', expected !stg.tensor}}
  %0 = stg.activation relu %x : i32
  return
}
// -----
func.func @no_tensor_in_product(%x: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'stg.einsum' operand #0 has type 'tensor<2xf32>', expected !stg.tensor}}
  %0 = stg.einsum "a->a" %x : tensor<2xf32>
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @fewer_types_than_operands(%x: !x) {
  // expected-error @+1 {{custom op 'stg.add' number of operands and types do not match: got 2 operands and 1 types}}
  %0 = stg.add %x, %x : !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_activation(%x: !x) {
  // expected-error @+1 {{custom op 'stg.activation' unknown function 'elu', expected one of silu, gelu, relu, sigmoid, tanh, relu2, quick_gelu, softplus}}
  %0 = stg.activation elu %x : !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @no_activation(%x: !x) {
  // expected-error @+1 {{custom op 'stg.activation' expected valid keyword}}
  %0 = stg.activation %x : !x
  return
}
// -----
!q = !stg.tensor<[1, 2, 3, 4], f32>
func.func @unknown_mask(%q: !q) {
  // expected-error @+1 {{custom op 'stg.attention' unknown mask 'window', expected one of none, causal}}
  %0, %1 = stg.attention window %q, %q, %q : !q, !q, !q
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_reduction(%x: !x) {
  // expected-error @+1 {{custom op 'stg.reduce' unknown kind 'min', expected one of sum, max}}
  %0 = stg.reduce min %x : !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @split_without_results(%x: !x) {
  // expected-error @+1 {{custom op 'stg.split' expected '->' and the result types, which do not follow from the operands}}
  %0, %1 = stg.split dim 0 %x : !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @gather_without_result(%x: !x) {
  // expected-error @+1 {{custom op 'stg.all_gather' expected '->' and the result types, which do not follow from the operands}}
  %0 = stg.all_gather dim 0 over ["tp"] %x : !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @gather_without_dimension(%x: !x) {
  // expected-error @+1 {{custom op 'stg.all_gather' expected 'dim'}}
  %0 = stg.all_gather over ["tp"] %x : !x -> !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @gather_over_no_list(%x: !x) {
  // expected-error @+1 {{custom op 'stg.all_gather' invalid kind of attribute specified}}
  %0 = stg.all_gather dim 0 over "tp" %x : !x -> !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @axes_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{custom op 'stg.all_gather' attribute 'axes' failed to satisfy constraint: string array attribute}}
  %0 = stg.all_gather dim 0 over [1] %x : !x -> !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @param_without_name() {
  // expected-error @+1 {{expected attribute value}}
  %0 = stg.param : !x
  return
}
// -----
func.func @param_of_no_tensor() {
  // expected-error @+1 {{'stg.param' op result #0 must be a tensor with symbolic shape, but got 'f32'}}
  %0 = stg.param "w" : f32
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @splat_without_value() {
  // expected-error @+1 {{custom op 'stg.splat' expected a symbol, an integer or '('}}
  %0 = stg.splat : !x
  return
}
