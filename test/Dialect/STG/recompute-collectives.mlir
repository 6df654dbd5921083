// A replayed op has the collectives of the op: they are found later, like any.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=full" --stg-apply-preset="tp=t" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefixes=CHECK,TP
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=full" --stg-apply-preset="tp=t sequence-parallel" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefixes=CHECK,SP

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @L
stg.symbol @t

!x = !stg.tensor<[B, S, D], bf16>
!h = !stg.tensor<[B, S, F], bf16>
!up = !stg.tensor<[D, F], bf16>
!down = !stg.tensor<[F, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// The last projection is replayed with its reduction, although nobody reads it. What
// sequence parallelism saves is the rank's tokens; what the replay has gathered for the
// product is gathered again for its weight's gradient.
//
// CHECK-LABEL: func.func @feed_forward
// TP: slices(%[[X:.*]] = %{{.*}}#1 : !stg.tensor<[layers = L, B, S, D], bf16>)
// TP: %[[U:.*]] = stg.einsum "bsd,df->bsf" %[[X]], %{{.*}} <"up" recompute>
// TP: %[[D:.*]] = stg.einsum "bsf,fd->bsd" {{.*}} <"down" recompute>
// TP: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[D]] <"down" recompute>
// TP: %[[O:.*]] = stg.add %[[X]], %[[R]] <"residual" recompute>
// TP: stg.keep %[[O]]
// TP-NOT: recompute{{[ >]}}
//
// SP: slices(%[[X:.*]] = %{{.*}}#1 : !stg.tensor<[layers = L, B, S/t, D], bf16>)
// SP: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[X]] <"up" recompute>
// SP: stg.einsum "bsd,df->bsf" %[[G]], %{{.*}} <"up" recompute>
// SP: %[[D:.*]] = stg.einsum "bsf,fd->bsd" {{.*}} <"down" recompute>
// SP: %[[R:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[D]] <"down" recompute>
// SP: %[[O:.*]] = stg.add %[[X]], %[[R]] <"residual" recompute>
// SP: stg.keep %[[O]] : !stg.tensor<[B, S/t, D], bf16>
// SP: %[[AGAIN:.*]] = stg.all_gather dim 1 over ["tp"] %[[X]] <"up" bwd dw>
// SP: stg.einsum "bsd,bsf->df" %[[AGAIN]],
// SP-NOT: recompute{{[ >]}}
func.func @feed_forward(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bsd,de->bse" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%x = %e : !x) {
    %wu = stg.param "up" : !up
    %u = stg.einsum "bsd,df->bsf" %x, %wu <"up"> : !x, !up
    %a = stg.activation gelu %u <"act"> : !h
    %wd = stg.param "down" : !down
    %d = stg.einsum "bsf,fd->bsd" %a, %wd <"down"> : !h, !down
    %o = stg.add %x, %d <"residual"> : !x, !x
    stg.yield %o : !x
  }
  return %y : !x
}
