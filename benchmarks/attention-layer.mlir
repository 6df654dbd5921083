// Attention alone, as benchmarks of kernels have it (benchmarks/attention-kernels.py).

stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D = 64 "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @EV = E "head size of values"
stg.symbol @V = 1024 "vocabulary"
stg.symbol @W = S "keys that a query sees at most; no window if there are as many as tokens"

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!values = !stg.tensor<[B, S, K, EV], bf16>
!attended = !stg.tensor<[B, S, H, EV], bf16>

func.func @attention_alone(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %x = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %wq = stg.param "q_proj" : !stg.tensor<[D, H, E], bf16>
  %wk = stg.param "k_proj" : !stg.tensor<[D, K, E], bf16>
  %wv = stg.param "v_proj" : !stg.tensor<[D, K, EV], bf16>
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %q = stg.einsum "bsd,dhe->bshe" %x, %wq : !stream, !stg.tensor<[D, H, E], bf16>
  %k = stg.einsum "bsd,dke->bske" %x, %wk : !stream, !stg.tensor<[D, K, E], bf16>
  %v = stg.einsum "bsd,dkf->bskf" %x, %wv : !stream, !stg.tensor<[D, K, EV], bf16>
  %a, %lse = stg.attention causal %q, %k, %v {window = #sym.expr<W>} : !queries, !keys, !values
  %o = stg.einsum "bshf,hfd->bsd" %a, %wo : !attended, !stg.tensor<[H, EV, D], bf16>
  %loss = stg.call @token_loss(%o, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
