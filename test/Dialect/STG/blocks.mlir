// RUN: stg-opt %s --verify-roundtrip | FileCheck %s --check-prefix=ROUND
// RUN: stg-opt %s --stg-inline-blocks | FileCheck %s
// RUN: stg-opt %s --stg-inline-blocks="config=biased values=wide=true" | FileCheck %s --check-prefix=CONFIG
// RUN: stg-opt %s --stg-inline-blocks --stg-name-ops | FileCheck %s --check-prefix=NAMES

stg.symbol @B
stg.symbol @N
stg.symbol @D
stg.symbol @H
stg.symbol @Hv
stg.option @own_bias : bool = false "of the model"
stg.option @wide : bool = false
stg.config @biased {D = 8, own_bias = true}

!x = !stg.tensor<[B, D], bf16>
!patches = !stg.tensor<[B, N], bf16>
!heads = !stg.tensor<[B, H, E], bf16>

// ROUND: stg.block @project(%arg0: !stg.tensor<[B, D], bf16>) -> !stg.tensor<[B, D], bf16> {
// ROUND-NEXT: stg.symbol @E = D/H "head size"
// ROUND-NEXT: stg.option @bias : bool = false "adds a bias"
// ROUND-NEXT: stg.option @activation : "silu" | "gelu" = "silu"
// ROUND-NEXT: stg.option @prefix : string = ""
stg.block @project(%x: !x) -> !x {
  stg.symbol @E = D/H "head size"
  stg.option @bias : bool = false "adds a bias"
  stg.option @activation : "silu" | "gelu" = "silu"
  stg.option @prefix : string = ""
  %w = stg.param "{prefix}up" : !stg.tensor<[D, H, E], bf16>
  %u = stg.einsum "bd,dhe->bhe" %x, %w : !x, !stg.tensor<[D, H, E], bf16>
  // ROUND: stg.activation silu %{{.*}} {stg.options = {function = "activation"}} <"{prefix}{activation}">
  %h = stg.activation silu %u {stg.options = {function = "activation"}} <"{prefix}{activation}"> : !heads
  %v = stg.param "{prefix}down" : !stg.tensor<[H, E, D], bf16>
  %y = stg.einsum "bhe,hed->bd" %h, %v : !heads, !stg.tensor<[H, E, D], bf16>
  // ROUND: stg.if @bias -> !stg.tensor<[B, D], bf16> {
  // ROUND: } else {
  %z = stg.if @bias -> !x {
    %b = stg.param "{prefix}bias" : !stg.tensor<[D], bf16>
    %o = stg.bias_add %y, %b : !x, !stg.tensor<[D], bf16>
    stg.yield %o : !x
  } else {
    stg.yield %y : !x
  }
  // ROUND: stg.if @activation = "silu" | "gelu" -> !stg.tensor<[B, D], bf16> {
  %s = stg.if @activation = "silu" | "gelu" -> !x {
    stg.yield %z : !x
  } else {
    stg.yield %x : !x
  }
  stg.return %s : !x
}

// A block that calls one: what it is given for `activation` holds there, too.
stg.block @twice(%x: !x) -> !x {
  %a = stg.call @project(%x) : (!x) -> !x
  %b = stg.call @project(%a) {prefix = "second_"} : (!x) -> !x
  stg.return %b : !x
}

// The symbol of that name here, and defaults.
// CHECK-LABEL: func.func private @defaults
// CHECK: stg.param "up" : !stg.tensor<[D, H, E = D/H], bf16>
// CHECK: stg.activation silu %{{.*}} <"silu"> : !stg.tensor<[B, H, E = D/H], bf16>
// CHECK-NOT: stg.bias_add
// CHECK: return
func.func private @defaults(%x: !x) -> !x {
  %y = stg.call @project(%x) : (!x) -> !x
  return %y : !x
}

// A dimension of an operand is what it is, with its names; `=` keeps names, `as` does not.
// CHECK-LABEL: func.func private @patches
// CHECK: stg.param "up" : !stg.tensor<[N, H = Hv, E = 64], bf16>
// CHECK: stg.activation gelu %{{.*}} <"gelu">
// CHECK: stg.param "bias" : !stg.tensor<[N], bf16>
// CHECK: stg.param "image.up" : !stg.tensor<[N, Hv, E = N/Hv], bf16>
// CHECK: stg.activation silu %{{.*}} <"image.silu">
// ROUND-LABEL: func.func private @patches
// ROUND: stg.call @project(%arg0) {E = 64, H = Hv, activation = "gelu", bias = true} : (!stg.tensor<[B, N], bf16>) -> !stg.tensor<[B, N], bf16>
// ROUND: stg.call @project(%0) {H as Hv}<"image"> : (!stg.tensor<[B, N], bf16>) -> !stg.tensor<[B, N], bf16>
func.func private @patches(%x: !patches) -> !patches {
  %y = stg.call @project(%x) {H = Hv, E = 64, bias = true, activation = "gelu"} : (!patches) -> !patches
  %z = stg.call @project(%y) {H as Hv} <"image"> : (!patches) -> !patches
  return %z : !patches
}

// CHECK-LABEL: func.func private @nested
// CHECK: stg.param "up"
// CHECK: stg.activation gelu
// CHECK: stg.param "second_up"
// CHECK: stg.activation gelu %{{.*}} <"second_gelu">
func.func private @nested(%x: !x) -> !x {
  %y = stg.call @twice(%x) {activation = "gelu"} : (!x) -> !x
  return %y : !x
}

// Calls without a name, or with one name, share parameters; others have their own.
// NAMES-LABEL: func.func private @scopes
// NAMES: stg.param "up"
// NAMES: stg.einsum {{.*}} <"up">
// NAMES-NOT: stg.param "up"
// NAMES: stg.einsum {{.*}} <"up.1">
// NAMES: stg.param "a.up"
// NAMES: stg.einsum {{.*}} <"a.up">
// NAMES-NOT: stg.param "a.up"
// NAMES: stg.einsum {{.*}} <"a.up.1">
// NAMES: stg.param "b.inner.up"
// NAMES: stg.einsum {{.*}} <"b.inner.up">
stg.block @scoped(%x: !x) -> !x {
  %y = stg.call @project(%x) <"inner"> : (!x) -> !x
  stg.return %y : !x
}
func.func private @scopes(%x: !x) -> !x {
  %1 = stg.call @project(%x) : (!x) -> !x
  %2 = stg.call @project(%1) : (!x) -> !x
  %3 = stg.call @project(%2) <"a"> : (!x) -> !x
  %4 = stg.call @project(%3) <"a"> : (!x) -> !x
  %5 = stg.call @scoped(%4) <"b"> : (!x) -> !x
  return %5 : !x
}

// A repeat in a block is a scope in that of the call, and its stacks are called like it.
// CHECK-LABEL: func.func private @repeated
// CHECK: %[[R:.*]]:2 = stg.repeat "image.layers" * 2 carry
// CHECK-NEXT: stg.param "w" : !stg.tensor<[D], bf16>
// CHECK: stg.softmax %{{.*}} : !stg.tensor<[image.layers = 2, B, D], bf16>
stg.block @layers(%x: !x) -> !x {
  %y, %all = stg.repeat "layers" * 2 carry(%h = %x : !x) {
    %w = stg.param "w" : !stg.tensor<[D], bf16>
    %z = stg.bias_add %h, %w : !x, !stg.tensor<[D], bf16>
    stg.yield %z, %z : !x, !x
  }
  %s = stg.softmax %all : !stg.tensor<[layers = 2, B, D], bf16>
  stg.return %y : !x
}
func.func private @repeated(%x: !x) -> !x {
  %y = stg.call @layers(%x) <"image"> : (!x) -> !x
  return %y : !x
}

// Options of the module: their defaults, or those of a configuration and of values.
// CHECK-LABEL: func.func @options
// CHECK-NOT: stg.bias_add
// CHECK: stg.activation silu
// CHECK-NOT: stg.add
// CONFIG: stg.option @own_bias : bool = true "of the model"
// CONFIG: stg.option @wide : bool = true
// CONFIG-LABEL: func.func @options
// CONFIG: stg.param "bias"
// CONFIG: stg.add
func.func @options(%x: !x) -> !x {
  %y = stg.call @project(%x) {bias = own_bias} : (!x) -> !x
  %z = stg.if @wide -> !x {
    %s = stg.add %x, %y : !x, !x
    stg.yield %s : !x
  } else {
    stg.yield %y : !x
  }
  return %z : !x
}
// CHECK-NOT: stg.block
