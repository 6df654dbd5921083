// RUN: stg-opt %s --split-input-file --verify-diagnostics

func.func @momentum_c1(%w: !stg.tensor<[4], f32>, %g: !stg.tensor<[5], f32>) {
  // expected-error @+1 {{gradient has extent 5 in dimension 0, expected 4}}
  stg.momentum f32 %w, %g : !stg.tensor<[4], f32>, !stg.tensor<[5], f32>
  return
}
// -----
!w = !stg.tensor<[4], f32>
func.func @momentum_c2(%w: !w, %g: !w) {
  // expected-error @+1 {{'stg.momentum' op expects a float type of whole bytes for the moments, found 'i32'}}
  stg.momentum i32 %w, %g : !w, !w
  return
}
// -----
func.func @sgd_c1(%w: !stg.tensor<[4, 2], f32>, %g: !stg.tensor<[4, 3], f32>) {
  // expected-error @+1 {{gradient has extent 3 in dimension 1, expected 2}}
  stg.sgd %w, %g : !stg.tensor<[4, 2], f32>, !stg.tensor<[4, 3], f32>
  return
}
// -----
!w = !stg.tensor<[4], f32>
func.func @moment_c1(%g: !w) {
  // expected-error @+1 {{'stg.moment' op expects a float type of whole bytes for the moments, found 'f4E2M1FN'}}
  stg.moment f4E2M1FN %g : !w
  return
}
// -----
!m = !stg.tensor<[4, 2], f32>
func.func @orthogonalize_c1(%m: !m) {
  // expected-error @+1 {{result has extent 3 in dimension 1, expected 2}}
  stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1>, iterations = 5} : !m -> !stg.tensor<[4, 3], f32>
  return
}
// -----
!m = !stg.tensor<[4, 2], f32>
func.func @orthogonalize_c1_shard(%m: !m) {
  // expected-error @+1 {{result has rank 1, expected 2}}
  stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1>, iterations = 5} : !m -> !stg.tensor<[9], f32>
  return
}
// -----
!m = !stg.tensor<[4, 2], f32>
func.func @orthogonalize_c2_none(%m: !m) {
  // expected-error @+1 {{expects a dimension of rows and one of columns}}
  stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64>, iterations = 5} : !m -> !m
  return
}
// -----
!m = !stg.tensor<[4, 2], f32>
func.func @orthogonalize_c2_twice(%m: !m) {
  // expected-error @+1 {{has dimension 0 twice}}
  stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1, 0>, iterations = 5} : !m -> !m
  return
}
// -----
!m = !stg.tensor<[4, 2], f32>
func.func @orthogonalize_c2_missing(%m: !m) {
  // expected-error @+1 {{has no dimension 2: the operand has rank 2}}
  stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 2>, iterations = 5} : !m -> !m
  return
}
// -----
!m = !stg.tensor<[4, 2], f32>
func.func @orthogonalize_c3(%m: !m) {
  // expected-error @+1 {{expects at least one iteration, found 0}}
  stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1>, iterations = 0} : !m -> !m
  return
}
