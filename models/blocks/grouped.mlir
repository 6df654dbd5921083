// Projections of groups of elements: each group of what comes out is made of one group of what goes
// in (SqueezeBERT).

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @GH "groups of a projection to heads"
stg.symbol @GI "groups of the first matrix of a feed-forward network"
stg.symbol @GO "groups of its second matrix"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>

stg.block @grouped_heads(%x: !stream) -> !heads {
  stg.option @name : string "what it is, in the names of its parameters"
  %g = stg.rearrange "bs(gi)->bsgi" %x <"{name}_groups"> : !stream -> !stg.tensor<[B, S, H = GH, _ = D/GH], bf16>
  %w = stg.param "{name}_proj" : !stg.tensor<[H = GH, _ = D/GH, _ = H/GH, E], bf16>
  %p = stg.einsum "bsgi,gihe->bsghe" %g, %w : !stg.tensor<[B, S, H = GH, _ = D/GH], bf16>, !stg.tensor<[H = GH, _ = D/GH, _ = H/GH, E], bf16>
  %r = stg.rearrange "bsghe->bs(gh)e" %p <"{name}_heads"> : !stg.tensor<[B, S, H = GH, _ = H/GH, E], bf16> -> !heads
  %b = stg.param "{name}_bias" : !stg.tensor<[H, E], bf16>
  %y = stg.bias_add %r, %b : !heads, !stg.tensor<[H, E], bf16>
  stg.return %y : !heads
}

// Attention with its normalization and the residual stream; its output has no groups.
stg.block @grouped_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q = stg.call @grouped_heads(%n) {name = "q"} : (!stream) -> !heads
  %k = stg.call @grouped_heads(%n) {name = "k"} : (!stream) -> !heads
  %v = stg.call @grouped_heads(%n) {name = "v"} : (!stream) -> !heads
  %a, %lse = stg.attention none %q, %k, %v : !heads, !heads, !heads
  %w = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %w : !heads, !stg.tensor<[H, E, D], bf16>
  %b = stg.param "o_bias" : !vector
  %y = stg.bias_add %o, %b : !stream, !vector
  %z = stg.call @after(%x, %y) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %z : !stream
}

stg.block @grouped_feed_forward_layer(%x: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %g = stg.rearrange "bs(gi)->bsgi" %n <"fc1_groups"> : !stream -> !stg.tensor<[B, S, F = GI, _ = D/GI], bf16>
  %w = stg.param "fc1" : !stg.tensor<[F = GI, _ = D/GI, _ = F/GI], bf16>
  %p = stg.einsum "bsgi,gif->bsgf" %g, %w : !stg.tensor<[B, S, F = GI, _ = D/GI], bf16>, !stg.tensor<[F = GI, _ = D/GI, _ = F/GI], bf16>
  %r = stg.rearrange "bsgf->bs(gf)" %p <"fc1_joined"> : !stg.tensor<[B, S, F = GI, _ = F/GI], bf16> -> !hidden
  %b = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %u = stg.bias_add %r, %b : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation gelu %u {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %h = stg.rearrange "bs(gf)->bsgf" %a <"fc2_groups"> : !hidden -> !stg.tensor<[B, S, F = GO, _ = F/GO], bf16>
  %w2 = stg.param "fc2" : !stg.tensor<[F = GO, _ = F/GO, _ = D/GO], bf16>
  %q = stg.einsum "bsgf,gfd->bsgd" %h, %w2 : !stg.tensor<[B, S, F = GO, _ = F/GO], bf16>, !stg.tensor<[F = GO, _ = F/GO, _ = D/GO], bf16>
  %d = stg.rearrange "bsgd->bs(gd)" %q <"fc2_joined"> : !stg.tensor<[B, S, F = GO, _ = D/GO], bf16> -> !stream
  %c = stg.param "fc2_bias" : !vector
  %y = stg.bias_add %d, %c : !stream, !vector
  %z = stg.call @after(%x, %y) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %z : !stream
}
