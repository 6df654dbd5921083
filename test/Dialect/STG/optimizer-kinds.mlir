// Other optimizers than Adam. Muon steps matrices: what products contract, but for what has the vocabulary.
//
// RUN: stg-opt %s --stg-autodiff --stg-optimizer=kind=momentum | FileCheck %s --check-prefix=MOMENTUM --implicit-check-not=stg.adam --implicit-check-not=stg.sgd
// RUN: stg-opt %s --stg-autodiff --stg-optimizer=kind=sgd | FileCheck %s --check-prefix=SGD --implicit-check-not=stg.adam --implicit-check-not=stg.momentum
// RUN: stg-opt %s --stg-autodiff --stg-optimizer="kind=muon moment-type=bf16" | FileCheck %s --check-prefix=MUON --implicit-check-not=stg.momentum

stg.symbol @B
stg.symbol @D
stg.symbol @F
stg.symbol @V
stg.symbol @X
!x = !stg.tensor<[B, D], bf16>
!h = !stg.tensor<[B, F], bf16>

// MOMENTUM-COUNT-7: stg.momentum f32
// SGD-COUNT-7: stg.sgd %
// MUON-LABEL: func.func @f
// MUON: stg.adam bf16 %{{.*}} <"table" opt>
// MUON: stg.adam bf16 %{{.*}} <"norm" opt>
// MUON: %[[M:.*]] = stg.moment bf16 %[[DU:.*]] <"up" opt> : !stg.tensor<[D, F], f32>
// MUON-NEXT: %[[O:.*]] = stg.orthogonalize %[[M]] {columns = array<i64: 1>, iterations = 5 : i64, rows = array<i64: 0>} <"up" opt> : !stg.tensor<[D, F], f32> -> !stg.tensor<[D, F], f32>
// MUON-NEXT: stg.sgd %{{.*}}, %[[O]] <"up" opt> : !stg.tensor<[D, F], bf16>, !stg.tensor<[D, F], f32>
// What is cast before it is read is a matrix, too; that of experts are several.
// MUON: stg.orthogonalize %{{.*}} {columns = array<i64: 2>, iterations = 5 : i64, rows = array<i64: 1>} <"down" opt> : !stg.tensor<[X, F, D], f32>
// MUON: stg.sgd %{{.*}} <"down" opt>
// MUON: stg.adam bf16 %{{.*}} <"bias" opt>
// MUON: stg.adam bf16 %{{.*}} <"head" opt>
func.func @f(%ids: !stg.tensor<[B], i32>, %labels: !stg.tensor<[B], i32>) -> !stg.tensor<[B], f32> {
  %table = stg.param "table" : !stg.tensor<[V, D], bf16>
  %e = stg.embedding %table, %ids : !stg.tensor<[V, D], bf16>, !stg.tensor<[B], i32>
  %norm = stg.param "norm" : !stg.tensor<[D], bf16>
  %n, %rms = stg.rms_norm %e, %norm : !x, !stg.tensor<[D], bf16>
  %up = stg.param "up" : !stg.tensor<[D, F], bf16>
  %u = stg.einsum "bd,df->bf" %n, %up : !x, !stg.tensor<[D, F], bf16>
  %ux = stg.broadcast dim 0 %u : !h -> !stg.tensor<[X, B, F], bf16>
  %down = stg.param "down" : !stg.tensor<[X, F, D], f32>
  %narrow = stg.cast %down : !stg.tensor<[X, F, D], f32> -> !stg.tensor<[X, F, D], bf16>
  %dx = stg.einsum "xbf,xfd->xbd" %ux, %narrow : !stg.tensor<[X, B, F], bf16>, !stg.tensor<[X, F, D], bf16>
  %mix = stg.param "mix" : !stg.tensor<[X], bf16>
  %d = stg.einsum "xbd,x->bd" %dx, %mix : !stg.tensor<[X, B, D], bf16>, !stg.tensor<[X], bf16>
  %bias = stg.param "bias" : !stg.tensor<[D], bf16>
  %y = stg.bias_add %d, %bias : !x, !stg.tensor<[D], bf16>
  %head = stg.param "head" : !stg.tensor<[D, V], bf16>
  %logits = stg.einsum "bd,dv->bv" %y, %head : !x, !stg.tensor<[D, V], bf16>
  %loss, %softmax = stg.cross_entropy %logits, %labels : !stg.tensor<[B, V], bf16>, !stg.tensor<[B], i32>
  return %loss : !stg.tensor<[B], f32>
}
