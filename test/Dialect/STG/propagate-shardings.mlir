// A plan is completed in both directions, rule by rule.
//
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings --mlir-disable-threading | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @F
stg.mesh @mesh <tp = 4, dp = 2>

// From what is known forward through all users.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> !stg.tensor<[B : dp, F : tp], bf16>
func.func @forward(%x: !stg.tensor<[B : dp, D], bf16>) -> !stg.tensor<[B, F], bf16> {
  %w = stg.param "w" : !stg.tensor<[D, F : tp], bf16>
  // CHECK: stg.einsum {{.*}} {factors = #stg.factors<b : dp, f : tp>} : {{.*}} -> !stg.tensor<[B : dp, F : tp], bf16>
  %a = stg.einsum "bd,df->bf" %x, %w : !stg.tensor<[B : dp, D], bf16>, !stg.tensor<[D, F : tp], bf16>
  // CHECK: stg.activation gelu {{.*}} {factors = #stg.factors<d0 : dp, d1 : tp>} : {{.*}} -> !stg.tensor<[B : dp, F : tp], bf16>
  %g = stg.activation gelu %a : !stg.tensor<[B, F], bf16>
  return %g : !stg.tensor<[B, F], bf16>
}

// Back through producers, and sideways into other operands.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: (%{{.*}}: !stg.tensor<[B, F : tp], bf16>)
func.func @backward(%x: !stg.tensor<[B, F], bf16>) -> !stg.tensor<[B, D], bf16> {
  // CHECK: stg.activation gelu {{.*}} {factors = #stg.factors<d1 : tp>}
  %g = stg.activation gelu %x : !stg.tensor<[B, F], bf16>
  %w = stg.param "w" : !stg.tensor<[F : tp, D], bf16>
  // A contracted factor: the op makes partial sums, its result is planned whole.
  // CHECK: stg.einsum {{.*}} {factors = #stg.factors<f : tp>} : !stg.tensor<[B, F : tp], bf16>, !stg.tensor<[F : tp, D], bf16>{{$}}
  %y = stg.einsum "bf,fd->bd" %g, %w : !stg.tensor<[B, F], bf16>, !stg.tensor<[F : tp, D], bf16>
  return %y : !stg.tensor<[B, D], bf16>
}

// All reads of one parameter are one tensor.
// CHECK-LABEL: func.func @one_parameter_twice
func.func @one_parameter_twice(%x: !stg.tensor<[B, D], bf16>) {
  // CHECK: stg.param "w" : !stg.tensor<[D, F : tp], bf16>
  %w = stg.param "w" : !stg.tensor<[D, F : tp], bf16>
  // CHECK: stg.param "w" : !stg.tensor<[D, F : tp], bf16>
  %v = stg.param "w" : !stg.tensor<[D, F], bf16>
  return
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.mesh @mesh <tp = 4> rules [F : tp, S : tp @stream]

// One axis has two claims: the parameter's rule comes first, so the product computes
// with F sharded, and the stream keeps S where no product is.
// CHECK-LABEL: func.func @conflict
func.func @conflict(%x: !stg.tensor<[B, S, D], bf16>) {
  // CHECK: stg.repeat "layers" * 2 carry(%[[C:[a-z_0-9]+]] = %{{.*}} : !stg.tensor<[B, S, D], bf16> as !stg.tensor<[B, S : tp, D], bf16>)
  %y = stg.repeat "layers" * 2 carry(%c = %x : !stg.tensor<[B, S, D], bf16> as !stg.tensor<[B, S : tp, D], bf16>) {
    %w = stg.param "up" : !stg.tensor<[D, F : tp], bf16>
    // CHECK: %[[UP:.*]] = stg.einsum "bsd,df->bsf" %[[C]], %{{.*}} {factors = #stg.factors<f : tp>} : {{.*}} -> !stg.tensor<[B, S, F : tp], bf16>
    %a = stg.einsum "bsd,df->bsf" %c, %w : !stg.tensor<[B, S : tp, D], bf16>, !stg.tensor<[D, F : tp], bf16>
    %v = stg.param "down" : !stg.tensor<[F : tp, D], bf16>
    // CHECK: %[[DOWN:.*]] = stg.einsum "bsf,fd->bsd" %[[UP]], %{{.*}} {factors = #stg.factors<f : tp>} : {{.*}} -> !stg.tensor<[B, S : tp, D], bf16>
    %b = stg.einsum "bsf,fd->bsd" %a, %v : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F : tp, D], bf16>
    // CHECK: stg.add %[[C]], %[[DOWN]] {factors = #stg.factors<d1 : tp>}
    %r = stg.add %c, %b : !stg.tensor<[B, S : tp, D], bf16>, !stg.tensor<[B, S, D], bf16>
    stg.yield %r : !stg.tensor<[B, S, D], bf16>
  }
  return
}

// -----

stg.symbol @B
stg.symbol @D
stg.mesh @mesh <tp = 4> rules [D : tp, B : tp]

// The order of the rules decides, not the order of the ops.
// CHECK-LABEL: func.func @priority
func.func @priority(%x: !stg.tensor<[B : tp, D], bf16>) {
  %w = stg.param "w" : !stg.tensor<[D : tp, 8], bf16>
  // CHECK: stg.einsum {{.*}} {factors = #stg.factors<d : tp>}
  %y = stg.einsum "bd,df->bf" %x, %w : !stg.tensor<[B : tp, D], bf16>, !stg.tensor<[D : tp, 8], bf16>
  return
}

// What a person writes beyond the rules comes before them.
// CHECK-LABEL: func.func @written_by_hand
func.func @written_by_hand(%x: !stg.tensor<[B, D], bf16>) {
  %w = stg.param "w" : !stg.tensor<[D, 8 : tp], bf16>
  %v = stg.param "v" : !stg.tensor<[D : tp, 8], bf16>
  %s = stg.add %w, %v : !stg.tensor<[D, 8 : tp], bf16>, !stg.tensor<[D : tp, 8], bf16>
  // CHECK: stg.add {{.*}} {factors = #stg.factors<d1 : tp>}
  return
}

// -----

stg.symbol @B
stg.symbol @D
stg.symbol @H
stg.symbol @K
stg.mesh @mesh <tp = 4> rules [H : tp, K : tp]

// A whole factor stays whole; query and key heads are one factor; views shard their
// parts together.
// CHECK-LABEL: func.func @heads
func.func @heads(%x: !stg.tensor<[B, 8, D], bf16>) {
  %wn = stg.param "norm" : !stg.tensor<[D], bf16>
  // CHECK: stg.rms_norm %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : !stg.tensor<[B, 8, D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %n, %r = stg.rms_norm %x, %wn : !stg.tensor<[B, 8, D], bf16>, !stg.tensor<[D], bf16>
  %w = stg.param "qkv" : !stg.tensor<[D, H + 2*K : tp, 16], bf16>
  %qkv = stg.einsum "bsd,dhe->bshe" %n, %w : !stg.tensor<[B, 8, D], bf16>, !stg.tensor<[D, H + 2*K : tp, 16], bf16>
  // CHECK: stg.split dim 2 %{{.*}} {factors = #stg.factors<d2 : tp>} : !stg.tensor<[B, 8, H + 2*K : tp, 16], bf16> -> !stg.tensor<[B, 8, H : tp, 16], bf16>, !stg.tensor<[B, 8, K : tp, 16], bf16>, !stg.tensor<[B, 8, K : tp, 16], bf16>
  %q, %k, %v = stg.split dim 2 %qkv : !stg.tensor<[B, 8, H + 2*K, 16], bf16> -> !stg.tensor<[B, 8, H, 16], bf16>, !stg.tensor<[B, 8, K, 16], bf16>, !stg.tensor<[B, 8, K, 16], bf16>
  // CHECK: stg.attention causal {{.*}} {factors = #stg.factors<h : tp>} : {{.*}} -> !stg.tensor<[B, 8, H : tp, 16], bf16>, !stg.tensor<[B, 8, H : tp], f32>
  %o, %lse = stg.attention causal %q, %k, %v : !stg.tensor<[B, 8, H, 16], bf16>, !stg.tensor<[B, 8, K, 16], bf16>, !stg.tensor<[B, 8, K, 16], bf16>
  return
}
