// RUN: stg-opt %s --stg-gather-logits="how=one" | FileCheck %s

// Five devices have 10 and 9 rows of a vocabulary of 49. What the first one joins are all of them
// on that device, where alone it is executed.
//
// CHECK-LABEL: func.func @uneven
// CHECK: stg.repeat "sample.other4"
// CHECK-NEXT: stg.send over "tp" shift -4 channel 6 %[[X:.*]] <"sample" fwd> : !stg.tensor<[B, V = -max(min(tp_index - 3, 1), 0) + 10], bf16>
// CHECK: stg.repeat "sample.first" * -max(min(tp_index, 1), 0) + 1 carry
// CHECK-NEXT: %[[P1:.*]] = stg.recv over "tp" shift 1 channel 0 <"sample" fwd> : !stg.tensor<[B, V = 10], bf16>
// CHECK-NEXT: %[[P2:.*]] = stg.recv over "tp" shift 2 channel 2 <"sample" fwd> : !stg.tensor<[B, V = 10], bf16>
// CHECK-NEXT: %[[P3:.*]] = stg.recv over "tp" shift 3 channel 4 <"sample" fwd> : !stg.tensor<[B, V = 10], bf16>
// CHECK-NEXT: %[[P4:.*]] = stg.recv over "tp" shift 4 channel 6 <"sample" fwd> : !stg.tensor<[B, V = 9], bf16>
// CHECK-NEXT: %[[ALL:.*]] = stg.concat dim 1 %[[X]], %[[P1]], %[[P2]], %[[P3]], %[[P4]] <"sample" fwd> : {{.*}} -> !stg.tensor<[B, V = -max(min(tp_index - 3, 1), 0) + 49], bf16>
// CHECK-NEXT: %[[TOKENS:.*]] = stg.sample %[[ALL]] <"sample" fwd>
// CHECK-NEXT: stg.send over "tp" shift 1 channel 1 %[[TOKENS]] <"sample" fwd> : !stg.tensor<[B], i32>
stg.symbol @B
stg.mesh @mesh <tp = 5 : tensor>
stg.symbol @tp_index coordinate "tp"
func.func @uneven(%x: !stg.tensor<[B, V = -max(min(tp_index - 3, 1), 0) + 10], bf16>) -> !stg.tensor<[B], i32> {
  %g = stg.all_gather dim 1 over ["tp"] %x {padded = #sym.expr<20*B>, payload = #sym.expr<-2*B*max(min(tp_index - 3, 1), 0) + 20*B>} <"sample" fwd> : !stg.tensor<[B, V = -max(min(tp_index - 3, 1), 0) + 10], bf16> -> !stg.tensor<[B, V = 49], bf16>
  %t = stg.sample %g <"sample" fwd> : !stg.tensor<[B, V = 49], bf16>
  return %t : !stg.tensor<[B], i32>
}
