stg.symbol @B
stg.symbol @S
stg.mesh @mesh <tp = 8, cp = 2, dp = B>
!whole = !stg.tensor<[B, S], bf16>
!shard = !stg.tensor<[B, S/8], bf16>
func.func @collectives(%x: !whole, %y: !shard) {
  %1 = stg.all_reduce max over ["tp", "dp"] %x : !whole
  %2:2 = stg.all_reduce sum over ["dp"] %x, %y : !whole, !shard
  %3 = stg.all_gather dim 1 over ["tp"] %y : !shard -> !whole
  %4 = stg.reduce_scatter dim 1 over ["tp"] %x : !whole -> !shard
  %5 = stg.all_to_all from 1 to 0 over ["tp"] %y : !shard -> !stg.tensor<[B/8, S], bf16>
  %6 = stg.local_slice dim 1 over ["tp"] %x : !whole -> !shard
  return
}
