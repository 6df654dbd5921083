// Runs other passes on @large than on @small; docs/WorkWithIR.md uses it.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%model: !transform.any_op {transform.consumed}) {
    // Blocks go into the functions, where each becomes what its program needs.
    %0 = transform.apply_registered_pass "inline" to %model : (!transform.any_op) -> !transform.any_op
    %1 = transform.apply_registered_pass "symbol-dce" to %0 : (!transform.any_op) -> !transform.any_op

    // Both are trained; only the large one computes layers again in backward.
    %functions = transform.structured.match ops{["func.func"]} in %1 : (!transform.any_op) -> !transform.any_op
    %named = transform.apply_registered_pass "stg-name-ops" to %functions : (!transform.any_op) -> !transform.any_op
    %trained = transform.apply_registered_pass "stg-autodiff" to %named : (!transform.any_op) -> !transform.any_op
    %large = transform.structured.match ops{["func.func"]} attributes{sym_name = "large"} in %1 : (!transform.any_op) -> !transform.any_op
    %replayed = transform.apply_registered_pass "stg-recompute" with options = {"policy" = "full"} to %large : (!transform.any_op) -> !transform.any_op

    // Each has a mesh of its own.
    %2 = transform.apply_registered_pass "stg-apply-preset" with options = {"program" = "large", "values" = ["tp=8", "dp=2"]} to %1 : (!transform.any_op) -> !transform.any_op
    %3 = transform.apply_registered_pass "stg-apply-preset" with options = {"program" = "small", "values" = ["dp=16"]} to %2 : (!transform.any_op) -> !transform.any_op
    %4 = transform.apply_registered_pass "stg-propagate-shardings" to %3 : (!transform.any_op) -> !transform.any_op
    %5 = transform.apply_registered_pass "stg-insert-collectives" to %4 : (!transform.any_op) -> !transform.any_op
    %6 = transform.apply_registered_pass "convert-stg-to-chakra" to %5 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
