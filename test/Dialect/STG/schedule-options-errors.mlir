// Schedules and divisions of the layers that do not fit the program: four layers on two
// pipeline devices.
//
// RUN: not stg-opt %s --stg-schedule="layers-per-stage=4" 2>&1 | FileCheck %s --check-prefix=LIST --implicit-check-not=error:
// LIST: [[#@LINE+36]]:1: error: has 2 pipeline stages, but layers-per-stage lists 1{{$}}
// RUN: not stg-opt %s --stg-schedule="layers-per-stage=5,-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE --implicit-check-not=error:
// NEGATIVE: error: cannot have a pipeline stage of -1 layers{{$}}
// RUN: not stg-opt %s --stg-schedule="layers-per-stage=2,3" 2>&1 | FileCheck %s --check-prefix=SUM --implicit-check-not=error:
// SUM: error: has 4 layers, but layers-per-stage adds up to 5{{$}}
// RUN: not stg-opt %s --stg-schedule="schedule=interleaved virtual-stages=3 micro-batches=2" 2>&1 | FileCheck %s --check-prefix=DIVIDE --implicit-check-not=error:
// DIVIDE: error: has 4 layers, which 6 pipeline stages do not divide; give the layers of each stage with layers-per-stage{{$}}

// RUN: sed 's/"head" fwd/"head" bwd/' %s > %t.mlir
// RUN: not stg-opt %t.mlir --stg-schedule=on-last-device=true 2>&1 | FileCheck %s --check-prefix=LAST --implicit-check-not=error:
// LAST: error: has a backward pass, so it cannot be on the last device alone{{$}}

// A stage between others passes on what they exchange.
// RUN: stg-opt %s --stg-schedule="layers-per-stage=2,0,1,1 schedule=interleaved virtual-stages=2 micro-batches=2" | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: func.func private @f.stage1.forward(%[[X:.*]]: !stg.tensor<[4, 8], bf16>) -> !stg.tensor<[4, 8], bf16>
// BETWEEN-NEXT: return %[[X]]

// RUN: not stg-opt %s --stg-schedule="virtual-stages=2" 2>&1 | FileCheck %s --check-prefix=VIRTUAL --implicit-check-not=error:
// VIRTUAL: error: schedule '1f1b': 1f1b has one virtual stage on each device; 2 were given: use interleaved{{$}}
// RUN: not stg-opt %s --stg-schedule="schedule=interleaved virtual-stages=2 micro-batches=3" 2>&1 | FileCheck %s --check-prefix=ROUNDS --implicit-check-not=error:
// ROUNDS: error: schedule 'interleaved': interleaved needs a number of micro-batches that 2 divides; 3 were given: use 2 or 4{{$}}
// RUN: not stg-opt %s --stg-schedule="schedule=none" 2>&1 | FileCheck %s --check-prefix=NAME --implicit-check-not=error:
// NAME: error: schedule 'none': is not a schedule: use 1f1b, dualpipe-v, gpipe, interleaved, zb-h1, zb-v, or the path of a .json file{{$}}
// RUN: not stg-opt %s --stg-schedule="micro-batches=0" 2>&1 | FileCheck %s --check-prefix=NOTHING --implicit-check-not=error:
// NOTHING: error: schedule '1f1b': a pipeline needs at least one device, one virtual stage for each and one micro-batch{{$}}
// RUN: not stg-opt %s --stg-schedule="micro-batches=4000000000" 2>&1 | FileCheck %s --check-prefix=MANY --implicit-check-not=error:
// MANY: error: schedule '1f1b': 2 devices with 1 virtual stages of 4000000000 micro-batches are too many: their product is at most 4194304{{$}}
// RUN: not stg-opt %s --stg-schedule="schedule=%t.missing.json" 2>&1 | FileCheck %s --check-prefix=FILE --implicit-check-not=error:
// FILE: error: schedule '{{.*}}.missing.json': cannot read the file: No such file or directory{{$}}
// RUN: echo '{"name": "three", "devices": 3, "virtual_stages": 3, "micro_batches": 1, "device_of": [0, 1, 2], "actions": [["F0.0", "B0.0"], ["F1.0", "B1.0"], ["F2.0", "B2.0"]]}' > %t.json
// RUN: not stg-opt %s --stg-schedule="schedule=%t.json" 2>&1 | FileCheck %s --check-prefix=DEVICES --implicit-check-not=error:
// DEVICES: error: schedule '{{.*}}.json': its number of devices is 3, but 2 was asked for: ask for 3 or use another schedule{{$}}

stg.mesh @mesh <pp = 2 : pipeline>
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
func.func @f(%x: !x) {
  %w = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %w <"stem" fwd> : !x, !w
  %y = stg.repeat "layers" * 4 carry(%c = %e : !x) <fwd> {
    %u = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %u <"w" fwd> : !x, !w
    stg.yield %z : !x
  }
  %l = stg.mul %y, %y <"head" fwd> : !x, !x
  return
}
