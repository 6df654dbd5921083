// Discardable attributes of the dialect that do not have their form.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4], f32>
func.func @phase_of_unknown_name(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.phase' "backward", expected "fwd", "recompute", "bwd", "grad_sync" or "opt"}}
  %0 = stg.add %x, %x {stg.phase = "backward"} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @phase_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.phase' 1 : i64, expected "fwd", "recompute", "bwd", "grad_sync" or "opt"}}
  %0 = stg.add %x, %x {stg.phase = 1} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @name_empty(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.name' "", expected a text that is not empty}}
  %0 = stg.add %x, %x {stg.name = ""} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @name_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.name' unit, expected a text that is not empty}}
  %0 = stg.add %x, %x {stg.name} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has 'stg.name' 3 : i32, expected a text that is not empty}}
func.func @name_of_argument(%x: !x {stg.name = 3 : i32}) {
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @role_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.role' ["dx"], expected a text that is not empty}}
  %0 = stg.add %x, %x {stg.role = ["dx"]} : !x, !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], f32>
func.func @factors_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.factors' ["tp"], expected the mesh axes of each factor, such as {d = ["tp"]}}}
  %0 = stg.add %x, %x {stg.factors = ["tp"]} : !x, !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], f32>
func.func @factors_of_no_lists(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.factors' {d0 = "tp"}, expected the mesh axes of each factor, such as {d = ["tp"]}}}
  %0 = stg.add %x, %x {stg.factors = {d0 = "tp"}} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @factors_without_mesh(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.factors', but there is no mesh; declare one with 'stg.mesh'}}
  %0 = stg.add %x, %x {stg.factors = {d0 = ["tp"]}} : !x, !x
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], f32>
func.func @factors_over_unknown_axis(%x: !x) {
  // expected-error @+1 {{'stg.add' op uses mesh axis 'dp', which the mesh does not have}}
  %0 = stg.add %x, %x {stg.factors = {d0 = ["dp"]}} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has 'stg.gradient' "w", expected the repeats around a parameter and its name, such as ["layers", "q_proj"]}}
func.func @gradient_of_no_list(%x: !x) -> (!x {stg.gradient = "w"}) {
  return %x : !x
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has 'stg.gradient' [], expected the repeats around a parameter and its name, such as ["layers", "q_proj"]}}
func.func @gradient_of_nothing(%x: !x) -> (!x {stg.gradient = []}) {
  return %x : !x
}
// -----
!x = !stg.tensor<[4], f32>
func.func @policy_of_no_repeat(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.recompute' "full", expected "none", "selective" or "full" at a 'stg.repeat'}}
  %0 = stg.add %x, %x {stg.recompute = "full"} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_policy(%x: !x) -> !x {
  // expected-error @+1 {{'stg.repeat' op has 'stg.recompute' "half", expected "none", "selective" or "full" at a 'stg.repeat'}}
  %0 = stg.repeat "layers" * 2 carry(%c = %x : !x) attributes {stg.recompute = "half"} {
    stg.yield %c : !x
  }
  return %0 : !x
}
