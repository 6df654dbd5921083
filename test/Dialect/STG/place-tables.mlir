// Tables of different sizes are placed whole: the largest first, each on the device with the
// fewest rows. A device joins its tables.
//
// RUN: stg-opt %s --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2 rules=NT:dp+" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives -o %t.mlir
// RUN: FileCheck %s --check-prefix=LOCAL < %t.mlir
// RUN: stg-opt %t.mlir --stg-place-tables --stg-check-layouts | FileCheck %s
// RUN: stg-opt %t.mlir --stg-place-tables="ranks=1,1,1" | FileCheck %s --check-prefix=ONE
// Placed once.
// RUN: stg-opt %t.mlir --stg-place-tables --stg-place-tables | FileCheck %s
//
// Of rows that are divided a device has as many of each table as the others, but for the last one:
// 1 + 5 + 3, and 1 + 4 + 2. Where tables and rows are divided, each device has a part of its tables.
//
// RUN: stg-opt %s --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2 rules=NR:dp+" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives --stg-place-tables --stg-check-layouts \
// RUN:   | FileCheck %s --check-prefix=DIVIDED
// RUN: stg-opt %s --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2 tp=2 rules=NT:dp+,NR:tp" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives --stg-place-tables --stg-check-layouts \
// RUN:   | FileCheck %s --check-prefix=BOTH
//
// The mean of the rows may be a fraction.
//
// RUN: stg-opt %s --stg-bind="NT=3 NR=16 D=8 B=4" | FileCheck %s --check-prefix=MEAN

stg.symbol @B
stg.symbol @NT = 3
stg.symbol @NR
stg.symbol @D

!ids = !stg.tensor<[B, _ = 2*NT], i32>
!choices = !stg.tensor<[B, NP = 2, NT], i32>
!tables = !stg.tensor<[NT, NR = NR/NT, D], bf16>
!found = !stg.tensor<[B, NT, D], bf16>

// LOCAL: stg.embedding %{{.*}} {over = ["dp"], pooled = 1 : i64, rows = array<i64: 2, 9, 5>} {{.*}}: !stg.tensor<[NT/2, NR/NT, D], bf16>, !stg.tensor<[B, NP = 2, NT/2], i32>

// Nine rows on the first device, 5 + 2 on the second one, which has two tables.
//
// CHECK: stg.symbol @dp_index coordinate "dp"
// CHECK-LABEL: func.func @f
// CHECK: %[[I:.*]] = stg.all_to_all from 0 to 2 over ["dp"] %{{[^ ]*}} {payload = #sym.expr<16*B>} <{{.*}}> : !stg.tensor<[B/2, NP = 2, NT], i32> -> !stg.tensor<[B, NP = 2, NT = [[TABLES:.*dp_index.* \+ 1]]], i32>
// CHECK: %[[T:.*]] = stg.param "tables" {layout = #stg.layout<dp : 0>} : !stg.tensor<[NR = [[ROWS:-2\*.*dp_index.* \+ 9]], D], bf16>
// CHECK: stg.embedding %[[T]], %[[I]] {over = ["dp"], pooled = 1 : i64, rows = array<i64: 2, 9, 5>} {{.*}}: !stg.tensor<[NR = [[ROWS]], D], bf16>
// CHECK: stg.all_to_all from 1 to 0 over ["dp"] %{{[^ ]*}} {payload = #sym.expr<4*B*D>} <{{.*}}> : !stg.tensor<[B, NT = [[TABLES]], D], bf16> -> !stg.tensor<[B/2, NT, D], bf16>
// CHECK: stg.all_to_all from 0 to 1 over ["dp"] %{{[^ ]*}} {payload = #sym.expr<4*B*D>} <{{.*}}> : !stg.tensor<[B/2, NT, D], bf16> -> !stg.tensor<[B, NT = [[TABLES]], D], bf16>
// CHECK: stg.embedding_grad {{.*}} -> !stg.tensor<[NR = [[ROWS]], D], f32>
// CHECK: stg.adam f32 {{.*}} : !stg.tensor<[NR = [[ROWS]], D], bf16>, !stg.tensor<[NR = [[ROWS]], D], f32>

// All on the second device: the first one has none.
//
// ONE: payload = #sym.expr<24*B>
// ONE: stg.param "tables" {{.*}} : !stg.tensor<[NR = 16*max(min(dp_index, 1), 0), D], bf16>

// DIVIDED: stg.param "tables" {layout = #stg.layout<dp : 0>} : !stg.tensor<[NR = -2*max(min(dp_index, 1), 0) + 9, D], bf16>
// DIVIDED: stg.embedding %{{.*}} {pooled = 1 : i64} {{.*}}: !stg.tensor<[NR = -2*max(min(dp_index, 1), 0) + 9, D], bf16>, !stg.tensor<[B, NP = 2, NT], i32>

// 5 of nine rows, and 3 + 1 of the others, on the first ranks of tp; 4, and 2 + 1, on the second.
//
// BOTH: stg.param "tables" {layout = #stg.layout<tp : 0, dp : 0>} : !stg.tensor<[NR = -max(min(dp_index + 2*tp_index, 1), 0) - max(min(dp_index + 2*tp_index - 2, 1), 0) + 5, D], bf16>
// BOTH: stg.embedding %{{.*}} {over = ["dp"], pooled = 1 : i64, rows = array<i64: 2, 9, 5>, rows_over = ["tp"]}

// MEAN: !stg.tensor<[NT = 3, NR = 16/3, D = 8], bf16>
func.func @f(%ids: !ids, %x: !stg.tensor<[B, 1, D], bf16>) -> !stg.tensor<[B, D], bf16> {
  %c = stg.rearrange "b(pt)->bpt" %ids <"choices"> : !ids -> !choices
  %t = stg.param "tables" : !tables
  %e = stg.embedding %t, %c {pooled = 1, rows = array<i64: 2, 9, 5>} <"tables"> : !tables, !choices
  %y = stg.concat dim 1 ordered %x, %e <"features"> : !stg.tensor<[B, 1, D], bf16>, !found -> !stg.tensor<[B, NT + 1, D], bf16>
  %z = stg.einsum "bfd,bfd->bd" %y, %y <"squares"> : !stg.tensor<[B, NT + 1, D], bf16>, !stg.tensor<[B, NT + 1, D], bf16>
  return %z : !stg.tensor<[B, D], bf16>
}
