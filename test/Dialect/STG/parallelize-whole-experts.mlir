// Experts over tp, cp and a part of dp instead of divided by tp.
//
// RUN: stg-opt %s --stg-apply-preset="tp=2 dp=4 ep=4 etp=1 sequence-parallel=true" | FileCheck %s
// RUN: stg-opt %s --stg-apply-preset="tp=2 dp=4 ep=4 etp=1 sequence-parallel=true" --stg-propagate-shardings | FileCheck %s --check-prefix=CHECK-PLAN
// RUN: stg-opt %s --stg-apply-preset="tp=2 cp=2 dp=4 ep=2 etp=1 sequence-parallel=true" | FileCheck %s --check-prefix=PREFIX
// RUN: stg-opt %s --stg-apply-preset="tp=2 dp=4 ep=1 etp=1 sequence-parallel=true" | FileCheck %s --check-prefix=NONE
// RUN: not stg-opt %s --stg-apply-preset="tp=4 ep=2 etp=1 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=DIVIDES
// DIVIDES: error: etp=1: ep=2 is not divisible by tp=4; experts are divided over tp, then cp, then a part of dp
// RUN: not stg-opt %s --stg-apply-preset="tp=2 cp=2 dp=4 ep=6 etp=1 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=CONTEXT
// CONTEXT: error: etp=1: ep=6 is not divisible by tp=2 times cp=2; experts are divided over tp, then cp, then a part of dp
// RUN: not stg-opt %s --stg-apply-preset="tp=4 etp=2 sequence-parallel=true" 2>&1 | FileCheck %s --check-prefix=DEGREE
// DEGREE: error: etp=2: expected 1 or the degree of tp=4
// RUN: not stg-opt %s --stg-apply-preset="tp=4 ep=4 etp=1" 2>&1 | FileCheck %s --check-prefix=TOKENS
// TOKENS: error: etp=1: whole experts are divided over tp, whose ranks must have different tokens; add sequence_parallel

stg.symbol @B
stg.symbol @S
stg.symbol @F
stg.symbol @X

// The order matters: the router computes tokens over these axes before experts claim them.
// CHECK: stg.mesh @mesh <tp = 2 : tensor, ep = 2 : expert, edp = 2 : data> rules [B : edp, B : ep, S : tp @stream, X : ep, X : tp]
// PREFIX: stg.mesh @mesh <tp = 2 : tensor, cp = 2 : context, dp = 4 : data> rules [B : dp, S : cp, S : tp @stream, X : tp]
// NONE: stg.mesh @mesh <tp = 2 : tensor, dp = 4 : data> rules [B : dp, S : tp @stream]
func.func @f(%x: !stg.tensor<[B, S], bf16>) {
  // CHECK-PLAN: stg.param "expert" : !stg.tensor<[X : (ep, tp), F], bf16>
  %w = stg.param "expert" : !stg.tensor<[X, F], bf16>
  %y = stg.repeat "layers" * 2 carry(%c = %x : !stg.tensor<[B, S], bf16>) {
    stg.yield %c : !stg.tensor<[B, S], bf16>
  }
  return
}
