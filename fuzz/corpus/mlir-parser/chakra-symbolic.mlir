chakra.graph @all mesh = #sym.mesh<tp = 8, dp = dp> {
  %p = chakra.state "p" : !chakra.tensor<4*(H + 2*K)*D/tp, parameter>
  %y = chakra.repeat "nothing" * (H + 2*K)/tp carry(%c = %p : !chakra.tensor<4*(H + 2*K)*D/tp, parameter>) -> !chakra.tensor<4*(H + 2*K)*D/tp, parameter> attributes {note = "x"} {
    chakra.yield carry(%c : !chakra.tensor<4*(H + 2*K)*D/tp, parameter>)
  }
}
