// Rows whose parts have types of their own: joined, and as many bytes as the parts have.
//
// RUN: stg-opt %s | stg-opt | FileCheck %s
// RUN: stg-opt %s --stg-bind="B=2 S=3 KL=512 ER=64" | FileCheck %s --check-prefix=BOUND

stg.symbol @B
stg.symbol @S
stg.symbol @KL
stg.symbol @ER

!latent = !stg.tensor<[B, S, KL], !stg.scaled<f8E4M3FN scales f32 of [128]>>
!rotary = !stg.tensor<[B, S, ER], bf16>
!rows = !stg.tensor<[B, S, KL + ER], !stg.mixed<[#sym.expr<KL>, #sym.expr<ER>] of !stg.scaled<f8E4M3FN scales f32 of [128]>, bf16>>

// CHECK: stg.concat {{.*}} -> !stg.tensor<[B, S, ER + KL], !stg.mixed<[#sym.expr<KL>, #sym.expr<ER>] of !stg.scaled<f8E4M3FN scales f32 of[128]>, bf16>>
// BOUND: stg.concat {{.*}} -> !stg.tensor<[B = 2, S = 3, (ER, KL) = 576], !stg.mixed<[#sym.expr<512>, #sym.expr<64>] of !stg.scaled<f8E4M3FN scales f32 of[128]>, bf16>>
func.func @join(%c: !latent, %r: !rotary) -> !rows {
  %k = stg.concat dim 2 %c, %r : !latent, !rotary -> !rows
  return %k : !rows
}
