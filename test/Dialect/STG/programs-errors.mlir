// Programs on meshes of their own, and what is wrong with them.
//
// RUN: stg-opt %s -verify-diagnostics -split-input-file --stg-propagate-shardings

// expected-error @+1 {{'func.func' op is to run on the mesh '@none', which is not declared; declare it with 'stg.mesh @none'}}
func.func @program_c1() attributes {stg.program = #stg.program<"a" on @none>} {
  return
}

// -----

stg.symbol @B
// expected-error @+1 {{'func.func' op is to run on the mesh '@B', which is not declared}}
func.func @program_c1_symbol() attributes {stg.program = #stg.program<"a" on @B>} {
  return
}

// -----

stg.mesh @one <tp = 2 : tensor>
stg.mesh @two <dp = 4 : data>
// expected-note @+1 {{the other function is here}}
func.func private @program_c2() attributes {stg.program = #stg.program<"b" on @two>} {
  return
}
func.func @caller() attributes {stg.program = #stg.program<"a" on @one>} {
  // expected-error @+1 {{'func.call' op calls 'program_c2' of program "b" on '@two' from program "a" on '@one'; a program cannot call another one}}
  func.call @program_c2() : () -> ()
  return
}

// -----

// expected-note @+1 {{a mesh is here}}
stg.mesh @one <tp = 2 : tensor>
// expected-note @+1 {{a mesh is here}}
stg.mesh @two <dp = 4 : data>
stg.symbol @B
// expected-error @+1 {{'func.func' op names no mesh, but the module has several; say which one with 'stg.program = #stg.program<"NAME" on @MESH>'}}
func.func @mesh_op_c1(%x: !stg.tensor<[B : dp], f32>) {
  return
}

// -----

stg.mesh @one <tp = 2 : tensor>
stg.mesh @two <dp = 4 : data>
func.func @first() attributes {stg.program = #stg.program<"a" on @one>} {
  return
}
// expected-error @+1 {{'func.func' op is part of program "a" on '@two', which runs on '@one' elsewhere}}
func.func @mesh_op_c1_moves() attributes {stg.program = #stg.program<"a" on @two>} {
  return
}

// -----

// An axis of the mesh of another program.
// expected-note @+1 {{mesh declared here}}
stg.mesh @one <tp = 2 : tensor>
stg.mesh @two <dp = 4 : data>
!x = !stg.tensor<[4, 6], f32>
func.func @wrong_axis(%x: !x) attributes {stg.program = #stg.program<"a" on @one>} {
  // expected-error @+1 {{'stg.all_reduce' op uses mesh axis 'dp', which the mesh does not have}}
  %0 = stg.all_reduce sum over ["dp"] %x : !x
  return
}

// -----

// What names no mesh is not planned.
stg.mesh @one <tp = 2 : tensor>
func.func @named() attributes {stg.program = #stg.program<"a" on @one>} {
  return
}
// expected-error @+1 {{'func.func' op names no mesh, but others of the module do; run --stg-parallelize for its program, and --inline for blocks that programs share}}
func.func @unnamed() {
  return
}

// -----

// expected-error @+1 {{'func.func' op has 'stg.program' "a", expected a '#stg.program' at a 'func.func'}}
func.func private @no_program() attributes {stg.program = "a"}
