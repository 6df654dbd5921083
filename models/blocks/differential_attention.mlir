// Differential attention (DiffLlama): of each two query heads, and of the keys that they see, what
// the second one attends to is taken from what the first one does, times a learned number. Both
// read the values of both. Here H and K count such pairs, and EV is that of two heads.

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "pairs of query heads"
stg.symbol @K "pairs of key/value heads"
stg.symbol @E "head size"
stg.symbol @EV "size of the values of a pair"

!stream = !stg.tensor<[B, S, D], bf16>
!head = !stg.tensor<[E], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!values = !stg.tensor<[B, S, K, EV], bf16>
!attended = !stg.tensor<[B, S, H, EV], bf16>
!number = !stg.tensor<[], bf16>

// e to the power of a product of two vectors.
stg.block @exponential_of_product() -> !number {
  stg.option @name : string = "1" "of the two, in the names of parameters"
  %q = stg.param "lambda_q{name}" : !head
  %k = stg.param "lambda_k{name}" : !head
  %m = stg.mul %q, %k <"lambda{name}"> : !head, !head
  %s = stg.sum dim 0 %m <"lambda{name}_sum"> : !head
  %e = stg.elementwise exp %s <"lambda{name}_exp"> : !number
  stg.return %e : !number
}

stg.block @differential_attention(%x: !stream) -> !stream {
  %qa = stg.call @key_heads(%x) {name = "q1", K as H} : (!stream) -> !queries
  %qb = stg.call @key_heads(%x) {name = "q2", K as H} : (!stream) -> !queries
  %ka = stg.call @key_heads(%x) {name = "k1"} : (!stream) -> !keys
  %kb = stg.call @key_heads(%x) {name = "k2"} : (!stream) -> !keys
  %v = stg.call @key_heads(%x) {name = "v", E as EV} : (!stream) -> !values
  %a = stg.call @attend_heads(%qa, %ka, %v) : (!queries, !keys, !values) -> !attended
  %b = stg.call @attend_heads(%qb, %kb, %v) : (!queries, !keys, !values) -> !attended
  %la = stg.call @exponential_of_product() {name = "1"} : () -> !number
  %lb = stg.call @exponential_of_product() {name = "2"} : () -> !number
  %l = stg.elementwise sub %la, %lb <"lambda_difference"> : !number, !number
  // No trace has the values of constants.
  %c = stg.splat 1 : !number
  %lambda = stg.add %l, %c <"lambda"> : !number, !number
  %m = stg.mul_along %b, %lambda {dims = array<i64>} <"second_scaled"> : !attended, !number
  %d = stg.elementwise sub %a, %m <"attention_difference"> : !attended, !attended
  %n, %rstd = stg.rms_norm %d <"pair_norm"> : !attended
  %k = stg.splat 1 : !attended
  %s = stg.mul %n, %k <"pair_scale"> : !attended, !attended
  %o = stg.call @attention_output(%s) : (!attended) -> !stream
  stg.return %o : !stream
}

stg.block @differential_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @differential_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
