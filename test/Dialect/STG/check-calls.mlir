// The ops that a program has when all calls are inlined are counted before. @leaf has
// two, @twice two calls of it and a return, the program two calls of that and a
// return: eleven.
//
// RUN: stg-opt %s --stg-check-calls="max-ops=11" --inline --symbol-dce | FileCheck %s
// RUN: stg-opt %s --stg-check-calls="max-ops=9" -verify-diagnostics
// CHECK-COUNT-4: stg.add
// CHECK-NOT: stg.add

stg.symbol @D
!t = !stg.tensor<[D], f32>

func.func private @leaf(%x: !t) -> !t {
  %y = stg.add %x, %x : !t, !t
  return %y : !t
}

func.func private @twice(%x: !t) -> !t {
  %y = func.call @leaf(%x) : (!t) -> !t
  %z = func.call @leaf(%y) : (!t) -> !t
  return %z : !t
}

// Nobody calls it: it is not part of the program.
func.func private @unused(%x: !t) -> !t {
  %y = func.call @program(%x) : (!t) -> !t
  return %y : !t
}

func.func @program(%x: !t) -> !t {
  %y = func.call @twice(%x) : (!t) -> !t
  // expected-error @+1 {{'func.call' op calls 'twice', which makes 5 ops of the program when all calls are inlined; with those before it that is more than the 9 that a program may have: put what is there many times into an stg.repeat, or call fewer functions from one another}}
  %z = func.call @twice(%y) : (!t) -> !t
  return %z : !t
}
