// One program of a module with several, and the symbols that it uses: directly, or to follow others.
//
// RUN: stg-opt %s --stg-select-program="name=decode" | FileCheck %s --implicit-check-not=stg.symbol --implicit-check-not=func.func --implicit-check-not=stg.block
// RUN: stg-opt %s --stg-select-program="name=prefill" | FileCheck %s --check-prefix=PREFILL

// What nobody uses stays, as it does without the pass.
// CHECK:      stg.symbol @B
// CHECK-NEXT: stg.symbol @E = D/H
// CHECK-NEXT: stg.symbol @D
// CHECK-NEXT: stg.symbol @H
// CHECK-NEXT: stg.symbol @V
// CHECK-NEXT: stg.symbol @unused
// CHECK-NEXT: stg.symbol @dp = 2
// CHECK-NEXT: stg.config @small {B = 4 : i64, D = 8 : i64, H = 2 : i64, V = 3 : i64}
// CHECK-NEXT: stg.mesh @decode_mesh <dp = dp : data>
// CHECK-NEXT: stg.block @own
// CHECK:      func.func private @block
// CHECK:      func.func @decode
// PREFILL:      stg.symbol @S
// PREFILL-NEXT: stg.symbol @E = D/H
// PREFILL-NEXT: stg.symbol @D
// PREFILL-NEXT: stg.symbol @H
// PREFILL-NEXT: stg.symbol @W
// PREFILL-NEXT: stg.symbol @tp
// PREFILL-NEXT: stg.symbol @unused
// PREFILL-NEXT: stg.config @small {D = 8 : i64, H = 2 : i64, S = 16 : i64, W = 5 : i64}
// PREFILL-NEXT: stg.mesh @prefill_mesh <tp = tp : tensor>
// PREFILL-NEXT: stg.block @others
// PREFILL:      func.func private @block
stg.symbol @B
stg.symbol @S
stg.symbol @E = D/H
stg.symbol @D
stg.symbol @H
stg.symbol @V
stg.symbol @W
stg.symbol @tp
stg.symbol @unused
stg.symbol @dp = 2
stg.config @small {B = 4, D = 8, H = 2, S = 16, V = 3, W = 5}
stg.mesh @prefill_mesh <tp = tp : tensor>
stg.mesh @decode_mesh <dp = dp : data>
stg.block @own(%x: !stg.tensor<[E], f32>) -> !stg.tensor<[E], f32> {
  %w = stg.param "w" : !stg.tensor<[E, V], f32>
  stg.return %x : !stg.tensor<[E], f32>
}
stg.block @others(%x: !stg.tensor<[E], f32>) -> !stg.tensor<[E], f32> {
  %w = stg.param "w" : !stg.tensor<[E, W], f32>
  stg.return %x : !stg.tensor<[E], f32>
}
func.func private @block(%x: !stg.tensor<[E], f32>) -> !stg.tensor<[E], f32> {
  return %x : !stg.tensor<[E], f32>
}
func.func @prefill(%x: !stg.tensor<[S], f32>, %y: !stg.tensor<[E], f32>) attributes {stg.program = #stg.program<"prefill" on @prefill_mesh>} {
  %0 = call @block(%y) : (!stg.tensor<[E], f32>) -> !stg.tensor<[E], f32>
  %1 = stg.call @others(%0) : (!stg.tensor<[E], f32>) -> !stg.tensor<[E], f32>
  return
}
func.func @decode(%x: !stg.tensor<[B], f32>, %y: !stg.tensor<[E], f32>) attributes {stg.program = #stg.program<"decode" on @decode_mesh>} {
  %0 = call @block(%y) : (!stg.tensor<[E], f32>) -> !stg.tensor<[E], f32>
  %1 = stg.call @own(%0) : (!stg.tensor<[E], f32>) -> !stg.tensor<[E], f32>
  return
}
