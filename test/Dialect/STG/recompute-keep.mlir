// stg.keep: assembly; it outlives what removes ops without readers, and costs nothing.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s
// RUN: stg-opt %s --canonicalize --cse | FileCheck %s

stg.symbol @B

// CHECK-LABEL: func.func @keep
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @keep(%x: !stg.tensor<[B, 4], bf16>) {
  // CHECK-NEXT: %[[Y:.*]] = stg.activation silu %[[X]]
  %y = stg.activation silu %x : !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: stg.keep %[[Y]] : !stg.tensor<[B, 4], bf16>
  stg.keep %y : !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: return
  return
}
