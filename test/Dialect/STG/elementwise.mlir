// Scalar functions: one operation for each element, and a derivative that reads what its table
// says. An operand that repeats itself has the sum as its gradient.
//
// RUN: stg-opt %s --verify-roundtrip -o /dev/null
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --implicit-check-not=sub.bwd.dlhs

!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8, 8], f32>
!r = !stg.tensor<[4, 1], f32>
func.func @f(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %0 = stg.einsum "ab,bc->ac" %x, %w : !x, !w
  // Operations of 32 elements; bytes of those that are read and written, 128 each.
  // CHECK-DAG: chakra.comp "exp.fwd"({{.*}}) ops(32) bytes(256) phase "fwd"
  // CHECK-DAG: chakra.comp "exp.bwd"({{.*}}) ops(32) bytes(384) phase "bwd"
  %1 = stg.elementwise exp %0 <"exp"> : !x
  // CHECK-DAG: chakra.comp "log.bwd"({{.*}}) ops(32) bytes(384) phase "bwd"
  %2 = stg.elementwise log %1 <"log"> : !x
  // CHECK-DAG: chakra.comp "abs.bwd"({{.*}}) ops(32) bytes(384) phase "bwd"
  %3 = stg.elementwise abs %2 <"abs"> : !x
  // CHECK-DAG: chakra.comp "neg.bwd"({{.*}}) ops(32) bytes(256) phase "bwd"
  %4 = stg.elementwise neg %3 <"neg"> : !x
  // CHECK-DAG: chakra.comp "reciprocal.bwd"({{.*}}) ops(96) bytes(384) phase "bwd"
  %5 = stg.elementwise reciprocal %4 <"reciprocal"> : !x
  // CHECK-DAG: chakra.comp "sqrt.bwd"({{.*}}) ops(64) bytes(384) phase "bwd"
  %6 = stg.elementwise sqrt %5 <"sqrt"> : !x
  // CHECK-DAG: chakra.comp "rsqrt.bwd"({{.*}}) ops(128) bytes(384) phase "bwd"
  %7 = stg.elementwise rsqrt %6 <"rsqrt"> : !x
  // CHECK-DAG: chakra.comp "square.bwd"({{.*}}) ops(64) bytes(384) phase "bwd"
  %8 = stg.elementwise square %7 <"square"> : !x
  // CHECK-DAG: chakra.comp "erf.bwd"({{.*}}) ops(160) bytes(384) phase "bwd"
  %9 = stg.elementwise erf %8 <"erf"> : !x
  // CHECK-DAG: chakra.comp "sin.bwd"({{.*}}) ops(64) bytes(384) phase "bwd"
  %10 = stg.elementwise sin %9 <"sin"> : !x
  // CHECK-DAG: chakra.comp "cos.bwd"({{.*}}) ops(96) bytes(384) phase "bwd"
  %11 = stg.elementwise cos %10 <"cos"> : !x
  // The gradient of the first operand is that of the result.
  // CHECK-DAG: chakra.comp "sub.fwd"({{.*}}) ops(32) bytes(384) phase "fwd"
  // CHECK-DAG: chakra.comp "sub.bwd.drhs"({{.*}}) ops(32) bytes(256) phase "bwd"
  %12 = stg.elementwise sub %11, %10 <"sub"> : !x, !x
  // CHECK-DAG: chakra.comp "div.bwd.dlhs"({{.*}}) ops(32) bytes(384) phase "bwd"
  // CHECK-DAG: chakra.comp "div.bwd.drhs"({{.*}}) ops(96) bytes(512) phase "bwd"
  %13 = stg.elementwise div %12, %11 <"div"> : !x, !x
  // CHECK-DAG: chakra.comp "max.bwd.dlhs"({{.*}}) ops(64) bytes(512) phase "bwd"
  // CHECK-DAG: chakra.comp "max.bwd.drhs"({{.*}}) ops(64) bytes(512) phase "bwd"
  %14 = stg.elementwise max %13, %12 <"max"> : !x, !x
  // CHECK-DAG: chakra.comp "min.bwd.dlhs"({{.*}}) ops(64) bytes(512) phase "bwd"
  %15 = stg.elementwise min %14, %x <"min"> : !x, !x
  // CHECK-DAG: chakra.comp "pow.bwd.dlhs"({{.*}}) ops(128) bytes(512) phase "bwd"
  // CHECK-DAG: chakra.comp "pow.bwd.drhs"({{.*}}) ops(96) bytes(512) phase "bwd"
  %16 = stg.elementwise pow %15, %14 <"pow"> : !x, !x
  // A row of 4 is 16 bytes; its gradient is summed of 32 elements. The first one is an immediate.
  // CHECK-DAG: chakra.comp "mask.fwd"({{.*}}) ops(32) bytes(256) phase "fwd"
  // CHECK-DAG: chakra.comp "mask.bwd"({{.*}}) ops(32) bytes(256) phase "bwd"
  %17 = stg.mask_scores causal %16 {window = #sym.expr<3>} <"mask"> : !x
  // CHECK-DAG: chakra.comp "rows.fwd"({{.*}}) ops(32) bytes(272) phase "fwd"
  // CHECK-DAG: chakra.comp "rows.bwd.drhs"() ops(32) bytes(128) phase "bwd"
  // CHECK-DAG: chakra.comp "rows.bwd.repeated"({{.*}}) ops(32) bytes(144) phase "bwd"
  %sum = stg.sum dim 1 %17 <"sum"> : !x
  %row = stg.rearrange "a->a()" %sum <"row"> : !stg.tensor<[4], f32> -> !r
  %18 = stg.elementwise sub %17, %row <"rows"> : !x, !r
  return %18 : !x
}
