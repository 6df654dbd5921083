// Stages send the two summands of what their last layer adds up, and slices of what all of tp have.
//
// RUN: stg-opt %s --stg-schedule="micro-batches=2 stage-tensors=2" --stg-check-layouts --verify-roundtrip | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: stg-opt %s --stg-schedule="micro-batches=2 stage-slices" --stg-check-layouts | FileCheck %s --check-prefixes=CHECK,SLICE
// RUN: stg-opt %s --stg-schedule="micro-batches=2 stage-tensors=2 stage-slices" --stg-check-layouts | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: not stg-opt %s --stg-schedule="micro-batches=2 stage-tensors=3" 2>&1 | FileCheck %s --check-prefix=THREE
// THREE: error: has 3 tensors for the residual stream, expected 1 or 2

stg.mesh @mesh <tp = 2 : tensor, pp = 3 : pipeline>
!x = !stg.tensor<[B = 2, S = 1, D = 8], bf16>
!w = !stg.tensor<[D = 8, D = 8], bf16>

// The last layer of a stage is a repeat that does not add.
// CHECK: func.func private @f.stage0.forward
// TWO:      %[[R:.*]] = stg.repeat "layers" * 1 carry(
// TWO:        stg.add
// TWO:      %[[L:.*]]:2 = stg.repeat "layers" * 1 from 1 carry(%[[C:.*]] = %[[R]] : {{.*}}, %{{.*}} = %[[R]] :
// TWO-NOT:    stg.add
// TWO:        %[[A:.*]] = stg.einsum
// TWO:        stg.yield %[[C]], %[[A]] :
// TWO:      return %[[L]]#0, %[[L]]#1 :
// SLICE:    %[[S:.*]] = stg.local_slice dim 2 over ["tp"] {{.*}} -> !stg.tensor<[B = 2, S = 1, D = 4], bf16>
// SLICE:    return %[[S]] :
// BOTH-COUNT-2: stg.local_slice dim 2 over ["tp"]

// CHECK: func.func private @f.stage1.forward(%[[X:[a-z0-9]+]]:
// TWO-SAME:  %[[Y:[a-z0-9]+]]:
// TWO-NEXT:  %[[SUM:.*]] = stg.add %[[X]], %[[Y]] <"stage1.sum" fwd>
// TWO-NEXT:  stg.repeat "layers" * 1 from 2 carry(%{{.*}} = %[[SUM]] :
// SLICE-NEXT: stg.all_gather dim 2 over ["tp"] %[[X]] <"stage1.message0" fwd>
// BOTH-COUNT-2: stg.all_gather dim 2 over ["tp"]
// BOTH: stg.add
// BOTH-COUNT-2: stg.local_slice dim 2 over ["tp"]

// CHECK: func.func private @f.stage2.forward
// CHECK: func.func @f.device0
// TWO: stg.send over "pp" shift 1 channel 4 by 2 %{{.*}}#0, %{{.*}}#1 <"stage1" fwd>
// CHECK: func.func @f.device1
func.func @f(%tokens: !x {stg.name = "x", stg.layout = #stg.layout<>}) -> !x {
  %y = stg.repeat "layers" * 6 carry(%c = %tokens : !x) <fwd> {
    %w = stg.param "w" {layout = #stg.layout<>} : !w
    %z = stg.einsum "bsi,ij->bsj" %c, %w <"w" fwd> : !x, !w
    %s = stg.add %c, %z <"sum" fwd> : !x, !x
    stg.yield %s : !x
  }
  %o = stg.mul %y, %y <"out" fwd> : !x, !x
  return %o : !x
}
