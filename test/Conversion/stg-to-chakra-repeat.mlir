// Repeats: the persistent buffers of layers, what is carried and stacked, and which
// memory category each buffer has.
//
// RUN: stg-opt %s --split-input-file --convert-stg-to-chakra | FileCheck %s

stg.symbol @L
stg.mesh @mesh <dp = 2>
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
!g = !stg.tensor<[8, 8], f32>

// CHECK-LABEL: chakra.graph @step
func.func @step(%x: !x) {
  // The states of all layers come first; every repeat of the name reads slices.
  // CHECK: %[[W:.*]]:4 = chakra.repeat "layers" * L -> (!chakra.stack<!chakra.tensor<128, parameter>, L>, !chakra.stack<!chakra.tensor<256, optimizer>, L>, {{.*}}) {
  // CHECK-NEXT: chakra.state "w" : !chakra.tensor<128, parameter>
  // CHECK-NEXT: chakra.state "w.master" : !chakra.tensor<256, optimizer>
  // CHECK-NEXT: chakra.state "w.exp_avg" : !chakra.tensor<256, optimizer>
  // CHECK-NEXT: chakra.state "w.exp_avg_sq" : !chakra.tensor<256, optimizer>
  // CHECK-NEXT: chakra.yield
  // What backward reads of forward is an activation, and so is what is carried to it.
  // CHECK: %[[E:.*]] = chakra.comp "embed.fwd"({{.*}} -> !chakra.tensor<64, activation>
  %e = stg.activation relu %x <"embed" fwd> : !x
  // CHECK: %[[Y:.*]]:2 = chakra.repeat "layers" * L carry(%[[C:[a-z_0-9]+]] = %[[E]] : {{.*}}) slices(%[[WF:[a-z_0-9]+]] = %[[W]]#0
  %y:2 = stg.repeat "layers" * L carry(%c = %e : !x) <fwd> {
    %w = stg.param "w" : !w
    // CHECK-NEXT: chakra.comp "w.fwd"(%[[C]], %[[WF]]) ops(512) matrix bytes(256) {{.*}} -> !chakra.tensor<64, temporary>
    %a = stg.einsum "bd,df->bf" %c, %w <"w"> : !x, !w
    // CHECK-NEXT: %[[ACT:.*]] = chakra.comp "act.fwd"{{.*}} -> !chakra.tensor<64, activation>
    %b = stg.activation gelu %a <"act"> : !x
    // CHECK-NEXT: chakra.yield carry(%[[ACT]] : {{.*}}) stack(%[[C]] : !chakra.tensor<64, activation>)
    stg.yield %b, %c : !x, !x
  }
  // An immediate that is carried is filled in.
  // CHECK: %[[FILL:.*]] = chakra.comp "layers.bwd.fill"() ops(0) bytes(64) phase "bwd"
  %seed = stg.splat 1/32 : !x
  // CHECK-NEXT: %[[D:.*]]:2 = chakra.repeat "layers" * L reverse carry(%{{.*}} = %[[FILL]] : {{.*}}) slices(%[[S:[a-z_0-9]+]] = %[[Y]]#1 :
  %d:2 = stg.repeat "layers" * L reverse carry(%dc = %seed : !x) slices(%s = %y#1 : !stg.tensor<[layers = L, 4, 8], bf16>) <bwd> {
    // CHECK: chakra.comp "w.bwd.dw"(%[[S]], {{.*}} -> !chakra.tensor<256, gradient>
    %dw = stg.einsum "bd,bf->df" %s, %dc {into = f32} <"w" dw> : !x, !x
    stg.yield %dc, %dw : !x, !g
  }
  // CHECK: %[[R:.*]] = chakra.coll all_reduce {{.*}}(%[[D]]#1) over ["dp"] in_place {{.*}} : (!chakra.stack<!chakra.tensor<256, gradient>, L>) -> !chakra.stack<!chakra.tensor<256, gradient>, L>
  %r = stg.all_reduce sum over ["dp"] %d#1 <"gradients" grad_sync> : !stg.tensor<[layers = L, 8, 8], f32>
  // CHECK: chakra.repeat "layers" * L slices(%[[G:[a-z_0-9]+]] = %[[R]] : {{.*}}, %[[P:[a-z_0-9]+]] = %[[W]]#0 : {{.*}}, %[[M:[a-z_0-9]+]] = %[[W]]#1 : {{.*}}, %[[A1:[a-z_0-9]+]] = %[[W]]#2 : {{.*}}, %[[A2:[a-z_0-9]+]] = %[[W]]#3
  stg.repeat "layers" * L slices(%g = %r : !stg.tensor<[layers = L, 8, 8], f32>) <opt> {
    %w = stg.param "w" : !w
    // CHECK-NEXT: chakra.comp "w.opt"(%[[G]]) updates(%[[P]], %[[M]], %[[A1]], %[[A2]] :
    stg.adam f32 %w, %g <"w"> : !w, !g
  }
  return
}

// -----

stg.symbol @L
!x = !stg.tensor<[4], f32>

// A parameter of fp32 has no master copy; states of nested repeats are stacks of stacks.
// CHECK-LABEL: chakra.graph @nested
func.func @nested(%g: !x) {
  // CHECK: %[[O:.*]]:3 = chakra.repeat "outer" * L
  // CHECK-NEXT: %[[I:.*]]:3 = chakra.repeat "inner" * 2
  // CHECK-NEXT: chakra.state "w" : !chakra.tensor<16, parameter>
  // CHECK-NEXT: chakra.state "w.exp_avg" : !chakra.tensor<8, optimizer>
  // CHECK-NEXT: chakra.state "w.exp_avg_sq" : !chakra.tensor<8, optimizer>
  // CHECK: chakra.yield stack(%[[I]]#0, %[[I]]#1, %[[I]]#2
  // CHECK: chakra.repeat "outer" * L slices(%[[S:[a-z_0-9]+]] = %[[O]]#0 : !chakra.stack<!chakra.stack<!chakra.tensor<16, parameter>, 2>, L>
  // CHECK-NEXT: chakra.repeat "inner" * 2 slices(%[[T:[a-z_0-9]+]] = %[[S]] : !chakra.stack<!chakra.tensor<16, parameter>, 2>
  // CHECK-NEXT: chakra.comp "adam.opt"(%{{.*}}) updates(%[[T]],
  stg.repeat "outer" * L <opt> {
    stg.repeat "inner" * 2 {
      %w = stg.param "w" : !x
      stg.adam bf16 %w, %g : !x, !x
    }
  }
  return
}
