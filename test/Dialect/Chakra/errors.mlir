// RUN: stg-opt %s -split-input-file -verify-diagnostics -o /dev/null

// A tensor's size is not negative.
// expected-error @+1 {{tensor size must be a non-negative integer, found '-4'}}
func.func private @tensor_c1(!chakra.tensor<-4, input>)

// -----

// expected-error @+1 {{tensor size must be a non-negative integer, found '1/2'}}
func.func private @tensor_c1(!chakra.tensor<1/2, input>)

// -----

// expected-error @+1 {{unknown memory category 'weight', expected one of parameter, gradient, optimizer, activation, temporary, communication, input, kv_cache, host}}
func.func private @tensor_category(!chakra.tensor<4, weight>)

// -----

// expected-error @+1 {{stack element must be a tensor or a stack, found 'i32'}}
func.func private @stack_c1(!chakra.stack<i32, L>)

// -----

// expected-error @+1 {{stack count must be a non-negative integer, found '-1'}}
func.func private @stack_c2(!chakra.stack<!chakra.tensor<4, input>, -1>)

// -----

// expected-error @+1 {{'chakra.graph' op has a coordinate on axis 'pp', which the mesh does not have}}
chakra.graph @graph_c1 mesh = #sym.mesh<tp = 2> coordinates = {pp = 0} {
}

// -----

// expected-error @+1 {{'chakra.graph' op has coordinate 2 on axis 'tp', which has size 2}}
chakra.graph @graph_c1 mesh = #sym.mesh<tp = 2> coordinates = {tp = 2} {
}

// -----

// expected-error @+1 {{'chakra.graph' op has coordinate -1 on axis 'tp', which has size tp}}
chakra.graph @graph_c1 mesh = #sym.mesh<tp = tp> coordinates = {tp = -1} {
}

// -----

// expected-error @+1 {{axis 'tp' is listed twice}}
chakra.graph @graph_c1 mesh = #sym.mesh<tp = 2> coordinates = {tp = 1, tp = 1} {
}

// -----

chakra.graph @graph_c2 mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is over axis "dp", which the mesh does not have}}
  %y = chakra.coll all_reduce "y"(%x) over ["dp"] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @graph_c3_all_gather mesh = #sym.mesh<tp = 2, dp = dp> {
  %x = chakra.state "x" : !chakra.tensor<4*D, activation>
  // expected-error @+1 {{'chakra.coll' op over ["dp", "tp"], a group of 2*dp ranks, cannot make 8*D bytes of 4*D}}
  %y = chakra.coll all_gather "y"(%x) over ["dp", "tp"] : (!chakra.tensor<4*D, activation>) -> !chakra.tensor<8*D, activation>
}

// -----

chakra.graph @graph_c3_reduce_scatter mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4*D, activation>
  // expected-error @+1 {{'chakra.coll' op over ["tp"], a group of 2 ranks, cannot make 4*D bytes of 4*D}}
  %y = chakra.coll reduce_scatter "y"(%x) over ["tp"] : (!chakra.tensor<4*D, activation>) -> !chakra.tensor<4*D, activation>
}

// -----

chakra.graph @graph_c3_stack mesh = #sym.mesh<tp = 2> {
  %x = chakra.repeat "r" * L -> !chakra.stack<!chakra.tensor<4, gradient>, L> {
    %s = chakra.state "s" : !chakra.tensor<4, gradient>
    chakra.yield stack(%s : !chakra.tensor<4, gradient>)
  }
  // expected-error @+1 {{'chakra.coll' op over ["tp"], a group of 2 ranks, cannot make 3 bytes of 4}}
  %y = chakra.coll reduce_scatter "y"(%x) over ["tp"] : (!chakra.stack<!chakra.tensor<4, gradient>, L>) -> !chakra.stack<!chakra.tensor<3, gradient>, L>
}

// -----

// Two expressions with opaque terms may still have the same value.
chakra.graph @graph_c3_opaque mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<ceildiv(D, 2), activation>
  %y = chakra.coll all_gather "y"(%x) over ["tp"] : (!chakra.tensor<ceildiv(D, 2), activation>) -> !chakra.tensor<D, activation>
}

// -----

chakra.graph @graph_c4_twice mesh = #sym.mesh<tp = 2> {
  // expected-note @+1 {{first used here}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.comp' op has the name 'x', which is taken in this scope}}
  chakra.comp "x"() ops(1) bytes(1) : () -> ()
}

// -----

// The bodies of repeats of one name share a scope.
chakra.graph @graph_c4_shared_scope mesh = #sym.mesh<tp = 2> {
  chakra.repeat "layers" * L {
    // expected-note @+1 {{first used here}}
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
    chakra.yield
  }
  chakra.comp "y"() ops(1) bytes(1) : () -> ()
  chakra.repeat "layers" * L {
    chakra.comp "y"() ops(1) bytes(1) : () -> ()
    // expected-error @+1 {{'chakra.comp' op has the name 'x', which is taken in this scope}}
    chakra.comp "x"() ops(1) bytes(1) : () -> ()
    chakra.yield
  }
}

// -----

chakra.graph @graph_c4_repeat_and_node mesh = #sym.mesh<tp = 2> {
  // expected-note @+1 {{first used here}}
  chakra.comp "layers"() ops(1) bytes(1) : () -> ()
  // expected-error @+1 {{'chakra.repeat' op has the name 'layers', which is taken in this scope}}
  chakra.repeat "layers" * L {
    chakra.yield
  }
}

// -----

chakra.graph @graph_c4_path mesh = #sym.mesh<tp = 2> {
  // expected-note @+1 {{the repeat is here}}
  chakra.repeat "layers" * L {
    chakra.yield
  }
  chakra.comp "layers.x"() ops(1) bytes(1) : () -> ()
  // expected-error @+1 {{'chakra.comp' op has the name 'layers.3.x', which can be the path of an op in repeat 'layers'}}
  chakra.comp "layers.3.x"() ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @graph_c5 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.comp' op has the name 'kv_cache/x', but 'kv_cache/' is the prefix of persistent tensors}}
  chakra.comp "kv_cache/x"() ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @graph_c6_coll mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  chakra.comp "before"(%x) ops(1) bytes(1) : (!chakra.tensor<4, activation>) -> ()
  // expected-note @+1 {{changed here}}
  %y = chakra.coll all_reduce "y"(%x) over ["tp"] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
  chakra.repeat "r" * 2 {
    // expected-error @+1 {{'chakra.comp' op uses a buffer after it was changed in place; use the result of the op that changed it}}
    chakra.comp "after"(%x) ops(1) bytes(1) : (!chakra.tensor<4, activation>) -> ()
    chakra.yield
  }
}

// -----

// To be after a change is not to read what was changed.
chakra.graph @graph_c6_after mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  %y = chakra.coll all_reduce "y"(%x) over ["tp"] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
  chakra.comp "after"() after(%x : !chakra.tensor<4, activation>) ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @graph_c6_comp mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-note @+1 {{changed here}}
  %y = chakra.comp "y"() updates(%x : !chakra.tensor<4, activation>) ops(1) bytes(1) : () -> !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.comp' op uses a buffer after it was changed in place}}
  chakra.comp "after"(%x) ops(1) bytes(1) : (!chakra.tensor<4, activation>) -> ()
}

// -----

chakra.graph @state_c1 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.state' op expects a name that is not empty}}
  %x = chakra.state "" : !chakra.tensor<4, activation>
}

// -----

chakra.graph @comp_c1 mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.comp' op updates a value of type '!chakra.tensor<4, activation>', but has the result type '!chakra.tensor<8, activation>'}}
  %y = chakra.comp "y"() updates(%x : !chakra.tensor<4, activation>) ops(1) bytes(1) : () -> !chakra.tensor<8, activation>
}

// -----

chakra.graph @comp_c1 mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.comp' op updates 1 operands, but has only 0 results}}
  chakra.comp "y"() updates(%x : !chakra.tensor<4, activation>) ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @comp_c2 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.comp' op expects a name without control characters, commas and equals signs, found 'a,b'}}
  chakra.comp "a,b"() ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @comp_c2 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.comp' op expects a name in UTF-8}}
  chakra.comp "\FF"() ops(1) bytes(1) : () -> ()
}

// -----

chakra.graph @comp_c3 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.comp' op expects ops to be a non-negative integer, found '-1'}}
  chakra.comp "x"() ops(-1) bytes(1) : () -> ()
}

// -----

chakra.graph @comp_c3 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.comp' op expects bytes to be a non-negative integer, found '7/2'}}
  chakra.comp "x"() ops(1) bytes(7/2) : () -> ()
}

// -----

chakra.graph @coll_c1 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.coll' op expects as many results as operands, and at least one, found 0 operands and 0 results}}
  chakra.coll all_reduce "x"() over ["tp"] : () -> ()
}

// -----

chakra.graph @coll_kind mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{unknown collective 'broadcast', expected one of all_reduce, all_gather, reduce_scatter, all_to_all}}
  chakra.coll broadcast "x"() over ["tp"] : () -> ()
}

// -----

chakra.graph @coll_c1_structure mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op expects a result of the operand's structure, found '!chakra.tensor<4, activation>' and '!chakra.stack<!chakra.tensor<4, activation>, 2>'}}
  %y = chakra.coll all_reduce "y"(%x) over ["tp"] : (!chakra.tensor<4, activation>) -> !chakra.stack<!chakra.tensor<4, activation>, 2>
}

// -----

chakra.graph @coll_c2_none mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op expects at least one axis}}
  %y = chakra.coll all_reduce "y"(%x) over [] : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c2_twice mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op names axis "tp" twice}}
  %y = chakra.coll all_reduce "y"(%x) over ["tp", "tp"] : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, activation>
}

// -----

chakra.graph @coll_c3 mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op is in place, but an operand has type '!chakra.tensor<4, activation>' and its result '!chakra.tensor<4, communication>'}}
  %y = chakra.coll all_reduce "y"(%x) over ["tp"] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, communication>
}

// -----

chakra.graph @coll_c5 mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.coll' op cannot be in place: all_gather changes the size}}
  %y = chakra.coll all_gather "y"(%x) over ["tp"] in_place : (!chakra.tensor<4, activation>) -> !chakra.tensor<8, activation>
}

// -----

chakra.graph @coll_c5_scatter mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, gradient>
  // expected-error @+1 {{'chakra.coll' op cannot be in place: reduce_scatter changes the size}}
  %y = chakra.coll reduce_scatter "y"(%x) over ["tp"] in_place : (!chakra.tensor<4, gradient>) -> !chakra.tensor<4, gradient>
}

// -----

chakra.graph @coll_c6 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.coll' op expects payload to be a non-negative integer, found '-1'}}
  chakra.coll all_gather "y"() over ["tp"] payload(-1) : () -> ()
}

// -----

chakra.graph @repeat_c1_result mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.repeat' op carries a value of type '!chakra.tensor<4, activation>' as argument of type '!chakra.tensor<4, activation>' and result of type '!chakra.tensor<5, activation>'}}
  %y = chakra.repeat "r" * L carry(%a = %x : !chakra.tensor<4, activation>) -> !chakra.tensor<5, activation> {
    chakra.yield carry(%a : !chakra.tensor<4, activation>)
  }
}

// -----

chakra.graph @repeat_c1_yield mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  %y = chakra.repeat "r" * L carry(%a = %x : !chakra.tensor<4, activation>) -> !chakra.tensor<4, activation> {
    %b = chakra.state "b" : !chakra.tensor<5, activation>
    // expected-error @+1 {{'chakra.yield' op carries a value of type '!chakra.tensor<5, activation>', but the repeat carries '!chakra.tensor<4, activation>'}}
    chakra.yield carry(%b : !chakra.tensor<5, activation>)
  }
}

// -----

chakra.graph @repeat_c1_yield_count mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  %y = chakra.repeat "r" * L carry(%a = %x : !chakra.tensor<4, activation>) -> !chakra.tensor<4, activation> {
    // expected-error @+1 {{'chakra.yield' op yields 0 carries, but the repeat has 1}}
    chakra.yield
  }
}

// -----

chakra.graph @repeat_c1_no_result mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.repeat' op expects a result for each of its 1 carries, found 0}}
  chakra.repeat "r" * L carry(%a = %x : !chakra.tensor<4, activation>) {
    chakra.yield carry(%a : !chakra.tensor<4, activation>)
  }
}

// -----

chakra.graph @repeat_c2_count mesh = #sym.mesh<tp = 2> {
  %s = chakra.repeat "r" * L -> !chakra.stack<!chakra.tensor<4, activation>, L> {
    %b = chakra.state "b" : !chakra.tensor<4, activation>
    chakra.yield stack(%b : !chakra.tensor<4, activation>)
  }
  // expected-error @+1 {{'chakra.repeat' op repeats L - 1 times, but slices a stack of L}}
  chakra.repeat "q" * L - 1 slices(%a = %s : !chakra.stack<!chakra.tensor<4, activation>, L>) {
    chakra.yield
  }
}

// -----

chakra.graph @repeat_c2_type mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{expected a stack to slice, found '!chakra.tensor<4, activation>'}}
  chakra.repeat "q" * L slices(%a = %x : !chakra.tensor<4, activation>) {
    chakra.yield
  }
}

// -----

chakra.graph @repeat_c3 mesh = #sym.mesh<tp = 2> {
  %s = chakra.repeat "r" * L -> !chakra.stack<!chakra.tensor<4, activation>, 2> {
    %b = chakra.state "b" : !chakra.tensor<4, activation>
    // expected-error @+1 {{'chakra.yield' op stacks L values of type '!chakra.tensor<4, activation>', but the result has type '!chakra.stack<!chakra.tensor<4, activation>, 2>'}}
    chakra.yield stack(%b : !chakra.tensor<4, activation>)
  }
}

// -----

chakra.graph @repeat_c3_count mesh = #sym.mesh<tp = 2> {
  chakra.repeat "r" * L {
    %b = chakra.state "b" : !chakra.tensor<4, activation>
    // expected-error @+1 {{'chakra.yield' op yields 1 values to stack, but the repeat has 0 stacked results}}
    chakra.yield stack(%b : !chakra.tensor<4, activation>)
  }
}

// -----

chakra.graph @repeat_c4 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{'chakra.repeat' op expects the count to be a non-negative integer, found '-2'}}
  chakra.repeat "r" * -2 {
    chakra.yield
  }
}

// -----

func.func @body_op_outside() {
  // expected-error @+1 {{'chakra.state' op expects parent op to be one of 'chakra.graph, chakra.repeat, chakra.func, chakra.schedule'}}
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  return
}

// -----

chakra.graph @kernel_c1 mesh = #sym.mesh<> {
  // expected-error @+1 {{size of a kernel must not be negative, found '-1'}}
  chakra.comp "a"() ops(0) bytes(0) : () -> () kernel <einsum bf16 -> bf16, [B, -1]>
}

// -----

chakra.graph @kernel_flag mesh = #sym.mesh<> {
  // expected-error @+1 {{expected 'accumulates'}}
  chakra.comp "a"() ops(0) bytes(0) : () -> () kernel <einsum bf16 -> bf16, [B], adds>
}

// -----

chakra.graph @repeat_c1_category mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<4, activation>
  // expected-error @+1 {{'chakra.repeat' op carries a value of type '!chakra.tensor<4, activation>' as argument of type '!chakra.tensor<4, gradient>' and result of type '!chakra.tensor<4, gradient>'}}
  %y = "chakra.repeat"(%x) <{name = "r", count = #sym.expr<0>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: !chakra.tensor<4, gradient>):
    chakra.yield carry(%a : !chakra.tensor<4, gradient>)
  }) : (!chakra.tensor<4, activation>) -> !chakra.tensor<4, gradient>
}

// -----

chakra.graph @kernel_c2 mesh = #sym.mesh<tp = 2> {
  // expected-error @+1 {{a kernel has no sizes, expected at least one}}
  chakra.comp "a"() ops(0) bytes(0) : () -> () kernel <embedding bf16 -> bf16, []>
}
