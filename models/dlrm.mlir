// DLRM: tables of embeddings and a network for numbers, the products of all pairs of what these
// give, and a network for the answer.
//
// Each rank has samples of its own. Tables are divided among the data-parallel ranks by a rule:
// `--rules=NR:dp+` divides the rows of all tables, whose ids are then gathered, or sent
// (`--row-ids=send`), and whose sums are scattered; `--rules=NT:dp+` places tables whole, whose
// ids and sums are then exchanged by all-to-alls. Tables that are listed may have different
// sizes: others are given with `--set rows=ROWS,...`, their number with `--set NT=N` and all
// their rows with `--set NR=N`.

stg.import "blocks/recommendation.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @ND = 13 "numbers of a sample"
stg.symbol @NT = 26 "tables"
stg.symbol @NR "rows of a table, or of all tables"
stg.symbol @NP = 1 "ids of a sample for each table"
stg.symbol @D "width of an embedding"
stg.symbol @J1 = 512 "width of the first layer for numbers"
stg.symbol @J2 = 256 "width of the second"
stg.symbol @O1 = 1024 "width of the first layer for the answer"
stg.symbol @O2 = 1024 "width of the second"
stg.symbol @O3 = 512 "width of the third"
stg.symbol @O4 = 256 "width of the fourth"
stg.option @tables : "stacked" | "joined" | "listed" = "joined" "each is a slice, all are one table with NR rows, or rows lists them"
stg.option @rows : string = "" "rows of each table that is listed"

// Criteo's terabyte of clicks with at most 40 million rows in a table, as MLPerf trains it.
stg.config @"dlrm-mlperf" "DLRM of MLPerf" {NR = 204184588, D = 128, tables = "listed", rows = "40000000,39060,17295,7424,20265,3,7122,1543,63,40000000,3067956,405282,10,2209,11938,155,4,976,14,40000000,40000000,40000000,590152,12973,108,36"}
// The third random model of the authors' repository has eight tables of one size.
stg.config @"dlrm-stacked" "DLRM with tables of one size" {NT = 8, NR = 1000000, D = 64, ND = 512, J1 = 512, J2 = 64, NP = 100, tables = "stacked", O1 = 1024, O2 = 1024, O3 = 512, O4 = 256}

!ids = !stg.tensor<[B, _ = NP*NT], i32>
!numbers = !stg.tensor<[B, ND], bf16>
!clicked = !stg.tensor<[B], bf16>
!row = !stg.tensor<[B, D], bf16>
!rows = !stg.tensor<[B, NT, D], bf16>
!wide = !stg.tensor<[B, _ = D + NT*(NT + 1)/2], bf16>

func.func @dlrm(%numbers: !numbers {stg.name = "numbers"}, %ids: !ids {stg.name = "ids"}, %clicked: !clicked {stg.name = "clicked"}) -> !clicked {
  %b1 = stg.call @linear(%numbers) {name = "bottom1", WO as J1} : (!numbers) -> !stg.tensor<[B, J1], bf16>
  %b2 = stg.call @linear(%b1) {name = "bottom2", WO as J2} : (!stg.tensor<[B, J1], bf16>) -> !stg.tensor<[B, J2], bf16>
  %x = stg.call @linear(%b2) {name = "bottom3", WO as D} : (!stg.tensor<[B, J2], bf16>) -> !row
  %e = stg.call @look_up(%ids) : (!ids) -> !rows
  %z = stg.call @interact(%x, %e) : (!row, !rows) -> !wide
  %t1 = stg.call @linear(%z) {name = "top1", WO as O1} : (!wide) -> !stg.tensor<[B, O1], bf16>
  %t2 = stg.call @linear(%t1) {name = "top2", WO as O2} : (!stg.tensor<[B, O1], bf16>) -> !stg.tensor<[B, O2], bf16>
  %t3 = stg.call @linear(%t2) {name = "top3", WO as O3} : (!stg.tensor<[B, O2], bf16>) -> !stg.tensor<[B, O3], bf16>
  %t4 = stg.call @linear(%t3) {name = "top4", WO as O4} : (!stg.tensor<[B, O3], bf16>) -> !stg.tensor<[B, O4], bf16>
  %t5 = stg.call @linear(%t4) {name = "top5", rectified = false, WO = 1} : (!stg.tensor<[B, O4], bf16>) -> !stg.tensor<[B, WO = 1], bf16>
  %loss = stg.call @yes_or_no_loss(%t5, %clicked) : (!stg.tensor<[B, WO = 1], bf16>, !clicked) -> !clicked
  return %loss : !clicked
}
