// Names of nodes: NAME.PHASE[.ROLE][.COLLECTIVE], a second one of a scope numbered.
//
// RUN: stg-opt %s --convert-stg-to-chakra | FileCheck %s

stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[4], bf16>

// CHECK-LABEL: chakra.graph @names
func.func @names(%x: !x {stg.name = "tokens"}) {
  // CHECK-NEXT: chakra.state "tokens"
  // CHECK-NEXT: chakra.comp "add.fwd"(
  %0 = stg.add %x, %x : !x, !x
  // CHECK-NEXT: chakra.comp "add.fwd.1"(
  %1 = stg.add %0, %x : !x, !x
  // CHECK-NEXT: chakra.comp "q.bwd.dx"(
  %2 = stg.add %1, %x <"q" bwd dx> : !x, !x
  // CHECK-NEXT: chakra.coll all_reduce "q.bwd.dx.all_reduce"(
  %3 = stg.all_reduce sum over ["tp"] %2 <"q" bwd dx> : !x
  // CHECK-NEXT: chakra.coll all_reduce "q.bwd.dx.all_reduce.1"(
  %4 = stg.all_reduce sum over ["tp"] %3 <"q" bwd dx> : !x
  // A repeat is a scope, and its phase that of its ops.
  // CHECK-NEXT: chakra.repeat "layers" * 3
  %5 = stg.repeat "layers" * 3 carry(%c = %4 : !x) <opt> {
    // CHECK-NEXT: chakra.comp "add.opt"({{.*}}phase "opt"
    %6 = stg.add %c, %c : !x, !x
    stg.yield %6 : !x
  }
  // The same scope again: names go on.
  // CHECK: chakra.repeat "layers" * 3
  %7 = stg.repeat "layers" * 3 carry(%c = %5 : !x) <opt> {
    // CHECK-NEXT: chakra.comp "add.opt.1"(
    %8 = stg.add %c, %c : !x, !x
    stg.yield %8 : !x
  }
  return
}
