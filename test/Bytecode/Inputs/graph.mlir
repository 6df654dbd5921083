
chakra.graph @transfers mesh = #sym.mesh<dp = 2> {
  %m = chakra.state "m" : !chakra.tensor<8*D, host>
  %d = chakra.load "m.load"(%m) phase "opt" : (!chakra.tensor<8*D, host>) -> !chakra.tensor<8*D, optimizer>
  %n = chakra.comp "opt"() updates(%d : !chakra.tensor<8*D, optimizer>) ops(1) bytes(1) : () -> !chakra.tensor<8*D, optimizer>
  %s = chakra.store "m.store"(%n) into(%m : !chakra.tensor<8*D, host>) after(%d : !chakra.tensor<8*D, optimizer>) phase "opt" : (!chakra.tensor<8*D, optimizer>) -> !chakra.tensor<8*D, host>
  %stack = chakra.repeat "layers" * 2 -> !chakra.stack<!chakra.tensor<4, host>, 2> {
    %x = chakra.comp "x"() ops(1) bytes(1) : () -> !chakra.tensor<4, activation>
    %h = chakra.store "x.store"(%x) : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, host>
    chakra.yield stack(%h : !chakra.tensor<4, host>)
  }
  chakra.repeat "more" * 2 slices(%h = %stack : !chakra.stack<!chakra.tensor<4, host>, 2>) {
    %x = chakra.load "x.load"(%h) ahead 1 : (!chakra.tensor<4, host>) -> !chakra.tensor<4, activation>
    chakra.comp "y"(%x) ops(1) bytes(1) : (!chakra.tensor<4, activation>) -> ()
  }
}
