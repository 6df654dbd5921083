// What a task may write over: buffers that its caller gives up. Gradients are reduced in
// their own buffers then, and scattered into a part of them; so there is one copy.
//
// RUN: stg-opt %s --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.mesh @mesh <dp = 4>
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>
!g = !stg.tensor<[D, D], f32>
!s = !stg.tensor<[ceildiv(D*D, 4)], f32>

// CHECK-LABEL: chakra.graph @f
func.func private @backward(%x: !x) -> (!g, !g, !g, !g) attributes {stg.task = #stg.task<backward>} {
  %a = stg.einsum "bi,bj->ij" %x, %x {into = f32} <"a" bwd> : !x, !x
  %b = stg.einsum "bi,bj->ij" %x, %x {into = f32} <"b" bwd> : !x, !x
  %c = stg.einsum "bi,bj->ij" %x, %x {into = f32} <"c" bwd> : !x, !x
  return %a, %b, %c, %c : !g, !g, !g, !g
}

// The caller gives up the first two buffers; the other two arguments are one buffer, which
// each of them reads.
// CHECK:       chakra.func @step
// CHECK:         chakra.coll all_reduce "a.grad_sync.all_reduce"(%{{.*}}) over ["dp"] in_place phase "grad_sync" : (!chakra.tensor<4*D*D, gradient>) -> !chakra.tensor<4*D*D, gradient>
// CHECK:         chakra.coll reduce_scatter "b.grad_sync.reduce_scatter"(%{{.*}}) over ["dp"] in_place payload(16*ceildiv(D*D, 4)) phase "grad_sync" : (!chakra.tensor<4*D*D, gradient>) -> !chakra.tensor<4*D*D, gradient>
// CHECK:         chakra.coll all_reduce "c.grad_sync.all_reduce"(%{{.*}}) over ["dp"] phase "grad_sync" : (!chakra.tensor<4*D*D, gradient>) -> !chakra.tensor<4*D*D, gradient>
// CHECK:         chakra.coll all_reduce "d.grad_sync.all_reduce"(%{{.*}}) over ["dp"] phase "grad_sync" : (!chakra.tensor<4*D*D, gradient>) -> !chakra.tensor<4*D*D, gradient>
// The step reads its shard of the buffer: shard, two moments and master copy in fp32, and
// the parameter.
// CHECK:         chakra.comp "b.opt"
func.func private @step(%a: !g, %b: !g, %c: !g, %d: !g) {
  %ra = stg.all_reduce sum over ["dp"] %a <"a" grad_sync> : !g
  %rb = stg.flat_reduce_scatter over ["dp"] %b <"b" grad_sync> : !g -> !s
  %rc = stg.all_reduce sum over ["dp"] %c <"c" grad_sync> : !g
  %rd = stg.all_reduce sum over ["dp"] %d <"d" grad_sync> : !g
  %wa = stg.param "a" : !w
  %na = stg.adam f32 %wa, %ra <"a" opt> : !w, !g
  %wb = stg.param "b" : !w
  %nb = stg.adam f32 %wb, %rb <"b" opt> : !w, !s
  %wc = stg.param "c" : !w
  %nc = stg.adam f32 %wc, %rc <"c" opt> : !w, !g
  %wd = stg.param "d" : !w
  %nd = stg.adam f32 %wd, %rd <"d" opt> : !w, !g
  return
}

func.func @f(%x: !x {stg.name = "x"}) {
  %g:4 = call @backward(%x) : (!x) -> (!g, !g, !g, !g)
  call @step(%g#0, %g#1, %g#2, %g#3) : (!g, !g, !g, !g) -> ()
  return
}
