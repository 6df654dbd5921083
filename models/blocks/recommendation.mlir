// Recommendation: tables that are looked up by ids, networks of numbers, and how alike pairs of
// features are.

stg.symbol @B "samples in the global batch"
stg.symbol @D "width of an embedding"
stg.symbol @NT "tables"
stg.symbol @NR "rows of a table, or of all tables"
stg.symbol @NP = 1 "ids of a sample for each table"
stg.symbol @WI "width of what a layer reads"
stg.symbol @WO "width of what it gives"

!ids = !stg.tensor<[B, _ = NP*NT], i32>
!choices = !stg.tensor<[B, NP, NT], i32>
!rows = !stg.tensor<[B, NT, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!features = !stg.tensor<[B, NT + 1, D], bf16>
!input = !stg.tensor<[B, WI], bf16>
!output = !stg.tensor<[B, WO], bf16>
!logit = !stg.tensor<[B], bf16>

// One embedding of each table: the sum of the rows of a sample's ids.
//
// Tables are stacked, all with NR rows, or one with all rows, in which the ids of a table begin
// where its rows do. Those that are listed have rows of their own, NR in all; each can be on a
// rank, or have its rows on all.
stg.block @look_up(%ids: !ids) -> !rows {
  stg.option @tables : "stacked" | "joined" | "listed" = "joined" "each is a slice, all are one table with NR rows, or rows lists them"
  stg.option @rows : string = "" "rows of each table that is listed"
  %c = stg.rearrange "b(pt)->bpt" %ids <"choices"> : !ids -> !choices
  %e = stg.if @tables = "stacked" -> !rows {
    %t = stg.param "tables" : !stg.tensor<[NT, NR, D], bf16>
    %f = stg.embedding %t, %c {pooled = 1} : !stg.tensor<[NT, NR, D], bf16>, !choices
    stg.yield %f : !rows
  } else {
    %g = stg.if @tables = "listed" -> !rows {
      %t = stg.param "tables" : !stg.tensor<[NT, NR = NR/NT, D], bf16>
      %f = stg.embedding %t, %c {pooled = 1, rows = array<i64: 1>, stg.options = {rows = "rows"}} : !stg.tensor<[NT, NR = NR/NT, D], bf16>, !choices
      stg.yield %f : !rows
    } else {
      %t = stg.param "tables" : !stg.tensor<[NR, D], bf16>
      %f = stg.embedding %t, %c {pooled = 1} : !stg.tensor<[NR, D], bf16>, !choices
      stg.yield %f : !rows
    }
    stg.yield %g : !rows
  }
  stg.return %e : !rows
}

// A matrix, a bias and perhaps a ReLU.
stg.block @linear(%x: !input) -> !output {
  stg.option @name : string "of its parameters"
  stg.option @rectified : bool = true "a ReLU behind it"
  %w = stg.param "{name}" : !stg.tensor<[WI, WO], bf16>
  %p = stg.einsum "bi,io->bo" %x, %w : !input, !stg.tensor<[WI, WO], bf16>
  %b = stg.param "{name}_bias" : !stg.tensor<[WO], bf16>
  %z = stg.bias_add %p, %b : !output, !stg.tensor<[WO], bf16>
  %y = stg.if @rectified -> !output {
    %r = stg.activation relu %z <"{name}_relu"> : !output
    stg.yield %r : !output
  } else {
    stg.yield %z : !output
  }
  stg.return %y : !output
}

// The features of a sample beside the products of all pairs of features and embeddings.
//
// Products are computed for all pairs, in both orders. As many are copied as there are pairs;
// which ones these are is nothing that a trace has.
stg.block @interact(%x: !row, %rows: !rows) -> !stg.tensor<[B, _ = D + NT*(NT + 1)/2], bf16> {
  %one = stg.rearrange "bd->b()d" %x <"feature"> : !row -> !stg.tensor<[B, 1, D], bf16>
  %f = stg.concat dim 1 ordered %one, %rows <"features"> : !stg.tensor<[B, 1, D], bf16>, !rows -> !features
  %z = stg.einsum "bfd,bgd->bfg" %f, %f <"products"> : !features, !features
  %flat = stg.rearrange "bfg->b(fg)" %z <"flat_products"> : !stg.tensor<[B, NT + 1, NT + 1], bf16> -> !stg.tensor<[B, _ = (NT + 1)*(NT + 1)], bf16>
  %pairs = stg.slice dim 1 %flat {from = #sym.expr<0>} <"pairs"> : !stg.tensor<[B, _ = (NT + 1)*(NT + 1)], bf16> -> !stg.tensor<[B, _ = NT*(NT + 1)/2], bf16>
  %plain = stg.rearrange "bod->b(od)" %one <"plain"> : !stg.tensor<[B, 1, D], bf16> -> !stg.tensor<[B, _ = D], bf16>
  %y = stg.concat dim 1 ordered %plain, %pairs <"interaction"> : !stg.tensor<[B, _ = D], bf16>, !stg.tensor<[B, _ = NT*(NT + 1)/2], bf16> -> !stg.tensor<[B, _ = D + NT*(NT + 1)/2], bf16>
  stg.return %y : !stg.tensor<[B, _ = D + NT*(NT + 1)/2], bf16>
}

// Cross-entropy of a yes or a no, of its logit: softplus(x) - y*x.
stg.block @yes_or_no_loss(%x: !stg.tensor<[B, WO = 1], bf16>, %clicked: !logit) -> !logit {
  %l = stg.rearrange "bo->(bo)" %x <"logit"> : !stg.tensor<[B, WO = 1], bf16> -> !logit
  %s = stg.activation softplus %l <"loss_softplus"> : !logit
  %m = stg.mul %l, %clicked <"loss_product"> : !logit, !logit
  %y = stg.add %s, %m <"loss"> : !logit, !logit
  stg.return %y : !logit
}
