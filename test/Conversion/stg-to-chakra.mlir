// Ops become compute nodes, collectives collectives, views and immediates nothing.
//
// RUN: stg-opt %s --split-input-file --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
!x = !stg.tensor<[B, 8], bf16>
!h = !stg.tensor<[B, 4], bf16>

// The producer of what is split writes the parts; who reads what is joined reads them.
// CHECK-LABEL: chakra.graph @views mesh = #sym.mesh<> {
func.func @views(%x: !x {stg.name = "x"}) -> !x {
  // CHECK-NEXT: %[[X:.*]] = chakra.state "x" : !chakra.tensor<16*B, input>
  // CHECK-NEXT: %[[A:.*]]:2 = chakra.comp "a.fwd"(%[[X]]) ops(8*B) bytes(32*B) phase "fwd" : (!chakra.tensor<16*B, input>) -> (!chakra.tensor<8*B, temporary>, !chakra.tensor<8*B, temporary>)
  %a = stg.activation relu %x <"a"> : !x
  %p, %q = stg.split dim 1 %a : !x -> !h, !h
  // CHECK-NEXT: %[[G:.*]] = chakra.comp "g.fwd"(%[[A]]#0)
  %g = stg.activation gelu %p <"g"> : !h
  %j = stg.concat dim 1 %g, %q : !h, !h -> !x
  // CHECK-NEXT: chakra.comp "k.fwd"(%[[G]], %[[A]]#1) ops(8*B) bytes(32*B)
  %k = stg.activation relu %j <"k"> : !x
  // CHECK-NEXT: }
  return %k : !x
}

// -----

!x = !stg.tensor<[4, 8], bf16>
!h = !stg.tensor<[4, 4], bf16>

// A part of what cannot be written in parts (an argument) is the whole of it. An
// immediate is not read. Arguments that nobody reads are no buffers.
// CHECK-LABEL: chakra.graph @parts_of_argument
func.func @parts_of_argument(%x: !x, %unused: !x) {
  // CHECK-NEXT: %[[X:.*]] = chakra.state "arg0" : !chakra.tensor<64, input>
  %p, %q = stg.split dim 1 %x : !x -> !h, !h
  %one = stg.splat 1 : !h
  // CHECK-NEXT: chakra.comp "add.fwd"(%[[X]]) ops(16) bytes(64)
  %0 = stg.add %p, %one : !h, !h
  // CHECK-NEXT: }
  return
}

// -----

// CHECK-LABEL: chakra.graph @collectives mesh = #sym.mesh<tp = 2> {
// CHECK-NOT: stg.mesh @
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4, 8], bf16>
!s = !stg.tensor<[2, 8], bf16>
func.func @collectives(%x: !x) {
  // In place, because nobody else reads the operand.
  // CHECK: %[[A:.*]] = chakra.comp "a.fwd"({{.*}} -> !chakra.tensor<64, communication>
  // CHECK-NEXT: %[[R:.*]] = chakra.coll all_reduce "a.fwd.all_reduce"(%[[A]]) over ["tp"] in_place phase "fwd" : (!chakra.tensor<64, communication>) -> !chakra.tensor<64, communication>
  %a = stg.activation relu %x <"a"> : !x
  %r = stg.all_reduce sum over ["tp"] %a <"a"> : !x
  // CHECK-NEXT: %[[B:.*]] = chakra.comp "b.fwd"(%[[R]]){{.*}} -> !chakra.tensor<64, temporary>
  // CHECK-NEXT: %[[S:.*]] = chakra.coll all_reduce "b.fwd.all_reduce"(%[[B]]) over ["tp"] phase "fwd" : (!chakra.tensor<64, temporary>) -> !chakra.tensor<64, communication>
  %b = stg.activation relu %r <"b"> : !x
  %s = stg.all_reduce sum over ["tp"] %b <"b"> : !x
  // CHECK-NEXT: %[[T:.*]] = chakra.comp "t.fwd"(%[[S]], %[[B]])
  %t = stg.add %s, %b <"t"> : !x, !x
  // CHECK-NEXT: %[[RS:.*]] = chakra.coll reduce_scatter "t.fwd.reduce_scatter"(%[[T]]) {{.*}} : (!chakra.tensor<64, temporary>) -> !chakra.tensor<32, communication>
  %rs = stg.reduce_scatter dim 0 over ["tp"] %t <"t"> : !x -> !s
  // CHECK-NEXT: %[[AG:.*]] = chakra.coll all_gather "t.fwd.all_gather"(%[[RS]]) {{.*}} : (!chakra.tensor<32, communication>) -> !chakra.tensor<64, communication>
  %ag = stg.all_gather dim 0 over ["tp"] %rs <"t"> : !s -> !x
  // CHECK-NEXT: chakra.coll all_to_all "t.fwd.all_to_all"(%[[AG]]) {{.*}} : (!chakra.tensor<64, communication>) -> !chakra.tensor<64, communication>
  %aa = stg.all_to_all from 0 to 1 over ["tp"] %ag <"t"> : !x -> !stg.tensor<[8, 4], bf16>
  // A local slice is a view.
  // CHECK-NEXT: chakra.comp "u.fwd"(%[[AG]]) ops(16) bytes(64)
  %ls = stg.local_slice dim 0 over ["tp"] %ag <"t"> : !x -> !s
  %u = stg.activation relu %ls <"u"> : !s
  return
}

// -----

stg.mesh @mesh <dp = 2>
!x = !stg.tensor<[4, 8], bf16>
!h = !stg.tensor<[4, 4], bf16>

// A collective of a value in parts moves the parts; several operands are one node.
// CHECK-LABEL: chakra.graph @several_buffers
func.func @several_buffers(%x: !x) {
  // CHECK: %[[A:.*]]:2 = chakra.comp "a.fwd"
  %a = stg.activation relu %x <"a"> : !x
  %p, %q = stg.split dim 1 %a : !x -> !h, !h
  // CHECK-NEXT: %[[R:.*]]:2 = chakra.coll all_reduce {{.*}}(%[[A]]#0, %[[A]]#1) over ["dp"]
  %r:2 = stg.all_reduce sum over ["dp"] %p, %q : !h, !h
  // CHECK-NEXT: chakra.comp "m.fwd"(%[[R]]#0, %[[R]]#1)
  %m = stg.mul %r#0, %r#1 <"m"> : !h, !h
  return
}

// -----

!z = !stg.tensor<[4, 8], bf16>
!e = !stg.tensor<[4, 8], f32>
!r = !stg.tensor<[4], f32>

// An op that may write its result over an operand that nobody else reads updates it; a
// value that is only kept costs nothing.
// CHECK-LABEL: chakra.graph @overwritten
func.func @overwritten(%z: !z, %m: !r) {
  // CHECK: %[[E:.*]]:2 = chakra.comp "exp_sum.fwd"
  %e, %s = stg.exp_sum %z, %m : !z, !r
  // CHECK-NEXT: chakra.comp "normalize.fwd"(%[[E]]#1) updates(%[[E]]#0 : !chakra.tensor<128, {{.*}}>) ops(32) bytes(272)
  %p = stg.normalize %e, %s : !e, !r
  // CHECK-NEXT: }
  stg.keep %p : !e
  return
}
