// Each part of a batch has ops and states of its own, and parts change behind collectives. What
// does not depend on rows is there once.
//
// RUN: stg-opt %s --stg-overlap-batches=parts=2 | FileCheck %s
// RUN: stg-opt %s --stg-overlap-batches=parts=3 | FileCheck %s --check-prefix=THREE
// RUN: stg-opt %s --stg-overlap-batches=parts=1 | FileCheck %s --check-prefix=ONE

stg.symbol @B
stg.symbol @cached
stg.mesh @mesh <tp = 2 : tensor>

!x = !stg.tensor<[B, S = 1, D = 64], bf16>
!k = !stg.tensor<[B, S = cached + 1, D = 64], bf16>
!w = !stg.tensor<[D = 64, F = 64], bf16>
!narrow = !stg.tensor<[D = 64, F = 64], f8E4M3FN>
!h = !stg.tensor<[B, S = 1, F = 64], bf16>
!scale = !stg.tensor<[D = 64], bf16>
!all = !stg.tensor<[layers = 3, B, S = 1, D = 64], bf16>

// CHECK-LABEL: func.func @layers(
// CHECK-SAME: %[[X0:[a-z0-9]*]]: !stg.tensor<[B, S = 1, D = 64], bf16> {stg.layout = #stg.layout<>, stg.name = "part0.x"},
// CHECK-SAME: %[[S:[a-z0-9]*]]: !stg.tensor<[D = 64], bf16> {stg.layout = #stg.layout<>, stg.name = "scale"},
// CHECK-SAME: %[[X1:[a-z0-9]*]]: !stg.tensor<[B, S = 1, D = 64], bf16> {stg.layout = #stg.layout<>, stg.name = "part1.x"})
// CHECK-SAME: -> (!stg.tensor<[B, S = 1, D = 64], bf16>, !stg.tensor<[layers = 3, B, S = 1, D = 64], bf16>, !stg.tensor<[D = 64], bf16>, !stg.tensor<[B, S = 1, D = 64], bf16>, !stg.tensor<[layers = 3, B, S = 1, D = 64], bf16>)
// CHECK: %[[Y:.*]]:5 = stg.repeat "layers" * 3 from 4 carry(%[[C0:.*]] = %[[X0]] : {{[^,]*, [^,]*, [^,]*, [^,]*}}, %[[M:.*]] = %[[S]] : {{[^,]*, [^,]*}}, %[[C1:.*]] = %[[X1]] : {{[^,]*, [^,]*, [^,]*, [^,]*}}) {
// CHECK-NEXT: %[[P:.*]] = stg.param "w"
// CHECK-NEXT: %[[W:.*]] = stg.cast %[[P]] <"widen">
// CHECK-NEXT: stg.cache "part0.k" %[[C0]] {parts = #sym.expr<4>} <"part0.k">
// CHECK-NEXT: %[[A0:.*]] = stg.einsum "bsd,df->bsf" %[[C0]], %[[W]] <"part0.up">
// CHECK-NEXT: %[[G0:.*]] = stg.all_reduce sum over ["tp"] %[[A0]] <"part0.up">
// CHECK-NEXT: %[[R0:.*]] = stg.all_reduce sum over ["tp"] %[[A0]] <"part0.again">
// CHECK-NEXT: stg.cache "part1.k" %[[C1]] {parts = #sym.expr<4>} <"part1.k">
// CHECK-NEXT: %[[A1:.*]] = stg.einsum "bsd,df->bsf" %[[C1]], %[[W]] <"part1.up">
// CHECK-NEXT: %[[G1:.*]] = stg.all_reduce sum over ["tp"] %[[A1]] <"part1.up">
// CHECK-NEXT: %[[R1:.*]] = stg.all_reduce sum over ["tp"] %[[A1]] <"part1.again">
// CHECK-NEXT: %[[Z0:.*]] = stg.mul %[[G0]], %[[R0]] <"part0.gate">
// CHECK-NEXT: %[[D0:.*]] = stg.einsum "bsf,df->bsd" %[[Z0]], %[[W]] <"part0.down">
// CHECK-NEXT: %[[E0:.*]] = stg.all_reduce sum over ["tp"] %[[D0]] <"part0.down">
// CHECK-NEXT: %[[Z1:.*]] = stg.mul %[[G1]], %[[R1]] <"part1.gate">
// CHECK-NEXT: %[[D1:.*]] = stg.einsum "bsf,df->bsd" %[[Z1]], %[[W]] <"part1.down">
// CHECK-NEXT: %[[E1:.*]] = stg.all_reduce sum over ["tp"] %[[D1]] <"part1.down">
// CHECK-NEXT: %[[O0:.*]] = stg.add %[[C0]], %[[E0]] <"part0.add">
// CHECK-NEXT: %[[N:.*]] = stg.mul %[[M]], %[[M]] <"square">
// CHECK-NEXT: %[[O1:.*]] = stg.add %[[C1]], %[[E1]] <"part1.add">
// CHECK-NEXT: stg.yield %[[O0]], %[[N]], %[[O1]], %[[O0]], %[[O1]] :
// CHECK: return %[[Y]]#0, %[[Y]]#3, %[[Y]]#1, %[[Y]]#2, %[[Y]]#4 :

// The parts of a third have their places behind those of the second.
//
// THREE-LABEL: func.func @layers(
// THREE-COUNT-1: stg.cast
// THREE-NOT: stg.cast
// THREE: stg.cache "part2.k"
// THREE: stg.yield %[[O0:[0-9]+]], %[[N:[0-9]+]], %[[O1:[0-9]+]], %[[O2:[0-9]+]], %[[O0]], %[[O1]], %[[O2]] :
// THREE: return %[[Y:[0-9]+]]#0, %[[Y]]#4, %[[Y]]#1, %[[Y]]#2, %[[Y]]#5, %[[Y]]#3, %[[Y]]#6 :

// ONE-LABEL: func.func @layers(
// ONE: stg.cache "k" %{{.*}} {parts = #sym.expr<4>} <"k">
// ONE-COUNT-3: stg.all_reduce
// ONE-NOT: stg.all_reduce
func.func @layers(%x: !x {stg.layout = #stg.layout<>, stg.name = "x"}, %s: !scale {stg.layout = #stg.layout<>, stg.name = "scale"}) -> (!x, !all, !scale) {
  %y, %z, %all = stg.repeat "layers" * 3 from 4 carry(%c = %x : !x, %m = %s : !scale) {
    %p = stg.param "w" : !narrow
    %w = stg.cast %p <"widen"> : !narrow -> !w
    %k = stg.cache "k" %c {parts = #sym.expr<4>} <"k"> : !x -> !k
    %a = stg.einsum "bsd,df->bsf" %c, %w <"up"> : !x, !w
    %g = stg.all_reduce sum over ["tp"] %a <"up"> : !h
    %r = stg.all_reduce sum over ["tp"] %a <"again"> : !h
    %h = stg.mul %g, %r <"gate"> : !h, !h
    %d = stg.einsum "bsf,df->bsd" %h, %w <"down"> : !h, !w
    %e = stg.all_reduce sum over ["tp"] %d <"down"> : !x
    %o = stg.add %c, %e <"add"> : !x, !x
    %n = stg.mul %m, %m <"square"> : !scale, !scale
    stg.yield %o, %n, %o : !x, !scale, !x
  }
  return %y, %all, %z : !x, !all, !scale
}

// What is carried has rows only from the first iteration on, and a loop over parameters alone is
// that of all parts; what was stacked is read by each part as its own.
//
// ONE-LABEL: func.func @loops(
// CHECK-LABEL: func.func @loops(
// CHECK-SAME: %[[X0:[a-z0-9]*]]: {{[^%]*}}, %[[X1:[a-z0-9]*]]:
// CHECK: %[[ZERO:.*]] = stg.splat 0
// CHECK: %[[W:.*]] = stg.repeat "weights" * 2 carry(%{{.*}} = %[[ZERO]] : {{[^,]*, [^,]*}}) {
// CHECK: %[[S:.*]]:4 = stg.repeat "layers" * 3 carry(%[[C0:.*]] = %[[ZERO]] : {{[^,]*, [^,]*}}, %[[C1:.*]] = %[[ZERO]] : {{[^,]*, [^,]*}}) {
// CHECK: %[[Q0:.*]] = stg.einsum "bd,bd->d" %[[X0]], %[[X0]] <"part0.sum">
// CHECK: %[[R0:.*]] = stg.all_reduce sum over ["tp"] %[[Q0]]
// CHECK: %[[Q1:.*]] = stg.einsum "bd,bd->d" %[[X1]], %[[X1]] <"part1.sum">
// CHECK: %[[R1:.*]] = stg.all_reduce sum over ["tp"] %[[Q1]]
// CHECK: %[[T0:.*]] = stg.add %[[C0]], %[[R0]] <"part0.more">
// CHECK: %[[T1:.*]] = stg.add %[[C1]], %[[R1]] <"part1.more">
// CHECK: stg.yield %[[T0]], %[[T1]], %[[T0]], %[[T1]] :
// CHECK: %[[E:.*]]:2 = stg.repeat "again" * 3 carry(%[[D0:.*]] = %[[S]]#0 : {{[^,]*, [^,]*}}, %[[D1:.*]] = %[[S]]#1 : {{[^,]*, [^,]*}}) slices(%[[I0:.*]] = %[[S]]#2 : {{[^,]*, [^,]*, [^,]*}}, %[[I1:.*]] = %[[S]]#3 :
// CHECK: stg.mul %[[D0]], %[[I0]] <"part0.scale">
// CHECK: stg.mul %[[D1]], %[[I1]] <"part1.scale">
// CHECK: return %[[E]]#0, %[[W]], %[[E]]#1 :
func.func @loops(%x: !stg.tensor<[B, D = 64], bf16>) -> (!scale, !scale) {
  %zero = stg.splat 0 <"zero"> : !scale
  %w = stg.repeat "weights" * 2 carry(%c = %zero : !scale) {
    %p = stg.param "p" : !scale
    %a = stg.add %c, %p <"add"> : !scale, !scale
    stg.yield %a : !scale
  }
  %y, %all = stg.repeat "layers" * 3 carry(%c = %zero : !scale) {
    %q = stg.einsum "bd,bd->d" %x, %x <"sum"> : !stg.tensor<[B, D = 64], bf16>, !stg.tensor<[B, D = 64], bf16>
    %r = stg.all_reduce sum over ["tp"] %q <"sum"> : !scale
    %t = stg.add %c, %r <"more"> : !scale, !scale
    stg.yield %t, %t : !scale, !scale
  }
  %e = stg.repeat "again" * 3 carry(%d = %y : !scale) slices(%i = %all : !stg.tensor<[layers = 3, D = 64], bf16>) {
    %m = stg.mul %d, %i <"scale"> : !scale, !scale
    stg.yield %m : !scale
  }
  return %e, %w : !scale, !scale
}
