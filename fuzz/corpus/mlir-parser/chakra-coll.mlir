!w = !chakra.tensor<64, parameter>
!a = !chakra.tensor<128, communication>
chakra.graph @coll mesh = #sym.mesh<tp = 2, dp = 2> {
  %w = chakra.state "w" : !w
  %g = chakra.coll all_gather "gather"(%w) over ["tp"] : (!w) -> !a
  %s = chakra.coll reduce_scatter "scatter"(%g) over ["tp"] phase "bwd" : (!a) -> !w
  %r:2 = chakra.coll all_reduce "reduce"(%s, %w) over ["dp", "tp"] in_place after(%g : !a) : (!w, !w) -> (!w, !w)
  %a = chakra.coll all_to_all "all_to_all"(%r#0) over ["dp"] : (!w) -> !chakra.tensor<64, communication>
  %t = chakra.coll all_gather "foreign"() over ["dp"] payload(20) : () -> !chakra.token
}
