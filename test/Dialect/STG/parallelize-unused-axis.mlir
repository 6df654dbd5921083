// A mesh axis that no rule can use is a mistake: all devices along it would do the same.
//
// RUN: stg-opt %s --split-input-file --stg-apply-preset="dp=2" -verify-diagnostics -o /dev/null

// expected-error @+1 {{mesh axis 'dp' shards nothing: no rule for it names a dimension of a parameter, an argument or a carried value (dimensions are named N); give a rule 'DIM:dp'}}
module {
  stg.symbol @N
  func.func @f(%x: !stg.tensor<[N], f32>) { return }
}
