// The mesh, the rules, and what they shard.
//
// RUN: stg-opt %s --stg-parallelize="dp=2 tp=4" | FileCheck %s
// RUN: stg-opt %s --stg-parallelize="dp=2 tp=4 sequence-parallel=true" | FileCheck %s --check-prefix=SP
// RUN: stg-opt %s --stg-parallelize="dp=dp tp=tp rank-order=dp-tp" | FileCheck %s --check-prefix=SYMBOLS
// RUN: stg-opt %s --stg-parallelize="tp=4" | FileCheck %s --check-prefix=TP
// RUN: stg-opt %s --stg-parallelize | FileCheck %s --check-prefix=ONE
// RUN: stg-opt %s --stg-parallelize="dp=2 tp=4 rules=D:tp,F:" | FileCheck %s --check-prefix=RULES
// RUN: stg-opt %s --stg-parallelize="dp=2 tp=4 rules=B:dp,B:tp" | FileCheck %s --check-prefix=BOTH

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @H
stg.symbol @K
stg.symbol @X

// Rules for dimensions that the model lacks (V) are left out.
// CHECK:   stg.mesh @mesh <tp = 4, dp = 2> rules ["B:dp", "H:tp", "K:tp", "F:tp"]
// SP:      stg.mesh @mesh <tp = 4, dp = 2> rules ["B:dp", "H:tp", "K:tp", "F:tp", "S:tp@stream"]
// SYMBOLS: stg.symbol @{{[dt]}}p "parallel degree"
// SYMBOLS: stg.symbol @{{[dt]}}p "parallel degree"
// SYMBOLS: stg.mesh @mesh <dp = dp, tp = tp> rules ["B:dp", "H:tp", "K:tp", "F:tp"]
// TP:      stg.mesh @mesh <tp = 4> rules ["H:tp", "K:tp", "F:tp"]
// ONE:     stg.mesh @mesh <>{{$}}
// RULES:   stg.mesh @mesh <tp = 4, dp = 2> rules ["D:tp", "B:dp", "H:tp", "K:tp"]
// BOTH:    stg.mesh @mesh <tp = 4, dp = 2> rules ["B:dp", "B:tp", "H:tp", "K:tp", "F:tp"]

// Arguments and carried values, not the values in between.
// CHECK-LABEL: func.func @values
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B : dp, S, D], bf16>) -> !stg.tensor<[B : dp, S, D], bf16>
// SP-LABEL: func.func @values
// SP-SAME: (%[[X:.*]]: !stg.tensor<[B : dp, S, D], bf16>) -> !stg.tensor<[B : dp, S : tp, D], bf16>
// ONE-LABEL: func.func @values
// ONE-NOT: :{{ [dt]p}}
// RULES-LABEL: func.func @values
// RULES-SAME: (%{{.*}}: !stg.tensor<[B : dp, S, D : tp], bf16>)
// BOTH-LABEL: func.func @values
// BOTH-SAME: (%{{.*}}: !stg.tensor<[B : (dp, tp), S, D], bf16>)
func.func @values(%x: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, S, D], bf16> {
  // CHECK: stg.add {{.*}}, !stg.tensor<[B : dp, S, D], bf16>{{$}}
  %0 = stg.add %x, %x : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, D], bf16>
  // CHECK: stg.repeat "layers" * 2 carry(%{{.*}} = %{{.*}} : !stg.tensor<[B, S, D], bf16> as !stg.tensor<[B : dp, S, D], bf16>)
  // SP: stg.repeat "layers" * 2 carry(%{{.*}} = %{{.*}} : !stg.tensor<[B, S, D], bf16> as !stg.tensor<[B : dp, S : tp, D], bf16>)
  %y = stg.repeat "layers" * 2 carry(%c = %0 : !stg.tensor<[B, S, D], bf16>) {
    stg.yield %c : !stg.tensor<[B, S, D], bf16>
  }
  return %y : !stg.tensor<[B, S, D], bf16>
}

// CHECK-LABEL: func.func @parameters
// RULES-LABEL: func.func @parameters
func.func @parameters() {
  // CHECK-NEXT: stg.param "up" : !stg.tensor<[D, F : tp], bf16>
  // RULES-NEXT: stg.param "up" : !stg.tensor<[D : tp, F], bf16>
  %0 = stg.param "up" : !stg.tensor<[D, F], bf16>
  // A multiple of a named dimension, and a sum of dimensions that are sharded alike.
  // CHECK-NEXT: stg.param "gate_up" : !stg.tensor<[D, 2*F : tp], bf16>
  %1 = stg.param "gate_up" : !stg.tensor<[D, 2*F], bf16>
  // CHECK-NEXT: stg.param "qkv" : !stg.tensor<[D, H + 2*K : tp], bf16>
  %2 = stg.param "qkv" : !stg.tensor<[D, H + 2*K], bf16>
  // A sum or a product with a dimension that is not is whole; a part has the name of all.
  // CHECK-NEXT: stg.param "mixed" : !stg.tensor<[H + X], bf16>
  %3 = stg.param "mixed" : !stg.tensor<[H + X], bf16>
  // CHECK-NEXT: stg.param "product" : !stg.tensor<[H*X, F/2 : tp], bf16>
  %4 = stg.param "product" : !stg.tensor<[H*X, F/2], bf16>
  // One axis has two claims: the first rule wins. A square has two names.
  // CHECK-NEXT: stg.param "two" : !stg.tensor<[F, H : tp], bf16>
  %5 = stg.param "two" : !stg.tensor<[F, H], bf16>
  // CHECK-NEXT: stg.param "square" : !stg.tensor<[F : tp, G = F], bf16>
  %6 = stg.param "square" : !stg.tensor<[F, G = F], bf16>
  return
}
