// What --stg-recompute refuses.
//
// RUN: stg-opt %s --stg-recompute="policy=most" -verify-diagnostics

// expected-error @+1 {{policy is 'most', expected none, selective or full}}
func.func @policy() {
  return
}
