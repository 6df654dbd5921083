// Series of numbers: patches of some of them are tokens, and what comes next is said of the last one,
// by a mean and by quantiles.

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "patches per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads"
stg.symbol @E "head size"
stg.symbol @F "width between the matrices of a network"
stg.symbol @CI "width of what a network reads"
stg.symbol @CO "width of what a network gives"
stg.symbol @PL "numbers of a patch"
stg.symbol @HL "numbers that are predicted"
stg.symbol @QN "quantiles that are predicted"
stg.symbol @FQ "frequencies of a series"
stg.symbol @V "vocabulary"

!stream = !stg.tensor<[B, S, D], bf16>
!patches = !stg.tensor<[B, S, PL], bf16>
!patch = !stg.tensor<[B, 1, PL], bf16>
!moment = !stg.tensor<[B, 1, 1], bf16>
!read = !stg.tensor<[B, S, CI], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>
!given = !stg.tensor<[B, S, CO], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!head = !stg.tensor<[E], bf16>
!predicted = !stg.tensor<[B, 1, HL], bf16>
!quantiles = !stg.tensor<[B, _ = QN, HL], bf16>
!loss = !stg.tensor<[B], f32>

// Two matrices with an activation between them, and one beside both.
stg.block @residual_network(%x: !read) -> !given {
  stg.option @prefix : string = "patch_" "before the names of parameters and ops"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "between the two"
  %w1 = stg.param "{prefix}proj1" : !stg.tensor<[CI, F], bf16>
  %p1 = stg.einsum "bsc,cf->bsf" %x, %w1 : !read, !stg.tensor<[CI, F], bf16>
  %b1 = stg.param "{prefix}proj1_bias" : !stg.tensor<[F], bf16>
  %y1 = stg.bias_add %p1, %b1 : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation silu %y1 {stg.options = {function = "activation"}} <"{prefix}{activation}"> : !hidden
  %w2 = stg.param "{prefix}proj2" : !stg.tensor<[F, CO], bf16>
  %p2 = stg.einsum "bsf,fo->bso" %a, %w2 : !hidden, !stg.tensor<[F, CO], bf16>
  %b2 = stg.param "{prefix}proj2_bias" : !stg.tensor<[CO], bf16>
  %y2 = stg.bias_add %p2, %b2 : !given, !stg.tensor<[CO], bf16>
  %wr = stg.param "{prefix}beside" : !stg.tensor<[CI, CO], bf16>
  %pr = stg.einsum "bsc,co->bso" %x, %wr : !read, !stg.tensor<[CI, CO], bf16>
  %br = stg.param "{prefix}beside_bias" : !stg.tensor<[CO], bf16>
  %yr = stg.bias_add %pr, %br : !given, !stg.tensor<[CO], bf16>
  %y = stg.add %y2, %yr <"{prefix}sum"> : !given, !given
  stg.return %y : !given
}

// Mean and deviation of a series, or of its first patch.
stg.block @moments(%x: !patches) -> (!moment, !moment) {
  stg.option @of_all : bool = false "of all patches"
  %mean, %v = stg.if @of_all -> !moment, !stg.tensor<[B, 1], bf16> {
    %m2 = stg.mean dim 2 %x <"patch_means"> : !patches
    %m1 = stg.mean dim 1 %m2 <"series_mean"> : !stg.tensor<[B, S], bf16>
    %m = stg.rearrange "b->b()()" %m1 <"series_mean"> : !stg.tensor<[B], bf16> -> !moment
    %c = stg.elementwise sub %x, %m <"series_differences"> : !patches, !moment
    %q = stg.elementwise square %c <"series_squares"> : !patches
    %v2 = stg.mean dim 2 %q <"patch_variances"> : !patches
    %v1 = stg.mean dim 1 %v2 <"series_variance"> : !stg.tensor<[B, S], bf16>
    %r = stg.rearrange "b->b()" %v1 <"series_variance"> : !stg.tensor<[B], bf16> -> !stg.tensor<[B, 1], bf16>
    stg.yield %m, %r : !moment, !stg.tensor<[B, 1], bf16>
  } else {
    %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_patch"> : !patches -> !patch
    %m1 = stg.mean dim 2 %f <"series_mean"> : !patch
    %m = stg.rearrange "bs->bs()" %m1 <"series_mean"> : !stg.tensor<[B, 1], bf16> -> !moment
    %c = stg.elementwise sub %f, %m <"first_patch_differences"> : !patch, !moment
    %q = stg.elementwise square %c <"first_patch_squares"> : !patch
    %r = stg.mean dim 2 %q <"series_variance"> : !patch
    stg.yield %m, %r : !moment, !stg.tensor<[B, 1], bf16>
  }
  %s = stg.elementwise sqrt %v <"series_deviation"> : !stg.tensor<[B, 1], bf16>
  %deviation = stg.rearrange "bs->bs()" %s <"series_deviation"> : !stg.tensor<[B, 1], bf16> -> !moment
  stg.return %mean, %deviation : !moment, !moment
}

// A series less its mean, in deviations, where a number is there: `seen` is 1 there and 0 elsewhere, `missing`
// the other way around. Beside each patch stands what is missing of it.
stg.block @normalize_series(%x: !patches, %seen: !patches, %missing: !patches) -> (!stg.tensor<[B, S, 2*PL], bf16>, !moment, !moment) {
  %mean, %deviation = stg.call @moments(%x) : (!patches) -> (!moment, !moment)
  %d = stg.elementwise sub %x, %mean <"series_centered"> : !patches, !moment
  %n = stg.elementwise div %d, %deviation <"series_normalized"> : !patches, !moment
  %o = stg.mul %n, %seen <"series_seen"> : !patches, !patches
  %y = stg.concat dim 2 ordered %o, %missing <"patches_and_missing"> : !patches, !patches -> !stg.tensor<[B, S, 2*PL], bf16>
  stg.return %y, %mean, %deviation : !stg.tensor<[B, S, 2*PL], bf16>, !moment, !moment
}

// How often a series has a number, of a table.
stg.block @add_frequency(%x: !stream, %frequency: !stg.tensor<[B, 1], i32>) -> !stream {
  %t = stg.param "frequencies" : !stg.tensor<[FQ, D], bf16>
  %e = stg.embedding %t, %frequency : !stg.tensor<[FQ, D], bf16>, !stg.tensor<[B, 1], i32>
  %y = stg.add %x, %e <"embeddings"> : !stream, !stg.tensor<[B, 1, D], bf16>
  stg.return %y : !stream
}

// Attention whose queries are scaled by a learned number of each element of a head.
stg.block @scaled_queries_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H} : (!stream) -> (!queries, !queries, !queries)
  %w = stg.param "query_scale" : !head
  %p = stg.activation softplus %w <"query_softplus"> : !head
  // No trace has the value of the constant.
  %c = stg.splat 1 : !head
  %f = stg.mul %p, %c <"query_factor"> : !head, !head
  %s = stg.mul_along %q, %f {dims = array<i64: 3>} <"queries_scaled"> : !queries, !head
  %a = stg.call @attend(%s, %k, %v) {K as H} : (!queries, !queries, !queries) -> !queries
  %o = stg.call @attention_output(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// What the last patch says of the numbers behind it, in those of the series: how far each quantile is
// from them, by what it is of.
stg.block @quantile_losses(%predicted: !quantiles, %target: !predicted) -> !stg.tensor<[B], bf16> {
  %e = stg.elementwise sub %target, %predicted <"quantile_errors"> : !predicted, !quantiles
  // No trace has the values of constants.
  %c = stg.splat 1 : !quantiles
  %u = stg.mul %e, %c <"quantile_over"> : !quantiles, !quantiles
  %d = stg.mul %e, %c <"quantile_under"> : !quantiles, !quantiles
  %m = stg.elementwise max %u, %d <"quantile_losses"> : !quantiles, !quantiles
  %h = stg.mean dim 2 %m <"losses_of_quantiles"> : !quantiles
  %y = stg.mean dim 1 %h <"quantiles_loss"> : !stg.tensor<[B, _ = QN], bf16>
  stg.return %y : !stg.tensor<[B], bf16>
}

// The same of a mean, which is beside the quantiles, and its square.
stg.block @forecast_loss(%x: !stream, %mean: !moment, %deviation: !moment, %target: !predicted) -> !loss {
  %o = stg.call @residual_network(%x) {prefix = "forecast_", CO = HL*QN + HL} : (!stream) -> !stg.tensor<[B, S, CO = HL*QN + HL], bf16>
  %s = stg.mul %o, %deviation <"forecast_scaled"> : !stg.tensor<[B, S, CO = HL*QN + HL], bf16>, !moment
  %a = stg.add %s, %mean <"forecasts"> : !stg.tensor<[B, S, CO = HL*QN + HL], bf16>, !moment
  %l = stg.slice dim 1 %a {from = #sym.expr<S - 1>} <"last_forecast"> : !stg.tensor<[B, S, CO = HL*QN + HL], bf16> -> !stg.tensor<[B, 1, CO = HL*QN + HL], bf16>
  %r = stg.rearrange "b()(qh)->bqh" %l <"means_and_quantiles"> : !stg.tensor<[B, 1, CO = HL*QN + HL], bf16> -> !stg.tensor<[B, _ = QN + 1, HL], bf16>
  %m, %q = stg.split dim 1 ordered %r : !stg.tensor<[B, _ = QN + 1, HL], bf16> -> !predicted, !quantiles
  %e = stg.elementwise sub %m, %target <"forecast_errors"> : !predicted, !predicted
  %e2 = stg.elementwise square %e <"forecast_squares"> : !predicted
  %ml = stg.mean dim 2 %e2 <"losses_of_means"> : !predicted
  %mm = stg.mean dim 1 %ml <"means_loss"> : !stg.tensor<[B, 1], bf16>
  %ql = stg.call @quantile_losses(%q, %target) : (!quantiles, !predicted) -> !stg.tensor<[B], bf16>
  %t = stg.add %mm, %ql <"losses"> : !stg.tensor<[B], bf16>, !stg.tensor<[B], bf16>
  %y = stg.cast %t <"losses"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}

// What the last token says of the quantiles of the numbers to come, in deviations of the series
// (Chronos-Bolt).
stg.block @quantiles_loss(%x: !stream, %mean: !moment, %deviation: !moment, %target: !predicted) -> !loss {
  %o = stg.call @residual_network(%x) {prefix = "forecast_", CO = HL*QN} : (!stream) -> !stg.tensor<[B, S, CO = HL*QN], bf16>
  %l = stg.slice dim 1 %o {from = #sym.expr<S - 1>} <"last_forecast"> : !stg.tensor<[B, S, CO = HL*QN], bf16> -> !stg.tensor<[B, 1, CO = HL*QN], bf16>
  %r = stg.rearrange "b()(qh)->bqh" %l <"quantiles"> : !stg.tensor<[B, 1, CO = HL*QN], bf16> -> !quantiles
  %d = stg.elementwise sub %target, %mean <"target_centered"> : !predicted, !moment
  %n = stg.elementwise div %d, %deviation <"target_normalized"> : !predicted, !moment
  %ql = stg.call @quantile_losses(%r, %n) : (!quantiles, !predicted) -> !stg.tensor<[B], bf16>
  %y = stg.cast %ql <"losses"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}

// A token behind the patches, a row of the table of the decoder's.
stg.block @add_register(%x: !stg.tensor<[B, S = S - 1, D], bf16>, %register: !stg.tensor<[B, 1], i32>) -> !stream {
  %t = stg.param "tok_embeddings" : !stg.tensor<[V, D], bf16>
  %e = stg.embedding %t, %register <"register"> : !stg.tensor<[V, D], bf16>, !stg.tensor<[B, 1], i32>
  %y = stg.concat dim 1 ordered %x, %e <"patches_and_register"> : !stg.tensor<[B, S = S - 1, D], bf16>, !stg.tensor<[B, 1, D], bf16> -> !stream
  stg.return %y : !stream
}
