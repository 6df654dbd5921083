// Rules find dimensions by their names, whatever their extents are.
//
// RUN: stg-opt %s --stg-apply-preset="cp=2 tp=2" --stg-propagate-shardings | FileCheck %s
// RUN: stg-opt %s --stg-bind="S=64 H=8 K=4 D=16" --stg-apply-preset="cp=2 tp=2" --stg-propagate-shardings | FileCheck %s --check-prefix=BOUND

stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @D
stg.symbol @E

// Of two positions of one extent S:cp divides that which is named S.
//
// CHECK-LABEL: func.func @positions(
// CHECK-SAME: %{{.*}}: !stg.tensor<[S : cp, D], f32>, %{{.*}}: !stg.tensor<[T = S, D], f32>, %{{.*}}: !stg.tensor<[S : cp, T = S], f32>)
// BOUND-LABEL: func.func @positions(
// BOUND-SAME: %{{.*}}: !stg.tensor<[S = 64 : cp, D = 16], f32>, %{{.*}}: !stg.tensor<[T = 64, D = 16], f32>, %{{.*}}: !stg.tensor<[S = 64 : cp, T = 64], f32>)
func.func @positions(%q: !stg.tensor<[S, D], f32>, %k: !stg.tensor<[T = S, D], f32>, %mask: !stg.tensor<[S, T = S], f32>) {
  // All names of a dimension have a rule for tp, or it stays whole.
  // CHECK: stg.param "heads" : !stg.tensor<[D, H + 2*K : tp], f32>
  // BOUND: stg.param "heads" : !stg.tensor<[D = 16, (H, K) = 16 : tp], f32>
  %0 = stg.param "heads" : !stg.tensor<[D, H + 2*K], f32>
  // CHECK: stg.param "mixed" : !stg.tensor<[D, E + H], f32>
  // BOUND: stg.param "mixed" : !stg.tensor<[D = 16, (E, H) = E + 8], f32>
  %1 = stg.param "mixed" : !stg.tensor<[D, E + H], f32>
  // CHECK: stg.param "halves" : !stg.tensor<[H/2 : tp, D], f32>
  // BOUND: stg.param "halves" : !stg.tensor<[H = 4 : tp, D = 16], f32>
  %2 = stg.param "halves" : !stg.tensor<[H/2, D], f32>
  // An extent that looks like heads is not heads.
  // CHECK: stg.param "other" : !stg.tensor<[G = H, D], f32>
  // BOUND: stg.param "other" : !stg.tensor<[G = 8, D = 16], f32>
  %3 = stg.param "other" : !stg.tensor<[G = H, D], f32>
  return
}
