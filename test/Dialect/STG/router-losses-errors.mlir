// What losses of routers refuse.
//
// RUN: split-file %s %t
// RUN: stg-opt %t/ops.mlir -split-input-file -verify-diagnostics
// RUN: not stg-opt %t/no-router.mlir --stg-add-router-losses="balance=batch" 2>&1 | FileCheck %s --check-prefix=ROUTER
// ROUTER: error: 'func.func' op has no router that a loss could be of: expected an stg.top_k whose indices an stg.dispatch reads
// RUN: not stg-opt %t/no-router.mlir --stg-add-router-losses="z-loss z-weight=0" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: error: losses of routers have the weight '0', expected one such as 1/100
// RUN: not stg-opt %t/no-router.mlir --stg-add-router-losses="balance=some" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: has the value 'some', expected model, none, batch, sequence or global
// RUN: not stg-opt %t/flat-router.mlir --stg-add-router-losses="balance=sequence" 2>&1 | FileCheck %s --check-prefix=FLAT
// FLAT: error: 'stg.top_k' op compares scores of type '!stg.tensor<[8, 4], f32>', expected a batch, tokens and experts for a loss of each sequence; use batch or global

//--- no-router.mlir
func.func @f(%x: !stg.tensor<[4], f32>) -> !stg.tensor<[4], f32> {
  return %x : !stg.tensor<[4], f32>
}
//--- flat-router.mlir
func.func @f(%x: !stg.tensor<[8, 16], f32>, %p: !stg.tensor<[8, 4], f32>) -> !stg.tensor<[4, 4, 16], f32> {
  %w, %i = stg.top_k 2 %p : !stg.tensor<[8, 4], f32>
  %e = stg.dispatch %x, %i : !stg.tensor<[8, 16], f32>, !stg.tensor<[8, 2], i32> -> !stg.tensor<[4, 4, 16], f32>
  return %e : !stg.tensor<[4, 4, 16], f32>
}
//--- ops.mlir
func.func @floats(%i: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{index operand has element type 'f32', expected an integer}}
  %0 = stg.count_indices %i : !stg.tensor<[4, 2], f32> -> !stg.tensor<[8], f32>
  return
}
// -----
func.func @rank(%i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{has a result of rank 3, expected 1 to 2: the first dimensions of the indices, and their values}}
  %0 = stg.count_indices %i : !stg.tensor<[4, 2], i32> -> !stg.tensor<[4, 2, 8], f32>
  return
}
// -----
func.func @own(%i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{counts a device's own samples together, but has a result of rank 2, expected 1}}
  %0 = stg.count_indices %i {own} : !stg.tensor<[4, 2], i32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @apart(%i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{result has extent 5 in dimension 0, expected 4}}
  %0 = stg.count_indices %i : !stg.tensor<[4, 2], i32> -> !stg.tensor<[5, 8], f32>
  return
}
// -----
func.func @counts(%p: !stg.tensor<[4, 8], f32>, %c: !stg.tensor<[9], f32>) {
  // expected-error @+1 {{counts has extent 9 in dimension 0, expected 8}}
  %0 = stg.balance_loss %p, %c : !stg.tensor<[4, 8], f32>, !stg.tensor<[9], f32>
  return
}
// -----
func.func @counts_rank(%p: !stg.tensor<[4, 8], f32>, %c: !stg.tensor<[1, 4, 8], f32>) {
  // expected-error @+1 {{counts have rank 3, expected 1 to 2}}
  %0 = stg.balance_loss %p, %c : !stg.tensor<[4, 8], f32>, !stg.tensor<[1, 4, 8], f32>
  return
}
// -----
func.func @scores(%p: !stg.tensor<[4, 8], i32>, %c: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{score operand has element type 'i32', expected a float}}
  %0 = stg.balance_loss %p, %c : !stg.tensor<[4, 8], i32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @rows(%c: !stg.tensor<[8], f32>, %d: !stg.tensor<[5], f32>) {
  // expected-error @+1 {{gradient has extent 5 in dimension 0, expected 4}}
  %0 = stg.balance_loss_grad %c, %d : !stg.tensor<[8], f32>, !stg.tensor<[5], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @logits(%l: !stg.tensor<[4, 8], i32>) {
  // expected-error @+1 {{operand has element type 'i32', expected a float}}
  %0, %1 = stg.z_loss %l : !stg.tensor<[4, 8], i32>
  return
}
// -----
func.func @lse(%l: !stg.tensor<[4, 8], f32>, %r: !stg.tensor<[4], f32>, %s: !stg.tensor<[3], f32>) {
  // expected-error @+1 {{log-sum-exp has extent 3 in dimension 0, expected 4}}
  %0 = stg.z_loss_grad %l, %s, %r : !stg.tensor<[4, 8], f32>, !stg.tensor<[3], f32>, !stg.tensor<[4], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @weight(%l: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{has weight 0, expected another one; without the op there is no loss}}
  stg.auxiliary_loss 0 %l : !stg.tensor<[4], f32>
  return
}
// -----
func.func @integers(%l: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{operand has element type 'i32', expected a float}}
  stg.auxiliary_loss 1 %l : !stg.tensor<[4], i32>
  return
}
