// Attention and a feed-forward network side by side: both of the same normalized input, as in
// PaLM, GPT-J and Falcon 7B, or each of an input normalized by itself, as in GPT-NeoX and
// Falcon 40B. Experts may stand in the place of the feed-forward network.

stg.import "attention.mlir"
stg.import "experts.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"

!stream = !stg.tensor<[B, S, D], bf16>

stg.block @parallel_layer(%x: !stream) -> !stream {
  stg.option @gated : bool = true "gate and up, or one matrix"
  stg.option @norms : "one" | "two" = "one" "whether both read the same"
  stg.option @sparse : bool = false "experts in the place of the feed-forward network"
  %na, %nf = stg.if @norms = "one" -> !stream, !stream {
    %n = stg.call @norm(%x) : (!stream) -> !stream
    stg.yield %n, %n : !stream, !stream
  } else {
    %n = stg.call @norm(%x) {name = "attention_norm"} : (!stream) -> !stream
    %m = stg.call @norm(%x) {name = "ffn_norm"} : (!stream) -> !stream
    stg.yield %n, %m : !stream, !stream
  }
  %a = stg.call @attention(%na) : (!stream) -> !stream
  %f = stg.if @sparse -> !stream {
    %e = stg.call @experts(%nf) : (!stream) -> !stream
    stg.yield %e : !stream
  } else {
    %d = stg.if @gated -> !stream {
      %g = stg.call @gated_feed_forward(%nf) : (!stream) -> !stream
      stg.yield %g : !stream
    } else {
      %p = stg.call @plain_feed_forward(%nf) : (!stream) -> !stream
      stg.yield %p : !stream
    }
    stg.yield %d : !stream
  }
  %s = stg.add %a, %f <"parallel"> : !stream, !stream
  %y = stg.add %x, %s <"residual"> : !stream, !stream
  stg.return %y : !stream
}
