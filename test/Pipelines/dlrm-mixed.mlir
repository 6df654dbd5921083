// Large tables by rows, and the others whole: two lookups, each with dimensions of its own.
// RUN: %python %S/dlrm-tables.py mixed %s

stg.import "blocks/recommendation.mlir"

stg.symbol @B
stg.symbol @ND = 13
stg.symbol @NL = 2 "large tables"
stg.symbol @RL = 1500 "their rows"
stg.symbol @NS = 5 "small tables"
stg.symbol @RS = 60 "their rows"
stg.symbol @NP = 1
stg.symbol @D = 16
stg.symbol @J1 = 32
stg.symbol @O1 = 64

!numbers = !stg.tensor<[B, ND], bf16>
!large_ids = !stg.tensor<[B, _ = NP*NL], i32>
!small_ids = !stg.tensor<[B, _ = NP*NS], i32>
!clicked = !stg.tensor<[B], bf16>
!row = !stg.tensor<[B, D], bf16>
!large = !stg.tensor<[B, NL, D], bf16>
!small = !stg.tensor<[B, NS, D], bf16>
!found = !stg.tensor<[B, NL + NS, D], bf16>

func.func @mixed(%numbers: !numbers, %large_ids: !large_ids, %small_ids: !small_ids, %clicked: !clicked) -> !clicked {
  %b = stg.call @linear(%numbers) {name = "bottom1", WO as J1} : (!numbers) -> !stg.tensor<[B, J1], bf16>
  %x = stg.call @linear(%b) {name = "bottom2", WO as D} : (!stg.tensor<[B, J1], bf16>) -> !row
  %l = stg.call @look_up(%large_ids) {NT as NL, NR as RL, tables = "listed", rows = "1000,500"} <"large"> : (!large_ids) -> !large
  %s = stg.call @look_up(%small_ids) {NT as NS, NR as RS, tables = "listed", rows = "3,30,4,20,3"} <"small"> : (!small_ids) -> !small
  %e = stg.concat dim 1 ordered %l, %s <"embeddings"> : !large, !small -> !found
  %z = stg.call @interact(%x, %e) : (!row, !found) -> !stg.tensor<[B, _ = D + (NL + NS)*(NL + NS + 1)/2], bf16>
  %t = stg.call @linear(%z) {name = "top1", WO as O1} : (!stg.tensor<[B, _ = D + (NL + NS)*(NL + NS + 1)/2], bf16>) -> !stg.tensor<[B, O1], bf16>
  %y = stg.call @linear(%t) {name = "top2", rectified = false, WO = 1} : (!stg.tensor<[B, O1], bf16>) -> !stg.tensor<[B, WO = 1], bf16>
  %loss = stg.call @yes_or_no_loss(%y, %clicked) : (!stg.tensor<[B, WO = 1], bf16>, !clicked) -> !clicked
  return %loss : !clicked
}
