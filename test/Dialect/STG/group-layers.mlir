// Layers are grouped, and the first of each pipeline stage set apart, before backward is
// derived.
//
// RUN: stg-opt %s --stg-group-layers="size=4" | FileCheck %s --check-prefix=UNIFORM
// RUN: stg-opt %s --stg-group-layers="size=1" | FileCheck %s --check-prefix=ONE
// RUN: stg-opt %s --stg-group-layers="method=block size=3" | FileCheck %s --check-prefix=BLOCK
// RUN: stg-opt %s --stg-group-layers="method=block size=1 stages=2" | FileCheck %s --check-prefix=STAGES
// RUN: stg-opt %s --stg-group-layers="method=block size=3" --stg-autodiff --stg-recompute="policy=full" | FileCheck %s --check-prefix=REPLAY

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// UNIFORM-LABEL: func.func @layers
// UNIFORM: %[[Y:.*]] = stg.repeat "layers_groups" * L/4 carry(%[[G:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>) recompute full {
// UNIFORM-NEXT: %[[Z:.*]] = stg.repeat "layers" * 4 carry(%[[X:.*]] = %[[G]] : !stg.tensor<[B, D], bf16>) {
// UNIFORM-NEXT: stg.param "w"
// UNIFORM-NEXT: %[[P:.*]] = stg.einsum "bi,ij->bj" %[[X]],
// UNIFORM-NEXT: stg.yield %[[P]]
// UNIFORM: stg.yield %[[Z]]
// UNIFORM: return %[[Y]]
//
// ONE: stg.repeat "layers" * L carry
// ONE-NOT: stg.repeat
// ONE: return
//
// BLOCK-LABEL: func.func @layers
// BLOCK: %[[Z:.*]] = stg.repeat "layers_replayed" * 3 carry({{.*}}) recompute full {
// BLOCK: stg.repeat "layers" * {{.*}} carry(%{{.*}} = %[[Z]] : {{.*}}) recompute none {
//
// Each stage is an iteration, and has layers of both kinds.
//
// STAGES-LABEL: func.func @layers
// STAGES: stg.repeat "layers_groups" * 2 carry(%[[G:.*]] = %{{.*}}) recompute none {
// STAGES-NEXT: %[[Z:.*]] = stg.repeat "layers_replayed" * 1 carry(%{{.*}} = %[[G]] : {{.*}}) recompute full {
// STAGES: %[[Y:.*]] = stg.repeat "layers" * {{.*}} carry(%{{.*}} = %[[Z]] : {{.*}}) recompute none {
// STAGES: stg.yield %[[Y]]
//
// What a repeat says of itself comes before the policy: only the first layers are
// replayed.
//
// REPLAY-LABEL: func.func @layers
// REPLAY: stg.repeat "layers" * {{.*}} reverse carry({{.*}}) {{.*}}<bwd
// REPLAY-NOT: recompute{{[ >]}}
// REPLAY: stg.repeat "layers_replayed" * 3 reverse
// REPLAY: stg.einsum {{.*}} recompute>
func.func @layers(%x: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bi,ij->bj" %x, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w <"w"> : !x, !w
    stg.yield %z : !x
  }
  return %y : !x
}
