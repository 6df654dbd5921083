// The mLSTM of xLSTM: LV heads that each have a memory, a matrix of keys times values, with a gate
// of what comes in and a gate of what is kept, one number each for a head. What is read of it is
// divided by what its keys sum to, normalized, and gated. In chunks of MQ tokens.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @LV "heads of the memory"
stg.symbol @EK "size of a head's keys"
stg.symbol @EL "size of a head's values"
stg.symbol @MQ = 64 "tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!keys = !stg.tensor<[B, S, LV, EK], bf16>
!values = !stg.tensor<[B, S, LV, EL], bf16>
!gates = !stg.tensor<[B, S, LV], bf16>

// Before its sigmoid or exponential.
stg.block @memory_gate(%n: !stream) -> !gates {
  stg.option @name : string = "input" "what it is of"
  stg.option @gates_capped : bool = false "gates are capped by a tanh"
  %w = stg.param "{name}_gate" : !stg.tensor<[D, LV], bf16>
  %p = stg.einsum "bsd,dh->bsh" %n, %w : !stream, !stg.tensor<[D, LV], bf16>
  %b = stg.param "{name}_gate_bias" : !stg.tensor<[LV], bf16>
  %g = stg.bias_add %p, %b : !gates, !stg.tensor<[LV], bf16>
  %y = stg.if @gates_capped -> !gates {
    %c = stg.activation tanh %g <"{name}_gate_cap"> : !gates
    stg.yield %c : !gates
  } else {
    stg.yield %g : !gates
  }
  stg.return %y : !gates
}

stg.block @matrix_memory(%n: !stream) -> !stream {
  %wq = stg.param "q_proj" : !stg.tensor<[D, LV, EK], bf16>
  %q = stg.einsum "bsd,dhk->bshk" %n, %wq : !stream, !stg.tensor<[D, LV, EK], bf16>
  %wk = stg.param "k_proj" : !stg.tensor<[D, LV, EK], bf16>
  %k = stg.einsum "bsd,dhk->bshk" %n, %wk : !stream, !stg.tensor<[D, LV, EK], bf16>
  %wv = stg.param "v_proj" : !stg.tensor<[D, LV, EL], bf16>
  %v = stg.einsum "bsd,dhv->bshv" %n, %wv : !stream, !stg.tensor<[D, LV, EL], bf16>
  %wg = stg.param "g_proj" : !stg.tensor<[D, LV, EL], bf16>
  %p = stg.einsum "bsd,dhv->bshv" %n, %wg : !stream, !stg.tensor<[D, LV, EL], bf16>
  %i = stg.call @memory_gate(%n) {name = "input"} : (!stream) -> !gates
  %f = stg.call @memory_gate(%n) {name = "forget"} : (!stream) -> !gates
  %y = stg.matrix_memory MQ %q, %k, %v, %i, %f <"memory"> : !keys, !keys, !values, !gates, !gates
  %m, %mean, %rstd = stg.layer_norm %y <"head_norm"> : !values
  %wn = stg.param "head_norm" : !stg.tensor<[LV, EL], bf16>
  %s = stg.mul_along %m, %wn {dims = array<i64: 2, 3>} <"head_norm_scale"> : !values, !stg.tensor<[LV, EL], bf16>
  %g = stg.activation sigmoid %p <"gate"> : !values
  %o = stg.mul %s, %g <"gated"> : !values, !values
  %wo = stg.param "o_proj" : !stg.tensor<[LV, EL, D], bf16>
  %out = stg.einsum "bshv,hvd->bsd" %o, %wo : !values, !stg.tensor<[LV, EL, D], bf16>
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @matrix_memory_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %a = stg.call @matrix_memory(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
