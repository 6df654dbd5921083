// RWKV-7: what a part of a layer reads is a token moved towards the one before it, by learned
// numbers. One part is linear attention of LV heads, whose state forgets each of its rows at a rate
// of its own and is corrected by what it predicts; the values of all layers but the first one are
// moved towards those of the first. The other part is a network without a gate.
//
// What is forgotten, how far a state is corrected and how far values are moved, and the gate of the
// output are each projected through a few dimensions. In chunks of MQ tokens.

stg.import "time_mixing.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @LV "heads of linear attention"
stg.symbol @EL "size of a head"
stg.symbol @F "feed-forward size"
stg.symbol @RD "rank of what is forgotten"
stg.symbol @RA "rank of how far a state is corrected"
stg.symbol @RV "rank of how far values are moved"
stg.symbol @RG "rank of the gate"
stg.symbol @MQ = 64 "tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, LV, EL], bf16>
!each = !stg.tensor<[LV, EL], bf16>
!numbers = !stg.tensor<[B, S, LV], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>

// What comes before a token is not what it is, but how they differ.
stg.block @difference_before(%n: !stream) -> !stream {
  stg.option @part : string = "mixer" "of the layer"
  %b = stg.call @token_before(%n) : (!stream) -> !stream
  %d = stg.elementwise sub %b, %n <"{part}_difference"> : !stream, !stream
  stg.return %d : !stream
}

stg.block @move(%n: !stream, %difference: !stream) -> !stream {
  stg.option @name : string = "key" "of what reads it"
  %m = stg.param "{name}_mix" : !vector
  %p = stg.mul_along %difference, %m {dims = array<i64: 2>} <"{name}_part"> : !stream, !vector
  %y = stg.add %n, %p <"{name}_input"> : !stream, !stream
  stg.return %y : !stream
}

stg.block @moved_heads(%n: !stream, %difference: !stream) -> !heads {
  stg.option @name : string = "key" "what it is"
  %x = stg.call @move(%n, %difference) : (!stream, !stream) -> !stream
  %w = stg.param "{name}_proj" : !stg.tensor<[D, LV, EL], bf16>
  %y = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, LV, EL], bf16>
  stg.return %y : !heads
}

// A number for each element of a head, by two matrices of a low rank.
stg.block @low_rank_heads(%x: !stream) -> !heads {
  stg.symbol @RR "rank"
  stg.option @name : string = "decay" "what it is"
  stg.option @between : "none" | "tanh" | "sigmoid" = "none" "activation between the matrices"
  stg.option @low_rank_bias : bool = true "a bias and a sigmoid behind them"
  %wa = stg.param "{name}_a" : !stg.tensor<[D, _ = RR], bf16>
  %l = stg.einsum "bsd,dr->bsr" %x, %wa : !stream, !stg.tensor<[D, _ = RR], bf16>
  %a = stg.if @between = "none" -> !stg.tensor<[B, S, _ = RR], bf16> {
    stg.yield %l : !stg.tensor<[B, S, _ = RR], bf16>
  } else {
    %t = stg.activation tanh %l {stg.options = {function = "between"}} <"{name}_between"> : !stg.tensor<[B, S, _ = RR], bf16>
    stg.yield %t : !stg.tensor<[B, S, _ = RR], bf16>
  }
  %wb = stg.param "{name}_b" : !stg.tensor<[_ = RR, LV, EL], bf16>
  %p = stg.einsum "bsr,rhe->bshe" %a, %wb : !stg.tensor<[B, S, _ = RR], bf16>, !stg.tensor<[_ = RR, LV, EL], bf16>
  %y = stg.if @low_rank_bias -> !heads {
    %b = stg.param "{name}_bias" : !each
    %q = stg.bias_add %p, %b : !heads, !each
    %s = stg.activation sigmoid %q <"{name}"> : !heads
    stg.yield %s : !heads
  } else {
    stg.yield %p : !heads
  }
  stg.return %y : !heads
}

// How the values of a layer are moved towards those of the first one.
stg.block @moved_values(%n: !stream, %difference: !stream, %first: !heads) -> !heads {
  %x = stg.call @move(%n, %difference) {name = "value"} : (!stream, !stream) -> !stream
  %w = stg.param "value_proj" : !stg.tensor<[D, LV, EL], bf16>
  %v = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, LV, EL], bf16>
  %g = stg.call @low_rank_heads(%x) {RR = RV, name = "value_gate"} : (!stream) -> !heads
  %d = stg.elementwise sub %first, %v <"value_difference"> : !heads, !heads
  %m = stg.mul %d, %g <"value_part"> : !heads, !heads
  %y = stg.add %v, %m <"value"> : !heads, !heads
  stg.return %y : !heads
}

// All that is behind the values.
stg.block @delta_mixing(%n: !stream, %difference: !stream, %v: !heads) -> !stream {
  // No trace has the values of constants, or the sign of what is removed.
  %one = stg.splat 1 : !heads
  %r = stg.call @moved_heads(%n, %difference) {name = "receptance"} : (!stream, !stream) -> !heads
  %k = stg.call @moved_heads(%n, %difference) {name = "key"} : (!stream, !stream) -> !heads
  %xw = stg.call @move(%n, %difference) {name = "decay"} : (!stream, !stream) -> !stream
  %w = stg.call @low_rank_heads(%xw) {RR = RD, name = "decay", between = "tanh"} : (!stream) -> !heads
  %decay = stg.mul %w, %one <"decay_scale"> : !heads, !heads
  %xa = stg.call @move(%n, %difference) {name = "rate"} : (!stream, !stream) -> !stream
  %a = stg.call @low_rank_heads(%xa) {RR = RA, name = "rate"} : (!stream) -> !heads
  %xg = stg.call @move(%n, %difference) {name = "gate"} : (!stream, !stream) -> !stream
  %g = stg.call @low_rank_heads(%xg) {RR = RG, name = "gate", between = "sigmoid", low_rank_bias = false} : (!stream) -> !heads
  // What is looked for in the state, and where what is found is removed.
  %wk = stg.param "removed_key" : !each
  %ks = stg.mul_along %k, %wk {dims = array<i64: 2, 3>} <"removed_key_scale"> : !heads, !each
  %kk, %krstd = stg.rms_norm %ks <"removed_key_norm"> : !heads
  %b = stg.mul %kk, %a <"removed"> : !heads, !heads
  // A key times what its rate leaves of it.
  %wa = stg.param "key_rate" : !each
  %a1 = stg.elementwise sub %a, %one <"key_rate"> : !heads, !heads
  %a2 = stg.mul_along %a1, %wa {dims = array<i64: 2, 3>} <"key_rate_scale"> : !heads, !each
  %a3 = stg.add %a2, %one <"key_rate_sum"> : !heads, !heads
  %kr = stg.mul %k, %a3 <"key_times_rate"> : !heads, !heads
  %y = stg.general_delta_rule MQ %r, %kr, %v, %decay, %kk, %b <"delta_rule"> : !heads, !heads, !heads, !heads, !heads, !heads
  %m, %mean, %rstd = stg.layer_norm %y <"head_norm"> : !heads
  %wn = stg.param "head_norm.weight" : !each
  %ms = stg.mul_along %m, %wn {dims = array<i64: 2, 3>} <"head_norm_scale"> : !heads, !each
  %bn = stg.param "head_norm.bias" : !each
  %mb = stg.bias_add %ms, %bn : !heads, !each
  // The token's own value, by how its key is read.
  %rk = stg.mul %r, %kr <"bonus_key"> : !heads, !heads
  %wr = stg.param "bonus" : !each
  %u = stg.einsum "bshe,he->bsh" %rk, %wr <"bonus"> : !heads, !each
  %vb = stg.mul_along %v, %u {dims = array<i64: 0, 1, 2>} <"bonus_value"> : !heads, !numbers
  %z = stg.add %mb, %vb <"with_bonus"> : !heads, !heads
  %o = stg.mul %z, %g <"gated"> : !heads, !heads
  %wo = stg.param "out_proj" : !stg.tensor<[LV, EL, D], bf16>
  %out = stg.einsum "bshe,hed->bsd" %o, %wo : !heads, !stg.tensor<[LV, EL, D], bf16>
  stg.return %out : !stream
}

// The first layer gives its values, too.
stg.block @delta_mixing_layer_with_values(%x: !stream) -> (!stream, !heads) {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %d = stg.call @difference_before(%n) {part = "mixer"} : (!stream) -> !stream
  %v = stg.call @moved_heads(%n, %d) {name = "value"} : (!stream, !stream) -> !heads
  %m = stg.call @delta_mixing(%n, %d, %v) : (!stream, !stream, !heads) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y, %v : !stream, !heads
}

stg.block @delta_mixing_layer(%x: !stream, %first: !heads) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %d = stg.call @difference_before(%n) {part = "mixer"} : (!stream) -> !stream
  %v = stg.call @moved_values(%n, %d, %first) : (!stream, !stream, !heads) -> !heads
  %m = stg.call @delta_mixing(%n, %d, %v) : (!stream, !stream, !heads) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// A squared ReLU of a moved token.
stg.block @moved_feed_forward(%n: !stream) -> !stream {
  %d = stg.call @difference_before(%n) {part = "ffn"} : (!stream) -> !stream
  %x = stg.call @move(%n, %d) {name = "ffn_key"} : (!stream, !stream) -> !stream
  %wk = stg.param "ffn_key_proj" : !stg.tensor<[D, F], bf16>
  %k = stg.einsum "bsd,df->bsf" %x, %wk : !stream, !stg.tensor<[D, F], bf16>
  %a = stg.activation relu2 %k <"ffn_relu2"> : !hidden
  %wv = stg.param "ffn_value_proj" : !stg.tensor<[F, D], bf16>
  %y = stg.einsum "bsf,fd->bsd" %a, %wv : !hidden, !stg.tensor<[F, D], bf16>
  stg.return %y : !stream
}

stg.block @moved_feed_forward_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %m = stg.call @moved_feed_forward(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
