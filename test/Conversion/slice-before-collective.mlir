// A slice is a view, but a collective sends one piece: the slice is copied out first,
// and the collective moves the bytes of the slice.
//
// RUN: stg-opt %s --convert-stg-to-chakra | FileCheck %s

stg.mesh @mesh <tp = 2, dp = 2>
!whole = !stg.tensor<[8, 8], f32>
!half = !stg.tensor<[4, 8], f32>

// CHECK-LABEL: chakra.graph @f
// CHECK: %[[A:.*]] = chakra.comp "activation.fwd"
// CHECK: %[[C:.*]] = chakra.comp "all_to_all.fwd.copy"(%[[A]]) ops(0) bytes(256)
// CHECK: chakra.coll all_to_all {{.*}}(%[[C]]) over ["dp"] {{.*}}(!chakra.tensor<128, communication>) -> !chakra.tensor<128, communication>
func.func @f(%x: !whole) -> !stg.tensor<[8, 4], f32> {
  %a = stg.activation relu %x : !whole
  %s = stg.local_slice dim 0 over ["tp"] %a : !whole -> !half
  %y = stg.all_to_all from 0 to 1 over ["dp"] %s : !half -> !stg.tensor<[8, 4], f32>
  return %y : !stg.tensor<[8, 4], f32>
}
