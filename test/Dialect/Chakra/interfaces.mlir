// What MLIR's own passes can do, as functions, calls and symbols are what they are
// elsewhere: functions that nobody calls are removed, and repeats of nothing.
//
// RUN: stg-opt %s --symbol-dce | FileCheck %s --check-prefix=DCE
// RUN: stg-opt %s --pass-pipeline="builtin.module(chakra.graph(canonicalize))" | FileCheck %s --check-prefix=CANON

!x = !chakra.tensor<64, activation>

// Graphs are what ranks execute, whether a task of theirs is called or not.
// DCE-LABEL: chakra.graph @called
// DCE-NEXT:    %[[X:.*]] = chakra.state "x"
// DCE-NEXT:    chakra.func @used(
// DCE-NEXT:      chakra.comp "n"
// DCE-NEXT:      chakra.return
// DCE-NEXT:    }
// DCE-NEXT:    %[[Y:.*]] = chakra.call @used(%[[X]]) scope "mb0"
// DCE-NEXT:    chakra.comp "end"(%[[Y]])
// DCE-NEXT:  }
chakra.graph @called mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  chakra.func @used(%a : !x) -> !x {
    %b = chakra.comp "n"(%a) ops(1) bytes(128) : (!x) -> !x
    chakra.return %b : !x
  }
  chakra.func @unused(%a : !x) -> !x {
    chakra.return %a : !x
  }
  %y = chakra.call @used(%x) scope "mb0" : (!x) -> !x
  chakra.comp "end"(%y) ops(1) bytes(64) : (!x) -> ()
}

// Of one name, but another graph's: that one calls it, this one does not.
// DCE-LABEL: chakra.graph @uncalled
// DCE-NEXT:    chakra.comp "end"()
// DCE-NEXT:  }
chakra.graph @uncalled mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  chakra.func @used(%a : !x) -> !x {
    chakra.return %a : !x
  }
  chakra.comp "end"() ops(1) bytes(64) : () -> ()
}

// CANON-LABEL: chakra.graph @repeats
// CANON-NEXT:    %[[X:.*]] = chakra.state "x"
// CANON-NEXT:    %[[STACK:.*]] = chakra.repeat "stacked" * 0 -> !chakra.stack<
// CANON-NEXT:      %[[N:.*]] = chakra.comp "n"
// CANON-NEXT:      chakra.yield
// CANON-NEXT:    }
// CANON-NEXT:    %[[Y:.*]] = chakra.repeat "once" * 1 carry(%[[ARG:.*]] = %[[X]] :
// CANON-NEXT:      %[[M:.*]] = chakra.comp "n"(%[[ARG]])
// CANON-NEXT:      chakra.yield
// CANON-NEXT:    }
// CANON-NEXT:    chakra.comp "end"(%[[Y]], %[[STACK]])
// CANON-NEXT:  }
chakra.graph @repeats mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !x
  // A stack of no elements is still a value.
  %s = chakra.repeat "stacked" * 0 -> !chakra.stack<!x, 0> {
    %n = chakra.comp "n"() ops(1) bytes(64) : () -> !x
    chakra.yield stack(%n : !x)
  }
  %z = chakra.repeat "never" * 0 carry(%a = %x : !x) -> !x {
    %n = chakra.comp "n"(%a) ops(1) bytes(128) : (!x) -> !x
    chakra.yield carry(%n : !x)
  }
  chakra.repeat "nothing" * 0 {
    chakra.comp "n"() ops(1) bytes(64) : () -> ()
  }
  %y = chakra.repeat "once" * 1 carry(%a = %z : !x) -> !x {
    %n = chakra.comp "n"(%a) ops(1) bytes(128) : (!x) -> !x
    chakra.yield carry(%n : !x)
  }
  chakra.comp "end"(%y, %s) ops(1) bytes(64) : (!x, !chakra.stack<!x, 0>) -> ()
}
