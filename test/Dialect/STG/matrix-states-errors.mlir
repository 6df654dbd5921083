// What scans whose states are matrices refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!q = !stg.tensor<[1, 8, 6], bf16>
func.func @general_delta_rule_c1(%q: !q, %k: !k) {
  // expected-error @+1 {{q has rank 3, expected 4: batch, tokens, heads, key size}}
  %0 = stg.general_delta_rule 4 %q, %k, %k, %k, %k, %k : !q, !k, !k, !k, !k, !k
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!d = !stg.tensor<[1, 8, 6, 3], bf16>
func.func @general_delta_rule_c1_decay(%k: !k, %d: !d) {
  // expected-error @+1 {{decay has extent 3 in dimension 3, expected 2}}
  %0 = stg.general_delta_rule 4 %k, %k, %k, %d, %k, %k : !k, !k, !k, !d, !k, !k
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!v = !stg.tensor<[1, 8, 5, 3], bf16>
func.func @general_delta_rule_c2(%k: !k, %v: !v) {
  // expected-error @+1 {{v has extent 5 in dimension 2, expected 6}}
  %0 = stg.general_delta_rule 4 %k, %k, %v, %k, %k, %k : !k, !k, !v, !k, !k, !k
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
func.func @general_delta_rule_c3(%k: !k) {
  // expected-error @+1 {{has chunks of 0 tokens, expected at least 1}}
  %0 = stg.general_delta_rule 0 %k, %k, %k, %k, %k, %k : !k, !k, !k, !k, !k, !k
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
func.func @general_delta_rule_c4(%k: !k) {
  // expected-error @+1 {{has tokens that are divided, and a state that it keeps for the next step}}
  %0, %1 = stg.general_delta_rule 4 %k, %k, %k, %k, %k, %k {along = [], state = "s"} : !k, !k, !k, !k, !k, !k
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
func.func @general_delta_rule_grad_c5(%k: !k) {
  // expected-error @+1 {{has some of the tokens, but no state that its scan starts from}}
  %0:6 = stg.general_delta_rule_grad 4 %k, %k, %k, %k, %k, %k, %k {along = []} : !k, !k, !k, !k, !k, !k, !k -> !k, !k, !k, !k, !k, !k
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!g = !stg.tensor<[1, 8, 6], bf16>
func.func @matrix_memory_c1(%k: !k, %g: !g) {
  // expected-error @+1 {{k has rank 3, expected 4}}
  %0 = stg.matrix_memory 4 %k, %g, %k, %g, %g : !k, !g, !k, !g, !g
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!g = !stg.tensor<[1, 8, 6], bf16>
func.func @matrix_memory_c2(%k: !k, %g: !g) {
  // expected-error @+1 {{v has rank 3, expected 4: batch, tokens, heads, value size}}
  %0 = stg.matrix_memory 4 %k, %k, %g, %g, %g : !k, !k, !g, !g, !g
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!g = !stg.tensor<[1, 8, 6], bf16>
!f = !stg.tensor<[1, 8, 5], bf16>
func.func @matrix_memory_c3(%k: !k, %g: !g, %f: !f) {
  // expected-error @+1 {{forget has extent 5 in dimension 2, expected 6}}
  %0 = stg.matrix_memory 4 %k, %k, %k, %g, %f : !k, !k, !k, !g, !f
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!g = !stg.tensor<[1, 8, 6], bf16>
func.func @matrix_memory_c4(%k: !k, %g: !g) {
  // expected-error @+1 {{has chunks of 0 tokens, expected at least 1}}
  %0 = stg.matrix_memory 0 %k, %k, %k, %g, %g : !k, !k, !k, !g, !g
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!g = !stg.tensor<[1, 8, 6], bf16>
func.func @matrix_memory_c5(%k: !k, %g: !g) {
  // expected-error @+1 {{has tokens that are divided, and a state that it keeps for the next step}}
  %0, %1 = stg.matrix_memory 4 %k, %k, %k, %g, %g {along = [], state = "s"} : !k, !k, !k, !g, !g
  return
}

// -----

!k = !stg.tensor<[1, 8, 6, 2], bf16>
!g = !stg.tensor<[1, 8, 6], bf16>
!s = !stg.tensor<[1, 6, 6], f32>
func.func @matrix_memory_grad_c6(%k: !k, %g: !g, %s: !s) {
  // expected-error @+1 {{start has extent 6 in dimension 2, expected 7}}
  %0:5 = stg.matrix_memory_grad 4 %k, %k, %k, %g, %g, %k, %s {along = []} : !k, !k, !k, !g, !g, !k, !s -> !k, !k, !k, !g, !g
  return
}
