// Collectives that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4, 6], f32>
func.func @no_mesh(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op needs a mesh; declare one with 'stg.mesh'}}
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c1(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op makes '!stg.tensor<[4, 6], bf16>' of '!stg.tensor<[4, 6], f32>', expected the same type}}
  %0 = stg.all_reduce sum over ["tp"] %x : !x -> !stg.tensor<[4, 6], bf16>
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c2_unknown(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op uses mesh axis 'dp', which the mesh does not have}}
  %0 = stg.all_reduce sum over ["dp"] %x : !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c2_twice(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op names mesh axis 'tp' twice}}
  %0 = stg.all_reduce max over ["tp", "tp"] %x : !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_over_nothing(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op expects at least one mesh axis}}
  %0 = stg.all_reduce sum over [] %x : !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
func.func @all_reduce_of_nothing() {
  // expected-error @+1 {{'stg.all_reduce' op expects at least one operand}}
  "stg.all_reduce"() {kind = #stg<reduce_kind sum>, axes = ["tp"]} : () -> ()
  return
}
// -----
stg.mesh @mesh <pp = 3>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c3_size(%x: !x) {
  %0 = stg.all_reduce sum over ["pp"] %x {among = array<i64: 0, 2>} : !x
  // expected-error @+1 {{'stg.all_reduce' op is among coordinate 3 of mesh axis 'pp', which has size 3}}
  %1 = stg.all_reduce sum over ["pp"] %x {among = array<i64: 0, 3>} : !x
  return
}
// -----
stg.mesh @mesh <tp = 1, dp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c3_one(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op is among coordinate 3 of mesh axis 'tp', which has size 1}}
  %0 = stg.all_reduce sum over ["tp"] %x {among = array<i64: 0, 3>} : !x
  return
}
// -----
stg.symbol @P
stg.mesh @mesh <pp = P>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c3_symbol(%x: !x) {
  %0 = stg.all_reduce sum over ["pp"] %x {among = array<i64: 0, 3>} : !x
  return
}
// -----
stg.symbol @S
stg.symbol @tp
stg.mesh @mesh <tp = tp>
!x = !stg.tensor<[4, S/tp], f32>
func.func @all_gather_c1_dimension(%x: !x) {
  // expected-error @+1 {{unsharded tensor has extent 4 in dimension 0, expected 4*tp}}
  %0 = stg.all_gather dim 0 over ["tp"] %x : !x -> !stg.tensor<[4, S], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_gather_c1_element_type(%x: !x) {
  // expected-error @+1 {{'stg.all_gather' op expects operand and result of one element type, found 'bf16' and 'f32'}}
  %0 = stg.all_gather dim 1 over ["tp"] %x : !x -> !stg.tensor<[4, 12], bf16>
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_gather_c2(%x: !x) {
  // expected-error @+1 {{'stg.all_gather' op uses mesh axis 'cp', which the mesh does not have}}
  %0 = stg.all_gather dim 1 over ["cp"] %x : !x -> !stg.tensor<[4, 12], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_gather_negative_dimension(%x: !x) {
  // expected-error @+1 {{'stg.all_gather' op has dimension -1, the tensor has rank 2}}
  %0 = stg.all_gather dim -1 over ["tp"] %x : !x -> !stg.tensor<[4, 12], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @reduce_scatter_c1(%x: !x) {
  // expected-error @+1 {{unsharded tensor has extent 6 in dimension 1, expected 24}}
  %0 = stg.reduce_scatter dim 1 over ["tp"] %x : !x -> !stg.tensor<[4, 12], f32>
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @reduce_scatter_c2(%x: !x) {
  // expected-error @+1 {{'stg.reduce_scatter' op uses mesh axis 'dp', which the mesh does not have}}
  %0 = stg.reduce_scatter dim 1 over ["tp", "dp"] %x : !x -> !stg.tensor<[4, 3], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @local_slice_c1(%x: !x) {
  // expected-error @+1 {{'stg.local_slice' op has dimension 2, the tensor has rank 2}}
  %0 = stg.local_slice dim 2 over ["tp"] %x : !x -> !stg.tensor<[4, 3], f32>
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_to_all_same_dimension(%x: !x) {
  // expected-error @+1 {{'stg.all_to_all' op expects two different dimensions of a tensor of rank 2, found 1 and 1}}
  %0 = stg.all_to_all from 1 to 1 over ["tp"] %x : !x -> !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_to_all_dimension(%x: !x) {
  // expected-error @+1 {{'stg.all_to_all' op expects two different dimensions of a tensor of rank 2, found 0 and 2}}
  %0 = stg.all_to_all from 0 to 2 over ["tp"] %x : !x -> !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_to_all_c1(%x: !x) {
  // expected-error @+1 {{result has extent 4 in dimension 0, expected 8}}
  %0 = stg.all_to_all from 0 to 1 over ["tp"] %x : !x -> !stg.tensor<[4, 3], f32>
  return
}
// -----
stg.mesh @mesh <tp = 4>
!x = !stg.tensor<[4, 6], f32>
func.func @all_to_all_c1_not_divisible(%x: !x) {
  // expected-error @+1 {{'stg.all_to_all' op cannot divide extent 6 by the group size 4}}
  %0 = stg.all_to_all from 0 to 1 over ["tp"] %x : !x -> !x
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_to_all_c2(%x: !x) {
  // expected-error @+1 {{'stg.all_to_all' op uses mesh axis 'dp', which the mesh does not have}}
  %0 = stg.all_to_all from 0 to 1 over ["dp"] %x : !x -> !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_to_all_element_type(%x: !x) {
  // expected-error @+1 {{'stg.all_to_all' op expects operand and result of one element type, found 'f32' and 'bf16'}}
  %0 = stg.all_to_all from 0 to 1 over ["tp"] %x : !x -> !stg.tensor<[8, 3], bf16>
  return
}
// -----
stg.mesh @mesh <tp = 4>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c3_twice(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op is among coordinates of which 1 is negative or listed twice}}
  %0 = stg.all_reduce sum over ["tp"] %x {among = array<i64: 1, 1>} : !x
  return
}
// -----
stg.mesh @mesh <tp = 4>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c3_negative(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op is among coordinates of which -1 is negative or listed twice}}
  %0 = stg.all_reduce sum over ["tp"] %x {among = array<i64: 0, -1>} : !x
  return
}
// -----
stg.mesh @mesh <tp = 4, dp = 2>
!x = !stg.tensor<[4, 6], f32>
func.func @all_reduce_c3_axes(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op is among some coordinates, which needs one axis and at least two of them}}
  %0 = stg.all_reduce sum over ["tp", "dp"] %x {among = array<i64: 0, 1>} : !x
  return
}
