// What messages and groups must be to be exported.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t --split-input-file --verify-diagnostics %s

chakra.graph @to_itself mesh = #sym.mesh<pp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.send' op has shift 2 along axis 'pp', which has size 2: the peer is the rank itself}}
  chakra.send "s"(%x) axis "pp" shift 2 channel 0 : (!chakra.tensor<4, activation>)
}

// -----

chakra.graph @large mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.recv' op is a message of 2147483648 bytes; consumers take 1 byte to 2 GiB - 1 in one message, use smaller micro-batches or more parallelism}}
  %x = chakra.recv "r" axis "pp" shift 1 channel 0 : !chakra.stack<!chakra.tensor<1073741824, activation>, 2>
}

// -----

chakra.graph @empty mesh = #sym.mesh<pp = 2> {
  // expected-error @+1 {{'chakra.recv' op is a message of 0 bytes}}
  %x = chakra.recv "r" axis "pp" shift 1 channel 0 : !chakra.tensor<0, activation>
}

// -----

chakra.graph @one mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} { // expected-error {{'chakra.graph' op sends 2 messages of channel 0 along axis 'pp', but 'other', its peer's graph, receives 1}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  chakra.send "s"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
  chakra.send "t"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}

chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} { // expected-note {{the other graph is here}}
  %x = chakra.recv "r" axis "pp" shift -1 channel 0 : !chakra.tensor<4, activation>
}

// -----

chakra.graph @one mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} { // expected-error {{'chakra.graph' op sends 1 messages of channel 0 along axis 'pp', but 'other', its peer's graph, receives 1 of other sizes}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  chakra.send "s"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}

chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} { // expected-note {{the other graph is here}}
  %x = chakra.recv "r" axis "pp" shift -1 channel 0 : !chakra.tensor<8, activation>
}

// -----

// Nobody receives, as the two ops look the same way.
// expected-error @+1 {{'chakra.graph' op sends 1 messages of channel 0 along axis 'cp', but 'ranks', its peer's graph, receives 0}}
chakra.graph @ranks mesh = #sym.mesh<cp = 3> { // expected-note {{the other graph is here}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  chakra.send "s"(%x) axis "cp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
  %y = chakra.recv "r" axis "cp" shift 1 channel 0 : !chakra.tensor<4, activation>
}

// -----

// The peers of the ranks of @wide are of two classes, and only one of them
// receives.
chakra.graph @wide mesh = #sym.mesh<dp = 2, pp = 2> coordinates = {pp = 0} { // expected-error {{'chakra.graph' op sends 1 messages of channel 0 along axis 'pp', but 'deaf', its peer's graph, receives 0}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  chakra.send "s"(%x) axis "pp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
}
chakra.graph @hears mesh = #sym.mesh<dp = 2, pp = 2> coordinates = {dp = 0, pp = 1} {
  %x = chakra.recv "r" axis "pp" shift -1 channel 0 : !chakra.tensor<4, activation>
}
chakra.graph @deaf mesh = #sym.mesh<dp = 2, pp = 2> coordinates = {dp = 1, pp = 1} { // expected-note {{the other graph is here}}
  chakra.comp "c"() ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @among_too_far mesh = #sym.mesh<cp = 2> {
  chakra.repeat "r" * 2 {
    %x = chakra.state "x" : !chakra.tensor<4, activation>
    // expected-error @+1 {{'chakra.coll' op is among coordinate 2 of an axis of size 2}}
    %y = chakra.coll all_reduce "c"(%x) over ["cp"] among [0, 2] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
  }
}

// -----

// The members of a group over part of an axis have graphs of their own.
chakra.graph @among_others mesh = #sym.mesh<cp = 4> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is among some ranks of axis 'cp', but its graph is executed by all of them; give the graph a coordinate on the axis}}
  %y = chakra.coll all_reduce "c"(%x) over ["cp"] among [0, 2] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @among_lone mesh = #sym.mesh<cp = 1> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is among coordinate 2 of an axis of size 1}}
  %y = chakra.coll all_reduce "c"(%x) over ["cp"] among [0, 2] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

// As many bytes at both ends, but not in the same messages.
// expected-error @+1 {{'chakra.graph' op sends 2 messages of channel 0 along axis 'cp', but 'ranks', its peer's graph, receives 2 of other sizes or in another order}}
chakra.graph @ranks mesh = #sym.mesh<cp = 3> { // expected-note {{the other graph is here}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  %y = chakra.state "y" : !chakra.tensor<8, activation>
  chakra.send "s"(%x) axis "cp" shift 1 channel 0 : (!chakra.tensor<4, activation>)
  chakra.send "t"(%y) axis "cp" shift 1 channel 0 : (!chakra.tensor<8, activation>)
  %a = chakra.recv "a" axis "cp" shift -1 channel 0 : !chakra.tensor<8, activation>
  %b = chakra.recv "b" axis "cp" shift -1 channel 0 : !chakra.tensor<4, activation>
}

// -----

// In a schedule a message is told by its turn.
!x = !chakra.tensor<4, activation>
chakra.graph @twice mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  // expected-error @+1 {{'chakra.schedule' op has more than one message of channel 0 in turn 1}}
  chakra.schedule "mb" * 2 inputs(%x, %x : !x, !x) order <[0 at 0, 0 at 1, 1 at 1]> {
  ^bb0(%y: !x):
    chakra.send "s"(%y) axis "pp" shift 1 channel 0 by 1 : (!x)
    chakra.send "t"(%y) axis "pp" shift 1 channel 0 by 1 : (!x)
  }
}
chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  chakra.schedule "mb" * 2 order <2 * [0 at 0]> {
    %x = chakra.recv "r" axis "pp" shift -1 channel 0 by 1 : !x
  }
}

// -----

!x = !chakra.tensor<4, activation>
chakra.graph @strides mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  chakra.schedule "mb" * 2 inputs(%x, %x : !x, !x) order <[0 at 0, 1 at 1]> {
  ^bb0(%y: !x):
    chakra.send "s"(%y) axis "pp" shift 1 channel 0 by 1 : (!x)
    // expected-error @+1 {{'chakra.send' op has a channel of a turn that another message has with other turns}}
    chakra.send "t"(%y) axis "pp" shift 1 channel 0 by 2 : (!x)
  }
}
chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  chakra.schedule "mb" * 2 order <2 * [0 at 0]> {
    %x = chakra.recv "r" axis "pp" shift -1 channel 0 by 1 : !x
  }
}

// -----

!x = !chakra.tensor<4, activation>
chakra.graph @one mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} { // expected-error {{'chakra.graph' op sends 2 messages of channel 0 along axis 'pp', but 'other', its peer's graph, receives 1}}
  %x = chakra.state "x" : !x
  chakra.schedule "mb" * 2 inputs(%x, %x : !x, !x) order <2 * [0 at 0]> {
  ^bb0(%y: !x):
    chakra.send "s"(%y) axis "pp" shift 1 channel 0 by 1 : (!x)
  }
}
chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} { // expected-note {{the other graph is here}}
  chakra.schedule "mb" * 2 order <[0 at 1]> {
    %x = chakra.recv "r" axis "pp" shift -1 channel 0 by 1 : !x
  }
}

// -----

// As many, in another turn.
!x = !chakra.tensor<4, activation>
chakra.graph @one mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} { // expected-error {{'chakra.graph' op sends 1 messages of channel 0 along axis 'pp', but 'other', its peer's graph, receives 1 of other sizes or in another order}}
  %x = chakra.state "x" : !x
  chakra.schedule "mb" * 2 inputs(%x, %x : !x, !x) order <[0 at 0]> {
  ^bb0(%y: !x):
    chakra.send "s"(%y) axis "pp" shift 1 channel 0 by 1 : (!x)
  }
}
chakra.graph @other mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} { // expected-note {{the other graph is here}}
  chakra.schedule "mb" * 2 order <[0 at 1]> {
    %x = chakra.recv "r" axis "pp" shift -1 channel 0 by 1 : !x
  }
}
