// Stages at the ends may have no layers: the first one makes what the first layer reads, forward
// and backward, the last one reads what the last layer makes. What has nothing of that is an
// error.
//
// RUN: stg-opt %s --split-input-file --stg-schedule="layers-per-stage=0,2,0 micro-batches=3" --verify-diagnostics | FileCheck %s

stg.mesh @mesh <pp = 3 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
// CHECK:       func.func private @ends.stage0.forward(%[[IDS:.*]]: !stg.tensor<[4, 8], bf16>) -> !stg.tensor<[4, 8], bf16>
// CHECK-NEXT:    %[[W:.*]] = stg.param "stem"
// CHECK-NEXT:    %[[E:.*]] = stg.einsum "bi,ij->bj" %[[IDS]], %[[W]] <"stem" fwd>
// CHECK-NEXT:    %[[S:.*]] = stg.mul %[[E]], %[[E]] <"scale" fwd>
// CHECK-NEXT:    return %[[S]]
// CHECK:       func.func private @ends.stage1.forward(%[[IN:.*]]: !stg.tensor<[4, 8], bf16>) -> !stg.tensor<[4, 8], bf16>
// CHECK-NEXT:    %[[Y:.*]] = stg.repeat "layers" * 2 carry(%{{.*}} = %[[IN]] :
// CHECK:         return %[[Y]]
// CHECK:       func.func private @ends.stage2.forward(%[[LAST:.*]]: !stg.tensor<[4, 8], bf16>)
// CHECK-NEXT:    stg.mul %[[LAST]], %[[LAST]] <"head" fwd>
// CHECK-NEXT:    return
func.func @ends(%x: !x) {
  %w = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %w <"stem" fwd> : !x, !w
  %s = stg.mul %e, %e <"scale" fwd> : !x, !x
  %y = stg.repeat "layers" * 2 carry(%c = %s : !x) <fwd> {
    %u = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %u <"w" fwd> : !x, !w
    stg.yield %z : !x
  }
  %l = stg.mul %y, %y <"head" fwd> : !x, !x
  return
}

// -----

stg.mesh @mesh <pp = 3 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
// expected-error@+1 {{has nothing to do for pipeline device 0; give its stages layers with layers-per-stage}}
func.func @layers(%x: !x) {
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) <fwd> {
    %u = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %u <"w" fwd> : !x, !w
    stg.yield %z : !x
  }
  return
}
