// Names of dimensions: by default the symbols of the extent; written where they differ.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @D
stg.symbol @dp
stg.symbol @_

// What is written and agrees with the default is not printed.
//
// CHECK-LABEL: func.func private @default(
// CHECK-SAME: !stg.tensor<[B/dp, (H + 2*K)/dp, B*S, 2, (H + K)/dp, H/dp], f32>
func.func private @default(
    !stg.tensor<[B = B/dp, (K, H) = (H + 2*K)/dp, (S, B, S) = B*S, _ = 2, (H + K)/dp, (H)/dp], f32>)

// CHECK-LABEL: func.func private @other(
// CHECK-SAME: !stg.tensor<[B = 64, T = S, (H, K) = 48, _ = S, "_" = 3, "a b" = 2, ("a b", c) = 2, X = _], f32>
func.func private @other(
    !stg.tensor<[B = 64, T = S, (H, K) = 48, _ = S, "_" = 3, "a b" = 2, (c, "a b") = 2, X = _], f32>)

// A dividend, what is under min and max, and an amount name; what something is divided by does not.
//
// CHECK-LABEL: func.func private @functions(
// CHECK-SAME: !stg.tensor<[ceildiv(S, B), 3*min(B, S)/dp, max(D, ceildiv(S, dp))], f32>
// CHECK-SAME: !stg.tensor<[(B, S) = ceildiv(S, B), B = min(B, S)], f32>
// CHECK-SAME: !stg.tensor<[hits(S, B, 2, D)], f32>
func.func private @functions(
    !stg.tensor<[S = ceildiv(S, B), (B, S) = 3*min(B, S)/dp, (D, S) = max(D, ceildiv(S, dp))], f32>,
    !stg.tensor<[(S, B) = ceildiv(S, B), B = min(B, S)], f32>,
    !stg.tensor<[S = hits(S, B, 2, D)], f32>)

// With axes.
//
// CHECK-LABEL: func.func @axes(
// CHECK-SAME: !stg.tensor<[B = 64 : (dp, tp), T = S, (H, K) = 48 : cp], f32, sum(pp)>
stg.mesh @mesh <tp = 2, dp = dp, cp = 2, pp = 2>
func.func @axes(%x: !stg.tensor<[B = 64 : (dp, tp), T = S, (H, K) = 48 : cp], f32, sum(pp)>) {
  return
}

// As an attribute of its own.
//
// CHECK-LABEL: func.func private @attribute()
// CHECK-SAME: test.a = #stg.dim<B/dp>, test.b = #stg.dim<B = 64>, test.c = #stg.dim<(H, K) = 48>
func.func private @attribute() attributes {
  test.a = #stg.dim<B = B/dp>, test.b = #stg.dim<B = 64>, test.c = #stg.dim<(H, K) = 48>}
