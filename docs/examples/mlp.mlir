// An image classifier: residual feed-forward layers between a stem and a head.

stg.symbol @B "images in the global batch"
stg.symbol @P = 3072 "pixels"
stg.symbol @D = 1024 "hidden size"
stg.symbol @F = 4 * D "feed-forward size"
stg.symbol @C = 1000 "classes"
stg.symbol @L = 2 "layers"

!x = !stg.tensor<[B, D], bf16>
!h = !stg.tensor<[B, F], bf16>
!up = !stg.tensor<[D, F], bf16>
!down = !stg.tensor<[F, D], bf16>

func.func private @layer(%x: !x) -> !x {
  %wu = stg.param "up" : !up
  %u = stg.einsum "bd,df->bf" %x, %wu : !x, !up
  %h = stg.activation gelu %u : !h
  %wd = stg.param "down" : !down
  %d = stg.einsum "bf,fd->bd" %h, %wd : !h, !down
  %y = stg.add %x, %d <"residual"> : !x, !x
  return %y : !x
}

func.func @mlp(%images: !stg.tensor<[B, P], bf16> {stg.name = "images"},
               %labels: !stg.tensor<[B], i32> {stg.name = "labels"}) -> !stg.tensor<[B], f32> {
  %ws = stg.param "stem" : !stg.tensor<[P, D], bf16>
  %x = stg.einsum "bp,pd->bd" %images, %ws : !stg.tensor<[B, P], bf16>, !stg.tensor<[P, D], bf16>
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %z = func.call @layer(%c) : (!x) -> !x
    stg.yield %z : !x
  }
  %wh = stg.param "head" : !stg.tensor<[D, C], bf16>
  %logits = stg.einsum "bd,dc->bc" %y, %wh : !x, !stg.tensor<[D, C], bf16>
  %loss, %probs = stg.cross_entropy %logits, %labels
    : !stg.tensor<[B, C], bf16>, !stg.tensor<[B], i32>
  return %loss : !stg.tensor<[B], f32>
}
