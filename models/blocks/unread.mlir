// Parameters that a layer has and nothing reads.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[D, 3*H, E], bf16>
!bias = !stg.tensor<[3*H, E], bf16>

// Queries, keys and values of tokens that see all others, of which there are none (Longformer).
stg.block @unread_global_heads(%x: !stream) -> !stream {
  %w = stg.param "global_qkv_proj" {frozen} : !heads
  stg.keep %w : !heads
  %b = stg.param "global_qkv_bias" {frozen} : !bias
  stg.keep %b : !bias
  stg.return %x : !stream
}
