// Two programs with one block: one reads prompts, one goes on from hidden states.

stg.symbol @B = 16
stg.symbol @S = 32
stg.symbol @D = 64
stg.symbol @F = 128
stg.symbol @V = 96
stg.symbol @L = 4

!x = !stg.tensor<[B, S, D], bf16>
!h = !stg.tensor<[B, S, F], bf16>
!up = !stg.tensor<[D, F], bf16>
!down = !stg.tensor<[F, D], bf16>
!table = !stg.tensor<[V, D], bf16>
!head = !stg.tensor<[D, V], bf16>
!logits = !stg.tensor<[B, S, V], bf16>
!ids = !stg.tensor<[B, S], i32>

func.func private @layer(%x: !x) -> !x {
  %wu = stg.param "up" : !up
  %u = stg.einsum "bsd,df->bsf" %x, %wu : !x, !up
  %h = stg.activation gelu %u : !h
  %wd = stg.param "down" : !down
  %d = stg.einsum "bsf,fd->bsd" %h, %wd : !h, !down
  %y = stg.add %x, %d <"residual"> : !x, !x
  return %y : !x
}

func.func @prefill(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "table" : !table
  %x = stg.embedding %table, %tokens : !table, !ids
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %z = func.call @layer(%c) : (!x) -> !x
    stg.yield %z : !x
  }
  %wh = stg.param "head" : !head
  %logits = stg.einsum "bsd,dv->bsv" %y, %wh : !x, !head
  %loss, %probs = stg.cross_entropy %logits, %labels : !logits, !ids
  return %loss : !stg.tensor<[B, S], f32>
}

func.func @decode(%x: !x {stg.name = "hidden"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %z = func.call @layer(%c) : (!x) -> !x
    stg.yield %z : !x
  }
  %wh = stg.param "draft_head" : !head
  %logits = stg.einsum "bsd,dv->bsv" %y, %wh : !x, !head
  %loss, %probs = stg.cross_entropy %logits, %labels : !logits, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
