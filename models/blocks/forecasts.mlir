// Series of numbers with an encoder and a decoder, or of patches of each channel by itself: what a step is
// made of, and what is said of those that come.

stg.import "attention.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "series in the global batch"
stg.symbol @S "steps or patches per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads"
stg.symbol @E "head size"
stg.symbol @FS "numbers of a step"
stg.symbol @ED "width of what a kind of series is looked up as"
stg.symbol @YK "kinds of series"
stg.symbol @PL "numbers of a patch"
stg.symbol @HL "numbers that are predicted"
stg.symbol @CN "channels of a series"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!steps = !stg.tensor<[B, S, _ = FS], bf16>
!values = !stg.tensor<[B, S, 1], bf16>
!one = !stg.tensor<[1], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!patches = !stg.tensor<[B, S, PL], bf16>
!moment = !stg.tensor<[B, 1, 1], bf16>

// Of a kind of series, in each of its steps: a row behind the other numbers of a step.
stg.block @add_kind_of_series(%x: !stg.tensor<[B, S, _ = FS - ED], bf16>, %kind: !stg.tensor<[B], i32>) -> !steps {
  %t = stg.param "kinds" : !stg.tensor<[_ = YK, _ = ED], bf16>
  %e = stg.embedding %t, %kind <"kinds"> : !stg.tensor<[_ = YK, _ = ED], bf16>, !stg.tensor<[B], i32>
  %r = stg.broadcast dim 1 %e <"kind_of_steps"> : !stg.tensor<[B, _ = ED], bf16> -> !stg.tensor<[B, S, _ = ED], bf16>
  %y = stg.concat dim 2 ordered %x, %r <"steps_and_kind"> : !stg.tensor<[B, S, _ = FS - ED], bf16>, !stg.tensor<[B, S, _ = ED], bf16> -> !steps
  stg.return %y : !steps
}

// A matrix without a bias.
stg.block @embed_steps(%x: !steps) -> !stream {
  %w = stg.param "step_proj" : !stg.tensor<[_ = FS, D], bf16>
  %y = stg.einsum "bsf,fd->bsd" %x, %w : !steps, !stg.tensor<[_ = FS, D], bf16>
  stg.return %y : !stream
}

// One number of each step.
stg.block @say_number(%x: !stream) -> !values {
  stg.option @name : string "of the number"
  %w = stg.param "{name}" : !stg.tensor<[D, 1], bf16>
  %p = stg.einsum "bsd,di->bsi" %x, %w : !stream, !stg.tensor<[D, 1], bf16>
  %b = stg.param "{name}_bias" : !one
  %y = stg.bias_add %p, %b : !values, !one
  stg.return %y : !values
}

// How unlikely the numbers are under Student's distribution, of which each step says how free it is, a
// place and a scale.
stg.block @student_loss(%x: !stream, %target: !values) -> !stg.tensor<[B], f32> {
  %f = stg.call @say_number(%x) {name = "freedom"} : (!stream) -> !values
  %l = stg.call @say_number(%x) {name = "place"} : (!stream) -> !values
  %s = stg.call @say_number(%x) {name = "scale"} : (!stream) -> !values
  %fp = stg.activation softplus %f <"freedom_softplus"> : !values
  %sp = stg.activation softplus %s <"scale_softplus"> : !values
  %e = stg.elementwise sub %target, %l <"errors"> : !values, !values
  %d = stg.elementwise div %e, %sp <"errors_scaled"> : !values, !values
  %q = stg.elementwise square %d <"squares"> : !values
  %r = stg.elementwise div %q, %fp <"squares_of_freedom"> : !values, !values
  // No trace has the values of constants.
  %c = stg.splat 1 : !values
  %r1 = stg.add %r, %c <"squares_more"> : !values, !values
  %lg = stg.elementwise log %r1 <"log_of_squares"> : !values
  %f1 = stg.add %fp, %c <"freedom_more"> : !values, !values
  %m = stg.mul %lg, %f1 <"tails"> : !values, !values
  %ls = stg.elementwise log %sp <"log_of_scale"> : !values
  %n = stg.add %m, %ls <"losses_of_numbers"> : !values, !values
  %t2 = stg.mean dim 2 %n <"losses_of_steps"> : !values
  %t = stg.mean dim 1 %t2 <"loss"> : !stg.tensor<[B, S], bf16>
  %y = stg.cast %t <"loss"> : !stg.tensor<[B], bf16> -> !stg.tensor<[B], f32>
  stg.return %y : !stg.tensor<[B], f32>
}

// Patches of a channel less the mean of all, in deviations, by a matrix.
stg.block @embed_patches_of_series(%x: !patches, %mean: !moment, %deviation: !moment) -> !stream {
  %c = stg.elementwise sub %x, %mean <"series_centered"> : !patches, !moment
  %n = stg.elementwise div %c, %deviation <"series_normalized"> : !patches, !moment
  %w = stg.param "patch_proj" : !stg.tensor<[PL, D], bf16>
  %p = stg.einsum "bsp,pd->bsd" %n, %w : !patches, !stg.tensor<[PL, D], bf16>
  %b = stg.param "patch_proj_bias" : !vector
  %y = stg.bias_add %p, %b : !stream, !vector
  stg.return %y : !stream
}

// Positions that nothing trains, or that are trained.
stg.block @add_places_of_patches(%x: !stream) -> !stream {
  stg.option @fixed : bool = true "nothing trains them"
  %t = stg.param "positions" {frozen, stg.options = {frozen = "fixed"}} : !stg.tensor<[S, D], bf16>
  %y = stg.bias_add %x, %t <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}

// A normalization of each channel over the batch and all patches.
stg.block @channel_norm(%x: !stream) -> !stream {
  stg.option @name : string "of its parameters"
  %w = stg.param "{name}.weight" : !vector
  %b = stg.param "{name}.bias" : !vector
  %y = stg.batch_norm %x, %w, %b <"{name}"> : !stream, !vector, !vector
  stg.return %y : !stream
}

// Parts of a layer behind such a normalization.
stg.block @batch_normalized_attention(%x: !stream) -> !stream {
  %n = stg.call @channel_norm(%x) {name = "attention_norm"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H, qkv_bias = true} : (!stream) -> (!queries, !queries, !queries)
  %a = stg.call @attend(%q, %k, %v) {K as H, mask = "none"} : (!queries, !queries, !queries) -> !queries
  %o = stg.call @attention_output(%a) {o_bias = true} : (!queries) -> !stream
  %y = stg.add %x, %o <"attention_residual"> : !stream, !stream
  stg.return %y : !stream
}
stg.block @batch_normalized_network(%x: !stream) -> !stream {
  %n = stg.call @channel_norm(%x) {name = "ffn_norm"} : (!stream) -> !stream
  %f = stg.call @plain_feed_forward(%n) {ffn_bias = true} : (!stream) -> !stream
  %y = stg.add %x, %f <"ffn_residual"> : !stream, !stream
  stg.return %y : !stream
}

// The numbers that come in a channel, of the mean of its patches or of all of them, by one matrix, in those
// of the series; the square of how far they are off, and its mean over channels.
stg.block @patches_loss(%x: !stg.tensor<[B = CN*B, S, D], bf16>, %mean: !stg.tensor<[B = CN*B, 1, 1], bf16>, %deviation: !stg.tensor<[B = CN*B, 1, 1], bf16>, %target: !stg.tensor<[B = CN*B, 1, HL], bf16>) -> !stg.tensor<[B], f32> {
  stg.option @pooled_patches : bool = true "of the mean of patches"
  %p = stg.if @pooled_patches -> !stg.tensor<[B = CN*B, HL], bf16> {
    %m = stg.mean dim 1 %x <"mean_of_patches"> : !stg.tensor<[B = CN*B, S, D], bf16>
    %w = stg.param "forecast" : !stg.tensor<[D, HL], bf16>
    %o = stg.einsum "bd,dh->bh" %m, %w : !stg.tensor<[B = CN*B, D], bf16>, !stg.tensor<[D, HL], bf16>
    stg.yield %o : !stg.tensor<[B = CN*B, HL], bf16>
  } else {
    %w = stg.param "forecast" : !stg.tensor<[S, D, HL], bf16>
    %o = stg.einsum "bsd,sdh->bh" %x, %w : !stg.tensor<[B = CN*B, S, D], bf16>, !stg.tensor<[S, D, HL], bf16>
    stg.yield %o : !stg.tensor<[B = CN*B, HL], bf16>
  }
  %b = stg.param "forecast_bias" : !stg.tensor<[HL], bf16>
  %z = stg.bias_add %p, %b : !stg.tensor<[B = CN*B, HL], bf16>, !stg.tensor<[HL], bf16>
  %r = stg.rearrange "bh->b()h" %z <"forecasts"> : !stg.tensor<[B = CN*B, HL], bf16> -> !stg.tensor<[B = CN*B, 1, HL], bf16>
  %s = stg.mul %r, %deviation <"forecasts_scaled"> : !stg.tensor<[B = CN*B, 1, HL], bf16>, !stg.tensor<[B = CN*B, 1, 1], bf16>
  %a = stg.add %s, %mean <"forecasts_moved"> : !stg.tensor<[B = CN*B, 1, HL], bf16>, !stg.tensor<[B = CN*B, 1, 1], bf16>
  %e = stg.elementwise sub %a, %target <"errors"> : !stg.tensor<[B = CN*B, 1, HL], bf16>, !stg.tensor<[B = CN*B, 1, HL], bf16>
  %q = stg.elementwise square %e <"squares"> : !stg.tensor<[B = CN*B, 1, HL], bf16>
  %l2 = stg.mean dim 2 %q <"losses_of_channels"> : !stg.tensor<[B = CN*B, 1, HL], bf16>
  %c = stg.rearrange "(bc)()->bc" %l2 <"losses_of_channels"> : !stg.tensor<[B = CN*B, 1], bf16> -> !stg.tensor<[B, _ = CN], bf16>
  %l = stg.mean dim 1 %c <"loss"> : !stg.tensor<[B, _ = CN], bf16>
  %y = stg.cast %l <"loss"> : !stg.tensor<[B], bf16> -> !stg.tensor<[B], f32>
  stg.return %y : !stg.tensor<[B], f32>
}
