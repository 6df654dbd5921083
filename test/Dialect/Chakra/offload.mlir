// RUN: stg-opt %s --split-input-file --chakra-offload="what=activations" | FileCheck %s --check-prefixes=ACT
// RUN: stg-opt %s --split-input-file --chakra-offload="what=optimizer ahead=2" | FileCheck %s --check-prefixes=OPT
// RUN: stg-opt %s --split-input-file --chakra-offload="what=parameters" | FileCheck %s --check-prefixes=PARAM
// RUN: stg-opt %s --split-input-file --chakra-offload="what=activations,optimizer percent=60 ahead=0" | FileCheck %s --check-prefixes=PART
// RUN: stg-opt %s --split-input-file --chakra-offload="what=activations saved=f" | FileCheck %s --check-prefixes=NAMED

// Layers that save two buffers, and an update. What is on the host goes through
// stacks; what reads it reads a load.

// ACT-LABEL: chakra.graph @step
// ACT: %[[FWD:.*]]:3 = chakra.repeat "layers" * 4 carry({{.*}}) slices({{.*}}) -> (!chakra.tensor<64, activation>, !chakra.stack<!chakra.tensor<64, host>, 4>, !chakra.stack<!chakra.tensor<48, host>, 4>) {
// ACT-NEXT: %[[IN:.*]] = chakra.store "input0.store"(%[[X:.*]]) phase "fwd" : (!chakra.tensor<64, activation>) -> !chakra.tensor<64, host>
// ACT-NEXT: %[[F:.*]]:2 = chakra.comp "f.fwd"(%[[X]], %{{.*}})
// ACT-NEXT: %[[SAVED:.*]] = chakra.store "f.fwd.1.store"(%[[F]]#1) phase "fwd" : (!chakra.tensor<48, activation>) -> !chakra.tensor<48, host>
// ACT-NEXT: chakra.yield carry(%[[F]]#0 : !chakra.tensor<64, activation>) stack(%[[IN]], %[[SAVED]] : !chakra.tensor<64, host>, !chakra.tensor<48, host>)
// ACT: chakra.repeat "layers" * 4 reverse carry({{.*}}) slices(%[[HX:.*]] = %[[FWD]]#1 : !chakra.stack<!chakra.tensor<64, host>, 4>, %[[HS:.*]] = %[[FWD]]#2 : !chakra.stack<!chakra.tensor<48, host>, 4>
// ACT-NEXT: %[[LX:.*]] = chakra.load "input0.bwd.load"(%[[HX]]) ahead 1 phase "bwd" : (!chakra.tensor<64, host>) -> !chakra.tensor<64, activation>
// ACT-NEXT: %[[LS:.*]] = chakra.load "f.fwd.1.bwd.load"(%[[HS]]) ahead 1 phase "bwd" : (!chakra.tensor<48, host>) -> !chakra.tensor<48, activation>
// ACT-NEXT: chakra.coll all_gather "w.gather"
// ACT-NEXT: chakra.comp "f.bwd"(%{{.*}}, %[[LX]], %[[LS]], %{{.*}})

// A state is loaded before it is changed and stored after it; at the top there
// is no iteration to be ahead of.
// OPT-LABEL: chakra.graph @step
// OPT: %[[M:.*]] = chakra.state "m" : !chakra.tensor<80, host>
// OPT: chakra.repeat "layers" * 4 -> (!chakra.stack<!chakra.tensor<32, parameter>, 4>, !chakra.stack<!chakra.tensor<80, host>, 4>, !chakra.stack<!chakra.tensor<40, host>, 4>)
// OPT: chakra.repeat "layers" * 4 slices(
// OPT-NEXT: %[[A:.*]] = chakra.load "w.m.opt.load"(%[[HA:.*]]) ahead 2 phase "opt" : (!chakra.tensor<80, host>) -> !chakra.tensor<80, optimizer>
// OPT-NEXT: %[[B:.*]] = chakra.load "w.v.opt.load"(%[[HB:.*]]) ahead 2 phase "opt"
// OPT-NEXT: %[[U:.*]]:3 = chakra.comp "w.opt"(%{{.*}}) updates(%{{.*}}, %[[A]], %[[B]] :
// OPT-DAG: chakra.store "w.m.store"(%[[U]]#1) into(%[[HA]] : !chakra.tensor<80, host>) phase "opt" : (!chakra.tensor<80, optimizer>) -> !chakra.tensor<80, host>
// OPT-DAG: chakra.store "w.v.store"(%[[U]]#2) into(%[[HB]] : !chakra.tensor<40, host>)
// OPT: %[[TOP:.*]] = chakra.load "m.opt.load"(%[[M]]) phase "opt"
// OPT-NEXT: %[[N:.*]] = chakra.comp "n.opt"(%{{.*}}) updates(%[[TOP]] :
// OPT-NEXT: chakra.store "m.store"(%[[N]]) into(%[[M]] :

// Each pass that reads a parameter loads it; what gathers it is ahead already.
// PARAM-LABEL: chakra.graph @step
// PARAM: %[[W:.*]] = chakra.load "w.fwd.load"({{.*}}) ahead 1 phase "fwd"
// PARAM-NEXT: chakra.comp "f.fwd"(%{{.*}}, %[[W]])
// PARAM: %[[WB:.*]] = chakra.load "w.bwd.load"({{.*}}) ahead 2 phase "bwd"
// PARAM-NEXT: %[[G:.*]] = chakra.coll all_gather "w.gather"(%[[WB]]) over ["dp"] ahead 1
// PARAM: %[[WO:.*]] = chakra.load "w.opt.load"({{.*}}) ahead 1 phase "opt"
// PARAM-NEXT: %[[UP:.*]]:3 = chakra.comp "w.opt"(%{{.*}}) updates(%[[WO]],
// PARAM-NEXT: chakra.store "w.store"(%[[UP]]#0) into(

// 60 % of 112 bytes saved by a layer: the 64 alone. Of 120 bytes of states of a
// layer neither the 80, but the 40; none of the one at the top.
// PART-LABEL: chakra.graph @step
// PART: chakra.state "m" : !chakra.tensor<80, optimizer>
// PART: chakra.repeat "layers" * 4 -> (!chakra.stack<!chakra.tensor<32, parameter>, 4>, !chakra.stack<!chakra.tensor<80, optimizer>, 4>, !chakra.stack<!chakra.tensor<40, host>, 4>)
// PART: chakra.store "input0.store"
// PART-NOT: chakra.store
// PART: chakra.load "input0.bwd.load"(%{{.*}}) phase "bwd"
// PART: chakra.load "w.v.opt.load"(%{{.*}}) phase "opt"
// PART: chakra.store "w.v.store"
// PART-NOT: chakra.load

// What an op of that name makes, not what the layer begins with.
// NAMED-LABEL: chakra.graph @step
// NAMED-NOT: input0
// NAMED: chakra.store "f.fwd.1.store"
// NAMED-NOT: input0
// NAMED: chakra.load "f.fwd.1.bwd.load"
// NAMED-NOT: chakra.load
!x = !chakra.tensor<64, activation>
!s = !chakra.tensor<48, activation>
!w = !chakra.tensor<32, parameter>
!m = !chakra.tensor<80, optimizer>
!v = !chakra.tensor<40, optimizer>
!g = !chakra.tensor<16, gradient>
chakra.graph @step mesh = #sym.mesh<dp = 2> {
  %x0 = chakra.state "x" : !x
  %m0 = chakra.state "m" : !m
  %ws, %ms, %vs = chakra.repeat "layers" * 4 -> (!chakra.stack<!w, 4>, !chakra.stack<!m, 4>, !chakra.stack<!v, 4>) {
    %w = chakra.state "w" : !w
    %m = chakra.state "w.m" : !m
    %v = chakra.state "w.v" : !v
    chakra.yield stack(%w, %m, %v : !w, !m, !v)
  }
  %y, %xs, %ss = chakra.repeat "layers" * 4 carry(%x = %x0 : !x) slices(%w = %ws : !chakra.stack<!w, 4>) -> (!x, !chakra.stack<!x, 4>, !chakra.stack<!s, 4>) {
    %z, %s = chakra.comp "f.fwd"(%x, %w) ops(1) bytes(1) phase "fwd" : (!x, !w) -> (!x, !s)
    chakra.yield carry(%z : !x) stack(%x, %s : !x, !s)
  }
  %d, %gs = chakra.repeat "layers" * 4 reverse carry(%dy = %y : !x) slices(%x = %xs : !chakra.stack<!x, 4>, %s = %ss : !chakra.stack<!s, 4>, %w = %ws : !chakra.stack<!w, 4>) -> (!x, !chakra.stack<!g, 4>) {
    %gathered = chakra.coll all_gather "w.gather"(%w) over ["dp"] ahead 1 phase "bwd" : (!w) -> !chakra.tensor<64, communication>
    %dx, %g = chakra.comp "f.bwd"(%dy, %x, %s, %gathered) ops(1) bytes(1) phase "bwd" : (!x, !x, !s, !chakra.tensor<64, communication>) -> (!x, !g)
    chakra.yield carry(%dx : !x) stack(%g : !g)
  }
  chakra.repeat "layers" * 4 slices(%g = %gs : !chakra.stack<!g, 4>, %w = %ws : !chakra.stack<!w, 4>, %m = %ms : !chakra.stack<!m, 4>, %v = %vs : !chakra.stack<!v, 4>) {
    %u:3 = chakra.comp "w.opt"(%g) updates(%w, %m, %v : !w, !m, !v) ops(1) bytes(1) phase "opt" : (!g) -> (!w, !m, !v)
  }
  %n = chakra.comp "n.opt"(%d) updates(%m0 : !m) ops(1) bytes(1) phase "opt" : (!x) -> !m
}
