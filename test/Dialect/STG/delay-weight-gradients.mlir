// RUN: stg-opt %s --stg-delay-weight-gradients | FileCheck %s
// RUN: stg-opt %s --stg-delay-weight-gradients --stg-delay-weight-gradients | FileCheck %s
// RUN: not stg-opt %s --stg-delay-weight-gradients="what=experts" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option what

// What gradients of parameters alone are made of goes behind the exchange that sends back what
// experts have made, with its reduction: so does the cast, but not what the gradient of the layer's
// input is made of. What stands before the first exchange, and behind the second one, stays.
//
// CHECK-LABEL: @layers
// CHECK: stg.repeat
// CHECK: <"last" bwd dw>
// CHECK: stg.all_to_all from 1 to 0
// CHECK-NEXT: stg.einsum {{.*}} <"down" bwd dx>
// CHECK-NEXT: stg.activation_grad gelu {{.*}} <"gelu" bwd>
// CHECK-NEXT: stg.einsum {{.*}} <"up" bwd dx>
// CHECK-NEXT: stg.add {{.*}} <"shared" bwd add>
// CHECK-NEXT: stg.all_to_all from 0 to 1
// CHECK-NEXT: %[[CAST:.*]] = stg.cast %{{.*}} {stg.delayed} <"gelu" bwd cast>
// CHECK-NEXT: %[[DOWN:.*]] = stg.einsum "xcf,xcd->xfd" %[[CAST]], %{{.*}} {into = f32, stg.delayed} <"down" bwd dw>
// CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["dp"] %[[DOWN]] <"down" grad_sync dw>
// CHECK-NEXT: %[[UP:.*]] = stg.einsum "xcd,xcf->xdf" %{{.*}}, %{{.*}} {into = f32, stg.delayed} <"up" bwd dw>
// CHECK-NEXT: stg.dispatch_grad
// CHECK-NEXT: stg.einsum {{.*}} {into = f32} <"router" bwd dw>
// CHECK: stg.yield %{{.*}}, %{{.*}}, %[[SUM]], %[[UP]]
stg.symbol @T
stg.symbol @D
stg.symbol @F
stg.symbol @X
stg.symbol @A
stg.symbol @R
stg.mesh @mesh <ep = 2 : expert, dp = 2 : data>
!t = !stg.tensor<[T, D], bf16>
!c = !stg.tensor<[T, A], i32>
!w = !stg.tensor<[T, A], f32>
!choice = !stg.tensor<[T, X], bf16>
!rows = !stg.tensor<[X, R/2, D], bf16>
!own = !stg.tensor<[X/2, R, D], bf16>
!wide = !stg.tensor<[X/2, R, F], bf16>
!wide8 = !stg.tensor<[X/2, R, F], f8E4M3FN>
!down = !stg.tensor<[X/2, F, D], bf16>
!up = !stg.tensor<[X/2, D, F], bf16>
!ddown = !stg.tensor<[X/2, F, D], f32>
!dup = !stg.tensor<[X/2, D, F], f32>
!dlast = !stg.tensor<[D, X], f32>
!downs = !stg.tensor<[layers = 4, X/2, F, D], f32>
!ups = !stg.tensor<[layers = 4, X/2, D, F], f32>
!routers = !stg.tensor<[layers = 4, D, X], f32>
func.func @layers(%o: !rows, %dy: !t, %c: !c, %w: !w, %h: !wide, %x: !own, %r: !choice)
    -> (!t, !dlast, !downs, !ups, !routers) {
  %zero = stg.splat 0 : !dlast
  %dt:5 = stg.repeat "layers" * 4 reverse carry(%dz = %dy : !t, %sum = %zero : !dlast) -> (!t, !dlast, !downs, !ups, !routers) {
    %down = stg.param "down" : !down
    %up = stg.param "up" : !up
    %last = stg.einsum "td,tx->dx" %dz, %r {into = f32} <"last" bwd dw> : !t, !choice
    %total = stg.accumulate %sum, %last <"last" bwd accumulate> : !dlast, !dlast
    %do, %dw = stg.combine_grad %o, %c, %w, %dz <"combine" bwd> : !rows, !c, !w, !t
    %a = stg.all_to_all from 1 to 0 over ["ep"] %do <"combine" bwd> : !rows -> !own
    %cast = stg.cast %h <"gelu" bwd cast> : !wide -> !wide8
    %f = stg.einsum "xcd,xfd->xcf" %a, %down <"down" bwd dx> : !own, !down
    %ddown = stg.einsum "xcf,xcd->xfd" %cast, %a {into = f32} <"down" bwd dw> : !wide8, !own
    %reduced = stg.all_reduce sum over ["dp"] %ddown <"down" grad_sync dw> : !ddown
    %g = stg.activation_grad gelu %h, %f <"gelu" bwd> : !wide, !wide
    %e = stg.einsum "xcf,xdf->xcd" %g, %up <"up" bwd dx> : !wide, !up
    %dup = stg.einsum "xcd,xcf->xdf" %x, %g {into = f32} <"up" bwd dw> : !own, !wide
    %s = stg.add %e, %x <"shared" bwd add> : !own, !own
    %b = stg.all_to_all from 0 to 1 over ["ep"] %s <"dispatch" bwd> : !own -> !rows
    %dx = stg.dispatch_grad %b, %c <"dispatch" bwd> : !rows, !c -> !t
    %drouter = stg.einsum "td,tx->dx" %dx, %r {into = f32} <"router" bwd dw> : !t, !choice
    stg.yield %dx, %total, %reduced, %dup, %drouter : !t, !dlast, !ddown, !dup, !dlast
  }
  return %dt#0, %dt#1, %dt#2, %dt#3, %dt#4 : !t, !dlast, !downs, !ups, !routers
}

// Outside of loops steps of the optimizer are what reads gradients.
//
// CHECK-LABEL: @unrolled
// CHECK: stg.einsum {{.*}} <"down" bwd dx>
// CHECK-NEXT: stg.all_to_all from 0 to 1
// CHECK-NEXT: %[[DOWN:.*]] = stg.einsum {{.*}} {into = f32, stg.delayed} <"down" bwd dw>
// CHECK-NEXT: stg.dispatch_grad
// CHECK-NEXT: stg.adam f32 %{{.*}}, %[[DOWN]]
func.func @unrolled(%o: !rows, %dy: !t, %c: !c, %w: !w, %h: !wide) -> !t {
  %down = stg.param "down" : !down
  %do, %dw = stg.combine_grad %o, %c, %w, %dy <"combine" bwd> : !rows, !c, !w, !t
  %a = stg.all_to_all from 1 to 0 over ["ep"] %do <"combine" bwd> : !rows -> !own
  %ddown = stg.einsum "xcf,xcd->xfd" %h, %a {into = f32} <"down" bwd dw> : !wide, !own
  %f = stg.einsum "xcd,xed->xce" %a, %down <"down" bwd dx> : !own, !down
  %b = stg.all_to_all from 0 to 1 over ["ep"] %a <"dispatch" bwd> : !own -> !rows
  %dx = stg.dispatch_grad %b, %c <"dispatch" bwd> : !rows, !c -> !t
  %next = stg.adam f32 %down, %ddown <"down" opt> : !down, !ddown
  return %dx : !t
}
