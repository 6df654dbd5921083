// Devices that do not divide a dimension evenly have parts that are rounded up, and the last one what
// is left: 3, 3, 3 and 2 of 11. What is divided evenly stays as it is.
//
// RUN: stg-opt %s --stg-divide-unevenly="dims=V values=V=11" | FileCheck %s
// RUN: stg-opt %s --stg-divide-unevenly="dims=V values=V=12" | FileCheck %s --check-prefix=EVEN
// EVEN-NOT: coordinate

stg.symbol @B
stg.symbol @D = 8
stg.symbol @V
stg.mesh @mesh <tp = 4 : tensor>

// CHECK: stg.symbol @tp_index coordinate "tp"

// CHECK-LABEL: func @logits
// CHECK-SAME: !stg.tensor<[D, V = -max(min(tp_index - 2, 1), 0) + 3], bf16>
// EVEN-LABEL: func @logits
// EVEN-SAME: !stg.tensor<[D, V/4], bf16>
func.func @logits(%x: !stg.tensor<[B, D], bf16> {stg.layout = #stg.layout<>}, %w: !stg.tensor<[D, V/4], bf16> {stg.layout = #stg.layout<tp : 1>}) -> !stg.tensor<[B, V], bf16> {
  // CHECK: stg.einsum {{.*}} : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, V = -max(min(tp_index - 2, 1), 0) + 3], bf16>
  %l = stg.einsum "bd,dv->bv" %x, %w : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, V/4], bf16> -> !stg.tensor<[B, V/4], bf16>
  // CHECK: stg.all_gather dim 1 over ["tp"] {{.*}} {padded = #sym.expr<6*B>, payload = #sym.expr<{{.*}}tp_index{{.*}}>}
  // CHECK-SAME: -> !stg.tensor<[B, V = 11], bf16>
  // EVEN: stg.all_gather dim 1 over ["tp"] %{{.*}} : !stg.tensor<[B, V/4], bf16> -> !stg.tensor<[B, V], bf16>
  %g = stg.all_gather dim 1 over ["tp"] %l : !stg.tensor<[B, V/4], bf16> -> !stg.tensor<[B, V], bf16>
  return %g : !stg.tensor<[B, V], bf16>
}
