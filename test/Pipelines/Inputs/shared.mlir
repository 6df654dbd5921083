// Two parameters that ops in different places read: @table at the start, twice after the
// second third of the layers, and at the end; @mix at the start and after that third.

stg.symbol @B
stg.symbol @S = 16
stg.symbol @D = 64
stg.symbol @V = 512

!ids = !stg.tensor<[B, S], i32>
!x = !stg.tensor<[B, S, D], bf16>
!w = !stg.tensor<[D, D], bf16>
!t = !stg.tensor<[V, D], bf16>
!v = !stg.tensor<[B, S, V], bf16>

func.func private @layer(%h: !x) -> !x {
  %w = stg.param "w" : !w
  %y = stg.einsum "bsd,de->bse" %h, %w : !x, !w
  return %y : !x
}

func.func @f(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "table" : !t
  %mix = stg.param "mix" : !w
  %e = stg.embedding %table, %tokens : !t, !ids
  %m = stg.einsum "bsd,de->bse" %e, %mix : !x, !w
  %a = stg.repeat "first" * 2 carry(%h = %m : !x) {
    %y = func.call @layer(%h) : (!x) -> !x
    stg.yield %y : !x
  }
  %b = stg.repeat "second" * 2 carry(%h = %a : !x) {
    %y = func.call @layer(%h) : (!x) -> !x
    stg.yield %y : !x
  }
  %p = stg.einsum "bsd,vd->bsv" %b, %table <"up"> : !x, !t
  %q = stg.einsum "bsv,vd->bsd" %p, %table <"down"> : !v, !t
  %r = stg.einsum "bsd,de->bse" %q, %mix <"again"> : !x, !w
  %c = stg.repeat "third" * 2 carry(%h = %r : !x) {
    %y = func.call @layer(%h) : (!x) -> !x
    stg.yield %y : !x
  }
  %logits = stg.einsum "bsd,vd->bsv" %c, %table <"output"> : !x, !t
  %loss, %probs = stg.cross_entropy %logits, %labels : !v, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
