// Programs that are not those of one device.
//
// RUN: stg-opt %s --split-input-file --convert-stg-to-chakra --verify-diagnostics

// expected-note @+1 {{the first is here}}
func.func @first() {
  return
}
// expected-error @+1 {{'func.func' op is a second public function; exactly one function is the program, make the others private}}
func.func @second() {
  return
}
// -----
// expected-error @+1 {{'func.func' op has an argument of type 'i32', expected !stg.tensor}}
func.func @argument_of_no_tensor(%x: i32) {
  return
}
// -----
// expected-note @+1 {{first used here}}
func.func @named_like_an_input(%x: !stg.tensor<[8], f32> {stg.name = "x"}) -> !stg.tensor<[8], f32> {
  // expected-error @+1 {{'chakra.state' op has the name 'x', which is taken in this scope}}
  %w = stg.param "x" : !stg.tensor<[8], f32>
  %0 = stg.add %x, %w : !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return %0 : !stg.tensor<[8], f32>
}
// -----
stg.mesh @mesh <tp = 2>
func.func @sharded(%x: !stg.tensor<[8 : tp], f32>) {
  // expected-error @+1 {{'stg.activation' op has a sharded value of type '!stg.tensor<[8 : tp], f32>'; run --stg-insert-collectives first}}
  %0 = stg.activation relu %x : !stg.tensor<[8 : tp], f32>
  return
}
// -----
!x = !stg.tensor<[8], f32>
func.func private @callee(!x)
func.func @call(%x: !x) {
  // expected-error @+1 {{'func.call' op calls 'callee', which is not a private function with a body}}
  func.call @callee(%x) : (!x) -> ()
  return
}
// -----
func.func @value_of_no_tensor(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' op has a value of type 'i32', expected !stg.tensor}}
  %0 = builtin.unrealized_conversion_cast %x : !stg.tensor<[8], f32> to i32
  return
}
// -----
func.func @op_without_cost(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' op has no cost; implement CostOpInterface}}
  %0 = builtin.unrealized_conversion_cast %x : !stg.tensor<[8], f32> to !stg.tensor<[2, 4], f32>
  return
}
// -----
func.func @scope_with_two_counts() {
  stg.repeat "layers" * 3 {
    %w = stg.param "w" : !stg.tensor<[8], f32>
  }
  // expected-error @+1 {{'stg.repeat' op repeats 4 times, another repeat named 'layers' 3}}
  stg.repeat "layers" * 4 {
    %w = stg.param "w" : !stg.tensor<[8], f32>
  }
  return
}
// -----
func.func @parameter_of_two_sizes() {
  %w = stg.param "w" : !stg.tensor<[8], f32>
  // expected-error @+1 {{'stg.param' op needs the persistent buffer 'w' with 36 bytes, elsewhere it has 32}}
  %v = stg.param "w" : !stg.tensor<[9], f32>
  return
}
// -----
func.func @state_of_two_sizes(%g: !stg.tensor<[4], f32>) {
  %w = stg.param "w" : !stg.tensor<[4], f32>
  stg.adam f32 %w, %g : !stg.tensor<[4], f32>, !stg.tensor<[4], f32>
  %v = stg.param "w" : !stg.tensor<[4], f32>
  // expected-error @+1 {{'stg.adam' op needs the persistent buffer 'w.exp_avg' with 8 bytes, elsewhere it has 16}}
  stg.adam bf16 %v, %g : !stg.tensor<[4], f32>, !stg.tensor<[4], f32>
  return
}
// -----
func.func @slices_of_argument(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{'stg.repeat' op reads slices of a value that no repeat has stacked}}
  stg.repeat "layers" * 4 slices(%c = %x : !stg.tensor<[4, 8], f32>) {
    %0 = stg.activation relu %c : !stg.tensor<[8], f32>
  }
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = 2>
func.func @not_lowered(%q: !x) {
  // expected-error @+1 {{'stg.attention' op is not what one device executes; run --stg-lower-context-parallel first}}
  %o, %lse = stg.attention causal %q, %q, %q {context = #stg.context<p2p zigzag over ["cp"]>} : !x, !x, !x
  return
}
