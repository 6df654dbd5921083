// With ZeRO-3 and a root that is kept, each micro-batch gathers a parameter of the root once, also
// if a model file reads it by two ops, as a tied table: it was gathered for each of them. Of
// 512 * 64 elements of 2 bytes a rank of two gives 32 KiB, and of two layers with a matrix of
// 64 * 64 together 8 KiB, in each of two micro-batches. Backward gathers the layers again.
//
// RUN: stg-compile %s --dp 2 --zero 3 --batch 4 --micro-batch 1 --dry-run | FileCheck %s --check-prefix=ONE
// ONE:      {{^ +}}dp all_gather fwd 6 80.00 KiB{{$}}
// ONE-NEXT: {{^ +}}dp all_gather bwd 4 16.00 KiB{{$}}
// ONE-NEXT: {{^ +}}dp reduce_scatter bwd 6 320.00 KiB{{$}}
//
// Both stages have the table, and one of the layers.
// RUN: stg-compile %s --pp 2 --dp 2 --zero 3 --batch 4 --micro-batch 1 --dry-run --verbose | FileCheck %s --check-prefix=STAGES
// STAGES:      each of 2 ranks of stage 0
// STAGES:      {{^ +}}dp all_gather fwd 4 72.00 KiB{{$}}
// STAGES-NEXT: {{^ +}}dp all_gather bwd 2 8.00 KiB{{$}}
// STAGES:      each of 2 ranks of stage 1
// STAGES:      {{^ +}}dp all_gather fwd 4 72.00 KiB{{$}}
// STAGES-NEXT: {{^ +}}dp all_gather bwd 2 8.00 KiB{{$}}
//
// Units that are gathered where they are read have the table each.
// RUN: stg-compile %s --dp 2 --zero 3 --zero-root units --batch 4 --micro-batch 1 --dry-run | FileCheck %s --check-prefix=UNITS
// UNITS:      {{^ +}}dp all_gather fwd 8 144.00 KiB{{$}}

stg.symbol @B "sequences"
!ids = !stg.tensor<[B, 32], i32>
!x = !stg.tensor<[B, 32, 64], bf16>
!t = !stg.tensor<[vocabulary = 512, 64], bf16>
!w = !stg.tensor<[64, 64], bf16>
!logits = !stg.tensor<[B, 32, vocabulary = 512], bf16>
!loss = !stg.tensor<[B, 32], f32>
func.func @tied(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %t = stg.param "table" : !t
  %e = stg.embedding %t, %tokens : !t, !ids
  %y = stg.repeat "layers" * 2 carry(%c = %e : !x) {
    %w = stg.param "w" : !w
    %l = stg.einsum "bsd,de->bse" %c, %w <"product"> : !x, !w
    stg.yield %l : !x
  }
  %h = stg.param "table" : !t
  %l = stg.einsum "bsd,vd->bsv" %y, %h <"head"> : !x, !t
  %loss, %p = stg.cross_entropy %l, %labels : !logits, !ids
  return %loss : !loss
}
