!act = !chakra.tensor<512, activation>
!w = !chakra.tensor<64, parameter>
chakra.graph @comp mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !act
  %g = chakra.state "g" : !w
  chakra.comp "product"() ops(64) matrix bytes(32) phase "fwd" : () -> ()
  %y, %done = chakra.comp "mlp.fwd"(%x) ops(2*8*16) bytes(1) phase "fwd" : (!act) -> (!act, !chakra.token)
  %n:2 = chakra.comp "mlp.dw"(%y) updates(%g : !w) after(%done, %x : !chakra.token, !act) ops(1) bytes(2) : (!act) -> (!chakra.tensor<1, temporary>, !w)
}
