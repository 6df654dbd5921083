// Images that are cut into tiles, all of whose patches see each other: what they show together,
// and how an image is cut, is added to patches by learned tables (Llama 3.2 Vision).

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @D "hidden size"
stg.symbol @IM = 1 "images per sequence"
stg.symbol @DV "hidden size of the vision tower"
stg.symbol @PC "elements of a patch"
stg.symbol @NT "tiles of an image"
stg.symbol @NP "patches of a tile"
stg.symbol @NF "tokens that fill a tile up"
stg.symbol @NA "ways to cut an image into tiles, and none"

!images = !stg.tensor<[B = IM*B, NT, NP, PC], bf16>
!ways = !stg.tensor<[B = IM*B], i32>
!patches = !stg.tensor<[B = IM*B, NT, NP, DV], bf16>
!tiles = !stg.tensor<[B = IM*B, NT, NP = NP + 1, DV], bf16>
!filled = !stg.tensor<[B = IM*B, NT, NP = NP + 1 + NF, DV], bf16>
!vision = !stg.tensor<[B = IM*B, SV = NT*(NP + 1 + NF), DV], bf16>
!each_tile = !stg.tensor<[B = IM*B, NT, DV], bf16>
!number = !stg.tensor<[], bf16>

// Of each tile a learned vector for its place and the way its image is cut, times the tanh of a
// learned number.
stg.block @place_of_tile(%ways: !ways) -> !each_tile {
  stg.option @name : string "of the table"
  %t = stg.param "{name}_tiles" : !stg.tensor<[NA, _ = NT*DV], bf16>
  %e = stg.embedding %t, %ways : !stg.tensor<[NA, _ = NT*DV], bf16>, !ways
  %r = stg.rearrange "b(td)->btd" %e <"{name}_places"> : !stg.tensor<[B = IM*B, _ = NT*DV], bf16> -> !each_tile
  %g = stg.param "{name}_gate" : !number
  %h = stg.activation tanh %g <"{name}_gate_tanh"> : !number
  %y = stg.mul_along %r, %h {dims = array<i64>} <"{name}_gated"> : !each_tile, !number
  stg.return %y : !each_tile
}

// The patches of all tiles, each tile behind a token for what it shows. Its positions are learned
// ones of a tile, and others of all tiles by the way its image is cut: a learned number, g, says how
// much of each, 1 - tanh(g) and tanh(g).
stg.block @embed_tiles(%images: !images, %ways: !ways) -> !vision {
  %w = stg.param "patch_proj" : !stg.tensor<[PC, DV], bf16>
  %p = stg.einsum "btnp,pd->btnd" %images, %w : !images, !stg.tensor<[PC, DV], bf16>
  %place = stg.call @place_of_tile(%ways) {name = "first"} : (!ways) -> !each_tile
  %pp = stg.bias_add %p, %place {dims = array<i64: 0, 1, 3>} <"placed_patches"> : !patches, !each_tile
  %ct = stg.param "class_token" : !stg.tensor<[1, DV], bf16>
  %ci = stg.broadcast dim 0 %ct <"class_token_of_tile"> : !stg.tensor<[1, DV], bf16> -> !stg.tensor<[NT, 1, DV], bf16>
  %cs = stg.broadcast dim 0 %ci <"class_tokens"> : !stg.tensor<[NT, 1, DV], bf16> -> !stg.tensor<[B = IM*B, NT, 1, DV], bf16>
  %x = stg.concat dim 2 ordered %cs, %pp <"class_and_patches"> : !stg.tensor<[B = IM*B, NT, 1, DV], bf16>, !patches -> !tiles
  %g = stg.param "pos_gate" : !number
  %h = stg.activation tanh %g <"pos_gate_tanh"> : !number
  %one = stg.splat 1 : !number
  %l = stg.elementwise sub %one, %h <"pos_gate_rest"> : !number, !number
  %pos = stg.param "pos_embeddings" : !stg.tensor<[NP = NP + 1, DV], bf16>
  %own = stg.mul_along %pos, %l {dims = array<i64>} <"positions"> : !stg.tensor<[NP = NP + 1, DV], bf16>, !number
  %xo = stg.bias_add %x, %own <"positions_added"> : !tiles, !stg.tensor<[NP = NP + 1, DV], bf16>
  %table = stg.param "pos_tiles" : !stg.tensor<[NA, _ = NT*(NP + 1)*DV], bf16>
  %e = stg.embedding %table, %ways : !stg.tensor<[NA, _ = NT*(NP + 1)*DV], bf16>, !ways
  %r = stg.rearrange "b(tnd)->btnd" %e <"tile_positions"> : !stg.tensor<[B = IM*B, _ = NT*(NP + 1)*DV], bf16> -> !tiles
  %of_all = stg.mul_along %r, %h {dims = array<i64>} <"tile_positions_gated"> : !tiles, !number
  %xp = stg.add %xo, %of_all <"embeddings"> : !tiles, !tiles
  %wn = stg.param "first_norm.weight" : !stg.tensor<[DV], bf16>
  %bn = stg.param "first_norm.bias" : !stg.tensor<[DV], bf16>
  %n, %mean, %rstd = stg.layer_norm %xp, %wn, %bn <"first_norm"> : !tiles, !stg.tensor<[DV], bf16>, !stg.tensor<[DV], bf16>
  %f = stg.pad dim 2 %n {from = #sym.expr<0>} <"filled_tiles"> : !tiles -> !filled
  %y = stg.rearrange "btnd->b(tn)d" %f <"all_tiles"> : !filled -> !vision
  stg.return %y : !vision
}

// Between layers of patches and those behind them: a norm, and the place of each tile once more.
stg.block @place_tiles(%x: !vision, %ways: !ways) -> !vision {
  %w = stg.param "norm.weight" : !stg.tensor<[DV], bf16>
  %b = stg.param "norm.bias" : !stg.tensor<[DV], bf16>
  %n, %mean, %rstd = stg.layer_norm %x, %w, %b <"norm"> : !vision, !stg.tensor<[DV], bf16>, !stg.tensor<[DV], bf16>
  %t = stg.rearrange "b(tn)d->btnd" %n <"tiles"> : !vision -> !filled
  %place = stg.call @place_of_tile(%ways) {name = "second"} : (!ways) -> !each_tile
  %p = stg.bias_add %t, %place {dims = array<i64: 0, 1, 3>} <"placed_tiles"> : !filled, !each_tile
  %y = stg.rearrange "btnd->b(tn)d" %p <"all_tiles"> : !filled -> !vision
  stg.return %y : !vision
}

// What the last layer gives beside what five others have read, without what fills tiles up, and
// as wide as the text: the images of a sequence are what its text attends to.
stg.block @project_tiles(%x: !vision, %a: !vision, %b: !vision, %c: !vision, %d: !vision, %e: !vision) -> !stg.tensor<[B, T = IM*NT*(NP + 1), D], bf16> {
  %j = stg.concat dim 2 ordered %x, %a, %b, %c, %d, %e <"features"> : !vision, !vision, !vision, !vision, !vision, !vision -> !stg.tensor<[B = IM*B, SV = NT*(NP + 1 + NF), 6*DV], bf16>
  %t = stg.rearrange "b(tn)d->btnd" %j <"features_of_tiles"> : !stg.tensor<[B = IM*B, SV = NT*(NP + 1 + NF), 6*DV], bf16> -> !stg.tensor<[B = IM*B, NT, NP = NP + 1 + NF, 6*DV], bf16>
  %s = stg.slice dim 2 %t {from = #sym.expr<0>} <"features_of_patches"> : !stg.tensor<[B = IM*B, NT, NP = NP + 1 + NF, 6*DV], bf16> -> !stg.tensor<[B = IM*B, NT, NP = NP + 1, 6*DV], bf16>
  %w = stg.param "projector" : !stg.tensor<[6*DV, D], bf16>
  %p = stg.einsum "btnv,vd->btnd" %s, %w : !stg.tensor<[B = IM*B, NT, NP = NP + 1, 6*DV], bf16>, !stg.tensor<[6*DV, D], bf16>
  %bias = stg.param "projector_bias" : !stg.tensor<[D], bf16>
  %z = stg.bias_add %p, %bias : !stg.tensor<[B = IM*B, NT, NP = NP + 1, D], bf16>, !stg.tensor<[D], bf16>
  %y = stg.rearrange "(bi)tnd->b(itn)d" %z <"image_tokens"> : !stg.tensor<[B = IM*B, NT, NP = NP + 1, D], bf16> -> !stg.tensor<[B, T = IM*NT*(NP + 1), D], bf16>
  stg.return %y : !stg.tensor<[B, T = IM*NT*(NP + 1), D], bf16>
}
