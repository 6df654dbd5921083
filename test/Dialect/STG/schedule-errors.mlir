// Programs that cannot be cut into pipeline stages. What autodiff makes can always be: these
// are written by hand.
//
// RUN: stg-opt %s --split-input-file --verify-diagnostics --stg-schedule

stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
// expected-error @+1 {{has no stg.repeat whose iterations could be divided among pipeline stages; use one stage}}
func.func @no_layers(%x: !x) {
  %w = stg.param "w" : !w
  %0 = stg.einsum "bi,ij->bj" %x, %w <"w" fwd> : !x, !w
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
stg.symbol @L
!x = !stg.tensor<[4, 8], bf16>
func.func @unbound_layers(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op repeats L times; pipeline stages need a number, bind its symbols first}}
  %y = stg.repeat "layers" * L carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
// expected-error @+1 {{has 3 layers, which 2 pipeline stages do not divide; give the layers of each stage with layers-per-stage}}
func.func @undivided_layers(%x: !x) {
  %y = stg.repeat "layers" * 3 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  return
}
// -----
stg.symbol @pp
// expected-error @+1 {{'stg.mesh' op has pp pipeline stages; a schedule needs a number, bind it first}}
stg.mesh @mesh <pp = pp : pipeline>
func.func @unbound_stages() {
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
func.func @no_counterpart(%x: !x) {
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    stg.yield %c : !x
  }
  // expected-error @+1 {{'stg.repeat' op has no counterpart in the forward pass, so its iterations belong to no pipeline stage}}
  %z = stg.repeat "others" * 2 reverse carry(%c = %y : !x) <bwd> {
    stg.yield %c : !x
  }
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
func.func @later_stage(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op makes a value that an earlier pipeline stage reads}}
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  %g = stg.repeat "layers" * 2 reverse carry(%c = %x : !x) <bwd> {
    %z = stg.mul %c, %c <"square" bwd> : !x, !x
    stg.yield %z : !x
  }
  %d = stg.mul %g, %y <"first" bwd> : !x, !x
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[8, 8], bf16>
func.func @activation_as_gradient(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op makes a value that is read before the part of the step that makes it, or by the optimizer}}
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  %w = stg.param "w" : !x
  %n = stg.adam f32 %w, %y <"w" opt> : !x, !x
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[8, 8], bf16>
func.func @gradients_of_stages(%x: !x) {
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  %last = stg.mul %y, %y <"last" bwd> : !x, !x
  %first = stg.repeat "layers" * 2 reverse carry(%c = %last : !x) <bwd> {
    %z = stg.mul %c, %c <"square" bwd> : !x, !x
    stg.yield %z : !x
  }
  // expected-error @+1 {{'stg.mul' op reads gradients of different pipeline stages}}
  %0 = stg.mul %first, %last <"norm" opt> : !x, !x
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[8, 8], bf16>
func.func @earlier_stage(%x: !x) {
  %y:2 = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z, %z : !x, !x
  }
  // expected-error @+1 {{'stg.repeat' op makes a value that a later pipeline stage reads}}
  %first = stg.repeat "layers" * 2 reverse carry(%c = %y#0 : !x) <bwd> {
    %z = stg.mul %c, %c <"square" bwd> : !x, !x
    stg.yield %z : !x
  }
  %again = stg.repeat "layers" * 2 reverse carry(%c = %first : !x) slices(%s = %y#1 : !stg.tensor<[layers = 2, 8, 8], bf16>) <bwd> {
    %z = stg.mul %c, %s <"again" bwd> : !x, !x
    stg.yield %z : !x
  }
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[8, 8], bf16>
func.func @stack_of_other_layers(%x: !x) {
  %y:2 = stg.repeat "down" * 2 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z, %z : !x, !x
  }
  // expected-error @+1 {{'stg.repeat' op reads a stack of all layers of 'down', which are in different pipeline stages}}
  %u = stg.repeat "up" * 2 carry(%c = %y#0 : !x) slices(%s = %y#1 : !stg.tensor<[down = 2, 8, 8], bf16>) <fwd> {
    %z = stg.mul %c, %s <"product" fwd> : !x, !x
    stg.yield %z : !x
  }
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[8, 8], bf16>
!stack = !stg.tensor<[layers = 2, 8, 8], bf16>
func.func @whole_stack(%x: !x) {
  %y:2 = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z, %z : !x, !x
  }
  // expected-error @+1 {{'stg.mul' op reads a stack of all layers of 'layers', which are in different pipeline stages}}
  %0 = stg.mul %y#1, %y#1 <"all" fwd> : !stack, !stack
  return
}
// -----
stg.mesh @mesh <pp = 2 : pipeline>
stg.symbol @S
stg.symbol @cached
!x = !stg.tensor<[4, S], bf16>
!kept = !stg.tensor<[4, S = S + cached], bf16>
func.func @cache_of_another_stage(%x: !x) {
  %y = stg.repeat "first" * 1 carry(%c = %x : !x) <fwd> {
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  // expected-error @+1 {{'stg.cache' op is read by layers of another pipeline stage, which would be sent all of it in each step; put layers that share keys into one stage with layers-per-stage}}
  %k = stg.cache "k" %y <"k" fwd> : !x -> !kept
  %w = stg.repeat "second" * 1 carry(%c = %y : !x) <fwd> {
    stg.keep %k : !kept
    %z = stg.mul %c, %c <"square" fwd> : !x, !x
    stg.yield %z : !x
  }
  return
}
