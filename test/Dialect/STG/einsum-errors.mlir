// Products that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c1_no_arrow(%x: !x) {
  // expected-error @+1 {{equation 'ab' has no '->'}}
  %0 = stg.einsum "ab" %x : !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c1_upper_case(%x: !x) {
  // expected-error @+1 {{equation 'aB->a' has 'B', expected lower-case letters, ',' and '->'}}
  %0 = stg.einsum "aB->a" %x : !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c1_two_arrows(%x: !x) {
  // expected-error @+1 {{equation 'ab->a->b' has '-', expected lower-case letters, ',' and '->'}}
  %0 = stg.einsum "ab->a->b" %x : !x
  return
}
// -----
!x = !stg.tensor<[3, 3], f32>
func.func @einsum_c1_diagonal(%x: !x) {
  // expected-error @+1 {{equation 'aa->a' has index 'a' twice in term 'aa'; give the two dimensions different indices}}
  %0 = stg.einsum "aa->a" %x : !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c1_too_few_terms(%x: !x) {
  // expected-error @+1 {{equation has 1 terms for 2 operands}}
  %0 = stg.einsum "ab->a" %x, %x : !x, !x
  return
}
// -----
func.func @einsum_c1_no_operand() {
  // expected-error @+1 {{equation has 1 terms for 0 operands}}
  %0 = stg.einsum "->" : !stg.tensor<[], f32>
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c2(%x: !x) {
  // expected-error @+1 {{operand #1 has rank 2, the term 'abc' has 3 indices}}
  %0 = stg.einsum "ab,abc->c" %x, %x : !x, !x
  return
}
// -----
stg.symbol @D
stg.symbol @F
func.func @einsum_c3(%x: !stg.tensor<[2, D], f32>, %w: !stg.tensor<[2*F, D], f32>) {
  // expected-error @+1 {{index 'd' has extent D and 2*F in operand #1}}
  %0 = stg.einsum "bd,df->bf" %x, %w : !stg.tensor<[2, D], f32>, !stg.tensor<[2*F, D], f32>
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c4(%x: !x) {
  // expected-error @+1 {{index 'c' of the result occurs in no operand}}
  %0 = stg.einsum "ab->abc" %x : !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c5_index(%x: !x) {
  // expected-error @+1 {{'into' is 'index', expected an integer or float of whole bytes}}
  %0 = stg.einsum "ab->a" %x {into = index} : !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_c5_sub_byte(%x: !x) {
  // expected-error @+1 {{'into' is 'f4E2M1FN', expected an integer or float of whole bytes}}
  %0 = stg.einsum "ab->a" %x {into = f4E2M1FN} : !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_result_type(%x: !x) {
  // expected-error @+2 {{'stg.einsum' op inferred type(s) '!stg.tensor<[2], f32>' are incompatible with return type(s) of operation '!stg.tensor<[3], f32>'}}
  // expected-error @+1 {{'stg.einsum' op failed to infer returned types}}
  %0 = stg.einsum "ab->a" %x : !x -> !stg.tensor<[3], f32>
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_generic_without_equation(%x: !x) {
  // expected-error @+1 {{'stg.einsum' op requires attribute 'equation'}}
  %0 = "stg.einsum"(%x) : (!x) -> !x
  return
}
// -----
!x = !stg.tensor<[2, 3], f32>
func.func @einsum_equation_of_wrong_kind(%x: !x) {
  // expected-error @+1 {{integer literal not valid for specified type}}
  %0 = stg.einsum 3 %x : !x
  return
}
