// Devices that divide the batch have requests of their own: types of their rows, and how many
// requests of a kind they have, mention their coordinate; what has been gathered is what all have.
//
// RUN: stg-opt %s --stg-load-requests="requests=(1,9),2*(3,4);(5,0);(5,0);4*(1,9) rows=exact" | FileCheck %s
// RUN: stg-opt %s --stg-load-requests="requests=(1,9),2*(3,4);(5,0);(5,0);4*(1,9)" | FileCheck %s --check-prefix=PADDED
// Devices whose lists are equal do not differ.
// RUN: stg-opt %s --stg-load-requests="requests=(1,9),(3,4);(3,4),(1,9);(1,9),(3,4);(1,9),(3,4) rows=exact" \
// RUN:   | FileCheck %s --check-prefix=EQUAL
// EQUAL-NOT: coordinate

stg.symbol @B
stg.symbol @S
stg.symbol @D = 8
stg.symbol @requests0 "tokens of a request"
stg.symbol @requests1 "tokens of a request"
stg.symbol @requests2 "tokens of a request"
stg.mesh @mesh <dp = 2 : data, ddp = 2 : data>

// CHECK-NOT: @requests
// CHECK-DAG: stg.symbol @dp_index coordinate "dp"
// CHECK-DAG: stg.symbol @ddp_index coordinate "ddp"

// Devices have 7, 5, 5 and 4 tokens. What is gathered over both axes are all 21; what is gathered
// over the first one 12 or 9.
//
// CHECK-LABEL: func @gather
// PADDED-LABEL: func @gather
// EQUAL-LABEL: func @gather
func.func @gather(%x: !stg.tensor<[B/4, S, D], bf16> {stg.layout = #stg.layout<dp : 0, ddp : 0>}) -> !stg.tensor<[B/4, S, D], bf16> {
  // CHECK: stg.all_gather dim 0 over ["dp", "ddp"] {{.*}} {padded = #sym.expr<14*D>, payload = #sym.expr<{{.*}}dp_index{{.*}}>}
  // CHECK-SAME: -> !stg.tensor<[B = 1, S = 21, D], bf16>
  // PADDED: stg.all_gather dim 0 over ["dp", "ddp"] {{.*}} {payload = #sym.expr<14*D>}
  // PADDED-SAME: -> !stg.tensor<[B = 4, S = 7, D], bf16>
  // EQUAL: stg.all_gather dim 0 over ["dp", "ddp"] {{.*}} {payload = #sym.expr<8*D>}
  // EQUAL-SAME: !stg.tensor<[B = 1, S = 4, D], bf16> -> !stg.tensor<[B = 1, S = 16, D], bf16>
  %g = stg.all_gather dim 0 over ["dp", "ddp"] %x : !stg.tensor<[B/4, S, D], bf16> -> !stg.tensor<[B, S, D], bf16>
  // CHECK: stg.reduce_scatter dim 0 over ["dp", "ddp"] {{.*}} {padded = #sym.expr<56*D>, payload = #sym.expr<42*D>}
  // PADDED: stg.reduce_scatter dim 0 over ["dp", "ddp"] {{.*}} {payload = #sym.expr<56*D>}
  %y = stg.reduce_scatter dim 0 over ["dp", "ddp"] %g : !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[B/4, S, D], bf16>
  // CHECK: stg.all_gather dim 0 over ["dp"] {{.*}} -> !stg.tensor<[B = 1, S = -3*max(min(ddp_index, 1), 0) + 12, D], bf16>
  %h = stg.all_gather dim 0 over ["dp"] %y : !stg.tensor<[B/4, S, D], bf16> -> !stg.tensor<[B/2, S, D], bf16>
  return %y : !stg.tensor<[B/4, S, D], bf16>
}

// A cache has the keys of the requests that the device has: 9 + 8 cached ones, none, none, 36.
//
// CHECK-LABEL: func @requests
func.func @requests(%x: !stg.tensor<[B/4, S, K = 2, E = 8], bf16> {stg.layout = #stg.layout<dp : 0, ddp : 0>}) {
  // CHECK: stg.cache "k" {{.*}} -> !stg.tensor<[B = 1, S = {{.*}}dp_index{{.*}}, K = 2, E = 8], bf16>
  %k = stg.cache "k" %x : !stg.tensor<[B/4, S, K = 2, E = 8], bf16> -> !stg.tensor<[B/4, S = S + 9*requests0 + 4*requests1, K = 2, E = 8], bf16>
  // CHECK: stg.attention {{.*}}{requests = #stg.requests<[{{.*}}dp_index{{.*}}] * (1, 9), [{{.*}}] * (3, 4), [{{.*}}] * (5, 0)>
  %a, %l = stg.attention causal %x, %k, %k {requests = #stg.requests<[requests0] * (1, 9), [requests1] * (3, 4), [requests2] * (5, 0)>} : !stg.tensor<[B/4, S, K = 2, E = 8], bf16>, !stg.tensor<[B/4, S = S + 9*requests0 + 4*requests1, K = 2, E = 8], bf16>, !stg.tensor<[B/4, S = S + 9*requests0 + 4*requests1, K = 2, E = 8], bf16>
  return
}

// A constant has the rows of what it is multiplied with: those of a device, or of all.
//
// CHECK-LABEL: func @constants
func.func @constants(%x: !stg.tensor<[B/4, S, D], bf16> {stg.layout = #stg.layout<dp : 0, ddp : 0>}) -> !stg.tensor<[B, S, D], bf16> {
  // CHECK: %[[OWN:.*]] = stg.splat 2 : !stg.tensor<[B = 1, S = {{.*}}dp_index{{.*}}, D], bf16>
  %c = stg.splat 2 : !stg.tensor<[B/4, S, D], bf16>
  // CHECK: stg.mul %{{.*}}, %[[OWN]]
  %y = stg.mul %x, %c : !stg.tensor<[B/4, S, D], bf16>, !stg.tensor<[B/4, S, D], bf16>
  %g = stg.all_gather dim 0 over ["dp", "ddp"] %y : !stg.tensor<[B/4, S, D], bf16> -> !stg.tensor<[B, S, D], bf16>
  // CHECK: %[[ALL:.*]] = stg.splat 2 : !stg.tensor<[B = 1, S = 21, D], bf16>
  %d = stg.splat 2 : !stg.tensor<[B, S, D], bf16>
  // CHECK: stg.mul %{{.*}}, %[[ALL]]
  %z = stg.mul %g, %d : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, D], bf16>
  return %z : !stg.tensor<[B, S, D], bf16>
}
