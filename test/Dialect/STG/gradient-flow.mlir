// What reaches the optimizer, and as the gradient of which parameter.

// RUN: stg-test-opt %s --split-input-file --test-gradient-flow --verify-diagnostics

stg.symbol @L
stg.symbol @D
stg.mesh @mesh <dp = 4>
!x = !stg.tensor<[D], bf16>
!g = !stg.tensor<[D], f32>
!s = !stg.tensor<[layers = L, D], f32>

// Through a reduction and the slices of a repeat.
func.func @stacked(
    // expected-remark @below {{the gradient of 'layers/w', stacks: 1}}
    %given: !s) {
  // expected-remark @below {{the gradient of 'layers/w', stacks: 1}}
  %r = stg.all_reduce sum over ["dp"] %given <grad_sync> : !s
  // expected-remark @below {{the gradient of 'layers/w', stacks: 0}}
  stg.repeat "layers" * L slices(%g = %r : !s) <opt> {
    %w = stg.param "w" : !x
    %u = stg.adam f32 %w, %g : !x, !g
    stg.yield
  }
  return
}

// -----

stg.symbol @L
stg.symbol @D
!x = !stg.tensor<[D], bf16>
!g = !stg.tensor<[D], f32>
!s = !stg.tensor<[layers = L, D], f32>

// What a repeat stacks is the gradient, what it carries is not.
func.func @made(%start: !g,
    // expected-remark @below {{a term of 'layers/w', stacks: 1}}
    %stack: !s) {
  // expected-remark @below {{the gradient of 'layers/w', stacks: 1}}
  %c, %s = stg.repeat "layers" * L reverse carry(%d = %start : !g)
      // expected-remark @below {{a term of 'layers/w', stacks: 0}}
      slices(%t = %stack : !s) {
    // expected-remark @below {{a term of 'layers/w', stacks: 0}}
    %h = stg.add %t, %t <bwd> : !g, !g
    // expected-remark @below {{the gradient of 'layers/w', stacks: 0}}
    %w = stg.add %h, %t <bwd> : !g, !g
    stg.yield %d, %w : !g, !g
  }
  // expected-remark @below {{the gradient of 'layers/w', stacks: 0}}
  stg.repeat "layers" * L slices(%g = %s : !s) <opt> {
    %w = stg.param "w" : !x
    %u = stg.adam f32 %w, %g : !x, !g
    stg.yield
  }
  return
}

// -----

stg.symbol @D
!x = !stg.tensor<[D], bf16>
!g = !stg.tensor<[D], f32>

// One that something else reads is none; two steps can read one.
func.func @readers(%a: !g,
    // expected-remark @below {{the gradient of 'v' 'w', stacks: 0}}
    %b: !g,
    // expected-remark @below {{the gradient of what is returned, stacks: 0}}
    %c: !g) -> (!g, !g {stg.gradient = #stg.gradient<"u">}) {
  %w = stg.param "w" : !x
  %uw = stg.adam f32 %w, %b <opt> : !x, !g
  %v = stg.param "v" : !x
  %uv = stg.adam f32 %v, %b <opt> : !x, !g
  %x = stg.param "x" : !x
  %ux = stg.adam f32 %x, %a <opt> : !x, !g
  return %a, %c : !g, !g
}
