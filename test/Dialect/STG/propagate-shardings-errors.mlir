// Ops that sharding cannot pass.
//
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings --verify-diagnostics

stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[8 : tp], f32>
func.func private @callee(!x)
func.func @call_not_inlined(%x: !x) {
  // expected-error @+1 {{'func.call' op is a call; run --inline first}}
  func.call @callee(%x) : (!x) -> ()
  return
}
// -----
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[8], f32>
func.func @collective_already(%x: !x) {
  // expected-error @+1 {{'stg.all_reduce' op has no sharding rule; implement ShardableOpInterface}}
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  return
}

// -----

// Two reads of one parameter that a person sharded differently.
stg.symbol @D
stg.mesh @mesh <tp = 4>
func.func @param_sharded_twice() {
  // expected-note @+1 {{here it is read as '!stg.tensor<[D : tp, D], bf16>'}}
  %w = stg.param "w" : !stg.tensor<[D : tp, D], bf16>
  // expected-error @+1 {{'stg.param' op reads parameter 'w' as '!stg.tensor<[D, D : tp], bf16>'}}
  %v = stg.param "w" : !stg.tensor<[D, D : tp], bf16>
  return
}
