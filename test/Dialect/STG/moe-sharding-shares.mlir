// Devices that have the same tokens make the rows of their own experts; what these make of a token
// is a sum over devices. Loads give each device as many rows as its experts have.
//
// RUN: stg-opt %s --stg-parallelize="mesh=ep=2:tensor,tp=2:tensor rules=X:ep,F:tp joined=ep+tp claims=stg.einsum/none@C:ep" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-check-layouts -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: stg-opt %t.mlir --stg-simplify-collectives=combine-first | FileCheck %s --check-prefix=ONCE
// RUN: stg-opt %t.mlir --stg-load-experts="loads=5,2,0,1" | FileCheck %s --check-prefix=LOADS
// RUN: not stg-opt %t.mlir --stg-load-experts="loads=5,2,1" 2>&1 | FileCheck %s --check-prefix=DIVIDE

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @X
stg.symbol @C
stg.symbol @A

!x = !stg.tensor<[B, S, D], bf16>
!choices = !stg.tensor<[B, S, A], i32>
!weights = !stg.tensor<[B, S, A], bf16>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>
!hidden = !stg.tensor<[X, A*B*S/X, F], bf16>

// CHECK: %[[P:.*]] = stg.param "router" {{.*}} : !stg.tensor<[D, C], bf16>
// CHECK: stg.dispatch {{.*}} {divided_over = ["ep"]} : {{.*}} -> !stg.tensor<[X/2, A*B*S/X, D], bf16>
// CHECK: stg.all_reduce sum over ["tp"] {{.*}} : !stg.tensor<[X/2, A*B*S/X, D], bf16>
// CHECK: stg.combine {{.*}} : !stg.tensor<[X/2, A*B*S/X, D], bf16>
// CHECK: stg.all_reduce sum over ["ep"] {{.*}} : !stg.tensor<[B, S, D], bf16>
// One reduction over both axes, which the mesh joins.
// ONCE-NOT: stg.all_reduce
// ONCE: stg.combine
// ONCE: stg.all_reduce sum over ["ep", "tp"] {{.*}} : !stg.tensor<[B, S, D], bf16>
// ONCE-NOT: stg.all_reduce
// Seven eighths of the rows are those of the first device.
// LOADS: stg.symbol @ep_index coordinate "ep"
// LOADS: stg.dispatch {{.*}} -> !stg.tensor<[X/2, {{.*}}ceildiv(7*A*B*S, 8){{.*}}ep_index{{.*}}, D], bf16>
// DIVIDE: error: 'stg.dispatch' op divides experts over 2 devices, which do not divide the 3 loads that are given
func.func @f(%x: !x, %w: !weights) -> !x {
  %r = stg.param "router" : !stg.tensor<[D, C], bf16>
  %l = stg.einsum "bsd,dc->bsc" %x, %r : !x, !stg.tensor<[D, C], bf16>
  %v, %i = stg.top_k A %l : !stg.tensor<[B, S, C], bf16>
  %e = stg.dispatch %x, %i : !x, !choices -> !buffers
  %up = stg.param "up" : !stg.tensor<[X, D, F], bf16>
  %h = stg.einsum "xrd,xdf->xrf" %e, %up : !buffers, !stg.tensor<[X, D, F], bf16>
  %down = stg.param "down" : !stg.tensor<[X, F, D], bf16>
  %o = stg.einsum "xrf,xfd->xrd" %h, %down : !hidden, !stg.tensor<[X, F, D], bf16>
  %y = stg.combine %o, %i, %w : !buffers, !choices, !weights
  return %y : !x
}
