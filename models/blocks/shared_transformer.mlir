// A transformer layer whose parameters several places of a model share, as in Zamba2: it reads
// the residual stream beside the embedding of the tokens. What a place has of its own are
// adapters of rank LR, added to projections that are shared, and a projection of the result.
//
// Parameters of calls without a scope are shared by their names, which begin with `prefix`.

stg.import "mamba2.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K = H "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @LR "rank of adapters"

!stream = !stg.tensor<[B, S, D], bf16>
!both = !stg.tensor<[B, S, 2*D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>
!pairs = !stg.tensor<[B, S, 2, F], bf16>
!low = !stg.tensor<[B, S, LR], bf16>

// What attention reads.
stg.block @shared_input(%x: !stream, %e: !stream) -> !both {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %c = stg.concat dim 2 %x, %e <"{prefix}input"> : !stream, !stream -> !both
  %w = stg.param "{prefix}attention_norm" : !stg.tensor<[2*D], bf16>
  %n, %rstd = stg.rms_norm %c, %w : !both, !stg.tensor<[2*D], bf16>
  stg.return %n : !both
}

// What a place adds to queries, keys and values.
stg.block @head_adapter(%n: !both) -> !heads {
  %a = stg.param "qkv_a" : !stg.tensor<[2*D, LR], bf16>
  %l = stg.einsum "bsd,dr->bsr" %n, %a : !both, !stg.tensor<[2*D, LR], bf16>
  %b = stg.param "qkv_b" : !stg.tensor<[LR, H + 2*K, E], bf16>
  %y = stg.einsum "bsr,rhe->bshe" %l, %b : !low, !stg.tensor<[LR, H + 2*K, E], bf16>
  stg.return %y : !heads
}

stg.block @shared_heads(%n: !both) -> !heads {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %w = stg.param "{prefix}qkv_proj" : !stg.tensor<[2*D, H + 2*K, E], bf16>
  %y = stg.einsum "bsd,dhe->bshe" %n, %w : !both, !stg.tensor<[2*D, H + 2*K, E], bf16>
  stg.return %y : !heads
}

stg.block @shared_heads_adapted(%n: !both, %a: !heads) -> !heads {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %p = stg.call @shared_heads(%n) : (!both) -> !heads
  %y = stg.add %p, %a <"{prefix}qkv"> : !heads, !heads
  stg.return %y : !heads
}

// Attention, its output, and the norm behind it.
stg.block @shared_attention(%h: !heads) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @rotary : bool = true "rotary positions"
  %q, %k, %v = stg.split dim 2 %h <"{prefix}heads"> : !heads -> !queries, !keys, !keys
  %qr, %kr = stg.if @rotary -> !queries, !keys {
    %rq = stg.rope %q <"{prefix}rope_q"> : !queries
    %rk = stg.rope %k <"{prefix}rope_k"> : !keys
    stg.yield %rq, %rk : !queries, !keys
  } else {
    stg.yield %q, %k : !queries, !keys
  }
  %a, %lse = stg.attention causal %qr, %kr, %v <"{prefix}attention"> : !queries, !keys, !keys
  %wo = stg.param "{prefix}o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %w = stg.param "{prefix}ffn_norm" : !stg.tensor<[D], bf16>
  %n, %rstd = stg.rms_norm %o, %w : !stream, !stg.tensor<[D], bf16>
  stg.return %n : !stream
}

// What a place adds to gate and up.
stg.block @gate_up_adapter(%n: !stream) -> !pairs {
  %a = stg.param "gate_up_a" : !stg.tensor<[D, LR], bf16>
  %l = stg.einsum "bsd,dr->bsr" %n, %a : !stream, !stg.tensor<[D, LR], bf16>
  %b = stg.param "gate_up_b" : !stg.tensor<[LR, 2, F], bf16>
  %y = stg.einsum "bsr,rgf->bsgf" %l, %b : !low, !stg.tensor<[LR, 2, F], bf16>
  stg.return %y : !pairs
}

stg.block @shared_gate_up(%n: !stream) -> !pairs {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %w = stg.param "{prefix}gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
  %p = stg.einsum "bsd,dgf->bsgf" %n, %w : !stream, !stg.tensor<[D, 2, F], bf16>
  stg.return %p : !pairs
}

stg.block @shared_down(%u: !pairs) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the gate"
  %h = stg.glu gelu %u {stg.options = {function = "activation"}} <"{prefix}glu"> : !pairs
  %wd = stg.param "{prefix}down_proj" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %h, %wd : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
  stg.return %d : !stream
}

stg.block @shared_feed_forward(%n: !stream, %a: !pairs) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %p = stg.call @shared_gate_up(%n) : (!stream) -> !pairs
  %u = stg.add %p, %a <"{prefix}gate_up"> : !pairs, !pairs
  %d = stg.call @shared_down(%u) : (!pairs) -> !stream
  stg.return %d : !stream
}

// Without an adapter.
stg.block @shared_feed_forward_alone(%n: !stream) -> !stream {
  %u = stg.call @shared_gate_up(%n) : (!stream) -> !pairs
  %d = stg.call @shared_down(%u) : (!pairs) -> !stream
  stg.return %d : !stream
}

// A mixer that reads the result of the shared layer beside the residual stream, projected for
// this place.
stg.block @mamba2_with_shared_layer(%x: !stream, %t: !stream) -> !stream {
  %w = stg.param "linear" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bsd,do->bso" %t, %w : !stream, !stg.tensor<[D, D], bf16>
  %s = stg.add %x, %p <"shared_sum"> : !stream, !stream
  %n = stg.call @before(%s) {part = "mixer"} : (!stream) -> !stream
  %m = stg.call @mamba2_mixer(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
