// Declarations that are refused: symbols, configurations, the mesh, and uses of what
// is not declared.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'stg.symbol' op has the value 0, expected an integer of at least 1}}
stg.symbol @symbol_c1_zero = 0
// -----
// expected-error @+1 {{'stg.symbol' op has the value 3/2, expected an integer of at least 1}}
stg.symbol @symbol_c1_fraction = 3/2
// -----
// expected-error @+1 {{'stg.symbol' op uses symbol 'Q', which is not declared; declare it with 'stg.symbol @Q'}}
stg.symbol @symbol_c2_undeclared = 2*Q
// -----
// expected-error @+1 {{'stg.symbol' op is defined by itself}}
stg.symbol @symbol_c2_itself = symbol_c2_itself + 1
// -----
// expected-error @+1 {{'stg.symbol' op is a coordinate and has the value 3}}
stg.symbol @symbol_c3 = 3 coordinate "cp"
// -----
// expected-note @+1 {{see existing symbol definition here}}
stg.symbol @D
// expected-error @+1 {{redefinition of symbol named 'D'}}
stg.symbol @D
// -----
stg.symbol @D
// expected-error @+1 {{'stg.config' op expects an integer of at least 1 for symbol 'D', found 0 : i64}}
stg.config @config_c1_zero {D = 0}
// -----
stg.symbol @D
// expected-error @+1 {{'stg.config' op expects an integer of at least 1 for symbol 'D', found "many"}}
stg.config @config_c1_text {D = "many"}
// -----
stg.symbol @D
// expected-error @+1 {{'stg.config' op expects an integer of at least 1 for symbol 'D', found 4 : ui32}}
stg.config @config_c1_unsigned {D = 4 : ui32}
// -----
stg.symbol @D
// expected-error @+1 {{'stg.config' op expects an integer of at least 1 for symbol 'D', found 36893488147419103232 : i128}}
stg.config @config_c1_too_large {D = 36893488147419103232 : i128}
// -----
// expected-error @+1 {{'stg.config' op sets symbol 'D', which is not declared}}
stg.config @config_c2 {D = 4}
// -----
// expected-error @+1 {{custom op 'stg.mesh' mesh axis 'tp' is listed twice}}
stg.mesh @mesh_c1 <tp = 2, tp = 4>
// -----
// expected-error @+1 {{custom op 'stg.mesh' mesh axis 'tp' has size 0, expected an integer of at least 1}}
stg.mesh @mesh_c2_zero <tp = 0>
// -----
// expected-error @+1 {{custom op 'stg.mesh' mesh axis 'tp' has size 5/2, expected an integer of at least 1}}
stg.mesh @mesh_c2_fraction <tp = 5/2>
// -----
// expected-error @+1 {{'stg.mesh' op uses symbol 't', which is not declared; declare it with 'stg.symbol @t'}}
stg.mesh @mesh_op_c2 <tp = t>
// -----
// expected-error @+1 {{expected ':'}}
stg.mesh @mesh_op_c3_form <tp = 2> rules [H tp]
// -----
stg.symbol @H
// expected-error @+1 {{expected one of @param, @input, @stream for the scope of a rule, found '@residual'}}
stg.mesh @mesh_op_c3_scope <tp = 2> rules [H : tp @residual]
// -----
// expected-error @+1 {{has several mesh axes with the role pipeline, expected at most one: stages are in a row}}
stg.mesh @mesh_c3 <inner = 2 : pipeline, outer = 2 : pipeline>
// -----
// expected-error @+1 {{expected data, replica, context, expert, tensor, pipeline or none for the role of a mesh axis, found 'model'}}
stg.mesh @mesh_role <tp = 2 : model>
// -----
stg.symbol @H
// expected-error @+1 {{'stg.mesh' op has the rule 'H:dp', which names no axis of the mesh}}
stg.mesh @mesh_op_c3_axis <tp = 2> rules [H : dp]
// -----
func.func @in_operand(%x: !stg.tensor<[B], f32>) {
  // expected-error @+1 {{'stg.activation' op uses symbol 'B', which is not declared; declare it with 'stg.symbol @B'}}
  %0 = stg.activation relu %x : !stg.tensor<[B], f32>
  return
}
// -----
func.func @in_result() {
  // expected-error @+1 {{'stg.param' op uses symbol 'D', which is not declared; declare it with 'stg.symbol @D'}}
  %0 = stg.param "w" : !stg.tensor<[2*D], f32>
  return
}
// -----
func.func @in_attribute() {
  // expected-error @+1 {{'stg.splat' op uses symbol 'N', which is not declared; declare it with 'stg.symbol @N'}}
  %0 = stg.splat 1/N : !stg.tensor<[2], f32>
  return
}
// -----
func.func @in_function_of_expression() {
  // expected-error @+1 {{'stg.param' op uses symbol 'D', which is not declared; declare it with 'stg.symbol @D'}}
  %0 = stg.param "w" : !stg.tensor<[ceildiv(D, 2)], f32>
  return
}
// -----
func.func @in_count() {
  // expected-error @+1 {{'stg.repeat' op uses symbol 'L', which is not declared; declare it with 'stg.symbol @L'}}
  stg.repeat "layers" * L {
    stg.yield
  }
  return
}
// -----
func.func @sharded_without_mesh(%x: !stg.tensor<[4 : tp], f32>) {
  // expected-error @+1 {{'stg.activation' op has a sharded value of type '!stg.tensor<[4 : tp], f32>', but there is no mesh; declare one with 'stg.mesh'}}
  %0 = stg.activation relu %x : !stg.tensor<[4 : tp], f32>
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <dp = 2>
func.func @sharded_over_unknown_axis(%x: !stg.tensor<[4 : tp], f32>) {
  // expected-error @+1 {{'stg.activation' op uses mesh axis 'tp', which the mesh does not have}}
  %0 = stg.activation relu %x : !stg.tensor<[4 : tp], f32>
  return
}
// -----
// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <dp = 2>
func.func @partial_over_unknown_axis() {
  // expected-error @+1 {{'stg.param' op uses mesh axis 'tp', which the mesh does not have}}
  %0 = stg.param "w" : !stg.tensor<[4], f32, sum(tp)>
  return
}
