// Gated DeltaNet: linear attention of LK key heads of EK and LV value heads of EL, whose state
// forgets, and is corrected by what it predicts. Queries, keys and values go through a
// convolution of a few tokens; the output of each value head is normalized and gated. In chunks
// of MQ tokens.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @LK "key heads of linear attention"
stg.symbol @LV "value heads of linear attention"
stg.symbol @EK "size of a key head"
stg.symbol @EL "size of a value head"
stg.symbol @CW = 4 "tokens of the convolution"
stg.symbol @MQ = 64 "tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!keys = !stg.tensor<[B, S, LK, EK], bf16>
!key_pairs = !stg.tensor<[B, S, LK, 2*EK], bf16>
!values = !stg.tensor<[B, S, LV, EL], bf16>
!value_pairs = !stg.tensor<[B, S, LV, 2*EL], bf16>
!steps = !stg.tensor<[B, S, LV], bf16>
!step_pairs = !stg.tensor<[B, S, 2*LV], bf16>
!each = !stg.tensor<[LV], bf16>

stg.block @linear_attention(%n: !stream) -> !stream {
  stg.option @beta_scaled : bool = false "how much a state is corrected, times a constant"
  %wk = stg.param "qk_proj" : !stg.tensor<[D, LK, 2*EK], bf16>
  %qk = stg.einsum "bsd,dke->bske" %n, %wk : !stream, !stg.tensor<[D, LK, 2*EK], bf16>
  %wqc = stg.param "qk_conv" : !stg.tensor<[LK, 2*EK, CW], bf16>
  %qkc = stg.causal_conv %qk, %wqc : !key_pairs, !stg.tensor<[LK, 2*EK, CW], bf16>
  %qks = stg.activation silu %qkc <"qk_silu"> : !key_pairs
  %q, %k = stg.split dim 3 %qks : !key_pairs -> !keys, !keys
  %wv = stg.param "vz_proj" : !stg.tensor<[D, LV, 2*EL], bf16>
  %vz = stg.einsum "bsd,dve->bsve" %n, %wv : !stream, !stg.tensor<[D, LV, 2*EL], bf16>
  %v, %z = stg.split dim 3 %vz : !value_pairs -> !values, !values
  %wvc = stg.param "v_conv" : !stg.tensor<[LV, EL, CW], bf16>
  %vc = stg.causal_conv %v, %wvc : !values, !stg.tensor<[LV, EL, CW], bf16>
  %vs = stg.activation silu %vc <"v_silu"> : !values
  %wb = stg.param "ba_proj" : !stg.tensor<[D, 2*LV], bf16>
  %ba = stg.einsum "bsd,dv->bsv" %n, %wb : !stream, !stg.tensor<[D, 2*LV], bf16>
  %b, %t = stg.split dim 2 %ba : !step_pairs -> !steps, !steps
  %sigmoid = stg.activation sigmoid %b <"beta"> : !steps
  %beta = stg.if @beta_scaled -> !steps {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !steps
    %y = stg.mul %sigmoid, %c <"beta_scale"> : !steps, !steps
    stg.yield %y : !steps
  } else {
    stg.yield %sigmoid : !steps
  }
  %tb = stg.param "dt_bias" : !each
  %td = stg.bias_add %t, %tb : !steps, !each
  %dt = stg.activation softplus %td <"dt"> : !steps
  %a = stg.param "a_log" : !each
  %y = stg.gated_delta_rule MQ %q, %k, %vs, %dt, %a, %beta <"delta_rule"> : !keys, !keys, !values, !steps, !each, !steps
  %wn = stg.param "gate_norm" : !stg.tensor<[EL], bf16>
  %m, %rstd = stg.rms_norm %y, %wn : !values, !stg.tensor<[EL], bf16>
  %g = stg.activation silu %z <"gate"> : !values
  %o = stg.mul %m, %g <"gated"> : !values, !values
  %wo = stg.param "out_proj" : !stg.tensor<[LV, EL, D], bf16>
  %out = stg.einsum "bsve,ved->bsd" %o, %wo : !values, !stg.tensor<[LV, EL, D], bf16>
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @linear_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %a = stg.call @linear_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
