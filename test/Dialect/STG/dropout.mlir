// Dropout saves a mask of bytes and nothing else; it is divided like its operand, and inference
// has none.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s --check-prefix=OP
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-inference | FileCheck %s --check-prefix=INFERENCE

!w = !stg.tensor<[8, 4], bf16>
!x = !stg.tensor<[2, 10, 8], bf16>
!y = !stg.tensor<[2, 10, 4], bf16>

// CHECK: chakra.comp "w.fwd"
// CHECK: chakra.comp "dropout.fwd"({{.*}}) ops(160) bytes(400) phase "fwd" : (!chakra.tensor<160, temporary>) -> (!chakra.tensor<160, temporary>, !chakra.tensor<80, activation>)
// What the gradient of the result is, is an immediate here.
// CHECK: chakra.comp "dropout.bwd"(%dropout.fwd#1) ops(80) bytes(240) phase "bwd"
// INFERENCE-NOT: stg.dropout
// INFERENCE: return
func.func @f(%x: !x) -> !y {
  %w = stg.param "w" : !w
  %h = stg.einsum "bsd,df->bsf" %x, %w : !x, !w
  // OP: %{{.*}}, %{{.*}} = stg.dropout %{{.*}} : !stg.tensor<[2, 10, 4], bf16>
  %y, %mask = stg.dropout %h : !y
  return %y : !y
}
