// Rules that have not been applied: collectives must not be inserted. Propagation takes
// the rules away, whether symbols have been bound before or not.
//
// RUN: stg-opt %s --stg-insert-collectives -verify-diagnostics -o /dev/null
// RUN: stg-opt %s --stg-propagate-shardings --stg-bind=F=8 --stg-insert-collectives | FileCheck %s
// RUN: stg-opt %s --stg-bind=F=8 --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @D
stg.symbol @F
// CHECK: stg.mesh @mesh <tp = 2>{{$}}
// expected-error @+1 {{'stg.mesh' op has rules that have not been applied; run --stg-propagate-shardings first}}
stg.mesh @mesh <tp = 2> rules [F : tp]

// CHECK: stg.param "w" {layout = #stg.layout<tp : 1>} : !stg.tensor<[D, F = 4], f32>
func.func @f() {
  %w = stg.param "w" : !stg.tensor<[D, F : tp], f32>
  return
}
