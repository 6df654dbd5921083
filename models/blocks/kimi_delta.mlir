// Kimi Delta Attention: linear attention of LV heads, whose state forgets each of its rows at a
// rate of its own, and is corrected by what it predicts. Queries, keys and values go through a
// convolution of a few tokens each. What is forgotten and the gate of the output are projected
// through EG dimensions. In chunks of MQ tokens.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @LV "heads of linear attention"
stg.symbol @EK "size of a head's keys"
stg.symbol @EL "size of a head's values"
stg.symbol @EG = EL "size of what gates are projected through"
stg.symbol @CW = 4 "tokens of the convolutions"
stg.symbol @MQ = 64 "tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!keys = !stg.tensor<[B, S, LV, EK], bf16>
!values = !stg.tensor<[B, S, LV, EL], bf16>
!steps = !stg.tensor<[B, S, LV], bf16>
!narrow = !stg.tensor<[B, S, EG], bf16>

stg.block @kimi_delta_attention(%n: !stream) -> !stream {
  %wq = stg.param "q_proj" : !stg.tensor<[D, LV, EK], bf16>
  %q = stg.einsum "bsd,dhk->bshk" %n, %wq : !stream, !stg.tensor<[D, LV, EK], bf16>
  %wqc = stg.param "q_conv" : !stg.tensor<[LV, EK, CW], bf16>
  %qc = stg.causal_conv %q, %wqc : !keys, !stg.tensor<[LV, EK, CW], bf16>
  %qs = stg.activation silu %qc <"q_silu"> : !keys
  %wk = stg.param "k_proj" : !stg.tensor<[D, LV, EK], bf16>
  %k = stg.einsum "bsd,dhk->bshk" %n, %wk : !stream, !stg.tensor<[D, LV, EK], bf16>
  %wkc = stg.param "k_conv" : !stg.tensor<[LV, EK, CW], bf16>
  %kc = stg.causal_conv %k, %wkc : !keys, !stg.tensor<[LV, EK, CW], bf16>
  %ks = stg.activation silu %kc <"k_silu"> : !keys
  %wv = stg.param "v_proj" : !stg.tensor<[D, LV, EL], bf16>
  %v = stg.einsum "bsd,dhv->bshv" %n, %wv : !stream, !stg.tensor<[D, LV, EL], bf16>
  %wvc = stg.param "v_conv" : !stg.tensor<[LV, EL, CW], bf16>
  %vc = stg.causal_conv %v, %wvc : !values, !stg.tensor<[LV, EL, CW], bf16>
  %vs = stg.activation silu %vc <"v_silu"> : !values
  // What each row of a state forgets.
  %wfa = stg.param "f_a_proj" : !stg.tensor<[D, EG], bf16>
  %fa = stg.einsum "bsd,dg->bsg" %n, %wfa : !stream, !stg.tensor<[D, EG], bf16>
  %wfb = stg.param "f_b_proj" : !stg.tensor<[EG, LV, EK], bf16>
  %f = stg.einsum "bsg,ghk->bshk" %fa, %wfb : !narrow, !stg.tensor<[EG, LV, EK], bf16>
  %tb = stg.param "dt_bias" : !stg.tensor<[LV, EK], bf16>
  %fd = stg.bias_add %f, %tb : !keys, !stg.tensor<[LV, EK], bf16>
  %dt = stg.activation softplus %fd <"dt"> : !keys
  %a = stg.param "a_log" : !stg.tensor<[LV], bf16>
  %wb = stg.param "b_proj" : !stg.tensor<[D, LV], bf16>
  %b = stg.einsum "bsd,dh->bsh" %n, %wb : !stream, !stg.tensor<[D, LV], bf16>
  %beta = stg.activation sigmoid %b <"beta"> : !steps
  %y = stg.gated_delta_rule MQ %qs, %ks, %vs, %dt, %a, %beta <"delta_rule"> : !keys, !keys, !values, !keys, !stg.tensor<[LV], bf16>, !steps
  %wga = stg.param "g_a_proj" : !stg.tensor<[D, EG], bf16>
  %ga = stg.einsum "bsd,dg->bsg" %n, %wga : !stream, !stg.tensor<[D, EG], bf16>
  %wgb = stg.param "g_b_proj" : !stg.tensor<[EG, LV, EL], bf16>
  %gb = stg.einsum "bsg,ghv->bshv" %ga, %wgb : !narrow, !stg.tensor<[EG, LV, EL], bf16>
  %wn = stg.param "gate_norm" : !stg.tensor<[EL], bf16>
  %m, %rstd = stg.rms_norm %y, %wn : !values, !stg.tensor<[EL], bf16>
  %g = stg.activation sigmoid %gb <"gate"> : !values
  %o = stg.mul %m, %g <"gated"> : !values, !values
  %wo = stg.param "o_proj" : !stg.tensor<[LV, EL, D], bf16>
  %out = stg.einsum "bshv,hvd->bsd" %o, %wo : !values, !stg.tensor<[LV, EL, D], bf16>
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @kimi_delta_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %a = stg.call @kimi_delta_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Without the residual stream.
stg.block @kimi_delta_branch(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %y = stg.call @kimi_delta_attention(%n) : (!stream) -> !stream
  stg.return %y : !stream
}
