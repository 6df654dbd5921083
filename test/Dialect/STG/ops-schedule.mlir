// Schedules print and parse as they are, as text, in the generic form and as bytecode.
//
// RUN: stg-opt %s | stg-opt | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s
//
// What a schedule calls is reached from its program.
// RUN: stg-opt %s --stg-select-program="name=f" | FileCheck %s --check-prefix=SELECT
// SELECT:     func.func private @backward.first
// SELECT:     func.func private @backward.next
// SELECT:     func.func private @backward.last
// SELECT-NOT: func.func private @unused
// SELECT:     func.func @f

stg.mesh @ranks <pp = 2 : pipeline, ep = 2 : expert, edp = 2 : data>

!x = !stg.tensor<[8], bf16>

func.func private @backward.first(%x: !x) -> (!x, !x) {
  return %x, %x : !x, !x
}
func.func private @backward.next(%x: !x, %g: !x) -> (!x, !x) {
  return %x, %g : !x, !x
}
func.func private @backward.last(%x: !x, %g: !x) -> (!x, !x) {
  return %x, %g : !x, !x
}
func.func private @unused(%x: !x) -> !x {
  return %x : !x
}

// CHECK:      %[[G:.*]] = stg.schedule "mb" * 4 inputs(%[[A:.*]], %[[B:.*]], %[[C:.*]], %[[D:.*]] : !stg.tensor<[8], bf16>, !stg.tensor<[8], bf16>, !stg.tensor<[8], bf16>, !stg.tensor<[8], bf16>) order <4 * [0 at 3 by -1], 2 * [1 at 0 by 2, 2 at 0 by 2], [1 at 1, 2 at 1, 1 at 3]> -> !stg.tensor<[8], bf16> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !stg.tensor<[8], bf16>):
// CHECK-NEXT:   %[[Y:.*]] = stg.recv over "pp" shift -1 channel 6 by 2 : !stg.tensor<[8], bf16>
// CHECK-NEXT:   %[[DX:.*]] = stg.turn_call to 3 first @backward.first next @backward.next last @backward.last(%[[X]]) : (!stg.tensor<[8], bf16>) -> !stg.tensor<[8], bf16>
// CHECK-NEXT:   stg.send over "pp" shift 1 channel 7 by 2 %[[DX]] : !stg.tensor<[8], bf16>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[G]] : !stg.tensor<[8], bf16>
func.func @f(%a: !x, %b: !x, %c: !x, %d: !x) -> !x {
  %g = stg.schedule "mb" * 4 inputs(%a, %b, %c, %d : !x, !x, !x, !x)
      order <4 * [0 at 3 by -1], 2 * [1 at 0 by 2, 2 at 0 by 2], [1 at 1, 2 at 1, 1 at 3]> -> !x {
  ^bb0(%x: !x):
    %y = stg.recv over "pp" shift -1 channel 6 by 2 : !x
    %dx = stg.turn_call to 3 first @backward.first next @backward.next last @backward.last(%x) : (!x) -> !x
    stg.send over "pp" shift 1 channel 7 by 2 %dx : !x
  }
  return %g : !x
}

// Two calls side by side.
// CHECK-LABEL: func.func @pairs
// CHECK:       order <[0 at 0, 0 at 1], 2 * [1 at 0 | 0 at 2], [1 at 2 | 0 at 4 by 1, 1 at 3, 1 at 4]> switching at ["ep", "edp"] -> !stg.tensor<[8], bf16> {
func.func private @forward(!x) -> !x
func.func @pairs(%a: !x, %b: !x, %c: !x, %d: !x, %e: !x) -> !x {
  %g = stg.schedule "mb" * 5 inputs(%a, %b, %c, %d, %e : !x, !x, !x, !x, !x)
      order <[0 at 0, 0 at 1], 2 * [1 at 0 | 0 at 2], [1 at 2 | 0 at 4 by 1, 1 at 3, 1 at 4]> switching at ["ep", "edp"] -> !x {
  ^bb0(%x: !x):
    %saved = func.call @forward(%x) : (!x) -> !x
    %dx = stg.turn_call to 0 first @backward.first next @backward.next last @backward.last(%saved) : (!x) -> !x
  }
  return %g : !x
}

func.func @g(%x: !x) -> !x {
  return %x : !x
}
