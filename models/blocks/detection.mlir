// Objects of an image: tokens behind its patches each find one, or none.

stg.import "vision.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @PC "elements of a patch"
stg.symbol @NO "tokens that find an object each"
stg.symbol @Y = 2 "classes, with one for no object"
stg.symbol @PD "size of what a text is"
stg.symbol @NQ "texts of an image"

!stream = !stg.tensor<[B, S, D], bf16>
!patches = !stg.tensor<[B, S = S - NO - 1, PC], bf16>
!embedded = !stg.tensor<[B, S = S - NO - 1, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!found = !stg.tensor<[B, _ = NO, D], bf16>
!classes = !stg.tensor<[B, _ = NO, Y], bf16>
!boxes = !stg.tensor<[B, _ = NO, 4], bf16>
!weights = !stg.tensor<[B, _ = NO], f32>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, D], bf16>
!loss = !stg.tensor<[B], f32>

// The patches of an image behind a token for what it shows, and before tokens that find objects.
stg.block @embed_patches_and_objects(%patches: !patches) -> !stream {
  %p = stg.call @embed_patches(%patches) : (!patches) -> !embedded
  %c = stg.param "class_token" : !stg.tensor<[1, D], bf16>
  %ct = stg.broadcast dim 0 %c <"class_tokens"> : !stg.tensor<[1, D], bf16> -> !one
  %o = stg.param "object_tokens" : !stg.tensor<[_ = NO, D], bf16>
  %ot = stg.broadcast dim 0 %o <"objects"> : !stg.tensor<[_ = NO, D], bf16> -> !found
  %y = stg.concat dim 1 ordered %ct, %p, %ot : !one, !embedded, !found -> !stream
  stg.return %y : !stream
}

stg.block @take_object_tokens(%x: !stream) -> !found {
  %y = stg.slice dim 1 %x {from = #sym.expr<S - NO>} <"objects_read"> : !stream -> !found
  stg.return %y : !found
}

// Two matrices with an activation behind each.
stg.block @object_network(%x: !found) -> !found {
  stg.option @network_activation : "relu" | "gelu" = "relu" "of the network of an object"
  %w1 = stg.param "network1" : !square
  %p1 = stg.einsum "bsd,de->bse" %x, %w1 : !found, !square
  %b1 = stg.param "network1_bias" : !vector
  %y1 = stg.bias_add %p1, %b1 : !found, !vector
  %a1 = stg.activation relu %y1 {stg.options = {function = "network_activation"}} <"network1_{network_activation}"> : !found
  %w2 = stg.param "network2" : !square
  %p2 = stg.einsum "bsd,de->bse" %a1, %w2 : !found, !square
  %b2 = stg.param "network2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !found, !vector
  %a2 = stg.activation relu %y2 {stg.options = {function = "network_activation"}} <"network2_{network_activation}"> : !found
  stg.return %a2 : !found
}

// The loss of a class of each object, which weighs less where there is none.
stg.block @object_class_loss(%x: !found, %labels: !stg.tensor<[B, _ = NO], i32>, %weights: !weights) -> !loss {
  stg.option @class_network : bool = true "two matrices before that of the classes"
  %h = stg.if @class_network -> !found {
    %z = stg.call @object_network(%x) : (!found) -> !found
    stg.yield %z : !found
  } else {
    stg.yield %x : !found
  }
  %w = stg.param "network3" : !stg.tensor<[D, Y], bf16>
  %p = stg.einsum "bsd,dy->bsy" %h, %w : !found, !stg.tensor<[D, Y], bf16>
  %b = stg.param "network3_bias" : !stg.tensor<[Y], bf16>
  %l = stg.bias_add %p, %b : !classes, !stg.tensor<[Y], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"class_loss"> : !classes, !stg.tensor<[B, _ = NO], i32>
  %m = stg.mul %loss, %weights <"weighted_loss"> : !weights, !weights
  %y = stg.sum dim 1 %m <"sum_of_losses"> : !weights
  stg.return %y : !loss
}

// How far the box of each object is from that which it was matched with: `matched` is 0 where there
// is none. The host matches them. That boxes overlap, some numbers of each, is not in the loss.
stg.block @object_box_loss(%x: !found, %boxes: !boxes, %matched: !stg.tensor<[B, _ = NO, 1], bf16>) -> !loss {
  stg.option @boxes_placed : bool = false "the place of a patch, a constant, is added to its box"
  %h = stg.call @object_network(%x) : (!found) -> !found
  %w = stg.param "network3" : !stg.tensor<[D, 4], bf16>
  %p = stg.einsum "bsd,dc->bsc" %h, %w : !found, !stg.tensor<[D, 4], bf16>
  %b = stg.param "network3_bias" : !stg.tensor<[4], bf16>
  %l = stg.bias_add %p, %b : !boxes, !stg.tensor<[4], bf16>
  %q = stg.if @boxes_placed -> !boxes {
    // No trace has the values of constants.
    %c = stg.splat 1 : !boxes
    %z = stg.add %l, %c <"boxes_and_places"> : !boxes, !boxes
    stg.yield %z : !boxes
  } else {
    stg.yield %l : !boxes
  }
  // A step of inference has no distances.
  %s = stg.activation sigmoid %q <"boxes"> : !boxes
  stg.keep %s : !boxes
  %d = stg.elementwise sub %s, %boxes <"differences"> : !boxes, !boxes
  %a = stg.elementwise abs %d <"distances"> : !boxes
  %m = stg.mul %a, %matched <"matched_distances"> : !boxes, !stg.tensor<[B, _ = NO, 1], bf16>
  %c = stg.sum dim 2 %m <"sum_of_sides"> : !boxes
  %t = stg.sum dim 1 %c <"sum_of_distances"> : !stg.tensor<[B, _ = NO], bf16>
  %y = stg.cast %t <"sum_of_distances"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}

// The patches of an image, each times the class token in front of them, and a LayerNorm (OWL-ViT).
stg.block @patches_times_class(%x: !stream) -> !stg.tensor<[B, _ = S - 1, D], bf16> {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"class_token"> : !stream -> !stg.tensor<[B, 1, D], bf16>
  %c = stg.rearrange "b()d->bd" %f <"class_row"> : !stg.tensor<[B, 1, D], bf16> -> !stg.tensor<[B, D], bf16>
  %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"patches"> : !stream -> !stg.tensor<[B, _ = S - 1, D], bf16>
  %m = stg.mul_along %p, %c {dims = array<i64: 0, 2>} <"patches_times_class"> : !stg.tensor<[B, _ = S - 1, D], bf16>, !stg.tensor<[B, D], bf16>
  %w = stg.param "object_norm.weight" : !vector
  %b = stg.param "object_norm.bias" : !vector
  %y, %mean, %rstd = stg.layer_norm %m, %w, %b <"object_norm"> : !stg.tensor<[B, _ = S - 1, D], bf16>, !vector, !vector
  stg.return %y : !stg.tensor<[B, _ = S - 1, D], bf16>
}

// One number of each object.
stg.block @number_of_object(%x: !found) -> !stg.tensor<[B, _ = NO, 1], bf16> {
  stg.option @name : string "what it is, in the names of its parameters"
  %w = stg.param "{name}" : !stg.tensor<[D, 1], bf16>
  %p = stg.einsum "bsd,di->bsi" %x, %w : !found, !stg.tensor<[D, 1], bf16>
  %b = stg.param "{name}_bias" : !stg.tensor<[1], bf16>
  %y = stg.bias_add %p, %b : !stg.tensor<[B, _ = NO, 1], bf16>, !stg.tensor<[1], bf16>
  stg.return %y : !stg.tensor<[B, _ = NO, 1], bf16>
}

// A yes or a no for each object and each text of its image: cosines of both, which two numbers of an
// object shift and scale. `fits` is 1 where a text says what an object is, and 0 elsewhere.
stg.block @object_text_loss(%x: !found, %texts: !stg.tensor<[B = NQ*B, PD], bf16>, %fits: !stg.tensor<[B, _ = NO, _ = NQ], bf16>) -> !loss {
  %w = stg.param "class_proj" : !stg.tensor<[D, PD], bf16>
  %p = stg.einsum "bnd,dp->bnp" %x, %w : !found, !stg.tensor<[D, PD], bf16>
  %b = stg.param "class_proj_bias" : !stg.tensor<[PD], bf16>
  %o = stg.bias_add %p, %b : !stg.tensor<[B, _ = NO, PD], bf16>, !stg.tensor<[PD], bf16>
  %no, %ro = stg.rms_norm %o <"unit_objects"> : !stg.tensor<[B, _ = NO, PD], bf16>
  %t = stg.rearrange "(bq)p->bqp" %texts <"texts_of_images"> : !stg.tensor<[B = NQ*B, PD], bf16> -> !stg.tensor<[B, _ = NQ, PD], bf16>
  %nt, %rt = stg.rms_norm %t <"unit_texts"> : !stg.tensor<[B, _ = NQ, PD], bf16>
  %c = stg.einsum "bnp,bqp->bnq" %no, %nt <"cosines"> : !stg.tensor<[B, _ = NO, PD], bf16>, !stg.tensor<[B, _ = NQ, PD], bf16>
  %shift = stg.call @number_of_object(%x) {name = "class_shift"} : (!found) -> !stg.tensor<[B, _ = NO, 1], bf16>
  %s = stg.add %c, %shift <"shifted"> : !stg.tensor<[B, _ = NO, _ = NQ], bf16>, !stg.tensor<[B, _ = NO, 1], bf16>
  // An ELU, and 1.
  %scale = stg.call @number_of_object(%x) {name = "class_scale"} : (!found) -> !stg.tensor<[B, _ = NO, 1], bf16>
  %above = stg.activation relu %scale <"scale_above"> : !stg.tensor<[B, _ = NO, 1], bf16>
  %below = stg.elementwise sub %scale, %above <"scale_below"> : !stg.tensor<[B, _ = NO, 1], bf16>, !stg.tensor<[B, _ = NO, 1], bf16>
  %e = stg.elementwise exp %below <"scale_exp"> : !stg.tensor<[B, _ = NO, 1], bf16>
  %u = stg.add %above, %e <"scale_elu"> : !stg.tensor<[B, _ = NO, 1], bf16>, !stg.tensor<[B, _ = NO, 1], bf16>
  %l = stg.mul %s, %u <"class_logits"> : !stg.tensor<[B, _ = NO, _ = NQ], bf16>, !stg.tensor<[B, _ = NO, 1], bf16>
  %no_loss = stg.activation softplus %l <"losses_of_a_no"> : !stg.tensor<[B, _ = NO, _ = NQ], bf16>
  %f = stg.mul %l, %fits <"logits_that_fit"> : !stg.tensor<[B, _ = NO, _ = NQ], bf16>, !stg.tensor<[B, _ = NO, _ = NQ], bf16>
  %d = stg.elementwise sub %no_loss, %f <"class_losses"> : !stg.tensor<[B, _ = NO, _ = NQ], bf16>, !stg.tensor<[B, _ = NO, _ = NQ], bf16>
  %m1 = stg.mean dim 2 %d <"mean_over_texts"> : !stg.tensor<[B, _ = NO, _ = NQ], bf16>
  %m2 = stg.mean dim 1 %m1 <"mean_over_objects"> : !stg.tensor<[B, _ = NO], bf16>
  %y = stg.cast %m2 <"class_loss"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}

// Whether there is an object, which is in no loss here: it would train its network alone (OWLv2).
stg.block @unread_objectness(%x: !found) -> !found {
  %h = stg.call @object_network(%x) : (!found) -> !found
  %y = stg.call @number_of_object(%h) {name = "network3"} : (!found) -> !stg.tensor<[B, _ = NO, 1], bf16>
  stg.keep %y : !stg.tensor<[B, _ = NO, 1], bf16>
  stg.return %x : !found
}

// What an image as a whole is, and a temperature, which finding objects does not read.
stg.block @unread_image_row(%x: !stream) -> !stream {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_token"> : !stream -> !stg.tensor<[B, 1, D], bf16>
  %c = stg.rearrange "b()d->bd" %f <"first_row"> : !stg.tensor<[B, 1, D], bf16> -> !stg.tensor<[B, D], bf16>
  %w = stg.param "projection" : !stg.tensor<[D, PD], bf16>
  %p = stg.einsum "bd,dp->bp" %c, %w : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, PD], bf16>
  stg.keep %p : !stg.tensor<[B, PD], bf16>
  %t = stg.param "logit_scale" : !stg.tensor<[], bf16>
  stg.keep %t : !stg.tensor<[], bf16>
  stg.return %x : !stream
}
