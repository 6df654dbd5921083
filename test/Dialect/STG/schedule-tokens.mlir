// Tokens that the last stage samples are received by the first one in the next step.
//
// RUN: stg-opt %s --stg-schedule="micro-batches=2 sent-tokens=1 received-tokens=1" --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --stg-schedule="micro-batches=2 sent-tokens=1" | FileCheck %s --check-prefix=FIRST --implicit-check-not=into
// RUN: stg-opt %s --stg-schedule="micro-batches=2 received-tokens=1" | FileCheck %s --check-prefix=LAST --implicit-check-not="stg.send over \"pp\" shift -1"
// Several stages of one device: nobody sends them to itself.
// RUN: stg-opt %s --stg-schedule="schedule=zb-v virtual-stages=2 micro-batches=2 sent-tokens=1 received-tokens=1" | FileCheck %s --check-prefix=BOTH --implicit-check-not=into --implicit-check-not=payload
// All of it beside the last stage of another program, over the channel of that.
// RUN: stg-opt %s --stg-schedule="on-last-device micro-batches=2 sent-tokens=3" | FileCheck %s --check-prefix=ALONE --implicit-check-not=device0 --implicit-check-not=stg.recv
// Where that is on the first device, nobody is sent them.
// RUN: stg-opt %s --stg-schedule="on-last-device schedule=zb-v virtual-stages=2 micro-batches=2 sent-tokens=3" | FileCheck %s --check-prefix=SAME --implicit-check-not=device1 --implicit-check-not=stg.send

// CHECK: func.func private @f.stage1.forward({{.*}}) -> !stg.tensor<[B = 2, S = 1], i32>
// CHECK: func.func @f.device0
// CHECK: ^bb0(%[[T:.*]]: !stg.tensor<[B = 2, S = 1], i32>):
// CHECK-NEXT: %[[R:.*]] = stg.recv into %[[T]] : !stg.tensor<[B = 2, S = 1], i32> payload(8) over "pp" shift 1 channel 8 by 2 <"stage0" fwd>
// CHECK-NEXT: func.call @f.stage0.forward(%[[R]])
// CHECK-NEXT: stg.send over "pp" shift 1 channel 4 by 2
// CHECK: func.func @f.device1
// CHECK: %[[S:.*]] = func.call @f.stage1.forward(
// CHECK-NEXT: stg.send over "pp" shift -1 channel 8 by 2 payload(8) %[[S]] <"stage0" fwd>

// FIRST: func.func @f.device0
// FIRST: func.call @f.stage0.forward(%{{.*}}) : (!stg.tensor<[B = 2, S = 1], i32>)
// FIRST: stg.send over "pp" shift -1 channel 8 by 2 payload(8)
// LAST: stg.recv into
// BOTH: func.func @f.device0
// ALONE: func.func @f.device1{{.*}}stg.coordinates = #stg.coordinates<pp = 1>
// ALONE: %[[S:.*]] = func.call @f.stage0.forward(
// ALONE-NEXT: stg.send over "pp" shift -1 channel 8 by 2 payload(24) %[[S]] <"stage0" fwd>
// SAME: func.func @f.device0

stg.mesh @mesh <pp = 2 : pipeline>
!ids = !stg.tensor<[B = 2, S = 1], i32>
!x = !stg.tensor<[B = 2, S = 1, D = 8], bf16>
func.func @f(%tokens: !ids {stg.name = "tokens"}) -> !ids {
  %table = stg.param "table" : !stg.tensor<[V = 16, D = 8], bf16>
  %e = stg.embedding %table, %tokens <"embed" fwd> : !stg.tensor<[V = 16, D = 8], bf16>, !ids
  %y = stg.repeat "layers" * 4 carry(%c = %e : !x) <fwd> {
    %w = stg.param "w" : !stg.tensor<[D = 8, D = 8], bf16>
    %z = stg.einsum "bsi,ij->bsj" %c, %w <"w" fwd> : !x, !stg.tensor<[D = 8, D = 8], bf16>
    %s = stg.add %c, %z <"sum" fwd> : !x, !x
    stg.yield %s : !x
  }
  %l = stg.einsum "bsd,vd->bsv" %y, %table <"head" fwd> : !x, !stg.tensor<[V = 16, D = 8], bf16>
  %t = stg.sample %l <"sample" fwd> : !stg.tensor<[B = 2, S = 1, V = 16], bf16>
  return %t : !ids
}
