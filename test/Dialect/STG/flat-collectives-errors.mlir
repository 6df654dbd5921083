// Flat shards that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

stg.mesh @mesh <dp = 4>
func.func @flat_all_gather_c1() {
  // expected-error @+1 {{'stg.flat_all_gather' op expects at least one operand}}
  "stg.flat_all_gather"() {axes = ["dp"]} : () -> ()
  return
}
// -----
stg.mesh @mesh <dp = 4>
!s = !stg.tensor<[6], f32>
func.func @flat_all_gather_c1_fewer(%s: !s) {
  // expected-error @+1 {{'stg.flat_all_gather' op has 2 operands and 1 results, expected as many and at least one}}
  %0 = "stg.flat_all_gather"(%s, %s) {axes = ["dp"]} : (!s, !s) -> !stg.tensor<[4, 6], f32>
  return
}
// -----
// 3 * 7 elements on 4 devices are 6 each, the last three of them padding.
stg.mesh @mesh <dp = 4>
!s = !stg.tensor<[5], f32>
func.func @flat_all_gather_c2_padding(%s: !s) {
  // expected-error @+1 {{'stg.flat_all_gather' op has '!stg.tensor<[5], f32>' for the flat shard of '!stg.tensor<[3, 7], f32>', expected '!stg.tensor<[6], f32>'}}
  %0 = stg.flat_all_gather over ["dp"] %s : !s -> !stg.tensor<[3, 7], f32>
  return
}
// -----
stg.mesh @mesh <dp = 4>
!s = !stg.tensor<[6], bf16>
func.func @flat_all_gather_c2_element_type(%s: !s) {
  // expected-error @+1 {{'stg.flat_all_gather' op has '!stg.tensor<[6], bf16>' for the flat shard of '!stg.tensor<[4, 6], f32>', expected '!stg.tensor<[6], f32>'}}
  %0 = stg.flat_all_gather over ["dp"] %s : !s -> !stg.tensor<[4, 6], f32>
  return
}
// -----
stg.mesh @mesh <dp = 4>
!s = !stg.tensor<[], f32>
func.func @flat_all_gather_c2_scalar(%s: !s) {
  // expected-error @+1 {{'stg.flat_all_gather' op has '!stg.tensor<[], f32>' for the flat shard of '!stg.tensor<[4], f32>', expected '!stg.tensor<[1], f32>'}}
  %0 = stg.flat_all_gather over ["dp"] %s : !s -> !stg.tensor<[4], f32>
  return
}
// -----
// A stack of 2 has 2 in the shard, too.
stg.mesh @mesh <dp = 4>
!g = !stg.tensor<[2, 4, 6], f32>
func.func @flat_reduce_scatter_c2_leading(%g: !g) {
  // expected-error @+1 {{'stg.flat_reduce_scatter' op has '!stg.tensor<[3, 4], f32>' for the flat shard of '!stg.tensor<[2, 4, 6], f32>', expected '!stg.tensor<[2, 6], f32>'}}
  %0 = stg.flat_reduce_scatter over ["dp"] %g : !g -> !stg.tensor<[3, 4], f32>
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <dp = 4>
!g = !stg.tensor<[4, 6], f32>
func.func @flat_reduce_scatter_c3(%g: !g) {
  // expected-error @+1 {{'stg.flat_reduce_scatter' op uses mesh axis 'tp', which the mesh does not have}}
  %0 = stg.flat_reduce_scatter over ["tp"] %g : !g -> !stg.tensor<[6], f32>
  return
}
// -----
stg.mesh @mesh <dp = 4>
!g = !stg.tensor<[4, 6], f32>
func.func @flat_reduce_scatter_c3_twice(%g: !g) {
  // expected-error @+1 {{'stg.flat_reduce_scatter' op names mesh axis 'dp' twice}}
  %0 = stg.flat_reduce_scatter over ["dp", "dp"] %g : !g -> !stg.tensor<[6], f32>
  return
}
// -----
stg.mesh @mesh <dp = 4>
func.func @gather_updated_c1() {
  // expected-error @+1 {{'stg.gather_updated' op expects at least one operand}}
  "stg.gather_updated"() {axes = ["dp"], leading = array<i64>} : () -> ()
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <dp = 4>
!w = !stg.tensor<[4, 6], f32>
func.func @gather_updated_c2(%w: !w) {
  // expected-error @+1 {{'stg.gather_updated' op uses mesh axis 'tp', which the mesh does not have}}
  stg.gather_updated over ["tp"] %w {leading = array<i64: 0>} : !w
  return
}
// -----
stg.mesh @mesh <dp = 4>
!w = !stg.tensor<[4, 6], f32>
func.func @gather_updated_c3(%w: !w) {
  // expected-error @+1 {{'stg.gather_updated' op has 2 operands, but 1 entries in leading}}
  stg.gather_updated over ["dp"] %w, %w {leading = array<i64: 0>} : !w, !w
  return
}
// -----
stg.mesh @mesh <dp = 4>
!w = !stg.tensor<[4, 6], f32>
func.func @gather_updated_c3_rank(%w: !w) {
  // expected-error @+1 {{'stg.gather_updated' op has 3 leading dimensions for an operand of type '!stg.tensor<[4, 6], f32>'}}
  stg.gather_updated over ["dp"] %w {leading = array<i64: 3>} : !w
  return
}
