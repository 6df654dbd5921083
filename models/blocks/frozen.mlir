// Parts of a model that nothing trains, as classes have them that run an encoder without gradients.

stg.import "attention.mlir"
stg.import "contrast.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"
stg.import "text.mlir"
stg.import "vision.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @P "positions"
stg.symbol @PC "elements of a patch"
stg.symbol @PD "size of what is compared"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!patches = !stg.tensor<[B, S - 1, PC], bf16>
!embedding = !stg.tensor<[B, PD], bf16>

stg.block @frozen_tokens(%tokens: !ids) -> !stream {
  %y = stg.call @token_embedding(%tokens) frozen : (!ids) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_positions(%x: !stream, %positions: !ids) -> !stream {
  %y = stg.call @add_positions(%x, %positions) frozen : (!stream, !ids) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_patches_and_class(%patches: !patches) -> !stream {
  %y = stg.call @embed_patches_and_class(%patches) frozen : (!patches) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_positions_of_all(%x: !stream) -> !stream {
  %y = stg.call @add_all_positions(%x) frozen : (!stream) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_norm(%x: !stream) -> !stream {
  %y = stg.call @norm(%x) frozen : (!stream) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_attention_layer(%x: !stream) -> !stream {
  %y = stg.call @attention_layer(%x) frozen : (!stream) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_feed_forward_layer(%x: !stream) -> !stream {
  %y = stg.call @feed_forward_layer(%x) frozen : (!stream) -> !stream
  stg.return %y : !stream
}

stg.block @frozen_row_norm(%x: !row) -> !row {
  %y = stg.call @row_norm(%x) frozen : (!row) -> !row
  stg.return %y : !row
}

stg.block @frozen_embed_row(%x: !row) -> !embedding {
  %y = stg.call @embed_row(%x) frozen : (!row) -> !embedding
  stg.return %y : !embedding
}

// What an image is, which is made, but read by nobody; with the temperature of comparisons, which
// nobody reads either.
stg.block @unread_embedding(%x: !row) -> !embedding {
  %y = stg.call @embed_row(%x) frozen : (!row) -> !embedding
  %t = stg.param "logit_scale" {frozen} : !stg.tensor<[], bf16>
  stg.keep %y : !embedding
  stg.keep %t : !stg.tensor<[], bf16>
  stg.return %y : !embedding
}
