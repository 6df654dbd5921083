// The mesh, the rules, and what they shard.
//
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4" | FileCheck %s
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4" --stg-propagate-shardings | FileCheck %s --check-prefix=CHECK-PLAN
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 sequence-parallel=true" | FileCheck %s --check-prefix=SP
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 sequence-parallel=true" --stg-propagate-shardings | FileCheck %s --check-prefix=SP-PLAN
// RUN: stg-opt %s --stg-apply-preset="dp=dp tp=tp rank-order=dp-tp" | FileCheck %s --check-prefix=SYMBOLS
// RUN: stg-opt %s --stg-apply-preset="tp=4" | FileCheck %s --check-prefix=TP
// RUN: stg-opt %s --stg-apply-preset | FileCheck %s --check-prefix=ONE
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=D:tp+,F:" | FileCheck %s --check-prefix=RULES
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=D:tp+,F:" --stg-propagate-shardings | FileCheck %s --check-prefix=RULES-PLAN
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=B:dp,B:tp" | FileCheck %s --check-prefix=BOTH
// RUN: stg-opt %s --stg-apply-preset="dp=2 tp=4 rules=B:dp,B:tp" --stg-propagate-shardings | FileCheck %s --check-prefix=BOTH-PLAN

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @H
stg.symbol @K
stg.symbol @X

// Rules for dimensions that the model lacks (V) are left out.
// CHECK:   stg.mesh @mesh <tp = 4 : tensor, dp = 2 : data> rules [B : dp, H : tp, K : tp, F : tp]
// SP:      stg.mesh @mesh <tp = 4 : tensor, dp = 2 : data> rules [B : dp, H : tp, K : tp, F : tp, S : tp @stream]
// SYMBOLS: stg.symbol @{{[dt]}}p "parallel degree"
// SYMBOLS: stg.symbol @{{[dt]}}p "parallel degree"
// SYMBOLS: stg.mesh @mesh <dp = dp : data, tp = tp : tensor> rules [B : dp, H : tp, K : tp, F : tp]
// TP:      stg.mesh @mesh <tp = 4 : tensor> rules [H : tp, K : tp, F : tp]
// ONE:     stg.mesh @mesh <>{{$}}
// RULES:   stg.mesh @mesh <tp = 4 : tensor, dp = 2 : data> rules [D : tp, B : dp, H : tp, K : tp]
// BOTH:    stg.mesh @mesh <tp = 4 : tensor, dp = 2 : data> rules [B : dp, B : tp, H : tp, K : tp, F : tp]

// Rules shard arguments and carried values, propagation those in between.
// CHECK-PLAN-LABEL: func.func @values
// CHECK-PLAN-SAME: (%[[X:.*]]: !stg.tensor<[B : dp, S, D], bf16>) -> !stg.tensor<[B : dp, S, D], bf16>
// SP-PLAN-LABEL: func.func @values
// SP-PLAN-SAME: (%[[X:.*]]: !stg.tensor<[B : dp, S, D], bf16>) -> !stg.tensor<[B : dp, S : tp, D], bf16>
// ONE-LABEL: func.func @values
// ONE-NOT: :{{ [dt]p}}
// RULES-PLAN-LABEL: func.func @values
// RULES-PLAN-SAME: (%{{.*}}: !stg.tensor<[B : dp, S, D : tp], bf16>)
// BOTH-PLAN-LABEL: func.func @values
// BOTH-PLAN-SAME: (%{{.*}}: !stg.tensor<[B : (dp, tp), S, D], bf16>)
func.func @values(%x: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, S, D], bf16> {
  // CHECK-PLAN: stg.add {{.*}} -> !stg.tensor<[B : dp, S, D], bf16>{{$}}
  %0 = stg.add %x, %x : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, D], bf16>
  // CHECK-PLAN: stg.repeat "layers" * 2 carry(%{{.*}} = %{{.*}} : !stg.tensor<[B : dp, S, D], bf16>)
  // SP-PLAN: stg.repeat "layers" * 2 carry(%{{.*}} = %{{.*}} : !stg.tensor<[B : dp, S, D], bf16> as !stg.tensor<[B : dp, S : tp, D], bf16>)
  %y = stg.repeat "layers" * 2 carry(%c = %0 : !stg.tensor<[B, S, D], bf16>) {
    stg.yield %c : !stg.tensor<[B, S, D], bf16>
  }
  return %y : !stg.tensor<[B, S, D], bf16>
}

// CHECK-PLAN-LABEL: func.func @parameters
// RULES-PLAN-LABEL: func.func @parameters
func.func @parameters() {
  // CHECK-PLAN-NEXT: stg.param "up" : !stg.tensor<[D, F : tp], bf16>
  // RULES-PLAN-NEXT: stg.param "up" : !stg.tensor<[D : tp, F], bf16>
  %0 = stg.param "up" : !stg.tensor<[D, F], bf16>
  // A multiple of a named dimension, and a sum of dimensions that are sharded alike.
  // CHECK-PLAN-NEXT: stg.param "gate_up" : !stg.tensor<[D, 2*F : tp], bf16>
  %1 = stg.param "gate_up" : !stg.tensor<[D, 2*F], bf16>
  // CHECK-PLAN-NEXT: stg.param "qkv" : !stg.tensor<[D, H + 2*K : tp], bf16>
  %2 = stg.param "qkv" : !stg.tensor<[D, H + 2*K], bf16>
  // A sum or a product with a dimension that is not is whole; a part has the name of all.
  // CHECK-PLAN-NEXT: stg.param "mixed" : !stg.tensor<[H + X], bf16>
  %3 = stg.param "mixed" : !stg.tensor<[H + X], bf16>
  // CHECK-PLAN-NEXT: stg.param "product" : !stg.tensor<[H*X, F/2 : tp], bf16>
  %4 = stg.param "product" : !stg.tensor<[H*X, F/2], bf16>
  // One axis has two claims: the first rule wins. A square has two names.
  // CHECK-PLAN-NEXT: stg.param "two" : !stg.tensor<[F, H : tp], bf16>
  %5 = stg.param "two" : !stg.tensor<[F, H], bf16>
  // CHECK-PLAN-NEXT: stg.param "square" : !stg.tensor<[F : tp, G = F], bf16>
  %6 = stg.param "square" : !stg.tensor<[F, G = F], bf16>
  return
}
