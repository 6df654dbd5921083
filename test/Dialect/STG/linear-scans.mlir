// Scans with one number, or three, for each channel: types, costs, gradients, how they are divided, what they keep.
//
// RUN: stg-opt %s --verify-roundtrip -o /dev/null
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt -o /dev/null
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2" --stg-propagate-shardings --stg-insert-collectives \
// RUN:   | FileCheck %s --check-prefix=LOCAL
// RUN: stg-opt %s --stg-name-ops --stg-pass-states --stg-autodiff --stg-apply-preset="cp=2 tp=2" --stg-context-parallel="balance=none" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-lower-recurrence | FileCheck %s --check-prefix=PASSED

stg.symbol @B
stg.symbol @S
stg.symbol @MH
stg.symbol @MP
stg.symbol @MC

!x = !stg.tensor<[B, S, MH, MP], bf16>
!w = !stg.tensor<[MH, MP], bf16>
!k = !stg.tensor<[B, S, MC], bf16>
!c = !stg.tensor<[MC], bf16>

// The gradient reads the decays and what the scan gives, which are its states.
//
// CHECK: %[[A:.*]] = stg.activation sigmoid
// CHECK: %[[Y:.*]] = stg.linear_scan %{{.*}}, %[[A]] <"scan" fwd> : !stg.tensor<[B, S, MH, MP], bf16>, !stg.tensor<[B, S, MH, MP], bf16>{{$}}
// CHECK: stg.linear_scan_grad %[[A]], %[[Y]], %{{.*}} <"scan" bwd>
// CHECK-SAME: -> !stg.tensor<[B, S, MH, MP], bf16>, !stg.tensor<[B, S, MH, MP], bf16>
//
// COST: comp "scan.fwd"({{.*}}) ops(2*B*MH*MP*S) bytes(6*B*MH*MP*S) phase "fwd"
// COST: comp "scan.bwd"({{.*}}) ops(3*B*MH*MP*S) bytes(8*B*MH*MP*S) phase "bwd"
//
// LOCAL: stg.linear_scan {{.*}} : !stg.tensor<[B, S, MH/2, MP], bf16>, !stg.tensor<[B, S, MH/2, MP], bf16>
//
// A device needs the states of the one before it for all that it computes.
//
// PASSED: stg.recv over "cp" shift -1 {{.*}} : !stg.tensor<[B, MH/2, MP], f32>
// PASSED: stg.recurrence_part B*MH*MP*S/2 {{.*}}<"scan" fwd state>
func.func @states(%x: !x {stg.name = "x"}) -> !x {
  %p = stg.param "p" : !w
  %g = stg.mul_along %x, %p {dims = array<i64: 2, 3>} <"gated"> : !x, !w
  %a = stg.activation sigmoid %g <"decay"> : !x
  %y = stg.linear_scan %g, %a <"scan"> : !x, !x
  return %y : !x
}
