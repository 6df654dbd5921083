// Products of some parameters, and of the first and last layers, keep their operands, or have
// those of another narrow type, forward and backward.
//
// RUN: stg-opt %s --stg-name-ops --stg-cut-layers="at-start=1 at-end=2" \
// RUN:   --stg-narrow-products="keep=gate,out=f8E5M2 type=f4E2M1FN gradients=f4E2M1FN at-start=1 at-end=2" --stg-autodiff \
// RUN:   --stg-narrow-products="keep=gate,out=f8E5M2 type=f4E2M1FN gradients=f4E2M1FN at-start=1 at-end=2" | FileCheck %s
// RUN: not stg-opt %s --stg-name-ops --stg-narrow-products="at-start=1" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not stg-opt %s --stg-name-ops --stg-narrow-products="at-start=4 at-end=3" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not stg-opt %s --stg-name-ops --stg-narrow-products="keep=gat" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not stg-opt %s --stg-name-ops --stg-narrow-products="keep=gate=f8" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: stg-opt %s --stg-name-ops --stg-narrow-products="keep=gat,router keep-if-there" -o /dev/null
// RUN: stg-opt %s --stg-name-ops --stg-narrow-products="keep=router,none" -o /dev/null
// WHOLE: error: 'stg.repeat' op has some of the first 1 or last 0 layers, and others; divide it by --stg-cut-layers
// MANY: error: has 6 layers, but the first 4 and the last 3 are to be apart
// NAME: error: keeps 'gat', which is the name of none of its parameters of products in layers; these are gate, in, out
// TYPE: error: type 'f8' is not f8E4M3FN, f8E5M2 or f4E2M1FN

stg.symbol @B
stg.symbol @D
stg.symbol @L = 6
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// Layers are one, three and two.
// CHECK-LABEL: func.func @f
// CHECK: stg.repeat "layers_0" * 1 carry
// CHECK-NOT: stg.cast
// CHECK: stg.repeat "layers_1" * 3 from 1 carry(%[[X:[a-z0-9_]+]] = %{{.*}} :
// CHECK: %[[X4:.*]] = stg.cast %[[X]] <"in" fwd cast> : !stg.tensor<{{.*}}, bf16> -> !stg.tensor<{{.*}}, f4E2M1FN>
// CHECK: %[[W:.*]] = stg.param "in"
// CHECK: %[[W4:.*]] = stg.cast %[[W]] <"in" fwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f4E2M1FN>
// CHECK: %[[Y:.*]] = stg.einsum "bi,ij->bj" %[[X4]], %[[W4]] {into = bf16} <"in" fwd>
// CHECK: %[[G:.*]] = stg.param "gate"
// CHECK: %[[Z:.*]] = stg.einsum "bi,ij->bj" %[[Y]], %[[G]] <"gate" fwd>
// CHECK: %[[Z8:.*]] = stg.cast %[[Z]] <"out" fwd cast> : {{.*}} -> !stg.tensor<{{.*}}, f8E5M2>
// CHECK: %[[O:.*]] = stg.param "out"
// CHECK: %[[O8:.*]] = stg.cast %[[O]] <"out" fwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f8E5M2>
// CHECK: stg.einsum "bi,ij->bj" %[[Z8]], %[[O8]] {into = bf16} <"out" fwd>
// CHECK: stg.repeat "layers_2" * 2 from 4 carry
// CHECK-NOT: stg.cast
// CHECK: stg.repeat "layers_2" * 2 from 4 reverse
// CHECK-NOT: stg.cast
// CHECK: stg.repeat "layers_1" * 3 from 1 reverse carry(%[[DY:[a-z0-9_]+]] = %{{.*}} :
// CHECK-DAG: stg.cast %[[DY]] <"out" bwd cast_gradient> : {{.*}} -> !stg.tensor<{{.*}}, f8E5M2>
// CHECK-DAG: stg.cast %{{.*}} <"out" bwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f8E5M2>
// CHECK-DAG: stg.einsum "bj,ij->bi" %{{.*}}, %{{.*}} <"gate" bwd dx> : !stg.tensor<{{.*}}, bf16>, !stg.tensor<{{.*}}, bf16>
// CHECK-DAG: stg.einsum "bi,bj->ij" %{{.*}}, %{{.*}} {into = f32} <"gate" bwd dw> : !stg.tensor<{{.*}}, bf16>, !stg.tensor<{{.*}}, bf16>
// CHECK-DAG: stg.cast %{{.*}} <"in" bwd cast_gradient> : {{.*}} -> !stg.tensor<{{.*}}, f4E2M1FN>
// CHECK-DAG: stg.cast %{{.*}} <"in" bwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f4E2M1FN>
// CHECK: stg.repeat "layers_0" * 1 reverse
// CHECK-NOT: stg.cast
// CHECK: return
func.func @f(%x: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "in" : !w
    %a = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    %g = stg.param "gate" : !w
    %b = stg.einsum "bi,ij->bj" %a, %g : !x, !w
    %o = stg.param "out" : !w
    %z = stg.einsum "bi,ij->bj" %b, %o : !x, !w
    stg.yield %z : !x
  }
  return %y : !x
}
