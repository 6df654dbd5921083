// Convolutions and pooling, from the model to nodes: a convolution is a product, forward and
// backward; that of data has no gradient of its input.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @C
stg.symbol @F
!image = !stg.tensor<[B, 16, 16, C], bf16>
!inner = !stg.tensor<[B, 16, 16, F], bf16>
!pooled = !stg.tensor<[B, 8, 8, F], bf16>

// CHECK: chakra.comp "conv1.fwd"({{.*}}) ops(2304*B*C*F) matrix bytes(512*B*C + 256*B*F + 9*C*F) phase "fwd"
// CHECK: chakra.comp "max.fwd"({{.*}}) ops(288*B*F) bytes(320*B*F) phase "fwd"
// CHECK: chakra.comp "conv2.fwd"({{.*}}) ops(576*B*F) matrix bytes(128*B*F + 9*F) phase "fwd"
// CHECK: chakra.comp "average.fwd"({{.*}}) ops(32*B*F) bytes(65*B*F) phase "fwd"
// CHECK: chakra.comp "average.bwd"({{.*}}) ops(32*B*F) bytes(64*B*F) phase "bwd"
// CHECK: chakra.comp "conv2.bwd.dx"({{.*}}) ops(576*B*F) matrix bytes(128*B*F + 9*F) phase "bwd"
// CHECK: chakra.comp "conv2.bwd.dw"({{.*}}) ops(576*B*F) matrix bytes(128*B*F + 18*F) phase "bwd"
// CHECK: chakra.comp "max.bwd"({{.*}}) ops(288*B*F) bytes(576*B*F) phase "bwd"
// CHECK: chakra.comp "conv1.bwd.dw"({{.*}}) ops(2304*B*C*F) matrix bytes(512*B*C + 256*B*F + 18*C*F) phase "bwd"
func.func @network(%x: !image) -> !stg.tensor<[B, 1, 1, F], bf16> {
  %w1 = stg.param "w1" : !stg.tensor<[3, 3, C, F], bf16>
  %h = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} <"conv1"> : !image, !stg.tensor<[3, 3, C, F], bf16> -> !inner
  %p = stg.pool max %h {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"max"> : !inner -> !pooled
  %w2 = stg.param "w2" : !stg.tensor<[3, 3, 1, F], bf16>
  %d = stg.conv %p, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, grouped} <"conv2"> : !pooled, !stg.tensor<[3, 3, 1, F], bf16> -> !pooled
  %m = stg.pool mean %d {window = array<i64: 8, 8>, strides = array<i64: 8, 8>, padding = array<i64: 0, 0>} <"average"> : !pooled -> !stg.tensor<[B, 1, 1, F], bf16>
  return %m : !stg.tensor<[B, 1, 1, F], bf16>
}
