!x = !stg.tensor<[8], f32>
func.func private @callee(!x)
func.func @caller(%x: !x) {
  call @callee(%x) : (!x) -> ()
  return
}
