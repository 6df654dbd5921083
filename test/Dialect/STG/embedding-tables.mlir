// Several tables of one size, and several ids of a sample for each. Where tables are divided each
// device looks up its own for all samples; ids and rows are exchanged by all-to-alls. Where rows
// are divided each device sums those that it has; the sums are scattered behind the pooling.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2 rules=N:dp+" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefixes=TABLES
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2 rules=R:dp+" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefixes=ROWS

stg.symbol @B
stg.symbol @N "tables"
stg.symbol @R "rows"
stg.symbol @D
!ids = !stg.tensor<[B, _ = 5*N], i32>
!choices = !stg.tensor<[B, 5, N], i32>
!tables = !stg.tensor<[N, R, D], bf16>
!rows = !stg.tensor<[B, N, D], bf16>
!flat = !stg.tensor<[B, _ = N*D], bf16>

// TABLES: chakra.coll all_to_all {{.*}} over ["dp"]
// TABLES: chakra.comp "tables.fwd"({{.*}}) ops(5*B*D*N/2) bytes(6*B*D*N + 10*B*N) phase "fwd"
// TABLES: chakra.coll all_to_all {{.*}} over ["dp"]
// TABLES: chakra.coll all_to_all {{.*}} over ["dp"]
// TABLES: chakra.comp "tables.bwd.dw"({{.*}}) ops(5*B*D*N/2)
// TABLES-NOT: chakra.coll

// ROWS: chakra.coll all_gather {{.*}} over ["dp"]
// ROWS: chakra.comp "tables.fwd"({{.*}}) ops(5*B*D*N) bytes(12*B*D*N + 20*B*N) phase "fwd"
// ROWS: chakra.coll reduce_scatter {{.*}} over ["dp"]
// ROWS: chakra.coll all_gather {{.*}} over ["dp"]
// ROWS: chakra.comp "tables.bwd.dw"({{.*}}) ops(5*B*D*N)
// ROWS-NOT: chakra.coll
func.func @f(%ids: !ids, %x: !flat) -> !flat {
  %t = stg.param "tables" : !tables
  %c = stg.rearrange "b(pn)->bpn" %ids : !ids -> !choices
  %e = stg.embedding %t, %c {pooled = 1} : !tables, !choices
  %y = stg.rearrange "bnd->b(nd)" %e : !rows -> !flat
  %z = stg.mul %x, %y : !flat, !flat
  return %z : !flat
}
