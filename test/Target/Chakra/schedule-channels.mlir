// Tags go around the messages of a turn, so that channels that lie between each other's are
// those of as many turns.
//
// RUN: not stg-translate --chakra-to-traces --trace-dir=%t %s 2>&1 | FileCheck %s
// CHECK: error: the channels from 0 on along axis 'pp' are those of turns that are not alike

!x = !chakra.tensor<4, activation>
chakra.graph @one mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  chakra.schedule "mb" * 3 inputs(%x, %x, %x : !x, !x, !x) order <3 * [0 at 0]> {
  ^bb0(%y: !x):
    chakra.send "s"(%y) axis "pp" shift 1 channel 0 by 2 : (!x)
  }
  chakra.send "t"(%x) axis "pp" shift 1 channel 2 : (!x)
}
chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  chakra.schedule "mb" * 3 order <3 * [0 at 0]> {
    %x = chakra.recv "r" axis "pp" shift -1 channel 0 by 2 : !x
  }
  %z = chakra.recv "q" axis "pp" shift -1 channel 2 : !x
}
