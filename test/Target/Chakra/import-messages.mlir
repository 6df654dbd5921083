// What was exported with messages, imported and exported again is the same, byte for byte.
// A tag is a channel of its own; the exporter numbers tags in the order of channels.
//
// RUN: rm -rf %t && mkdir %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/one %s
// RUN: stg-translate --traces-to-chakra %t/one/workload.2.et -o %t/first.mlir
// RUN: stg-translate --traces-to-chakra %t/one/workload.4.et -o %t/middle.mlir
// RUN: stg-translate --traces-to-chakra %t/one/workload.6.et -o %t/last.mlir
// RUN: stg-translate --traces-to-chakra %t/one/workload.0.et -o %t/idle.mlir
// RUN: cat %t/first.mlir %t/middle.mlir %t/last.mlir %t/idle.mlir | grep -v -e '^}' -e '^module' > %t/all.mlir
// RUN: FileCheck %s --input-file=%t/all.mlir
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/again %t/all.mlir
// RUN: %python %S/compare.py %t/one %t/again

// A pipeline whose ends share an embedding, and a ring: one class, all ranks alike.
// RUN: stg-compile gpt2-1.5b --set L=4 --batch 8 --micro-batch 1 --pp 4 --dp 2 --zero 2 -o %t/gpt
// RUN: stg-translate --traces-to-chakra %t/gpt/workload.1.et -o %t/gpt0.mlir
// RUN: stg-translate --traces-to-chakra %t/gpt/workload.3.et -o %t/gpt1.mlir
// RUN: stg-translate --traces-to-chakra %t/gpt/workload.4.et -o %t/gpt2.mlir
// RUN: stg-translate --traces-to-chakra %t/gpt/workload.6.et -o %t/gpt3.mlir
// RUN: cat %t/gpt0.mlir %t/gpt1.mlir %t/gpt2.mlir %t/gpt3.mlir | grep -v -e '^}' -e '^module' > %t/gpt.mlir
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/gpt-again %t/gpt.mlir
// RUN: %python %S/compare.py %t/gpt %t/gpt-again
// RUN: stg-compile llama3-8b --set L=2 --batch 1 --seq 64 --cp 4 --cp-comm-type p2p -o %t/ring
// RUN: stg-translate --traces-to-chakra %t/ring/workload.3.et | stg-translate --chakra-to-traces --trace-dir=%t/ring-again
// RUN: %python %S/compare.py %t/ring %t/ring-again

!x = !chakra.tensor<4096, activation>
!g = !chakra.tensor<512, gradient>
// CHECK-LABEL: chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 1} {
chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 1} {
  %x = chakra.state "x" : !x
  %g = chakra.state "g" : !g
  // CHECK: %[[Y:.*]] = chakra.comp "fwd"
  %y = chakra.comp "fwd"(%x) ops(1) bytes(1) : (!x) -> !x
  // CHECK-NEXT: chakra.send "fwd.send"(%[[Y]]) axis "pp" shift 1 channel 0 : (!chakra.tensor<4096, temporary>)
  chakra.send "fwd.send"(%y) axis "pp" shift 1 channel 7 : (!x)
  // Posted with the compute stream, which the importer takes for granted.
  // CHECK-NEXT: %[[D:.*]]:2 = chakra.recv "bwd.recv" axis "pp" shift 1 channel 2 : !chakra.tensor<4096, communication>, !chakra.tensor<512, communication>
  %d:2 = chakra.recv "bwd.recv" axis "pp" shift 1 channel 0 : !x, !g
  // CHECK-NEXT: %[[B:.*]] = chakra.comp "bwd"(%[[D]]#0, %[[D]]#1)
  %b = chakra.comp "bwd"(%d#0, %d#1) ops(1) bytes(1) : (!x, !g) -> !x
  // One that waits for more.
  // CHECK-NEXT: %{{.*}} = chakra.recv "late" axis "pp" shift 2 channel 1 after(%[[B]] : !chakra.tensor<4096, temporary>)
  %l = chakra.recv "late" axis "pp" shift 2 channel 3 after(%b : !x) : !x
  // CHECK: chakra.coll all_reduce "shared"(%{{.*}}) over ["pp"] among [1, 3] in_place
  %s = chakra.coll all_reduce "shared"(%g) over ["pp"] among [1, 3] in_place : (!g) -> !g
}
// CHECK-LABEL: chakra.graph @middle
chakra.graph @middle mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 2} {
  %g = chakra.state "g" : !g
  // CHECK: chakra.recv "fwd.recv" axis "pp" shift -1 channel 0
  %x = chakra.recv "fwd.recv" axis "pp" shift -1 channel 7 : !x
  // Two tensors are one message.
  // CHECK: chakra.send "bwd.send"(%{{.*}}, %{{.*}}) axis "pp" shift -1 channel 2
  chakra.send "bwd.send"(%x, %g) axis "pp" shift -1 channel 0 : (!x, !g)
}
// CHECK-LABEL: chakra.graph @last
chakra.graph @last mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 3} {
  %x = chakra.state "x" : !x
  %g = chakra.state "g" : !g
  chakra.send "late.send"(%x) axis "pp" shift -2 channel 3 : (!x)
  %s = chakra.coll all_reduce "shared"(%g) over ["pp"] among [1, 3] in_place : (!g) -> !g
}
chakra.graph @idle mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 0} {
  chakra.comp "idle"() ops(1) bytes(1) : () -> ()
}
