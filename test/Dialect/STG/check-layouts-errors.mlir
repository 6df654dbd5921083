// Collectives that cannot be right, and layouts that are none.

// RUN: stg-opt %s --stg-check-layouts -split-input-file -verify-diagnostics

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @reduces_whole(%x: !x {stg.layout = #stg.layout<dp : 0>}) {
  // expected-error @+1 {{'stg.all_reduce' op operand #0 is whole over mesh axis 'tp' (#stg.layout<dp : 0>), expected a partial sum; leave the axis out}}
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @reduces_twice(%x: !x) {
  %0 = stg.all_reduce sum over ["dp", "tp"] %x : !x
  // expected-error @+1 {{'stg.all_reduce' op operand #0 is whole over mesh axis 'dp' (#stg.layout<>), expected a partial sum; leave the axis out}}
  %1 = stg.all_reduce sum over ["dp"] %0 : !x
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @reduces_shards(%x: !x {stg.layout = #stg.layout<tp : 1>}) {
  // expected-error @+1 {{'stg.all_reduce' op operand #0 is divided along dimension 1 over mesh axis 'tp' (#stg.layout<tp : 1>), expected a partial sum; gather dimension 1 over it}}
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @adds_maxima(%x: !x {stg.layout = #stg.layout<tp : max>}) {
  // expected-error @+1 {{'stg.all_reduce' op operand #0 is a partial maximum over mesh axis 'tp' (#stg.layout<tp : max>), expected a partial sum; reduce it over the axis first}}
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @gathers_whole(%x: !x {stg.layout = #stg.layout<>}) {
  // expected-error @+1 {{'stg.all_gather' op operand #0 is whole over mesh axis 'tp' (#stg.layout<>), expected divided along dimension 1; leave the axis out}}
  %0 = stg.all_gather dim 1 over ["tp"] %x : !x -> !stg.tensor<[8, 8], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @gathers_other(%x: !x {stg.layout = #stg.layout<tp : 0>}) {
  // expected-error @+1 {{'stg.all_gather' op operand #0 is divided along dimension 0 over mesh axis 'tp' (#stg.layout<tp : 0>), expected divided along dimension 1; gather dimension 0 over it}}
  %0 = stg.all_gather dim 1 over ["tp"] %x : !x -> !stg.tensor<[8, 8], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @scatters_whole(%x: !x {stg.layout = #stg.layout<>}) {
  // expected-error @+1 {{'stg.reduce_scatter' op operand #0 is whole over mesh axis 'tp' (#stg.layout<>), expected a partial sum; take a local slice instead}}
  %0 = stg.reduce_scatter dim 1 over ["tp"] %x : !x -> !stg.tensor<[8, 2], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @slices_partial(%x: !x {stg.layout = #stg.layout<tp : sum>}) {
  // expected-error @+1 {{'stg.local_slice' op operand #0 is a partial sum over mesh axis 'tp' (#stg.layout<tp : sum>), expected whole; reduce and scatter over it}}
  %0 = stg.local_slice dim 1 over ["tp"] %x : !x -> !stg.tensor<[8, 2], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @slices_shard(%x: !x {stg.layout = #stg.layout<tp : 1>}) {
  // expected-error @+1 {{'stg.local_slice' op operand #0 is divided along dimension 1 over mesh axis 'tp' (#stg.layout<tp : 1>), expected whole; it is a shard already}}
  %0 = stg.local_slice dim 1 over ["tp"] %x : !x -> !stg.tensor<[8, 2], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!x = !stg.tensor<[8, 4], bf16>
func.func @exchanges_whole(%x: !x {stg.layout = #stg.layout<>}) {
  // expected-error @+1 {{'stg.all_to_all' op operand #0 is whole over mesh axis 'tp' (#stg.layout<>), expected divided along dimension 1; take a local slice instead}}
  %0 = stg.all_to_all from 1 to 0 over ["tp"] %x : !x -> !stg.tensor<[4, 8], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
func.func @gathers_dense(%x: !stg.tensor<[12], bf16> {stg.layout = #stg.layout<>}) {
  // expected-error @+1 {{'stg.flat_all_gather' op operand #0 is whole over mesh axis 'dp' (#stg.layout<>), expected a flat shard; leave the axis out}}
  %0 = stg.flat_all_gather over ["dp"] %x : !stg.tensor<[12], bf16> -> !stg.tensor<[4, 6], bf16>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data, tp = 2 : tensor>
!g = !stg.tensor<[4, 6], f32>
func.func @steps_on_partial(%g: !g {stg.layout = #stg.layout<dp : sum>}) {
  %w = stg.param "w" {layout = #stg.layout<>} : !g
  // expected-error @+1 {{'stg.adam' op operand #1 is a partial sum over mesh axis 'dp' (#stg.layout<dp : sum>); reduce it first}}
  %n = stg.adam f32 %w, %g : !g, !g
  return
}

// -----

stg.mesh @mesh <tp = 2 : tensor>
func.func @rank() {
  // expected-error @+1 {{'stg.param' op has the layout #stg.layout<tp : 2>, which divides dimension 2 of a tensor of rank 2}}
  %w = stg.param "w" {layout = #stg.layout<tp : 2>} : !stg.tensor<[4, 6], f32>
  return
}

// -----

// expected-note @+1 {{mesh declared here}}
stg.mesh @mesh <tp = 2 : tensor>
// expected-error @+1 {{'func.func' op uses mesh axis 'dp', which the mesh does not have}}
func.func @axis(%x: !stg.tensor<[4, 6], f32> {stg.layout = #stg.layout<dp : 0>}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has a layout, but there is no mesh; declare one with 'stg.mesh'}}
func.func @no_mesh(%x: !stg.tensor<[4, 6], f32> {stg.layout = #stg.layout<>}) {
  return
}

// -----

// expected-error @+1 {{layout lists axis 'tp' twice}}
func.func @twice(%x: !stg.tensor<[4, 6], f32> {stg.layout = #stg.layout<tp : 0, tp : sum>}) {
  return
}

// -----

// expected-error @+1 {{expected a dimension, 'flat', 'sum', 'max' or 'unknown', found 'whole'}}
func.func @word(%x: !stg.tensor<[4, 6], f32> {stg.layout = #stg.layout<tp : whole>}) {
  return
}
