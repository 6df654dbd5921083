stg.symbol @B
stg.symbol @D
!x = !stg.tensor<[B, 4, D], bf16>
!w = !stg.tensor<[D], bf16>
!row = !stg.tensor<[B, 4], f32>
!ids = !stg.tensor<[B, 4], i32>
func.func @f(%x: !x, %w: !w, %r: !row, %i: !ids, %p: !stg.tensor<[B, 4, D], f32>) {
  %0 = stg.activation_grad relu %x, %x : !x, !x
  %1, %2 = stg.rms_norm_grad %x, %w, %r, %x : !x, !w, !row, !x -> !x, !stg.tensor<[D], f32>
  %3 = stg.cross_entropy_grad %p, %i, %r : !stg.tensor<[B, 4, D], f32>, !ids, !row -> !x
  %4 = stg.embedding_grad %i, %x : !ids, !x -> !stg.tensor<[8, D], f32>
  stg.adam bf16 %x, %p : !x, !stg.tensor<[B, 4, D], f32>
  return
}
