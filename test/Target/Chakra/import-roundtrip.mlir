// What was exported, imported and exported again is the same, byte for byte: in
// place changes, tokens, stacks, payloads and groups of several classes.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/one %t/one.mlir
// RUN: stg-translate --traces-to-chakra %t/one/workload.2.et -o %t/one.back.mlir
// RUN: FileCheck %t/one.mlir --input-file=%t/one.back.mlir
// RUN: stg-opt --verify-roundtrip %t/one.back.mlir -o /dev/null
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/again %t/one.back.mlir
// RUN: %python %S/compare.py %t/one %t/again

// A class at a time.
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/two %t/two.mlir
// RUN: stg-translate --traces-to-chakra %t/two/workload.1.et -o %t/first.mlir
// RUN: stg-translate --traces-to-chakra %t/two/workload.6.et -o %t/last.mlir
// RUN: cat %t/first.mlir %t/last.mlir | grep -v -e '^}' -e '^module' > %t/both.mlir
// RUN: FileCheck %t/two.mlir --input-file=%t/both.mlir
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/twice %t/both.mlir
// RUN: %python %S/compare.py %t/two %t/twice

// Transfers: of states and of what was stored, in place, ahead of who reads.
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/host %t/host.mlir
// RUN: stg-translate --traces-to-chakra %t/host/workload.1.et -o %t/host.back.mlir
// RUN: FileCheck %t/host.mlir --input-file=%t/host.back.mlir
// RUN: stg-opt --verify-roundtrip %t/host.back.mlir -o /dev/null
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/host2 %t/host.back.mlir
// RUN: %python %S/compare.py %t/host %t/host2

// What waits for a store of the turn before the last waits for it as for data then: nodes and
// dependencies are the same.
// RUN: stg-compile gpt2-1.5b --dp 2 --batch 4 --micro-batch 1 --seq 64 --set L=4 --offload all -o %t/model
// RUN: stg-translate --traces-to-chakra %t/model/workload.1.et -o %t/model.mlir
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/model2 %t/model.mlir
// RUN: %python %t/same.py %t/model/workload.1.et %t/model2/workload.1.et

//--- one.mlir
!x = !chakra.tensor<1024, activation>
!g = !chakra.tensor<100, gradient>
!w = !chakra.tensor<48, parameter>
// CHECK-LABEL: chakra.graph @ranks mesh = #sym.mesh<tp = 2, cp = 1, dp = 2> {
// CHECK:         %[[X:.*]] = chakra.state "x" : !chakra.tensor<1024, activation>
// CHECK:         %[[W0:.*]] = chakra.state "layers.0.w" : !chakra.tensor<48, parameter>
// CHECK:         %[[W1:.*]] = chakra.state "layers.1.w" : !chakra.tensor<48, parameter>
chakra.graph @ranks mesh = #sym.mesh<tp = 2, cp = 1, dp = 2> {
  %x = chakra.state "x" : !x
  // The padding at the root is taken back.
  // CHECK:       %[[A:.*]] = chakra.comp "a"(%[[X]]) ops(5) bytes(7) : (!chakra.tensor<1024, activation>) -> !chakra.tensor<1024, temporary>
  %a = chakra.comp "a"(%x) ops(5) bytes(7) : (!x) -> !x
  // CHECK:       %[[B:.*]] = chakra.coll all_reduce "a.reduce"(%[[A]]) over ["tp"] in_place :
  %b = chakra.coll all_reduce "a.reduce"(%a) over ["tp"] in_place : (!x) -> !x
  // CHECK:       %[[C:.*]] = chakra.coll all_reduce "b.reduce"(%[[B]]) over ["dp"] in_place :
  %c = chakra.coll all_reduce "b.reduce"(%b) over ["dp"] in_place : (!x) -> !x
  // CHECK:       %[[G0:.*]] = chakra.comp "layers.0.dw"(%[[C]]) ops(1) bytes(1)
  // CHECK:       %[[G1:.*]] = chakra.comp "layers.1.dw"(%[[C]]) ops(1) bytes(1)
  %gs, %ws = chakra.repeat "layers" * 2 -> (!chakra.stack<!g, 2>, !chakra.stack<!w, 2>) {
    %w = chakra.state "w" : !w
    %g = chakra.comp "dw"(%c) ops(1) bytes(1) : (!x) -> !g
    chakra.yield stack(%g, %w : !g, !w)
  }
  // CHECK:       %[[S:.*]]:2 = chakra.coll all_reduce "sync"(%[[G0]], %[[G1]]) over ["tp", "dp"] in_place :
  %s = chakra.coll all_reduce "sync"(%gs) over ["dp", "tp"] in_place : (!chakra.stack<!g, 2>) -> !chakra.stack<!g, 2>
  // What an op changes in place is not in a trace, but who waits for it is.
  // CHECK:       %[[U0:.*]] = chakra.comp "update.0.adam"(%[[S]]#0, %[[W0]]) ops(1) bytes(1) : ({{.*}}) -> !chakra.token
  // CHECK:       %[[U1:.*]] = chakra.comp "update.1.adam"(%[[S]]#1, %[[W1]]) ops(1) bytes(1) : ({{.*}}) -> !chakra.token
  %u = chakra.repeat "update" * 2 slices(%g = %s : !chakra.stack<!g, 2>, %w = %ws : !chakra.stack<!w, 2>) -> !chakra.stack<!w, 2> {
    %v = chakra.comp "adam"(%g) updates(%w : !w) ops(1) bytes(1) : (!g) -> !w
    chakra.yield stack(%v : !w)
  }
  // CHECK:       %[[V:.*]]:2 = chakra.coll all_gather "w.gather"(%[[W0]], %[[W1]]) over ["dp"] after(%[[U0]], %[[U1]] : !chakra.token, !chakra.token) :
  %v = chakra.coll all_gather "w.gather"(%u) over ["dp"] : (!chakra.stack<!w, 2>) -> !chakra.stack<!chakra.tensor<96, communication>, 2>
  // CHECK:       chakra.comp "end"(%[[V]]#0, %[[V]]#1) after(%[[A]] : !chakra.tensor<1024, temporary>) ops(1) bytes(1)
  chakra.comp "end"(%v) after(%a : !x) ops(1) bytes(1) : (!chakra.stack<!chakra.tensor<96, communication>, 2>) -> ()
  // CHECK:       %[[P:.*]] = chakra.coll reduce_scatter "padded"() over ["tp"] payload(3) : () -> !chakra.token
  %p = chakra.coll reduce_scatter "padded"() over ["tp"] payload(3) : () -> !chakra.token
  // CHECK:       chakra.comp "last"() after(%[[P]] : !chakra.token)
  chakra.comp "last"() after(%p : !chakra.token) ops(1) bytes(1) : () -> ()
}

//--- two.mlir
!x = !chakra.tensor<1024, activation>
// CHECK:      chakra.graph @first mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> coordinates = {pp = 0} {
// CHECK:        over ["tp"]
// CHECK:        over ["pp"]
// CHECK:      chakra.graph @last mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> coordinates = {pp = 1} {
// CHECK:        over ["tp", "dp"]
// CHECK:        over ["pp"]
chakra.graph @first mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "tp"(%x) over ["tp"] in_place : (!x) -> !x
  %1 = chakra.coll all_reduce "pp"(%0) over ["pp"] in_place : (!x) -> !x
}
chakra.graph @last mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> coordinates = {pp = 1} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "dp"(%x) over ["dp", "tp"] in_place : (!x) -> !x
  %1 = chakra.coll all_reduce "pp"(%0) over ["pp"] in_place : (!x) -> !x
}

//--- host.mlir
!h = !chakra.tensor<64, host>
!x = !chakra.tensor<64, activation>
!m = !chakra.tensor<64, optimizer>
// CHECK-LABEL: chakra.graph @ranks mesh = #sym.mesh<dp = 2> {
chakra.graph @ranks mesh = #sym.mesh<dp = 2> {
  // CHECK-DAG:   %[[X:.*]] = chakra.state "x" : !chakra.tensor<64, activation>
  // CHECK-DAG:   %[[M:.*]] = chakra.state "moment" : !chakra.tensor<64, host>
  %m = chakra.state "moment" : !h
  %x = chakra.state "x" : !x
  // CHECK:       %[[A:.*]] = chakra.comp "a"
  %a = chakra.comp "a"(%x) ops(5) bytes(7) : (!x) -> !x
  // CHECK:       %[[S:.*]] = chakra.store "a.store"(%[[A]]) : (!chakra.tensor<64, temporary>) -> !chakra.tensor<64, host>
  %s = chakra.store "a.store"(%a) : (!x) -> !h
  %b = chakra.comp "b"(%a) ops(5) bytes(7) : (!x) -> !x
  // CHECK:       %[[L:.*]] = chakra.load "a.load"(%[[S]]) : (!chakra.tensor<64, host>) -> !chakra.tensor<64, temporary>
  %l = chakra.load "a.load"(%s) : (!h) -> !x
  %c = chakra.comp "c"(%b, %l) ops(5) bytes(7) : (!x, !x) -> !x
  // CHECK:       chakra.load "moment.load"(%[[M]])
  %n = chakra.load "moment.load"(%m) : (!h) -> !m
  // CHECK:       %[[D:.*]] = chakra.comp "d"
  %d = chakra.comp "d"(%c, %n) ops(5) bytes(7) : (!x, !m) -> !m
  // CHECK:       %[[M1:.*]] = chakra.store "moment.store"(%[[D]]) into(%[[M]] : !chakra.tensor<64, host>)
  %m1 = chakra.store "moment.store"(%d) into(%m : !h) : (!m) -> !h
  // CHECK:       chakra.load "moment.again"(%[[M1]])
  %n1 = chakra.load "moment.again"(%m1) : (!h) -> !m
  %e = chakra.comp "e"(%n1) ops(5) bytes(7) : (!m) -> !m
}

//--- same.py
import json
import subprocess
import sys


def read(path):
    lines = subprocess.run(["stg-trace", "print", path], check=True, capture_output=True).stdout
    nodes, decoder, text, at = [], json.JSONDecoder(), lines.decode(), 0
    while text[at:].strip():
        value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        nodes.append(value)
    return nodes[1:]


one, two = read(sys.argv[1]), read(sys.argv[2])
assert len(one) == len(two) and any(node["type"] == "MEM_STORE" for node in one)
for left, right in zip(one, two):
    deps = [sorted({*node.pop("data_deps", []), *node.pop("ctrl_deps", [])}) for node in (left, right)]
    assert deps[0] == deps[1], (left, deps)
    assert left == right, (left, right)
