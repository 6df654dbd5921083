// Buckets of a limited size need sizes that are numbers.
//
// RUN: stg-opt %s --stg-bucket-gradients="bucket-bytes=1024" -verify-diagnostics
// RUN: stg-opt %s --stg-bucket-gradients | FileCheck %s
// CHECK: stg.all_reduce sum over ["dp"] %arg0, %arg1

stg.symbol @D
stg.mesh @mesh <dp = 2>
!g = !stg.tensor<[D], f32>
func.func @f(%a: !g, %b: !g) {
  // expected-error @+1 {{'stg.all_reduce' op has an operand of 4*D bytes; buckets of a limited size need numbers, bind the symbols first}}
  %0 = stg.all_reduce sum over ["dp"] %a <grad_sync> : !g
  %1 = stg.all_reduce sum over ["dp"] %b <grad_sync> : !g
  %w = stg.param "w" : !g
  %n0 = stg.adam f32 %w, %0 <opt> : !g, !g
  %v = stg.param "v" : !g
  %n1 = stg.adam f32 %v, %1 <opt> : !g, !g
  return
}
