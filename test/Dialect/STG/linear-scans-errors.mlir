// What scans with one number, or three, for each channel refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[1, 8], bf16>
func.func @linear_scan_c1(%x: !x) {
  // expected-error @+1 {{operand has rank 2, expected at least 3}}
  %0 = stg.linear_scan %x, %x : !x, !x
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
!a = !stg.tensor<[1, 8, 5], bf16>
func.func @linear_scan_c2(%x: !x, %a: !a) {
  // expected-error @+1 {{decay has extent 5 in dimension 2, expected 6}}
  %0 = stg.linear_scan %x, %a : !x, !a
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
func.func @linear_scan_c3(%x: !x) {
  // expected-error @+1 {{has tokens that are divided, and a state that it keeps for the next step}}
  %0, %1 = stg.linear_scan %x, %x {along = [], state = "s"} : !x, !x
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
func.func @linear_scan_grad_c1(%x: !x, %y: !stg.tensor<[1, 8, 5], bf16>) {
  // expected-error @+1 {{y has extent 5 in dimension 2, expected 6}}
  %0:2 = stg.linear_scan_grad %x, %y, %x : !x, !stg.tensor<[1, 8, 5], bf16>, !x -> !x, !x
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
func.func @linear_scan_grad_c2(%x: !x) {
  // expected-error @+1 {{has some of the tokens, but no state that its scan starts from}}
  %0:2 = stg.linear_scan_grad %x, %x, %x {along = []} : !x, !x, !x -> !x, !x
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!c = !stg.tensor<[6], bf16>
func.func @decaying_mean_c1(%k: !k, %c: !c) {
  // expected-error @+1 {{k has rank 4, expected 3: batch, tokens, channels}}
  %0 = stg.decaying_mean %k, %k, %c, %c : !k, !k, !c, !c
  return
}

// -----

!k = !stg.tensor<[1, 8, 6], bf16>
!c = !stg.tensor<[6], bf16>
!d = !stg.tensor<[5], bf16>
func.func @decaying_mean_c2(%k: !k, %c: !c, %d: !d) {
  // expected-error @+1 {{bonus has extent 5 in dimension 0, expected 6}}
  %0 = stg.decaying_mean %k, %k, %c, %d : !k, !k, !c, !d
  return
}

// -----

!k = !stg.tensor<[1, 8, 6], bf16>
!c = !stg.tensor<[6], bf16>
func.func @decaying_mean_c3(%k: !k, %c: !c) {
  // expected-error @+1 {{has tokens that are divided, and a state that it keeps for the next step}}
  %0, %1 = stg.decaying_mean %k, %k, %c, %c {along = [], state = "s"} : !k, !k, !c, !c
  return
}

// -----

!k = !stg.tensor<[1, 8, 6], bf16>
!c = !stg.tensor<[6], bf16>
func.func @decaying_mean_grad_c4(%k: !k, %c: !c, %s: !stg.tensor<[1, 6, 2], f32>) {
  // expected-error @+1 {{start has extent 2 in dimension 2, expected 3}}
  %0:4 = stg.decaying_mean_grad %k, %k, %c, %c, %k, %s {along = []} : !k, !k, !c, !c, !k, !stg.tensor<[1, 6, 2], f32> -> !k, !k, !c, !c
  return
}
