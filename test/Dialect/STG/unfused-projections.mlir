// Query, key and value as three products: their input is gathered once, the three
// gradients of it are added before one reduction, with symbolic degrees.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-optimizer \
// RUN:   --stg-apply-preset="dp=dp tp=tp sequence-parallel=true" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --stg-simplify-collectives --stg-bucket-gradients -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: stg-opt %t.mlir --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[B, S, D], bf16>
!w = !stg.tensor<[D, H, E], bf16>
!h = !stg.tensor<[B, S, H, E], bf16>

// CHECK-LABEL: func.func @layers
// COST-LABEL: chakra.graph @layers mesh = #sym.mesh<tp = tp : tensor, dp = dp : data>
func.func @layers(%x: !x) -> !x {
  %y = stg.repeat "layers" * 4 carry(%c = %x : !x) {
    %wn = stg.param "norm" : !stg.tensor<[D], bf16>
    // CHECK: %[[N:.*]], %{{.*}} = stg.rms_norm
    %n, %r = stg.rms_norm %c, %wn : !x, !stg.tensor<[D], bf16>
    %wq = stg.param "q" : !w
    %wk = stg.param "k" : !w
    %wv = stg.param "v" : !w
    // CHECK: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[N]] {{.*}} : !stg.tensor<[B/dp, S/tp, D], bf16> -> !stg.tensor<[B/dp, S, D], bf16>
    // CHECK-NOT: stg.all_gather
    // CHECK: %[[Q:.*]] = stg.einsum {{.*}} %[[G]], {{.*}}<"q"
    // CHECK: %[[K:.*]] = stg.einsum {{.*}} %[[G]], {{.*}}<"k"
    // CHECK: %[[V:.*]] = stg.einsum {{.*}} %[[G]], {{.*}}<"v"
    // CHECK: stg.attention causal %[[Q]], %[[K]], %[[V]]
    // COST: chakra.coll all_gather "q.fwd.all_gather"(%{{.*}}) over ["tp"] {{.*}} : (!chakra.tensor<2*B*D*S/(dp*tp), activation>) -> !chakra.tensor<2*B*D*S/dp, communication>
    // COST: chakra.comp "q.fwd"({{.*}}) ops(2*B*D*E*H*S/(dp*tp)) matrix bytes(
    %q = stg.einsum "bsd,dhe->bshe" %n, %wq : !x, !w
    %k = stg.einsum "bsd,dhe->bshe" %n, %wk : !x, !w
    %v = stg.einsum "bsd,dhe->bshe" %n, %wv : !x, !w
    %a, %lse = stg.attention causal %q, %k, %v : !h, !h, !h
    %wo = stg.param "o" : !stg.tensor<[H, E, D], bf16>
    // CHECK: %[[O:.*]] = stg.einsum {{.*}}<"o"
    // CHECK-NEXT: stg.reduce_scatter dim 1 over ["tp"] %[[O]]
    %o = stg.einsum "bshe,hed->bsd" %a, %wo : !h, !stg.tensor<[H, E, D], bf16>
    %z = stg.add %c, %o : !x, !x
    stg.yield %z : !x
  }
  // CHECK: stg.repeat "layers" * 4 reverse
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = stg.attention_grad
  // CHECK: %[[XV:.*]] = stg.einsum "bshe,dhe->bsd" %[[DV]]
  // CHECK: %[[A:.*]] = stg.all_gather dim 1 over ["tp"]
  // CHECK-NOT: stg.all_gather
  // CHECK: %[[XK:.*]] = stg.einsum "bshe,dhe->bsd" %[[DK]]
  // CHECK: %[[VK:.*]] = stg.add %[[XV]], %[[XK]]
  // CHECK: %[[XQ:.*]] = stg.einsum "bshe,dhe->bsd" %[[DQ]]
  // CHECK: %[[VKQ:.*]] = stg.add %[[VK]], %[[XQ]]
  // CHECK: stg.reduce_scatter dim 1 over ["tp"] %[[VKQ]] {{.*}} : !stg.tensor<[B/dp, S, D], bf16> -> !stg.tensor<[B/dp, S/tp, D], bf16>
  // CHECK-NOT: stg.reduce_scatter
  // CHECK: stg.rms_norm_grad
  // CHECK: stg.yield
  // Gradients after the repeat: over tp what is replicated there, then all over dp.
  // CHECK: stg.all_reduce sum over ["tp"]
  // CHECK-NEXT: stg.all_reduce sum over ["dp"]
  // CHECK-NOT: stg.all_reduce
  return %y : !x
}
