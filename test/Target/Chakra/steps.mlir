// Steps that differ in sizes: operations, bytes, kernels, tensors, collectives and messages of each.
// RUN: rm -rf %t && stg-translate --chakra-to-traces %s --trace-dir=%t/files
// RUN: stg-trace validate %t/files
// RUN: stg-translate --chakra-to-traces %s --trace-dir=%t/bundle --trace-bundle
// RUN: stg-translate --unbundle %t/bundle/traces.stgb --trace-dir=%t/again
// RUN: cmp %t/files/workload.1.et %t/again/workload.1.et
// RUN: stg-trace print %t/files --rank=0 | FileCheck %s
// RUN: stg-trace stats %t/bundle | FileCheck %s --check-prefix=STATS

// CHECK: "name":"step.2.attention/COMP_NODE"{{.*}}"num_ops","int64_val":100}{{.*}}"exact_tensor_size","int64_val":256}
// CHECK: "name":"step.2.gather/COMM_COLL_NODE"{{.*}}"comm_size","int64_val":1024}
// CHECK: "name":"step.2.send/COMM_SEND_NODE"{{.*}}"comm_size","int64_val":16}
// CHECK: "name":"step.3.attention/COMP_NODE"{{.*}}"num_ops","int64_val":164}{{.*}}"outputs","string_list":["step.3.attention:0","32"]}
// CHECK: "name":"step.3.gather/COMM_COLL_NODE"{{.*}}"comm_size","int64_val":2048}
// CHECK: "name":"step.3.send/COMM_SEND_NODE"{{.*}}"comm_size","int64_val":32}
// CHECK: "name":"step.4.attention/COMP_NODE"{{.*}}"num_ops","int64_val":228}
// CHECK: "name":"step.5.short.0.other/COMP_NODE"{{.*}}"num_ops","int64_val":7}
// CHECK: "name":"step.5.short.1.other/COMP_NODE"{{.*}}"num_ops","int64_val":7}
// CHECK: "name":"step.6.short.1.other/COMP_NODE"{{.*}}"num_ops","int64_val":8}

// STATS: operations  522

!x = !chakra.tensor<64, input>
!y = !chakra.tensor<16*step + 16, temporary>

chakra.graph @all mesh = #sym.mesh<tp = 4> {
  %x = chakra.state "x" : !x
  chakra.repeat "step" * 3 from 2 index "step" {
    %y = chakra.comp "attention"(%x) ops(64*step + 100) matrix bytes(min(step, 1)*8 + 256) : (!x) -> !y
      kernel <attention bf16 -> bf16, [step + 1, 8]>
    %z = chakra.coll all_gather "gather"(%y) over ["tp"] payload(1024*step + 1024) : (!y) -> !chakra.token
    chakra.send "send"(%y) axis "tp" shift 1 channel 0 : (!y)
    %r = chakra.recv "receive" axis "tp" shift -1 channel 0 : !y
  }
  chakra.repeat "step" * 2 from 5 index "step" {
    chakra.repeat "short" * 2 {
      %y = chakra.comp "other"(%x) ops(step + 7) bytes(256) : (!x) -> !x
    }
  }
}
