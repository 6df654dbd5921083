// What each language has of its own in a layer: two matrices behind the feed-forward network. A
// batch is of one language, and nothing reads what the others have.

stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @NO "languages beside that of the batch"
stg.symbol @AD "width between the two matrices of a language"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!narrow = !stg.tensor<[B, S, AD], bf16>

// What the other languages have: in memory, and no more.
stg.block @unread_adapters(%x: !stream) -> !stream {
  %d = stg.param "other_adapters_down" {frozen} : !stg.tensor<[NO, D, AD], bf16>
  stg.keep %d : !stg.tensor<[NO, D, AD], bf16>
  %db = stg.param "other_adapters_down_bias" {frozen} : !stg.tensor<[NO, AD], bf16>
  stg.keep %db : !stg.tensor<[NO, AD], bf16>
  %u = stg.param "other_adapters_up" {frozen} : !stg.tensor<[NO, AD, D], bf16>
  stg.keep %u : !stg.tensor<[NO, AD, D], bf16>
  %ub = stg.param "other_adapters_up_bias" {frozen} : !stg.tensor<[NO, D], bf16>
  stg.keep %ub : !stg.tensor<[NO, D], bf16>
  stg.return %x : !stream
}

stg.block @adapter(%x: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %w = stg.param "adapter_down" : !stg.tensor<[D, AD], bf16>
  %p = stg.einsum "bsd,da->bsa" %x, %w : !stream, !stg.tensor<[D, AD], bf16>
  %b = stg.param "adapter_down_bias" : !stg.tensor<[AD], bf16>
  %n = stg.bias_add %p, %b : !narrow, !stg.tensor<[AD], bf16>
  %a = stg.activation gelu %n {stg.options = {function = "activation"}} <"adapter_{activation}"> : !narrow
  %v = stg.param "adapter_up" : !stg.tensor<[AD, D], bf16>
  %u = stg.einsum "bsa,ad->bsd" %a, %v : !narrow, !stg.tensor<[AD, D], bf16>
  %c = stg.param "adapter_up_bias" : !vector
  %y = stg.bias_add %u, %c : !stream, !vector
  stg.return %y : !stream
}

// A feed-forward network with its normalization, and the adapter of a language behind the residual
// stream. What the adapter reads is normalized by a norm of its own, or by that of the layer, or
// by neither; its sum is with what it reads, or with what is behind the residual stream.
stg.block @adapted_feed_forward_layer(%x: !stream) -> !stream {
  stg.option @placement : "input" | "sum" = "input" "what is normalized"
  stg.option @adapter_norm : "own" | "shared" | "none" = "none" "of what the adapter reads"
  stg.option @adapter_sum_normalized : bool = false "the adapter's output is added to what it reads"
  stg.option @other_languages : bool = true "there are some"
  %b = stg.if @placement = "input" -> !stream {
    %y = stg.call @norm(%x) {name = "ffn_norm"} : (!stream) -> !stream
    stg.yield %y : !stream
  } else {
    stg.yield %x : !stream
  }
  %f = stg.call @plain_feed_forward(%b) : (!stream) -> !stream
  %s = stg.add %x, %f <"ffn_residual"> : !stream, !stream
  %n = stg.if @adapter_norm = "own" -> !stream {
    %y = stg.call @norm(%s) {name = "adapter_norm"} : (!stream) -> !stream
    stg.yield %y : !stream
  } else {
    %z = stg.if @adapter_norm = "shared" -> !stream {
      %y = stg.call @norm(%s) {name = "ffn_norm"} : (!stream) -> !stream
      stg.yield %y : !stream
    } else {
      stg.yield %s : !stream
    }
    stg.yield %z : !stream
  }
  %a = stg.call @adapter(%n) : (!stream) -> !stream
  %r = stg.if @adapter_sum_normalized -> !stream {
    %y = stg.add %n, %a <"adapter_residual"> : !stream, !stream
    stg.yield %y : !stream
  } else {
    %y = stg.add %s, %a <"adapter_residual"> : !stream, !stream
    stg.yield %y : !stream
  }
  %o = stg.if @other_languages -> !stream {
    %y = stg.call @unread_adapters(%r) : (!stream) -> !stream
    stg.yield %y : !stream
  } else {
    stg.yield %r : !stream
  }
  %l = stg.if @placement = "sum" -> !stream {
    %y = stg.call @norm(%o) {name = "ffn_norm"} : (!stream) -> !stream
    stg.yield %y : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %l : !stream
}
