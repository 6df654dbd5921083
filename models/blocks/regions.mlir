// Regions of an image, which a detector has found, beside a text (LXMERT): what they show and where they
// are, and what is said of them.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @T "regions of an image"
stg.symbol @D "hidden size"
stg.symbol @VF "features of a region"
stg.symbol @VB "numbers of a region's place"
stg.symbol @YO "kinds of objects"
stg.symbol @YA "kinds of attributes"
stg.symbol @YQ "answers"

!regions = !stg.tensor<[B, T, D], bf16>
!features = !stg.tensor<[B, T, VF], bf16>
!vector = !stg.tensor<[D], bf16>
!row = !stg.tensor<[B, D], bf16>
!wide = !stg.tensor<[B, 2*D], bf16>
!ids = !stg.tensor<[B, T], i32>
!weights = !stg.tensor<[B, T], f32>
!loss = !stg.tensor<[B], f32>

// A matrix and a norm of each of both, and their mean.
stg.block @embed_regions(%features: !features, %places: !stg.tensor<[B, T, VB], bf16>) -> !regions {
  %wf = stg.param "feature_proj" : !stg.tensor<[VF, D], bf16>
  %pf = stg.einsum "btf,fd->btd" %features, %wf : !features, !stg.tensor<[VF, D], bf16>
  %bf = stg.param "feature_proj_bias" : !vector
  %yf = stg.bias_add %pf, %bf : !regions, !vector
  %nf = stg.call @norm(%yf) {name = "feature_norm", norm = "layer"} : (!regions) -> !regions
  %wp = stg.param "place_proj" : !stg.tensor<[VB, D], bf16>
  %pp = stg.einsum "btp,pd->btd" %places, %wp : !stg.tensor<[B, T, VB], bf16>, !stg.tensor<[VB, D], bf16>
  %bp = stg.param "place_proj_bias" : !vector
  %yp = stg.bias_add %pp, %bp : !regions, !vector
  %np = stg.call @norm(%yp) {name = "place_norm", norm = "layer"} : (!regions) -> !regions
  %s = stg.add %nf, %np <"features_and_places"> : !regions, !regions
  // No trace has the value of the constant.
  %c = stg.splat 1 : !regions
  %y = stg.mul %s, %c <"regions"> : !regions, !regions
  stg.return %y : !regions
}

// An answer: a matrix twice as wide, gelu and a norm, and one class of many.
stg.block @answer_loss(%x: !row, %labels: !stg.tensor<[B], i32>) -> !loss {
  %w1 = stg.param "answer_proj" : !stg.tensor<[D, 2*D], bf16>
  %p1 = stg.einsum "bd,de->be" %x, %w1 : !row, !stg.tensor<[D, 2*D], bf16>
  %b1 = stg.param "answer_proj_bias" : !stg.tensor<[2*D], bf16>
  %y1 = stg.bias_add %p1, %b1 : !wide, !stg.tensor<[2*D], bf16>
  %a = stg.activation gelu %y1 <"answer_gelu"> : !wide
  %wn = stg.param "answer_norm.weight" : !stg.tensor<[2*D], bf16>
  %bn = stg.param "answer_norm.bias" : !stg.tensor<[2*D], bf16>
  %n, %mean, %rstd = stg.layer_norm %a, %wn, %bn <"answer_norm"> : !wide, !stg.tensor<[2*D], bf16>, !stg.tensor<[2*D], bf16>
  %w2 = stg.param "answers" : !stg.tensor<[2*D, YQ], bf16>
  %p2 = stg.einsum "be,ey->by" %n, %w2 : !wide, !stg.tensor<[2*D, YQ], bf16>
  %b2 = stg.param "answers_bias" : !stg.tensor<[YQ], bf16>
  %l = stg.bias_add %p2, %b2 : !stg.tensor<[B, YQ], bf16>, !stg.tensor<[YQ], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"answer_loss"> : !stg.tensor<[B, YQ], bf16>, !stg.tensor<[B], i32>
  stg.return %loss : !loss
}

// What each hidden region is: a class of objects and one of attributes, each of which counts by a weight.
stg.block @region_class_loss(%x: !regions, %labels: !ids, %weights: !weights) -> !loss {
  stg.option @name : string "what it is of"
  %w = stg.param "{name}_classes" : !stg.tensor<[D, YO], bf16>
  %p = stg.einsum "btd,dy->bty" %x, %w : !regions, !stg.tensor<[D, YO], bf16>
  %b = stg.param "{name}_classes_bias" : !stg.tensor<[YO], bf16>
  %l = stg.bias_add %p, %b : !stg.tensor<[B, T, YO], bf16>, !stg.tensor<[YO], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"{name}_losses"> : !stg.tensor<[B, T, YO], bf16>, !ids
  %c = stg.mul %loss, %weights <"{name}_counted"> : !weights, !weights
  %y = stg.mean dim 1 %c <"{name}_loss"> : !weights
  stg.return %y : !loss
}

// How far what is said of a region's features is from them: half the square below one, and linear above.
stg.block @region_feature_loss(%x: !regions, %features: !features, %weights: !weights) -> !loss {
  %w = stg.param "feature_output" : !stg.tensor<[D, VF], bf16>
  %p = stg.einsum "btd,df->btf" %x, %w : !regions, !stg.tensor<[D, VF], bf16>
  %b = stg.param "feature_output_bias" : !stg.tensor<[VF], bf16>
  %l = stg.bias_add %p, %b : !features, !stg.tensor<[VF], bf16>
  %e = stg.elementwise sub %l, %features <"feature_errors"> : !features, !features
  %a = stg.elementwise abs %e <"feature_distances"> : !features
  // No trace has the value of the constant.
  %one = stg.splat 1 : !features
  %m = stg.elementwise min %a, %one <"feature_near"> : !features, !features
  %d = stg.elementwise sub %a, %m <"feature_far"> : !features, !features
  %q = stg.elementwise square %m <"feature_squares"> : !features
  %s = stg.add %q, %d <"feature_losses"> : !features, !features
  %f = stg.mean dim 2 %s <"losses_of_features"> : !features
  %u = stg.cast %f <"losses_of_features"> : !stg.tensor<[B, T], bf16> -> !weights
  %c = stg.mul %u, %weights <"features_counted"> : !weights, !weights
  %y = stg.mean dim 1 %c <"features_loss"> : !weights
  stg.return %y : !loss
}
