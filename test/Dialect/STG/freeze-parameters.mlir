// Patterns of names, first iterations, and the iteration that has less of a backward pass.
//
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=embed" | FileCheck %s --check-prefix=EMBED
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=embed peel=false" | FileCheck %s --check-prefix=WHOLE
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=embed,layers:2" | FileCheck %s --check-prefix=FIRST
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=layers" | FileCheck %s --check-prefix=REPEAT
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=vision" | FileCheck %s --check-prefix=SCOPE
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=layers/[uv],*embed" | FileCheck %s --check-prefix=PATTERN
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=embed,layers:4" | FileCheck %s --check-prefix=ALL
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=embed values=L=1" | FileCheck %s --check-prefix=ONE
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=embed values=L=1 peel=false" | FileCheck %s --check-prefix=SYMBOL
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters="names=vision values=L=1" | FileCheck %s --check-prefix=SYMBOL
// RUN: stg-opt %s --stg-name-ops --stg-freeze-parameters | FileCheck %s --check-prefix=NONE

stg.symbol @L = 4
!x = !stg.tensor<[4], f32>

// NONE-NOT: frozen
// NONE-NOT: layers_

// The first layer needs no gradient of what it reads.
// EMBED: stg.param "embed" {frozen}
// EMBED: %[[E:.*]] = stg.mul
// EMBED: %[[F:.*]] = stg.repeat "layers_first" * 1 carry(%{{.*}} = %[[E]] :
// EMBED: stg.param "u" :
// EMBED: stg.param "v" :
// EMBED: stg.repeat "layers" * L - 1 carry(%{{.*}} = %[[F]] :
// EMBED: stg.param "u" :
// EMBED: stg.param "v" :
// EMBED: stg.param "vision.w" :

// WHOLE: stg.param "embed" {frozen}
// WHOLE: stg.repeat "layers" * L carry
// WHOLE-NOT: layers_first

// The only layer is the one that starts: it hands nothing on, which its count says then.
// ONE: stg.repeat "layers" * 1 carry
// ONE-NOT: stg.repeat
// SYMBOL: stg.repeat "layers" * L carry
// SYMBOL-NOT: stg.repeat

// Two layers are frozen, and the first of the others is one that starts.
// FIRST: stg.param "embed" {frozen}
// FIRST: stg.repeat "layers_frozen" * 2 carry
// FIRST: stg.param "u" {frozen}
// FIRST: stg.param "v" {frozen}
// FIRST: stg.repeat "layers_first" * 1 carry
// FIRST: stg.param "u" :
// FIRST: stg.repeat "layers" * L - 3 carry
// FIRST: stg.param "v" :

// REPEAT: stg.param "embed" :
// REPEAT: stg.repeat "layers" * L carry
// REPEAT: stg.param "u" {frozen}
// REPEAT: stg.param "v" {frozen}
// REPEAT: stg.param "vision.w" :

// SCOPE: stg.param "embed" :
// SCOPE: stg.param "u" :
// SCOPE: stg.param "vision.w" {frozen}

// PATTERN: stg.param "embed" {frozen}
// PATTERN: stg.param "u" {frozen}
// PATTERN: stg.param "v" {frozen}
// PATTERN: stg.param "vision.w" :

// All iterations there are stay one repeat.
// ALL: stg.repeat "layers" * L carry
// ALL: stg.param "u" {frozen}
// ALL-NOT: stg.repeat
func.func @f(%x: !x) -> !x {
  %w0 = stg.param "embed" : !x
  %e = stg.mul %x, %w0 : !x, !x
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %u = stg.param "u" : !x
    %a = stg.mul %c, %u : !x, !x
    %v = stg.param "v" : !x
    %b = stg.mul %a, %v : !x, !x
    stg.yield %b : !x
  }
  %w = stg.param "vision.w" : !x
  %z = stg.mul %y, %w : !x, !x
  return %z : !x
}
