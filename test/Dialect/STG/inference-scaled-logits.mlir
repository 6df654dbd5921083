// Logits that are multiplied with a constant are made of the rows that are asked for, too: the
// constant becomes one of these rows.
//
// RUN: stg-opt %s --split-input-file --stg-inference="cached=0" | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-inference="requests=2*(512,0),(64,0,0)" | FileCheck %s --check-prefix=PACKED

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @V
!x = !stg.tensor<[B, S, D], bf16>
!logits = !stg.tensor<[B, S, V], bf16>

// CHECK-LABEL: func.func @scaled(
// CHECK: %[[N:.*]], %{{.*}} = stg.rms_norm
// CHECK: %[[R:.*]] = stg.select_rows dim 1 %[[N]] <"loss.rows" fwd> : !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[B, S = 1, D], bf16>
// CHECK: %[[P:.*]] = stg.einsum "bsd,dv->bsv" %[[R]], %{{.*}} <"head" fwd>
// CHECK: %[[C:.*]] = stg.splat {{.*}} : !stg.tensor<[B, S = 1, V], bf16>
// CHECK: %[[Y:.*]] = stg.mul %[[P]], %[[C]] <"scale" fwd> : !stg.tensor<[B, S = 1, V], bf16>, !stg.tensor<[B, S = 1, V], bf16>
// CHECK: stg.sample %[[Y]] <"loss.sample" fwd> : !stg.tensor<[B, S = 1, V], bf16>

// PACKED-LABEL: func.func @scaled(
// PACKED: stg.select_rows dim 1 {{.*}} -> !stg.tensor<[B, S = 2, D], bf16>
// PACKED: stg.mul {{.*}} <"scale" fwd> : !stg.tensor<[B, S = 2, V], bf16>, !stg.tensor<[B, S = 2, V], bf16>
func.func @scaled(%x: !x, %labels: !stg.tensor<[B, S], i32>) -> !stg.tensor<[B, S], f32> {
  %n, %r = stg.rms_norm %x <"norm"> : !x
  %w = stg.param "head" : !stg.tensor<[D, V], bf16>
  %p = stg.einsum "bsd,dv->bsv" %n, %w <"head"> : !x, !stg.tensor<[D, V], bf16>
  %c = stg.splat 1 : !logits
  %y = stg.mul %p, %c <"scale"> : !logits, !logits
  %loss, %softmax = stg.cross_entropy %y, %labels <"loss"> : !logits, !stg.tensor<[B, S], i32>
  return %loss : !stg.tensor<[B, S], f32>
}
