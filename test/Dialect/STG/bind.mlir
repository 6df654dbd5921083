// Numbers for symbols, at every level; what is not bound stays.
//
// RUN: stg-opt %s --stg-bind="S=4096 tp=8" | FileCheck %s
// RUN: stg-opt %s --stg-bind=config=small | FileCheck %s --check-prefix=CONFIG
// RUN: stg-opt %s --stg-bind="config=small D=64" | FileCheck %s --check-prefix=OVER
// RUN: stg-opt %s --stg-bind=defaults=true | FileCheck %s --check-prefix=DEFAULTS
// RUN: stg-opt %s --stg-bind="D=64 defaults=true" | FileCheck %s --check-prefix=DEFAULTS64
// RUN: stg-opt %s --stg-bind="S=2*B B=tp" | FileCheck %s --check-prefix=CHAIN
// RUN: stg-opt %s --pass-pipeline="builtin.module(stg-bind{values=S=4096,tp=8})" | FileCheck %s

// CHECK:  stg.symbol @S = 4096 "tokens"
// CONFIG: stg.symbol @S = 128 "tokens"
stg.symbol @S "tokens"
// CHECK:  stg.symbol @B{{$}}
stg.symbol @B
// CHECK:  stg.symbol @D = 512
stg.symbol @D = 512
// CHECK:  stg.symbol @E = D/32
// DEFAULTS: stg.symbol @E = 16
// DEFAULTS64: stg.symbol @E = 2
stg.symbol @E = D/32
// CHECK:  stg.symbol @tp = 8
stg.symbol @tp
stg.config @small {S = 128, D = 256}
// CHECK:  stg.mesh @mesh <tp = 8>
stg.mesh @mesh <tp = tp>

// Model and local level: types of arguments, results and body, attributes.
// CHECK-LABEL: func.func @local
// CHECK-SAME: (%{{.*}}: !stg.tensor<[B, S = 512, D], bf16>) -> !stg.tensor<[B, S = 512, D], bf16>
// CONFIG-LABEL: func.func @local
// CONFIG-SAME: (%{{.*}}: !stg.tensor<[B, S = 128/tp, D = 256], bf16>)
// OVER-LABEL: func.func @local
// OVER-SAME: (%{{.*}}: !stg.tensor<[B, S = 128/tp, D = 64], bf16>)
// CHAIN-LABEL: func.func @local
// CHAIN-SAME: (%{{.*}}: !stg.tensor<[B = tp, S = 2, D], bf16>)
func.func @local(%x: !stg.tensor<[B, S/tp, D], bf16>) -> !stg.tensor<[B, S/tp, D], bf16> {
  // CHECK-NEXT: stg.splat 1/(4096*B) : !stg.tensor<[S = 4096], f32>
  %0 = stg.splat 1/(B*S) : !stg.tensor<[S], f32>
  // CHECK-NEXT: stg.all_gather dim 1 over ["tp"] %{{.*}} : !stg.tensor<[B, S = 512, D], bf16> -> !stg.tensor<[B, S = 4096, D], bf16>
  %1 = stg.all_gather dim 1 over ["tp"] %x : !stg.tensor<[B, S/tp, D], bf16> -> !stg.tensor<[B, S, D], bf16>
  // CHECK-NEXT: stg.repeat "chunks" * 4096 carry(%{{.*}} = %{{.*}} : !stg.tensor<[B, S = 512, D], bf16>)
  %2 = stg.repeat "chunks" * S carry(%c = %x : !stg.tensor<[B, S/tp, D], bf16>) {
    // CHECK-NEXT: stg.yield %{{.*}} : !stg.tensor<[B, S = 512, D], bf16>
    stg.yield %c : !stg.tensor<[B, S/tp, D], bf16>
  }
  return %2 : !stg.tensor<[B, S/tp, D], bf16>
}

// Plan level.
// CHECK-LABEL: func.func private @plan(!stg.tensor<[B, S = 4096 : tp], bf16>)
func.func private @plan(!stg.tensor<[B, S : tp], bf16>)

// Chakra level.
// CHECK: chakra.graph @graph mesh = #sym.mesh<tp = 8>
chakra.graph @graph mesh = #sym.mesh<tp = tp> {
  // CHECK: chakra.state "x" : !chakra.tensor<1024*B, input>
  %x = chakra.state "x" : !chakra.tensor<2*B*S/tp, input>
  // CHECK: chakra.comp "f"(%{{.*}}) ops(512*B) bytes(2048*B) {{.*}} -> !chakra.tensor<1024*B, temporary>
  %y = chakra.comp "f"(%x) ops(B*S/tp) bytes(4*B*S/tp) phase "fwd" : (!chakra.tensor<2*B*S/tp, input>) -> !chakra.tensor<2*B*S/tp, temporary>
}
