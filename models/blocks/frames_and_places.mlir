// Diffusion of a video whose layers attend to the patches of a frame and to a text, and then to one place
// in all frames (Latte). Frames are samples for the first, places for the second.

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "single_modulation.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of a frame, or frames of a place"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @NF "frames of a video"
stg.symbol @NP "patches of a frame"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!by_frame = !stg.tensor<[B = NF*B, S = NP, D], bf16>
!by_place = !stg.tensor<[B = NP*B, S = NF, D], bf16>

// What a sample is told, for each of its frames or places.
stg.block @text_of_frames(%c: !text) -> !stg.tensor<[B = NF*B, T, D], bf16> {
  %r = stg.broadcast dim 1 %c <"texts"> : !text -> !stg.tensor<[B, _ = NF, T, D], bf16>
  %y = stg.rearrange "bftd->(bf)td" %r <"texts_of_frames"> : !stg.tensor<[B, _ = NF, T, D], bf16> -> !stg.tensor<[B = NF*B, T, D], bf16>
  stg.return %y : !stg.tensor<[B = NF*B, T, D], bf16>
}
stg.block @six_of_frames(%m: !six) -> !stg.tensor<[B = NF*B, 6, D], bf16> {
  %r = stg.broadcast dim 1 %m <"vectors"> : !six -> !stg.tensor<[B, _ = NF, 6, D], bf16>
  %y = stg.rearrange "bfnd->(bf)nd" %r <"vectors_of_frames"> : !stg.tensor<[B, _ = NF, 6, D], bf16> -> !stg.tensor<[B = NF*B, 6, D], bf16>
  stg.return %y : !stg.tensor<[B = NF*B, 6, D], bf16>
}
stg.block @six_of_places(%m: !six) -> !stg.tensor<[B = NP*B, 6, D], bf16> {
  %r = stg.broadcast dim 1 %m <"vectors"> : !six -> !stg.tensor<[B, _ = NP, 6, D], bf16>
  %y = stg.rearrange "bpnd->(bp)nd" %r <"vectors_of_places"> : !stg.tensor<[B, _ = NP, 6, D], bf16> -> !stg.tensor<[B = NP*B, 6, D], bf16>
  stg.return %y : !stg.tensor<[B = NP*B, 6, D], bf16>
}
stg.block @row_of_frames(%e: !row) -> !stg.tensor<[B = NF*B, D], bf16> {
  %r = stg.broadcast dim 1 %e <"rows"> : !row -> !stg.tensor<[B, _ = NF, D], bf16>
  %y = stg.rearrange "bfd->(bf)d" %r <"rows_of_frames"> : !stg.tensor<[B, _ = NF, D], bf16> -> !stg.tensor<[B = NF*B, D], bf16>
  stg.return %y : !stg.tensor<[B = NF*B, D], bf16>
}

// PixArt's layer without a text.
stg.block @layer_of_table(%x: !stream, %m: !six) -> !stream {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @add_table(%m) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) {mask = "none"} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %fn = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%fn) : (!stream) -> !stream
  %o = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %o : !stream
}

// Places with all of their frames, which a position that is not learned may be added to.
stg.block @places_layer(%x: !by_frame, %m: !stg.tensor<[B = NP*B, 6, D], bf16>, %frames: !stg.tensor<[S = NF, D], bf16>) -> !by_frame {
  stg.option @frames_placed : bool = false "a position of each frame that is not learned"
  %p = stg.rearrange "(bf)pd->(bp)fd" %x <"places"> : !by_frame -> !by_place
  %a = stg.if @frames_placed -> !by_place {
    %z = stg.bias_add %p, %frames <"places_of_frames"> : !by_place, !stg.tensor<[S = NF, D], bf16>
    stg.yield %z : !by_place
  } else {
    stg.yield %p : !by_place
  }
  %l = stg.call @layer_of_table(%a, %m) : (!by_place, !stg.tensor<[B = NP*B, 6, D], bf16>) -> !by_place
  %y = stg.rearrange "(bp)fd->(bf)pd" %l <"frames"> : !by_place -> !by_frame
  stg.return %y : !by_frame
}
