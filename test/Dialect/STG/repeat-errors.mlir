// Repeats that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[2, 3], f32>
func.func @repeat_c1_type(%x: !x) {
  %0 = stg.repeat "layers" * 4 carry(%c = %x : !x) {
    %s = stg.einsum "ab->a" %c : !x
    // expected-error @+1 {{'stg.yield' op value #0 has type '!stg.tensor<[2], f32>', expected '!stg.tensor<[2, 3], f32>'}}
    stg.yield %s : !stg.tensor<[2], f32>
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @repeat_c1_missing(%x: !x) {
  // expected-error @+1 {{custom op 'stg.repeat' carries 1 values, its body yields 0}}
  %0 = stg.repeat "layers" * 4 carry(%c = %x : !x) {
  }
  return
}
// -----
stg.symbol @L
!x = !stg.tensor<[2, 3], f32>
func.func @repeat_c2(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op has a stacked operand of type '!stg.tensor<[2, 3], f32>', expected leading extent L}}
  stg.repeat "layers" * L slices(%c = %x : !x) {
  }
  return
}
// -----
func.func @repeat_c2_scalar(%x: !stg.tensor<[], f32>) {
  // expected-error @+1 {{custom op 'stg.repeat' expected a stack, a tensor with a leading dimension, found '!stg.tensor<[], f32>'}}
  stg.repeat "layers" * 4 slices(%c = %x : !stg.tensor<[], f32>) {
  }
  return
}
// -----
func.func @repeat_c3_zero() {
  // expected-error @+1 {{custom op 'stg.repeat' repeats 0 times, expected an integer of at least 1}}
  stg.repeat "layers" * 0 {
  }
  return
}
// -----
func.func @repeat_c3_fraction() {
  // expected-error @+1 {{custom op 'stg.repeat' repeats 5/2 times, expected an integer of at least 1}}
  stg.repeat "layers" * 5/2 {
  }
  return
}
// -----
func.func @repeat_c3_generic() {
  // expected-error @+1 {{'stg.repeat' op repeats -1 times, expected an integer of at least 1}}
  "stg.repeat"() ({
    "stg.yield"() : () -> ()
  }) {repeat_name = "layers", count = #sym.expr<-1>, operandSegmentSizes = array<i32: 0, 0>} : () -> ()
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @repeat_c4_carry(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op carries a value of type '!stg.tensor<[2, 3], f32>' as '!stg.tensor<[2, 4], f32>' into a result of type '!stg.tensor<[2, 4], f32>'}}
  %0 = stg.repeat "layers" * 4 carry(%c = %x : !x as !stg.tensor<[2, 4], f32>) {
    stg.yield %c : !stg.tensor<[2, 4], f32>
  }
  return
}
// -----
!x = !stg.tensor<[4, 2, 3], f32>
func.func @repeat_c4_slice(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op reads a slice of '!stg.tensor<[4, 2, 3], f32>' as '!stg.tensor<[3, 2], f32>', expected '!stg.tensor<[2, 3], f32>'}}
  stg.repeat "layers" * 4 slices(%c = %x : !x as !stg.tensor<[3, 2], f32>) {
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @repeat_c4_stacked_result(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op has a stacked result of type '!stg.tensor<[], f32>', expected leading extent 4}}
  %0:2 = stg.repeat "layers" * 4 carry(%c = %x : !x) -> (!x, !stg.tensor<[], f32>) {
    stg.yield %c, %c : !x, !x
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @as_no_tensor(%x: !x) {
  // expected-error @+1 {{custom op 'stg.repeat' expected a tensor, found 'i32'}}
  %0 = stg.repeat "layers" * 4 carry(%c = %x : !x as i32) {
    stg.yield %c : i32
  }
  return
}
// -----
func.func @carry_no_tensor(%x: i32) {
  // expected-error @+1 {{custom op 'stg.repeat' expected a tensor, found 'i32'}}
  %0 = stg.repeat "layers" * 4 carry(%c = %x : i32) {
    stg.yield %c : i32
  }
  return
}
// -----
func.func @stack_no_tensor(%x: i32) {
  // expected-error @+1 {{custom op 'stg.repeat' yields a value of type 'i32', expected a tensor}}
  %0 = stg.repeat "layers" * 4 {
    stg.yield %x : i32
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @fewer_results_than_carried(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op carries 2 values, but has 1 results}}
  %0 = stg.repeat "layers" * 4 carry(%c = %x : !x, %d = %x : !x) -> (!x) {
    stg.yield %c : !x
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @more_yielded_than_results(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op has 1 results, its body yields 2 values}}
  %0 = stg.repeat "layers" * 4 carry(%c = %x : !x) -> (!x) {
    stg.yield %c, %c : !x, !x
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @arguments_of_body(%x: !x) {
  // expected-error @+1 {{'stg.repeat' op has 1 operands, its body has 0 arguments}}
  %0 = "stg.repeat"(%x) ({
    "stg.yield"(%x) : (!x) -> ()
  }) {repeat_name = "layers", count = #sym.expr<4>, operandSegmentSizes = array<i32: 1, 0>} : (!x) -> !x
  return
}
// -----
func.func @no_name() {
  // expected-error @+1 {{custom op 'stg.repeat' expected a name for the repeat}}
  stg.repeat "" * 4 {
  }
  return
}
// -----
func.func @other_terminator() {
  // expected-error @+1 {{custom op 'stg.repeat' expects a body of one block with 'stg.yield' at its end}}
  stg.repeat "layers" * 4 {
    func.return
  }
  return
}
// -----
func.func @two_blocks() {
  // expected-error @+1 {{custom op 'stg.repeat' expects a body of one block with 'stg.yield' at its end}}
  stg.repeat "layers" * 4 {
    stg.yield
  ^second:
    stg.yield
  }
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @yield_outside(%x: !x) {
  // expected-error @+1 {{'stg.yield' op expects parent op to be one of 'stg.repeat, stg.if'}}
  stg.yield %x : !x
}
