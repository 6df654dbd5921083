!act = !chakra.tensor<512, activation>
!w = !chakra.tensor<64, parameter>
!ws = !chakra.stack<!w, 3>
!s = !chakra.stack<!chakra.stack<!act, 2>, 3>
chakra.graph @repeat mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !act
  %ws = chakra.repeat "weights" * 3 -> !ws {
    %w = chakra.state "w" : !w
    chakra.yield stack(%w : !w)
  }
  %y, %saved = chakra.repeat "layers" * 3 carry(%h = %x : !act) slices(%w = %ws : !ws) -> (!act, !s) {
    %z:2 = chakra.repeat "half" * 2 carry(%c = %h : !act) -> (!act, !chakra.stack<!act, 2>) {
      %n = chakra.comp "ffn"(%c, %w) ops(1) bytes(1) : (!act, !w) -> !act
      chakra.yield carry(%n : !act) stack(%n : !act)
    }
    chakra.yield carry(%z#0 : !act) stack(%z#1 : !chakra.stack<!act, 2>)
  }
  %d = chakra.repeat "layers" * 3 reverse carry(%g = %y : !act) slices(%s = %saved : !s) -> !act {
    %n = chakra.comp "ffn.dx"(%g, %s) ops(1) bytes(1) : (!act, !chakra.stack<!act, 2>) -> !act
    chakra.yield carry(%n : !act)
  }
  chakra.repeat "nothing" * 0 {
  }
}
