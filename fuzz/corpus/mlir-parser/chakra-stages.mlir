chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !chakra.tensor<64, kv_cache>
  %y = chakra.coll all_reduce "sum"(%x) over ["tp"] : (!chakra.tensor<64, kv_cache>) -> !chakra.tensor<64, optimizer>
}
chakra.graph @last mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 1} {
  %i = chakra.state "i" : !chakra.tensor<0, input>
  %y = chakra.comp "c"(%i) ops(9223372036854775807) bytes(1) : (!chakra.tensor<0, input>) -> !chakra.tensor<1, gradient>
}
