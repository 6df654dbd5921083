// Objects of an image: tokens behind its patches each find one, or none.

stg.import "vision.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @PC "elements of a patch"
stg.symbol @NO "tokens that find an object each"
stg.symbol @Y = 2 "classes, with one for no object"

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

// Two matrices with a ReLU behind each.
stg.block @object_network(%x: !found) -> !found {
  %w1 = stg.param "network1" : !square
  %p1 = stg.einsum "bsd,de->bse" %x, %w1 : !found, !square
  %b1 = stg.param "network1_bias" : !vector
  %y1 = stg.bias_add %p1, %b1 : !found, !vector
  %a1 = stg.activation relu %y1 <"network1_relu"> : !found
  %w2 = stg.param "network2" : !square
  %p2 = stg.einsum "bsd,de->bse" %a1, %w2 : !found, !square
  %b2 = stg.param "network2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !found, !vector
  %a2 = stg.activation relu %y2 <"network2_relu"> : !found
  stg.return %a2 : !found
}

// The loss of a class of each object, which weighs less where there is none.
stg.block @object_class_loss(%x: !found, %labels: !stg.tensor<[B, _ = NO], i32>, %weights: !weights) -> !loss {
  %h = stg.call @object_network(%x) : (!found) -> !found
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
  %h = stg.call @object_network(%x) : (!found) -> !found
  %w = stg.param "network3" : !stg.tensor<[D, 4], bf16>
  %p = stg.einsum "bsd,dc->bsc" %h, %w : !found, !stg.tensor<[D, 4], bf16>
  %b = stg.param "network3_bias" : !stg.tensor<[4], bf16>
  %l = stg.bias_add %p, %b : !boxes, !stg.tensor<[4], bf16>
  %s = stg.activation sigmoid %l <"boxes"> : !boxes
  %d = stg.elementwise sub %s, %boxes <"differences"> : !boxes, !boxes
  %a = stg.elementwise abs %d <"distances"> : !boxes
  %m = stg.mul %a, %matched <"matched_distances"> : !boxes, !stg.tensor<[B, _ = NO, 1], bf16>
  %c = stg.sum dim 2 %m <"sum_of_sides"> : !boxes
  %t = stg.sum dim 1 %c <"sum_of_distances"> : !stg.tensor<[B, _ = NO], bf16>
  %y = stg.cast %t <"sum_of_distances"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}
