// Optimizer steps read the norm of all gradients, which devices with other parts of them sum
// up: one kernel over all gradients of a device, and one collective.
//
// RUN: stg-opt %s --split-input-file --stg-clip-gradients | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-clip-gradients --mlir-print-op-generic | stg-opt --split-input-file | FileCheck %s

stg.mesh @mesh <tp = 2 : tensor, dp = 4 : data>
!w = !stg.tensor<[64, 8], f32>
!v = !stg.tensor<[8], f32>
!s = !stg.tensor<[128], f32>
!stack = !stg.tensor<[3, 64, 8], f32>

// One gradient is a shard of tp, one a flat shard of dp, one is whole; steps that came before
// the last gradient come after the norm. A loop gets slices of its gradients.
// CHECK-LABEL: func.func @shards
// CHECK-SAME:  (%[[A:.*]]: !stg.tensor<[64, 8], f32> {{.*}}, %[[B:.*]]: !stg.tensor<[64, 8], f32> {{.*}}, %[[C:.*]]: !stg.tensor<[8], f32> {{.*}}, %[[D:.*]]: !stg.tensor<[3, 64, 8], f32>
// CHECK:       %[[W:.*]] = stg.param "w"
// CHECK-NEXT:  %[[S:.*]] = stg.flat_reduce_scatter over ["dp"] %[[B]]
// CHECK-NEXT:  %[[N:.*]] = stg.gradient_norm %[[A]], %[[S]], %[[C]], %[[D]] <"gradient_norm" opt> : !stg.tensor<[64, 8], f32>, !stg.tensor<[128], f32>, !stg.tensor<[8], f32>, !stg.tensor<[3, 64, 8], f32>
// CHECK-NEXT:  %[[ALL:.*]] = stg.all_reduce sum over ["tp", "dp"] %[[N]] <"gradient_norm" opt> : !stg.tensor<[], f32>
// CHECK-NEXT:  stg.adam f32 %[[W]], %[[A]], %[[ALL]] <"w" opt>
// CHECK-NEXT:  %[[U:.*]] = stg.param "u"
// CHECK-NEXT:  stg.sgd %[[U]], %[[S]], %[[ALL]] <"u" opt>
// CHECK-NEXT:  %[[V:.*]] = stg.param "v"
// CHECK-NEXT:  %[[M:.*]] = stg.moment f32 %[[C]], %[[ALL]] <"v" opt>
// CHECK-NEXT:  stg.sgd %[[V]], %[[M]] <"v" opt> :
// CHECK-NEXT:  stg.repeat "layers" * 3 slices(%[[SLICE:.*]] = %[[D]] :
// CHECK-NEXT:    %[[X:.*]] = stg.param "x"
// CHECK-NEXT:    stg.momentum bf16 %[[X]], %[[SLICE]], %[[ALL]] <"x" opt>
func.func @shards(%a: !w {stg.layout = #stg.layout<tp : 0>}, %b: !w {stg.layout = #stg.layout<dp : sum>},
                  %c: !v {stg.layout = #stg.layout<>}, %d: !stack {stg.layout = #stg.layout<>}) {
  %w = stg.param "w" : !w
  %w1 = stg.adam f32 %w, %a <"w" opt> : !w, !w
  %s = stg.flat_reduce_scatter over ["dp"] %b <grad_sync> : !w -> !s
  %u = stg.param "u" : !w
  %u1 = stg.sgd %u, %s <"u" opt> : !w, !s
  %v = stg.param "v" : !v
  %m = stg.moment f32 %c <"v" opt> : !v
  %v1 = stg.sgd %v, %m <"v" opt> : !v, !v
  stg.repeat "layers" * 3 slices(%slice = %d : !stack) <opt> {
    %x = stg.param "x" : !w
    %x1 = stg.momentum bf16 %x, %slice <"x" opt> : !w, !w
    stg.yield
  }
  return
}

// Where all devices have the same, nobody is asked.
// CHECK-LABEL: func.func @nothing_steps
// CHECK-NEXT:  return
func.func @nothing_steps(%a: !w) {
  return
}

// -----
stg.mesh @mesh <dp = 4 : data>
!w = !stg.tensor<[64, 8], f32>

// CHECK-LABEL: func.func @same
// CHECK-SAME:  (%[[A:.*]]: !stg.tensor
// CHECK-NEXT:  %[[N:.*]] = stg.gradient_norm %[[A]] <"gradient_norm" opt> : !stg.tensor<[64, 8], f32>
// CHECK-NEXT:  %[[W:.*]] = stg.param "w"
// CHECK-NEXT:  stg.adam f32 %[[W]], %[[A]], %[[N]] <"w" opt>
func.func @same(%a: !w {stg.layout = #stg.layout<>}) {
  %w = stg.param "w" : !w
  %w1 = stg.adam f32 %w, %a <"w" opt> : !w, !w
  return
}

// -----
stg.mesh @mesh <tp = 2 : tensor, dp = 4 : data, pp = 2 : pipeline>
!w = !stg.tensor<[64, 8], f32>

// Devices of a pipeline have one group: what one of them has divides all.
// CHECK-LABEL: func.func @device0
// CHECK:       stg.all_reduce sum over ["tp", "pp"]
func.func @device0(%a: !w {stg.layout = #stg.layout<>}) {
  %w = stg.param "w" : !w
  %w1 = stg.adam f32 %w, %a <"w" opt> : !w, !w
  return
}
// CHECK-LABEL: func.func @device1
// CHECK:       stg.all_reduce sum over ["tp", "pp"]
func.func @device1(%a: !w {stg.layout = #stg.layout<tp : 1>}) {
  %w = stg.param "v" : !w
  %w1 = stg.adam f32 %w, %a <"v" opt> : !w, !w
  return
}

// A device that steps nothing has a part in it, of zero; what is no device has none.
// CHECK-LABEL: func.func @device2
// CHECK-NEXT:  %[[N:.*]] = stg.gradient_norm <"gradient_norm" opt>
// CHECK-NEXT:  %[[S:.*]] = stg.all_reduce sum over ["tp", "pp"] %[[N]] <"gradient_norm" opt> : !stg.tensor<[], f32>
// CHECK-NEXT:  stg.keep %[[S]] <opt>
// CHECK-NEXT:  return
func.func @device2(%a: !w {stg.layout = #stg.layout<>}) attributes {stg.coordinates = #stg.coordinates<pp = 0>} {
  return
}
// CHECK-LABEL: func.func @task
// CHECK-NEXT:  return
func.func @task(%a: !w) {
  return
}
