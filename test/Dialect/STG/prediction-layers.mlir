// Modules for further tokens have a copy of the last layer, or of the layers that a program names:
// of each the last one of that name. With `repeated` all modules have the parameters of one.

// RUN: stg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(stg-add-prediction-layers{count=2}))' | FileCheck %s
// RUN: stg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(stg-add-prediction-layers{count=2 repeated}))' | FileCheck %s --check-prefix=SAME
// RUN: not stg-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(stg-add-prediction-layers{count=0}))' 2>/dev/null | FileCheck %s --check-prefix=ZERO

stg.symbol @B
!ids = !stg.tensor<[B, 8], i32>
!x = !stg.tensor<[B, 8, 16], bf16>
!w = !stg.tensor<[16, 16], bf16>
!table = !stg.tensor<[V = 100, 16], bf16>
!logits = !stg.tensor<[B, 8, V = 100], bf16>
!loss = !stg.tensor<[B, 8], f32>

// CHECK-LABEL: func.func @named(
// CHECK-SAME: {stg.name = "mtp0.tokens"}
// CHECK-SAME: {stg.name = "mtp0.labels"}
// CHECK-SAME: {stg.name = "mtp1.tokens"}
// CHECK-SAME: {stg.name = "mtp1.labels"}
// CHECK:      stg.repeat "feed_forward"
// CHECK:      %[[H0:.*]] = stg.param "mtp0.hnorm"
// CHECK-NEXT: %[[N0:.*]], %{{.*}} = stg.rms_norm %{{.*}}, %[[H0]] <"mtp0.hnorm">
// CHECK:      %[[P0:.*]] = stg.einsum "bsc,cd->bsd" {{.*}} {stg.in_layer} <"mtp0.eh_proj">
// CHECK-NEXT: %[[M0:.*]] = stg.param "mtp0.mixer.mix"
// CHECK-NEXT: %[[A0:.*]] = stg.einsum "bsd,de->bse" %[[P0]], %[[M0]] {stg.in_layer} <"mtp0.mixer.late_mix">
// CHECK-NEXT: %[[U0:.*]] = stg.param "mtp0.feed_forward.up"
// CHECK-NEXT: %[[F0:.*]] = stg.einsum "bsd,de->bse" %[[A0]], %[[U0]] {stg.in_layer} <"mtp0.feed_forward.up">
// CHECK-NEXT: %[[T0:.*]] = stg.param "table"
// CHECK-NEXT: stg.einsum "bsd,vd->bsv" %[[F0]], %[[T0]] <"mtp0.head">
// CHECK:      %[[H1:.*]] = stg.param "mtp1.hnorm"
// CHECK-NEXT: stg.rms_norm %[[F0]], %[[H1]] <"mtp1.hnorm">
// CHECK:      stg.param "mtp1.mixer.mix"
// CHECK-NEXT: stg.einsum {{.*}} {stg.in_layer} <"mtp1.mixer.late_mix">
// CHECK-NEXT: stg.param "mtp1.feed_forward.up"
// CHECK-NEXT: stg.einsum {{.*}} {stg.in_layer} <"mtp1.feed_forward.up">
// SAME-LABEL: func.func @named(
// SAME:      stg.param "mtp.hnorm"
// SAME-NEXT: stg.rms_norm {{.*}} <"mtp0.hnorm">
// SAME:      stg.param "mtp.mixer.mix"
// SAME-NEXT: stg.einsum {{.*}} <"mtp0.mixer.late_mix">
// SAME:      stg.param "mtp.feed_forward.up"
// SAME:      stg.param "mtp.eh_proj"
// SAME-NEXT: stg.einsum {{.*}} <"mtp1.eh_proj">
// SAME-NEXT: stg.param "mtp.mixer.mix"
// SAME-NEXT: stg.einsum {{.*}} <"mtp1.mixer.late_mix">
// SAME-NEXT: stg.param "mtp.feed_forward.up"
// SAME-NEXT: stg.einsum {{.*}} <"mtp1.feed_forward.up">
func.func @named(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss attributes {stg.module_layers = ["mixer", "feed_forward"]} {
  %table = stg.param "table" : !table
  %x = stg.embedding %table, %tokens <"embedding"> : !table, !ids
  %y = stg.repeat "mixer" * 2 carry(%c = %x : !x) {
    %w = stg.param "mix" : !w
    %p = stg.einsum "bsd,de->bse" %c, %w <"mix"> : !x, !w
    stg.yield %p : !x
  }
  %z = stg.repeat "periods" * 2 carry(%c = %y : !x) {
    %m = stg.repeat "mixer_2" * 1 carry(%d = %c : !x) {
      %w = stg.param "mix" : !w
      %p = stg.einsum "bsd,de->bse" %d, %w <"late_mix"> : !x, !w
      stg.yield %p : !x
    }
    stg.yield %m : !x
  }
  %f = stg.repeat "feed_forward" * 1 carry(%c = %z : !x) {
    %w = stg.param "up" : !w
    %p = stg.einsum "bsd,de->bse" %c, %w <"up"> : !x, !w
    stg.yield %p : !x
  }
  %l = stg.einsum "bsd,vd->bsv" %f, %table <"head"> : !x, !table
  %loss, %probs = stg.cross_entropy %l, %labels <"loss"> : !logits, !ids
  return %loss : !loss
}

// -----

stg.symbol @B
!ids = !stg.tensor<[B, 8], i32>
!x = !stg.tensor<[B, 8, 16], bf16>
!s = !stg.tensor<[B, 8, _ = 4, 16], bf16>
!w = !stg.tensor<[16, 16], bf16>
!table = !stg.tensor<[V = 100, 16], bf16>
!logits = !stg.tensor<[B, 8, V = 100], bf16>
!loss = !stg.tensor<[B, 8], f32>

// Each of several streams is projected, and the embedding is added to each. The layer that nothing reads is of
// modules alone.
//
// CHECK-LABEL: func.func @streams(
// CHECK:      %[[M:.*]] = stg.repeat "mixer" * 3
// CHECK-NOT:  stg.repeat
// CHECK-NOT:  stg.keep
// CHECK:      %[[E:.*]] = stg.embedding %{{.*}}, %{{.*}} <"mtp0.embedding">
// CHECK:      %[[EN:[a-z0-9]+]], %{{.*}} = stg.rms_norm %[[E]], %{{.*}} <"mtp0.enorm">
// CHECK:      %[[EP:.*]] = stg.einsum "bsc,cd->bsd" %[[EN]], %{{.*}} {stg.in_layer} <"mtp0.e_proj">
// CHECK-NEXT: %[[ES:.*]] = stg.broadcast dim 2 %[[EP]] <"mtp0.streams">
// CHECK:      %[[HN:[a-z0-9_]+]], %{{.*}} = stg.rms_norm %[[M]], %{{.*}} <"mtp0.hnorm">
// CHECK:      %[[HP:.*]] = stg.einsum "bsnc,cd->bsnd" %[[HN]], %{{.*}} {stg.in_layer} <"mtp0.h_proj">
// CHECK-NEXT: %[[SUM:.*]] = stg.add %[[HP]], %[[ES]] <"mtp0.eh_sum">
// CHECK-NEXT: %[[W:.*]] = stg.param "mtp0.window"
// CHECK-NEXT: %[[Y:.*]] = stg.einsum "bsad,de->bsae" %[[SUM]], %[[W]] {stg.in_layer} <"mtp0.window">
// CHECK:      stg.rms_norm %[[Y]], %{{.*}} <"mtp1.hnorm">
// ZERO-LABEL: func.func @streams(
// ZERO:       stg.repeat "mixer" * 3
// ZERO-NOT:   stg.repeat
// ZERO-NOT:   stg.keep
// ZERO:       <"loss">
func.func @streams(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss attributes {stg.module_layers = ["window"]} {
  %table = stg.param "table" : !table
  %x = stg.embedding %table, %tokens <"embedding"> : !table, !ids
  %s = stg.broadcast dim 2 %x <"streams"> : !x -> !s
  %y = stg.repeat "mixer" * 3 carry(%c = %s : !s) {
    %w = stg.param "mix" : !w
    %p = stg.einsum "bsad,de->bsae" %c, %w <"mix"> : !s, !w
    stg.yield %p : !s
  }
  %z = stg.repeat "window" * 1 carry(%c = %y : !s) {
    %w = stg.param "window" : !w
    %p = stg.einsum "bsad,de->bsae" %c, %w <"window"> : !s, !w
    stg.yield %p : !s
  }
  stg.keep %z : !s
  %g = stg.param "gate" : !stg.tensor<[_ = 4], bf16>
  %f = stg.einsum "bsad,a->bsd" %y, %g <"sum"> : !s, !stg.tensor<[_ = 4], bf16>
  %l = stg.einsum "bsd,vd->bsv" %f, %table <"head"> : !x, !table
  %loss, %probs = stg.cross_entropy %l, %labels <"loss"> : !logits, !ids
  return %loss : !loss
}

// -----

// Without names it is the last layer, and its names stand alone.

stg.symbol @B
!ids = !stg.tensor<[B, 8], i32>
!x = !stg.tensor<[B, 8, 16], bf16>
!w = !stg.tensor<[16, 16], bf16>
!table = !stg.tensor<[V = 100, 16], bf16>
!logits = !stg.tensor<[B, 8, V = 100], bf16>
!loss = !stg.tensor<[B, 8], f32>

// CHECK-LABEL: func.func @last(
// CHECK: stg.param "mtp0.up"
// CHECK-NEXT: stg.einsum {{.*}} {stg.in_layer} <"mtp0.up">
// SAME-LABEL: func.func @last(
// SAME: stg.param "mtp.up"
// SAME-NEXT: stg.einsum {{.*}} <"mtp0.up">
// SAME: stg.param "mtp.up"
// SAME-NEXT: stg.einsum {{.*}} <"mtp1.up">
func.func @last(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %table = stg.param "table" : !table
  %x = stg.embedding %table, %tokens <"embedding"> : !table, !ids
  %f = stg.repeat "feed_forward" * 2 carry(%c = %x : !x) {
    %w = stg.param "up" : !w
    %p = stg.einsum "bsd,de->bse" %c, %w <"up"> : !x, !w
    stg.yield %p : !x
  }
  %l = stg.einsum "bsd,vd->bsv" %f, %table <"head"> : !x, !table
  %loss, %probs = stg.cross_entropy %l, %labels <"loss"> : !logits, !ids
  return %loss : !loss
}

// -----

stg.symbol @B
!ids = !stg.tensor<[B, 8], i32>
!x = !stg.tensor<[B, 8, 16], bf16>
!w = !stg.tensor<[16, 16], bf16>
!table = !stg.tensor<[V = 100, 16], bf16>
!logits = !stg.tensor<[B, 8, V = 100], bf16>
!loss = !stg.tensor<[B, 8], f32>

// expected-error @+1 {{has no place for layers that predict further tokens: expected an stg.repeat 'attention' of layers that carry the residual stream, which 'stg.module_layers' names}}
func.func @unknown(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss attributes {stg.module_layers = ["attention"]} {
  %table = stg.param "table" : !table
  %x = stg.embedding %table, %tokens <"embedding"> : !table, !ids
  %f = stg.repeat "feed_forward" * 2 carry(%c = %x : !x) {
    %w = stg.param "up" : !w
    %p = stg.einsum "bsd,de->bse" %c, %w <"up"> : !x, !w
    stg.yield %p : !x
  }
  %l = stg.einsum "bsd,vd->bsv" %f, %table <"head"> : !x, !table
  %loss, %probs = stg.cross_entropy %l, %labels <"loss"> : !logits, !ids
  return %loss : !loss
}

// -----

// expected-error @+1 {{has 'stg.module_layers' "attention", expected names of layers, such as ["attention", "experts"], at a 'func.func'}}
func.func @text() attributes {stg.module_layers = "attention"} {
  return
}

// -----

// expected-error @+1 {{has 'stg.module_layers' [], expected names of layers, such as ["attention", "experts"], at a 'func.func'}}
func.func @none() attributes {stg.module_layers = []} {
  return
}

// -----

func.func @elsewhere() {
  // expected-error @+1 {{has 'stg.module_layers' ["attention"], expected names of layers, such as ["attention", "experts"], at a 'func.func'}}
  return {stg.module_layers = ["attention"]}
}
