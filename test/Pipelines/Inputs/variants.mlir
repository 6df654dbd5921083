// A decoder of the library's blocks, whose options are all of its variants.

stg.import "blocks/attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/latent_attention.mlir"
stg.import "blocks/mamba2.mlir"
stg.import "blocks/parallel.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H = 1
stg.symbol @K = H
stg.symbol @E = 1
stg.symbol @QL = 1
stg.symbol @KL = 1
stg.symbol @EN = 1
stg.symbol @ER = 1
stg.symbol @EV = 1
stg.symbol @F = 1
stg.symbol @M = 1 "feed-forward size of an expert"
stg.symbol @G = 1
stg.symbol @MH = 1
stg.symbol @MP = 1
stg.symbol @MN = 1
stg.symbol @MG = 1
stg.symbol @CW = 4
stg.symbol @MQ = 1
stg.symbol @X = 1
stg.symbol @A = 1
stg.symbol @V
stg.symbol @L
stg.symbol @LD = 1 "layers with a dense network, the first ones"

stg.option @latent : bool = false "latent attention"
stg.option @scans : bool = false "Mamba-2, and nothing else"
stg.option @mixer_groups : bool = false
stg.option @mixtures : "none" | "all" | "behind" = "none" "mixtures of experts, in all layers or behind dense ones"
stg.option @parallel : bool = false "attention and feed-forward network side by side"
stg.option @qkv_bias : bool = false
stg.option @qk_norm : bool = false
stg.option @rotary : bool = true
stg.option @norm_kind : "rms" | "layer" = "rms"
stg.option @placement : "input" | "output" | "both" | "sum" = "input"
stg.option @gated : bool = true
stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu"
stg.option @router : "softmax" | "sigmoid" | "chosen" = "softmax"
stg.option @normalized : bool = false
stg.option @shared_gate : bool = false
stg.option @tied : bool = false
stg.option @score_cap : bool = false
stg.option @alibi : bool = false
stg.option @logit_cap : bool = false

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>

stg.block @mixer(%x: !stream) -> !stream {
  %y = stg.if @latent -> !stream {
    %a = stg.call @latent_attention_layer(%x) : (!stream) -> !stream
    stg.yield %a : !stream
  } else {
    %a = stg.call @attention_layer(%x) : (!stream) -> !stream
    stg.yield %a : !stream
  }
  stg.return %y : !stream
}

stg.block @dense(%x: !stream) -> !stream {
  %y = stg.if @parallel -> !stream {
    %p = stg.call @parallel_layer(%x) : (!stream) -> !stream
    stg.yield %p : !stream
  } else {
    %m = stg.if @scans -> !stream {
      %s = stg.call @mamba2_layer(%x) : (!stream) -> !stream
      stg.yield %s : !stream
    } else {
      %a = stg.call @mixer(%x) : (!stream) -> !stream
      %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
      stg.yield %f : !stream
    }
    stg.yield %m : !stream
  }
  stg.return %y : !stream
}

stg.block @sparse(%x: !stream) -> !stream {
  %a = stg.call @mixer(%x) : (!stream) -> !stream
  %f = stg.call @experts_layer(%a) {F = M, shared_expert = true} : (!stream) -> !stream
  stg.return %f : !stream
}

func.func @variants(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.if @mixtures = "none" -> !stream {
    %d = stg.repeat "layers" * L carry(%h = %e : !stream) {
      %y = stg.call @dense(%h) {norm = norm_kind} : (!stream) -> !stream
      stg.yield %y : !stream
    }
    stg.yield %d : !stream
  } else {
    %f = stg.if @mixtures = "all" -> !stream {
      %m = stg.repeat "layers" * L carry(%h = %e : !stream) {
        %y = stg.call @sparse(%h) {norm = norm_kind} : (!stream) -> !stream
        stg.yield %y : !stream
      }
      stg.yield %m : !stream
    } else {
      %d = stg.repeat "dense" * LD carry(%h = %e : !stream) {
        %y = stg.call @dense(%h) {norm = norm_kind} : (!stream) -> !stream
        stg.yield %y : !stream
      }
      %m = stg.repeat "layers" * L - LD carry(%h = %d : !stream) {
        %y = stg.call @sparse(%h) {norm = norm_kind} : (!stream) -> !stream
        stg.yield %y : !stream
      }
      stg.yield %m : !stream
    }
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) {norm = norm_kind} : (!stream, !ids) -> !stg.tensor<[B, S], f32>
  return %loss : !stg.tensor<[B, S], f32>
}
