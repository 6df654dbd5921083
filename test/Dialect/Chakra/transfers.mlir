// RUN: stg-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: chakra.graph @transfers
chakra.graph @transfers mesh = #sym.mesh<dp = 2> {
  // CHECK: %[[M:.*]] = chakra.state "m" : !chakra.tensor<8*D, host>
  %m = chakra.state "m" : !chakra.tensor<8*D, host>
  // CHECK: %[[D:.*]] = chakra.load "m.load"(%[[M]]) phase "opt" : (!chakra.tensor<8*D, host>) -> !chakra.tensor<8*D, optimizer>
  %d = chakra.load "m.load"(%m) phase "opt" : (!chakra.tensor<8*D, host>) -> !chakra.tensor<8*D, optimizer>
  // CHECK: %[[N:.*]] = chakra.comp "opt"() updates(%[[D]]
  %n = chakra.comp "opt"() updates(%d : !chakra.tensor<8*D, optimizer>) ops(1) bytes(1) : () -> !chakra.tensor<8*D, optimizer>
  // CHECK: chakra.store "m.store"(%[[N]]) into(%[[M]] : !chakra.tensor<8*D, host>) after(%[[D]] : !chakra.tensor<8*D, optimizer>) phase "opt" : (!chakra.tensor<8*D, optimizer>) -> !chakra.tensor<8*D, host>
  %s = chakra.store "m.store"(%n) into(%m : !chakra.tensor<8*D, host>) after(%d : !chakra.tensor<8*D, optimizer>) phase "opt" : (!chakra.tensor<8*D, optimizer>) -> !chakra.tensor<8*D, host>
  // CHECK: %[[STACK:.*]] = chakra.repeat "layers" * 2 -> !chakra.stack<!chakra.tensor<4, host>, 2> {
  %stack = chakra.repeat "layers" * 2 -> !chakra.stack<!chakra.tensor<4, host>, 2> {
    %x = chakra.comp "x"() ops(1) bytes(1) : () -> !chakra.tensor<4, activation>
    // CHECK: chakra.store "x.store"(%{{.*}}) : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, host>
    %h = chakra.store "x.store"(%x) : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, host>
    chakra.yield stack(%h : !chakra.tensor<4, host>)
  }
  chakra.repeat "more" * 2 slices(%h = %stack : !chakra.stack<!chakra.tensor<4, host>, 2>) {
    // CHECK: chakra.load "x.load"(%{{.*}}) ahead 1 : (!chakra.tensor<4, host>) -> !chakra.tensor<4, activation>
    %x = chakra.load "x.load"(%h) ahead 1 : (!chakra.tensor<4, host>) -> !chakra.tensor<4, activation>
    chakra.comp "y"(%x) ops(1) bytes(1) : (!chakra.tensor<4, activation>) -> ()
  }
}
