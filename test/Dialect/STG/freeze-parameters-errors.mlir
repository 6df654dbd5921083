// Names that nothing has, and what cannot be divided.
//
// RUN: split-file %s %t
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=lairs" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=layer:2" 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=layers:0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=layers:5" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=stacked:1" 2>&1 | FileCheck %s --check-prefix=STACK
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=[u" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not stg-opt %t/model.mlir --stg-freeze-parameters="names=*" --stg-autodiff 2>&1 | FileCheck %s --check-prefix=ALL
//
// NAME: error: freezes 'lairs', but no parameter or repeat has such a name; there are layers, layers/w, v, w, stacked, stacked/v
// REPEAT: error: freezes 'layer', but no repeat has such a name; there are layers, stacked
// NONE: error: 'stg.repeat' op repeats 4 times, which has no first 0 iterations
// MANY: error: 'stg.repeat' op repeats 4 times, which has no first 5 iterations
// STACK: error: 'stg.repeat' op reads or makes stacks, so that its first iterations cannot be a repeat of their own
// PATTERN: error: freezes '[u', which is no pattern:
// ALL: error: 'func.func' op has a loss that depends on no parameter that is trained: all that it depends on are frozen

//--- model.mlir
!x = !stg.tensor<[4], f32>
func.func @f(%x: !x) -> !x {
  %y = stg.repeat "layers" * 4 carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.mul %c, %w : !x, !x
    stg.yield %a : !x
  }
  %z:2 = stg.repeat "stacked" * 4 carry(%c = %y : !x) {
    %v = stg.param "v" : !x
    %a = stg.mul %c, %v : !x, !x
    stg.yield %a, %c : !x, !x
  }
  return %z#0 : !x
}
