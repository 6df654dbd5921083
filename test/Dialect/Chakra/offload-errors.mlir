// RUN: stg-opt %s --split-input-file --chakra-offload="what=parameters" -verify-diagnostics
// RUN: not stg-opt %S/offload.mlir --chakra-offload="what=caches" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not stg-opt %S/offload.mlir --chakra-offload="what=optimizer percent=101" 2>&1 | FileCheck %s --check-prefix=PERCENT
// RUN: not stg-opt %S/offload.mlir --chakra-offload="what=activations percent=10" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not stg-opt %S/offload.mlir --chakra-offload="what=activations saved=?,router" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not stg-opt %S/offload.mlir --chakra-offload="what=activations saved=[a" 2>&1 | FileCheck %s --check-prefix=PATTERN

// NAME: error: moves 'router', which is the name of none of its layers' saved activations; these are f, input{{$}}
// PATTERN: error: moves '[a': invalid glob pattern, unmatched '['
// WORD: error: cannot offload 'caches', expected activations, optimizer or parameters
// PERCENT: error: 'percent' is from 1 to 100, found 101
// NOTHING: error: nothing to offload: there are no activations that layers save as small as the part

!w = !chakra.tensor<32, parameter>
chakra.graph @carried mesh = #sym.mesh<dp = 2> {
  %w = chakra.state "w" : !w
  // expected-error @+1 {{'chakra.repeat' op hands on 'w' from iteration to iteration, which cannot be on the host}}
  %y = chakra.repeat "layers" * 4 carry(%x = %w : !w) -> !w {
    chakra.yield carry(%x : !w)
  }
}

// -----

!w = !chakra.tensor<32, parameter>
chakra.graph @gathered_together mesh = #sym.mesh<dp = 2> {
  %ws = chakra.repeat "layers" * 4 -> !chakra.stack<!w, 4> {
    %w = chakra.state "w" : !w
    chakra.yield stack(%w : !w)
  }
  %updated = chakra.repeat "layers" * 4 slices(%w = %ws : !chakra.stack<!w, 4>) -> !chakra.stack<!w, 4> {
    // expected-error @+1 {{'chakra.comp' op changes 'w', which is then used elsewhere: it cannot be on the host}}
    %u = chakra.comp "w.opt"() updates(%w : !w) ops(1) bytes(1) phase "opt" : () -> !w
    // expected-note @+1 {{used here}}
    chakra.yield stack(%u : !w)
  }
}

// -----

!w = !chakra.tensor<32, parameter>
chakra.graph @read_whole mesh = #sym.mesh<dp = 2> {
  %ws = chakra.repeat "layers" * 4 -> !chakra.stack<!w, 4> {
    %w = chakra.state "w" : !w
    chakra.yield stack(%w : !w)
  }
  // expected-error @+1 {{'chakra.comp' op reads all of 'w' at once, of all iterations: it cannot be on the host}}
  %y = chakra.comp "sum"(%ws) ops(1) bytes(1) : (!chakra.stack<!w, 4>) -> !chakra.tensor<4, temporary>
}

// -----

// expected-error @+1 {{nothing to offload: there are no parameters}}
module {
  chakra.graph @none mesh = #sym.mesh<dp = 2> {
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
  }
}
