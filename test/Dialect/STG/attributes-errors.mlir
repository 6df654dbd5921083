// Attributes that the dialect does not have, or not in this form.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4], f32>
func.func @phase_of_unknown_name(%x: !x) {
  // expected-error @+1 {{unexpected 'backward' in an origin, expected a phase (fwd, recompute, bwd, grad_sync, opt) and then a role (dx, dw, db, dlhs, drhs, add, accumulate, shared, cast, cast_weight, cast_gradient, cast_parameter, replicas, part, first, own, keys, gradients, block, last, farthest, tail, state, rest, repeated, queries)}}
  %0 = stg.add %x, %x <backward> : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @role_before_phase(%x: !x) {
  // expected-error @+1 {{unexpected 'bwd' in an origin, expected a phase (fwd, recompute, bwd, grad_sync, opt) and then a role (dx, dw, db, dlhs, drhs, add, accumulate, shared, cast, cast_weight, cast_gradient, cast_parameter, replicas, part, first, own, keys, gradients, block, last, farthest, tail, state, rest, repeated, queries)}}
  %0 = stg.add %x, %x <dx bwd> : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @two_phases(%x: !x) {
  // expected-error @+1 {{unexpected 'bwd' in an origin, expected a phase (fwd, recompute, bwd, grad_sync, opt) and then a role (dx, dw, db, dlhs, drhs, add, accumulate, shared, cast, cast_weight, cast_gradient, cast_parameter, replicas, part, first, own, keys, gradients, block, last, farthest, tail, state, rest, repeated, queries)}}
  %0 = stg.add %x, %x <fwd bwd> : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @name_empty(%x: !x) {
  // expected-error @+1 {{expects a name that is not empty in an origin}}
  %0 = stg.add %x, %x <""> : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @origin_empty(%x: !x) {
  // expected-error @+1 {{expects a name, a phase or a role in an origin}}
  %0 = stg.add %x, %x <> : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @origin_discardable(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.origin' #stg.origin<fwd>, expected a '#stg.origin' at an op that has no 'origin' of its own}}
  %0 = stg.add %x, %x {stg.origin = #stg.origin<fwd>} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @origin_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{'func.return' op has 'stg.origin' "fwd", expected a '#stg.origin' at an op that has no 'origin' of its own}}
  return {stg.origin = "fwd"}
}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_with_prefix(%x: !x) {
  // expected-error @+1 {{'stg.add' op has the unknown attribute 'stg.phase', expected one of 'stg.origin', 'stg.factors', 'stg.scope', 'stg.options', 'stg.task', 'stg.coordinates'}}
  %0 = stg.add %x, %x {stg.phase = "bwd"} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has the unknown attribute 'stg.nmae', expected one of 'stg.name', 'stg.dims', 'stg.param', 'stg.mask', 'stg.layout'}}
func.func @unknown_of_argument(%x: !x {stg.nmae = "x"}) {
  return
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has the unknown attribute 'stg.grad', expected one of 'stg.gradient'}}
func.func @unknown_of_result(%x: !x) -> (!x {stg.grad}) {
  return %x : !x
}
// -----
!x = !stg.tensor<[4], f32>
func.func @misspelled(%x: !x) {
  // expected-error @+2 {{'stg.einsum' op has no attribute 'int', did you mean 'into'?}}
  // expected-note @+1 {{it has 'draws', 'equation', 'factors', 'into', 'origin', 'used'; an attribute of another dialect has that dialect's prefix}}
  %0 = stg.einsum "a->a" %x {int = bf16} : !x
  return
}
// -----
!q = !stg.tensor<[4, 4, 4, 4], bf16>
func.func @far_from_all(%q: !q) {
  // expected-error @+2 {{'stg.attention' op has no attribute 'width'}}
  // expected-note @+1 {{it has 'alibi', 'capped', 'chunk', 'compressed', 'context', 'factors', 'full_count', 'mask', 'origin', 'pairs', 'past', 'prefix', 'requests', 'window'; an attribute of another dialect has that dialect's prefix}}
  %0, %1 = stg.attention causal %q, %q, %q {width = 4096} : !q, !q, !q
  return
}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_of_parameter(%x: !x) {
  // expected-error @+2 {{'stg.param' op has no attribute 'pinned'}}
  // expected-note @+1 {{it has 'frozen', 'layout', 'origin', 'param_name'; an attribute of another dialect has that dialect's prefix}}
  %0 = stg.param "w" {pinned} : !x
  return
}
// -----
// expected-error @+2 {{'stg.symbol' op has no attribute 'descriptoin', did you mean 'description'?}}
// expected-note @+1 {{it has 'coordinate', 'description', 'sym_name', 'value'; an attribute of another dialect has that dialect's prefix}}
stg.symbol @B {descriptoin = "batch"}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_where_there_is_none(%x: !x) -> !x {
  %0 = stg.repeat "layers" * 2 carry(%c = %x : !x) {
    // expected-error @+2 {{'stg.yield' op has no attribute 'last'}}
    // expected-note @+1 {{it has none; an attribute of another dialect has that dialect's prefix}}
    stg.yield %c : !x {last}
  }
  return %0 : !x
}
// -----
!x = !stg.tensor<[4], f32>
func.func @unknown_policy(%x: !x) -> !x {
  // expected-error @+1 {{unknown recompute 'half', expected one of none, selective, full}}
  %0 = stg.repeat "layers" * 2 carry(%c = %x : !x) recompute half {
    stg.yield %c : !x
  }
  return %0 : !x
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has 'stg.name' 3 : i32, expected a text that is not empty}}
func.func @name_of_argument(%x: !x {stg.name = 3 : i32}) {
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], f32>
func.func @factors_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{custom op 'stg.add' attribute 'factors' failed to satisfy constraint: the mesh axes of factors}}
  %0 = stg.add %x, %x {factors = {d0 = ["tp"]}} : !x, !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], f32>
func.func @factors_are_declared(%x: !x) {
  // expected-error @+1 {{'stg.add' op has 'stg.factors' #stg.factors<d0 : tp>, expected a '#stg.factors' at an op that has a sharding rule and no 'factors' of its own}}
  %0 = stg.add %x, %x {stg.factors = #stg.factors<d0 : tp>} : !x, !x
  return
}
// -----
stg.mesh @mesh <tp = 2>
func.func @factors_without_rule() {
  // expected-error @+1 {{'func.return' op has 'stg.factors' #stg.factors<d0 : tp>, expected a '#stg.factors' at an op that has a sharding rule and no 'factors' of its own}}
  return {stg.factors = #stg.factors<d0 : tp>}
}
// -----
!x = !stg.tensor<[4], f32>
func.func @factors_without_mesh(%x: !x) {
  // expected-error @+1 {{'stg.add' op computes factors over mesh axes, but there is no mesh; declare one with 'stg.mesh'}}
  %0 = stg.add %x, %x {factors = #stg.factors<d0 : tp>} : !x, !x
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], f32>
func.func @factors_over_unknown_axis(%x: !x) {
  // expected-error @+1 {{'stg.add' op uses mesh axis 'dp', which the mesh does not have}}
  %0 = stg.add %x, %x {factors = #stg.factors<d0 : dp>} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
stg.mesh @mesh <tp = 2, dp = 2>
func.func @factors_c1(%x: !x) {
  // expected-error @+1 {{factor 'd0' is listed twice}}
  %0 = stg.add %x, %x {factors = #stg.factors<d0 : tp, d0 : dp>} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4, 8], f32>
stg.mesh @mesh <tp = 2>
func.func @factors_c2(%x: !x) {
  // expected-error @+1 {{factors are over mesh axis 'tp' twice}}
  %0 = stg.add %x, %x {factors = #stg.factors<d0 : tp, d1 : tp>} : !x, !x
  return
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op has 'stg.gradient' "w", expected a '#stg.gradient' at a 'func.func'}}
func.func @gradient_of_wrong_kind(%x: !x) -> (!x {stg.gradient = "w"}) {
  return %x : !x
}
// -----
!x = !stg.tensor<[4], f32>
// expected-error @+1 {{expects the repeats around a parameter and its name, none of them empty}}
func.func @gradient_of_empty_name(%x: !x) -> (!x {stg.gradient = #stg.gradient<"layers", "">}) {
  return %x : !x
}
// -----
// expected-error @+1 {{'func.func' op has 'stg.task' "forward", expected a '#stg.task' at a 'func.func'}}
func.func private @task_of_wrong_kind() attributes {stg.task = "forward"}
// -----
// expected-error @+1 {{unknown kind of task 'sideways'}}
func.func private @task_of_unknown_kind() attributes {stg.task = #stg.task<sideways>}
// -----
// expected-error @+1 {{has a task that sends -1 values, expected at least 0}}
func.func private @task_sends() attributes {stg.task = #stg.task<forward, sends = -1>}
// -----
// expected-error @+1 {{has two coordinates on axis 'pp'}}
func.func private @coordinates_twice() attributes {stg.coordinates = #stg.coordinates<pp = 0, pp = 1>}
// -----
// expected-error @+1 {{has the coordinate -1 on axis 'pp', expected at least 0}}
func.func private @coordinate_negative() attributes {stg.coordinates = #stg.coordinates<pp = -1>}
// -----
func.func @scope_of_no_call() {
  // expected-error @+1 {{'func.return' op has 'stg.scope' "mb0", expected a '#builtin.string' at a 'func.call'}}
  return {stg.scope = "mb0"}
}
