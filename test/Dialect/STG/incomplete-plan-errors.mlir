// Rules that have not been applied: neither may their symbols be bound nor collectives
// be inserted.
//
// RUN: stg-opt %s --stg-insert-collectives -verify-diagnostics -o /dev/null
// RUN: not stg-opt %s --stg-bind=F=8 2>&1 | FileCheck %s --check-prefix=BIND
// RUN: stg-opt %s --stg-propagate-shardings --stg-bind=F=8 --stg-insert-collectives | FileCheck %s
// RUN: stg-opt %s --stg-bind=D=8 | FileCheck %s --check-prefix=OTHER

stg.symbol @D
stg.symbol @F
// BIND: [[#@LINE+4]]:1: error: 'stg.mesh' op has rule 'F:tp', which has not been applied and needs symbol 'F'; run --stg-propagate-shardings before binding it
// CHECK: stg.mesh @mesh <tp = 2> rules ["F:tp"] complete
// OTHER: stg.param "w" : !stg.tensor<[8, F : tp], f32>
// expected-error @+1 {{'stg.mesh' op has rules that have not been applied; run --stg-propagate-shardings first}}
stg.mesh @mesh <tp = 2> rules ["F:tp"]

// CHECK: stg.param "w" : !stg.tensor<[D, 4], f32>
func.func @f() {
  %w = stg.param "w" : !stg.tensor<[D, F : tp], f32>
  return
}
