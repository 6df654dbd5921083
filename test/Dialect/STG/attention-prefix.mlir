// Pairs of a query and a key: tokens of a prefix see each other, those of a document only their
// own, forward and backward.
// Keys are values here, and are read once.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s

!w = !stg.tensor<[8, 2, 4], f32>
!x = !stg.tensor<[1, 10, 8], f32>
!q = !stg.tensor<[1, 10, 2, 4], f32>
// CHECK: chakra.comp "q.fwd"({{.*}}) ops(1280) matrix bytes(896) phase "fwd"
// CHECK: chakra.comp "prefix.fwd"({{.*}}) ops(1952) matrix bytes(720) phase "fwd"
// CHECK: chakra.comp "documents.fwd"({{.*}}) ops(704) matrix bytes(1040) phase "fwd"
// CHECK: chakra.comp "both_ways.fwd"({{.*}}) ops(1088) matrix bytes(1040) phase "fwd"
// CHECK: chakra.comp "both_ways.bwd"({{.*}}) ops(2176) matrix bytes(2000) phase "bwd"
// CHECK: chakra.comp "both_ways.bwd.add"({{.*}}) ops(80) bytes(960) phase "bwd"
// CHECK: chakra.comp "documents.bwd"({{.*}}) ops(1408) matrix bytes(2320) phase "bwd"
// CHECK: chakra.comp "documents.bwd.add"({{.*}}) ops(80) bytes(960) phase "bwd"
// CHECK: chakra.comp "documents.bwd.add.1"({{.*}}) ops(80) bytes(960) phase "bwd"
// CHECK: chakra.comp "prefix.bwd"({{.*}}) ops(3904) matrix bytes(2000) phase "bwd"
// CHECK: chakra.comp "prefix.bwd.add"({{.*}}) ops(80) bytes(960) phase "bwd"
// CHECK: chakra.comp "prefix.bwd.add.1"({{.*}}) ops(80) bytes(960) phase "bwd"
// CHECK: chakra.comp "prefix.bwd.add.2"({{.*}}) ops(80) bytes(960) phase "bwd"
// CHECK: chakra.comp "q.bwd.dw"({{.*}}) ops(1280) matrix bytes(896) phase "bwd"
func.func @f(%x: !x) -> !q {
  %w = stg.param "w" : !w
  %q = stg.einsum "bsd,dhe->bshe" %x, %w <"q"> : !x, !w
  %a, %la = stg.attention causal %q, %q, %q {prefix = #sym.expr<4>} <"prefix"> : !q, !q, !q
  %b, %lb = stg.attention causal %q, %a, %a {requests = #stg.requests<2 * (3, 0), (4, 0)>} <"documents"> : !q, !q, !q
  %c, %lc = stg.attention none %q, %b, %b {requests = #stg.requests<2 * (3, 0), (4, 0)>} <"both_ways"> : !q, !q, !q
  return %c : !q
}
